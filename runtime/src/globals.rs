//! What the global object of a new context gets, and what the APIs there need from the isolate.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use crate::api::{self, Host, TimerId, Uncaught};
use crate::channel::{ConsoleLevel, ConsoleSink};
use crate::compat::Flag;
use crate::isolate::state::IsolateState;
use crate::limits::aside::Aside;
use crate::rpc::glue;

/// Prepares a new context before any program is known.
pub(crate) fn install(scope: &mut v8::PinScope<'_, '_>, context: v8::Local<'_, v8::Context>) {
    let host: Rc<dyn Host> = IsolateState::of(scope);
    scope.set_slot(host);
    if let Err(error) = api::install(scope, context) {
        // Only a heap too small for an empty context does this; the program finds no APIs and says so.
        tracing::error!(%error, "a new isolate has no APIs");
    }
    // Every Worker needs these two: prepared here, their cost is paid in the pool and not by a request.
    glue::prepare(scope);
}

impl Host for IsolateState {
    fn now_ms(&self) -> f64 {
        Self::now_ms(self)
    }

    fn in_invocation(&self) -> bool {
        !self.in_global_scope()
    }

    fn invocation(&self) -> Option<u64> {
        Some(self.current()?.id)
    }

    fn has_flag(&self, flag: Flag) -> bool {
        Self::has_flag(self, flag)
    }

    fn console(&self) -> Option<Arc<dyn ConsoleSink>> {
        self.worker.borrow().as_ref()?.channels.console.clone()
    }

    fn charge_memory(&self, bytes: i64) {
        self.memory.charge(bytes);
    }

    fn count_memory(
        &self,
        scope: &mut v8::PinScope<'_, '_>,
        memory: v8::Local<'_, v8::Object>,
        bytes: v8::SharedRef<v8::BackingStore>,
    ) {
        self.growing.add(scope, memory, bytes);
        self.look_at_memory(scope);
    }

    fn count_clone(
        &self,
        scope: &mut v8::PinScope<'_, '_>,
        buffer: v8::Local<'_, v8::Object>,
        bytes: &v8::SharedRef<v8::BackingStore>,
    ) {
        if self.growing.has(bytes) {
            self.growing.add(scope, buffer, bytes.clone());
        }
    }

    fn log(&self, format: &mut dyn FnMut()) {
        self.aside(Aside::Logging, format);
    }

    fn start_timer(&self, delay_ms: f64, callback: v8::Global<v8::Function>) -> Option<TimerId> {
        let invocation = self.current()?;
        let id = self.timers.borrow_mut().set(&invocation, Instant::now(), self.now_ms(), delay_ms, callback)?;
        Some(TimerId(u64::from(id)))
    }

    fn timers_fired(&self) -> u64 {
        self.current().map_or(0, |invocation| invocation.timers_fired())
    }

    fn cancel_timer(&self, id: TimerId) {
        if let Ok(id) = u32::try_from(id.0) {
            self.timers.borrow_mut().clear(id);
        }
    }

    fn report_exception(&self, scope: &mut v8::PinScope<'_, '_>, exception: v8::Local<'_, v8::Value>, how: Uncaught) {
        if how != Uncaught::InPromise {
            api::trace_exception(scope, exception);
        }
        let Some(sink) = Host::console(self) else { return };
        let stack = v8::Local::<v8::Object>::try_from(exception).ok().and_then(|object| {
            let name = v8::String::new(scope, "stack")?;
            // Own data only: nothing of the program may run here.
            object.get_real_named_property(scope, name.into()).filter(|stack| stack.is_string())
        });
        let text = stack.unwrap_or(exception).to_rust_string_lossy(scope);
        let text = match how {
            Uncaught::Thrown | Uncaught::Reported => format!("Uncaught {text}"),
            Uncaught::InPromise => format!("Uncaught (in promise) {text}"),
        };
        sink.line(ConsoleLevel::Error, &text);
    }
}
