//! The queue of an isolate's inbox. Any thread puts items in; the isolate's thread takes them out, and sleeps while there is
//! none. It does not spin before it sleeps: what it waits for is mostly further away than a wake-up, and the processor is
//! needed to bring it about.

use std::collections::VecDeque;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use super::idle::Sleeper;
use super::inbox::Item;

/// Room that an empty queue keeps, in items: what one burst took is given back.
const ROOM_KEPT: usize = 64;

/// Where the isolate's thread sleeps, and so who has to wake it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// Nobody has to: it is awake, or was woken.
    Nobody,
    /// It sleeps in [`Idle::work`](super::Idle::work).
    Idle,
}

/// See the module.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    items: VecDeque<Item>,
    /// The thread sleeps elsewhere.
    sleeps_elsewhere: bool,
    /// Nobody takes anything out any more.
    closed: bool,
}

impl Queue {
    /// Puts an item in. From any thread. Dropped when the queue is closed.
    pub(super) fn put(&self, item: Item) -> Wake {
        let mut state = self.state.lock();
        if state.closed {
            // Outside the lock: an item that is dropped may put in another.
            drop(state);
            drop(item);
            return Wake::Nobody;
        }
        state.items.push_back(item);
        let elsewhere = std::mem::take(&mut state.sleeps_elsewhere);
        drop(state);
        if elsewhere {
            return Wake::Idle;
        }
        self.arrived.notify_one();
        Wake::Nobody
    }

    /// The next item, waited for until `until`; `None`: there was none.
    pub(super) fn take_by(&self, until: Option<Instant>) -> Option<Item> {
        let mut state = self.state.lock();
        loop {
            if let Some(item) = state.take() {
                return Some(item);
            }
            match until {
                None => self.arrived.wait(&mut state),
                Some(until) => {
                    if self.arrived.wait_until(&mut state, until).timed_out() {
                        return state.take();
                    }
                }
            }
        }
    }

    /// The next item, if there is one.
    pub(super) fn take(&self) -> Option<Item> {
        self.state.lock().take()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.state.lock().items.is_empty()
    }

    /// Drops what is in it, and what is put into it from now on.
    pub(super) fn close(&self) {
        let left = {
            let mut state = self.state.lock();
            state.closed = true;
            std::mem::take(&mut state.items)
        };
        drop(left);
    }
}

impl State {
    fn take(&mut self) -> Option<Item> {
        let item = self.items.pop_front();
        if self.items.is_empty() && self.items.capacity() > ROOM_KEPT {
            self.items.shrink_to(ROOM_KEPT);
        }
        item
    }
}

impl Sleeper for Queue {
    fn fall_asleep(&self) -> bool {
        let mut state = self.state.lock();
        state.sleeps_elsewhere = state.items.is_empty();
        state.sleeps_elsewhere
    }

    fn wake_up(&self) {
        self.state.lock().sleeps_elsewhere = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_sleeps_elsewhere_is_woken_once_and_nothing_is_lost() {
        let queue = Queue::default();
        assert_eq!(queue.put(Item::Wake), Wake::Nobody, "it is awake");
        assert!(!queue.fall_asleep(), "there is something");
        assert!(queue.take().is_some() && queue.is_empty());
        assert!(queue.fall_asleep());
        assert_eq!(queue.put(Item::Wake), Wake::Idle);
        assert_eq!(queue.put(Item::CheckHung), Wake::Nobody, "it has been woken");
        queue.wake_up();
        assert!(matches!(queue.take_by(None), Some(Item::Wake)));
        assert!(matches!(queue.take_by(Some(Instant::now())), Some(Item::CheckHung)));
        assert!(queue.take_by(Some(Instant::now())).is_none());
        queue.put(Item::Wake);
        queue.close();
        queue.put(Item::Wake);
        assert!(queue.take().is_none(), "it is closed");
    }
}
