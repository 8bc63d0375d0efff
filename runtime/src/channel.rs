//! The traits through which everything leaves an isolate. No channel, no authority.

use crate::limits::{Outcome, Usage};
use crate::objects::ObjectNamespace;
use crate::rpc::Cap;

/// What a loaded Worker may reach outside itself, given once, when it is loaded.
#[derive(Clone, Default)]
pub struct Channels {
    /// Where global `fetch()` and `connect()` go. `None`: refused with the platform's text.
    pub global_outbound: Option<Cap>,
    /// Where the Cache API's requests go, as fetches: `GET`, `PUT` and `PURGE`. `None`: refused with the platform's text.
    pub cache: Option<Cap>,
    /// Called on the isolate's thread for each console line; must not block.
    pub console: Option<std::sync::Arc<dyn ConsoleSink>>,
    /// By class: the namespaces of the Worker's own Durable Objects, for `ctx.exports`.
    pub objects: Vec<(String, std::sync::Arc<dyn ObjectNamespace>)>,
    /// Why its own entrypoints may not be handed to other Workers, if they may not: the text of the `DataCloneError`.
    pub refuses_transfer: Option<&'static str>,
    /// Receives the traces of its invocations.
    pub traces: Option<std::sync::Arc<dyn crate::trace::TraceSink>>,
}

/// The severity of a console line, in the platform's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleLevel {
    Debug,
    Info,
    Log,
    Warn,
    Error,
}

impl ConsoleLevel {
    /// The name tails use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Log => "log",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Receives what a Worker writes to its console.
pub trait ConsoleSink: Send + Sync {
    /// One call of a console method, formatted as a person would read it. Runs on the isolate's thread.
    fn line(&self, level: ConsoleLevel, text: &str);
}

/// How an invocation ended, sent once when nothing of it is left.
#[derive(Clone, Debug)]
pub struct InvocationReport {
    pub outcome: Outcome,
    pub usage: Usage,
}
