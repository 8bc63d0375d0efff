//! Built-in modules: what `import` finds without being given it.

use crate::rpc::glue;

/// The exports of a built-in module. `None`: there is none of that name, or an exception is pending.
pub(crate) fn exports<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str) -> Option<v8::Local<'s, v8::Object>> {
    match name {
        "cloudflare:workers" => glue::workers_module(scope),
        _ => None,
    }
}
