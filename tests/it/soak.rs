//! Passes mixed from the abuse corpus and healthy programs, for long, against one service: nothing of it may break,
//! grow, or harm a healthy pass.
//!
//! The short form is part of `make test`; `make soak` runs the long one.

use std::cell::Cell;
use std::time::Instant;

use futures::future::try_join_all;
use libtest_mimic::Trial;

use crate::abuse;
use crate::case::{self, Case};
use crate::doors::capnp::{Connection, block_on, pass_on};
use crate::expect;
use crate::healthy;
use crate::proc::{self, Held};
use crate::service::{Mode, Service};

/// Passes of the long form and of the short one.
const LONG: usize = 10_000;
const SHORT: usize = 200;
/// Passes before memory is looked at for the first time.
const WARM_UP: usize = 1_000;
/// Clients at work at the same time, each with a connection of its own. Half of what they run is healthy.
const CLIENTS: usize = 4;
/// After how many passes a long soak says how far it is.
const REPORT_EVERY: usize = 500;
/// CPU milliseconds of a hostile pass, instead of those in the corpus: a soak is about many passes, not long ones.
const CPU_MILLIS: u32 = 60;

pub(crate) fn trials() -> Vec<Trial> {
    Mode::ALL
        .into_iter()
        .flat_map(|mode| {
            let name = mode.name();
            let short = Trial::test(format!("soak::short::{name}"), move || soak(mode, SHORT).map_err(Into::into));
            let long = Trial::test(format!("soak::long::{name}"), move || soak(mode, LONG).map_err(Into::into));
            [short, long.with_ignored_flag(true)]
        })
        .collect()
}

fn soak(mode: Mode, passes: usize) -> Result<(), String> {
    let service = Service::start(&mode.arguments())?;
    let corpus = corpus(mode);
    let mut harmed = Harmed::default();
    // As many again of everything that starts on first use.
    let warm_up = WARM_UP.min(passes / 2);
    run(&service, mode, &corpus, warm_up, &mut harmed)?;
    let before = proc::at_rest(service.pid())?;
    run(&service, mode, &corpus, passes - warm_up, &mut harmed)?;
    let after = proc::at_rest(service.pid())?;
    println!("soak {}: {passes} passes; before {before:?}, after {after:?}; {harmed:?}", mode.name());
    proc::settles(service.pid(), &Held { ..before })?;
    if passes >= LONG && after.rss_kib > before.rss_kib + before.rss_kib / 10 {
        return Err(format!("memory grew from {} to {} KiB", before.rss_kib, after.rss_kib));
    }
    if harmed.without_cause > 0 { Err(format!("healthy passes were harmed: {harmed:?}")) } else { Ok(()) }
}

/// Healthy passes that did not come through.
#[derive(Debug, Default)]
struct Harmed {
    /// They shared a process that was killed, and said so.
    shared_killed_process: usize,
    /// Anything else.
    without_cause: usize,
}

/// The programs to mix: those that end by their own doing or at their CPU limit. Programs that wait for their wall
/// clock would only make a soak long.
fn corpus(mode: Mode) -> Vec<Case> {
    let all = abuse::FILES.iter().flat_map(|file| case::load("abuse", file).cases);
    let waits = |case: &Case| case.request.limits.wall.as_millis() < 10_000;
    let mut corpus: Vec<Case> = all.filter(|case| !waits(case) && abuse::holds(mode, case)).collect();
    for case in &mut corpus {
        let limit = &mut case.request.limits.cpu_millis;
        *limit = limit.map(|millis| if millis < 1_000 { CPU_MILLIS } else { millis });
    }
    corpus
}

fn run(service: &Service, mode: Mode, corpus: &[Case], passes: usize, harmed: &mut Harmed) -> Result<(), String> {
    let healthy = healthy::case();
    let started = Instant::now();
    let done = Cell::new(0_usize);
    let count = || {
        done.set(done.get() + 1);
        if done.get().is_multiple_of(REPORT_EVERY) {
            let rss_kib = Held::by(service.pid()).map_or(0, |held| held.rss_kib);
            eprintln!("soak {}: {} passes in {:.0?}, {rss_kib} KiB", mode.name(), done.get(), started.elapsed());
        }
    };
    let clients = (0..CLIENTS).map(|client| {
        let (healthy, count) = (&healthy, &count);
        async move {
            let mut found = Harmed::default();
            let connection = Connection::open(service).await?;
            for turn in (client..passes).step_by(CLIENTS) {
                let hostile = (turn / CLIENTS) % 2 == 1;
                if hostile {
                    // 7,919 is prime, so every program meets every other in the course of time.
                    let case = &corpus[(turn * 7_919) % corpus.len()];
                    let (outcome, _) =
                        pass_on(&connection, case).await.map_err(|error| format!("{}: {error}", case.id))?;
                    if !killed(mode, &outcome) {
                        expect::check(case, &outcome).map_err(|error| format!("{}\n  {error}", case.id))?;
                    }
                } else {
                    let (outcome, _) = pass_on(&connection, healthy).await?;
                    if let Err(error) = expect::check(healthy, &outcome) {
                        if killed(mode, &outcome) {
                            found.shared_killed_process += 1;
                        } else {
                            eprintln!("harmed: {error}");
                            found.without_cause += 1;
                        }
                    }
                }
                count();
            }
            Ok::<_, String>(found)
        }
    });
    for found in block_on(try_join_all(clients))? {
        harmed.shared_killed_process += found.shared_killed_process;
        harmed.without_cause += found.without_cause;
    }
    Ok(())
}

/// Whether a pass ended because its process was killed for another's fault.
fn killed(mode: Mode, outcome: &expect::Outcome) -> bool {
    let expect::Outcome::Answer(answer) = outcome else { return false };
    let tag = answer.get("failure").and_then(|error| error.get("_tag")).and_then(crate::json::Json::as_text);
    mode == Mode::Process && tag.as_deref() == Some("CodeExecutorTerminatedError")
}
