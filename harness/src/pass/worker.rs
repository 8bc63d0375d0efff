//! The seam between a pass and whatever loads its Worker. [`crate::platform`] fills it with our own loader; tests of
//! the platform's edge fill it with loaders and guests that misbehave.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use loaderd_runtime::isolate::LoadPhase;
use loaderd_runtime::limits::Cause;

use super::port::HostPort;
use crate::request::CodeExecutionNamespace;
use crate::tenant::Tenant;

/// Loads the Worker of one pass.
pub trait PassLoader: Send + Sync + 'static {
    /// Starts loading; must not block. What can be refused at once is refused here, what fails later fails `run`.
    ///
    /// # Errors
    /// The loader refused the Worker.
    fn load(&self, worker: PassWorker) -> Result<Box<dyn LoadedWorker>, Diagnostic>;
}

/// A Worker loaded for one pass. Dropping it without [`dispose`](Self::dispose) must end it as well.
pub trait LoadedWorker: Send + Sync {
    /// Its one entrypoint, the default export.
    ///
    /// # Errors
    /// It has none, or it did not start.
    fn entrypoint(&self) -> Result<Box<dyn PassEntrypoint>, WorkerFailure>;

    /// Gives it up, running or not. `cause` is set when the pass ended it.
    ///
    /// # Errors
    /// A diagnostic, which is logged and changes nothing.
    fn dispose(self: Box<Self>, cause: Option<Cause>) -> Result<(), Diagnostic>;
}

/// The entrypoint of a pass's Worker.
pub trait PassEntrypoint: Send + Sync {
    /// Calls its `run` with the pass's one host capability. Dropping the future gives up waiting for the answer.
    fn run(&self, host: HostPort) -> BoxFuture<'static, Result<GuestAnswer, WorkerFailure>>;

    /// Gives it up.
    ///
    /// # Errors
    /// A diagnostic, which is logged and changes nothing.
    fn dispose(self: Box<Self>) -> Result<(), Diagnostic>;
}

/// What a pass has loaded. There is never an outbound network.
#[derive(Clone)]
pub struct PassWorker {
    /// On whose behalf: Workers of different tenants never share a process.
    pub tenant: Option<Tenant>,
    pub compatibility_date: String,
    pub main_module: String,
    pub modules: Vec<PassModule>,
    /// The value of the one member of `env`, [`CONFIG_NAME`].
    pub config: PassConfig,
    /// Present only when the request has a CPU limit.
    pub limits: Option<PassWorkerLimits>,
    /// Told of each captured console line as it is captured.
    pub observer: Option<Arc<dyn LogObserver>>,
}

/// An ES module of a pass.
#[derive(Clone, Debug)]
pub struct PassModule {
    pub name: String,
    pub source: Arc<str>,
    pub origin: ModuleOrigin,
}

/// Who wrote a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleOrigin {
    /// We did; it is the same in every pass, so what was compiled of it may be kept.
    Harness,
    /// Whoever sent the request.
    Program,
}

/// The name under which the guest finds its configuration in `env`.
pub const CONFIG_NAME: &str = "CODE_MODE_PASS";

/// What the guest is told of its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassConfig {
    pub namespaces: Vec<CodeExecutionNamespace>,
    pub max_log_bytes: u32,
    pub max_result_bytes: u32,
    pub max_host_calls: u32,
    pub max_host_call_argument_bytes: u32,
}

/// Limits that the platform enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassWorkerLimits {
    pub cpu_ms: u32,
    pub sub_requests: u32,
}

/// Watches the console of a pass.
pub trait LogObserver: Send + Sync {
    /// One captured line, as it will be in the logs. Runs on the isolate's thread; must not block.
    fn line(&self, line: &str);
}

/// What `run` answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuestAnswer {
    /// The JSON text of the envelope. `None`: the answer was no text.
    pub envelope: Option<String>,
    /// CPU time of the run, where the platform tells.
    pub cpu: Option<Duration>,
}

/// Why `run` did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerFailure {
    /// The Worker did not start.
    Start(StartFailure),
    /// A limit or an owner ended it.
    Ended {
        cause: Cause,
        /// In the platform's words.
        message: String,
        /// CPU time of the run, where the platform tells.
        cpu: Option<Duration>,
    },
    /// What it ran in is gone, through no fault of its own.
    Lost(String),
    /// Something was thrown.
    Thrown {
        what: Diagnostic,
        /// CPU time of the run, where there was one and the platform tells.
        cpu: Option<Duration>,
    },
}

impl WorkerFailure {
    /// CPU time of the run, or of the start where that failed, where the platform tells.
    #[must_use]
    pub fn cpu(&self) -> Option<Duration> {
        match self {
            Self::Ended { cpu, .. } | Self::Thrown { cpu, .. } => *cpu,
            Self::Start(start) => start.cpu,
            Self::Lost(_) => None,
        }
    }
}

/// A Worker that did not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartFailure {
    pub phase: LoadPhase,
    /// When a limit ended the start, which.
    pub cause: Option<Cause>,
    /// In the platform's words.
    pub message: String,
    /// CPU time that the start had used, where the platform tells.
    pub cpu: Option<Duration>,
}

/// Something foreign that was thrown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diagnostic {
    Error {
        name: String,
        message: String,
    },
    /// The text of a value that is no Error.
    Value(String),
    /// A value that has no text.
    Unrenderable,
}

impl Diagnostic {
    /// Its text without the error's name.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Error { message, .. } => Some(message),
            Self::Value(text) => Some(text),
            Self::Unrenderable => None,
        }
    }

    /// Its text with the error's name.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Error { name, message } => Some(format!("{name}: {message}")),
            Self::Value(text) => Some(text.clone()),
            Self::Unrenderable => None,
        }
    }
}
