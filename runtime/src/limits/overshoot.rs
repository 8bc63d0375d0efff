//! How late CPU limits were enforced: a process-wide histogram for metrics and benchmarks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Upper bounds of the buckets, in microseconds; one more bucket holds everything above.
pub const BUCKET_BOUNDS_US: [u64; 12] =
    [50, 100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000, 1_000_000];

/// How many buckets there are.
pub const BUCKETS: usize = BUCKET_BOUNDS_US.len() + 1;

static COUNTS: [AtomicU64; BUCKETS] = [const { AtomicU64::new(0) }; BUCKETS];
static SUM_US: AtomicU64 = AtomicU64::new(0);

/// CPU time used beyond the limit by turns that met it, since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overshoot {
    /// Turns, by bucket, each counting its own only.
    pub counts: [u64; BUCKETS],
    /// All of it, in microseconds.
    pub sum_us: u64,
}

impl Overshoot {
    /// What was counted after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            counts: std::array::from_fn(|at| self.counts[at].saturating_sub(earlier.counts[at])),
            sum_us: self.sum_us.saturating_sub(earlier.sum_us),
        }
    }
}

/// Counts a turn that used this much more CPU time than it might.
pub fn record(beyond: Duration) {
    let us = u64::try_from(beyond.as_micros()).unwrap_or(u64::MAX);
    let bucket = BUCKET_BOUNDS_US.iter().position(|bound| us <= *bound).unwrap_or(BUCKETS - 1);
    COUNTS[bucket].fetch_add(1, Relaxed);
    SUM_US.fetch_add(us, Relaxed);
}

/// Adds what another process has counted.
pub fn add(counted: &Overshoot) {
    for (to, count) in COUNTS.iter().zip(counted.counts) {
        to.fetch_add(count, Relaxed);
    }
    SUM_US.fetch_add(counted.sum_us, Relaxed);
}

/// What was counted until now.
#[must_use]
pub fn snapshot() -> Overshoot {
    Overshoot { counts: std::array::from_fn(|at| COUNTS[at].load(Relaxed)), sum_us: SUM_US.load(Relaxed) }
}
