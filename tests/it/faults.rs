//! Faults from outside: sandbox processes that are killed or stopped, a log that cannot be written, descriptors that
//! run out. Each pass ends with the right typed error, once, and the service goes on.

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use loaderd_schema::executor_capnp as schema;

use crate::case::{self, Case};
use crate::doors::capnp::{Connection, block_on, client_of, fill, pass_on, read};
use crate::expect::Outcome;
use crate::healthy;
use crate::host::ScriptedHost;
use crate::json::Json;
use crate::proc;
use crate::raw_host::{self, Answers};
use crate::service::{Mode, Service, Start};

/// How long an answer may take. A bound against hanging tests, not an expectation.
const ANSWER_WAIT: Duration = Duration::from_secs(30);

type Check = fn() -> Result<(), String>;

pub(crate) fn trials() -> Vec<Trial> {
    let tests: Vec<(&str, Check)> = vec![
        ("sandbox_killed_mid_pass", || sandbox_signalled_mid_pass(Signal::SIGKILL)),
        ("sandbox_stopped_mid_pass", || sandbox_signalled_mid_pass(Signal::SIGSTOP)),
        ("sandboxes_killed_at_any_moment", || sandboxes_signalled_at_any_moment(Signal::SIGKILL)),
        ("sandboxes_stopped_at_any_moment", || sandboxes_signalled_at_any_moment(Signal::SIGSTOP)),
        ("log_that_cannot_be_written", log_that_cannot_be_written),
        ("descriptors_that_run_out", descriptors_that_run_out),
    ];
    let tests = tests
        .into_iter()
        .map(|(name, test)| Trial::test(format!("faults::{name}"), move || test().map_err(Into::into)));
    let hosts: [(&str, fn(&Service) -> Result<(), String>); 5] = [
        ("slow", slow_host),
        ("silent", silent_host),
        ("twice", |service| unruly_host(service, Answers::Twice)),
        ("late", |service| unruly_host(service, Answers::AfterThePass)),
        ("after_giving_up", |service| unruly_host(service, Answers::AfterGivingUp)),
    ];
    let hosts = hosts.into_iter().flat_map(|(name, test)| {
        Mode::ALL.map(|mode| {
            let name = format!("faults::host_that_answers::{name}::{}", mode.name());
            Trial::test(name, move || with_service(mode, test).map_err(Into::into))
        })
    });
    tests.chain(hosts).collect()
}

/// A service lives through the test, and then serves others.
fn with_service(mode: Mode, test: fn(&Service) -> Result<(), String>) -> Result<(), String> {
    let service = Service::start(&mode.arguments())?;
    test(&service)?;
    let healthy = healthy::case();
    block_on(async { healthy::checked(&Connection::open(&service).await?, &healthy).await })?;
    if service.runs() { Ok(()) } else { Err("the service ended".to_owned()) }
}

/// A case whose program calls its host and returns what that says.
fn returns_answer(wall: Duration) -> Case {
    let mut case = healthy::case();
    case.request.source = "async () => await warehouse.query(1)".to_owned();
    case.request.limits.wall = wall;
    case
}

/// A host that takes its time: the pass waits, at no cost of its own.
fn slow_host(service: &Service) -> Result<(), String> {
    struct Slow;
    impl schema::pass_host::Server for Slow {
        async fn call(
            self: std::rc::Rc<Self>,
            _: schema::pass_host::CallParams,
            mut results: schema::pass_host::CallResults,
        ) -> Result<(), capnp::Error> {
            tokio::time::sleep(Duration::from_millis(700)).await;
            results.get().init_outcome().set_success("7");
            Ok(())
        }
    }
    let mut case = returns_answer(ANSWER_WAIT);
    case.request.limits.cpu_millis = Some(500);
    let outcome = block_on(async {
        let connection = Connection::open(service).await?;
        let mut request = connection.executor.execute_request();
        fill(request.get().init_request(), &case.request)?;
        request.get().set_host(capnp_rpc::new_client(Slow));
        let answer = request.send().promise.await.map_err(|error| error.to_string())?;
        read(answer.get().and_then(|answer| answer.get_outcome()).map_err(|error| error.to_string())?)
    })?;
    expect_value(&outcome, "7")
}

/// A host that never answers: the pass meets its deadline, and the host hears that nobody waits any more.
fn silent_host(service: &Service) -> Result<(), String> {
    let mut waits = waits()?;
    waits.interrupt_after_calls = None;
    let (outcome, record) = block_on(async { pass_on(&Connection::open(service).await?, &waits).await })?;
    expect_tag(&outcome, "CodeExecutionTimeoutError")?;
    if record.interrupted == 1 { Ok(()) } else { Err(format!("the host was not told: {record:?}")) }
}

/// A host that answers at the wrong time, or too often: the pass is answered once at most, and rightly.
fn unruly_host(service: &Service, how: Answers) -> Result<(), String> {
    let wall = if how == Answers::AfterThePass { Duration::from_secs(1) } else { ANSWER_WAIT };
    let seen = raw_host::play(service, &returns_answer(wall), how)?;
    match (how, &seen.answers[..]) {
        (Answers::Twice, [outcome]) => expect_value(outcome, "7"),
        // The second answer ended the connection, before the pass's own could leave.
        (Answers::Twice, []) if seen.closed => Ok(()),
        (Answers::AfterThePass, [outcome]) => expect_tag(outcome, "CodeExecutionTimeoutError"),
        (Answers::AfterGivingUp, []) => Ok(()),
        _ => Err(format!("{how:?}: {seen:?}")),
    }
}

fn expect_value(outcome: &Outcome, expected: &str) -> Result<(), String> {
    let Outcome::Answer(answer) = outcome else { return Err(format!("should be {expected}: {outcome:?}")) };
    let value = answer.get("success").and_then(|success| success.get("value")).map(ToString::to_string);
    if value.as_deref() == Some(expected) { Ok(()) } else { Err(format!("should be {expected}: {answer}")) }
}

/// The pass that waits for its host, with a wall clock that a test can wait for.
fn waits() -> Result<Case, String> {
    let mut cases = case::load("contract", "kit").cases.into_iter();
    let mut case = cases.find(|case| case.interrupt_after_calls.is_some()).ok_or("no case waits for its host")?;
    case.request.limits.wall = Duration::from_secs(3);
    Ok(case)
}

/// A pass waits for its host; every sandbox process gets the signal. A killed one ends the pass as terminated, a
/// stopped one lets it meet its deadline; either way a new pass finds a process that works.
fn sandbox_signalled_mid_pass(signal: Signal) -> Result<(), String> {
    let service = Service::start(&["--sandbox", "process"])?;
    let (waits, healthy) = (waits()?, healthy::case());
    block_on(async {
        let connection = Connection::open(&service).await?;
        healthy::checked(&connection, &healthy).await?;
        let host = ScriptedHost::new(&waits);
        let mut request = connection.executor.execute_request();
        fill(request.get().init_request(), &waits.request)?;
        request.get().set_host(client_of(&host));
        let answer = request.send().promise;
        host.seen(1).await;
        let sandboxes = proc::children(service.pid())?;
        if sandboxes.is_empty() {
            return Err("there is no sandbox process".to_owned());
        }
        for sandbox in &sandboxes {
            let pid = Pid::from_raw(i32::try_from(*sandbox).map_err(|error| error.to_string())?);
            kill(pid, signal).map_err(|error| error.to_string())?;
        }
        let answer = tokio::time::timeout(ANSWER_WAIT, answer).await.map_err(|_| "the pass was never answered")?;
        let answer = answer.map_err(|error| error.to_string())?;
        let outcome = read(answer.get().and_then(|answer| answer.get_outcome()).map_err(|error| error.to_string())?)?;
        let expected =
            if signal == Signal::SIGKILL { "CodeExecutorTerminatedError" } else { "CodeExecutionTimeoutError" };
        expect_tag(&outcome, expected)?;
        // A pass given to a process before its death is noticed shares it, and is told so; replacements come with
        // back-off. Nobody says when one is there, so this asks again.
        let deadline = Instant::now() + ANSWER_WAIT;
        loop {
            match healthy::checked(&connection, &healthy).await {
                Err(_) if Instant::now() < deadline => tokio::time::sleep(Duration::from_millis(50)).await,
                last => break last,
            }
        }
    })?;
    if service.runs() { Ok(()) } else { Err("the service ended".to_owned()) }
}

/// Passes follow each other on several connections while every now and then all sandbox processes get the signal, whatever
/// they are in the middle of: starting, loading, running, answering. Each pass is answered once: with its result, or as
/// terminated, or at its deadline where its process stands still; or it is told that none can be started, where several died
/// in a row before they had.
fn sandboxes_signalled_at_any_moment(signal: Signal) -> Result<(), String> {
    const SIGNALS: u64 = 12;
    let service = Service::start(&["--sandbox", "process"])?;
    let mut case = healthy::case();
    case.request.limits.wall = Duration::from_secs(2);
    let done = Cell::new(false);
    let signalling = async {
        for moment in 1..=SIGNALS {
            // Some milliseconds that are no multiple of anything.
            tokio::time::sleep(Duration::from_millis(moment * 7_919 % 97)).await;
            for sandbox in proc::children(service.pid())? {
                let pid = Pid::from_raw(i32::try_from(sandbox).map_err(|error| error.to_string())?);
                // It may have ended meanwhile.
                let _ = kill(pid, signal);
            }
        }
        done.set(true);
        Ok::<_, String>(0)
    };
    let passes = (0..3).map(|_| async {
        let connection = Connection::open(&service).await?;
        let mut passes = 0_usize;
        while !done.get() {
            let answer = tokio::time::timeout(ANSWER_WAIT, pass_on(&connection, &case)).await;
            let (outcome, _) = answer.map_err(|_| "a pass was never answered")??;
            expect_value_or_end(&case, &outcome)?;
            passes += 1;
        }
        Ok::<_, String>(passes)
    });
    let passes: usize = block_on(async {
        let (signalled, passes) = futures::future::join(signalling, try_join_all(passes)).await;
        signalled?;
        passes.map(|passes| passes.into_iter().sum())
    })?;
    if passes == 0 {
        return Err("there were no passes".to_owned());
    }
    // Processes that stand still are found out and replaced in time, which nobody has to wait for here.
    if service.runs() { Ok(()) } else { Err("the service ended".to_owned()) }
}

fn expect_value_or_end(case: &Case, outcome: &Outcome) -> Result<(), String> {
    crate::expect::check(case, outcome)
        .or_else(|_| expect_tag(outcome, "CodeExecutorTerminatedError"))
        .or_else(|_| expect_tag(outcome, "CodeExecutorStartError"))
        .or_else(|_| expect_tag(outcome, "CodeExecutionTimeoutError"))
}

fn expect_tag(outcome: &Outcome, expected: &str) -> Result<(), String> {
    let Outcome::Answer(answer) = outcome else { return Err(format!("should be {expected}: {outcome:?}")) };
    let tag = answer.get("failure").and_then(|error| error.get("_tag")).and_then(Json::as_text);
    if tag.as_deref() == Some(expected) { Ok(()) } else { Err(format!("should be {expected}: {answer}")) }
}

/// A full disk under the log.
fn log_that_cannot_be_written() -> Result<(), String> {
    let service = Service::start_with(&Start { log: Some("/dev/full"), ..Start::default() })?;
    let healthy = healthy::case();
    block_on(async {
        let connection = Connection::open(&service).await?;
        for _ in 0..20 {
            healthy::checked(&connection, &healthy).await?;
        }
        Ok(())
    })?;
    if service.runs() { Ok(()) } else { Err("the service ended".to_owned()) }
}

/// Descriptors that the service may have in that test.
const DESCRIPTORS: usize = 96;

async fn served_anew(service: &Service, healthy: &Case) -> Result<(), String> {
    healthy::checked(&Connection::open(service).await?, healthy).await
}

/// More connections than the process may have descriptors. When they are gone, the service serves again.
fn descriptors_that_run_out() -> Result<(), String> {
    let service = Service::start_with(&Start { descriptors: Some(DESCRIPTORS as u64), ..Start::default() })?;
    let healthy = healthy::case();
    block_on(async {
        let connection = Connection::open(&service).await?;
        healthy::checked(&connection, &healthy).await?;
        let mut silent = Vec::new();
        for _ in 0..2 * DESCRIPTORS {
            match std::os::unix::net::UnixStream::connect(service.socket()) {
                Ok(stream) => silent.push(stream),
                Err(_) => break,
            }
        }
        let all_used = || proc::descriptors(service.pid()).is_ok_and(|used| used >= DESCRIPTORS);
        let deadline = Instant::now() + ANSWER_WAIT;
        while !all_used() {
            if Instant::now() > deadline {
                return Err(format!("descriptors are left: {:?}", proc::descriptors(service.pid())));
            }
            // The kernel tells nobody when another process opens a file, so this asks again.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // The connection that was there before is served all the while.
        for _ in 0..5 {
            healthy::checked(&connection, &healthy).await?;
        }
        drop(silent);
        // Those that went are noticed one by one; then others come in.
        let deadline = Instant::now() + ANSWER_WAIT;
        while let Err(error) = served_anew(&service, &healthy).await {
            if Instant::now() > deadline {
                return Err(format!("nobody is let in any more: {error}"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    })?;
    if service.runs() { Ok(()) } else { Err("the service ended".to_owned()) }
}
