//! Faults from outside: hosts that answer at the wrong time or too often, a log that cannot be written, descriptors that
//! run out, and in `signals` sandbox processes that are killed or stopped. Each pass ends with the right typed error, once,
//! and the service goes on.

mod signals;

use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use loaderd_schema::executor_capnp as schema;

use crate::admin;
use crate::case::{self, Case};
use crate::doors::capnp::{Connection, block_on, fill, pass_on, read};
use crate::expect::Outcome;
use crate::healthy;
use crate::json::Json;
use crate::proc;
use crate::raw_host::{self, Answers};
use crate::scratch::Scratch;
use crate::service::{Mode, Service, Start};

/// How long an answer may take. A bound against hanging tests, not an expectation.
const ANSWER_WAIT: Duration = Duration::from_secs(30);

pub(crate) fn trials() -> Vec<Trial> {
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
    let system: [(&str, fn(Mode) -> Result<(), String>); 4] = [
        ("log_that_cannot_be_written", log_that_cannot_be_written),
        ("log_that_may_not_grow", log_that_may_not_grow),
        ("log_that_nobody_reads", log_that_nobody_reads),
        ("descriptors_that_run_out", descriptors_that_run_out),
    ];
    let system = system.into_iter().flat_map(|(name, test)| {
        Mode::ALL.map(|mode| {
            let name = format!("faults::{name}::{}", mode.name());
            Trial::test(name, move || test(mode).map_err(Into::into))
        })
    });
    let none = Trial::test("faults::processes_that_do_not_live", || processes_that_do_not_live().map_err(Into::into));
    let memory = Trial::test("faults::memory_that_runs_out", || memory_that_runs_out().map_err(Into::into));
    hosts.chain(system).chain([none, memory]).chain(signals::trials()).collect()
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

fn expect_tag(outcome: &Outcome, expected: &str) -> Result<(), String> {
    let Outcome::Answer(answer) = outcome else { return Err(format!("should be {expected}: {outcome:?}")) };
    let tag = answer.get("failure").and_then(|error| error.get("_tag")).and_then(Json::as_text);
    if tag.as_deref() == Some(expected) { Ok(()) } else { Err(format!("should be {expected}: {answer}")) }
}

/// Runs healthy passes on one connection: enough to have something logged.
fn run_healthy(service: &Service) -> Result<(), String> {
    let healthy = healthy::case();
    block_on(async {
        let connection = Connection::open(service).await?;
        for _ in 0..20 {
            healthy::checked(&connection, &healthy).await?;
        }
        Ok(())
    })
}

/// A full disk under the log.
fn log_that_cannot_be_written(mode: Mode) -> Result<(), String> {
    let arguments = mode.arguments();
    let service = Service::start_with(&Start { log: Some("/dev/full"), arguments: &arguments, ..Start::default() })?;
    run_healthy(&service)?;
    if service.runs() { Ok(()) } else { Err("the service ended".to_owned()) }
}

/// A log that may not grow any further.
fn log_that_may_not_grow(mode: Mode) -> Result<(), String> {
    let scratch = Scratch::new()?;
    let path = scratch.path().join("log");
    std::fs::File::create(&path).map_err(|error| error.to_string())?;
    let (arguments, log) = (mode.arguments(), path.to_str());
    let ulimit = Some("-f 8");
    let start = Start { log, log_level: Some("trace"), arguments: &arguments, ulimit };
    let service = Service::start_with(&start)?;
    let length = || std::fs::metadata(&path).map(|log| log.len()).map_err(|error| error.to_string());
    let mut before = 0;
    // Until nothing is added any more, and once more.
    while length()? > before {
        before = length()?;
        run_healthy(&service)?;
    }
    if service.runs() { Ok(()) } else { Err("the service ended".to_owned()) }
}

/// A pipe under the log that is full, since nobody reads it.
fn log_that_nobody_reads(mode: Mode) -> Result<(), String> {
    let scratch = Scratch::new()?;
    let path = scratch.path().join("log");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).map_err(|error| error.to_string())?;
    let pipe = std::fs::OpenOptions::new().read(true).write(true).open(&path).map_err(|error| error.to_string())?;
    let room = nix::fcntl::fcntl(&pipe, nix::fcntl::FcntlArg::F_SETPIPE_SZ(1)).map_err(|error| error.to_string())?;
    let arguments = mode.arguments();
    let log = path.to_str();
    let service =
        Service::start_with(&Start { log, log_level: Some("trace"), arguments: &arguments, ..Start::default() })?;
    let healthy = healthy::case();
    let pass = || block_on(async { healthy::checked(&Connection::open(&service).await?, &healthy).await });
    let deadline = Instant::now() + ANSWER_WAIT;
    loop {
        pass()?;
        let mut waiting: libc::c_int = 0;
        // SAFETY: the kernel writes one number, which lives for the call.
        nix::Error::result(unsafe { libc::ioctl(pipe.as_raw_fd(), libc::FIONREAD, &raw mut waiting) })
            .map_err(|error| error.to_string())?;
        // The last line that fits may leave a little.
        if waiting > room / 2 {
            break;
        }
        if Instant::now() > deadline {
            return Err(format!("the log never filled its pipe: {waiting} of {room} bytes"));
        }
    }
    for _ in 0..20 {
        pass()?;
    }
    service.terminate()?;
    service.ended(ANSWER_WAIT)
}

/// So little memory that a sandbox process dies as soon as it makes an isolate: whoever asks hears that no program can be run.
fn processes_that_do_not_live() -> Result<(), String> {
    let arguments = ["--admin", "0"];
    let service = Service::start_with(&Start { arguments: &arguments, ulimit: Some("-d 20000"), ..Start::default() })?;
    let address = service.admin().ok_or("the service named no admin address")?;
    let deadline = Instant::now() + ANSWER_WAIT;
    loop {
        let answer = admin::ask(&address, "GET /readyz")?;
        if answer.starts_with("HTTP/1.1 503") && answer.contains("no sandbox process can be started") {
            return if service.runs() { Ok(()) } else { Err("the service ended".to_owned()) };
        }
        if Instant::now() > deadline {
            return Err(format!("it should say that nothing can be run: {answer}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What all of the service's processes may have of memory, each, in KiB: little more than a sandbox process at rest does.
const MEMORY_KIB: u64 = 700_000;

/// Programs that want all memory there is, several at once, where every process gets little. The sandbox processes may die of
/// it; the service, which holds nothing of theirs, does not.
fn memory_that_runs_out() -> Result<(), String> {
    const PROGRAMS: [&str; 8] = [
        "arrays",
        "one-allocation",
        "json-text",
        "array-buffers-small",
        "array-buffer-large",
        "wasm-memory",
        "call-flood",
        "retained-results",
    ];
    let ulimit = format!("-d {MEMORY_KIB}");
    let service = Service::start_with(&Start { ulimit: Some(&ulimit), ..Start::default() })?;
    let cases: Vec<Case> =
        case::load("abuse", "memory").cases.into_iter().filter(|case| PROGRAMS.contains(&case.id.as_str())).collect();
    if cases.len() != PROGRAMS.len() {
        return Err(format!("{} of the programs are there", cases.len()));
    }
    let healthy = healthy::case();
    block_on(async {
        let passes = cases.iter().map(|case| async {
            let (outcome, _) = pass_on(&Connection::open(&service).await?, case).await?;
            let ended = crate::expect::check(case, &outcome);
            ended.or_else(|wrong| expect_tag(&outcome, "CodeExecutorTerminatedError").map_err(|_| wrong))
        });
        futures::future::try_join_all(passes).await?;
        // A pass beside one of those may have lost its process with it.
        let deadline = Instant::now() + ANSWER_WAIT;
        loop {
            match healthy::checked(&Connection::open(&service).await?, &healthy).await {
                Err(_) if Instant::now() < deadline => tokio::time::sleep(Duration::from_millis(50)).await,
                last => break last,
            }
        }
    })?;
    if service.runs() { Ok(()) } else { Err("the service ended".to_owned()) }
}

/// Descriptors that the service may have in that test.
const DESCRIPTORS: usize = 96;

async fn served_anew(service: &Service, healthy: &Case) -> Result<(), String> {
    healthy::checked(&Connection::open(service).await?, healthy).await
}

/// More connections than the process may have descriptors. When they are gone, the service serves again.
fn descriptors_that_run_out(mode: Mode) -> Result<(), String> {
    let arguments = mode.arguments();
    let start = Start { ulimit: Some(&format!("-n {DESCRIPTORS}")), arguments: &arguments, ..Start::default() };
    let service = Service::start_with(&start)?;
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
