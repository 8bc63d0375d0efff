//! Limits: pure decisions, the meters, and the watchdog that enforces CPU time during a turn.

mod alarm;
pub(crate) mod aside;
pub(crate) mod cpu;
pub(crate) mod growing_memory;
mod looks;
pub(crate) mod memory;
pub mod overshoot;
pub(crate) mod priority;
pub(crate) mod turn;
pub(crate) mod watchdog;

use std::time::Duration;

pub use watchdog::{THREAD_NAME as WATCHDOG_THREAD, stuck_threads};

/// Limits of one invocation, or of the code it runs. `None` means "whatever the next level up says".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceLimits {
    /// CPU milliseconds of the isolate's thread, time spent awaiting the host excluded.
    pub cpu_ms: Option<u32>,
    /// Subrequests: `fetch` calls and calls on service stubs (platform rules on what counts).
    pub sub_requests: Option<u32>,
}

impl ResourceLimits {
    /// The lower of two limits, field by field.
    #[must_use]
    pub fn lowest(self, other: Self) -> Self {
        fn low(a: Option<u32>, b: Option<u32>) -> Option<u32> {
            match (a, b) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            }
        }
        Self { cpu_ms: low(self.cpu_ms, other.cpu_ms), sub_requests: low(self.sub_requests, other.sub_requests) }
    }
}

/// Why an isolate or invocation was ended from outside. The first cause recorded wins; V8 is never asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The invocation used up its CPU milliseconds.
    ExceededCpu,
    /// Start-up (module evaluation) used up its own CPU budget.
    ExceededStartupCpu,
    /// Heap, buffers and WebAssembly memory together passed the isolate's limit.
    ExceededMemory,
    /// The wall-clock deadline set by whoever loaded the code passed.
    ExceededWallTime,
    /// Another invocation of the same isolate met a limit, which ended the isolate.
    Condemned,
    /// Whoever asked no longer wants the answer.
    Canceled,
    /// The isolate was shut down (eviction, owner gone, process ending).
    Shutdown,
    /// The platform itself failed in the middle of something: a defect of ours, or of V8's.
    InternalError,
}

impl Cause {
    /// The text a caller of the ended invocation sees as the error's `message`.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::ExceededCpu => "Worker exceeded CPU time limit.",
            Self::ExceededStartupCpu => "Script startup exceeded CPU time limit.",
            Self::ExceededMemory => "Worker exceeded memory limit.",
            Self::ExceededWallTime => "Worker exceeded wall time limit.",
            Self::Condemned => "The Worker's isolate was ended because another request to it exceeded a limit.",
            Self::Canceled => "The execution context responding to this call was canceled.",
            Self::Shutdown => "The isolate running this Worker was shut down.",
            Self::InternalError => "internal error: the isolate running this Worker was ended",
        }
    }

    /// Whether callers see `overloaded: true`: it tells them that backing off may help.
    #[must_use]
    pub fn overloaded(self) -> bool {
        matches!(self, Self::ExceededCpu | Self::ExceededStartupCpu | Self::ExceededMemory | Self::ExceededWallTime)
    }

    /// Whether its owner let go of it: nothing had gone wrong with it.
    #[must_use]
    pub fn by_owner(self) -> bool {
        matches!(self, Self::Canceled | Self::Shutdown)
    }

    /// As logs and metrics spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ExceededCpu => "exceededCpu",
            Self::ExceededStartupCpu => "exceededStartupCpu",
            Self::ExceededMemory => "exceededMemory",
            Self::ExceededWallTime => "exceededWallTime",
            Self::Condemned => "condemned",
            Self::Canceled => "canceled",
            Self::Shutdown => "shutdown",
            Self::InternalError => "internalError",
        }
    }

    /// Whether it was a limit of CPU time.
    #[must_use]
    pub fn is_cpu(self) -> bool {
        matches!(self, Self::ExceededCpu | Self::ExceededStartupCpu)
    }

    /// The outcome this cause gives the invocation it ended.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::ExceededCpu | Self::ExceededStartupCpu => Outcome::ExceededCpu,
            Self::ExceededMemory => Outcome::ExceededMemory,
            Self::ExceededWallTime => Outcome::ExceededWallTime,
            Self::Canceled | Self::Shutdown | Self::Condemned => Outcome::Canceled,
            Self::InternalError => Outcome::InternalError,
        }
    }

    const ALL: [Self; 8] = [
        Self::ExceededCpu,
        Self::ExceededStartupCpu,
        Self::ExceededMemory,
        Self::ExceededWallTime,
        Self::Condemned,
        Self::Canceled,
        Self::Shutdown,
        Self::InternalError,
    ];

    /// A number for an atomic cell; 0 is free for "none".
    pub(crate) fn code(self) -> u8 {
        self as u8 + 1
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }
}

/// How an invocation ended, in the platform's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Ok,
    Exception,
    Canceled,
    ExceededCpu,
    ExceededMemory,
    ExceededWallTime,
    InternalError,
}

impl Outcome {
    /// The platform's name, as tails, logs and metrics spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Exception => "exception",
            Self::Canceled => "canceled",
            Self::ExceededCpu => "exceededCpu",
            Self::ExceededMemory => "exceededMemory",
            Self::ExceededWallTime => "exceededWallTime",
            Self::InternalError => "internalError",
        }
    }
}

/// What an invocation used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time of the isolate's thread charged to this invocation.
    pub cpu: Duration,
    /// Time since the invocation began.
    pub wall: Duration,
    /// Subrequests counted.
    pub sub_requests: u32,
}
