//! Calls this isolate answers.

use std::rc::Rc;
use std::sync::Arc;

use super::deserialize::{Stack, deserialize, deserialize_met};
use super::exports::{self, Access, ExportId, Object, Own};
use super::serialize::{Purpose, serialize};
use super::state::{Met, RpcState};
use super::{Answer, Call, Cap, CapKind, Op, Reply, RpcError, errors};
use crate::invocation::{HoldKind, InvocationState};
use crate::isolate::EntrypointSpec;
use crate::isolate::state::IsolateState;
use crate::js::string;
use crate::objects::ObjectKey;

/// An object and how callers reach into it.
pub(crate) struct Member<'s> {
    pub(crate) target: v8::Local<'s, v8::Object>,
    pub(crate) access: Access,
}

/// Starts a call on an exported object. `reply` is the key under which the current invocation keeps the reply;
/// `result` names what stands for the result, if the caller wants to pipeline.
pub(crate) fn serve(
    scope: &mut v8::PinScope<'_, '_>,
    member: Member<'_>,
    call: Call,
    reply: u64,
    result: Option<ExportId>,
) {
    answer_thrown(scope, reply, result, |scope| {
        if matches!(call.op, Op::Event(_)) {
            crate::js::throw_type_error(scope, "Events are delivered to services only.");
            return None;
        }
        let js = RpcState::of(scope).js(scope)?;
        let serve = v8::Local::new(scope, &js.serve);
        let receiver = v8::undefined(scope).into();
        let access = access_code(scope, member.access);
        let (path, arguments, stubs) = call_parts(scope, call, Met::Elsewhere)?;
        let (reply, result) = keys(scope, reply, result);
        serve.call(scope, receiver, &[member.target.into(), access, path, arguments, stubs, reply, result])
    });
}

/// Starts an invocation's call on its entrypoint.
pub(crate) fn serve_entrypoint(
    scope: &mut v8::PinScope<'_, '_>,
    (spec, object): (&EntrypointSpec, Option<&ObjectKey>),
    call: Call,
    reply: Reply,
    result: Option<ExportId>,
) {
    let isolate = IsolateState::of(scope);
    let Some(invocation) = isolate.current() else { return };
    if let Some(result) = result {
        exports::expect_result(&RpcState::of(scope), invocation.id, result);
    }
    let reply = invocation.hold_reply(reply);
    if matches!(call.op, Op::Call(_)) && call.path == ["fetch"] {
        invocation.set_of_fetch();
    }
    answer_thrown(scope, reply, result, |scope| {
        let js = RpcState::of(scope).js(scope)?;
        let entrypoint = v8::Local::new(scope, &js.entrypoint);
        let receiver = v8::undefined(scope).into();
        let name = match &spec.name {
            Some(name) => string(scope, name),
            None => string(scope, "default"),
        };
        let props = match &spec.props {
            Some(props) => deserialize(scope, props, Some(invocation.id), Stack::None)?.value,
            None => v8::Object::new(scope).into(),
        };
        let is_event = v8::Boolean::new(scope, matches!(call.op, Op::Event(_))).into();
        let (path, arguments, stubs) = call_parts(scope, call, Met::InSession)?;
        let (reply, result) = keys(scope, reply, result);
        let object = object_key(scope, object);
        let name = name.into();
        entrypoint.call(scope, receiver, &[name, props, path, arguments, stubs, reply, result, object, is_event])
    });
}

/// An object's key for JavaScript: id, name, facet path and depth, purpose; undefined where no object is meant.
fn object_key<'s>(scope: &mut v8::PinScope<'s, '_>, object: Option<&ObjectKey>) -> v8::Local<'s, v8::Value> {
    let Some(ObjectKey { id, name, facet, purpose }) = object else { return v8::undefined(scope).into() };
    let id = string(scope, id).into();
    let (path, depth) = facet.as_ref().map_or(("", 0), |facet| (facet.path.as_str(), facet.depth));
    let path = string(scope, path).into();
    let depth = v8::Integer::new_from_unsigned(scope, depth).into();
    let purpose = v8::Integer::new(scope, *purpose as i32).into();
    let name = match name {
        Some(name) => string(scope, name).into(),
        None => v8::undefined(scope).into(),
    };
    v8::Array::new_with_elements(scope, &[id, name, path, depth, purpose]).into()
}

/// Runs `start`; what it throws fails the call.
fn answer_thrown<'s, 'i>(
    scope: &mut v8::PinScope<'s, 'i>,
    reply: u64,
    result: Option<ExportId>,
    start: impl for<'a> FnOnce(&mut v8::PinScope<'a, 'i>) -> Option<v8::Local<'a, v8::Value>>,
) {
    v8::tc_scope!(let scope, scope);
    if start(scope).is_some() {
        return;
    }
    // Terminated, or without an exception: the isolate is being ended, which answers everybody.
    let Some(exception) = scope.exception().filter(|_| !scope.has_terminated()) else { return };
    scope.reset();
    failed(scope, reply, result, exception, ThrownBy::Callee);
}

type Parts<'s> = (v8::Local<'s, v8::Value>, v8::Local<'s, v8::Value>, v8::Local<'s, v8::Value>);

/// A call's path, arguments (undefined for a read) and the stubs among them, for JavaScript.
fn call_parts<'s>(scope: &mut v8::PinScope<'s, '_>, call: Call, met: Met) -> Option<Parts<'s>> {
    if let Err(error) = Call::check_path(&call.path) {
        errors::throw(scope, &error);
        return None;
    }
    let names: Vec<v8::Local<v8::Value>> = call.path.iter().map(|name| string(scope, name).into()).collect();
    let path = v8::Array::new_with_elements(scope, &names).into();
    let nothing = v8::undefined(scope).into();
    match call.op {
        Op::Get => Some((path, nothing, nothing)),
        Op::Call(message) | Op::Event(message) => {
            let owner = IsolateState::of(scope).current().map(|invocation| invocation.id);
            let received = deserialize_met(scope, &message, owner, Stack::None, met)?;
            if !received.value.is_array() {
                crate::js::throw_type_error(scope, "The arguments of an RPC call must be an array.");
                return None;
            }
            Some((path, received.value, received.stubs.into()))
        }
    }
}

fn access_code<'s>(scope: &mut v8::PinScope<'s, '_>, access: Access) -> v8::Local<'s, v8::Value> {
    v8::Boolean::new(scope, access == Access::Own).into()
}

/// Reply and result as JavaScript carries them; result zero is none.
fn keys<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    reply: u64,
    result: Option<ExportId>,
) -> (v8::Local<'s, v8::Value>, v8::Local<'s, v8::Value>) {
    let result = result.unwrap_or(0);
    (v8::Number::new(scope, reply as f64).into(), v8::Number::new(scope, result as f64).into())
}

/// What JavaScript says of a result.
pub(crate) struct Settled<'s> {
    pub(crate) reply: u64,
    pub(crate) result: Option<ExportId>,
    pub(crate) value: v8::Local<'s, v8::Value>,
    /// What calls on the result reach.
    pub(crate) member: Member<'s>,
    /// To be called when the caller disposes of the result.
    pub(crate) disposer: Option<v8::Local<'s, v8::Function>>,
}

/// Answers a call with a value. `None` with an exception pending when it cannot be sent; the call is unanswered then.
pub(crate) fn succeeded<'s>(scope: &mut v8::PinScope<'s, '_>, settled: Settled<'s>) -> Option<()> {
    let rpc = RpcState::of(scope);
    let isolate = IsolateState::of(scope);
    isolate.memory.see_uncollected_heap(scope.get_heap_statistics().used_heap_size());
    isolate.look_at_memory(scope);
    if isolate.shared.cause().is_some() {
        // It met a limit and was about to be told: no result gets away with more than was allowed.
        return Some(());
    }
    let Some(answering) = Answering::start(&isolate, settled.reply) else { return Some(()) };
    let invocation = answering.invocation.clone();
    let mut message = serialize(scope, settled.value, Purpose::Result)?;
    if let Some(disposer) = settled.disposer {
        // Nothing in the value shows it: the receiver drops it when it disposes of the value.
        let object = Object {
            target: {
                let empty = v8::Object::new(scope);
                v8::Global::new(scope, empty)
            },
            access: Access::Own,
            on_release: vec![v8::Global::new(scope, disposer)],
        };
        if let Some(object) = exports::export(&rpc, &isolate, object) {
            let target = exports::send(&rpc, &isolate, object, HoldKind::Export);
            message.caps.push(Cap { kind: CapKind::Object, target });
        }
    }
    reply_with(&isolate, &invocation, settled.reply, Ok(message));
    if let Some(result) = settled.result {
        let target = v8::Global::new(scope, settled.member.target);
        let object = Object { target, access: settled.member.access, on_release: Vec::new() };
        exports::result_ready(scope, &rpc, &invocation, result, object);
    }
    Some(())
}

/// Who threw what a call is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThrownBy {
    /// The callee's side, before there was a method to call: to callers it is remote.
    Callee,
    /// The method that was called; remote too, and a Durable Object's is named.
    Method,
    /// The platform, which could not make the call.
    Platform,
}

/// Answers a call with what was thrown.
pub(crate) fn failed<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    reply: u64,
    result: Option<ExportId>,
    thrown: v8::Local<'s, v8::Value>,
    by: ThrownBy,
) {
    let isolate = IsolateState::of(scope);
    if isolate.shared.cause().is_some() {
        // What looks thrown is the termination; whoever waits gets its cause when the isolate is torn down.
        return;
    }
    let Some(answering) = Answering::start(&isolate, reply) else { return };
    let invocation = answering.invocation.clone();
    if by == ThrownBy::Method
        && let Some(id) = invocation.object_id()
    {
        name_object(scope, thrown, &id);
    }
    let error = RpcError { remote: by != ThrownBy::Platform, ..errors::from_js(scope, thrown) };
    if let Some(result) = result {
        exports::result_failed(&RpcState::of(scope), &invocation, result, &error);
    }
    reply_with(&isolate, &invocation, reply, Err(error));
}

/// Says in an error which Durable Object threw it. What cannot be written to stays as it is.
fn name_object<'s>(scope: &mut v8::PinScope<'s, '_>, thrown: v8::Local<'s, v8::Value>, id: &str) {
    if let Ok(error) = v8::Local::<v8::Object>::try_from(thrown)
        && !thrown.is_function()
    {
        v8::tc_scope!(let scope, scope);
        let (key, id) = (string(scope, "durableObjectId"), string(scope, id));
        let _ = error.create_data_property(scope, key.into(), id.into());
    }
}

/// While a reply is being given, the invocation that keeps it is the current one: what the answer exports is its own.
struct Answering<'a> {
    isolate: &'a IsolateState,
    invocation: Rc<InvocationState>,
    before: Option<Rc<InvocationState>>,
}

impl<'a> Answering<'a> {
    /// `None`: the reply has been given, or its invocation is over.
    fn start(isolate: &'a IsolateState, reply: u64) -> Option<Self> {
        let invocation = isolate.keeper_of_reply(reply)?;
        let before = isolate.current();
        isolate.set_current(Some(invocation.clone()));
        Some(Self { isolate, invocation, before })
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        self.isolate.set_current(self.before.take());
    }
}

fn reply_with(
    isolate: &IsolateState,
    invocation: &Rc<InvocationState>,
    reply: u64,
    result: Result<super::Message, RpcError>,
) {
    if let Some(reply) = invocation.take_reply(reply) {
        reply.send(Answer { result, usage: invocation.usage(isolate.turn_cpu_ns()) });
    }
}

/// Exports an object so that this isolate itself holds it, as a stub does.
pub(crate) fn export_own<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    member: Member<'s>,
    kind: CapKind,
    on_release: Option<v8::Local<'s, v8::Function>>,
) -> Option<Cap> {
    let (rpc, isolate) = (RpcState::of(scope), IsolateState::of(scope));
    let object = Object {
        target: v8::Global::new(scope, member.target),
        access: member.access,
        on_release: on_release.map(|function| v8::Global::new(scope, function)).into_iter().collect(),
    };
    let object = exports::export(&rpc, &isolate, object)?;
    Some(Cap { kind, target: Arc::new(Own(object)) })
}
