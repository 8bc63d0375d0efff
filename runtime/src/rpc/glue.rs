//! What the turn loop calls: the doors between an isolate's thread and its RPC state. Everything here runs on the
//! isolate's thread with its context entered; nothing blocks.
//!
//! The other direction needs no trait: calls on exported objects and answers to outgoing calls are posted to the
//! isolate's inbox as tasks of the invocation they belong to.

use super::deserialize::{Stack, deserialize};
use super::exports::ExportId;
use super::state::RpcState;
use super::{Call, Message, Reply, serve};
use crate::isolate::EntrypointSpec;
use crate::isolate::state::IsolateState;
use crate::objects::ObjectKey;

/// Loads the rooms that every call needs. Nothing is lost when it fails: they are loaded when they are needed.
pub(crate) fn prepare(scope: &mut v8::PinScope<'_, '_>) {
    v8::tc_scope!(let scope, scope);
    let _ = RpcState::of(scope).js(scope);
    let _ = workers_module(scope);
    crate::modules::ahead::prepare(scope);
    scope.reset();
}

/// Starts handling an invocation's first call, in a turn whose current invocation is the new one. The reply is kept
/// with the invocation, so it is answered however the invocation ends. `result` stands for the call's result when
/// the caller may pipeline on it.
pub(crate) fn dispatch_entrypoint(
    scope: &mut v8::PinScope<'_, '_>,
    target: (&EntrypointSpec, Option<&ObjectKey>),
    call: Call,
    reply: Reply,
    result: Option<ExportId>,
) {
    serve::serve_entrypoint(scope, target, call, reply, result);
}

/// Turns a message into a value: `env` and `ctx.props`. Outside an invocation its capabilities live as long as the
/// isolate, inside one as long as that. `None` with an exception pending: the bytes are not a value.
pub(crate) fn revive<'s>(scope: &mut v8::PinScope<'s, '_>, message: &Message) -> Option<v8::Local<'s, v8::Value>> {
    let owner = IsolateState::of(scope).current().map(|invocation| invocation.id);
    Some(deserialize(scope, message, owner, Stack::None)?.value)
}

/// Drops what an ended invocation still held: stubs, exported objects, outgoing calls. Call it once per invocation,
/// after its reply was answered.
pub(crate) fn invocation_ended(scope: &mut v8::PinScope<'_, '_>, invocation: u64) {
    RpcState::of(scope).invocation_ended(invocation);
}

/// The exports of the built-in module `cloudflare:workers`; `None` with an exception pending.
pub(crate) fn workers_module<'s>(scope: &mut v8::PinScope<'s, '_>) -> Option<v8::Local<'s, v8::Object>> {
    v8::Local::try_from(crate::api::export(scope, "workers", "module")?).ok()
}
