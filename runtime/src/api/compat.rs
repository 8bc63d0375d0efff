//! The Worker's compatibility flags, as its program and the rooms' JavaScript see them.

use super::args::{set_function, string};
use crate::compat::CompatFlags;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "flags", flags)?;
    set_function(scope, native, "has", has)
}

/// `flags()`: an object without prototype, from the name of every flag there is to whether it is on.
fn flags(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let host = super::host(scope);
    let null = v8::null(scope);
    let object = v8::Object::with_prototype_and_properties(scope, null.into(), &[], &[]);
    for (name, flag) in CompatFlags::all() {
        let on = v8::Boolean::new(scope, host.as_ref().is_some_and(|host| host.has_flag(flag)));
        let Some(name) = string(scope, name) else { return };
        if object.create_data_property(scope, name.into(), on.into()).is_none() {
            return;
        }
    }
    result.set(object.into());
}

/// `has(name)`: whether a flag is on; `false` for names that no flag has.
fn has(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    let Some(host) = super::host(scope) else { return };
    result.set_bool(CompatFlags::all().any(|(known, flag)| known == name && host.has_flag(flag)));
}
