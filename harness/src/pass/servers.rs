//! The host-call servers of one pass: N loops over one queue, each running one call at a time.
//!
//! They are not tasks. They run inside the future of the pass, so a host sees its caller's context, and dropping the
//! pass drops every call in flight.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::time::Instant;

use super::deadline::Deadline;
use super::port::{Answer, DispatchError, HostPort, Work};
use super::{PassEnd, timeout};
use crate::error::{CodeError, Surface, TimeoutKind};
use crate::host::{CodeHostCall, CodeHostCallOutcome, HostDefect, HostDefectKind, HostEnd, PassHost};
use crate::json::Json;
use crate::metrics::Counters;
use crate::request::CodeExecutionLimits;
use crate::wire::{HOST_CALL_FAILURE, HOST_CALL_SUCCESS};

/// All servers of one pass. Dropping it interrupts every call in flight.
pub(super) struct Servers {
    port: HostPort,
    host: Arc<dyn PassHost>,
    deadline: Deadline,
    limits: CodeExecutionLimits,
    /// How many calls run at once.
    count: usize,
    active: FuturesUnordered<BoxFuture<'static, Result<(), PassEnd>>>,
    counters: Arc<Counters>,
}

impl Servers {
    pub(super) fn new(
        port: HostPort,
        host: Arc<dyn PassHost>,
        deadline: Deadline,
        limits: &CodeExecutionLimits,
        counters: Arc<Counters>,
    ) -> Self {
        let count = limits.host_call_concurrency() as usize;
        Self { port, host, deadline, limits: limits.clone(), count, active: FuturesUnordered::new(), counters }
    }

    /// Serves until a call ends the pass, and says how. Dropping the future keeps what is in flight in `self`.
    pub(super) async fn run(&mut self) -> PassEnd {
        loop {
            tokio::select! {
                biased;
                Some(served) = self.active.next(), if !self.active.is_empty() => {
                    if let Err(end) = served {
                        return end;
                    }
                }
                work = self.port.next(), if self.active.len() < self.count => match work {
                    Work::Call(call, answer) => self.start(call, answer),
                    Work::LimitExceeded => return self.port.failure().unwrap_or(PassEnd::HostInterrupted),
                },
            }
        }
    }

    /// Interrupts every call in flight; when this returns, nothing of them is left.
    pub(super) fn interrupt(&mut self) {
        self.active.clear();
    }

    fn start(&mut self, call: CodeHostCall, answer: Answer) {
        let (host, port, deadline, limits) = (self.host.clone(), self.port.clone(), self.deadline, self.limits.clone());
        let counters = self.counters.clone();
        self.active.push(Box::pin(async move {
            let start = Instant::now();
            let outcome = outcome(&*host, call, deadline, &limits).await;
            counters.host_call(start.elapsed());
            match outcome {
                Ok(text) => {
                    answer.send(Ok(text));
                    Ok(())
                }
                Err(end) => {
                    port.fail(end.clone());
                    answer.send(Err(DispatchError::HostCallFailed));
                    Err(end)
                }
            }
        }));
    }
}

/// Runs one call to its end: the JSON text of its outcome, or what it does to the pass.
async fn outcome(
    host: &dyn PassHost,
    call: CodeHostCall,
    deadline: Deadline,
    limits: &CodeExecutionLimits,
) -> Result<String, PassEnd> {
    // A panic of the host is the host's: it may come from making the future as well as from polling it.
    let guarded = AssertUnwindSafe(async { host.call(call).await }).catch_unwind();
    let answered = match deadline.bound(guarded).await {
        None => return Err(timeout(TimeoutKind::WallClock, limits)),
        Some(Err(panic)) => return Err(PassEnd::HostDefect(defect_of_panic(&*panic))),
        Some(Ok(answered)) => answered,
    };
    let (tag, member, value) = match answered {
        Ok(CodeHostCallOutcome::Success(value)) => (HOST_CALL_SUCCESS, "value", value),
        Ok(CodeHostCallOutcome::Failure(error)) => (HOST_CALL_FAILURE, "error", error),
        Ok(CodeHostCallOutcome::OutsideSchema) => {
            let message = "The execution host returned a value outside the CodeHostCallResult schema".to_owned();
            return Err(PassEnd::Error(CodeError::Protocol { message }));
        }
        Err(HostEnd::Defect(defect)) => return Err(PassEnd::HostDefect(defect)),
        Err(HostEnd::Interrupted) => return Err(PassEnd::HostInterrupted),
    };
    check_size(&value, limits)?;
    Ok(format!(r#"{{"_tag":"{tag}","{member}":{value}}}"#))
}

fn check_size(value: &Json, limits: &CodeExecutionLimits) -> Result<(), PassEnd> {
    let (limit, observed) = (u64::from(limits.max_host_call_result_bytes), value.bytes() as u64);
    if observed <= limit {
        return Ok(());
    }
    let surface = Surface::HostCallResult;
    Err(PassEnd::Error(CodeError::OutputLimit { surface, limit, observed, logs: Vec::new() }))
}

fn defect_of_panic(panic: &(dyn std::any::Any + Send)) -> HostDefect {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let message = text.map_or_else(|| "the host panicked".to_owned(), |text| format!("the host panicked: {text}"));
    HostDefect { kind: HostDefectKind::Failed, message }
}
