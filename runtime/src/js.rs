//! Small helpers over V8's API that every room uses.

/// A JavaScript string. Longer than V8's limit (2^29 units, far above every bound here) becomes the empty string.
pub(crate) fn string<'s>(scope: &mut v8::PinScope<'s, '_>, text: &str) -> v8::Local<'s, v8::String> {
    v8::String::new(scope, text).unwrap_or_else(|| v8::String::empty(scope))
}

/// Throws an `Error`.
pub(crate) fn throw_error(scope: &mut v8::PinScope<'_, '_>, message: &str) {
    let message = string(scope, message);
    let error = v8::Exception::error(scope, message);
    scope.throw_exception(error);
}

/// Throws a `TypeError`.
pub(crate) fn throw_type_error(scope: &mut v8::PinScope<'_, '_>, message: &str) {
    let message = string(scope, message);
    let error = v8::Exception::type_error(scope, message);
    scope.throw_exception(error);
}
