//! Room for what waits to be sent, shared by several connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The most bytes that may wait for all processes of a pool together, beside what may always wait for each.
const SEND_QUEUES_BYTES_MAX: usize = 1 << 30;

/// Bytes that may wait for each beside that, whatever waits for the others: the largest frame and more. One whose peer reads
/// is not given up because of those whose peers do not.
const ALWAYS_BYTES: usize = 96 << 20;

/// See the module.
#[derive(Debug)]
pub(in crate::sandbox) struct SendRoom {
    bytes_max: usize,
    always_bytes: usize,
    taken: AtomicUsize,
}

impl SendRoom {
    /// For all connections of a pool.
    pub(in crate::sandbox) fn of_pool() -> Arc<Self> {
        Self::new(SEND_QUEUES_BYTES_MAX, ALWAYS_BYTES)
    }

    /// So many bytes together, beside so many of each.
    pub(super) fn new(bytes_max: usize, always_bytes: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, always_bytes, taken: AtomicUsize::new(0) })
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
        let is_always_there = self.bytes + bytes <= self.of.always_bytes;
        let taken = self.of.taken.fetch_update(Relaxed, Relaxed, |taken| {
            let taken = taken.saturating_add(bytes);
            (is_always_there || taken <= self.of.bytes_max).then_some(taken)
        });
        self.bytes += if taken.is_ok() { bytes } else { 0 };
        taken.is_ok()
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
