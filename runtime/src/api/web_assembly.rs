//! The Rust half of what is put in the place of V8's `WebAssembly`: eyes for its memory.

use super::args::set_function;
use super::host;
use crate::modules::wasm::{MemoryType, OWN_MEMORIES};

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    install_count(scope, target)?;
    set_function(scope, target, "memoryOf", memory_of)?;
    let name = v8::String::new(scope, "OWN_MEMORIES")?;
    let value = v8::String::new(scope, OWN_MEMORIES)?;
    target.set(scope, name.into(), value.into()).map(drop)
}

pub(super) fn install_count(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "count", count)
}

/// `count(memory, buffer)`: from now on the memory counts.
fn count(scope: &mut v8::PinScope<'_, '_>, args: v8::FunctionCallbackArguments<'_>, _: v8::ReturnValue<'_, v8::Value>) {
    let Ok(memory) = v8::Local::<v8::Object>::try_from(args.get(0)) else { return };
    let bytes = if let Ok(buffer) = v8::Local::<v8::ArrayBuffer>::try_from(args.get(1)) {
        buffer.get_backing_store()
    } else if let Ok(buffer) = v8::Local::<v8::SharedArrayBuffer>::try_from(args.get(1)) {
        buffer.get_backing_store()
    } else {
        return;
    };
    if let Some(host) = host(scope) {
        host.count_memory(scope, memory, bytes);
    }
}

/// `memoryOf(name)`: the descriptor of the memory that an import of this name stands for.
fn memory_of(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    let Some(memory) = MemoryType::of_import(&name) else { return };
    let null = v8::null(scope);
    let descriptor = v8::Object::with_prototype_and_properties(scope, null.into(), &[], &[]);
    let set = |scope: &mut v8::PinScope<'_, '_>, name: &str, value: v8::Local<'_, v8::Value>| {
        let name = v8::String::new(scope, name)?;
        descriptor.set(scope, name.into(), value)
    };
    let initial = pages(scope, memory, memory.initial);
    set(scope, "initial", initial);
    if let Some(maximum) = memory.maximum {
        let maximum = pages(scope, memory, maximum);
        set(scope, "maximum", maximum);
    }
    let shared = v8::Boolean::new(scope, memory.shared);
    set(scope, "shared", shared.into());
    if memory.address_64
        && let Some(address) = v8::String::new(scope, "i64")
    {
        set(scope, "address", address.into());
    }
    result.set(descriptor.into());
}

/// A number of pages, as the descriptor of a memory has it.
fn pages<'s>(scope: &mut v8::PinScope<'s, '_>, memory: MemoryType, pages: u64) -> v8::Local<'s, v8::Value> {
    if memory.address_64 {
        v8::BigInt::new_from_u64(scope, pages).into()
    } else {
        // Pages of a 32-bit memory are few.
        v8::Number::new(scope, pages as f64).into()
    }
}
