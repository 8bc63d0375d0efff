//! Every case of the pass contract, through every door that can express it.

use std::sync::Arc;

use libtest_mimic::Trial;

use crate::case::{self, Case, Door};
use crate::doors;

const FILES: [&str; 7] = ["kit", "isolated", "results", "source", "throwing", "logs", "host-calls"];

pub(crate) fn trials() -> Vec<Trial> {
    let cases = FILES.iter().flat_map(|file| case::load("contract", file).cases).map(Arc::new);
    cases.flat_map(|case| Door::ALL.map(|door| trial(&case, door))).collect()
}

fn trial(case: &Arc<Case>, door: Door) -> Trial {
    let skipped = case.skipped_at(door).map(str::to_owned);
    let ignored = skipped.is_some();
    let name = format!("contract::{}::{}", case.id, door.name());
    let case = Arc::clone(case);
    let trial = Trial::test(name, move || match skipped {
        Some(why) => Err(format!("this door cannot express the case: {why}").into()),
        None => doors::run(&case, door).map_err(|error| format!("{}\n  {error}", case.title).into()),
    });
    trial.with_ignored_flag(ignored)
}
