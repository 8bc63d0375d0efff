//! A Worker's place in a sandbox process, and the wish for one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use loaderd_runtime::isolate::EntrypointSpec;
use loaderd_runtime::limits::Cause;
use loaderd_runtime::rpc::{Call, Reply};
use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::process::Process;
use super::session::connection_lost;
use super::worker::{Again, RemoteWorker};
use crate::error::LoaderError;
use crate::placement::{Invoked, OnInvocationEnd, PlacedEntrypoint, PlacedInvocation, PlacedIsolate, StartRequest};

/// How often a Worker is placed before its process's death counts as its end. Twice: once may be another's fault.
const PLACINGS_MAX: u32 = 2;

/// A Worker that waits for a process.
pub(super) struct Wish {
    request: StartRequest,
    placed: Arc<Placed>,
    /// Where it was asked for, if that is a runtime.
    runtime: Option<Handle>,
    asked: Instant,
}

impl Wish {
    /// A wish, and the place that it will fill.
    pub(super) fn new(request: StartRequest) -> (Self, Arc<Placed>) {
        let placed = Arc::new(Placed(Mutex::new(Place { phase: Phase::Waiting, placings: 0, lost: 0 })));
        (Self { request, placed: placed.clone(), runtime: Handle::try_current().ok(), asked: Instant::now() }, placed)
    }

    /// How long ago it was asked for.
    pub(super) fn age(&self) -> Duration {
        self.asked.elapsed()
    }

    pub(super) fn tenant(&self) -> Option<&Arc<str>> {
        self.request.tenant.as_ref()
    }

    /// Why nobody wants it any more, where it was ended while it waited.
    pub(super) fn unwanted(&self) -> Option<Cause> {
        match self.placed.0.lock().phase {
            Phase::Over(cause) => Some(cause),
            Phase::Waiting | Phase::Given(_) => None,
        }
    }

    /// Puts the Worker into a process, unless nobody wants it any more. `again` gets the wish back, once, when the
    /// process dies before the Worker has started.
    pub(super) fn give(self, process: &Arc<Process>, again: impl FnOnce(Self) + Send + 'static) {
        let Self { request, placed, runtime, asked } = self;
        let placings = {
            let mut place = placed.0.lock();
            if let Phase::Over(cause) = place.phase {
                drop(place);
                return Self { request, placed, runtime, asked }.refuse(LoaderError::Ended(cause));
            }
            place.placings += 1;
            place.placings
        };
        let once_more = (placings < PLACINGS_MAX).then(|| {
            let (placed, asked_on) = (placed.clone(), runtime.clone());
            Box::new(move |request| {
                {
                    let mut place = placed.0.lock();
                    place.lost = placings;
                    if let Phase::Given(_) = place.phase {
                        place.phase = Phase::Waiting;
                    }
                }
                again(Self { request, placed, runtime: asked_on, asked });
            }) as Again
        });
        let worker = RemoteWorker::start(process, request, runtime.as_ref(), once_more);
        let ended = {
            let mut place = placed.0.lock();
            if place.lost >= placings {
                // It waits again, or is somewhere else by now.
                return;
            }
            match std::mem::replace(&mut place.phase, Phase::Given(worker.clone())) {
                Phase::Over(cause) => Some(cause),
                Phase::Waiting | Phase::Given(_) => None,
            }
        };
        if let Some(cause) = ended {
            worker.end(cause);
        }
    }

    /// Gives the wish up.
    pub(super) fn refuse(self, error: LoaderError) {
        let cause = error.cause().unwrap_or(Cause::Shutdown);
        self.placed.0.lock().phase = Phase::Over(cause);
        (self.request.on_started)(Err(error));
        (self.request.on_end)(cause);
    }
}

/// A Worker's place.
pub(super) struct Placed(Mutex<Place>);

struct Place {
    phase: Phase,
    /// How often it was put into a process.
    placings: u32,
    /// Of those, how many came to nothing.
    lost: u32,
}

enum Phase {
    Waiting,
    Given(Arc<RemoteWorker>),
    Over(Cause),
}

impl Placed {
    fn worker(&self) -> Option<Arc<RemoteWorker>> {
        match &self.0.lock().phase {
            Phase::Given(worker) => Some(worker.clone()),
            Phase::Waiting | Phase::Over(_) => None,
        }
    }
}

impl PlacedIsolate for Placed {
    fn entrypoint(&self, spec: EntrypointSpec) -> Arc<dyn PlacedEntrypoint> {
        match self.worker() {
            Some(worker) => worker.entrypoint(spec),
            None => Arc::new(Nowhere),
        }
    }

    fn end(&self, cause: Cause) {
        match self.worker() {
            Some(worker) => worker.end(cause),
            None => {
                // Told when its turn to be placed comes, which is soon, or when the pool goes.
                let mut place = self.0.lock();
                if let Phase::Waiting = place.phase {
                    place.phase = Phase::Over(cause);
                }
            }
        }
    }

    fn ended(&self) -> Option<Cause> {
        match &self.0.lock().phase {
            Phase::Waiting => None,
            Phase::Given(worker) => worker.ended(),
            Phase::Over(cause) => Some(*cause),
        }
    }
}

/// An entrypoint of a Worker that was never placed.
struct Nowhere;

impl PlacedEntrypoint for Nowhere {
    fn invoke(&self, _: Call, reply: Reply, on_end: OnInvocationEnd) -> Invoked {
        let error = connection_lost();
        reply.send(Err(error.clone()));
        on_end(crate::worker::never_ran(&error));
        Invoked { invocation: Arc::new(Nowhere), pipeline: None }
    }
}

impl PlacedInvocation for Nowhere {
    fn end(&self, _: Cause) {}
}
