//! Calls this isolate makes.

use super::deserialize::{Stack, deserialize_met};
use super::serialize::{Purpose, serialize};
use super::state::{ImportId, Keep, Met, RpcState};
use super::{Answer, Awaiting, Call, Cap, CapKind, Op, Reply, Waiter, errors};
use crate::api::tracing::current_span;
use crate::invocation::{Hold, HoldKind, InvocationId};
use crate::isolate::state::IsolateState;
use crate::js::throw_error;

/// Calls one isolate may have pending.
pub(crate) const CALLS_MAX: usize = 10_000;

/// What `connect()` calls of a service, and no method is called: a connection is no subrequest.
const CONNECT: &str = "connect";

/// A call that was made and whose answer JavaScript has not taken yet.
pub(crate) struct OutgoingCall {
    invocation: InvocationId,
    /// Settled, with nothing, when the answer is there.
    arrived: v8::Global<v8::PromiseResolver>,
    answer: Option<Answer>,
    /// What keeps the invocation from counting as hung; none for a call that it does not wait for.
    hold: Option<Hold>,
    met: Met,
    /// Goes with the invocation: the callee hears that nobody waits.
    _awaiting: Awaiting,
}

impl OutgoingCall {
    pub(crate) fn invocation(&self) -> InvocationId {
        self.invocation
    }
}

/// Whether the invocation waits for a call's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    Yes,
    /// Not until it says so.
    NotYet,
}

/// What JavaScript gets of a call it makes.
pub(crate) struct Started<'s> {
    /// Resolved when the answer can be taken.
    pub(crate) arrived: v8::Local<'s, v8::Promise>,
    pub(crate) call: u64,
    /// Stands for the result; `None` when calls on it must wait.
    pub(crate) pipeline: Option<ImportId>,
}

/// What is sent to an import, with the path it is sent to.
pub(crate) enum Content<'s> {
    /// A wish to read.
    Get,
    /// A call with an array of arguments.
    Call(v8::Local<'s, v8::Value>),
    /// An event, with an array of what it carries.
    Event(v8::Local<'s, v8::Value>),
}

/// Reads or calls the member at `path` of an import, or delivers an event of that kind. `None` with an exception pending.
pub(crate) fn start<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    import: ImportId,
    path: Vec<String>,
    content: Content<'s>,
    waits: Waits,
) -> Option<Started<'s>> {
    let rpc = RpcState::of(scope);
    let isolate = IsolateState::of(scope);
    let Some(invocation) = isolate.current() else {
        throw_error(scope, crate::api::GLOBAL_SCOPE_REFUSAL);
        return None;
    };
    if let Err(error) = Call::check_path(&path) {
        errors::throw(scope, &error);
        return None;
    }
    let cap = match rpc.imported(import, Some(invocation.id)) {
        Ok(cap) => cap,
        Err(error) => {
            throw_error(scope, &error.message());
            return None;
        }
    };
    if rpc.calls.borrow().len() >= CALLS_MAX {
        throw_error(scope, "This Worker has too many RPC calls pending.");
        return None;
    }
    let met = rpc.met(import);
    let purpose = match met {
        Met::InSession => Purpose::ArgumentsInSession,
        Met::Elsewhere => Purpose::Arguments,
    };
    let op = match content {
        Content::Get => Op::Get,
        Content::Call(arguments) => Op::Call(serialize(scope, arguments, purpose)?),
        Content::Event(parts) => Op::Event(serialize(scope, parts, Purpose::Arguments)?),
    };
    let counts = cap.kind == CapKind::Service || cap.target.counts_as_subrequest();
    if counts
        && path != [CONNECT]
        && let Err(message) = invocation.count_subrequest(rpc.class(import))
    {
        throw_error(scope, message);
        return None;
    }
    let span = invocation.tracer().and_then(|_| current_span(scope));
    let origin = invocation.origin_of_call(span);
    let arrived = v8::PromiseResolver::new(scope)?;
    let id = rpc.next_id();
    let shared = isolate.shared.clone();
    let invocation_id = invocation.id;
    let waiter = Waiter::new(&shared, invocation_id, invocation.waiter());
    let reply = Reply::awaited_by(Some(waiter), move |answer| {
        shared.post_task(Some(invocation_id), move |scope| answer_arrived(scope, id, answer));
    });
    let (reply, awaiting) = reply.awaited();
    rpc.calls.borrow_mut().insert(
        id,
        OutgoingCall {
            invocation: invocation.id,
            arrived: v8::Global::new(scope, arrived),
            answer: None,
            hold: (waits == Waits::Yes).then(|| Hold::new(&invocation, HoldKind::Io)),
            met,
            _awaiting: awaiting,
        },
    );
    let pipeline = cap.target.call(Call { path, op, origin }, reply).and_then(|target| {
        rpc.import_met(Cap { kind: CapKind::Object, target }, Some(invocation_id), Keep::Pipeline, met).ok()
    });
    Some(Started { arrived: arrived.get_promise(scope), call: id, pipeline })
}

/// From now on the invocation waits for a call's answer.
pub(crate) fn wait_for(scope: &mut v8::PinScope<'_, '_>, id: u64) {
    let rpc = RpcState::of(scope);
    let isolate = IsolateState::of(scope);
    if let Some(call) = rpc.calls.borrow_mut().get_mut(&id)
        && call.hold.is_none()
    {
        call.hold = isolate.invocation(call.invocation).map(|invocation| Hold::new(&invocation, HoldKind::Io));
    }
}

fn answer_arrived(scope: &mut v8::PinScope<'_, '_>, id: u64, answer: Answer) {
    let rpc = RpcState::of(scope);
    let arrived = match rpc.calls.borrow_mut().get_mut(&id) {
        Some(call) => {
            call.answer = Some(answer);
            v8::Local::new(scope, &call.arrived)
        }
        None => return,
    };
    let nothing = v8::undefined(scope);
    // Fails only when the isolate is being ended.
    let _ = arrived.resolve(scope, nothing.into());
}

/// The answer of a call that has arrived: an array of the value and the stubs in it. `None` with the error pending.
pub(crate) fn take<'s>(scope: &mut v8::PinScope<'s, '_>, id: u64) -> Option<v8::Local<'s, v8::Value>> {
    let rpc = RpcState::of(scope);
    let call = rpc.calls.borrow_mut().remove(&id)?;
    match call.answer?.result {
        Ok(message) => {
            let received = deserialize_met(scope, &message, Some(call.invocation), Stack::None, call.met)?;
            Some(v8::Array::new_with_elements(scope, &[received.value, received.stubs.into()]).into())
        }
        Err(error) => {
            let error = errors::to_js(scope, &error)?;
            scope.throw_exception(error);
            None
        }
    }
}
