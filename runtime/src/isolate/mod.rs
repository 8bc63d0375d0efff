//! One V8 isolate on its own OS thread. Messages in, messages out; everything that touches V8 happens on that thread.
//!
//! [`Isolate`] is the handle everyone else holds: cheap to clone, usable from any thread, never blocking. When the
//! last handle (entrypoints and stubs hold one too) is dropped, the thread ends and the isolate with it.

mod handle;
mod hung;
mod idle;
pub(crate) mod inbox;
mod queue;
mod running;
pub(crate) mod state;
#[cfg(test)]
mod tests;
mod thread;
pub(crate) mod timers;

use std::sync::Arc;
use std::time::Duration;

pub use handle::{Entrypoint, Invocation, Isolate, WeakIsolate};
pub use idle::{Idle, Sleeper};

use crate::channel::Channels;
use crate::compat::CompatFlags;
use crate::error::Blame;
use crate::limits::{Cause, ResourceLimits};
use crate::modules::WorkerSource;
use crate::modules::exports::ExportedEntrypoint;
use crate::rpc::Message;

/// What an isolate is created with, before any code is known.
#[derive(Clone, Debug)]
pub struct IsolateConfig {
    /// Heap, ArrayBuffers and WebAssembly memory together, in bytes.
    pub memory_bytes_max: usize,
    /// The thread's stack, in bytes; V8 gets most of it.
    pub stack_bytes: usize,
    /// Requests waiting in the inbox; over it a call is refused as overloaded. Answers are never refused.
    pub inbox_len_max: usize,
    /// What its thread does for the process while it waits.
    pub idle: Option<Arc<dyn Idle>>,
}

impl Default for IsolateConfig {
    fn default() -> Self {
        Self { memory_bytes_max: 128 << 20, stack_bytes: 2 << 20, inbox_len_max: 1024, idle: None }
    }
}

/// Everything that turns a never-used isolate into a running Worker.
#[derive(Clone)]
pub struct LoadCode {
    pub source: WorkerSource,
    /// The value of `env`, an object; `None` is `{}`.
    pub env: Option<Message>,
    pub channels: Channels,
    /// CPU time for compiling and evaluating the modules, a budget of its own.
    pub startup_cpu: Duration,
    /// Default and ceiling for every invocation.
    pub limits: ResourceLimits,
    pub on_hang: HangPolicy,
    pub clock: ClockPolicy,
    pub uses: Uses,
    /// The compatibility flags that are on.
    pub compat: CompatFlags,
}

/// What happens to an invocation that nothing can ever answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HangPolicy {
    /// Its callers get the platform's error.
    #[default]
    Report,
    /// It stays unanswered until whoever loaded it ends it: for owners with a deadline of their own.
    Wait,
}

/// How often a Worker is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Uses {
    /// Any number of times.
    #[default]
    Many,
    /// Once, and it ends soon afterwards. All that it does has one budget, also where it calls itself: the limits of an
    /// invocation are those of the whole Worker. Its thread may be given less of the processors when it has run for long,
    /// also where the system would not let it have more again.
    One,
}

/// What `Date.now()` shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockPolicy {
    /// Time stands still during a turn: it advances when the isolate receives something from outside.
    #[default]
    Frozen,
    /// The system's clock.
    Real,
}

/// What loading cost, and what was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// CPU time of compiling and evaluating the modules.
    pub startup_cpu: Duration,
    /// The entrypoints of the main module, the default one first. Shared, as reports are passed around.
    pub entrypoints: Arc<[ExportedEntrypoint]>,
}

/// Why a Worker did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LoadError {
    /// The whole text, in the platform's words (`Failed to start Worker:\n…`).
    pub message: String,
    pub phase: LoadPhase,
    /// Set when a limit ended it.
    pub cause: Option<Cause>,
    pub blame: Blame,
    /// CPU time that starting it had used. `None`: it did not begin, or nobody knows.
    pub startup_cpu: Option<Duration>,
}

impl LoadError {
    /// The isolate was ended before or while it started.
    #[must_use]
    pub fn ended(cause: Cause) -> Self {
        let blame = match cause {
            Cause::Canceled | Cause::Shutdown => Blame::Host,
            Cause::InternalError => Blame::Platform,
            _ => Blame::Program,
        };
        let message = cause.message().to_owned();
        Self { message, phase: LoadPhase::Evaluate, cause: Some(cause), blame, startup_cpu: None }
    }
}

/// Why an isolate could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The system refused a thread: too many, or no memory.
    #[error("cannot start a thread for an isolate: {0}")]
    Thread(#[from] std::io::Error),
}

/// How far loading got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadPhase {
    /// Parsing a module, or resolving what it imports.
    Compile,
    /// Running the modules' top level.
    Evaluate,
}

/// Which entrypoint of a loaded Worker, and what each of its invocations gets.
#[derive(Clone, Debug, Default)]
pub struct EntrypointSpec {
    /// `None` (and `"default"`) mean the default export.
    pub name: Option<String>,
    /// The value of `ctx.props`; `None` is `{}`.
    pub props: Option<Message>,
    pub limits: ResourceLimits,
}
