//! The CPU time of passes whose process does not live to tell it.

use std::time::Duration;

use futures::future::{join, join_all};
use libtest_mimic::Trial;
use loaderd_harness::{CodeExecutionResult, PassFailure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Broker, Gate, PATIENCE, REAL, end_of, expect, pass, wall};
use crate::doors::rust::runtime;

const TERMINATED: &str = "CodeExecutorTerminatedError";

/// Works for longer than [`WORK_LEAST`], and then waits for its host.
const WORKS: &str = "async () => { for (let n = 0; n < 3e7; n++); return await host.call(1); }";

/// What the work takes at least, on any machine.
const WORK_LEAST: Duration = Duration::from_millis(4);

/// The same, and then wants an array of more items than arrays can have, at which V8 gives up.
const ENDS_V8: &str =
    "async () => { for (let n = 0; n < 3e7; n++); return 'x'.padStart(2 ** 29 - 100, 'pad').split('').length; }";

pub(super) fn trials() -> Vec<Trial> {
    let trial = |name: &str, test: fn() -> Result<(), String>| {
        Trial::test(format!("sandboxes::{name}"), move || test().map_err(Into::into))
    };
    vec![
        trial("a_pass_alone_in_a_process_that_is_killed_tells_its_cpu_time", || runtime().block_on(killed())),
        trial("a_pass_at_which_v8_gives_up_tells_its_cpu_time", || runtime().block_on(gives_up())),
        trial("passes_that_shared_a_process_that_dies_do_not_know_their_cpu_time", || runtime().block_on(shared())),
    ]
}

async fn killed() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let host = Gate::new();
    let (ended, killed) =
        join(pass(&broker.executor, &host, WORKS, wall(PATIENCE)), kill_after(&broker, &host, 1)).await;
    killed?;
    tells(&broker, &ended).await
}

async fn gives_up() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let ended = pass(&broker.executor, &Gate::new(), ENDS_V8, wall(PATIENCE)).await;
    tells(&broker, &ended).await
}

/// Kills the only process once the host has seen so many calls.
async fn kill_after(broker: &Broker, host: &Gate, calls: usize) -> Result<(), String> {
    host.seen(calls).await?;
    kill(Pid::from_raw(broker.sandboxes.pids()[0]), Signal::SIGKILL).map_err(|error| error.to_string())
}

async fn tells(broker: &Broker, ended: &Result<CodeExecutionResult, PassFailure>) -> Result<(), String> {
    expect("the pass", &end_of(ended), &Err(TERMINATED.to_owned()))?;
    let told = cpu_of(ended).ok_or("the pass should tell its CPU time")?;
    expect(&format!("whether it tells {WORK_LEAST:?} at least, of {told:?}"), &(told >= WORK_LEAST), &true)?;
    // Microseconds are counted, once nothing of the invocation is left.
    broker.until("as much is counted", |_| broker.host.metrics().cpu + Duration::from_micros(1) >= told).await
}

async fn shared() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let host = Gate::new();
    let passes = join_all((0..2).map(|_| pass(&broker.executor, &host, WORKS, wall(PATIENCE))));
    let (ended, killed) = join(passes, kill_after(&broker, &host, 2)).await;
    killed?;
    for ended in &ended {
        expect("a pass", &end_of(ended), &Err(TERMINATED.to_owned()))?;
        expect("its CPU time", &cpu_of(ended), &None)?;
    }
    Ok(())
}

fn cpu_of(outcome: &Result<CodeExecutionResult, PassFailure>) -> Option<Duration> {
    outcome.as_ref().err().and_then(PassFailure::cpu)
}
