//! The Rust halves of the rooms `unsafe` and `wrapped`: code from strings, and internal modules.

use super::args::{copy_bytes, set_function};
use crate::modules::registry::internal_namespace;
use crate::rpc::serialize::throw_data_clone_error;

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;

/// Parameters that one function from strings may have.
const PARAMETERS_MAX: u32 = 1_000;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "eval", eval)?;
    set_function(scope, native, "newFunction", new_function)?;
    set_function(scope, native, "newWasmModule", new_wasm_module)?;
    set_function(scope, native, "isBuffer", is_buffer)
}

pub(super) fn install_wrapped(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "internalModule", internal_module)?;
    set_function(scope, native, "throwDataCloneError", data_clone_error)
}

/// Runs `work` while `eval()` is permitted.
fn permitted<'s, R>(scope: &mut v8::PinScope<'s, '_>, work: impl FnOnce(&mut v8::PinScope<'s, '_>) -> R) -> R {
    let context = scope.get_current_context();
    let before = context.is_code_generation_from_strings_allowed();
    context.set_allow_generation_from_strings(true);
    let result = work(scope);
    context.set_allow_generation_from_strings(before);
    result
}

/// `eval(script, name)`: what the script's last statement gives.
fn eval<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let (Ok(script), Ok(name)) = (arguments.get(0).try_into(), arguments.get(1).try_into()) else { return };
    let (script, name): (v8::Local<v8::String>, v8::Local<v8::String>) = (script, name);
    let result = permitted(scope, |scope| {
        let origin = v8::ScriptOrigin::new(scope, name.into(), 0, 0, false, 0, None, false, false, false, None);
        v8::Script::compile(scope, script, Some(&origin))?.run(scope)
    });
    if let Some(value) = result {
        returned.set(value);
    }
}

/// `newFunction(body, name, parameters)`.
fn new_function<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let (Ok(body), Ok(name)) = (arguments.get(0).try_into(), arguments.get(1).try_into()) else { return };
    let (body, name): (v8::Local<v8::String>, v8::Local<v8::String>) = (body, name);
    let Ok(list) = v8::Local::<v8::Array>::try_from(arguments.get(2)) else { return };
    let mut parameters = Vec::new();
    for index in 0..list.length().min(PARAMETERS_MAX) {
        let Some(parameter) = list.get_index(scope, index) else { return };
        parameters.extend(v8::Local::<v8::String>::try_from(parameter));
    }
    let function = permitted(scope, |scope| {
        let origin = v8::ScriptOrigin::new(scope, name.into(), 0, 0, false, 0, None, false, false, false, None);
        v8::script_compiler::compile_function(
            scope,
            &mut v8::script_compiler::Source::new(body, Some(&origin)),
            &parameters,
            &[],
            v8::script_compiler::CompileOptions::NoCompileOptions,
            v8::script_compiler::NoCacheReason::NoReason,
        )
    });
    if let Some(function) = function {
        function.set_name(name);
        returned.set(function.into());
    }
}

fn new_wasm_module<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(bytes) = copy_bytes(arguments.get(0)) else { return };
    if let Some(module) = permitted(scope, |scope| crate::modules::wasm::compile(scope, &bytes)) {
        returned.set(module.into());
    }
}

fn is_buffer<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_array_buffer());
}

/// `internalModule(name)`: its namespace.
fn internal_module<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let name = arguments.get(0).to_rust_string_lossy(scope);
    if let Some(namespace) = internal_namespace(scope, &name) {
        returned.set(namespace.into());
    }
}

fn data_clone_error<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let message = arguments.get(0).to_rust_string_lossy(scope);
    throw_data_clone_error(scope, &message);
}
