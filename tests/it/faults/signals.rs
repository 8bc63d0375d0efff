//! Sandbox processes that get a signal: at any moment, while they load a program, while one waits for its host.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use futures::future::try_join_all;
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::sync::Notify;

use loaderd_schema::executor_capnp as schema;

use super::{ANSWER_WAIT, expect_tag, expect_value, returns_answer};
use crate::admin;
use crate::case::Case;
use crate::doors::capnp::{Connection, block_on, fill, pass_on, read};
use crate::expect::Outcome;
use crate::healthy;
use crate::json::Json;
use crate::proc;
use crate::service::Service;
use crate::wait::until;

const TERMINATED: &str = "CodeExecutorTerminatedError";
const DEADLINE: &str = "CodeExecutionTimeoutError";

/// The wall clock of a pass that is to meet it.
const WALL: Duration = Duration::from_secs(2);

type Check = fn() -> Result<(), String>;

pub(super) fn trials() -> Vec<Trial> {
    let tests: Vec<(&str, Check)> = vec![
        ("sandbox_killed_mid_pass", || mid_pass(Signal::SIGKILL)),
        ("sandbox_stopped_mid_pass", || mid_pass(Signal::SIGSTOP)),
        ("sandbox_stopped_before_it_loads", stopped_before_it_loads),
        ("sandbox_stopped_for_a_while", stopped_for_a_while),
        ("sandbox_that_answers_after_the_deadline", answers_after_the_deadline),
        ("sandboxes_killed_at_any_moment", || at_any_moment(Signal::SIGKILL)),
        ("sandboxes_stopped_at_any_moment", || at_any_moment(Signal::SIGSTOP)),
    ];
    let trial =
        |(name, test): (&str, Check)| Trial::test(format!("faults::{name}"), move || test().map_err(Into::into));
    tests.into_iter().map(trial).collect()
}

fn service() -> Result<Service, String> {
    Service::start(&["--sandbox", "process", "--admin", "0"])
}

/// Sends a signal to every sandbox process of the service.
fn signal_all(service: &Service, signal: Signal) -> Result<(), String> {
    let sandboxes = proc::children(service.pid())?;
    if sandboxes.is_empty() {
        return Err("there is no sandbox process".to_owned());
    }
    for sandbox in sandboxes {
        let pid = Pid::from_raw(i32::try_from(sandbox).map_err(|error| error.to_string())?);
        // It may have ended meanwhile.
        let _ = kill(pid, signal);
    }
    Ok(())
}

/// The service runs passes again, sooner or later, and has counted each of those until now once.
async fn serves_on(service: &Service, connection: &Connection, passes: u64) -> Result<(), String> {
    let counted = ended(service)?;
    if counted != passes {
        return Err(format!("{passes} passes were run, and {counted} are counted"));
    }
    let healthy = healthy::case();
    // A pass given to a process before its death is noticed shares it, and is told so; replacements come with
    // back-off. Nobody says when one is there, so this asks again.
    let deadline = Instant::now() + ANSWER_WAIT;
    loop {
        match healthy::checked(connection, &healthy).await {
            Err(_) if Instant::now() < deadline => tokio::time::sleep(Duration::from_millis(50)).await,
            last => break last,
        }
    }?;
    if service.runs() { Ok(()) } else { Err("the service ended".to_owned()) }
}

/// How many passes the service has counted as ended, whichever way.
fn ended(service: &Service) -> Result<u64, String> {
    let page = admin::metrics(service)?;
    let samples = page.lines().filter_map(|line| line.strip_prefix("loaderd_passes_total{"));
    let numbers = samples.filter_map(|sample| sample.rsplit_once(' ')?.1.parse::<u64>().ok());
    Ok(numbers.sum())
}

/// A host that tells of each call, and answers when it is told to.
#[derive(Clone, Default)]
struct Gate(Rc<GateState>);

#[derive(Default)]
struct GateState {
    called: Notify,
    answer: Notify,
}

impl schema::pass_host::Server for Gate {
    async fn call(
        self: Rc<Self>,
        _: schema::pass_host::CallParams,
        mut results: schema::pass_host::CallResults,
    ) -> Result<(), capnp::Error> {
        self.0.called.notify_one();
        self.0.answer.notified().await;
        results.get().init_outcome().set_success("7");
        Ok(())
    }
}

/// Runs a pass, and `meddle` once the pass waits for its host.
async fn pass_and(
    connection: &Connection,
    case: &Case,
    gate: &Gate,
    meddle: impl Future<Output = Result<(), String>>,
) -> Result<Outcome, String> {
    let mut request = connection.executor.execute_request();
    fill(request.get().init_request(), &case.request)?;
    request.get().set_host(capnp_rpc::new_client(gate.clone()));
    let pass = async {
        let answer = tokio::time::timeout(ANSWER_WAIT, request.send().promise).await;
        let answer = answer.map_err(|_| "the pass was never answered")?.map_err(|error| error.to_string())?;
        read(answer.get().and_then(|answer| answer.get_outcome()).map_err(|error| error.to_string())?)
    };
    let meddle = async {
        gate.0.called.notified().await;
        meddle.await
    };
    let (outcome, meddled) = futures::future::join(pass, meddle).await;
    meddled?;
    outcome
}

/// A killed process ends its pass as terminated, a stopped one lets it meet its deadline.
fn mid_pass(signal: Signal) -> Result<(), String> {
    let service = service()?;
    block_on(async {
        let connection = Connection::open(&service).await?;
        let case = returns_answer(if signal == Signal::SIGSTOP { WALL } else { ANSWER_WAIT });
        let meddle = async { signal_all(&service, signal) };
        let outcome = pass_and(&connection, &case, &Gate::default(), meddle).await?;
        expect_tag(&outcome, if signal == Signal::SIGKILL { TERMINATED } else { DEADLINE })?;
        serves_on(&service, &connection, 1).await
    })
}

/// The one process that there is stands still when it is given a pass, so nothing of that ever begins.
fn stopped_before_it_loads() -> Result<(), String> {
    let service = service()?;
    until(|| proc::children(service.pid()).is_ok_and(|sandboxes| !sandboxes.is_empty()), "a sandbox process")?;
    signal_all(&service, Signal::SIGSTOP)?;
    block_on(async {
        let connection = Connection::open(&service).await?;
        let mut case = healthy::case();
        case.request.limits.wall = WALL;
        let (outcome, _) = pass_on(&connection, &case).await?;
        expect_tag(&outcome, DEADLINE)?;
        serves_on(&service, &connection, 1).await
    })
}

/// A pass with so much time whose host answers while the processes stand still; then comes what `then` does.
async fn answered_while_stopped(
    service: &Service,
    connection: &Connection,
    wall: Duration,
    then: impl Future<Output = Result<(), String>>,
) -> Result<Outcome, String> {
    let gate = Gate::default();
    let meddle = async {
        signal_all(service, Signal::SIGSTOP)?;
        gate.0.answer.notify_one();
        then.await
    };
    pass_and(connection, &returns_answer(wall), &gate, meddle).await
}

/// A process stands still while its host answers, and goes on in time: its pass has lost nothing.
fn stopped_for_a_while() -> Result<(), String> {
    let service = service()?;
    block_on(async {
        let connection = Connection::open(&service).await?;
        let goes_on = async {
            // Long enough for the answer to arrive at a process that does not read it.
            tokio::time::sleep(Duration::from_millis(200)).await;
            signal_all(&service, Signal::SIGCONT)
        };
        let outcome = answered_while_stopped(&service, &connection, ANSWER_WAIT, goes_on).await?;
        expect_value(&outcome, "7")?;
        serves_on(&service, &connection, 1).await
    })
}

/// A process stands still past its pass's deadline, with the answer that it waited for: when it goes on, it finishes a
/// program that nobody waits for. The pass was answered, and is counted, once.
fn answers_after_the_deadline() -> Result<(), String> {
    let service = service()?;
    block_on(async {
        let connection = Connection::open(&service).await?;
        let outcome = answered_while_stopped(&service, &connection, WALL, async { Ok(()) }).await?;
        expect_tag(&outcome, DEADLINE)?;
        // Killed for standing still by now, where this machine is slow: then there is nobody to go on.
        let _ = signal_all(&service, Signal::SIGCONT);
        serves_on(&service, &connection, 1).await
    })
}

/// Passes follow each other on several connections while every now and then all sandbox processes get the signal, whatever
/// they are in the middle of: starting, loading, running, answering. Each pass is answered once: with its result; or, where
/// processes are killed, as terminated; or, where they are stopped, at its deadline.
fn at_any_moment(signal: Signal) -> Result<(), String> {
    const SIGNALS: u64 = 12;
    let service = service()?;
    let mut case = healthy::case();
    // Killed processes are replaced long before anybody's deadline.
    case.request.limits.wall = if signal == Signal::SIGSTOP { WALL } else { ANSWER_WAIT };
    let done = Cell::new(false);
    let signalling = async {
        for moment in 1..=SIGNALS {
            // Some milliseconds that are no multiple of anything.
            tokio::time::sleep(Duration::from_millis(moment * 7_919 % 97)).await;
            // There is none while a replacement is not due.
            let _ = signal_all(&service, signal);
        }
        done.set(true);
        Ok::<_, String>(())
    };
    let passes = (0..3).map(|_| async {
        let connection = Connection::open(&service).await?;
        let mut passes = 0_u64;
        while !done.get() {
            let answer = tokio::time::timeout(ANSWER_WAIT, pass_on(&connection, &case)).await;
            let (outcome, _) = answer.map_err(|_| "a pass was never answered")??;
            expect_value_or_end(&case, &outcome, signal)?;
            passes += 1;
        }
        Ok::<_, String>(passes)
    });
    block_on(async {
        let (signalled, passes) = futures::future::join(signalling, try_join_all(passes)).await;
        signalled?;
        let passes: u64 = passes?.into_iter().sum();
        if passes == 0 {
            return Err("there were no passes".to_owned());
        }
        serves_on(&service, &Connection::open(&service).await?, passes).await
    })
}

/// A pass beside one that could not be stopped, in a process that was killed for it, is told that it was not at fault.
const NOT_AT_FAULT: &str = "was not at fault";

fn expect_value_or_end(case: &Case, outcome: &Outcome, signal: Signal) -> Result<(), String> {
    let value = crate::expect::check(case, outcome);
    if value.is_ok() {
        return value;
    }
    match signal {
        Signal::SIGSTOP => expect_tag(outcome, DEADLINE).or_else(|wrong| match message(outcome) {
            Some(message) if message.contains(NOT_AT_FAULT) => expect_tag(outcome, TERMINATED),
            _ => Err(wrong),
        }),
        _ => expect_tag(outcome, TERMINATED),
    }
}

fn message(outcome: &Outcome) -> Option<String> {
    let Outcome::Answer(answer) = outcome else { return None };
    answer.get("failure")?.get("message").and_then(Json::as_text)
}
