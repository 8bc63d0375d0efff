//! The nine errors a pass can end in, and the two ways in which its host can end it instead.

use std::time::Duration;

use loaderd_runtime::error::Blame;
use loaderd_runtime::limits::Cause;

use crate::host::HostDefect;
use crate::json::Json;
use crate::result::Implementation;

/// The longest message an error carries, in UTF-16 units.
pub const MESSAGE_UNITS_MAX: usize = 8_000;

/// Why [`execute`](crate::CodeExecutor::execute) has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassFailure {
    /// One of the nine.
    #[error(transparent)]
    Error(#[from] CodeExecutionError),
    /// The host broke. This is not one of the nine: it says nothing about the program or the executor.
    #[error("the host failed: {0}")]
    HostDefect(#[from] HostDefect),
    /// The host gave up a call on its own, which interrupts the pass.
    #[error("the host interrupted the pass")]
    HostInterrupted,
}

impl PassFailure {
    /// What ended the isolate, when something did.
    #[must_use]
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Self::Error(error) => error.cause,
            Self::HostDefect(_) | Self::HostInterrupted => None,
        }
    }

    /// CPU time that the program had used when it ended, where that is known.
    #[must_use]
    pub fn cpu(&self) -> Option<Duration> {
        match self {
            Self::Error(error) => error.cpu,
            Self::HostDefect(_) | Self::HostInterrupted => None,
        }
    }
}

/// One of the nine errors, and the executor it comes from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct CodeExecutionError {
    pub implementation: Implementation,
    pub error: CodeError,
    /// What ended the isolate, when something did. It says which of two budgets of one kind was met.
    pub cause: Option<Cause>,
    /// CPU time that the run had used when it ended, evaluating the program's module excluded; where that failed, what
    /// that had used. `None` where neither began, where the deadline ended the pass before its run, where its host was at
    /// fault, where its process was too busy to say within 150 ms of the deadline, and where that died while other programs
    /// ran in it.
    pub cpu: Option<Duration>,
}

/// The nine errors. Messages are at most [`MESSAGE_UNITS_MAX`] long; `logs` are what was captured until then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// The source is no program.
    #[error("{message}")]
    Source { reason: SourceReason, message: String },
    /// The request asks for something this executor cannot give.
    #[error("{message}")]
    Unsupported { feature: Feature, message: String },
    /// The program's module did not start.
    #[error("{message}")]
    Start {
        message: String,
        /// What the loader said, before words were put around it.
        cause: Option<String>,
    },
    /// A time limit ended the pass.
    #[error("The program exceeded its {} budget", .kind.name())]
    Timeout {
        kind: TimeoutKind,
        /// The request's, for both kinds.
        max_wall_time: Duration,
        logs: Vec<String>,
    },
    /// Something was longer than its limit; both in bytes. `observed` is 0 for what has no JSON text at all.
    #[error("The {} limit of {limit} bytes was exceeded ({observed} bytes observed)", .surface.name())]
    OutputLimit { surface: Surface, limit: u64, observed: u64, logs: Vec<String> },
    /// The program called its host too often.
    #[error("The pass exceeded its executor cap of {limit} host calls")]
    HostCallLimit { limit: u64, logs: Vec<String> },
    /// The program itself failed.
    #[error("{message}")]
    ProgramFailed { reason: ProgramReason, thrown: Json, message: String, logs: Vec<String> },
    /// The host or the guest answered outside the protocol.
    #[error("{message}")]
    Protocol { message: String },
    /// The isolate ended without an answer.
    #[error("{message}")]
    Terminated { message: String },
}

impl CodeError {
    /// The contract's tag.
    #[must_use]
    pub fn tag(&self) -> &'static str {
        match self {
            Self::Source { .. } => "CodeSourceError",
            Self::Unsupported { .. } => "CodeExecutorUnsupportedError",
            Self::Start { .. } => "CodeExecutorStartError",
            Self::Timeout { .. } => "CodeExecutionTimeoutError",
            Self::OutputLimit { .. } => "CodeOutputLimitError",
            Self::HostCallLimit { .. } => "CodeHostCallLimitError",
            Self::ProgramFailed { .. } => "CodeProgramFailedError",
            Self::Protocol { .. } => "CodeExecutionProtocolError",
            Self::Terminated { .. } => "CodeExecutorTerminatedError",
        }
    }

    /// Whose fault it most likely is.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::OutputLimit { surface: Surface::HostCallResult, .. } | Self::Unsupported { .. } => Blame::Host,
            Self::Protocol { .. } => Blame::Host,
            Self::Source { .. }
            | Self::Timeout { .. }
            | Self::OutputLimit { .. }
            | Self::HostCallLimit { .. }
            | Self::ProgramFailed { .. } => Blame::Program,
            Self::Start { .. } | Self::Terminated { .. } => Blame::Platform,
        }
    }
}

/// Declares an enum whose variants have the contract's names.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// The contract's name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }
    };
}

named! {
    /// In which way a source is no program.
    SourceReason {
        /// It does not compile.
        Invalid = "invalid",
        /// It is longer than `max_source_bytes`.
        Oversized = "oversized",
        /// It evaluates to something else than a function.
        NotAFunction = "not-a-function",
    }
}

named! {
    /// What was asked for and cannot be given.
    Feature {
        Language = "language",
        Network = "network",
        CpuLimit = "cpu-limit",
        Namespaces = "namespaces",
        WallClock = "wall-clock",
        HostCalls = "host-calls",
    }
}

named! {
    /// Which clock ran out.
    TimeoutKind {
        Cpu = "cpu",
        WallClock = "wall-clock",
    }
}

named! {
    /// What was too long.
    Surface {
        Logs = "logs",
        Result = "result",
        HostCallArgument = "host-call-argument",
        HostCallResult = "host-call-result",
    }
}

named! {
    /// In which way a program failed; it is about the thrown value, not about how it was thrown.
    ProgramReason {
        /// It threw an Error.
        Threw = "threw",
        /// It threw something else.
        Rejected = "rejected",
        /// It returned something that JSON cannot express.
        NonJsonResult = "non-json-result",
    }
}
