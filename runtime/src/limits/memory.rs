//! One memory limit over the V8 heap, ArrayBuffers and WebAssembly memory together.
//!
//! Buffers are counted where they are allocated, and what our own libraries hold where they say so. The heap is read from
//! V8 after each garbage collection. The rest is looked at: WebAssembly memories (see `growing_memory`), and what else V8
//! accounts for beside its heap, such as resizable buffers, which grow past every allocator.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};

use crate::guard::{Callback, contain};

/// V8 retries a refused allocation after garbage collections; the last of these attempts in a row means that
/// collecting did not help.
const REFUSALS_IN_A_ROW_MAX: u32 = 4;

/// What V8 may have beside the heap that its limit is about: objects too young to have been collected once.
const YOUNG_BYTES_MAX: usize = 64 << 20;

/// What one isolate uses, against its limit.
pub(crate) struct MemoryMeter {
    limit_bytes: usize,
    buffer_bytes: AtomicUsize,
    /// What the platform's own libraries hold for the program.
    library_bytes: AtomicUsize,
    /// V8's heap after the last collection.
    heap_bytes: AtomicUsize,
    /// What V8 accounted for beside its heap when it was last looked at, without buffers and what follows.
    other_bytes: AtomicUsize,
    /// WebAssembly memories and growable shared buffers, as they were last looked at.
    growing_bytes: AtomicUsize,
    refusals: AtomicU32,
    exceeded: AtomicBool,
    on_exceeded: Box<dyn Fn() + Send + Sync>,
}

impl MemoryMeter {
    /// `on_exceeded` runs once, on the isolate's thread or (for buffers) whichever allocates; it must not call V8
    /// other than to terminate.
    pub(crate) fn new(limit_bytes: usize, on_exceeded: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            limit_bytes,
            buffer_bytes: AtomicUsize::new(0),
            library_bytes: AtomicUsize::new(0),
            heap_bytes: AtomicUsize::new(0),
            other_bytes: AtomicUsize::new(0),
            growing_bytes: AtomicUsize::new(0),
            refusals: AtomicU32::new(0),
            exceeded: AtomicBool::new(false),
            on_exceeded: Box::new(on_exceeded),
        })
    }

    /// Reports what a garbage collection has left of V8's heap, and what is beside it (as [`see_beside`](Self::see_beside)
    /// has it); flags when the sum is over the limit.
    pub(crate) fn see_collected(&self, heap: usize, external: usize, growing: usize) {
        self.heap_bytes.store(heap, Relaxed);
        if self.see_beside(external, growing) {
            self.flag();
        }
    }

    /// Reports what V8 accounts for beside its heap, buffers included, and the WebAssembly memories; whether the sum is over
    /// the limit. It may be garbage in part.
    pub(crate) fn see_beside(&self, external: usize, growing: usize) -> bool {
        self.other_bytes.store(external.saturating_sub(self.buffer_bytes.load(Relaxed)), Relaxed);
        self.growing_bytes.store(growing, Relaxed);
        self.over()
    }

    fn over(&self) -> bool {
        self.others().saturating_add(self.buffer_bytes.load(Relaxed)) > self.limit_bytes
    }

    /// Everything but buffers.
    fn others(&self) -> usize {
        let parts = [&self.heap_bytes, &self.other_bytes, &self.growing_bytes, &self.library_bytes];
        parts.iter().map(|part| part.load(Relaxed)).fold(0, usize::saturating_add)
    }

    /// Reports the V8 heap's size with its garbage, before an answer leaves. V8 keeps that within the limit by itself,
    /// but for one allocation so large that it has pages of its own; that one may be past it without a collection.
    pub(crate) fn see_uncollected_heap(&self, bytes: usize) {
        if bytes > self.limit_bytes.saturating_add(YOUNG_BYTES_MAX) {
            self.flag();
        }
    }

    /// The limit was passed.
    pub(crate) fn flag(&self) {
        if !self.exceeded.swap(true, Relaxed) {
            (self.on_exceeded)();
        }
    }

    fn admit(&self, bytes: usize) -> bool {
        let total = self.buffer_bytes.fetch_add(bytes, Relaxed).saturating_add(bytes);
        if total.saturating_add(self.others()) <= self.limit_bytes {
            self.refusals.store(0, Relaxed);
            return true;
        }
        self.buffer_bytes.fetch_sub(bytes, Relaxed);
        if self.refusals.fetch_add(1, Relaxed) + 1 >= REFUSALS_IN_A_ROW_MAX {
            self.flag();
        }
        false
    }

    /// Counts memory that the platform's own libraries allocated for the program, or its release. It is there already, so
    /// there is nothing to refuse: over the limit the isolate ends.
    pub(crate) fn charge(&self, bytes: i64) {
        let size = usize::try_from(bytes.unsigned_abs()).unwrap_or(usize::MAX);
        if bytes < 0 {
            self.library_bytes.fetch_sub(size, Relaxed);
            return;
        }
        self.library_bytes.fetch_add(size, Relaxed);
        if self.over() {
            self.flag();
        }
    }

    fn release(&self, bytes: usize) {
        self.buffer_bytes.fetch_sub(bytes, Relaxed);
    }
}

/// The allocator V8 uses for ArrayBuffers of an isolate metered by `meter`.
pub(crate) fn allocator(meter: &Arc<MemoryMeter>) -> v8::UniqueRef<v8::Allocator> {
    // SAFETY: the handle is an Arc reference given up here and taken back in `drop_handle`, which is when V8 has
    // destroyed the allocator; the functions below match what V8 expects of them.
    #[expect(clippy::disallowed_methods, reason = "each function below contains its panics")]
    unsafe {
        v8::new_rust_allocator(Arc::into_raw(meter.clone()), &VTABLE)
    }
}

static VTABLE: v8::RustAllocatorVtable<MemoryMeter> =
    v8::RustAllocatorVtable { allocate, allocate_uninitialized, free, drop: drop_handle };

/// Memory for an ArrayBuffer, zeroed; null when the meter refuses or the system has none.
///
/// # Safety
/// `meter` is the live allocator's. What is returned is given back by `free` with the same number of bytes, once.
unsafe extern "C" fn allocate(meter: &MemoryMeter, bytes: usize) -> *mut c_void {
    if contain(Callback::Allocate, || meter.admit(bytes)) != Some(true) {
        return std::ptr::null_mut();
    }
    // SAFETY: calloc with a non-zero size; null is passed on as a refusal.
    let data = unsafe { libc::calloc(bytes.max(1), 1) };
    if data.is_null() {
        meter.release(bytes);
    }
    data
}

/// The same, not zeroed: V8 fills it before a program sees it.
///
/// # Safety
/// As of `allocate`.
unsafe extern "C" fn allocate_uninitialized(meter: &MemoryMeter, bytes: usize) -> *mut c_void {
    if contain(Callback::Allocate, || meter.admit(bytes)) != Some(true) {
        return std::ptr::null_mut();
    }
    // SAFETY: malloc with a non-zero size; null is passed on as a refusal.
    let data = unsafe { libc::malloc(bytes.max(1)) };
    if data.is_null() {
        meter.release(bytes);
    }
    data
}

/// Takes memory back.
///
/// # Safety
/// `data` and `bytes` are those of one of the allocations above that has not been freed.
unsafe extern "C" fn free(meter: &MemoryMeter, data: *mut c_void, bytes: usize) {
    meter.release(bytes);
    // SAFETY: V8 frees exactly what the functions above allocated, once.
    unsafe { libc::free(data) };
}

/// Lets the meter go: the allocator is destroyed.
///
/// # Safety
/// `meter` is the handle that `allocator` gave up; called once, and nothing is allocated or freed afterwards.
unsafe extern "C" fn drop_handle(meter: *const MemoryMeter) {
    contain(Callback::Allocate, || {
        // SAFETY: the pointer came from Arc::into_raw in `allocator` and is given back once.
        drop(unsafe { Arc::from_raw(meter) });
    });
}
