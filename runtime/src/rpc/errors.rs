//! Errors across the boundary: thrown JavaScript values to [`RpcError`]s and back.

use super::deserialize::{Stack, deserialize};
use super::serialize::{Purpose, serialize};
use super::state::RpcState;
use super::{RpcError, ThrownValue};
use crate::compat::Flag;
use crate::isolate::state::IsolateState;
use crate::js::string;

/// Makes an error of the class `name`, with the message as its own property. Of an unknown class it is an `Error`
/// whose own `name` says what it was. Runs no JavaScript.
pub(crate) fn new_error<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    prototypes: v8::Local<'s, v8::Object>,
    name: v8::Local<'s, v8::String>,
    message: v8::Local<'s, v8::String>,
) -> Option<v8::Local<'s, v8::Object>> {
    let class = name.to_rust_string_lossy(scope);
    let error = match class.as_str() {
        "TypeError" => v8::Exception::type_error(scope, message),
        "RangeError" => v8::Exception::range_error(scope, message),
        "ReferenceError" => v8::Exception::reference_error(scope, message),
        "SyntaxError" => v8::Exception::syntax_error(scope, message),
        _ => v8::Exception::error(scope, message),
    };
    let error = v8::Local::<v8::Object>::try_from(error).ok()?;
    // An object without a prototype: what it has is its own, and looking runs no JavaScript.
    let prototype = prototypes.get(scope, name.into())?;
    if prototype.is_object() {
        error.set_prototype(scope, prototype)?;
    } else if !matches!(class.as_str(), "Error" | "TypeError" | "RangeError" | "ReferenceError" | "SyntaxError") {
        let key = string(scope, "name");
        error.create_data_property(scope, key.into(), name.into())?;
    }
    Some(error)
}

/// What a caller's JavaScript throws for an error. `None` with an exception pending, which is then what to throw.
pub(crate) fn to_js<'s>(scope: &mut v8::PinScope<'s, '_>, error: &RpcError) -> Option<v8::Local<'s, v8::Value>> {
    let thrown = match &error.thrown {
        Some(ThrownValue(message)) => {
            v8::tc_scope!(let scope, scope);
            deserialize(scope, message, None, Stack::Here)
                .and_then(|received| v8::Local::<v8::Object>::try_from(received.value).ok())
        }
        None => None,
    };
    let object = match thrown {
        Some(object) => object,
        None => {
            let js = RpcState::of(scope).js(scope)?;
            let prototypes = v8::Local::new(scope, &js.error_prototypes);
            let (name, message) = (string(scope, &error.name), string(scope, &error.message));
            new_error(scope, prototypes, name, message)?
        }
    };
    let by = match error.cause {
        Some(cause) if !cause.by_owner() => Some(FailedBy::End),
        _ if error.disconnected => Some(FailedBy::Loss),
        _ => None,
    };
    if let Some(by) = by {
        let (key, value) = (mark(scope), v8::Integer::new_from_unsigned(scope, by as u32));
        object.set_private(scope, key, value.into())?;
    }
    for (flag, set) in [("remote", error.remote), ("overloaded", error.overloaded), ("durableObjectReset", error.reset)]
    {
        if set {
            let (key, value) = (string(scope, flag), v8::Boolean::new(scope, true));
            object.create_data_property(scope, key.into(), value.into())?;
        }
    }
    Some(object.into())
}

/// What a call failed by that its callee did not throw. JavaScript knows the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum FailedBy {
    /// The isolate that was called met a limit, or failed.
    End = 1,
    /// Nobody was there any more.
    Loss = 2,
}

/// Where errors carry a [`FailedBy`], which no program can give them.
fn mark<'s>(scope: &mut v8::PinScope<'s, '_>) -> v8::Local<'s, v8::Private> {
    let name = string(scope, "loaderd.failedBy");
    v8::Private::for_api(scope, Some(name))
}

/// The [`FailedBy`] of what was thrown, or `undefined`.
pub(crate) fn failed_by<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    thrown: v8::Local<'_, v8::Value>,
) -> Option<v8::Local<'s, v8::Value>> {
    let object = v8::Local::<v8::Object>::try_from(thrown).ok()?;
    let key = mark(scope);
    object.get_private(scope, key)
}

/// Throws an error in JavaScript.
pub(crate) fn throw(scope: &mut v8::PinScope<'_, '_>, error: &RpcError) {
    if let Some(error) = to_js(scope, error) {
        scope.throw_exception(error);
    }
}

/// What is sent for a thrown value. Reading it may run the program's getters; what they throw is ignored.
pub(crate) fn from_js<'s>(scope: &mut v8::PinScope<'s, '_>, thrown: v8::Local<'s, v8::Value>) -> RpcError {
    at_full_length(scope, thrown).clipped()
}

fn at_full_length<'s>(scope: &mut v8::PinScope<'s, '_>, thrown: v8::Local<'s, v8::Value>) -> RpcError {
    v8::tc_scope!(let scope, scope);
    let object = match v8::Local::<v8::Object>::try_from(thrown) {
        Ok(object) if !thrown.is_function() => object,
        _ => return RpcError::new("Error", detail(scope, thrown)),
    };
    let whole = IsolateState::of(scope).has_flag(Flag::EnhancedErrorSerialization);
    let is_dom_exception = crate::api::is_dom_exception(scope, thrown);
    let mut error = if !(thrown.is_native_error() || is_dom_exception) {
        RpcError::new("Error", detail(scope, thrown))
    } else if whole || is_dom_exception {
        let name = own_text(scope, object, "name").unwrap_or_else(|| "Error".to_owned());
        RpcError::new(&name, own_text(scope, object, "message").unwrap_or_default())
    } else {
        let detail = detail(scope, thrown);
        let (class, message) = class_and_message(&detail);
        RpcError::new(class, message)
    };
    if thrown.is_native_error() || is_dom_exception {
        error.stack = own_text(scope, object, "stack");
    }
    let overloaded = get(scope, object, "overloaded");
    error.overloaded = overloaded.is_some_and(|flag| flag.is_true());
    scope.reset();
    if is_dom_exception || (whole && !plain_error(scope, object)) {
        error.thrown = serialize(scope, thrown, Purpose::Thrown).map(ThrownValue);
    }
    error
}

/// Error classes that a thrown value's text may begin with; anything else before a colon is part of an `Error`'s
/// message.
const CLASSES: [&str; 9] = [
    "Error",
    "TypeError",
    "RangeError",
    "ReferenceError",
    "SyntaxError",
    "EvalError",
    "URIError",
    "AggregateError",
    "SuppressedError",
];

/// Takes an error's text apart as the platform did before it sent whole errors.
fn class_and_message(detail: &str) -> (&str, &str) {
    let (class, message) = detail.split_once(": ").unwrap_or((detail, ""));
    if CLASSES.contains(&class) { (class, message) } else { ("Error", detail) }
}

/// V8's text for a value, which runs none of the program's code.
fn detail(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> String {
    value.to_detail_string(scope).map(|text| text.to_rust_string_lossy(scope)).unwrap_or_default()
}

/// Whether name, message and stack say everything about it.
fn plain_error(scope: &mut v8::PinScope<'_, '_>, object: v8::Local<'_, v8::Object>) -> bool {
    if !object.is_native_error() {
        return false;
    }
    let names = object.get_own_property_names(
        scope,
        v8::GetPropertyNamesArgsBuilder::new()
            .property_filter(v8::PropertyFilter::ALL_PROPERTIES | v8::PropertyFilter::SKIP_SYMBOLS)
            .build(),
    );
    let Some(names) = names else { return true };
    (0..names.length()).all(|index| {
        names.get_index(scope, index).is_some_and(|key| {
            let key = key.to_rust_string_lossy(scope);
            matches!(key.as_str(), "message" | "stack" | "name")
        })
    })
}

fn get<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    object: v8::Local<'_, v8::Object>,
    key: &str,
) -> Option<v8::Local<'s, v8::Value>> {
    let key = string(scope, key);
    object.get(scope, key.into())
}

fn own_text(scope: &mut v8::PinScope<'_, '_>, object: v8::Local<'_, v8::Object>, key: &str) -> Option<String> {
    let value = get(scope, object, key)?;
    Some(value.to_string(scope)?.to_rust_string_lossy(scope))
}
