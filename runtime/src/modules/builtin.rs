//! Built-in modules: what `import` finds without being given it.

/// The exports of a built-in module. `None`: there is none of that name.
pub(crate) fn exports<'s>(_scope: &mut v8::PinScope<'s, '_>, _name: &str) -> Option<v8::Local<'s, v8::Object>> {
    None
}
