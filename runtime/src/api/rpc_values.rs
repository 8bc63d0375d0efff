//! The Rust half of the room `rpc_values`: what V8 knows of a value that is to be written, and what stands for it.

use super::args::set_function;
use super::imports::{current_invocation, imported};
use super::rpc::export_for_one_use;
use crate::js::string;
use crate::rpc::serialize::throw_data_clone_error;
use crate::rpc::state::RpcState;

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "isProxy", is_proxy)?;
    set_function(scope, native, "isMap", is_map)?;
    set_function(scope, native, "isSet", is_set)?;
    set_function(scope, native, "isPlainObject", is_plain_object)?;
    set_function(scope, native, "isNativeError", is_native_error)?;
    set_function(scope, native, "placeholder", placeholder)?;
    set_function(scope, native, "refusesTransfer", refuses_transfer)?;
    set_function(scope, native, "exportForMessage", export_for_one_use)?;
    set_function(scope, native, "currentInvocation", current_invocation)?;
    set_function(scope, native, "throwDataCloneError", data_clone_error)
}

fn is_proxy<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_proxy());
}

fn is_map<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_map());
}

fn is_set<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_set());
}

fn is_native_error<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_native_error());
}

/// Whether V8 would write it as a plain object.
fn is_plain_object<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let value = arguments.get(0);
    let Some(js) = RpcState::of(scope).js(scope) else { return };
    let Ok(object) = v8::Local::<v8::Object>::try_from(value) else { return };
    let special = value.is_native_error() || value.is_arguments_object() || value.is_generator_object();
    let plain = v8::Local::new(scope, &js.object_prototype);
    returned.set_bool(!special && object.internal_field_count() == 0 && object.get_prototype(scope) == Some(plain));
}

/// `placeholder(value)`: an object that stands for the value while a message is written.
fn placeholder<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(js) = RpcState::of(scope).js(scope) else { return };
    // Without a prototype, so that the serializer asks about it.
    let null = v8::null(scope).into();
    let object = v8::Object::with_prototype_and_properties(scope, null, &[], &[]);
    let key = v8::Local::new(scope, &js.placeholder);
    if object.set_private(scope, key, arguments.get(0)).is_some() {
        returned.set(object.into());
    }
}

/// `refusesTransfer(import)`: why it may not be handed to other Workers; undefined: it may.
fn refuses_transfer<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(cap) = imported(scope, arguments.get(0)) else { return };
    if let Some(reason) = cap.target.refuses_transfer() {
        returned.set(string(scope, reason).into());
    }
}

pub(super) fn data_clone_error<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let message = arguments.get(0).to_rust_string_lossy(scope);
    throw_data_clone_error(scope, &message);
}
