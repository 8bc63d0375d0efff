//! One memory limit over the V8 heap, ArrayBuffers and WebAssembly memory together.
//!
//! Buffers are counted where they are allocated; the heap is read from V8 after each garbage collection, and
//! WebAssembly memories are looked at (see `wasm_memory`).

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
    /// Last known V8 heap plus other memory V8 accounts for.
    heap_bytes: AtomicUsize,
    /// WebAssembly memories, as they were last looked at.
    wasm_bytes: AtomicUsize,
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
            heap_bytes: AtomicUsize::new(0),
            wasm_bytes: AtomicUsize::new(0),
            refusals: AtomicU32::new(0),
            exceeded: AtomicBool::new(false),
            on_exceeded: Box::new(on_exceeded),
        })
    }

    /// Reports the V8 heap's size; flags when the sum is over the limit.
    pub(crate) fn set_heap_bytes(&self, bytes: usize) {
        self.heap_bytes.store(bytes, Relaxed);
        if self.over() {
            self.flag();
        }
    }

    /// Reports the size of all WebAssembly memories; whether the sum is over the limit.
    pub(crate) fn set_wasm_bytes(&self, bytes: usize) -> bool {
        self.wasm_bytes.store(bytes, Relaxed);
        self.over()
    }

    fn over(&self) -> bool {
        let others = self.heap_bytes.load(Relaxed).saturating_add(self.wasm_bytes.load(Relaxed));
        others.saturating_add(self.buffer_bytes.load(Relaxed)) > self.limit_bytes
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

    /// Bytes of live ArrayBuffers.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.buffer_bytes.load(Relaxed)
    }

    fn admit(&self, bytes: usize) -> bool {
        let total = self.buffer_bytes.fetch_add(bytes, Relaxed).saturating_add(bytes);
        let others = self.heap_bytes.load(Relaxed).saturating_add(self.wasm_bytes.load(Relaxed));
        if total.saturating_add(others) <= self.limit_bytes {
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
            return self.release(size);
        }
        self.buffer_bytes.fetch_add(size, Relaxed);
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
