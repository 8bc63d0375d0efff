//! The asynchronous context: the value that V8 carries from where a promise reaction is registered to where it runs.
//!
//! It is an object without prototype that is never changed, from symbols (one for each `AsyncLocalStorage`, and those
//! of `cloudflare:workers`, by their names) to values, or `undefined` where nothing was set. The turn loop starts each turn without one.

use super::args::set_function;
use super::host;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "frame", frame)?;
    set_function(scope, native, "setFrame", set_frame)
}

pub(super) fn install_hooks(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    install(scope, native)?;
    set_function(scope, native, "invocation", invocation)
}

/// `frame()`: the context that JavaScript now runs in.
fn frame(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    result.set(scope.get_continuation_preserved_embedder_data());
}

/// `setFrame(context)`: what runs from now on, and reactions registered from now on, run in it.
fn set_frame(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_, v8::Value>,
) {
    scope.set_continuation_preserved_embedder_data(args.get(0));
}

/// `invocation() → id`, `undefined` outside one.
fn invocation(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    if let Some(id) = host(scope).and_then(|host| host.invocation()) {
        // Ids are counted up from one, so they stay exact as doubles.
        result.set_double(id as f64);
    }
}
