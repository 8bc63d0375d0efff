//! An entrypoint of a loaded Worker, and an invocation of it, wherever its isolate lives and whether it runs yet.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::channel::oneshot;
use loaderd_runtime::isolate::EntrypointSpec;
use loaderd_runtime::limits::Cause;
use loaderd_runtime::objects::ObjectKey;
use loaderd_runtime::rpc::{Answer, Call, Capability, Message, Op, Reply, RpcError};
use parking_lot::Mutex;

use crate::callers::Caller;
use crate::placement::{OnInvocationEnd, PlacedEntrypoint, PlacedInvocation};
use crate::worker::{Generation, Worker};

/// Why nothing of a loaded Worker may be handed to others.
pub(crate) const NOT_TRANSFERABLE: &str = "Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not \
     know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs \
     the dynamic worker and forwards to it.";

/// An entrypoint. Each call of it is one invocation, with a fresh budget. Cheap to clone.
#[derive(Clone)]
pub struct Entrypoint(Arc<Shared>);

struct Shared {
    worker: Arc<Worker>,
    spec: EntrypointSpec,
    /// Which object, when the entrypoint is a class of Durable Objects.
    object: Option<ObjectKey>,
    caller: Option<Caller>,
    /// The entrypoint in the isolate that runs now; another isolate makes another.
    placed: Mutex<Option<(Generation, Arc<dyn PlacedEntrypoint>)>>,
}

impl Entrypoint {
    pub(crate) fn new(worker: Arc<Worker>, spec: EntrypointSpec) -> Self {
        Self(Arc::new(Shared { worker, spec, object: None, caller: None, placed: Mutex::new(None) }))
    }

    pub(crate) fn of_object(worker: Arc<Worker>, spec: EntrypointSpec, key: ObjectKey) -> Self {
        Self(Arc::new(Shared { worker, spec, object: Some(key), caller: None, placed: Mutex::new(None) }))
    }

    /// The same entrypoint, its calls counted against what one caller may have running at once.
    #[must_use]
    pub fn for_caller(&self, caller: Caller) -> Self {
        Self(Arc::new(Shared {
            worker: Arc::clone(&self.0.worker),
            spec: self.0.spec.clone(),
            object: self.0.object.clone(),
            caller: Some(caller),
            placed: Mutex::new(None),
        }))
    }

    /// Calls a method. `args` is an array: the arguments. Dropping the future ends the invocation as canceled.
    pub fn call_method(&self, method: &str, args: Message) -> Answering {
        let (reply, answer) = Reply::channel();
        let call = Call::new(vec![method.to_owned()], Op::Call(args));
        let (invocation, _) = self.invoke(call, reply, None);
        Answering { answer, invocation: Some(invocation) }
    }

    /// Starts an invocation. The answer goes to `reply` once; `on_end`, if given, runs once after it, when nothing of
    /// the invocation is left. The second part stands for the result before it is known, where it can. Any thread;
    /// never blocks.
    pub fn invoke(
        &self,
        call: Call,
        reply: Reply,
        on_end: Option<OnInvocationEnd>,
    ) -> (Invocation, Option<Arc<dyn Capability>>) {
        self.0.worker.invoke(self, call, reply, on_end)
    }

    pub(crate) fn worker(&self) -> &Worker {
        &self.0.worker
    }

    pub(crate) fn caller(&self) -> Option<&Caller> {
        self.0.caller.as_ref()
    }

    /// This entrypoint in the isolate of a generation, made there if it is not yet.
    pub(crate) fn placed(
        &self,
        generation: Generation,
        make: impl FnOnce(&EntrypointSpec, Option<&ObjectKey>) -> Arc<dyn PlacedEntrypoint>,
    ) -> Arc<dyn PlacedEntrypoint> {
        if let Some((made_for, placed)) = &*self.0.placed.lock()
            && *made_for == generation
        {
            return Arc::clone(placed);
        }
        let placed = make(&self.0.spec, self.0.object.as_ref());
        *self.0.placed.lock() = Some((generation, Arc::clone(&placed)));
        placed
    }
}

impl Capability for Entrypoint {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let caller = reply.caller();
        let (invocation, pipeline) = self.invoke(call, reply, None);
        caller.on_gone(move || invocation.end(Cause::Canceled));
        pipeline
    }

    fn counts_as_subrequest(&self) -> bool {
        true
    }

    fn refuses_transfer(&self) -> Option<&'static str> {
        Some(NOT_TRANSFERABLE)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The answer of a call on its way. Dropping it ends the invocation as canceled.
pub struct Answering {
    answer: oneshot::Receiver<Answer>,
    invocation: Option<Invocation>,
}

impl Answering {
    /// The invocation, to end it with another cause.
    #[must_use]
    pub fn invocation(&self) -> Option<Invocation> {
        self.invocation.clone()
    }
}

impl Future for Answering {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let answer = match Pin::new(&mut self.answer).poll(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(answer)) => answer,
            Poll::Ready(Err(oneshot::Canceled)) => Err(RpcError::ended(Cause::Canceled)).into(),
        };
        // Answered: what is left of it (waitUntil, objects it handed out) goes on.
        self.invocation = None;
        Poll::Ready(answer)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        if let Some(invocation) = self.invocation.take() {
            invocation.end(Cause::Canceled);
        }
    }
}

/// An invocation, from the outside. Dropping it changes nothing.
#[derive(Clone)]
pub struct Invocation(pub(crate) Arc<InvocationSlot>);

impl Invocation {
    /// Ends just this invocation, whether it runs or still waits for its Worker. The first cause wins.
    pub fn end(&self, cause: Cause) {
        self.0.end(cause);
    }
}

/// What an invocation is doing, as far as the loader knows.
pub(crate) struct InvocationSlot(Mutex<Phase>);

enum Phase {
    /// For the Worker to start.
    Waiting(Box<PendingCall>),
    /// Being handed to the isolate; ended meanwhile, if a cause is there.
    Starting(Option<Cause>),
    Running(Arc<dyn PlacedInvocation>),
    /// Refused, or ended before it began.
    Over,
}

/// A call that waits for its Worker.
pub(crate) struct PendingCall {
    pub(crate) entrypoint: Entrypoint,
    pub(crate) call: Call,
    pub(crate) reply: Reply,
    pub(crate) on_end: OnInvocationEnd,
}

impl PendingCall {
    /// Answers it without having run.
    pub(crate) fn refuse(self, error: RpcError) {
        let report = crate::worker::never_ran(&error);
        self.reply.send(Err(error));
        (self.on_end)(report);
    }
}

impl InvocationSlot {
    pub(crate) fn waiting(pending: PendingCall) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Phase::Waiting(Box::new(pending)))))
    }

    pub(crate) fn starting() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Phase::Starting(None))))
    }

    pub(crate) fn over() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Phase::Over)))
    }

    /// Takes the call that waits, if it still does.
    pub(crate) fn take(&self, next: Next) -> Option<PendingCall> {
        let mut phase = self.0.lock();
        if !matches!(*phase, Phase::Waiting(_)) {
            return None;
        }
        let next = match next {
            Next::Start => Phase::Starting(None),
            Next::Refuse => Phase::Over,
        };
        match std::mem::replace(&mut *phase, next) {
            Phase::Waiting(pending) => Some(*pending),
            _ => None,
        }
    }

    /// The isolate has it. Nothing is called under the lock: an answer may come back on this very stack.
    pub(crate) fn running(&self, invocation: Arc<dyn PlacedInvocation>) {
        let ended = {
            let mut phase = self.0.lock();
            match std::mem::replace(&mut *phase, Phase::Running(Arc::clone(&invocation))) {
                Phase::Starting(ended) => ended,
                _ => None,
            }
        };
        if let Some(cause) = ended {
            invocation.end(cause);
        }
    }

    fn end(&self, cause: Cause) {
        let mut phase = self.0.lock();
        match &mut *phase {
            Phase::Waiting(_) => {
                drop(phase);
                if let Some(pending) = self.take(Next::Refuse) {
                    pending.refuse(RpcError::ended(cause));
                }
            }
            Phase::Starting(ended) => {
                ended.get_or_insert(cause);
            }
            Phase::Running(invocation) => {
                let invocation = Arc::clone(invocation);
                drop(phase);
                invocation.end(cause);
            }
            Phase::Over => {}
        }
    }
}

/// What becomes of a call taken out of its slot.
#[derive(Clone, Copy)]
pub(crate) enum Next {
    Start,
    Refuse,
}
