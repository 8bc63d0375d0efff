//! What one invocation has used, and who is to hear of its end. Any thread may look and tell: an isolate's thread that is
//! in a builtin which ignores its end never comes to do so itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::OnEnd;
use crate::channel::InvocationReport;
use crate::isolate::state::system_ms;
use crate::limits::aside::LOGGING_CPU;
use crate::limits::cpu::nanos;
use crate::limits::{Cause, Usage};
use crate::trace::tracer::RootTrace;

/// What was used of a budget: an invocation's own, or the one of all that a Worker does. The isolate's thread alone writes
/// to it.
pub(crate) struct Spent {
    /// Of the turns that are over.
    cpu_ns: AtomicU64,
    sub_requests: AtomicU32,
    /// Left for formatting what is logged.
    logging_left_ns: AtomicU64,
}

impl Default for Spent {
    fn default() -> Self {
        Self {
            cpu_ns: AtomicU64::new(0),
            sub_requests: AtomicU32::new(0),
            logging_left_ns: AtomicU64::new(nanos(LOGGING_CPU)),
        }
    }
}

/// See the module.
pub(crate) struct Meter {
    started: Instant,
    spent: Arc<Spent>,
    /// Taken by whoever tells them.
    listeners: Mutex<Option<Listeners>>,
}

/// Who is to hear of an invocation's end.
pub(crate) struct Listeners {
    pub(crate) on_end: Option<OnEnd>,
    pub(crate) trace: Option<RootTrace>,
}

impl Meter {
    pub(crate) fn new(spent: Arc<Spent>, listeners: Listeners) -> Arc<Self> {
        Arc::new(Self { started: Instant::now(), spent, listeners: Mutex::new(Some(listeners)) })
    }

    /// CPU time of the turns that are over, in ns.
    pub(crate) fn cpu_ns(&self) -> u64 {
        self.spent.cpu_ns.load(Relaxed)
    }

    pub(crate) fn charge_cpu_ns(&self, used_ns: u64) {
        self.spent.cpu_ns.store(self.cpu_ns().saturating_add(used_ns), Relaxed);
    }

    pub(crate) fn sub_requests(&self) -> u32 {
        self.spent.sub_requests.load(Relaxed)
    }

    pub(crate) fn set_sub_requests(&self, count: u32) {
        self.spent.sub_requests.store(count, Relaxed);
    }

    /// What is left for formatting what is logged, in ns.
    pub(crate) fn logging_left_ns(&self) -> &AtomicU64 {
        &self.spent.logging_left_ns
    }

    /// `turn_ns` is what the running turn has used and is not charged yet.
    pub(crate) fn usage(&self, turn_ns: u64) -> Usage {
        Usage {
            cpu: Duration::from_nanos(self.cpu_ns().saturating_add(turn_ns)),
            wall: self.started.elapsed(),
            sub_requests: self.sub_requests(),
        }
    }

    /// Who is to hear of the end. `None`: they have heard of it.
    pub(crate) fn take_listeners(&self) -> Option<Listeners> {
        self.listeners.lock().take()
    }

    /// Its thread does not come back: tells of the end from outside, unless that was done.
    pub(crate) fn abandon(&self, cause: Cause, turn_ns: u64) {
        let Some(listeners) = self.take_listeners() else { return };
        let report = InvocationReport { outcome: cause.outcome(), usage: self.usage(turn_ns) };
        if let Some(trace) = listeners.trace {
            trace.end(system_ms(), cause.message(), &report);
        }
        if let Some(on_end) = listeners.on_end {
            on_end(report);
        }
    }
}
