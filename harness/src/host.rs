//! The pass host: what one program may call, implemented by whoever wants the program run.

use std::future::Future;
use std::pin::Pin;

use crate::json::Json;
use crate::request::JsIdentifier;

/// One call of a namespace's method by the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeHostCall {
    pub namespace: JsIdentifier,
    pub method: JsIdentifier,
    /// The method's one argument, as it was when the program called.
    pub argument: Json,
}

/// How a host answers a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeHostCallOutcome {
    /// The method's promise fulfils with the value.
    Success(Json),
    /// The method's promise rejects with the value as it is, not wrapped in an Error.
    Failure(Json),
    /// What the host answered is neither; hosts that translate foreign answers say so with this. It ends the pass as
    /// a `CodeExecutionProtocolError`.
    OutsideSchema,
}

impl CodeHostCallOutcome {
    /// Reads the contract's JSON form, `{"_tag":"CodeHostCallSuccess","value":…}` or
    /// `{"_tag":"CodeHostCallFailure","error":…}`; further members are ignored.
    #[must_use]
    pub fn from_json(text: &str) -> Self {
        crate::wire::host_call_outcome(text).unwrap_or(Self::OutsideSchema)
    }
}

/// Why a host has no outcome at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostEnd {
    /// The host broke.
    Defect(HostDefect),
    /// The host gave the call up on its own.
    Interrupted,
}

impl From<HostDefect> for HostEnd {
    fn from(defect: HostDefect) -> Self {
        Self::Defect(defect)
    }
}

/// A host that broke: a panic, a lost connection. It ends the pass and stays what it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HostDefect {
    pub kind: HostDefectKind,
    /// In the host's own words, where it had any.
    pub message: String,
}

/// How a host broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostDefectKind {
    /// It panicked or answered with an exception.
    Failed,
    /// It went away before it answered.
    Disconnected,
    /// It refused for lack of resources.
    Overloaded,
    /// It is no pass host, or there is none.
    Unimplemented,
}

/// The future of a host's answer.
pub type HostCallFuture<'a> = Pin<Box<dyn Future<Output = Result<CodeHostCallOutcome, HostEnd>> + Send + 'a>>;

/// What one program may call.
///
/// # Where it runs
/// The future is polled inside the future of [`execute`](crate::CodeExecutor::execute), on whatever thread polls
/// that: task-local values and `tracing` spans of the caller are visible. It must not block the thread.
///
/// # Cancel safety
/// The future is dropped when the pass no longer waits for it: the deadline passed, the program ended, a sibling call
/// ended the pass, or `execute` itself was dropped. Dropping it *is* the interruption: what must be undone belongs in
/// a `Drop`, and `execute` does not return before it ran. A call is never repeated.
///
/// # Failing
/// A failure that the program may catch is [`CodeHostCallOutcome::Failure`]. A panic, or [`HostEnd::Defect`], ends the
/// pass as [`PassFailure::HostDefect`](crate::PassFailure::HostDefect).
pub trait PassHost: Send + Sync + 'static {
    /// Answers one call. At most `max_host_call_concurrency` run at once; they start in the order the program called.
    fn call(&self, call: CodeHostCall) -> HostCallFuture<'_>;
}

/// The host of a program that calls nothing: a call is a defect.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl PassHost for NoHost {
    fn call(&self, call: CodeHostCall) -> HostCallFuture<'_> {
        let message = format!("{}.{} was called, and this pass has no host", call.namespace, call.method);
        Box::pin(async { Err(HostDefect { kind: HostDefectKind::Unimplemented, message }.into()) })
    }
}
