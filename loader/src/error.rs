//! What can go wrong when a Worker is loaded, and whose fault it is. The texts are the platform's, made here and in
//! [`crate::code`], and nowhere else.

use std::time::Duration;

use loaderd_runtime::error::Blame;
use loaderd_runtime::isolate::LoadError;
use loaderd_runtime::limits::Cause;
use loaderd_runtime::rpc::RpcError;

use crate::code::CodeError;

/// Why a Worker was not loaded, or is not there any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoaderError {
    /// The [`WorkerCode`](crate::WorkerCode) itself was refused; nothing was started.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// The code was accepted, and did not start: a syntax error, a module that is missing, a throw at top level.
    #[error(transparent)]
    Start(#[from] LoadError),
    /// The callback that was to give the code failed.
    #[error("{0}")]
    GetCode(Box<RpcError>),
    /// There is no room for one more Worker, and none that could be evicted for it. Backing off may help.
    #[error("{0}")]
    Overloaded(Overload),
    /// The Worker was ended, by its owner or by a limit, before it had started.
    #[error("{}", .0.message())]
    Ended(Cause),
    /// The sandbox process that was to hold it died before it had started, and so did the one after that.
    #[error("The sandbox process of this Worker is gone.")]
    ProcessGone,
    /// The machine would not give what an isolate needs.
    #[error("Failed to start Worker: {0}")]
    Platform(String),
}

/// Which bound refused a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Overload {
    #[error("Too many isolates: {live} of at most {max} are alive. Try again later.")]
    LiveIsolates { live: usize, max: usize },
    #[error(
        "Too many isolates of this tenant: {held} of at most {max} are alive, and the others are for other tenants. Try \
         again later."
    )]
    LiveIsolatesOfTenant { held: usize, max: usize },
    #[error(
        "Too much code: dynamic Workers hold {held} of at most {max} bytes, and this one has {bytes}. Try again later."
    )]
    CodeBytes { bytes: usize, held: usize, max: usize },
    #[error("Too many memory mappings: one more isolate needs about {needed}, {left} are left. Try again later.")]
    Mappings { needed: usize, left: usize },
    #[error(
        "Too many threads are stuck: {stuck} are in builtins that ignore their program's end, and at {max} no more \
         Workers are started. Those that never stop go when this process is restarted."
    )]
    StuckThreads { stuck: usize, max: usize },
    #[error("Too many Workers are starting: at most {max} may wait for an isolate. Try again later.")]
    Starting { max: usize },
    #[error(
        "Too many Workers of this tenant are starting: {held} of at most {max} wait for an isolate, and the other \
         places are for other tenants. Try again later."
    )]
    StartingOfTenant { held: usize, max: usize },
}

impl LoaderError {
    /// Whose fault it is.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Code(_) | Self::GetCode(_) => Blame::Host,
            Self::Start(error) => error.blame,
            Self::Ended(cause) => match cause {
                Cause::Canceled | Cause::Shutdown | Cause::ExceededWallTime | Cause::Condemned => Blame::Host,
                Cause::ExceededCpu | Cause::ExceededStartupCpu | Cause::ExceededMemory => Blame::Program,
                Cause::InternalError => Blame::Platform,
            },
            Self::Overloaded(_) | Self::ProcessGone | Self::Platform(_) => Blame::Platform,
        }
    }

    /// The limit or owner that ended it, if one did.
    #[must_use]
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Self::Start(error) => error.cause,
            Self::GetCode(error) => error.cause,
            Self::Ended(cause) => Some(*cause),
            Self::Code(_) | Self::Overloaded(_) | Self::ProcessGone | Self::Platform(_) => None,
        }
    }

    /// CPU time that its start had used, where it began and that is known.
    #[must_use]
    pub fn startup_cpu(&self) -> Option<Duration> {
        match self {
            Self::Start(error) => error.startup_cpu,
            Self::Code(_)
            | Self::GetCode(_)
            | Self::Ended(_)
            | Self::Overloaded(_)
            | Self::ProcessGone
            | Self::Platform(_) => None,
        }
    }

    /// The error that every call on the Worker is answered with.
    #[must_use]
    pub fn to_rpc(&self) -> RpcError {
        match self {
            Self::Code(error) => RpcError { remote: false, ..RpcError::new(error.class(), error.to_string()) },
            Self::GetCode(error) => error.as_ref().clone(),
            Self::Ended(cause) => RpcError::ended(*cause),
            Self::Overloaded(_) => {
                RpcError { overloaded: true, remote: false, ..RpcError::new("Error", self.to_string()) }
            }
            Self::Start(error) => RpcError {
                overloaded: error.cause.is_some_and(Cause::overloaded),
                cause: error.cause,
                // Nothing of the Worker ran that could be called the other side.
                remote: false,
                ..RpcError::new("Error", error.message.clone())
            },
            Self::ProcessGone | Self::Platform(_) => {
                RpcError { disconnected: true, remote: false, ..RpcError::new("Error", self.to_string()) }
            }
        }
    }
}
