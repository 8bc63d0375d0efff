//! Timers of one isolate: which is due when, and whose it is.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::invocation::{Hold, HoldKind, InvocationId, InvocationState};

/// Live timers an isolate may hold; over it `setTimeout` throws.
pub(crate) const TIMERS_MAX: usize = 10_000;

/// The longest delay, in milliseconds; longer ones, as in browsers, count as 0… but a month-long wait has no use here
/// either, so it is a clamp.
const DELAY_MS_MAX: f64 = 2_147_483_647.0;

/// One timer.
pub(crate) struct Timer {
    pub(crate) invocation: InvocationId,
    pub(crate) callback: v8::Global<v8::Function>,
    pub(crate) due: Instant,
    /// The scheduled time as the program's clock shows it, in ms since the epoch.
    pub(crate) due_ms: f64,
    _hold: Hold,
}

/// All timers of an isolate. Timers of one due time fire in the order they were set.
#[derive(Default)]
pub(crate) struct Timers {
    live: HashMap<u32, Timer>,
    queue: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    sequence: u64,
    next_id: u32,
}

impl Timers {
    /// Sets a one-shot timer; `None` when there are too many.
    pub(crate) fn set(
        &mut self,
        invocation: &Rc<InvocationState>,
        now: Instant,
        now_ms: f64,
        delay_ms: f64,
        callback: v8::Global<v8::Function>,
    ) -> Option<u32> {
        if self.live.len() >= TIMERS_MAX {
            return None;
        }
        let delay_ms = if delay_ms.is_finite() { delay_ms.clamp(0.0, DELAY_MS_MAX) } else { 0.0 };
        let due = now + Duration::from_secs_f64(delay_ms / 1_000.0);
        self.next_id = self.next_id.wrapping_add(1).max(1);
        while self.live.contains_key(&self.next_id) {
            self.next_id = self.next_id.wrapping_add(1).max(1);
        }
        let id = self.next_id;
        self.sequence += 1;
        self.queue.push(Reverse((due, self.sequence, id)));
        let hold = Hold::new(invocation, HoldKind::Io);
        let due_ms = now_ms + delay_ms;
        self.live.insert(id, Timer { invocation: invocation.id, callback, due, due_ms, _hold: hold });
        Some(id)
    }

    /// Forgets a timer.
    pub(crate) fn clear(&mut self, id: u32) {
        self.live.remove(&id);
        self.drop_stale();
    }

    /// Forgets an invocation's timers.
    pub(crate) fn clear_invocation(&mut self, invocation: InvocationId) {
        self.live.retain(|_, timer| timer.invocation != invocation);
        self.drop_stale();
    }

    /// When the next timer is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.queue.peek().map(|Reverse((due, ..))| *due)
    }

    /// The next timer due by `now`.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Timer> {
        let Reverse((due, _, id)) = *self.queue.peek()?;
        if due > now {
            return None;
        }
        self.queue.pop();
        let timer = self.live.remove(&id);
        self.drop_stale();
        timer
    }

    /// Keeps the head of the queue alive, and the queue no longer than twice what lives.
    fn drop_stale(&mut self) {
        if self.queue.len() > 64 && self.queue.len() > 2 * self.live.len() {
            let live = &self.live;
            self.queue.retain(|Reverse((due, _, id))| live.get(id).is_some_and(|timer| timer.due == *due));
        }
        while let Some(Reverse((due, _, id))) = self.queue.peek() {
            if self.live.get(id).is_some_and(|timer| timer.due == *due) {
                return;
            }
            self.queue.pop();
        }
    }
}
