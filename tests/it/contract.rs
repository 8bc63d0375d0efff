//! Every case of the pass contract, through every door that can express it.

use std::sync::Arc;

use libtest_mimic::Trial;

use crate::case::{self, Case, Door};
use crate::doors;

const FILES: [&str; 7] = ["kit", "isolated", "results", "source", "throwing", "logs", "host-calls"];

/// A test for each case and door. Where each test is a process of its own (nextest), what starting a process costs is
/// a multiple of what a case costs, so there a test is all cases of a file through one door.
pub(crate) fn trials() -> Vec<Trial> {
    if std::env::var_os("NEXTEST").is_some() {
        return FILES.iter().flat_map(|file| Door::ALL.map(|door| all_of_a_file(file, door))).collect();
    }
    let cases = FILES.iter().flat_map(|file| case::load("contract", file).cases).map(Arc::new);
    cases.flat_map(|case| Door::ALL.map(|door| one_case(&case, door))).collect()
}

fn one_case(case: &Arc<Case>, door: Door) -> Trial {
    let skipped = case.skipped_at(door).map(str::to_owned);
    let ignored = skipped.is_some();
    let name = format!("contract::{}::{}", case.id, door.name());
    let case = Arc::clone(case);
    let trial = Trial::test(name, move || match skipped {
        Some(why) => Err(format!("this door cannot express the case: {why}").into()),
        None => run(&case, door).map_err(Into::into),
    });
    trial.with_ignored_flag(ignored)
}

fn all_of_a_file(file: &'static str, door: Door) -> Trial {
    Trial::test(format!("contract::{file}::{}", door.name()), move || {
        let cases = case::load("contract", file).cases;
        let tried = cases.iter().filter(|case| case.skipped_at(door).is_none());
        let failures: Vec<String> = tried.filter_map(|case| run(case, door).err()).collect();
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
    })
}

fn run(case: &Case, door: Door) -> Result<(), String> {
    doors::run(case, door).map_err(|error| format!("{} ({})\n  {error}", case.id, case.title))
}
