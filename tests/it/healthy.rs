//! The pass that must always succeed: it computes, logs, calls its host twice and returns.

use crate::case::{self, Case};
use crate::doors::capnp::{Connection, pass_on};
use crate::expect;

/// Reads the healthy case.
pub(crate) fn case() -> Case {
    case::load("abuse", "healthy").cases.remove(0)
}

/// Runs a pass on a connection and compares it with its case, host included.
pub(crate) async fn checked(connection: &Connection, case: &Case) -> Result<(), String> {
    let (outcome, record) = pass_on(connection, case).await.map_err(|error| format!("{}: {error}", case.id))?;
    expect::check(case, &outcome)
        .and_then(|()| expect::check_host(case, &record, true))
        .map_err(|error| format!("{} ({})\n  {error}", case.id, case.title))
}
