//! CPU time inside an invocation's turn that is not the invocation's: evaluating a module that it imports dynamically, and
//! formatting what it logs. Each has a budget of its own, which is spent once and not anew each time, so that no program
//! gets more time by importing or logging a lot.

use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::cpu::this_thread_ns;
use super::watchdog::Deadline;

/// For formatting all that one invocation logs, or all of those that share a budget.
pub(crate) const LOGGING_CPU: Duration = Duration::from_millis(100);

/// What a turn may do beside its invocation's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aside {
    /// Compiling, linking and evaluating a module. Its budget is as large as that for start-up, and the isolate's: each
    /// module is evaluated once.
    DynamicImport,
    /// Making text of what is logged. Its budget is the invocation's.
    Logging,
}

/// The turn that runs, and what of it was beside its work.
#[derive(Default)]
pub(crate) struct Asides {
    deadline: OnceCell<Deadline>,
    /// When the turn's own work must be done, by its thread's clock; `u64::MAX` without a limit.
    own_ns: Cell<u64>,
    used_ns: Cell<u64>,
    inside: Cell<bool>,
}

impl Asides {
    /// Where the watchdog looks for the deadline of what runs.
    pub(crate) fn set_deadline(&self, deadline: Deadline) {
        // Once, by the thread, before its first turn.
        let _ = self.deadline.set(deadline);
    }

    /// A turn begins, which must be done at `own_ns`.
    pub(crate) fn begin(&self, own_ns: u64) {
        self.own_ns.set(own_ns);
        self.used_ns.set(0);
    }

    /// CPU time of the turn that was beside its work, in ns.
    pub(crate) fn used_ns(&self) -> u64 {
        self.used_ns.get()
    }

    /// Whether something beside the turn's work runs; what it does in turn is a part of it.
    pub(crate) fn inside(&self) -> bool {
        self.inside.get()
    }

    /// Runs `work`, for which `left` ns are left, and takes from them what it used.
    pub(crate) fn run<T>(&self, left: &AtomicU64, work: impl FnOnce() -> T) -> T {
        let Some(deadline) = self.deadline.get() else { return work() };
        let started = this_thread_ns();
        self.inside.set(true);
        let budget = left.load(Relaxed);
        deadline.set(started.saturating_add(budget), budget);
        let done = work();
        self.inside.set(false);
        let used = this_thread_ns().saturating_sub(started);
        left.store(budget.saturating_sub(used), Relaxed);
        self.used_ns.set(self.used_ns.get().saturating_add(used));
        let own = self.own_ns.get().saturating_add(self.used_ns.get());
        deadline.set(own, own.saturating_sub(this_thread_ns()));
        done
    }
}
