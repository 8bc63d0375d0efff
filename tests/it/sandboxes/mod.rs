//! Sandbox processes, their broker in this process: who shares one, when one is replaced or retired, and what becomes
//! of passes whose process dies or lies.
//!
//! The processes are this test binary, started with an argument: as the real thing, or as one that attacks its broker.

mod attacks;
mod deaths;
mod garbage;
mod native_memory;
mod oversize;
pub(crate) mod probes;
mod processes;
mod spent;
mod streams;
mod tenants;
mod turns;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Trial;
use loaderd_harness::{
    CodeExecutionLimits, CodeExecutionNamespace, CodeExecutionRequest, CodeExecutionResult, CodeExecutor, CodeHostCall,
    CodeHostCallOutcome, HostCallFuture, NetworkPolicy, PassFailure, PassHost,
};
use loaderd_loader::sandbox::{SandboxConfig, Sandboxes};
use loaderd_loader::{HostLimits, LoaderHost, LoaderOptions};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::sync::watch;

use crate::doors::rust::runtime;

/// The argument that makes this binary a sandbox process.
const REAL: &str = "sandbox-process";
/// The argument that makes it one that attacks; the next one says how.
const FAKE: &str = "fake-sandbox";

/// A program that asks its host once, and waits for the answer.
const WAITS: &str = "async () => await host.call(1)";
/// The tag of what a pass is told whose process is gone.
const TERMINATED: &str = "CodeExecutorTerminatedError";

/// How long anything here may take. A bound against hanging tests, not an expectation.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn trials() -> Vec<Trial> {
    let all = [
        processes::trials(),
        tenants::trials(),
        deaths::trials(),
        garbage::trials(),
        oversize::trials(),
        native_memory::trials(),
        spent::trials(),
        streams::trials(),
        turns::trials(),
    ];
    all.into_iter().flatten().collect()
}

/// What a test of this module runs.
type Check = fn() -> Result<(), String>;

fn trials_of(tests: Vec<(&str, Check)>) -> Vec<Trial> {
    let trial =
        |(name, test): (&str, Check)| Trial::test(format!("sandboxes::{name}"), move || test().map_err(Into::into));
    tests.into_iter().map(trial).collect()
}

/// Runs a sandbox process, when this binary was started as one. Called before anything else.
pub(crate) fn run_as_process() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next()?.as_str() {
        REAL => Some(loaderd_loader::sandbox::child::main()),
        FAKE => Some(garbage::fake(&arguments.next().unwrap_or_default())),
        probes::TRY_ALL => Some(probes::try_all()),
        probes::TRY => Some(probes::try_here(&arguments.next().unwrap_or_default())),
        _ => None,
    }
}

/// An executor over sandbox processes of its own.
struct Broker {
    sandboxes: Arc<Sandboxes>,
    host: LoaderHost,
    executor: CodeExecutor,
}

impl Broker {
    fn start(arguments: &[&str], configure: impl FnOnce(&mut SandboxConfig)) -> Result<Self, String> {
        let arguments = std::iter::once("it").chain(arguments.iter().copied()).map(str::to_owned).collect();
        let mut config = SandboxConfig::new(arguments);
        configure(&mut config);
        let sandboxes = Sandboxes::new(config).map_err(|error| error.to_string())?;
        let host = LoaderHost::new(sandboxes.clone(), HostLimits::default(), runtime().handle().clone());
        let executor = CodeExecutor::new(host.loader(LoaderOptions::default()));
        Ok(Self { sandboxes, host, executor })
    }

    /// Waits until the processes and their counters are as the test wants them.
    async fn until(
        &self,
        what: &str,
        done: impl Fn(&loaderd_loader::sandbox::SandboxMetrics) -> bool,
    ) -> Result<(), String> {
        let waited = tokio::time::timeout(PATIENCE, async {
            // The system tells nobody how its processes are, so this asks again.
            while !done(&self.sandboxes.metrics()) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        waited.await.map_err(|_| format!("never: {what}: {:?}", self.sandboxes.metrics()))
    }
}

/// A pass of `source`, which may call `host.call`.
async fn pass(
    executor: &CodeExecutor,
    host: &Arc<Gate>,
    source: &str,
    limits: CodeExecutionLimits,
) -> Result<CodeExecutionResult, PassFailure> {
    let namespace = CodeExecutionNamespace::new("host", ["call"]).expect("valid names");
    let request = CodeExecutionRequest::new(source, vec![namespace], NetworkPolicy::Disabled, limits);
    executor.execute(request.expect("a valid request"), host.clone()).await
}

fn wall(time: Duration) -> CodeExecutionLimits {
    CodeExecutionLimits { max_wall_time: time, ..CodeExecutionLimits::default() }
}

/// `Ok` with what a pass returned, or the tag of its error.
fn end_of(outcome: &Result<CodeExecutionResult, PassFailure>) -> Result<String, String> {
    match outcome {
        Ok(result) => Ok(result.value.as_str().to_owned()),
        Err(PassFailure::Error(error)) => Err(error.error.tag().to_owned()),
        Err(other) => Err(other.to_string()),
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} should be {expected:?}, and is {found:?}")) }
}

fn signal(pid: i32, signal: Signal) -> Result<(), String> {
    kill(Pid::from_raw(pid), signal).map_err(|error| error.to_string())
}

/// A host that answers each call with its argument, once it is open, and counts what it sees.
struct Gate {
    seen: watch::Sender<usize>,
    open: watch::Sender<bool>,
}

impl Gate {
    fn new() -> Arc<Self> {
        Arc::new(Self { seen: watch::channel(0).0, open: watch::channel(false).0 })
    }

    fn open(&self) {
        self.open.send_replace(true);
    }

    /// Waits until so many calls have come.
    async fn seen(&self, calls: usize) -> Result<(), String> {
        let mut seen = self.seen.subscribe();
        let waited = tokio::time::timeout(PATIENCE, seen.wait_for(|seen| *seen >= calls)).await;
        waited.map(drop).map_err(|_| format!("the host never saw {calls} calls"))
    }
}

impl PassHost for Gate {
    fn call(&self, call: CodeHostCall) -> HostCallFuture<'_> {
        self.seen.send_modify(|seen| *seen += 1);
        let mut open = self.open.subscribe();
        Box::pin(async move {
            // An error means that the sender is gone, and `self` holds it.
            let _ = open.wait_for(|open| *open).await;
            Ok(CodeHostCallOutcome::Success(call.argument))
        })
    }
}
