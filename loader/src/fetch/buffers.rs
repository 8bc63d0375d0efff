//! Memory of messages that carry much of a body, used again: to touch new pages costs more than to copy into them.

use bytes::Bytes;
use parking_lot::Mutex;

/// Messages at least this long are written to memory that is kept.
const WORTH_KEEPING_BYTES: usize = 64 << 10;

/// Buffers that are kept for later; each is as long as the longest message that came through it.
const KEPT_MAX: usize = 8;

/// The longest buffer that is kept.
const KEPT_BYTES_MAX: usize = 2 << 20;

static KEPT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// An empty buffer for a message of about so many bytes.
pub(super) fn take(bytes: usize) -> Vec<u8> {
    if bytes < WORTH_KEEPING_BYTES {
        return Vec::new();
    }
    KEPT.lock().pop().unwrap_or_default()
}

/// What was written to such a buffer. When nobody holds it any more, its memory is kept.
pub(super) fn filled(buffer: Vec<u8>) -> Bytes {
    if (WORTH_KEEPING_BYTES..=KEPT_BYTES_MAX).contains(&buffer.capacity()) {
        Bytes::from_owner(Filled(buffer))
    } else {
        Bytes::from(buffer)
    }
}

struct Filled(Vec<u8>);

impl AsRef<[u8]> for Filled {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Filled {
    fn drop(&mut self) {
        let mut kept = KEPT.lock();
        if kept.len() < KEPT_MAX {
            let mut buffer = std::mem::take(&mut self.0);
            buffer.clear();
            kept.push(buffer);
        }
    }
}
