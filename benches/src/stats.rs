//! Samples of durations, and the percentiles that are shown of them.

use std::time::Duration;

/// Durations of one task, sorted; never empty.
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    /// `None` where nothing was measured.
    pub(crate) fn new(mut durations: Vec<Duration>) -> Option<Self> {
        durations.sort_unstable();
        (!durations.is_empty()).then_some(Self(durations))
    }

    pub(crate) fn p50(&self) -> Duration {
        self.percentile(50)
    }

    pub(crate) fn p99(&self) -> Duration {
        self.percentile(99)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest sample that at least `percent` of all samples do not exceed.
    fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100).max(1);
        self.0[rank - 1]
    }
}

/// A duration as people read it: three digits, with a unit.
pub(crate) fn show(duration: Duration) -> String {
    let micros = duration.as_secs_f64() * 1e6;
    match micros {
        ..1e3 => format!("{micros:.0} µs"),
        ..1e4 => format!("{:.2} ms", micros / 1e3),
        ..1e5 => format!("{:.1} ms", micros / 1e3),
        ..1e6 => format!("{:.0} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}
