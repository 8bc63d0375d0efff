//! What becomes of passes whose process dies, stands still or is killed.

use std::time::{Duration, Instant};

use futures::future::join_all;
use libtest_mimic::Trial;
use loaderd_harness::{CodeExecutionLimits, CodeExecutionResult, PassFailure};
use loaderd_loader::sandbox::{Restart, SandboxMetrics};
use nix::sys::signal::Signal;

use super::{
    Broker, Check, FAKE, Gate, PATIENCE, REAL, TERMINATED, WAITS, end_of, expect, pass, signal, trials_of, wall,
};
use crate::doors::rust::runtime;

const NOT_STARTED: &str = "CodeExecutorStartError";

pub(crate) fn trials() -> Vec<Trial> {
    let tests: Vec<(&str, Check)> = vec![
        ("a_stopped_process_is_given_nothing_new", || runtime().block_on(stopped())),
        ("a_pass_that_has_not_started_is_placed_again", || runtime().block_on(placed_again())),
        ("a_pass_is_placed_again_once", || runtime().block_on(placed_again_once())),
        ("passes_whose_processes_are_killed_before_they_greet", || runtime().block_on(killed_before_greeting())),
        ("passes_where_no_process_starts", || runtime().block_on(none_starts())),
        ("a_process_that_dies_while_it_takes_no_more_is_recorded", || runtime().block_on(dies_retired())),
        ("a_deaf_builtin_costs_its_process_and_is_counted", || runtime().block_on(deaf_builtin())),
        ("a_trap_that_v8_did_not_announce_is_no_memory_limit", || runtime().block_on(unannounced_trap())),
    ];
    trials_of(tests)
}

/// A process stands still. As soon as that is known, passes go to the other one, though a pass of the same tenant would have
/// been in company before; the one in it is none the worse for it. That a pass is elsewhere shows only while the process stands
/// there: on a busy machine it may be killed as hung first, and all begins again.
async fn stopped() -> Result<(), String> {
    const ROUNDS: usize = 5;
    for _ in 0..ROUNDS {
        if elsewhere_while_one_stands().await? {
            return Ok(());
        }
    }
    Err(format!("in {ROUNDS} rounds no pass began elsewhere before the stopped process was killed"))
}

/// One round: whether a pass began while the process that had been stopped was still there.
async fn elsewhere_while_one_stands() -> Result<bool, String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 2)?;
    let hung = |metrics: &SandboxMetrics| metrics.restarted(Restart::Hung) > 0;
    let (first, second) = (Gate::new(), Gate::new());
    for host in [&first, &second] {
        host.open();
    }
    expect("a pass", &end_of(&pass(&broker.executor, &first, WAITS, wall(PATIENCE)).await), &Ok("1".to_owned()))?;
    broker.until("there is a spare one", |metrics| metrics.processes == 2 && metrics.workers == 0).await?;
    let stopped = broker.sandboxes.pids()[0];
    signal(stopped, Signal::SIGSTOP)?;
    let beside = async {
        broker.until("it is known", |metrics| metrics.silent == 1 || hung(metrics)).await?;
        let begins = async {
            second.seen(1).await?;
            Ok::<_, String>(stands(stopped))
        };
        let ended = pass(&broker.executor, &second, WAITS, wall(PATIENCE));
        let (ended, begun) = futures::future::join(ended, begins).await;
        expect("a pass after that", &end_of(&ended), &Ok("1".to_owned()))?;
        // An error: it has been killed.
        let _ = signal(stopped, Signal::SIGCONT);
        begun
    };
    let held = pass(&broker.executor, &first, WAITS, wall(PATIENCE));
    let (held, begun) = futures::future::join(held, beside).await;
    let begun = begun?;
    expect("the pass in it", &end_of(&held), &Ok("1".to_owned()))?;
    let metrics = broker.sandboxes.metrics();
    let other = metrics.restarts.iter().sum::<u64>() - metrics.restarted(Restart::Hung);
    expect("processes that ended for another reason", &other, &0)?;
    Ok(begun)
}

/// Whether a process is there and stopped, as the system tells it.
fn stands(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
}

/// A process dies that had been given a pass and had not begun it: the pass runs in the next one.
async fn placed_again() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let host = Gate::new();
    host.open();
    // The first process runs, and then stands still, so that it cannot take what it is given.
    expect("a pass", &end_of(&pass(&broker.executor, &host, WAITS, wall(PATIENCE)).await), &Ok("1".to_owned()))?;
    broker.until("nobody is in the process", |metrics| metrics.workers == 0).await?;
    let stopped = broker.sandboxes.pids();
    signal(stopped[0], Signal::SIGSTOP)?;
    let killing = async {
        broker.until("the pass was given to the process", |metrics| metrics.workers == 1).await?;
        signal(stopped[0], Signal::SIGKILL)
    };
    let (ended, killed) = futures::future::join(pass(&broker.executor, &host, WAITS, wall(PATIENCE)), killing).await;
    killed?;
    expect("the pass", &end_of(&ended), &Ok("1".to_owned()))?;
    expect("processes started", &broker.sandboxes.metrics().started, &2)
}

/// Processes that die of every pass: it is tried twice and then told.
async fn placed_again_once() -> Result<(), String> {
    let broker = Broker::start(&[FAKE, "closed_at_load"], |config| config.processes_max = 1)?;
    let ended = pass(&broker.executor, &Gate::new(), WAITS, wall(PATIENCE)).await;
    expect("the pass", &end_of(&ended), &Err(TERMINATED.to_owned()))?;
    broker.until("both deaths are counted", |metrics| metrics.restarts.iter().sum::<u64>() >= 2).await?;
    expect("passes that ended", &broker.executor.metrics().ended.iter().sum::<u64>(), &1)
}

/// More passes than are in processes at once, and all processes are killed before they greet: each pass was in two of them
/// that were killed, and is told that; none is told that processes cannot be started.
async fn killed_before_greeting() -> Result<(), String> {
    const PASSES: usize = 2;
    let broker = Broker::start(&[FAKE, "nothing_at_greeting"], |config| {
        (config.processes_max, config.workers_per_process_max) = (1, 1);
    })?;
    let host = Gate::new();
    let passes = join_all((0..PASSES).map(|_| pass(&broker.executor, &host, WAITS, wall(PATIENCE))));
    let killing = async {
        loop {
            for pid in broker.sandboxes.pids() {
                // It may have ended meanwhile.
                let _ = signal(pid, Signal::SIGKILL);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::pin!(killing);
    let ended = tokio::select! {
        ended = passes => ended,
        () = killing => return Err("passes outlived their processes".to_owned()),
    };
    for pass in &ended {
        expect("a pass", &end_of(pass), &Err(TERMINATED.to_owned()))?;
    }
    expect("passes that ended", &broker.executor.metrics().ended.iter().sum::<u64>(), &(PASSES as u64))?;
    let two_each = 2 * PASSES as u64;
    broker.until("two are killed for each pass", |metrics| metrics.restarted(Restart::Killed) >= two_each).await?;
    expect("processes that never started", &broker.sandboxes.metrics().restarted(Restart::NeverStarted), &0)
}

/// Processes that exit before they greet: whether a pass was to be in one or waited for one, it is told that it cannot start.
async fn none_starts() -> Result<(), String> {
    const PASSES: usize = 6;
    let broker = Broker::start(&[FAKE, "closed_at_greeting"], |config| {
        (config.processes_max, config.workers_per_process_max) = (1, 1);
    })?;
    let host = Gate::new();
    for pass in join_all((0..PASSES).map(|_| pass(&broker.executor, &host, WAITS, wall(PATIENCE)))).await {
        expect("a pass", &end_of(&pass), &Err(NOT_STARTED.to_owned()))?;
        let Err(PassFailure::Error(error)) = pass else { return Err("not an error".to_owned()) };
        let said = error.error.to_string();
        expect("whether it says why", &said.contains("no sandbox process can be started"), &true)
            .map_err(|wrong| format!("{wrong}: {said}"))?;
    }
    broker.until("three never started", |metrics| metrics.restarted(Restart::NeverStarted) >= 3).await?;
    let metrics = broker.sandboxes.metrics();
    let other: u64 = metrics.restarts.iter().sum::<u64>() - metrics.restarted(Restart::NeverStarted);
    expect("processes that ended for another reason", &other, &0)
}

/// A process has had its number of Workers, and one of them is still in it when it is killed.
async fn dies_retired() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| {
        (config.processes_max, config.workers_per_process_max, config.workers_per_life_max) = (1, 2, 1);
    })?;
    let (first, second) = (Gate::new(), Gate::new());
    let stays = async { end_of(&pass(&broker.executor, &second, WAITS, wall(PATIENCE)).await) };
    let killing = async {
        second.seen(1).await?;
        first.open();
        let ended = pass(&broker.executor, &first, WAITS, wall(PATIENCE)).await;
        expect("the pass beside it", &end_of(&ended), &Ok("1".to_owned()))?;
        broker.until("one has left", |metrics| metrics.workers == 1).await?;
        for pid in broker.sandboxes.pids() {
            signal(pid, Signal::SIGKILL)?;
        }
        broker.until("the death is counted", |metrics| metrics.restarted(Restart::Killed) == 1).await
    };
    let (ended, killed) = futures::future::join(stays, killing).await;
    killed?;
    expect("the pass in it", &ended, &Err(TERMINATED.to_owned()))
}

/// The program is answered for its own limit, the process is killed, and the time past the limit is counted.
async fn deaf_builtin() -> Result<(), String> {
    const DEAF: &str = "async () => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)";
    let before = loaderd_runtime::limits::overshoot::snapshot();
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let limits = CodeExecutionLimits { cpu_millis: Some(20), ..wall(PATIENCE) };
    let ended = pass(&broker.executor, &Gate::new(), DEAF, limits).await;
    expect("the pass", &end_of(&ended), &Err("CodeExecutionTimeoutError".to_owned()))?;
    broker.until("its process is killed", |metrics| metrics.restarted(Restart::Stuck) == 1).await?;
    let beyond = loaderd_runtime::limits::overshoot::snapshot().since(&before);
    expect("limits counted as met", &beyond.counts.iter().sum::<u64>(), &1)?;
    let beyond = Duration::from_micros(beyond.sum_us);
    expect("whether CPU time past the limit is told", &beyond.is_zero(), &false)
}

/// A thread meets a trap of which V8 has said nothing, as a failed check of compiled code is: its pass is told that this was
/// no limit of its own, its neighbour that it was not at fault, and the process counts as one in which V8 failed.
async fn unannounced_trap() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let host = Gate::new();
    let neighbour = async { message_of(&pass(&broker.executor, &host, WAITS, wall(PATIENCE)).await) };
    let spinning = async {
        host.seen(1).await?;
        let limits = CodeExecutionLimits { cpu_millis: None, ..wall(PATIENCE) };
        Ok::<_, String>(message_of(&pass(&broker.executor, &host, "async () => { for (;;); }", limits).await))
    };
    let trapping = async {
        host.seen(1).await?;
        let process = broker.sandboxes.pids()[0];
        let deadline = Instant::now() + PATIENCE;
        let thread = loop {
            match busy_isolate(process)? {
                Some(thread) => break thread,
                None if Instant::now() < deadline => tokio::time::sleep(Duration::from_millis(5)).await,
                None => return Err("no isolate is busy".to_owned()),
            }
        };
        // SAFETY: asks the system for a signal to a thread of another process.
        match unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGTRAP) } {
            0 => broker.until("it is counted", |metrics| metrics.restarted(Restart::V8Check) == 1).await,
            _ => Err(std::io::Error::last_os_error().to_string()),
        }
    };
    let (neighbour, spinning, trapped) = futures::future::join3(neighbour, spinning, trapping).await;
    trapped?;
    let terminated = |message: &str| format!("{TERMINATED}: {message}");
    expect("the pass", &spinning?, &terminated("internal error: the isolate running this Worker was ended"))?;
    let innocent =
        "The sandbox process of this Worker ended because of another Worker in it; this Worker was not at fault.";
    expect("its neighbour", &neighbour, &terminated(innocent))
}

fn message_of(outcome: &Result<CodeExecutionResult, PassFailure>) -> String {
    match outcome {
        Ok(result) => result.value.as_str().to_owned(),
        Err(PassFailure::Error(error)) => format!("{}: {error}", error.error.tag()),
        Err(other) => other.to_string(),
    }
}

/// The thread of an isolate that has used some CPU time and runs now.
fn busy_isolate(process: i32) -> Result<Option<i32>, String> {
    /// Clock ticks of 10 ms. None of the isolates that wait to be used has needed as much.
    const BUSY_TICKS: u64 = 20;
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).map_err(|error| error.to_string())?;
    for task in tasks.flatten() {
        // A thread may end meanwhile.
        let Ok(stat) = std::fs::read_to_string(task.path().join("stat")) else { continue };
        let Some((name, fields)) = stat.rsplit_once(") ") else { continue };
        let fields: Vec<&str> = fields.split(' ').collect();
        let ticks = fields.get(11).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0);
        if name.ends_with("(isolate") && ticks >= BUSY_TICKS {
            return Ok(task.file_name().to_str().and_then(|thread| thread.parse().ok()));
        }
    }
    Ok(None)
}
