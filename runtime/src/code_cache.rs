//! V8's code cache for scripts of the runtime and of the host: bytecode that the next isolate need not compile again.
//!
//! V8 compiles a function when it is first called, so a cache made right after a script ran lacks most of it. The
//! first few isolates that go after use therefore leave behind what they had compiled by then, and the largest is kept.
//! An isolate that nobody used has compiled little: what it leaves is better than nothing, and does not count.
//!
//! Bytecode is trusted by V8, so nothing a program wrote is ever cached, nor the key of anything here.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use parking_lot::Mutex;

/// Used isolates that may improve a script's cache when they go; each costs its end a little time.
const OFFERS_MAX: u32 = 8;

/// What the isolate has done whose compiled code is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Experience {
    /// It was only made, or was stopped in the middle of things.
    Little,
    /// A Worker ran in it and came to its end.
    Whole,
}

/// The code cache of one script, for the whole process.
pub(crate) struct CodeCache {
    bytes: Mutex<Option<Arc<[u8]>>>,
    offers: AtomicU32,
}

impl CodeCache {
    pub(crate) const fn new() -> Self {
        Self { bytes: Mutex::new(None), offers: AtomicU32::new(0) }
    }

    /// What there is so far.
    pub(crate) fn get(&self) -> Option<Arc<[u8]>> {
        self.bytes.lock().clone()
    }

    /// Whether another offer is welcome: making one is not free.
    pub(crate) fn wants_more(&self, experience: Experience) -> bool {
        match experience {
            Experience::Little => self.bytes.lock().is_none(),
            Experience::Whole => self.offers.load(Relaxed) < OFFERS_MAX,
        }
    }

    /// Keeps `data` if it is more than there is.
    pub(crate) fn offer(&self, data: &[u8], experience: Experience) {
        if experience == Experience::Whole {
            self.offers.fetch_add(1, Relaxed);
        }
        let mut bytes = self.bytes.lock();
        if bytes.as_ref().is_none_or(|known| known.len() < data.len()) {
            *bytes = Some(Arc::from(data));
        }
    }
}
