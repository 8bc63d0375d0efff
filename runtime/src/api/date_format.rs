//! `Intl.DateTimeFormat` on the program's clock: without a date, `format` and `formatToParts` mean now, for which V8 would
//! ask the system. So both are functions of ours that name the program's time and leave everything else to V8's own.

use super::date::{HIDDEN, define, key, now_ms, object};
use crate::guard::callbacks;

/// Where a format's bound `format` is kept, so that it is the same each time.
const BOUND: &str = "loaderd:format";

/// Puts our functions where V8's are.
pub(super) fn replace(scope: &mut v8::PinScope<'_, '_>, global: v8::Local<'_, v8::Object>) -> Option<()> {
    let intl = object(scope, global, "Intl")?;
    let class = object(scope, intl, "DateTimeFormat")?;
    let prototype = object(scope, class, "prototype")?;

    let native = object(scope, prototype, "formatToParts")?;
    let parts = callbacks::function(format_to_parts)
        .data(native.into())
        .length(1)
        .constructor_behavior(v8::ConstructorBehavior::Throw)
        .build(scope)?;
    let name = key(scope, "formatToParts")?;
    parts.set_name(name);
    define(scope, prototype, "formatToParts", parts.into(), HIDDEN)?;

    let format = key(scope, "format")?;
    let described = prototype.get_own_property_descriptor(scope, format.into())?;
    let native = object(scope, v8::Local::<v8::Object>::try_from(described).ok()?, "get")?;
    let getter = callbacks::function(get_format)
        .data(native.into())
        .constructor_behavior(v8::ConstructorBehavior::Throw)
        .build(scope)?;
    let name = key(scope, "get format")?;
    getter.set_name(name);
    let setter = v8::undefined(scope).into();
    let mut descriptor = v8::PropertyDescriptor::new_from_get_set(getter.into(), setter);
    descriptor.set_enumerable(false);
    descriptor.set_configurable(true);
    prototype.define_property(scope, format.into(), &descriptor)?.then_some(())
}

/// The argument that V8's function gets: the date that was given, or now.
fn date<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    arguments: &v8::FunctionCallbackArguments<'s>,
) -> v8::Local<'s, v8::Value> {
    match arguments.get(0) {
        given if given.is_undefined() => v8::Number::new(scope, now_ms(scope)).into(),
        given => given,
    }
}

/// `formatToParts(date?)`.
fn format_to_parts<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    arguments: v8::FunctionCallbackArguments<'s>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(native) = v8::Local::<v8::Function>::try_from(arguments.data()) else { return };
    let date = date(scope, &arguments);
    // None: an exception is pending, or JavaScript cannot run any more. So below.
    if let Some(parts) = native.call(scope, arguments.this().into(), &[date]) {
        result.set(parts);
    }
}

/// The getter of `format`: a function bound to the format it is read from.
fn get_format<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    arguments: v8::FunctionCallbackArguments<'s>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    if let Some(bound) = bound_format(scope, &arguments) {
        result.set(bound);
    }
}

fn bound_format<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    arguments: &v8::FunctionCallbackArguments<'s>,
) -> Option<v8::Local<'s, v8::Value>> {
    let native = v8::Local::<v8::Function>::try_from(arguments.data()).ok()?;
    let this = arguments.this();
    // Also checks that it is a format.
    let native = native.call(scope, this.into(), &[])?;
    let name = key(scope, BOUND)?;
    let place = v8::Private::for_api(scope, Some(name));
    let kept = this.get_private(scope, place)?;
    if kept.is_function() {
        return Some(kept);
    }
    let bound = callbacks::function(format)
        .data(native)
        .length(1)
        .constructor_behavior(v8::ConstructorBehavior::Throw)
        .build(scope)?;
    this.set_private(scope, place, bound.into())?;
    Some(bound.into())
}

/// What `format` gives: `(date?)`.
fn format<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    arguments: v8::FunctionCallbackArguments<'s>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(native) = v8::Local::<v8::Function>::try_from(arguments.data()) else { return };
    let date = date(scope, &arguments);
    let receiver = v8::undefined(scope).into();
    if let Some(text) = native.call(scope, receiver, &[date]) {
        result.set(text);
    }
}
