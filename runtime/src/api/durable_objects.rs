//! The Rust half of the room `durable_objects`: ids of a namespace, and its objects as imports of the invocation.

use super::args::{set_function, throw_error, throw_type_error};
use crate::isolate::state::IsolateState;
use crate::objects::{NamespaceCap, ObjectKey, ObjectNamespace, id_from_name, id_from_string, new_unique_id};
use crate::rpc::state::{Keep, RpcState};
use std::sync::Arc;

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "newUniqueId", unique)?;
    set_function(scope, native, "idFromName", named)?;
    set_function(scope, native, "idFromString", parsed)?;
    set_function(scope, native, "object", object)
}

/// The namespace of an import. `None` with an exception pending.
fn namespace(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<Arc<dyn ObjectNamespace>> {
    let import = v8::Local::<v8::Number>::try_from(value).map_or(0, |number| number.value() as u64);
    let current = IsolateState::of(scope).current().map(|invocation| invocation.id);
    match RpcState::of(scope).imported(import, current) {
        Ok(cap) => cap.target.as_any().downcast_ref::<NamespaceCap>().map(|NamespaceCap(namespace)| namespace.clone()),
        Err(error) => {
            throw_error(scope, error.message());
            None
        }
    }
}

fn set_string(scope: &mut v8::PinScope<'_, '_>, returned: &mut Returned<'_>, text: &str) {
    returned.set(crate::js::string(scope, text).into());
}

fn unique<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(namespace) = namespace(scope, arguments.get(0)) else { return };
    let Some(key) = namespace.unique_key() else {
        return throw_type_error(scope, "Unique IDs cannot be created in a namespace of ephemeral objects.");
    };
    match new_unique_id(key) {
        Some(id) => set_string(scope, &mut returned, &id),
        None => throw_error(scope, "This system has no random numbers."),
    }
}

fn named<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(namespace) = namespace(scope, arguments.get(0)) else { return };
    let name = arguments.get(1).to_rust_string_lossy(scope);
    let id = namespace.unique_key().map_or_else(|| name.clone(), |key| id_from_name(key, &name));
    set_string(scope, &mut returned, &id);
}

fn parsed<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(namespace) = namespace(scope, arguments.get(0)) else { return };
    let text = arguments.get(1).to_rust_string_lossy(scope);
    match namespace.unique_key().map_or(Ok(text.clone()), |key| id_from_string(key, &text)) {
        Ok(id) => set_string(scope, &mut returned, &id),
        Err(error) => throw_type_error(scope, &error.to_string()),
    }
}

/// `object(namespace, id, name)`: the import of a service.
fn object<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(namespace) = namespace(scope, arguments.get(0)) else { return };
    let id = arguments.get(1).to_rust_string_lossy(scope);
    let name = arguments.get(2);
    let name = name.is_string().then(|| name.to_rust_string_lossy(scope));
    let Some(current) = IsolateState::of(scope).current() else {
        return throw_error(scope, super::GLOBAL_SCOPE_REFUSAL);
    };
    let cap = namespace.object(ObjectKey { id, name });
    match RpcState::of(scope).import(cap, Some(current.id), Keep::UntilDropped) {
        Ok(import) => returned.set(v8::Number::new(scope, import as f64).into()),
        Err(error) => throw_error(scope, error.message()),
    }
}
