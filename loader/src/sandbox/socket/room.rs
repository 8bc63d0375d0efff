//! Room for what waits to be sent, shared by several connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The most bytes that may wait for all processes of a pool together.
pub(in crate::sandbox) const SEND_QUEUES_BYTES_MAX: usize = 1 << 30;

/// Bytes that may wait for each, whatever waits for the others: one whose peer reads is not given up because of those
/// whose peers do not, and one that has not begun to read has its greeting.
pub(super) const ALWAYS_BYTES: usize = 4 << 20;

/// See the module.
#[derive(Debug)]
pub(in crate::sandbox) struct SendRoom {
    bytes_max: usize,
    taken: AtomicUsize,
}

impl SendRoom {
    pub(in crate::sandbox) fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, taken: AtomicUsize::new(0) })
    }
}

/// The part of it that one connection takes; given back when dropped.
pub(super) struct Room {
    of: Arc<SendRoom>,
    bytes: usize,
}

impl Room {
    /// None of it.
    pub(super) fn of(room: &Arc<SendRoom>) -> Self {
        Self { of: room.clone(), bytes: 0 }
    }

    /// Bytes taken.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes so many more, if they are there; whether they are.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let taken = self.of.taken.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if taken > self.of.bytes_max && self.bytes + bytes > ALWAYS_BYTES {
            self.of.taken.fetch_sub(bytes, Relaxed);
            return false;
        }
        self.bytes += bytes;
        true
    }

    /// Gives so many back.
    pub(super) fn give_back(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.of.taken.fetch_sub(bytes, Relaxed);
    }

    pub(super) fn give_back_all(&mut self) {
        self.give_back(self.bytes);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.give_back_all();
    }
}
