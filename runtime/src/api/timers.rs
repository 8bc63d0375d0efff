//! The Rust half of timers, `performance` and `reportError`: what reaches the [`Host`](super::Host).

use super::args::{set_function, throw_dom_exception, throw_error};
use super::{TimerId, Uncaught, host};
use crate::isolate::timers::TIMERS_MAX;

/// What the platform says when a program does in global scope what only a handler may.
pub(crate) const GLOBAL_SCOPE_REFUSAL: &str = "Disallowed operation called within global scope. Asynchronous I/O \
     (ex: fetch() or connect()), setting a timeout, and generating random values are not allowed within global scope. \
     To fix this error, perform this operation within a handler. \
     https://developers.cloudflare.com/workers/runtime-apis/handlers/";

/// Throws the refusal and answers `false` outside an invocation.
pub(super) fn require_invocation(scope: &mut v8::PinScope<'_, '_>) -> bool {
    let allowed = host(scope).is_some_and(|host| host.in_invocation());
    if !allowed {
        throw_error(scope, GLOBAL_SCOPE_REFUSAL);
    }
    allowed
}

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    super::async_context::install(scope, target)?;
    set_function(scope, target, "start", start)?;
    set_function(scope, target, "cancel", cancel)?;
    set_function(scope, target, "report", report_thrown)?;
    set_function(scope, target, "enqueue", enqueue)
}

pub(super) fn install_clock(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "now", now)?;
    set_function(scope, target, "inInvocation", in_invocation)
}

/// `inInvocation()`: false in global scope.
fn in_invocation(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    result.set_bool(host(scope).is_some_and(|host| host.in_invocation()));
}

pub(super) fn install_errors(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "describe", describe)?;
    set_function(scope, target, "report", report)
}

/// `start(milliseconds, callback) → timer`.
fn start(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    if !require_invocation(scope) {
        return;
    }
    let Some(delay_ms) = args.get(0).number_value(scope) else { return };
    let Ok(callback) = v8::Local::<v8::Function>::try_from(args.get(1)) else { return };
    let callback = v8::Global::new(scope, callback);
    match host(scope).and_then(|host| host.start_timer(delay_ms, callback)) {
        // Ids are counted up from one, so they stay exact as doubles.
        Some(id) => result.set_double(id.0 as f64),
        None => {
            let fired = host(scope).map_or(0, |host| host.timers_fired());
            let message = format!(
                "You have exceeded the number of active timeouts you may set. max active timeouts: {TIMERS_MAX}, \
                 current active timeouts: {TIMERS_MAX}, finished timeouts: {fired}"
            );
            throw_dom_exception(scope, "QuotaExceededError", &message);
        }
    }
}

/// `cancel(timer)`.
fn cancel(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_, v8::Value>,
) {
    if let Some(id) = args.get(0).integer_value(scope)
        && let Ok(id) = u64::try_from(id)
        && let Some(host) = host(scope)
    {
        host.cancel_timer(TimerId(id));
    }
}

/// `enqueue(callback)`: a microtask.
fn enqueue(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_, v8::Value>,
) {
    if let Ok(callback) = v8::Local::<v8::Function>::try_from(args.get(0)) {
        scope.enqueue_microtask(callback);
    }
}

/// `now() → milliseconds since the epoch`.
fn now(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    if let Some(host) = host(scope) {
        result.set_double(host.now_ms());
    }
}

/// For rooms that call the program's event handlers themselves: `describe` and `report`, of what a handler threw.
pub(super) fn install_handler_errors(
    scope: &mut v8::PinScope<'_, '_>,
    target: v8::Local<'_, v8::Object>,
) -> Option<()> {
    set_function(scope, target, "describe", describe)?;
    set_function(scope, target, "inInvocation", in_invocation)?;
    set_function(scope, target, "report", report_thrown)
}

/// Frames looked at to find the program's among our own.
const FRAMES_MAX: usize = 16;

/// `describe(error) → {message, filename, lineno, colno}`, as V8 would report it uncaught. What is no error has no place
/// of its own: it gets that of the program's code which runs.
fn describe(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let description = v8::Object::new(scope);
    result.set(description.into());
    let message = v8::Exception::create_message(scope, args.get(0));
    let text = message.get(scope);
    let filename = message.get_script_resource_name(scope).unwrap_or_else(|| v8::undefined(scope).into());
    let (filename, line, column) = if args.get(0).is_native_error() {
        (filename, message.get_line_number(scope).unwrap_or(0), i64::try_from(message.get_start_column()).unwrap_or(0))
    } else {
        program_place(scope)
            .unwrap_or_else(|| (super::args::string(scope, "undefined").map_or(filename, Into::into), 0, -1))
    };
    let line = v8::Number::new(scope, line as f64);
    let column = v8::Number::new(scope, column as f64);
    for (name, value) in
        [("message", text.into()), ("filename", filename), ("lineno", line.into()), ("colno", column.into())]
    {
        if let Some(name) = v8::String::new(scope, name) {
            description.set(scope, name.into(), value);
        }
    }
}

/// The file, line (from 1) and column (from 0) at which the program runs, if it does.
fn program_place<'s>(scope: &mut v8::PinScope<'s, '_>) -> Option<(v8::Local<'s, v8::Value>, usize, i64)> {
    let frames = v8::StackTrace::current_stack_trace(scope, FRAMES_MAX)?;
    for index in 0..frames.get_frame_count() {
        let frame = frames.get_frame(scope, index)?;
        let name = frame.get_script_name(scope)?;
        if !name.to_rust_string_lossy(scope).starts_with(super::registry::SCRIPT_PREFIX) {
            let column = i64::try_from(frame.get_column()).unwrap_or(0);
            return Some((name.into(), frame.get_line_number(), column - 1));
        }
    }
    None
}

/// `report(error)`: the program says that nobody will catch it.
fn report(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_, v8::Value>,
) {
    if let Some(host) = host(scope) {
        host.report_exception(scope, args.get(0), Uncaught::Reported);
    }
}

/// `report(error)`: a timer's callback threw it.
fn report_thrown(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_, v8::Value>,
) {
    if let Some(host) = host(scope) {
        host.report_exception(scope, args.get(0), Uncaught::Thrown);
    }
}
