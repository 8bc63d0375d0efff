//! The Web and Workers APIs a program finds on `globalThis`, one room for each.
//!
//! A room is a Rust half (`api/NAME.rs`: what moves or parses bytes, or reaches the [`Host`]) and a JavaScript half
//! (`js/NAME.js`: what its specification writes in JavaScript's terms). [`install`] puts every global in place but
//! compiles nothing: each is a *lazy data property* whose room is compiled, from a code cache shared by the whole
//! process, when the program first touches it. Creating an isolate therefore costs the same however many APIs exist.
//!
//! Everything here runs on the isolate's thread. Nothing here blocks.

pub(crate) mod args;
mod async_context;
mod base64;
mod body_brotli;
mod buffer;
mod charge;
mod compat;
mod compression;
mod console;
mod crypto;
mod date;
mod date_format;
mod durable_objects;
mod encoding;
mod fetch;
mod form_data;
mod html_rewriter;
mod imports;
mod inspect;
mod registry;
pub(crate) mod rejections;
mod resources;
mod rooms;
mod rpc;
mod rpc_signal;
mod rpc_values;
pub(crate) mod stack_traces;
mod structured_clone;
mod timers;
pub(crate) mod tracing;
mod unsafe_eval;
mod url;
mod url_pattern;
mod web_assembly;
mod websocket;
mod worker_loader;
mod workers;

use std::rc::Rc;
use std::sync::Arc;

use crate::channel::ConsoleSink;
use crate::compat::Flag;

pub(crate) use self::async_context::begin_turn;
pub use self::registry::{InstallError, install, settle_flagged};
pub(crate) use self::registry::{SCRIPT_PREFIX, object_prototype, offer_caches};
/// Tells the program's listeners, then the host, of promises rejected without a handler. The turn loop calls it after each
/// microtask checkpoint.
pub use self::rejections::tell as tell_rejections;
pub use self::structured_clone::is_dom_exception;
pub(crate) use self::timers::GLOBAL_SCOPE_REFUSAL;
pub(crate) use self::tracing::exception as trace_exception;

/// What the rooms need from the isolate they run in. The turn loop implements it and keeps it as an
/// `Rc<dyn Host>` in an isolate slot (`isolate.set_slot::<Rc<dyn Host>>(…)`) before [`install`].
pub trait Host {
    /// Milliseconds since the Unix epoch, frozen while a turn runs.
    fn now_ms(&self) -> f64;

    /// Whether an invocation is being handled. `false` while modules are evaluated (global scope), where timers,
    /// random values and I/O are refused.
    fn in_invocation(&self) -> bool;

    /// Identifies the invocation that is being handled among all of this isolate; `None` in global scope.
    fn invocation(&self) -> Option<u64>;

    /// Whether the Worker asked for a behaviour; none is, before its code is there.
    fn has_flag(&self, flag: Flag) -> bool;

    /// Where console lines go; `None` discards them.
    fn console(&self) -> Option<Arc<dyn ConsoleSink>>;

    /// Calls `format`, whose CPU time is for formatting what is logged and has a budget of its own.
    fn log(&self, format: &mut dyn FnMut());

    /// Calls `callback` without arguments in a turn of its own, as part of the current invocation, once `delay_ms`
    /// (finite, not negative) have passed. `None` when the isolate holds too many timers, or outside an invocation.
    fn start_timer(&self, delay_ms: f64, callback: v8::Global<v8::Function>) -> Option<TimerId>;

    /// How many timers of the current invocation have fired.
    fn timers_fired(&self) -> u64 {
        0
    }

    /// Forgets a timer. One that has fired, or never existed, is ignored.
    fn cancel_timer(&self, id: TimerId);

    /// The program took, or gave back, memory that neither V8's heap nor an allocator shows, in bytes.
    fn charge_memory(&self, bytes: i64);

    /// The program has a further buffer over these bytes, which may be those of a memory that is counted: they live as long as
    /// either does.
    fn count_clone(
        &self,
        scope: &mut v8::PinScope<'_, '_>,
        buffer: v8::Local<'_, v8::Object>,
        bytes: &v8::SharedRef<v8::BackingStore>,
    );

    /// The program made a WebAssembly memory or a growable shared buffer, which has these bytes. Nothing else shows them, nor
    /// how they grow.
    fn count_memory(
        &self,
        scope: &mut v8::PinScope<'_, '_>,
        memory: v8::Local<'_, v8::Object>,
        bytes: v8::SharedRef<v8::BackingStore>,
    );

    /// An exception that no JavaScript will catch.
    fn report_exception(&self, scope: &mut v8::PinScope<'_, '_>, exception: v8::Local<'_, v8::Value>, how: Uncaught);
}

/// How an exception came to be nobody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncaught {
    /// A callback the platform called threw it: a timer's, for one.
    Thrown,
    /// A promise was rejected with it and had no handler when its turn's microtasks were done.
    InPromise,
    /// The program gave it to `reportError`.
    Reported,
}

/// Names one pending timer within its isolate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimerId(pub u64);

/// The host of this isolate, when one was set.
fn host(scope: &v8::Isolate) -> Option<Rc<dyn Host>> {
    scope.get_slot::<Rc<dyn Host>>().cloned()
}

/// A `DOMException` with the given name, for Rust code that throws one. `None` when JavaScript cannot run (the
/// isolate is being terminated, or its stack is exhausted); an exception is then pending.
pub fn dom_exception<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    name: &str,
    message: &str,
) -> Option<v8::Local<'s, v8::Value>> {
    let class = registry::export(scope, "dom_exception", "DOMException")?;
    let class = v8::Local::<v8::Function>::try_from(class).ok()?;
    let message = v8::String::new(scope, message)?;
    let name = v8::String::new(scope, name)?;
    Some(class.new_instance(scope, &[message.into(), name.into()])?.into())
}

/// What one room exports, for other parts of the runtime that build on it. Compiles the room when needed.
/// `None` as for [`dom_exception`].
pub fn export<'s>(scope: &mut v8::PinScope<'s, '_>, room: &str, name: &str) -> Option<v8::Local<'s, v8::Value>> {
    registry::export(scope, room, name)
}
