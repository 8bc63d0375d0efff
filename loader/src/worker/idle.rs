//! Workers with nothing to do: listed, evicted over the bound, or kept by whoever holds what lives in them.

use std::sync::{Arc, Weak};

use loaderd_runtime::limits::Cause;

use super::{Phase, Stay, Worker};
use crate::live::IdleKey;

impl Worker {
    /// Keeps the isolate from being evicted while what is returned lives.
    pub(crate) fn hold(&self) -> Busy {
        self.state.lock().held += 1;
        Busy(self.me.clone())
    }

    pub(super) fn let_go(&self) {
        {
            let mut state = self.state.lock();
            state.held -= 1;
            if state.held > 0 || state.active > 0 {
                return;
            }
            // It may have been taken off the list because it could not be evicted.
            if let Phase::Running { idle, .. } = &mut state.phase {
                if let Some(key) = idle.take() {
                    self.host.live.no_longer_idle(key);
                }
                *idle = self.list_as_idle();
            }
        }
        self.evict_over_bound();
    }

    pub(super) fn list_as_idle(&self) -> Option<IdleKey> {
        (self.stay == Stay::Evictable).then(|| self.host.live.became_idle(self.tenant.clone(), self.me.clone()))
    }

    pub(super) fn evict_over_bound(&self) {
        for worker in self.host.live.over_idle_bound() {
            if worker.upgrade().is_some_and(|worker| worker.evict()) {
                self.host.live.evicted();
            }
        }
    }

    /// Whether evicting it frees its code too: its cache has it, and nobody else. Asked by one who holds it once.
    pub(crate) fn is_only_cached(self: &Arc<Self>) -> bool {
        self.cached.is_some() && Arc::strong_count(self) <= ONLY_CACHED
    }

    /// Ends the isolate if it is idle; the Worker is asleep then. Its cache forgets it: code is kept only as long as
    /// somebody holds a stub.
    pub(crate) fn evict(&self) -> bool {
        let isolate = {
            let mut state = self.state.lock();
            if state.active > 0 || state.held > 0 {
                return false;
            }
            let Phase::Running { isolate, .. } = &state.phase else { return false };
            let isolate = Arc::clone(isolate);
            state.phase = Phase::Asleep;
            isolate
        };
        self.forget();
        isolate.end(Cause::Shutdown);
        true
    }
}

/// How many references there are to a Worker that nobody has but its cache: that one, and that of whoever asks.
const ONLY_CACHED: usize = 2;

/// Keeps a Worker's isolate from being evicted.
pub(crate) struct Busy(Weak<Worker>);

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(worker) = self.0.upgrade() {
            worker.let_go();
        }
    }
}
