//! The asynchronous context: the value that V8 carries from where a promise reaction is registered to where it runs.
//!
//! It says which invocation the reaction is of, so that what an invocation does after it has waited for another's promise is
//! still its own; and what the program keeps in it, the *frame*: an object without prototype that is never changed,
//! from symbols (one for each `AsyncLocalStorage`, and those of `cloudflare:workers`, by their names) to values. Without a frame
//! the value is the invocation's number, with one an array of both. Turns begin without a frame.

use super::args::set_function;
use super::host;
use crate::invocation::InvocationId;
use crate::isolate::state::IsolateState;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "frame", frame)?;
    set_function(scope, native, "setFrame", set_frame)
}

pub(super) fn install_hooks(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    install(scope, native)?;
    set_function(scope, native, "invocation", invocation)
}

/// A turn of an invocation (`None`: of none) begins.
pub(crate) fn begin_turn(scope: &mut v8::PinScope<'_, '_>, invocation: Option<InvocationId>) {
    carry(scope, invocation, None);
}

/// Whose code runs, and in which frame.
fn carried<'s>(scope: &mut v8::PinScope<'s, '_>) -> (Option<InvocationId>, Option<v8::Local<'s, v8::Value>>) {
    let value = scope.get_continuation_preserved_embedder_data();
    if let Ok(number) = v8::Local::<v8::Number>::try_from(value) {
        return (Some(number.value() as InvocationId), None);
    }
    let Ok(both) = v8::Local::<v8::Array>::try_from(value) else { return (None, None) };
    // An array of our own making that no program sees.
    let number = both.get_index(scope, 0).and_then(|number| v8::Local::<v8::Number>::try_from(number).ok());
    (number.map(|number| number.value() as InvocationId), both.get_index(scope, 1))
}

fn carry<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    invocation: Option<InvocationId>,
    frame: Option<v8::Local<'s, v8::Value>>,
) {
    // Invocations are counted up from one, so their numbers stay exact as doubles.
    let number: v8::Local<v8::Value> = match invocation {
        Some(id) => v8::Number::new(scope, id as f64).into(),
        None => v8::undefined(scope).into(),
    };
    let value = match frame {
        Some(frame) => v8::Array::new_with_elements(scope, &[number, frame]).into(),
        None => number,
    };
    scope.set_continuation_preserved_embedder_data(value);
}

/// Whoever's code calls a native function is the current invocation.
pub(super) fn follow(scope: &mut v8::PinScope<'_, '_>) {
    // The rooms' tests have a host of their own and no such state.
    let Some(state) = scope.get_slot::<std::rc::Rc<IsolateState>>().cloned() else { return };
    let (invocation, _) = carried(scope);
    state.follow(invocation);
}

/// The frame that JavaScript now runs in; undefined without one.
pub(super) fn current_frame<'s>(scope: &mut v8::PinScope<'s, '_>) -> v8::Local<'s, v8::Value> {
    let (_, frame) = carried(scope);
    frame.unwrap_or_else(|| v8::undefined(scope).into())
}

/// `frame()`: the frame that JavaScript now runs in.
fn frame(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let frame = current_frame(scope);
    result.set(frame);
}

/// `setFrame(frame)`: what runs from now on, and reactions registered from now on, run in it.
fn set_frame<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    args: v8::FunctionCallbackArguments<'s>,
    _: v8::ReturnValue<'_, v8::Value>,
) {
    let current = host(scope).and_then(|host| host.invocation());
    carry(scope, current, Some(args.get(0)).filter(|frame| !frame.is_undefined()));
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
