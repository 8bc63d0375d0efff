//! The seam between the loader and wherever isolates live: this process, or a sandbox process at the far end of a
//! socket. The loader decides *what* runs and *how much* of it; a placement only gives it a home.

use std::sync::Arc;

pub use loaderd_runtime::invocation::OnEnd as OnInvocationEnd;
use loaderd_runtime::isolate::{EntrypointSpec, LoadCode, LoadReport};
use loaderd_runtime::limits::Cause;
use loaderd_runtime::objects::ObjectKey;
use loaderd_runtime::rpc::{Call, Capability, Reply};

use crate::error::LoaderError;

/// A place where isolates live. Called from any thread; nothing here may block.
pub trait Placement: Send + Sync + 'static {
    /// Gives the code a never-used isolate and starts it there.
    ///
    /// Whatever happens, both callbacks of `request` run exactly once each, `on_started` first, from any thread,
    /// possibly before this returns.
    fn start(&self, request: StartRequest) -> Arc<dyn PlacedIsolate>;
}

/// A Worker to start.
pub struct StartRequest {
    /// The code, with its effective limits already in it.
    pub code: Arc<LoadCode>,
    /// On whose behalf: Workers of different tenants never share a process where processes are used at all.
    pub tenant: Option<Arc<str>>,
    /// The modules are evaluated, or never will be.
    pub on_started: Box<dyn FnOnce(Result<LoadReport, LoaderError>) + Send>,
    /// Nothing of the isolate is left, with the first cause that ended it. Also after a failed start.
    pub on_end: Box<dyn FnOnce(Cause) + Send>,
}

/// An isolate in its place. Dropping the last reference does not end it; [`end`](Self::end) does.
pub trait PlacedIsolate: Send + Sync + 'static {
    /// An entrypoint of the Worker. Only used after `on_started` said that the Worker runs.
    fn entrypoint(&self, spec: EntrypointSpec) -> Arc<dyn PlacedEntrypoint>;

    /// A Durable Object whose class is the entrypoint that `spec` names. `None`: there are none in this place.
    fn object(&self, spec: EntrypointSpec, key: ObjectKey) -> Option<Arc<dyn PlacedEntrypoint>> {
        let _ = (spec, key);
        None
    }

    /// Ends the isolate and answers everybody who waits for it. The first cause wins; also legal while it starts.
    fn end(&self, cause: Cause);

    /// Why it was ended, as soon as that is known; earlier than `on_end`. A call that finds it ended starts another.
    fn ended(&self) -> Option<Cause>;
}

/// An entrypoint in its place.
pub trait PlacedEntrypoint: Send + Sync + 'static {
    /// Starts one invocation, with a budget of its own. `on_end` runs exactly once, after the answer, when nothing of
    /// the invocation is left (`waitUntil` tasks and objects it handed out included).
    fn invoke(&self, call: Call, reply: Reply, on_end: OnInvocationEnd) -> Invoked;
}

/// A started invocation.
pub struct Invoked {
    /// Ends it from outside.
    pub invocation: Arc<dyn PlacedInvocation>,
    /// Stands for the result before it is known, where the place can pipeline.
    pub pipeline: Option<Arc<dyn Capability>>,
}

/// An invocation in its place.
pub trait PlacedInvocation: Send + Sync + 'static {
    /// Ends just this invocation. The first cause wins. A turn that runs is not interrupted: its CPU limit does that,
    /// or ending the isolate. After the invocation has ended it does nothing.
    fn end(&self, cause: Cause);
}
