//! What an executor counts of its passes. Numbers only: nothing of a program, its arguments or its results.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::error::PassFailure;
use crate::result::CodeExecutionResult;

/// How passes can end, in the order of [`PassMetrics::ended`]: with a result, with one of the nine errors, through
/// their host, or dropped by whoever asked.
pub const ENDS: [&str; 13] = [
    "completed",
    "CodeSourceError",
    "CodeExecutorUnsupportedError",
    "CodeExecutorStartError",
    "CodeExecutionTimeoutError",
    "CodeOutputLimitError",
    "CodeHostCallLimitError",
    "CodeProgramFailedError",
    "CodeExecutionProtocolError",
    "CodeExecutorTerminatedError",
    "host-defect",
    "host-interrupted",
    "cancelled",
];

const CANCELLED: usize = ENDS.len() - 1;

/// Upper bounds of the buckets of [`PassMetrics::host_calls`], in microseconds; one more holds everything above.
pub const HOST_CALL_BOUNDS_US: [u64; 12] =
    [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000, 1_000_000, 10_000_000];

const BUCKETS: usize = HOST_CALL_BOUNDS_US.len() + 1;

/// The counts at one moment, since the executor was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassMetrics {
    /// Passes running now.
    pub in_flight: u64,
    /// Passes that ended, in the order of [`ENDS`].
    pub ended: [u64; ENDS.len()],
    /// Host calls that ended, answered or at the deadline, by how long the host took: by bucket, not cumulative.
    pub host_calls: [u64; BUCKETS],
    /// How long the host took in all.
    pub host_calls_time: Duration,
}

/// The counters behind [`PassMetrics`].
#[derive(Default)]
pub(crate) struct Counters {
    started: AtomicU64,
    ended: [AtomicU64; ENDS.len()],
    host_calls: [AtomicU64; BUCKETS],
    host_calls_us: AtomicU64,
}

impl Counters {
    pub(crate) fn snapshot(&self) -> PassMetrics {
        // Ends are read first, so that a pass that ends meanwhile is not counted as less than none in flight.
        let ended: [u64; ENDS.len()] = std::array::from_fn(|at| self.ended[at].load(Relaxed));
        PassMetrics {
            in_flight: self.started.load(Relaxed).saturating_sub(ended.iter().sum()),
            ended,
            host_calls: std::array::from_fn(|at| self.host_calls[at].load(Relaxed)),
            host_calls_time: Duration::from_micros(self.host_calls_us.load(Relaxed)),
        }
    }

    /// Counts a pass as running until what is returned is told how it ended, or dropped.
    pub(crate) fn begin(&self) -> RunningPass<'_> {
        self.started.fetch_add(1, Relaxed);
        RunningPass { counters: self, end: CANCELLED }
    }

    pub(crate) fn host_call(&self, took: Duration) {
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = HOST_CALL_BOUNDS_US.iter().position(|bound| took_us <= *bound).unwrap_or(BUCKETS - 1);
        self.host_calls[bucket].fetch_add(1, Relaxed);
        self.host_calls_us.fetch_add(took_us, Relaxed);
    }
}

/// A pass in flight.
pub(crate) struct RunningPass<'a> {
    counters: &'a Counters,
    end: usize,
}

impl RunningPass<'_> {
    /// The name of its end, which is counted now.
    pub(crate) fn end(mut self, outcome: &Result<CodeExecutionResult, PassFailure>) -> &'static str {
        let name = match outcome {
            Ok(_) => ENDS[0],
            Err(PassFailure::Error(failed)) => failed.error.tag(),
            Err(PassFailure::HostDefect(_)) => "host-defect",
            Err(PassFailure::HostInterrupted) => "host-interrupted",
        };
        self.end = ENDS.iter().position(|end| *end == name).unwrap_or(CANCELLED);
        name
    }
}

impl Drop for RunningPass<'_> {
    fn drop(&mut self) {
        self.counters.ended[self.end].fetch_add(1, Relaxed);
    }
}
