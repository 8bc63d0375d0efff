//! Built-in modules: what `import` finds without being given it.

use crate::compat::Flag;
use crate::isolate::state::IsolateState;
use crate::rpc::glue;

/// The exports of a built-in module. `None`: there is none of that name, or an exception is pending.
pub(crate) fn exports<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str) -> Option<v8::Local<'s, v8::Object>> {
    match name {
        "cloudflare:workers" => glue::workers_module(scope),
        "cloudflare:sockets" => v8::Local::try_from(crate::api::export(scope, "sockets", "module")?).ok(),
        name => node_exports(scope, name.strip_prefix("node:").unwrap_or(name)),
    }
}

/// Node's modules, with their scheme or without, for Workers that have them.
fn node_exports<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str) -> Option<v8::Local<'s, v8::Object>> {
    let (room, export) = match name {
        "assert" => ("node_assert", "module"),
        "assert/strict" => ("node_assert", "strictModule"),
        _ => return None,
    };
    let state = IsolateState::of(scope);
    let has_node = state
        .worker
        .borrow()
        .as_ref()
        .is_some_and(|worker| worker.compat.has(Flag::NodejsCompat) || worker.compat.has(Flag::NodejsCompatV2));
    if !has_node {
        return None;
    }
    v8::Local::try_from(crate::api::export(scope, room, export)?).ok()
}
