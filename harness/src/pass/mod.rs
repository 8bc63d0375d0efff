//! The life of one pass, in the contract's order: check, load, run against a deadline while serving the host's side,
//! wind up, read the answer.
//!
//! A pass is one future and owns everything it uses. Dropping it at any point closes the port, ends the isolate and
//! drops the host calls in flight, in that order.

mod classify;
mod deadline;
mod definition;
mod envelope;
pub(crate) mod port;
mod servers;
pub(crate) mod worker;

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use loaderd_runtime::limits::Cause;
use tokio::time::Instant;

use crate::error::{CodeError, CodeExecutionError, Feature, PassFailure, SourceReason, TimeoutKind};
use crate::host::{HostDefect, PassHost};
use crate::metrics::Counters;
use crate::request::{CodeExecutionLimits, CodeExecutionRequest, NetworkPolicy};
use crate::result::{CodeExecutionResult, Implementation, ResourceUse, millis_rounded_up};
use crate::tenant::Tenant;
use deadline::Deadline;
use port::HostPort;
use servers::Servers;
use worker::{Diagnostic, GuestAnswer, LoadedWorker, LogObserver, PassEntrypoint, PassLoader, WorkerFailure};

/// How long an answer at the deadline waits for the Worker's last words, which tell its CPU time. They come at once, from a
/// builtin that ignores its end a little later; a sandbox process is not waited for any longer than this either.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(150);

/// The only name that a namespace may not have: the harness itself binds it.
const RESERVED_NAMESPACE: &str = "console";

/// How a pass ends when it has no result; [`PassFailure`] without the executor's name in it.
#[derive(Clone, Debug)]
pub(crate) enum PassEnd {
    Error(CodeError),
    /// An error, and what ended the Worker.
    Ended(CodeError, Cause),
    HostDefect(HostDefect),
    HostInterrupted,
}

/// A pass without a result, and the CPU time of its run where that is known.
struct Failed {
    end: PassEnd,
    cpu: Option<Duration>,
}

impl From<PassEnd> for Failed {
    fn from(end: PassEnd) -> Self {
        Self { end, cpu: None }
    }
}

impl PassEnd {
    fn into_failure(self, implementation: &Implementation, cpu: Option<Duration>) -> PassFailure {
        let failure = |error, cause| {
            PassFailure::Error(CodeExecutionError { implementation: implementation.clone(), error, cause, cpu })
        };
        match self {
            Self::Error(error) => failure(error, None),
            Self::Ended(error, cause) => failure(error, Some(cause)),
            Self::HostDefect(defect) => PassFailure::HostDefect(defect),
            Self::HostInterrupted => PassFailure::HostInterrupted,
        }
    }

    /// With which cause the isolate is ended.
    fn cause(&self) -> Cause {
        match self {
            Self::Ended(_, cause) => *cause,
            Self::Error(CodeError::Timeout { kind: TimeoutKind::WallClock, .. }) => Cause::ExceededWallTime,
            Self::Error(CodeError::Timeout { kind: TimeoutKind::Cpu, .. }) => Cause::ExceededCpu,
            Self::Error(_) | Self::HostDefect(_) | Self::HostInterrupted => Cause::Canceled,
        }
    }
}

fn timeout(kind: TimeoutKind, limits: &CodeExecutionLimits) -> PassEnd {
    PassEnd::Error(timeout_error(kind, limits))
}

fn timeout_error(kind: TimeoutKind, limits: &CodeExecutionLimits) -> CodeError {
    CodeError::Timeout { kind, max_wall_time: limits.max_wall_time, logs: Vec::new() }
}

fn protocol(message: &str) -> PassEnd {
    PassEnd::Error(CodeError::Protocol { message: message.to_owned() })
}

/// What all passes of an executor share.
#[derive(Clone)]
pub(crate) struct PassSettings {
    pub(crate) loader: Arc<dyn PassLoader>,
    pub(crate) implementation: Implementation,
    pub(crate) compatibility_date: String,
    pub(crate) counters: Arc<Counters>,
    pub(crate) tenant: Option<Tenant>,
}

/// Runs one pass to its end.
#[tracing::instrument(name = "pass", level = "debug", skip_all)]
pub(crate) async fn run(
    settings: &PassSettings,
    request: CodeExecutionRequest,
    host: Arc<dyn PassHost>,
    observer: Option<Arc<dyn LogObserver>>,
) -> Result<CodeExecutionResult, PassFailure> {
    let running = settings.counters.begin();
    let outcome = match validate(&request) {
        Ok(()) => run_valid(settings, &request, host, observer).await,
        Err(end) => Err(end.into()),
    };
    let outcome = outcome.map_err(|failed| failed.end.into_failure(&settings.implementation, failed.cpu));
    let end = running.end(&outcome);
    let ended_by = outcome.as_ref().err().and_then(PassFailure::cause).map(Cause::name);
    let cpu_millis = match &outcome {
        Ok(result) => result.resource_use.cpu_millis,
        Err(failure) => failure.cpu().map(millis_rounded_up),
    };
    tracing::debug!(end, ended_by, cpu_millis, "pass ended");
    outcome
}

/// What can be refused before the clock starts, in the contract's order.
fn validate(request: &CodeExecutionRequest) -> Result<(), PassEnd> {
    let unsupported = |feature, message: String| Err(PassEnd::Error(CodeError::Unsupported { feature, message }));
    if *request.network() != NetworkPolicy::Disabled {
        let message = "The Dynamic Worker executor denies all egress with globalOutbound: null; an allowlist is not \
                       supported in the first slice";
        return unsupported(Feature::Network, message.to_owned());
    }
    let (bytes, limit) = (request.source().len(), request.limits().max_source_bytes);
    if bytes > limit as usize {
        let message = format!("Source is {bytes} bytes; the request allows {limit}");
        return Err(PassEnd::Error(CodeError::Source { reason: SourceReason::Oversized, message }));
    }
    if request.namespaces().iter().any(|namespace| namespace.name().as_str() == RESERVED_NAMESPACE) {
        let message = format!("Namespace {RESERVED_NAMESPACE} collides with a harness binding");
        return unsupported(Feature::Namespaces, message);
    }
    Ok(())
}

async fn run_valid(
    settings: &PassSettings,
    request: &CodeExecutionRequest,
    host: Arc<dyn PassHost>,
    observer: Option<Arc<dyn LogObserver>>,
) -> Result<CodeExecutionResult, Failed> {
    let limits = request.limits();
    let start = Instant::now();
    let deadline = Deadline::after(start, limits.max_wall_time);
    // Declared in the reverse order of release.
    let port = HostPort::new(limits);
    let mut servers = Servers::new(port.clone(), host, deadline, limits, settings.counters.clone());
    let mut guest = Guest::default();
    let _closing = CloseOnDrop(port.clone());

    let definition = definition::worker(request, settings, observer);
    guest.load(&*settings.loader, definition)?;
    let entrypoint = guest.entrypoint(limits)?;

    let mut running = entrypoint.run(port.clone());
    let raced = race(&mut running, &mut servers, deadline, limits).await;
    port.close();
    servers.interrupt();
    let answered = match (port.failure(), raced) {
        (Some(failure), _) => Err(failure.into()),
        (None, Some(answered)) => answered,
        (None, None) => {
            let end = timeout(TimeoutKind::WallClock, limits);
            guest.dispose(Some(end.cause()));
            let last_words = tokio::time::timeout(LAST_WORDS_WITHIN, running).await;
            let cpu = last_words.ok().and_then(|said| said.map_or_else(|failure| failure.cpu(), |answer| answer.cpu));
            Err(Failed { end, cpu })
        }
    };
    let result = answered.and_then(|answer| {
        let wall_time = start.elapsed();
        let cpu = answer.cpu;
        let completed = envelope::read(answer.envelope.as_deref(), limits).map_err(|end| Failed { end, cpu })?;
        Ok(CodeExecutionResult {
            implementation: settings.implementation.clone(),
            value: completed.value,
            logs: completed.logs,
            resource_use: ResourceUse {
                wall_time,
                host_calls: completed.host_calls,
                log_bytes: completed.log_bytes,
                result_bytes: completed.result_bytes,
                cpu_millis: cpu.map(millis_rounded_up),
            },
        })
    });
    guest.dispose(result.as_ref().err().map(|failed| failed.end.cause()));
    result
}

/// Runs the guest against its deadline while serving its calls. `None`: it still runs, and its deadline has passed.
async fn race(
    running: &mut BoxFuture<'static, Result<GuestAnswer, WorkerFailure>>,
    servers: &mut Servers,
    deadline: Deadline,
    limits: &CodeExecutionLimits,
) -> Option<Result<GuestAnswer, Failed>> {
    Some(tokio::select! {
        biased;
        end = servers.run() => Err(end.into()),
        answer = running => match answer {
            // The clock decides, not which of the two this task came to see first.
            Ok(answer) if deadline.passed() => {
                Err(Failed { end: timeout(TimeoutKind::WallClock, limits), cpu: answer.cpu })
            }
            Ok(answer) => Ok(answer),
            Err(failure) => Err(Failed { end: classify::worker(&failure, limits), cpu: failure.cpu() }),
        },
        () = deadline.wait() => return None,
    })
}

/// Closes the port when the pass is over, however it got there.
struct CloseOnDrop(HostPort);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The Worker of a pass and its entrypoint, released in the reverse order of acquisition.
#[derive(Default)]
struct Guest {
    worker: Option<Box<dyn LoadedWorker>>,
    entrypoint: Option<Box<dyn PassEntrypoint>>,
}

impl Guest {
    fn load(&mut self, loader: &dyn PassLoader, definition: worker::PassWorker) -> Result<(), PassEnd> {
        let worker = loader.load(definition).map_err(|refusal| classify::load(&refusal))?;
        self.worker = Some(worker);
        Ok(())
    }

    fn entrypoint(&mut self, limits: &CodeExecutionLimits) -> Result<&dyn PassEntrypoint, PassEnd> {
        let Some(worker) = &self.worker else { return Err(protocol("The pass has no worker")) };
        let entrypoint = worker.entrypoint().map_err(|failure| classify::worker(&failure, limits))?;
        Ok(&**self.entrypoint.insert(entrypoint))
    }

    /// Releases both; a failing release changes nothing but the log.
    fn dispose(&mut self, cause: Option<Cause>) {
        let entrypoint = self.entrypoint.take().map(PassEntrypoint::dispose);
        report_disposal(entrypoint);
        let worker = self.worker.take().map(|worker| worker.dispose(cause));
        report_disposal(worker);
    }
}

fn report_disposal(disposed: Option<Result<(), Diagnostic>>) {
    if let Some(Err(diagnostic)) = disposed {
        let text = diagnostic.text();
        let text = text.as_deref().unwrap_or("The RPC disposal hook failed without a diagnostic");
        tracing::warn!("RPC handle disposal failed: {text}");
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.dispose(Some(Cause::Canceled));
    }
}
