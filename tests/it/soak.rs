//! Passes mixed from the abuse corpus and healthy programs, for long, against one service: nothing of it may break,
//! grow, or harm a healthy pass.
//!
//! The short form is part of `make test`; `make soak` runs the long one.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use libtest_mimic::Trial;

use crate::abuse;
use crate::admin;
use crate::case::{self, Case, Expect, InProcess};
use crate::doors::capnp::{Connection, block_on, pass_on};
use crate::expect;
use crate::healthy;
use crate::json::Json;
use crate::proc::{self, Held};
use crate::service::{Mode, Service};

/// Passes of the long form and of the short one.
const LONG: usize = 10_000;
const SHORT: usize = 200;
/// Passes before memory is looked at for the first time.
const WARM_UP: usize = 1_000;
/// Clients at work at the same time, each with a connection of its own. Half of what they run is healthy.
const CLIENTS: usize = 4;
/// With more than that a sandbox process that has nothing to do is retired (`SandboxConfig::retire_rss_bytes`).
const RSS_OF_A_PROCESS_KIB: u64 = 256 << 10;
/// After how many passes a long soak says how far it is.
const REPORT_EVERY: usize = 500;
/// CPU milliseconds of a hostile pass, instead of those in the corpus: a soak is about many passes, not long ones.
const CPU_MILLIS: u32 = 60;

/// The wall clock of a hostile pass: none is to meet it, however busy the machine.
const WALL: Duration = Duration::from_secs(600);

/// How long the last programs may take to stop. A bound against hanging tests, not an expectation.
const REST_WAIT: Duration = Duration::from_secs(120);

/// When a process that has nothing to do has given back what it freed.
const GIVEN_BACK_AFTER: Duration = Duration::from_secs(3);

pub(crate) fn trials() -> Vec<Trial> {
    Mode::ALL
        .into_iter()
        .flat_map(|mode| {
            let name = mode.name();
            let short = Trial::test(format!("soak::short::{name}"), move || soak(mode, SHORT).map_err(Into::into));
            let long = Trial::test(format!("soak::long::{name}"), move || soak(mode, long()).map_err(Into::into));
            [short, long.with_ignored_flag(true)]
        })
        .collect()
}

/// How many passes the long form has: `LOADERD_SOAK` says so, for those who want to see it run.
fn long() -> usize {
    std::env::var("LOADERD_SOAK").ok().and_then(|passes| passes.parse().ok()).unwrap_or(LONG)
}

fn soak(mode: Mode, passes: usize) -> Result<(), String> {
    let service = Service::start(&[&mode.arguments()[..], &["--admin", "0"]].concat())?;
    let corpus = corpus(mode);
    let mut found = Found::default();
    // As many again of everything that starts on first use.
    let warm_up = WARM_UP.min(passes / 2);
    run(&service, mode, &corpus, warm_up, &mut found)?;
    let before = at_rest(&service)?;
    run(&service, mode, &corpus, passes - warm_up, &mut found)?;
    let after = at_rest(&service)?;
    let restarts = restarts(&service)?;
    println!("soak {}: {passes} passes; before {before:?}, after {after:?}; {found:?}; {restarts:?}", mode.name());
    for line in service.unread_log().iter().filter(|line| !Why::of_line(line).is_some_and(|why| why.expected())) {
        eprintln!("logged: {line}");
    }
    proc::settles(service.pid(), &before.with_processes_of(&after)?)?;
    // The service lives for long; sandbox processes come and go, and each may keep so much before it is retired.
    if warm_up == WARM_UP && after.own_rss_kib > before.own_rss_kib + before.own_rss_kib / 10 {
        return Err(format!("memory grew from {} to {} KiB", before.own_rss_kib, after.own_rss_kib));
    }
    let (of_processes, most) = (after.rss_kib - after.own_rss_kib, after.children as u64 * RSS_OF_A_PROCESS_KIB);
    if of_processes > most {
        return Err(format!("{} sandbox processes hold {of_processes} KiB; {most} is the most", after.children));
    }
    if found.harmed > 0 || found.lost > 0 {
        return Err(format!("passes were harmed by others, or lost: {found:?}"));
    }
    let unexplained: u64 = restarts.iter().filter(|(why, _)| !why.expected()).map(|(_, count)| count).sum();
    if unexplained > 0 {
        return Err(format!("sandbox processes ended that should not have: {restarts:?}"));
    }
    let gave_up: u64 = restarts.iter().filter(|(why, _)| why.v8_gave_up()).map(|(_, count)| count).sum();
    if gave_up > found.may_abort {
        return Err(format!("V8 gave up {gave_up} times, in {} passes that may have it do so", found.may_abort));
    }
    Ok(())
}

/// What the service holds once nothing of any pass is left in it.
fn at_rest(service: &Service) -> Result<Held, String> {
    let nothing = ["loaderd_passes_in_flight 0", "loaderd_isolates_alive 0", "loaderd_threads_stuck 0"];
    admin::until(service, REST_WAIT, &nothing)?;
    // What the last ones freed is given back after a second, and no counter says so.
    std::thread::sleep(GIVEN_BACK_AFTER);
    proc::at_rest(service.pid())
}

/// What became of the passes that did not come to an end of their own.
#[derive(Debug, Default)]
struct Found {
    /// Healthy ones whose sandbox process ended for another's fault, and who were told so.
    healthy_not_at_fault: u64,
    /// Hostile ones likewise.
    hostile_not_at_fault: u64,
    /// Passes of programs at which V8 may give up.
    may_abort: u64,
    /// Passes whose process went and nobody could say why.
    lost: u64,
    /// Healthy passes that ended wrongly in any other way.
    harmed: u64,
}

/// Why sandbox processes had to be replaced, and how often.
fn restarts(service: &Service) -> Result<Vec<(Why, u64)>, String> {
    let page = admin::metrics(service)?;
    let lines = page.lines().filter_map(|line| line.strip_prefix("loaderd_sandbox_restarts_total{reason=\""));
    let counts = lines.filter_map(|line| line.split_once("\"} "));
    let counts = counts.filter_map(|(why, count)| Some((Why(why.to_owned()), count.parse().ok()?)));
    Ok(counts.filter(|(_, count)| *count > 0).collect())
}

/// A reason, as the metrics name it.
#[derive(Debug)]
struct Why(String);

impl Why {
    /// That which a line of the log gives, if it gives one.
    fn of_line(line: &str) -> Option<Self> {
        let (reason, _) = line.split_once("reason=\"")?.1.split_once('"')?;
        Some(Self(reason.to_owned()))
    }

    /// Because of a program at which V8 gives up.
    fn v8_gave_up(&self) -> bool {
        ["v8-abort", "out-of-memory"].contains(&self.0.as_str())
    }

    /// Whether programs of the corpus have this happen. Anything else is a fault of ours.
    fn expected(&self) -> bool {
        self.0 == "stuck" || self.v8_gave_up()
    }
}

/// The programs to mix: those that end by their own doing or at their CPU limit. Programs that wait for their wall
/// clock would only make a soak long. In in-process mode none whose thread can only be abandoned: each would take a core
/// for minutes or for ever, and soon nothing else would run; `abuse` runs each of those once.
fn corpus(mode: Mode) -> Vec<Case> {
    let all: Vec<Case> = abuse::FILES.iter().flat_map(|file| case::load("abuse", file).cases).collect();
    let waits = |case: &Case| case.request.limits.wall.as_millis() < 10_000;
    let fits = |case: &Case| mode == Mode::Process || case.in_process == InProcess::Stops;
    let count = all.len();
    let mut corpus: Vec<Case> = all.into_iter().filter(|case| !waits(case) && fits(case)).collect();
    println!("soak {}: {} of the {count} programs of the corpus", mode.name(), corpus.len());
    for case in &mut corpus {
        case.request.limits.wall = WALL;
        if let Some(millis) = case.request.limits.cpu_millis.as_mut().filter(|millis| **millis < 1_000) {
            *millis = CPU_MILLIS;
            // With so little, a program that meets another limit may meet this one first.
            let members = [("_tag", "CodeExecutionTimeoutError"), ("kind", "cpu")];
            let members = members.map(|(name, value)| (name.to_owned(), Json::String(value.encode_utf16().collect())));
            case.expect.push(Expect::Failed(members.to_vec()));
        }
    }
    corpus
}

fn run(service: &Service, mode: Mode, corpus: &[Case], passes: usize, found: &mut Found) -> Result<(), String> {
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
    let all = RefCell::new(found);
    let clients = (0..CLIENTS).map(|client| {
        let (healthy, count, all) = (&healthy, &count, &all);
        async move {
            let connection = Connection::open(service).await?;
            for turn in (client..passes).step_by(CLIENTS) {
                let hostile = (turn / CLIENTS) % 2 == 1;
                // 7,919 is prime, so every program meets every other in the course of time.
                let case = if hostile { &corpus[(turn * 7_919) % corpus.len()] } else { healthy };
                let (outcome, _) = pass_on(&connection, case).await.map_err(|error| format!("{}: {error}", case.id))?;
                let checked = expect::check(case, &outcome);
                let found = &mut *all.borrow_mut();
                found.may_abort += u64::from(case.in_process == InProcess::Aborts);
                match (checked, ended_with_its_process(&outcome), hostile) {
                    (Ok(()), _, _) => {}
                    (Err(_), Some(Fault::Others), true) => found.hostile_not_at_fault += 1,
                    (Err(_), Some(Fault::Others), false) => found.healthy_not_at_fault += 1,
                    (Err(error), Some(Fault::Unknown), _) => {
                        eprintln!("lost: {}\n  {error}", case.id);
                        found.lost += 1;
                    }
                    (Err(error), None, true) => return Err(format!("{}\n  {error}", case.id)),
                    (Err(error), None, false) => {
                        eprintln!("harmed: {error}");
                        found.harmed += 1;
                    }
                }
                count();
            }
            Ok::<_, String>(())
        }
    });
    block_on(try_join_all(clients)).map(drop)
}

/// Whose fault it was that a pass ended with its process.
enum Fault {
    Others,
    Unknown,
}

/// Whether a pass ended because its process did, by what it was told.
fn ended_with_its_process(outcome: &expect::Outcome) -> Option<Fault> {
    let expect::Outcome::Answer(answer) = outcome else { return None };
    let member = |name| answer.get("failure").and_then(|error| error.get(name)).and_then(Json::as_text);
    if member("_tag")? != "CodeExecutorTerminatedError" {
        return None;
    }
    let message = member("message")?;
    if message.contains("was not at fault") {
        Some(Fault::Others)
    } else {
        (message.contains("process") && message.contains("gone")).then_some(Fault::Unknown)
    }
}
