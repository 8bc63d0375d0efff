//! Memory of the rooms' own, against the isolate's limit.

use std::rc::Rc;

use super::Host;

/// Bytes that V8 does not see, and that are counted against the isolate's memory limit until dropped.
pub(super) struct Charge {
    host: Rc<dyn Host>,
    bytes: usize,
}

impl Charge {
    pub(super) fn new(host: Rc<dyn Host>, bytes: usize) -> Self {
        let mut charge = Self { host, bytes: 0 };
        charge.set(bytes);
        charge
    }

    pub(super) fn set(&mut self, bytes: usize) {
        let difference = i64::try_from(bytes).unwrap_or(i64::MAX) - i64::try_from(self.bytes).unwrap_or(i64::MAX);
        if difference != 0 {
            self.host.charge_memory(difference);
            self.bytes = bytes;
        }
    }

    pub(super) fn add(&mut self, bytes: usize) {
        self.set(self.bytes.saturating_add(bytes));
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.set(0);
    }
}
