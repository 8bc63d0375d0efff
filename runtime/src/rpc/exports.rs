//! Objects of this isolate that others may call: the table of them, and the capabilities that stand for them outside.
//!
//! An object is exported in the invocation that sent it; calls on it run there, and break when that is over. A call's
//! result is exported ahead of time under an id that the caller's side allocates, so that calls on it (pipelining) can
//! be sent before it exists: they wait in the table.

use std::any::Any;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::serve::{self, Member};
use super::state::RpcState;
use super::{Call, Capability, Reply, RpcError};
use crate::invocation::{Hold, HoldKind, InvocationId, InvocationState};
use crate::isolate::Isolate;
use crate::isolate::state::IsolateState;

/// Objects one isolate may export at a time.
pub(crate) const EXPORTS_MAX: usize = 100_000;

/// Calls on one isolate's exports that may wait in its inbox.
pub(crate) const CALLS_WAITING_MAX: usize = 10_000;

/// Calls that may wait for one result.
const CALLS_QUEUED_MAX: usize = 1_024;

/// Identifies an export within its isolate; never reused.
pub(crate) type ExportId = u64;

const NO_LONGER_RUNNING: &str = "The execution context which hosts this callback is no longer running.";

/// Which properties of an object callers can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Its own, and nothing inherited: plain objects and functions.
    Own,
    /// What its class gives it, and nothing of its own: `RpcTarget`s.
    Class,
}

/// One exported object.
pub(crate) struct Export {
    invocation: InvocationId,
    state: State,
    /// What keeps the invocation open for it, by the id of the capability that was sent.
    holds: Vec<(u64, Hold)>,
}

enum State {
    /// A call's result that is not known yet, and the calls on it.
    Pending {
        queued: Vec<Queued>,
        caller: Caller,
    },
    Ready(Object),
    /// A call's result that will never be.
    Failed(RpcError),
}

/// Whether anybody may still send calls on a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    Interested,
    Gone,
}

/// A call that waits for the object it is on.
struct Queued {
    call: Call,
    /// The reply, as the invocation keeps it.
    reply: u64,
    result: Option<ExportId>,
}

/// An object that can be called.
pub(crate) struct Object {
    pub(crate) target: v8::Global<v8::Object>,
    pub(crate) access: Access,
    /// Called when the last reference to the export is gone.
    pub(crate) on_release: Vec<v8::Global<v8::Function>>,
}

impl Export {
    pub(crate) fn invocation(&self) -> InvocationId {
        self.invocation
    }
}

/// Exports an object for the current invocation. `None`: there are too many already, or no invocation is running.
pub(crate) fn export(rpc: &RpcState, isolate: &IsolateState, object: Object) -> Option<Arc<ObjectRef>> {
    let invocation = isolate.current()?.id;
    let home = isolate.isolate()?;
    let mut exports = rpc.exports.borrow_mut();
    if exports.len() >= EXPORTS_MAX {
        return None;
    }
    let id = home.shared().next_id();
    exports.insert(id, Export { invocation, state: State::Ready(object), holds: Vec::new() });
    Some(Arc::new(ObjectRef { isolate: home, invocation, id, waiting: rpc.waiting.clone() }))
}

/// Makes room for a call's result.
pub(crate) fn expect_result(rpc: &RpcState, invocation: InvocationId, id: ExportId) {
    let mut exports = rpc.exports.borrow_mut();
    if exports.len() < EXPORTS_MAX {
        let state = State::Pending { queued: Vec::new(), caller: Caller::Interested };
        exports.insert(id, Export { invocation, state, holds: Vec::new() });
    }
}

/// A call's result is there: the calls that waited for it start, in order.
pub(crate) fn result_ready(
    scope: &mut v8::PinScope<'_, '_>,
    rpc: &RpcState,
    invocation: &Rc<InvocationState>,
    id: ExportId,
    object: Object,
) {
    let (target, access) = (object.target.clone(), object.access);
    let queued = {
        let mut exports = rpc.exports.borrow_mut();
        // Without an entry, the caller has let go of the result and nothing waits for it.
        let Some(export) = exports.get_mut(&id) else { return };
        // Until the caller lets go, calls on it may be on their way.
        export.holds.push((0, Hold::new(invocation, HoldKind::Export)));
        let pending = std::mem::replace(&mut export.state, State::Ready(object));
        let State::Pending { queued, caller } = pending else { return };
        if caller == Caller::Gone {
            exports.remove(&id);
        }
        queued
    };
    for Queued { call, reply, result } in queued {
        let target = v8::Local::new(scope, &target);
        serve::serve(scope, Member { target, access }, call, reply, result);
    }
}

/// A call failed: the calls on its result, those that wait and those on their way, fail alike, and so do the calls on theirs.
pub(crate) fn result_failed(rpc: &RpcState, invocation: &Rc<InvocationState>, id: ExportId, error: &RpcError) {
    // One after the other and not one within the other: a program makes this chain as long as it likes, and the stack is not.
    let mut failed = VecDeque::from([id]);
    while let Some(id) = failed.pop_front() {
        for Queued { reply, result, .. } in fail(rpc, invocation, id, error) {
            if let Some(reply) = invocation.take_reply(reply) {
                reply.send(Err(error.clone()));
            }
            failed.extend(result);
        }
    }
}

/// Notes that a result will not come; the calls that waited for it.
fn fail(rpc: &RpcState, invocation: &Rc<InvocationState>, id: ExportId, error: &RpcError) -> Vec<Queued> {
    let mut exports = rpc.exports.borrow_mut();
    let Some(export) = exports.get_mut(&id) else { return Vec::new() };
    export.holds.push((0, Hold::new(invocation, HoldKind::Export)));
    let pending = std::mem::replace(&mut export.state, State::Failed(error.clone()));
    let State::Pending { queued, caller } = pending else { return Vec::new() };
    if caller == Caller::Gone {
        exports.remove(&id);
    }
    queued
}

/// Adds what is to be called when the export is released. False when it is gone already.
pub(crate) fn on_release(rpc: &RpcState, id: ExportId, callback: v8::Global<v8::Function>) -> bool {
    match rpc.exports.borrow_mut().get_mut(&id) {
        Some(Export { state: State::Ready(object), .. }) => {
            object.on_release.push(callback);
            true
        }
        _ => false,
    }
}

/// A call arrived for an export.
fn call_arrived(scope: &mut v8::PinScope<'_, '_>, id: ExportId, call: Call, reply: Reply, result: ExportId) {
    let rpc = RpcState::of(scope);
    let Some(invocation) = IsolateState::of(scope).current() else { return };
    let member = {
        let mut exports = rpc.exports.borrow_mut();
        match exports.get_mut(&id).map(|export| &mut export.state) {
            None => return reply.send(Err(RpcError::new("Error", NO_LONGER_RUNNING))),
            Some(State::Pending { queued, .. }) => {
                if queued.len() >= CALLS_QUEUED_MAX {
                    return reply.send(Err(too_many_calls()));
                }
                let reply = invocation.hold_reply(reply);
                queued.push(Queued { call, reply, result: Some(result) });
                drop(exports);
                return expect_result(&rpc, invocation.id, result);
            }
            Some(State::Failed(error)) => {
                let error = error.clone();
                drop(exports);
                reply.send(Err(error.clone()));
                expect_result(&rpc, invocation.id, result);
                return result_failed(&rpc, &invocation, result, &error);
            }
            Some(State::Ready(object)) => {
                Member { target: v8::Local::new(scope, &object.target), access: object.access }
            }
        }
    };
    expect_result(&rpc, invocation.id, result);
    let reply = invocation.hold_reply(reply);
    serve::serve(scope, member, call, reply, Some(result));
}

fn no_longer_running() -> RpcError {
    RpcError { disconnected: true, remote: false, ..RpcError::new("Error", NO_LONGER_RUNNING) }
}

fn too_many_calls() -> RpcError {
    RpcError { overloaded: true, ..RpcError::new("Error", "Too many requests wait for this Worker.") }
}

/// Nobody refers to the export any more.
fn released(scope: &mut v8::PinScope<'_, '_>, id: ExportId) {
    let rpc = RpcState::of(scope);
    let released = {
        let mut exports = rpc.exports.borrow_mut();
        match exports.get_mut(&id).map(|export| &mut export.state) {
            // Calls that wait for the result still run, and then nothing keeps it.
            Some(State::Pending { queued, caller }) if !queued.is_empty() => {
                *caller = Caller::Gone;
                None
            }
            _ => exports.remove(&id),
        }
    };
    let Some(Export { state: State::Ready(object), .. }) = released else { return };
    let receiver = v8::undefined(scope).into();
    for callback in object.on_release {
        v8::tc_scope!(let scope, scope);
        let callback = v8::Local::new(scope, callback);
        // A disposer that throws has nobody to tell: the caller is gone.
        let _ = callback.call(scope, receiver, &[]);
    }
}

/// An exported object, as its own isolate refers to it.
pub(crate) struct ObjectRef {
    isolate: Isolate,
    invocation: InvocationId,
    id: ExportId,
    waiting: Arc<AtomicUsize>,
}

impl ObjectRef {
    /// Stands for the result of an entrypoint's call before it is known. The id is allocated here.
    pub(crate) fn result_of(isolate: &Isolate, invocation: InvocationId) -> (ExportId, Arc<dyn Capability>) {
        let id = isolate.shared().next_id();
        let result = Self { isolate: isolate.clone(), invocation, id, waiting: Arc::default() };
        (id, Arc::new(result))
    }
}

/// Answers with why the invocation was ended, or with the platform's text, when it is gone before the call reaches it.
struct ReplyOrLost {
    reply: Option<Reply>,
    isolate: Isolate,
    invocation: InvocationId,
}

impl ReplyOrLost {
    fn take(mut self) -> Option<Reply> {
        self.reply.take()
    }
}

impl Drop for ReplyOrLost {
    fn drop(&mut self) {
        if let Some(reply) = self.reply.take() {
            let shared = self.isolate.shared();
            let ended = || shared.cause_for(self.invocation).map(RpcError::ended);
            reply.send(Err(shared.why_aborted(self.invocation).or_else(ended).unwrap_or_else(no_longer_running)));
        }
    }
}

/// Counts a call as waiting until it is taken out of the inbox.
struct Waiting(Arc<AtomicUsize>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl Capability for ObjectRef {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let shared = self.isolate.shared();
        if let Some(cause) = shared.cause_for(self.invocation) {
            reply.send(Err(RpcError { disconnected: true, ..RpcError::ended(cause) }));
            return None;
        }
        if shared.why_aborted(self.invocation).is_some() {
            // As on the platform, why is for those who called before.
            reply.send(Err(no_longer_running()));
            return None;
        }
        self.waiting.fetch_add(1, SeqCst);
        let waiting = Waiting(self.waiting.clone());
        if self.waiting.load(SeqCst) > CALLS_WAITING_MAX {
            reply.send(Err(too_many_calls()));
            return None;
        }
        let (id, result) = (self.id, shared.next_id());
        let reply = ReplyOrLost { reply: Some(reply), isolate: self.isolate.clone(), invocation: self.invocation };
        shared.post_task(Some(self.invocation), move |scope| {
            drop(waiting);
            if let Some(reply) = reply.take() {
                call_arrived(scope, id, call, reply, result);
            }
        });
        Some(Arc::new(Self {
            isolate: self.isolate.clone(),
            invocation: self.invocation,
            id: result,
            waiting: self.waiting.clone(),
        }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for ObjectRef {
    fn drop(&mut self) {
        let id = self.id;
        self.isolate.shared().post_task(Some(self.invocation), move |scope| released(scope, id));
    }
}

/// An exported object that was sent away: keeps its invocation open while it is held.
pub(crate) struct Sent {
    /// `None` only while it is being dropped.
    object: Option<Arc<ObjectRef>>,
    hold: u64,
    kind: HoldKind,
}

/// Notes that a reference to one of this isolate's own objects is about to be sent, and wraps it.
pub(crate) fn send(
    rpc: &RpcState,
    isolate: &IsolateState,
    object: Arc<ObjectRef>,
    kind: HoldKind,
) -> Arc<dyn Capability> {
    let Some(invocation) = isolate.invocation(object.invocation) else { return object };
    let hold = rpc.next_id();
    if let Some(export) = rpc.exports.borrow_mut().get_mut(&object.id) {
        export.holds.push((hold, Hold::new(&invocation, kind)));
    }
    Arc::new(Sent { object: Some(object), hold, kind })
}

/// Whoever holds an object that was lent may go on calling it, as long as its invocation lasts anyway.
pub(crate) fn hold_loosely(target: &Arc<dyn Capability>) {
    let Some(Sent { object: Some(object), hold, kind: HoldKind::Lent }) = target.as_any().downcast_ref::<Sent>() else {
        return;
    };
    let (invocation, id, hold) = (object.invocation, object.id, *hold);
    object.isolate.shared().post_task(Some(invocation), move |scope| {
        let (rpc, isolate) = (RpcState::of(scope), IsolateState::of(scope));
        let Some(invocation) = isolate.invocation(invocation) else { return };
        if let Some(export) = rpc.exports.borrow_mut().get_mut(&id) {
            for (_, kept) in export.holds.iter_mut().filter(|(held, _)| *held == hold) {
                *kept = Hold::new(&invocation, HoldKind::Callback);
            }
        }
    });
}

/// The object behind a capability, when it is one that `invocation` of `isolate` has sent itself: holding it must not
/// keep that same invocation open.
pub(crate) fn come_home(
    target: &Arc<dyn Capability>,
    isolate: &Isolate,
    invocation: InvocationId,
) -> Option<Arc<dyn Capability>> {
    let object = target.as_any().downcast_ref::<Sent>()?.object.as_ref()?;
    let home = Arc::ptr_eq(object.isolate.shared(), isolate.shared()) && object.invocation == invocation;
    home.then(|| Arc::new(Own(object.clone())) as Arc<dyn Capability>)
}

/// An exported object in the hands of its own isolate, which keeps no invocation open.
pub(crate) struct Own(pub(crate) Arc<ObjectRef>);

impl Capability for Own {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        self.0.call(call, reply)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Capability for Sent {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        self.object.as_ref()?.call(call, reply)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        let Some(object) = self.object.take() else { return };
        let (isolate, invocation, id, hold) = (object.isolate.clone(), object.invocation, object.id, self.hold);
        // First, so that the object's disposer runs while the hold still keeps its invocation from looking hung.
        drop(object);
        isolate.shared().post_task(Some(invocation), move |scope| {
            if let Some(export) = RpcState::of(scope).exports.borrow_mut().get_mut(&id) {
                export.holds.retain(|(held, _)| *held != hold);
            }
        });
    }
}
