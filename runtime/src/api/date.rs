//! `Date` on the program's clock.
//!
//! V8 asks the system for the time whenever a program does, which would let it measure its own speed. So the global
//! `Date` is a function of ours that puts the program's time where V8 would put the system's, and leaves everything
//! else to V8's own, whose prototype it shares.

use super::args::set_function;
use super::host;
use crate::guard::callbacks;

pub(super) const HIDDEN: v8::PropertyAttribute = v8::PropertyAttribute::DONT_ENUM;

/// What the constructor needs of V8's `Date`, by place in its data.
const NATIVE: u32 = 0;
const CONSTRUCT: u32 = 1;
const TO_STRING: u32 = 2;

/// Puts our `Date` where V8's is. Must run before anything takes V8's from the global object.
pub(super) fn replace(scope: &mut v8::PinScope<'_, '_>, global: v8::Local<'_, v8::Object>) -> Option<()> {
    let native = object(scope, global, "Date")?;
    let prototype = object(scope, native, "prototype")?;
    let reflect = object(scope, global, "Reflect")?;
    let construct_native = object(scope, reflect, "construct")?;
    let to_string = object(scope, prototype, "toString")?;
    let data = v8::Array::new_with_elements(scope, &[native.into(), construct_native.into(), to_string.into()]);

    let date = callbacks::function(construct).data(data.into()).length(7).build(scope)?;
    let name = key(scope, "Date")?;
    date.set_name(name);
    let fixed = HIDDEN | v8::PropertyAttribute::READ_ONLY | v8::PropertyAttribute::DONT_DELETE;
    define(scope, date.into(), "prototype", prototype.into(), fixed)?;
    for copied in ["parse", "UTC"] {
        let method = object(scope, native, copied)?;
        define(scope, date.into(), copied, method.into(), HIDDEN)?;
    }
    set_function(scope, date.into(), "now", now)?;
    let of_date = object(scope, date.into(), "now")?;
    define(scope, date.into(), "now", of_date.into(), HIDDEN)?;
    define(scope, prototype, "constructor", date.into(), HIDDEN)?;
    define(scope, global, "Date", date.into(), HIDDEN)
}

pub(super) fn key<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str) -> Option<v8::Local<'s, v8::String>> {
    v8::String::new_from_utf8(scope, name.as_bytes(), v8::NewStringType::Internalized)
}

pub(super) fn object<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    holder: v8::Local<'_, v8::Object>,
    name: &str,
) -> Option<v8::Local<'s, v8::Object>> {
    let name = key(scope, name)?;
    holder.get(scope, name.into())?.try_into().ok()
}

pub(super) fn define(
    scope: &mut v8::PinScope<'_, '_>,
    holder: v8::Local<'_, v8::Object>,
    name: &str,
    value: v8::Local<'_, v8::Value>,
    attributes: v8::PropertyAttribute,
) -> Option<()> {
    let name = key(scope, name)?;
    holder.define_own_property(scope, name.into(), value, attributes)?.then_some(())
}

/// The program's time; V8's epoch where there is no host to ask.
pub(super) fn now_ms(scope: &v8::Isolate) -> f64 {
    host(scope).map_or(0.0, |host| host.now_ms())
}

/// `Date.now()`.
fn now(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    result.set_double(now_ms(scope));
}

/// `new Date(…)`, `Date()`, and `super(…)` in a class that extends it.
fn construct(
    scope: &mut v8::PinScope<'_, '_>,
    arguments: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    // None: an exception is pending, or JavaScript cannot run any more.
    if let Some(value) = make(scope, &arguments) {
        result.set(value);
    }
}

fn make<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    arguments: &v8::FunctionCallbackArguments<'_>,
) -> Option<v8::Local<'s, v8::Value>> {
    let data: v8::Local<v8::Object> = arguments.data().try_into().ok()?;
    let native: v8::Local<v8::Function> = data.get_index(scope, NATIVE)?.try_into().ok()?;
    let now = v8::Number::new(scope, now_ms(scope)).into();
    if !arguments.is_construct_call() {
        let to_string: v8::Local<v8::Function> = data.get_index(scope, TO_STRING)?.try_into().ok()?;
        let date = native.new_instance(scope, &[now])?;
        return to_string.call(scope, date.into(), &[]);
    }
    let given: Vec<v8::Local<v8::Value>> = match arguments.length() {
        0 => vec![now],
        length => (0..length).map(|at| arguments.get(at)).collect(),
    };
    let given = v8::Array::new_with_elements(scope, &given);
    let construct: v8::Local<v8::Function> = data.get_index(scope, CONSTRUCT)?.try_into().ok()?;
    let receiver = v8::undefined(scope).into();
    construct.call(scope, receiver, &[native.into(), given.into(), arguments.new_target()])
}
