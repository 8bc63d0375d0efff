//! Loading Workers from a Worker: what a parent says, and the traits through which it reaches a loader.
//!
//! A Worker with a `workerLoader` binding finds a [`LoaderCap`] in its `env`. The room `worker_loader` takes the
//! program's `WorkerCode` apart; whether that code may run, and where, is decided behind [`DynamicLoader`].

use std::any::Any;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::channel::ConsoleSink;
use crate::isolate::{ClockPolicy, HangPolicy, Uses};
use crate::limits::ResourceLimits;
use crate::modules::ModuleContent;
use crate::rpc::{Call, Cap, Capability, Message, Reply, RpcError};

/// A Worker's code and what it is given: the platform's `WorkerCode`, field by field.
#[derive(Clone, Default)]
pub struct WorkerCode {
    /// `YYYY-MM-DD`; fixes how the platform behaves towards this Worker.
    pub compatibility_date: String,
    pub compatibility_flags: Vec<String>,
    /// Lets `compatibility_flags` name experimental ones. Only a loader that is itself experimental may say so.
    pub allow_experimental: bool,
    /// Ceiling for each invocation, under the host's own.
    pub limits: ResourceLimits,
    /// The name of the main module; an ES module among `modules`.
    pub main_module: String,
    /// Modules by name. Order does not matter; names must be distinct.
    pub modules: Vec<(String, ModuleSource)>,
    /// The value of `env`, an object; `None` is `{}`.
    pub env: Option<Message>,
    pub global_outbound: GlobalOutbound,
    /// Receives console lines on the isolate's thread. `None`: those of the one who loads.
    pub console: Option<Arc<dyn ConsoleSink>>,
    /// Services that hear of each invocation when it is over.
    pub tails: Vec<Cap>,
    /// Services that hear of what happens in each invocation while it happens.
    pub streaming_tails: Vec<Cap>,
    /// What happens to an invocation that nothing can ever answer.
    pub on_hang: HangPolicy,
    /// What `Date.now()` shows.
    pub clock: ClockPolicy,
    /// How often it is called.
    pub uses: Uses,
}

impl WorkerCode {
    /// Code of one date and main module, with no modules yet and everything else at its default.
    #[must_use]
    pub fn new(compatibility_date: impl Into<String>, main_module: impl Into<String>) -> Self {
        Self { compatibility_date: compatibility_date.into(), main_module: main_module.into(), ..Self::default() }
    }

    /// Adds a module.
    #[must_use]
    pub fn module(mut self, name: impl Into<String>, source: impl Into<ModuleSource>) -> Self {
        self.modules.push((name.into(), source.into()));
        self
    }
}

/// One module as the caller gives it.
#[derive(Clone, Debug)]
pub enum ModuleSource {
    /// Source text whose kind the module's name tells: `.js` (an ES module) or `.py`.
    ByName(Arc<str>),
    /// Content whose kind is said.
    Content(ModuleContent),
    /// One of the host's own modules, the same in every Worker: V8's bytecode of it is kept for the next isolate,
    /// which may compile it before it is given a Worker that has it, and run it where it imports nothing: ahead of the
    /// Worker's flags, bindings and invocations.
    /// Never for what a program or customer wrote.
    HostContent(ModuleContent),
    /// Python, by kind. Always refused; here so that the refusal has one place.
    Python(Arc<str>),
}

impl From<ModuleContent> for ModuleSource {
    fn from(content: ModuleContent) -> Self {
        Self::Content(content)
    }
}

/// Where the loaded Worker's global `fetch()` and `connect()` go.
#[derive(Clone, Default)]
pub enum GlobalOutbound {
    /// Wherever the loading Worker's go.
    #[default]
    Inherit,
    /// Nowhere: they throw.
    None,
    /// To this service.
    Cap(Cap),
}

/// Loads Workers for a Worker. Called on the parent's thread, in the middle of a turn: nothing may block.
pub trait DynamicLoader: Send + Sync + 'static {
    /// Loads code into an isolate of its own.
    ///
    /// # Errors
    /// What the parent's `load()` throws.
    fn load(&self, code: WorkerCode) -> Result<Arc<dyn DynamicWorker>, RpcError>;

    /// The Worker of this name, or one that waits for its code. `None` is never reused.
    fn get(&self, id: Option<&str>) -> Found;
}

/// Whom a loader serves at the moment. A request is one as long as it is handled, a Durable Object as long as it lives.
pub struct Caller {
    kind: CallerKind,
    kept: OnceLock<Box<dyn Any + Send + Sync>>,
}

/// What callers are: the platform allows them different numbers of dynamic Workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerKind {
    Request,
    DurableObject,
}

impl Caller {
    pub(crate) fn new(kind: CallerKind) -> Self {
        Self { kind, kept: OnceLock::new() }
    }

    #[must_use]
    pub fn kind(&self) -> CallerKind {
        self.kind
    }

    /// What loaders keep with this caller, made by whoever asks first. `None`: that was something of another type.
    pub fn keep<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.kept.get_or_init(|| Box::new(make())).downcast_ref()
    }
}

/// What [`DynamicLoader::get`] found.
pub struct Found {
    pub worker: Arc<dyn DynamicWorker>,
    /// Set when the Worker waits for code that nobody has been asked for yet.
    pub wanted: Option<CodeWanted>,
}

/// A Worker that was loaded for a Worker.
pub trait DynamicWorker: Send + Sync + 'static {
    /// An entrypoint of it, as a service for this caller. `None` and `"default"` are the default export.
    fn entrypoint(&self, name: Option<&str>, props: Option<Message>, limits: ResourceLimits, caller: &Caller) -> Cap;

    /// A class of Durable Objects of it, to make facets of. `None` and `"default"` are the default export.
    fn class(&self, name: Option<&str>, props: Option<Message>, limits: ResourceLimits) -> Cap;
}

/// Where a Worker's code is to be delivered: exactly once, also when dropped.
pub struct CodeWanted(Option<Deliver>);

type Deliver = Box<dyn FnOnce(Result<WorkerCode, RpcError>) + Send>;

impl CodeWanted {
    /// Calls `deliver` with the code, on whatever thread has it; it must not block.
    pub fn new(deliver: impl FnOnce(Result<WorkerCode, RpcError>) + Send + 'static) -> Self {
        Self(Some(Box::new(deliver)))
    }

    /// Delivers the code, or why there is none.
    pub fn deliver(mut self, code: Result<WorkerCode, RpcError>) {
        if let Some(deliver) = self.0.take() {
            deliver(code);
        }
    }
}

impl Drop for CodeWanted {
    fn drop(&mut self) {
        if let Some(deliver) = self.0.take() {
            let message = "The execution context which hosts this callback is no longer running.";
            deliver(Err(RpcError { remote: false, ..RpcError::new("Error", message) }));
        }
    }
}

/// A loader as a capability: revived as a `WorkerLoader`. It does not cross to other processes.
pub struct LoaderCap(pub Arc<dyn DynamicLoader>);

/// A Worker that an invocation has loaded, as it keeps it.
pub(crate) struct WorkerCap(pub(crate) Arc<dyn DynamicWorker>);

/// Code that an invocation was asked for, as it keeps it.
pub(crate) struct WantedCap(pub(crate) Mutex<Option<CodeWanted>>);

macro_rules! not_callable {
    ($($name:ident),*) => { $(
        impl Capability for $name {
            fn call(&self, _: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
                reply.send(Err(RpcError::new("TypeError", "This object cannot be called over RPC.")));
                None
            }

            fn as_any(&self) -> &dyn Any {
                self
            }
        }
    )* };
}

not_callable!(LoaderCap, WorkerCap, WantedCap);
