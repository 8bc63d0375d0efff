//! The three ways to ask for a pass. Each runs one case and says, in the same words, what came of it.

pub(crate) mod capnp;
pub(crate) mod exec;
pub(crate) mod rust;

use crate::case::{Case, Door};
use crate::expect;

/// Runs one case through one door.
pub(crate) fn run(case: &Case, door: Door) -> Result<(), String> {
    let (outcome, record) = match door {
        Door::Rust => rust::run(case)?,
        Door::Exec => exec::run(case)?,
        Door::Capnp => capnp::run(case)?,
    };
    expect::check(case, &outcome)?;
    // A tools module cannot see that its call was dropped, nor that a pass no longer waits for it.
    let observes_interrupts = door != Door::Exec;
    expect::check_host(case, &record, observes_interrupts)
}
