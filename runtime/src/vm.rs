//! The V8 isolate of one thread: created with our hooks, entered for a turn, disposed of in order.

use std::ffi::c_void;
use std::rc::Rc;
use std::sync::Arc;

use crate::isolate::IsolateConfig;
use crate::isolate::inbox::Shared;
use crate::isolate::state::IsolateState;
use crate::limits::Cause;
use crate::limits::memory::{MemoryMeter, allocator};
use crate::limits::watchdog;
use crate::modules::dynamic::{give_up_unsettled, import_dynamically, import_with_phase};
use crate::modules::link::import_meta;
use crate::rpc::state::RpcState;

/// Heap above its limit that V8 gets so that it can unwind instead of aborting the process; enough for one large
/// allocation (flattening a string copies it).
const HEAP_GRACE_BYTES: usize = 160 << 20;

/// An isolate, its one context, and the state its callbacks find.
pub(crate) struct Vm {
    pub(crate) state: Rc<IsolateState>,
    context: v8::Global<v8::Context>,
    isolate: v8::OwnedIsolate,
    platform: v8::SharedRef<v8::Platform>,
}

impl Vm {
    /// Creates the isolate on the calling thread, which it never leaves.
    pub(crate) fn new(config: &IsolateConfig, shared: &Arc<Shared>) -> Self {
        let flag = shared.clone();
        let memory = MemoryMeter::new(config.memory_bytes_max, move || {
            flag.end(Cause::ExceededMemory);
            watchdog::look();
        });
        let params = v8::CreateParams::default()
            .heap_limits(0, config.memory_bytes_max)
            .array_buffer_allocator(allocator(&memory))
            .allow_atomics_wait(false);
        let mut isolate = v8::Isolate::new(params);
        let state = IsolateState::new(shared.clone(), memory);
        isolate.set_slot(state.clone());
        let data = Rc::as_ptr(&state).cast_mut().cast::<c_void>();
        shared.set_v8(isolate.thread_safe_handle());
        isolate.set_microtasks_policy(v8::MicrotasksPolicy::Explicit);
        isolate.set_oom_error_handler(crate::fatal::out_of_memory);
        isolate.add_near_heap_limit_callback(near_heap_limit, data);
        isolate.add_gc_epilogue_callback(after_gc, data, v8::GCType::kGCTypeMarkSweepCompact);
        isolate.set_host_import_module_dynamically_callback(import_dynamically);
        isolate.set_host_import_module_with_phase_dynamically_callback(import_with_phase);
        isolate.set_host_initialize_import_meta_object_callback(import_meta);
        isolate.set_allow_wasm_code_generation_callback(refuse_wasm_from_bytes);
        let context = {
            v8::scope!(let scope, &mut isolate);
            let context = v8::Context::new(scope, v8::ContextOptions::default());
            context.set_allow_generation_from_strings(false);
            let scope = &mut v8::ContextScope::new(scope, context);
            crate::globals::install(scope, context);
            v8::Global::new(scope, context)
        };
        Self { state, context, isolate, platform: v8::V8::get_current_platform() }
    }

    /// The isolate's state of JS RPC.
    pub(crate) fn rpc(&mut self) -> Rc<RpcState> {
        RpcState::of(&mut self.isolate)
    }

    /// Runs `work` in the context, then microtasks and V8's own tasks (at most `v8_tasks_max`).
    pub(crate) fn turn(&mut self, v8_tasks_max: usize, work: impl for<'s, 'i> FnOnce(&mut v8::PinScope<'s, 'i>)) {
        {
            v8::scope!(let scope, &mut self.isolate);
            let context = v8::Local::new(scope, &self.context);
            let scope = &mut v8::ContextScope::new(scope, context);
            v8::tc_scope!(let scope, scope);
            crate::api::begin_turn(scope, self.state.current().map(|invocation| invocation.id));
            work(scope);
            // Errors were dealt with where they were thrown; one that got here must not reach the next turn.
            scope.reset();
            // Once the isolate is being ended, nothing of the program runs any more: what is queued is dropped.
            let going_on = || self.state.shared.cause().is_none();
            if going_on() {
                if self.state.take_aborted() {
                    // What it left in the queue is not to run: V8 drops the queue of an execution that it terminates.
                    scope.terminate_execution();
                }
                scope.perform_microtask_checkpoint();
                while going_on() && give_up_unsettled(scope) {
                    scope.perform_microtask_checkpoint();
                }
                self.state.take_aborted();
                if going_on() {
                    scope.cancel_terminate_execution();
                }
                crate::api::tell_rejections(scope);
            }
            for _ in 0..v8_tasks_max {
                if !going_on() || !v8::Platform::pump_message_loop(&self.platform, scope, false) {
                    break;
                }
                if going_on() {
                    scope.perform_microtask_checkpoint();
                    if self.state.take_aborted() && going_on() {
                        scope.cancel_terminate_execution();
                    }
                    crate::api::tell_rejections(scope);
                }
            }
        }
        self.state.look_at_wasm_memory(&mut self.isolate);
        if self.state.shared.cause().is_none() {
            // An object kept alive by WeakRef.deref() stays so until the turn ends.
            self.isolate.clear_kept_objects();
        }
    }

    /// Drops every handle into the heap before the heap goes. What it compiled of our own scripts is left to the next
    /// isolates.
    pub(crate) fn dispose(mut self) {
        self.isolate.cancel_terminate_execution();
        {
            v8::scope!(let scope, &mut self.isolate);
            let context = v8::Local::new(scope, &self.context);
            let scope = &mut v8::ContextScope::new(scope, context);
            let experience = self.state.experience();
            crate::api::offer_caches(scope, experience);
            crate::modules::code_cache::offer_all(scope, &self.state, experience);
        }
        let Self { state, context, isolate, platform } = self;
        drop(context);
        state.clear();
        // Tasks of V8's own that never ran belong to this isolate and go with it.
        drop(isolate);
        drop(platform);
        drop(state);
    }
}

/// Runs inside a garbage collection: flags, ends, and returns a larger limit, without which V8 aborts the process.
///
/// # Safety
/// `data` is the pointer it was registered with, and the isolate's state lives.
unsafe extern "C" fn near_heap_limit(data: *mut c_void, current: usize, initial: usize) -> usize {
    // SAFETY: `data` is the isolate's state, which outlives the isolate (see `Vm::dispose`).
    let state = unsafe { &*data.cast::<IsolateState>() };
    state.memory.flag();
    current.max(initial).saturating_add(HEAP_GRACE_BYTES)
}

/// Runs at the end of a garbage collection: tells the meter what is left.
///
/// # Safety
/// V8 calls it on the isolate's thread with the live isolate; `data` is the pointer it was registered with.
unsafe extern "C" fn after_gc(
    isolate: v8::UnsafeRawIsolatePtr,
    _kind: v8::GCType,
    _flags: v8::GCCallbackFlags,
    data: *mut c_void,
) {
    // SAFETY: V8 calls this on the isolate's thread with the live isolate it collects.
    let mut isolate = unsafe { v8::Isolate::from_raw_isolate_ptr(isolate) };
    // SAFETY: `data` is the isolate's state, which outlives the isolate (see `Vm::dispose`).
    let state = unsafe { &*data.cast::<IsolateState>() };
    // First, since what was collected must not count against what is left.
    state.memory.set_wasm_bytes(state.wasm.bytes());
    state.memory.set_heap_bytes(heap_bytes(&mut isolate, state));
}

/// Runs at a point where the program's thread can be interrupted, because the watchdog asked for it.
///
/// # Safety
/// V8 calls it on the isolate's thread with the live isolate; it must not be called otherwise.
pub(crate) unsafe extern "C" fn look_at_memory(isolate: v8::UnsafeRawIsolatePtr, _data: *mut c_void) {
    // SAFETY: see above.
    let mut isolate = unsafe { v8::Isolate::from_raw_isolate_ptr(isolate) };
    let state = IsolateState::of(&isolate);
    state.shared.memory_looked_at();
    state.look_at_wasm_memory(&mut isolate);
}

/// V8's heap, and the memory V8 accounts for beside it that is not counted elsewhere.
fn heap_bytes(isolate: &mut v8::Isolate, state: &IsolateState) -> usize {
    let statistics = isolate.get_heap_statistics();
    let counted = state.memory.buffer_bytes().saturating_add(state.wasm.told());
    let external = statistics.external_memory().saturating_sub(counted);
    statistics.used_heap_size().saturating_add(external)
}

/// No WebAssembly from bytes.
///
/// # Safety
/// None of it: it looks at nothing. V8 wants the signature.
unsafe extern "C" fn refuse_wasm_from_bytes(_context: v8::Local<v8::Context>, _source: v8::Local<v8::String>) -> bool {
    false
}
