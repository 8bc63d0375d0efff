//! What a completed pass gives back.

use std::sync::Arc;
use std::time::Duration;

use crate::json::Json;

/// The most captured console lines of one pass.
pub const LOG_LINES_MAX: usize = 4_096;
/// The longest captured console line a guest may report, in UTF-16 units.
pub const LOG_LINE_UNITS_MAX: usize = 16_384;

/// Which kind of executor ran a pass. Every result and every error carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    pub isolation: Isolation,
    /// The executor's name, 1 to 256 UTF-16 units.
    pub identity: Arc<str>,
}

/// Whether a program is kept apart from its host by more than good manners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    Isolated,
    Unisolated,
}

impl Isolation {
    /// The contract's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Isolated => "isolated",
            Self::Unisolated => "unisolated",
        }
    }
}

impl Default for Implementation {
    fn default() -> Self {
        Self { isolation: Isolation::Isolated, identity: "loaderd".into() }
    }
}

/// A program's answer, and what the pass used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeExecutionResult {
    pub implementation: Implementation,
    /// What the program returned, after one JSON round trip.
    pub value: Json,
    /// Captured console lines in order; at most [`LOG_LINES_MAX`]. A lone surrogate is U+FFFD.
    pub logs: Vec<String>,
    pub resource_use: ResourceUse,
}

/// What a completed pass used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceUse {
    /// From the start of loading until host calls were wound up; releasing the isolate excluded.
    pub wall_time: Duration,
    /// Host calls the program made, those included that it did not wait for.
    pub host_calls: u64,
    /// UTF-8 bytes of the captured lines.
    pub log_bytes: u64,
    /// UTF-8 bytes of the result's JSON text.
    pub result_bytes: u64,
    /// CPU milliseconds of the program's run, rounded up; evaluating its module is on another budget.
    pub cpu_millis: Option<u64>,
}

/// CPU time as answers tell it: none is left out.
pub(crate) fn millis_rounded_up(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
