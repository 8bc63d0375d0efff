//! Errors across the boundary: thrown JavaScript values to [`RpcError`]s and back.

use super::deserialize::{Stack, deserialize};
use super::serialize::{Purpose, serialize};
use super::state::RpcState;
use super::{RpcError, ThrownValue};
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
    for (flag, set) in [("overloaded", error.overloaded), ("remote", error.remote)] {
        if set {
            let (key, value) = (string(scope, flag), v8::Boolean::new(scope, true));
            object.create_data_property(scope, key.into(), value.into())?;
        }
    }
    Some(object.into())
}

/// What is sent for a thrown value. Reading it may run the program's getters; what they throw is ignored.
pub(crate) fn from_js<'s>(scope: &mut v8::PinScope<'s, '_>, thrown: v8::Local<'s, v8::Value>) -> RpcError {
    v8::tc_scope!(let scope, scope);
    let Ok(object) = v8::Local::<v8::Object>::try_from(thrown) else {
        return RpcError::new("Error", text(scope, thrown).unwrap_or_default());
    };
    if thrown.is_function() {
        return RpcError::new("Error", text(scope, thrown).unwrap_or_default());
    }
    let is_error = thrown.is_native_error() || crate::api::is_dom_exception(scope, thrown);
    let mut error = if is_error {
        let name = own_text(scope, object, "name").unwrap_or_else(|| "Error".to_owned());
        let message = own_text(scope, object, "message").unwrap_or_default();
        RpcError { stack: own_text(scope, object, "stack"), ..RpcError::new(&name, message) }
    } else {
        RpcError::new("Error", text(scope, thrown).unwrap_or_default())
    };
    let overloaded = get(scope, object, "overloaded");
    error.overloaded = overloaded.is_some_and(|flag| flag.is_true());
    scope.reset();
    if !plain_error(scope, object) {
        error.thrown = serialize(scope, thrown, Purpose::Thrown).map(ThrownValue);
    }
    error
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
    text(scope, value)
}

fn text(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<String> {
    if value.is_symbol() {
        return Some(value.to_detail_string(scope)?.to_rust_string_lossy(scope));
    }
    Some(value.to_string(scope)?.to_rust_string_lossy(scope))
}
