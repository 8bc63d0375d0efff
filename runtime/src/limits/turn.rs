//! What the running turn has used, as other threads may ask. Its own thread counts exactly, at the end of each turn; this is
//! for a turn that does not come to its end.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Readings of the CPU clock of the turn's thread, in ns. That thread alone writes them.
#[derive(Debug, Default)]
pub(crate) struct TurnClock {
    /// When the turn began, later by what it has done beside its work; 0: none runs.
    began_ns: AtomicU64,
    /// When it began what it does beside its work now; 0: it does its work.
    aside_ns: AtomicU64,
}

impl TurnClock {
    pub(crate) fn begin(&self, reading_ns: u64) {
        self.began_ns.store(reading_ns, Relaxed);
        self.aside_ns.store(0, Relaxed);
    }

    /// The turn is over, and counted by its own thread.
    pub(crate) fn over(&self) {
        self.began_ns.store(0, Relaxed);
    }

    /// Whether a turn runs.
    pub(crate) fn runs(&self) -> bool {
        self.began_ns.load(Relaxed) != 0
    }

    /// What follows is not the turn's own.
    pub(crate) fn begin_aside(&self, reading_ns: u64) {
        self.aside_ns.store(reading_ns, Relaxed);
    }

    /// What follows is the turn's own again; what was beside it took this long.
    pub(crate) fn end_aside(&self, took_ns: u64) {
        self.began_ns.store(self.began_ns.load(Relaxed).saturating_add(took_ns), Relaxed);
        self.aside_ns.store(0, Relaxed);
    }

    /// What the turn itself had used when its thread's clock showed `reading_ns`.
    pub(crate) fn used_ns(&self, reading_ns: u64) -> u64 {
        let until = match self.aside_ns.load(Relaxed) {
            0 => reading_ns,
            aside => aside.min(reading_ns),
        };
        match self.began_ns.load(Relaxed) {
            0 => 0,
            began => until.saturating_sub(began),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beside_a_turn_is_not_its_own() {
        let turn = TurnClock::default();
        turn.begin(100);
        assert_eq!(turn.used_ns(130), 30);
        turn.begin_aside(140);
        assert_eq!(turn.used_ns(150), 40, "inside");
        turn.end_aside(20);
        assert_eq!(turn.used_ns(170), 50, "afterwards");
        assert_eq!(turn.used_ns(0), 0, "a clock that cannot be read");
        turn.over();
        assert_eq!(turn.used_ns(170), 0, "counted by its thread");
    }
}
