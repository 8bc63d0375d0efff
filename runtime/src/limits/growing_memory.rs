//! WebAssembly memories and growable shared buffers of an isolate. They grow past every allocator, so they are looked at:
//! when one is made, at the end of each turn, after collections, and every few milliseconds of a turn.

use std::cell::{Cell, RefCell};

/// What a live memory holds at least as far as counting goes: it takes a place in the address space even when empty.
const BYTES_MIN: usize = 64 << 10;

/// The memories of one isolate, on its thread.
#[derive(Default)]
pub(crate) struct GrowingMemories {
    all: RefCell<Vec<Memory>>,
    /// What V8 was told that they hold.
    told: Cell<usize>,
}

struct Memory {
    /// Empty once V8 has collected the memory; then only we hold its bytes.
    object: v8::Weak<v8::Object>,
    bytes: v8::SharedRef<v8::BackingStore>,
}

impl GrowingMemories {
    /// Notes a memory and the bytes behind its buffer, which stay the same ones when it grows.
    pub(crate) fn add(
        &self,
        scope: &mut v8::PinScope<'_, '_>,
        object: v8::Local<'_, v8::Object>,
        bytes: v8::SharedRef<v8::BackingStore>,
    ) {
        self.all.borrow_mut().push(Memory { object: v8::Weak::new(scope, object), bytes });
    }

    /// Whether these bytes are those of one that is noted.
    pub(crate) fn has(&self, bytes: &v8::BackingStore) -> bool {
        self.all.borrow().iter().any(|memory| memory.bytes.data() == bytes.data())
    }

    /// How many bytes the live ones hold. Those that are collected give theirs back.
    pub(crate) fn bytes(&self) -> usize {
        let Ok(mut memories) = self.all.try_borrow_mut() else { return 0 };
        memories.retain(|memory| !memory.object.is_empty());
        // Several buffers may be over the same bytes.
        let mut known: Vec<_> =
            memories.iter().map(|memory| (memory.bytes.data(), memory.bytes.byte_length())).collect();
        known.sort_unstable();
        known.dedup_by_key(|(data, _)| *data);
        known.iter().map(|(_, length)| (*length).max(BYTES_MIN)).fold(0, usize::saturating_add)
    }

    /// Tells V8 how many bytes there are, so that it collects before there is too much of it. Not in a collection.
    pub(crate) fn tell(&self, isolate: &mut v8::Isolate, bytes: usize) {
        let signed = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        let change = signed(bytes) - signed(self.told.replace(bytes));
        if change != 0 {
            isolate.adjust_amount_of_external_allocated_memory(change);
        }
    }

    /// What V8 accounts for beside its heap, without what it was told here.
    pub(crate) fn external_bytes(&self, isolate: &mut v8::Isolate) -> usize {
        // A change by nothing is how to ask.
        let all = usize::try_from(isolate.adjust_amount_of_external_allocated_memory(0)).unwrap_or(0);
        all.saturating_sub(self.told.get())
    }

    /// Forgets all, before the heap goes.
    pub(crate) fn clear(&self) {
        self.all.borrow_mut().clear();
    }
}
