//! Built-in modules: what `import` finds without being given it.

use crate::compat::Flag;
use crate::isolate::state::IsolateState;
use crate::rpc::glue;

/// The exports of a built-in module. `None`: there is none of that name, or an exception is pending.
pub(crate) fn exports<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str) -> Option<v8::Local<'s, v8::Object>> {
    match name {
        "cloudflare:workers" => glue::workers_module(scope),
        "workerd:unsafe-eval" if has(scope, Flag::UnsafeModule) => room(scope, "unsafe", "evalModule"),
        "workerd:unsafe" if has(scope, Flag::UnsafeModule) => room(scope, "unsafe", "module"),
        "cloudflare:sockets" => v8::Local::try_from(crate::api::export(scope, "sockets", "module")?).ok(),
        name => node_exports(scope, name.strip_prefix("node:")?),
    }
}

/// The same for modules that only extensions and wrapped bindings may import.
pub(crate) fn internal_exports<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str) -> Option<v8::Local<'s, v8::Object>> {
    match name {
        "internal:unsafe-eval" => room(scope, "unsafe", "evalModule"),
        "cloudflare-internal:wrapped-binding" => room(scope, "wrapped", "module"),
        "cloudflare-internal:tracing" => room(scope, "tracing", "module"),
        "cloudflare-internal:tracing-helpers" => room(scope, "tracing", "helpers"),
        // The helpers as a wrapped binding: what workerd's own tests reach them by.
        "cloudflare-internal:test-tracing-wrapper" => room(scope, "tracing", "testWrapper"),
        _ => None,
    }
}

fn room<'s>(scope: &mut v8::PinScope<'s, '_>, room: &str, export: &str) -> Option<v8::Local<'s, v8::Object>> {
    v8::Local::try_from(crate::api::export(scope, room, export)?).ok()
}

fn has(scope: &v8::Isolate, flag: Flag) -> bool {
    IsolateState::of(scope).has_flag(flag)
}

/// One of Node's modules: its name without the scheme, and the room that exports it.
struct NodeModule {
    name: &'static str,
    room: &'static str,
    export: &'static str,
}

const fn module(name: &'static str, room: &'static str) -> NodeModule {
    NodeModule { name, room, export: "module" }
}

/// Node's modules that are here.
static NODE_MODULES: &[NodeModule] = &[
    module("assert", "node_assert"),
    NodeModule { name: "assert/strict", room: "node_assert", export: "strictModule" },
    module("async_hooks", "node_async_hooks"),
    module("buffer", "node_buffer"),
    module("process", "node_process"),
    module("sys", "node_util"),
    module("test", "node_test"),
    module("timers", "node_timers"),
    module("timers/promises", "node_timers_promises"),
    module("util", "node_util"),
    module("util/types", "node_util_types"),
];

/// Modules that have no name without their scheme.
const ONLY_WITH_SCHEME: [&str; 1] = ["test"];

/// What `specifier` names for a Worker that has Node's modules: their names may be used without their scheme. `None`
/// for everything that is not one of them.
pub(super) fn node_specifier(state: &IsolateState, specifier: &str) -> Option<String> {
    let known = |module: &&NodeModule| module.name == specifier && !ONLY_WITH_SCHEME.contains(&module.name);
    let module = NODE_MODULES.iter().find(known)?;
    has_node(state).then(|| format!("node:{}", module.name))
}

/// Names a specifier as the module `referrer` sees it, built-in modules included. `None`: it climbs above the root.
pub(super) fn resolve(state: &IsolateState, specifier: &str, referrer: &str) -> Option<String> {
    node_specifier(state, specifier).or_else(|| super::resolve::resolve(specifier, referrer))
}

fn has_node(state: &IsolateState) -> bool {
    state.has_flag(Flag::NodejsCompat) || state.has_flag(Flag::NodejsCompatV2)
}

/// A module of Node's by its name without the scheme, for Workers that have it.
fn node_exports<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str) -> Option<v8::Local<'s, v8::Object>> {
    let module = NODE_MODULES.iter().find(|module| module.name == name)?;
    let state = IsolateState::of(scope);
    let allowed = has_node(&state) || (module.name == "async_hooks" && state.has_flag(Flag::NodejsAls));
    if !allowed {
        return None;
    }
    v8::Local::try_from(crate::api::export(scope, module.room, module.export)?).ok()
}
