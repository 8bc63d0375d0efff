//! What the global object of a new context gets.

/// Prepares a new context before any program is known.
pub(crate) fn install(_scope: &mut v8::PinScope<'_, '_>, _context: v8::Local<'_, v8::Context>) {}
