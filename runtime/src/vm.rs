//! The V8 isolate of one thread: created with our hooks, entered for a turn, disposed of in order.

use std::rc::Rc;
use std::sync::Arc;

use crate::guard::{self, callbacks};
use crate::isolate::IsolateConfig;
use crate::isolate::inbox::Shared;
use crate::isolate::state::IsolateState;
use crate::limits::Cause;
use crate::limits::memory::{MemoryMeter, allocator};
use crate::modules::dynamic::give_up_unsettled;
use crate::rpc::state::RpcState;

/// Heap above its limit that V8 gets so that it can unwind instead of aborting the process; enough for one large
/// allocation (flattening a string copies it).
const HEAP_GRACE_BYTES: usize = 160 << 20;

/// An isolate, its one context, and the state its callbacks find.
pub(crate) struct Vm {
    // Dropped in this order where a turn panics: V8's callbacks point to the state.
    context: v8::Global<v8::Context>,
    isolate: v8::OwnedIsolate,
    platform: v8::SharedRef<v8::Platform>,
    pub(crate) state: Rc<IsolateState>,
}

impl Vm {
    /// Creates the isolate on the calling thread, which it never leaves.
    pub(crate) fn new(config: &IsolateConfig, shared: &Arc<Shared>) -> Self {
        let flag = shared.clone();
        let memory = MemoryMeter::new(config.memory_bytes_max, move || flag.end(Cause::ExceededMemory));
        let params = v8::CreateParams::default()
            .heap_limits(0, config.memory_bytes_max)
            .array_buffer_allocator(allocator(&memory))
            .allow_atomics_wait(false);
        let mut isolate = v8::Isolate::new(params);
        let state = IsolateState::new(shared.clone(), memory);
        isolate.set_slot(state.clone());
        shared.set_v8(isolate.thread_safe_handle());
        isolate.set_microtasks_policy(v8::MicrotasksPolicy::Explicit);
        callbacks::listen(&mut isolate, &state);
        let context = {
            v8::scope!(let scope, &mut isolate);
            let context = v8::Context::new(scope, v8::ContextOptions::default());
            context.set_allow_generation_from_strings(false);
            let scope = &mut v8::ContextScope::new(scope, context);
            crate::globals::install(scope, context);
            v8::Global::new(scope, context)
        };
        Self { context, isolate, platform: v8::V8::get_current_platform(), state }
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
        self.state.look_at_memory(&mut self.isolate);
        if self.state.shared.cause().is_none() {
            // An object kept alive by WeakRef.deref() stays so until the turn ends.
            self.isolate.clear_kept_objects();
        }
    }

    /// Drops every handle into the heap before the heap goes. What it compiled of our own scripts is left to the next
    /// isolates.
    pub(crate) fn dispose(mut self) {
        self.isolate.cancel_terminate_execution();
        // Nothing of an isolate in which we panicked is worth keeping.
        if !guard::has_panicked() {
            v8::scope!(let scope, &mut self.isolate);
            let context = v8::Local::new(scope, &self.context);
            let scope = &mut v8::ContextScope::new(scope, context);
            let experience = self.state.experience();
            crate::api::offer_caches(scope, experience);
            crate::modules::code_cache::offer_all(scope, &self.state, experience);
            crate::modules::ahead::note_latest(&self.state);
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

/// The heap is all but full, within a garbage collection: ends the isolate.
pub(crate) fn near_heap_limit(state: &IsolateState) {
    state.memory.flag();
}

/// What V8 is given then, without which it aborts the process.
pub(crate) fn raised_heap_limit(current: usize, initial: usize) -> usize {
    current.max(initial).saturating_add(HEAP_GRACE_BYTES)
}

/// A garbage collection is over: tells the meter what is left.
pub(crate) fn collected(isolate: &mut v8::Isolate, state: &IsolateState) {
    // Within a collection V8 is told nothing.
    let (external, growing) = (state.growing.external_bytes(isolate), state.growing.bytes());
    state.memory.see_collected(isolate.get_heap_statistics().used_heap_size(), external, growing);
}

/// The watchdog asked for a look, at a point where the program's thread can be interrupted.
pub(crate) fn look_at_memory(isolate: &mut v8::Isolate) {
    let state = IsolateState::of(isolate);
    state.shared.memory_looked_at();
    state.look_at_memory(isolate);
}
