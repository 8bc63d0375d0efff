//! How late CPU limits were enforced: a process-wide histogram for metrics and benchmarks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Upper bounds of the buckets, in microseconds; one more bucket holds everything above.
pub const BUCKET_BOUNDS_US: [u64; 12] =
    [50, 100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000, 1_000_000];

static BUCKETS: [AtomicU64; BUCKET_BOUNDS_US.len() + 1] = [const { AtomicU64::new(0) }; BUCKET_BOUNDS_US.len() + 1];
static SUM_US: AtomicU64 = AtomicU64::new(0);

pub(crate) fn record_ns(overshoot_ns: u64) {
    let us = overshoot_ns / 1_000;
    let bucket = BUCKET_BOUNDS_US.iter().position(|bound| us <= *bound).unwrap_or(BUCKET_BOUNDS_US.len());
    BUCKETS[bucket].fetch_add(1, Relaxed);
    SUM_US.fetch_add(us, Relaxed);
}

/// CPU used beyond the limit when the watchdog ended a turn: counts by bucket (not cumulative) and the sum in
/// microseconds, since the process began.
#[must_use]
pub fn snapshot() -> ([u64; BUCKET_BOUNDS_US.len() + 1], u64) {
    (std::array::from_fn(|index| BUCKETS[index].load(Relaxed)), SUM_US.load(Relaxed))
}
