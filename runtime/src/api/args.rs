//! Small conversions between V8 values and Rust, shared by the rooms' Rust halves.

use crate::guard::callbacks::{self, NativeFunction, as_function};

/// Puts a Rust function on a room's `native` object. `callback` is a plain function: it has nothing in it.
pub(super) fn set_function(
    scope: &mut v8::PinScope<'_, '_>,
    target: v8::Local<'_, v8::Object>,
    name: &str,
    callback: impl NativeFunction,
) -> Option<()> {
    let callback = as_function(move |scope, arguments, returned| {
        super::async_context::follow(scope);
        callback(scope, arguments, returned);
    });
    let key = v8::String::new_from_utf8(scope, name.as_bytes(), v8::NewStringType::Internalized)?;
    let function = callbacks::function(callback)
        .constructor_behavior(v8::ConstructorBehavior::Throw)
        .side_effect_type(v8::SideEffectType::HasSideEffect)
        .build(scope)?;
    function.set_name(key);
    target.set(scope, key.into(), function.into())?;
    Some(())
}

/// Throws a `TypeError`.
pub(super) fn throw_type_error(scope: &mut v8::PinScope<'_, '_>, message: &str) {
    if let Some(message) = v8::String::new(scope, message) {
        let error = v8::Exception::type_error(scope, message);
        scope.throw_exception(error);
    }
}

/// Throws an `Error`.
pub(super) fn throw_error(scope: &mut v8::PinScope<'_, '_>, message: &str) {
    if let Some(message) = v8::String::new(scope, message) {
        let error = v8::Exception::error(scope, message);
        scope.throw_exception(error);
    }
}

/// Throws a `DOMException`; when it cannot be made, whatever stopped that is already pending.
pub(super) fn throw_dom_exception(scope: &mut v8::PinScope<'_, '_>, name: &str, message: &str) {
    if let Some(error) = super::dom_exception(scope, name, message) {
        scope.throw_exception(error);
    }
}

/// Throws a `RangeError`.
pub(super) fn throw_range_error(scope: &mut v8::PinScope<'_, '_>, message: &str) {
    if let Some(message) = v8::String::new(scope, message) {
        let error = v8::Exception::range_error(scope, message);
        scope.throw_exception(error);
    }
}

/// Answers with a text that was made; longer than strings may be it is refused, as V8 refuses its own.
pub(super) fn set_text(scope: &mut v8::PinScope<'_, '_>, result: &mut v8::ReturnValue<'_, v8::Value>, text: &str) {
    let text = v8::String::new(scope, text);
    set_made_text(scope, result, text);
}

/// The same with what V8 made of the text; `None`: it is too long.
pub(super) fn set_made_text(
    scope: &mut v8::PinScope<'_, '_>,
    result: &mut v8::ReturnValue<'_, v8::Value>,
    text: Option<v8::Local<'_, v8::String>>,
) {
    match text {
        Some(text) => result.set(text.into()),
        None => throw_range_error(scope, "Invalid string length"),
    }
}

/// Calls `read` with the bytes of an `ArrayBuffer`, `SharedArrayBuffer` or view; `None` for any other value.
/// `read` must not run JavaScript, and cannot: it is given no scope.
pub(super) fn with_bytes<R>(value: v8::Local<'_, v8::Value>, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
    if let Ok(view) = v8::Local::<v8::ArrayBufferView>::try_from(value) {
        if view.get_backing_store().is_some_and(|store| store.is_shared()) {
            return copy_bytes(value).map(|bytes| read(&bytes));
        }
        let mut on_heap = [0; v8::TYPED_ARRAY_MAX_SIZE_IN_HEAP];
        return Some(read(view.get_contents(&mut on_heap)));
    }
    let Ok(buffer) = v8::Local::<v8::ArrayBuffer>::try_from(value) else {
        return copy_bytes(value).map(|bytes| read(&bytes));
    };
    let length = buffer.byte_length();
    match buffer.data() {
        Some(data) if length > 0 => {
            // SAFETY: the buffer's store holds `length` bytes at `data`, stays alive while the buffer is held in the
            // caller's scope, is not shared with another thread, and no JavaScript runs while the slice exists.
            Some(read(unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), length) }))
        }
        _ => Some(read(&[])),
    }
}

/// The bytes of an `ArrayBuffer`, `SharedArrayBuffer` or view, copied; `None` for any other value.
pub(super) fn copy_bytes(value: v8::Local<'_, v8::Value>) -> Option<Vec<u8>> {
    if let Ok(view) = v8::Local::<v8::ArrayBufferView>::try_from(value) {
        let mut bytes = vec![0; view.byte_length()];
        let copied = view.copy_contents(&mut bytes);
        bytes.truncate(copied);
        return Some(bytes);
    }
    let store = if let Ok(buffer) = v8::Local::<v8::ArrayBuffer>::try_from(value) {
        buffer.get_backing_store()
    } else {
        v8::Local::<v8::SharedArrayBuffer>::try_from(value).ok()?.get_backing_store()
    };
    Some(store.iter().map(std::cell::Cell::get).collect())
}

/// A new `ArrayBuffer` with a copy of `bytes`, allocated as the program's own are (so that the isolate's memory limit
/// counts it, and refuses it with a `RangeError` where V8's own constructor would end the process).
pub(super) fn new_array_buffer<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    bytes: &[u8],
) -> Option<v8::Local<'s, v8::ArrayBuffer>> {
    let constructor = super::registry::primordial(scope, "ArrayBuffer")?;
    let length = v8::Number::new(scope, bytes.len() as f64);
    let buffer = constructor.new_instance(scope, &[length.into()])?;
    let buffer = v8::Local::<v8::ArrayBuffer>::try_from(buffer).ok()?;
    if let Some(data) = buffer.data()
        && buffer.byte_length() == bytes.len()
    {
        // SAFETY: the buffer was just made with room for `bytes`, nobody else has it, and the ranges cannot overlap.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.as_ptr().cast::<u8>(), bytes.len()) };
    }
    Some(buffer)
}

/// A JavaScript string with the text's characters; `None` when it is longer than V8 allows.
pub(super) fn string<'s>(scope: &mut v8::PinScope<'s, '_>, text: &str) -> Option<v8::Local<'s, v8::String>> {
    // Most of what goes through here is ASCII, which V8 takes as it is.
    if text.is_ascii() {
        v8::String::new_from_one_byte(scope, text.as_bytes(), v8::NewStringType::Normal)
    } else {
        v8::String::new(scope, text)
    }
}
