//! How soon the watchdog looks again at a turn.
//!
//! A turn that runs is looked at when its budget can be used up, which is no sooner than what is left of it. A thread that
//! waits for a processor uses nothing: a watchdog that runs ahead of everybody must not keep it from getting one by
//! looking at it again and again.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How soon a turn is looked at again, at least.
const AGAIN_NS: u64 = 20_000;

/// How often that is doubled, at most, while the turn uses nothing.
const DOUBLED_MAX: u64 = 4;

/// What was seen of one thread. The watchdog's own.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// What the thread's clock said at the last look, and how many looks in a row it has said that.
    seen_ns: AtomicU64,
    stalled: AtomicU64,
}

impl Looks {
    /// The thread's clock says `used_ns`, and its turn has `left_ns`: how long until it is looked at again, in ns.
    pub(super) fn next(&self, used_ns: u64, left_ns: u64) -> u64 {
        let stalled = if self.seen_ns.swap(used_ns, Relaxed) == used_ns { self.stalled.load(Relaxed) + 1 } else { 0 };
        self.stalled.store(stalled, Relaxed);
        left_ns.max(AGAIN_NS << stalled.min(DOUBLED_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_gets_no_processor_is_looked_at_less_and_less_often() {
        let looks = Looks::default();
        // What the thread's clock says, what is left, and how long until the next look.
        for (used, left, expected) in [
            // It runs, and what is left is what it takes.
            (1_000_000, 5_000_000, 5_000_000),
            (5_999_000, 1_000, 20_000),
            // It is all but over, and the thread waits.
            (5_999_000, 1_000, 40_000),
            (5_999_000, 1_000, 80_000),
            (5_999_000, 1_000, 160_000),
            (5_999_000, 1_000, 320_000),
            (5_999_000, 1_000, 320_000),
            // It has run again.
            (5_999_500, 500, 20_000),
            (5_999_500, 500, 40_000),
            // The next turn has a budget of its own, and never less than that is waited for.
            (5_999_800, 5_000_000, 5_000_000),
            (5_999_800, 5_000_000, 5_000_000),
        ] {
            assert_eq!(looks.next(used, left), expected, "{used} used, {left} left");
        }
    }
}
