//! The budget of memory mappings. Linux lets a process have `vm.max_map_count` of them, and V8 dies when it gets no
//! more; so what an isolate takes is measured, and a new one is refused while there is still room.

use crate::error::Overload;

/// Mappings that stay free for everything that is not an isolate: thread stacks, buffers, libraries.
const RESERVE: usize = 4_096;

/// What an isolate is assumed to take before any was measured.
const PER_ISOLATE_ASSUMED: usize = 64;

/// Measured again when this many times as many isolates are alive as the last time.
const MEASURE_AT_GROWTH: usize = 2;

/// What is known of the budget.
pub(crate) struct Mappings {
    /// `vm.max_map_count`; `None` where there is no such bound.
    max: Option<usize>,
    /// Mappings of the process without isolates.
    base: usize,
    per_isolate: usize,
    /// Isolates alive when `per_isolate` was measured.
    measured_at: usize,
}

impl Mappings {
    /// Reads the bound, and what the process has before its first isolate.
    pub(crate) fn measure() -> Self {
        let max = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok().and_then(|text| text.trim().parse().ok());
        Self { max, base: count().unwrap_or(0), per_isolate: PER_ISOLATE_ASSUMED, measured_at: 0 }
    }

    /// Measures what an isolate takes, now that `alive` exist, if that is worth the trouble: reading the list of
    /// mappings takes the kernel about a microsecond for each.
    pub(crate) fn grown(&mut self, alive: usize) {
        if self.max.is_none() || alive < 4 || alive < MEASURE_AT_GROWTH * self.measured_at {
            return;
        }
        if let Some(now) = count() {
            self.measured(alive, now);
        }
    }

    /// `alive` isolates make `now` mappings. A quarter is added for what they grow by when they run.
    fn measured(&mut self, alive: usize, now: usize) {
        let each = now.saturating_sub(self.base).div_ceil(alive.max(1));
        self.per_isolate = (each + each / 4).max(8);
        self.measured_at = alive;
    }

    /// Why one more isolate may not be made when `alive` exist.
    pub(crate) fn refuse(&self, alive: usize) -> Option<Overload> {
        let room = self.max?.saturating_sub(RESERVE).saturating_sub(self.base);
        let left = room.saturating_sub(alive.saturating_mul(self.per_isolate));
        (left < self.per_isolate).then_some(Overload::Mappings { needed: self.per_isolate, left })
    }
}

/// Mappings this process has now.
fn count() -> Option<usize> {
    let maps = std::fs::read("/proc/self/maps").ok()?;
    Some(maps.iter().filter(|byte| **byte == b'\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(max: Option<usize>) -> Mappings {
        Mappings { max, base: 100, per_isolate: 40, measured_at: 0 }
    }

    #[test]
    fn one_more_is_refused_before_the_bound_is_met() {
        let budget = budget(Some(RESERVE + 100 + 400));
        assert_eq!(budget.refuse(9), None);
        assert_eq!(budget.refuse(10), Some(Overload::Mappings { needed: 40, left: 0 }));
        assert_eq!(budget.refuse(usize::MAX), Some(Overload::Mappings { needed: 40, left: 0 }));
    }

    #[test]
    fn without_a_bound_nothing_is_refused() {
        assert_eq!(budget(None).refuse(1_000_000), None);
    }

    #[test]
    fn what_an_isolate_takes_is_measured_with_room_to_grow() {
        let mut budget = budget(Some(65_530));
        budget.measured(10, 100 + 240);
        assert_eq!(budget.per_isolate, 30);
    }
}
