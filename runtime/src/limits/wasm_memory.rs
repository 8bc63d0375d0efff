//! WebAssembly memories of an isolate. Instructions grow them past every allocator, so they are looked at: when one is
//! made, at the end of each turn, after collections, and every few milliseconds of a turn.

use std::cell::{Cell, RefCell};

/// What a live memory holds at least as far as counting goes: it takes a place in the address space even when empty.
const BYTES_MIN: usize = 64 << 10;

/// The memories of one isolate, on its thread.
#[derive(Default)]
pub(crate) struct WasmMemories {
    all: RefCell<Vec<Memory>>,
    /// What V8 was told that they hold.
    told: Cell<usize>,
}

struct Memory {
    /// Empty once V8 has collected the memory; then only we hold its bytes.
    object: v8::Weak<v8::Object>,
    bytes: v8::SharedRef<v8::BackingStore>,
}

impl WasmMemories {
    /// Notes a memory and the bytes behind its buffer, which stay the same ones when it grows.
    pub(crate) fn add(
        &self,
        scope: &mut v8::PinScope<'_, '_>,
        object: v8::Local<'_, v8::Object>,
        bytes: v8::SharedRef<v8::BackingStore>,
    ) {
        self.all.borrow_mut().push(Memory { object: v8::Weak::new(scope, object), bytes });
    }

    /// How many bytes the live ones hold. Those that are collected give theirs back.
    pub(crate) fn bytes(&self) -> usize {
        let Ok(mut memories) = self.all.try_borrow_mut() else { return 0 };
        memories.retain(|memory| !memory.object.is_empty());
        memories.iter().map(|memory| memory.bytes.byte_length().max(BYTES_MIN)).fold(0, usize::saturating_add)
    }

    /// Tells V8 how many bytes there are, so that it collects before there is too much of it. Not in a collection.
    pub(crate) fn tell(&self, isolate: &mut v8::Isolate, bytes: usize) {
        let signed = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        isolate.adjust_amount_of_external_allocated_memory(signed(bytes) - signed(self.told.replace(bytes)));
    }

    /// How many bytes V8 accounts for because it was told of them.
    pub(crate) fn told(&self) -> usize {
        self.told.get()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.try_borrow().is_ok_and(|memories| memories.is_empty())
    }

    /// Forgets all, before the heap goes.
    pub(crate) fn clear(&self) {
        self.all.borrow_mut().clear();
    }
}
