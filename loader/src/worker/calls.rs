//! Calls of a Worker: they wait for its start, go to its isolate, and end.

use std::sync::Arc;

use loaderd_runtime::channel::InvocationReport;
use loaderd_runtime::limits::{Cause, Outcome, ResourceLimits, Usage};
use loaderd_runtime::rpc::{Call, Capability, Reply, RpcError};

use super::{Generation, Phase, Worker};
use crate::entrypoint::{Entrypoint, Invocation, InvocationSlot, Next, PendingCall};
use crate::placement::{Invoked, OnInvocationEnd, PlacedEntrypoint, PlacedInvocation, PlacedIsolate};

/// Calls that may wait for one Worker to start. Over it they are refused as overloaded.
pub const WAITING_CALLS_MAX: usize = 1024;

impl Worker {
    /// See [`Entrypoint::invoke`].
    pub(crate) fn invoke(
        &self,
        entrypoint: &Entrypoint,
        call: Call,
        reply: Reply,
        on_end: Option<OnInvocationEnd>,
    ) -> (Invocation, Option<Arc<dyn Capability>>) {
        let place = match entrypoint.caller().map(|caller| caller.enter(self.id)).transpose() {
            Ok(place) => place,
            Err(error) => {
                let on_end = on_end.unwrap_or_else(|| Box::new(drop));
                PendingCall { entrypoint: entrypoint.clone(), call, reply, on_end }.refuse(error.to_rpc());
                return (Invocation(InvocationSlot::over()), None);
            }
        };
        let reply = match place {
            None => reply,
            // Given back ahead of the answer: whoever has that may start another at once.
            Some(place) => reply.preceded_by(move || drop(place)),
        };
        let on_end = on_end.unwrap_or_else(|| Box::new(drop));
        let pending = PendingCall { entrypoint: entrypoint.clone(), call, reply, on_end };
        let (refused, pending) = loop {
            let mut state = self.state.lock();
            let generation = state.generation;
            match &mut state.phase {
                Phase::Running { isolate, idle } if isolate.ended().is_some() => {
                    // Its end is on the way to us; the call is not to suffer for it.
                    let idle = idle.take();
                    state.phase = Phase::Asleep;
                    drop(state);
                    if let Some(key) = idle {
                        self.host.live.no_longer_idle(key);
                    }
                    self.forget();
                }
                Phase::Running { isolate, idle } => {
                    let (isolate, idle) = (Arc::clone(isolate), idle.take());
                    state.active += 1;
                    drop(state);
                    if let Some(key) = idle {
                        self.host.live.no_longer_idle(key);
                    }
                    let slot = InvocationSlot::starting();
                    let pipeline = self.dispatch(generation, &isolate, &slot, pending);
                    return (Invocation(slot), pipeline);
                }
                Phase::AwaitingCode | Phase::Starting { .. } => {
                    if state.waiting.len() >= WAITING_CALLS_MAX {
                        break (too_many_waiting(), pending);
                    }
                    let slot = InvocationSlot::waiting(pending);
                    state.waiting.push(Arc::clone(&slot));
                    return (Invocation(slot), None);
                }
                Phase::Asleep => {
                    drop(state);
                    if let Err(error) = self.start() {
                        break (error.to_rpc(), pending);
                    }
                }
                Phase::Failed(error) => break (error.to_rpc(), pending),
                Phase::Ended(cause) => break (RpcError::ended(*cause), pending),
            }
        };
        pending.refuse(refused);
        (Invocation(InvocationSlot::over()), None)
    }

    /// Gives a call, already counted as active, to the isolate.
    pub(super) fn dispatch(
        &self,
        generation: Generation,
        isolate: &Arc<dyn PlacedIsolate>,
        slot: &InvocationSlot,
        pending: PendingCall,
    ) -> Option<Arc<dyn Capability>> {
        let PendingCall { entrypoint, call, reply, on_end } = pending;
        let placed = entrypoint.placed(generation, |spec, object| {
            let mut spec = spec.clone();
            spec.limits = self.limits().lowest(spec.limits);
            match object {
                None => isolate.entrypoint(spec),
                Some(key) => isolate.object(spec, key.clone()).unwrap_or_else(|| Arc::new(NoObjects)),
            }
        });
        // The entrypoint keeps its Worker, and so the isolate, while the invocation is open.
        let on_end: OnInvocationEnd = Box::new(move |report| {
            entrypoint.worker().host.live.invocation_ended(&report);
            entrypoint.worker().invocation_ended(generation);
            on_end(report);
        });
        let invoked = placed.invoke(call, reply, on_end);
        slot.running(invoked.invocation);
        invoked.pipeline
    }

    /// The lowest of what the host and the code allow.
    fn limits(&self) -> ResourceLimits {
        self.state.lock().code.as_ref().map_or(self.host.limits.invocation, |code| code.load.limits)
    }

    pub(super) fn invocation_ended(&self, generation: Generation) {
        {
            let mut state = self.state.lock();
            if state.generation != generation {
                return;
            }
            state.active = state.active.saturating_sub(1);
            if state.active == 0
                && let Phase::Running { idle, .. } = &mut state.phase
                && idle.is_none()
            {
                *idle = self.list_as_idle();
            }
        }
        self.evict_over_bound();
    }
}

/// What stands for Durable Objects in a place that has none.
struct NoObjects;

impl PlacedEntrypoint for NoObjects {
    fn invoke(&self, _: Call, reply: Reply, on_end: OnInvocationEnd) -> Invoked {
        let error = RpcError::new("Error", "Durable Objects are not supported where this Worker runs.");
        let report = never_ran(&error);
        reply.send(Err(error));
        on_end(report);
        Invoked { invocation: Arc::new(NoObjects), pipeline: None }
    }
}

impl PlacedInvocation for NoObjects {
    fn end(&self, _: Cause) {}
}

pub(super) fn refuse_all(waiting: Vec<Arc<InvocationSlot>>, error: &RpcError) {
    for slot in waiting {
        if let Some(pending) = slot.take(Next::Refuse) {
            pending.refuse(error.clone());
        }
    }
}

fn too_many_waiting() -> RpcError {
    let message = format!("Too many calls wait for this Worker to start: at most {WAITING_CALLS_MAX} may.");
    RpcError { overloaded: true, ..RpcError::new("Error", message) }
}

/// The report of an invocation that was refused before it ran.
pub(crate) fn never_ran(error: &RpcError) -> InvocationReport {
    InvocationReport { outcome: error.cause.map_or(Outcome::Exception, Cause::outcome), usage: Usage::default() }
}
