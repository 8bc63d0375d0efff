//! What the turn loop calls: the doors between an isolate's thread and its RPC state. Everything here runs on the
//! isolate's thread with its context entered; nothing blocks.
//!
//! The other direction needs no trait: calls on exported objects and answers to outgoing calls are posted to the
//! isolate's inbox as tasks of the invocation they belong to.

use super::{Call, Message, Reply, RpcError};
use crate::isolate::EntrypointSpec;

/// Starts handling an invocation's first call, in a turn whose current invocation is the new one. The reply is kept
/// with the invocation, so it is answered however the invocation ends.
pub(crate) fn dispatch_entrypoint(
    _scope: &mut v8::PinScope<'_, '_>,
    _entrypoint: &EntrypointSpec,
    _call: Call,
    reply: Reply,
) {
    reply.send(Err(RpcError::new("Error", "JS RPC is not installed in this isolate.")));
}

/// Turns a message into a value: `env` and `ctx.props`. Outside an invocation its capabilities live as long as the
/// isolate, inside one as long as that. `None` with an exception pending: the bytes are not a value.
pub(crate) fn revive<'s>(scope: &mut v8::PinScope<'s, '_>, _message: &Message) -> Option<v8::Local<'s, v8::Value>> {
    Some(v8::undefined(scope).into())
}

/// Drops what an ended invocation still held: stubs, exported objects, outgoing calls. Call it once per invocation,
/// after its reply was answered.
pub(crate) fn invocation_ended(_scope: &mut v8::PinScope<'_, '_>, _invocation: u64) {}

/// The exports of the built-in module `cloudflare:workers`; `None` with an exception pending.
pub(crate) fn workers_module<'s>(scope: &mut v8::PinScope<'s, '_>) -> Option<v8::Local<'s, v8::Object>> {
    Some(v8::Object::new(scope))
}
