//! What formatting a value for the console needs from V8: kinds, and contents that JavaScript cannot read without
//! running the program's code.

use super::args::set_function;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "kind", kind)?;
    set_function(scope, target, "preview", preview)?;
    set_function(scope, target, "promise", promise)?;
    set_function(scope, target, "proxyTarget", proxy_target)?;
    set_function(scope, target, "proxyHandler", proxy_handler)?;
    set_function(scope, target, "constructorName", constructor_name)?;
    set_function(scope, target, "namedKeys", named_keys)
}

/// For `util/types`: what [`kind`] does not tell of functions.
pub(super) fn install_types(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "isAsyncFunction", is_async_function)?;
    set_function(scope, target, "isGeneratorFunction", is_generator_function)
}

fn is_async_function(
    _: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    result.set_bool(args.get(0).is_async_function());
}

fn is_generator_function(
    _: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    result.set_bool(args.get(0).is_generator_function());
}

/// `kind(object) → string`: which built-in an object is, whatever its prototype says; `"object"` for the rest.
fn kind(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    type Test = fn(&v8::Value) -> bool;
    const KINDS: &[(&str, Test)] = &[
        ("proxy", v8::Value::is_proxy),
        ("array", v8::Value::is_array),
        ("function", v8::Value::is_function),
        ("error", v8::Value::is_native_error),
        ("map", v8::Value::is_map),
        ("set", v8::Value::is_set),
        ("date", v8::Value::is_date),
        ("regexp", v8::Value::is_reg_exp),
        ("promise", v8::Value::is_promise),
        ("typedarray", v8::Value::is_typed_array),
        ("dataview", v8::Value::is_data_view),
        ("arraybuffer", v8::Value::is_array_buffer),
        ("sharedarraybuffer", v8::Value::is_shared_array_buffer),
        ("mapiterator", v8::Value::is_map_iterator),
        ("setiterator", v8::Value::is_set_iterator),
        ("weakmap", v8::Value::is_weak_map),
        ("weakset", v8::Value::is_weak_set),
        ("arguments", v8::Value::is_arguments_object),
        ("generator", v8::Value::is_generator_object),
        ("namespace", v8::Value::is_module_namespace_object),
        ("number", v8::Value::is_number_object),
        ("string", v8::Value::is_string_object),
        ("boolean", v8::Value::is_boolean_object),
        ("symbol", v8::Value::is_symbol_object),
        ("bigint", v8::Value::is_big_int_object),
    ];
    let value = args.get(0);
    let name = KINDS.iter().find(|(_, test)| test(&value)).map_or("object", |(name, _)| name);
    if let Some(name) = v8::String::new_from_utf8(scope, name.as_bytes(), v8::NewStringType::Internalized) {
        result.set(name.into());
    }
}

/// `preview(collection or iterator) → [entries, whether they are keys and values in turn]`.
fn preview(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(object) = v8::Local::<v8::Object>::try_from(args.get(0)) else { return };
    let (entries, is_key_value) = object.preview_entries(scope);
    if let Some(entries) = entries {
        let is_key_value = v8::Boolean::new(scope, is_key_value);
        result.set(v8::Array::new_with_elements(scope, &[entries.into(), is_key_value.into()]).into());
    }
}

/// `promise(promise) → [state, result]`; state is 0 pending, 1 fulfilled, 2 rejected.
fn promise(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(promise) = v8::Local::<v8::Promise>::try_from(args.get(0)) else { return };
    let (state, value) = match promise.state() {
        v8::PromiseState::Pending => (0, v8::undefined(scope).into()),
        v8::PromiseState::Fulfilled => (1, promise.result(scope)),
        v8::PromiseState::Rejected => (2, promise.result(scope)),
    };
    let state = v8::Integer::new(scope, state);
    result.set(v8::Array::new_with_elements(scope, &[state.into(), value]).into());
}

/// `proxyTarget(proxy) → object`, or `null` when it was revoked.
fn proxy_target(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(proxy) = v8::Local::<v8::Proxy>::try_from(args.get(0)) else { return };
    result.set(proxy.get_target(scope));
}

/// `proxyHandler(proxy) → object`, or `null` when it was revoked.
fn proxy_handler(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(proxy) = v8::Local::<v8::Proxy>::try_from(args.get(0)) else { return };
    result.set(proxy.get_handler(scope));
}

/// `constructorName(object) → string`, without running the program's code.
fn constructor_name(
    _: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    if let Ok(object) = v8::Local::<v8::Object>::try_from(args.get(0)) {
        result.set(object.get_constructor_name().into());
    }
}

/// `namedKeys(object) → array`: own enumerable keys that are not array indices, strings and symbols.
fn named_keys(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(object) = v8::Local::<v8::Object>::try_from(args.get(0)) else { return };
    let keys = object.get_property_names(
        scope,
        v8::GetPropertyNamesArgsBuilder::new()
            .mode(v8::KeyCollectionMode::OwnOnly)
            .property_filter(v8::PropertyFilter::ONLY_ENUMERABLE)
            .index_filter(v8::IndexFilter::SkipIndices)
            .build(),
    );
    if let Some(keys) = keys {
        result.set(keys.into());
    }
}
