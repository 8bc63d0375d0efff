//! One loaded Worker: its code, the isolate that runs it now (if any), the calls that wait for it, and how it gets
//! from one state to the next.
//!
//! | File | Owns |
//! |---|---|
//! | `mod` | the states: awaiting code, starting, running, asleep, failed, ended |
//! | `prepared` | checked code in the form a placement takes |
//! | `calls` | calls: waiting for the start, in the isolate, refused |
//! | `idle` | Workers with nothing to do, and their eviction |
//!
//! Locks: a Worker's own lock may be held while the live set's is taken, never the other way round. No callback and no
//! placement is called under either.

mod calls;
mod idle;
mod prepared;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use futures::channel::oneshot;
use loaderd_runtime::isolate::LoadReport;
use loaderd_runtime::limits::Cause;
use loaderd_runtime::rpc::RpcError;
use parking_lot::Mutex;

pub use calls::WAITING_CALLS_MAX;
pub(crate) use calls::never_ran;
pub(crate) use idle::Busy;
pub(crate) use prepared::Prepared;

use calls::refuse_all;

use crate::entrypoint::{InvocationSlot, Next};
use crate::error::LoaderError;
use crate::host::HostShared;
use crate::live::{IdleKey, Ticket};
use crate::loader::Namespace;
use crate::placement::{PlacedIsolate, StartRequest};
use crate::shares::Tenant;

/// Which of a Worker's isolates, counted from 1; a Worker that was evicted gets another.
pub(crate) type Generation = u64;

/// See the module.
pub(crate) struct Worker {
    id: u64,
    me: Weak<Worker>,
    host: Arc<HostShared>,
    stay: Stay,
    /// On whose behalf it runs.
    tenant: Tenant,
    /// Where it is cached, and under which name.
    cached: Option<(Weak<Namespace>, String)>,
    state: Mutex<State>,
}

/// Whether a Worker may be evicted when it is idle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stay {
    Evictable,
    Pinned,
}

struct State {
    phase: Phase,
    code: Option<Prepared>,
    report: Option<LoadReport>,
    generation: Generation,
    /// Open invocations of the isolate that runs now.
    active: usize,
    /// Holders of what lives in the isolate.
    held: usize,
    waiting: Vec<Arc<InvocationSlot>>,
    ready: Vec<oneshot::Sender<Result<LoadReport, LoaderError>>>,
}

enum Phase {
    AwaitingCode,
    /// The isolate and the outcome come in either order.
    Starting {
        isolate: Option<Arc<dyn PlacedIsolate>>,
        outcome: Option<Result<LoadReport, LoaderError>>,
    },
    Running {
        isolate: Arc<dyn PlacedIsolate>,
        idle: Option<IdleKey>,
    },
    /// Not running; the next call starts it.
    Asleep,
    Failed(LoaderError),
    Ended(Cause),
}

impl Worker {
    fn new(
        namespace: &Arc<Namespace>,
        name: Option<String>,
        tenant: Tenant,
        phase: Phase,
        code: Option<Prepared>,
        stay: Stay,
    ) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new_cyclic(|me| Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            me: me.clone(),
            host: Arc::clone(&namespace.host),
            stay,
            tenant,
            cached: name.map(|name| (Arc::downgrade(namespace), name)),
            state: Mutex::new(State {
                phase,
                code,
                report: None,
                generation: 0,
                active: 0,
                held: 0,
                waiting: Vec::new(),
                ready: Vec::new(),
            }),
        })
    }

    /// A Worker with its code, not started yet.
    pub(crate) fn loaded(namespace: &Arc<Namespace>, code: Prepared) -> Arc<Self> {
        Self::new(namespace, None, code.tenant.clone(), Phase::Asleep, Some(code), Stay::Evictable)
    }

    /// A Worker that is never evicted, not started yet.
    pub(crate) fn pinned(namespace: &Arc<Namespace>, code: Prepared) -> Arc<Self> {
        Self::new(namespace, None, code.tenant.clone(), Phase::Asleep, Some(code), Stay::Pinned)
    }

    /// A Worker whose code is on its way.
    pub(crate) fn awaiting_code(namespace: &Arc<Namespace>, name: Option<String>, tenant: Tenant) -> Arc<Self> {
        Self::new(namespace, name, tenant, Phase::AwaitingCode, None, Stay::Evictable)
    }

    /// The code is there, or never will be.
    pub(crate) fn code_arrived(&self, code: Result<Prepared, LoaderError>) {
        {
            let mut state = self.state.lock();
            if !matches!(state.phase, Phase::AwaitingCode) {
                return;
            }
            if let Ok(code) = &code {
                state.code = Some(code.clone());
                state.phase = Phase::Asleep;
            }
        }
        if let Err(error) = code.and_then(|_| self.start()) {
            self.not_started(None, error);
        }
    }

    /// Starts the Worker if it is asleep. An error: it is asleep still, for want of room, and whoever waited was told.
    pub(crate) fn start(&self) -> Result<(), LoaderError> {
        // Room first: taking it may evict others, which takes their locks.
        let ticket = self.host.live.admit(&self.tenant).map_err(LoaderError::Overloaded)?;
        let (code, generation) = {
            let mut state = self.state.lock();
            let (Phase::Asleep, Some(code)) = (&state.phase, state.code.clone()) else {
                // Somebody else started it, or ended it, meanwhile.
                return Ok(());
            };
            state.phase = Phase::Starting { isolate: None, outcome: None };
            state.generation += 1;
            state.active = 0;
            (code, state.generation)
        };
        self.host.live.loads.fetch_add(1, Ordering::Relaxed);
        let (starting, ending, live) = (self.me.clone(), self.me.clone(), Arc::clone(&self.host.live));
        let isolate = self.host.placement.start(StartRequest {
            code: code.load,
            tenant: code.tenant,
            on_started: Box::new(move |outcome| {
                live.start_ended(&outcome);
                if let Some(worker) = starting.upgrade() {
                    worker.outcome(generation, outcome);
                }
            }),
            on_end: Box::new(move |cause| isolate_ended(&ending, generation, ticket, cause)),
        });
        match self.placed(generation, isolate) {
            Some(Err(error @ LoaderError::Overloaded(_))) => Err(error),
            _ => Ok(()),
        }
    }

    /// The placement has returned the isolate. It may have started already, or not: returns that outcome.
    fn placed(
        &self,
        generation: Generation,
        placed: Arc<dyn PlacedIsolate>,
    ) -> Option<Result<LoadReport, LoaderError>> {
        let outcome = {
            let mut state = self.state.lock();
            let current = state.generation == generation;
            match &mut state.phase {
                Phase::Starting { isolate, outcome } if current => {
                    *isolate = Some(placed);
                    outcome.take()
                }
                Phase::Ended(cause) => {
                    let cause = *cause;
                    drop(state);
                    placed.end(cause);
                    return None;
                }
                _ => return None,
            }
        };
        if let Some(outcome) = &outcome {
            self.outcome(generation, outcome.clone());
        }
        outcome
    }

    /// The isolate has started, or has not.
    fn outcome(&self, generation: Generation, started: Result<LoadReport, LoaderError>) {
        let isolate = {
            let mut state = self.state.lock();
            if state.generation != generation {
                return;
            }
            match &mut state.phase {
                Phase::Starting { isolate: Some(isolate), .. } => Arc::clone(isolate),
                Phase::Starting { outcome, .. } => {
                    *outcome = Some(started);
                    return;
                }
                _ => return,
            }
        };
        match started {
            Ok(report) => self.runs(generation, &isolate, report),
            Err(error) => {
                self.host.live.load_failures.fetch_add(1, Ordering::Relaxed);
                self.not_started(Some(generation), error);
            }
        }
    }

    /// Hands over the calls that waited, in order; only then do new ones go straight to the isolate.
    fn runs(&self, generation: Generation, isolate: &Arc<dyn PlacedIsolate>, report: LoadReport) {
        loop {
            let waiting = {
                let mut state = self.state.lock();
                if state.generation != generation || !matches!(state.phase, Phase::Starting { .. }) {
                    return;
                }
                if state.waiting.is_empty() {
                    let idle = if state.active == 0 { self.list_as_idle() } else { None };
                    state.phase = Phase::Running { isolate: Arc::clone(isolate), idle };
                    state.report = Some(report.clone());
                    let ready = std::mem::take(&mut state.ready);
                    drop(state);
                    for waiter in ready {
                        // Whoever waited may have gone.
                        let _gone = waiter.send(Ok(report.clone()));
                    }
                    self.evict_over_bound();
                    return;
                }
                state.active += state.waiting.len();
                std::mem::take(&mut state.waiting)
            };
            for slot in waiting {
                match slot.take(Next::Start) {
                    Some(pending) => {
                        self.dispatch(generation, isolate, &slot, pending);
                    }
                    None => self.invocation_ended(generation),
                }
            }
        }
    }

    /// A start failed, of this generation or before there was one: everybody who waits hears why. An overloaded host
    /// may be tried again.
    fn not_started(&self, generation: Option<Generation>, error: LoaderError) {
        let (waiting, ready) = {
            let mut state = self.state.lock();
            let concerned = match &state.phase {
                Phase::Starting { .. } => generation == Some(state.generation),
                // Where somebody else has started it meanwhile, their start is the one that counts.
                Phase::AwaitingCode | Phase::Asleep => generation.is_none(),
                Phase::Running { .. } | Phase::Failed(_) | Phase::Ended(_) => false,
            };
            if !concerned {
                return;
            }
            let retry = matches!(error, LoaderError::Overloaded(_)) && state.code.is_some();
            state.phase = if retry { Phase::Asleep } else { Phase::Failed(error.clone()) };
            (std::mem::take(&mut state.waiting), std::mem::take(&mut state.ready))
        };
        self.forget();
        refuse_all(waiting, &error.to_rpc());
        for waiter in ready {
            // Whoever waited may have gone.
            let _gone = waiter.send(Err(error.clone()));
        }
    }

    /// Whether its isolate has ended and nobody has asked it for anything since.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(&self.state.lock().phase, Phase::Running { isolate, .. } if isolate.ended().is_some())
    }

    /// See [`WorkerStub::end`](crate::WorkerStub::end).
    pub(crate) fn end(&self, cause: Cause) {
        let (phase, waiting, ready) = {
            let mut state = self.state.lock();
            if matches!(state.phase, Phase::Ended(_) | Phase::Failed(_)) {
                return;
            }
            let phase = std::mem::replace(&mut state.phase, Phase::Ended(cause));
            (phase, std::mem::take(&mut state.waiting), std::mem::take(&mut state.ready))
        };
        self.leave(phase, cause);
        self.forget();
        refuse_all(waiting, &RpcError::ended(cause));
        for waiter in ready {
            // Whoever waited may have gone.
            let _gone = waiter.send(Err(LoaderError::Ended(cause)));
        }
    }

    /// Ends the isolate of a phase that is over.
    fn leave(&self, phase: Phase, cause: Cause) {
        match phase {
            Phase::Running { isolate, idle } => {
                if let Some(key) = idle {
                    self.host.live.no_longer_idle(key);
                }
                isolate.end(cause);
            }
            Phase::Starting { isolate: Some(isolate), .. } => isolate.end(cause),
            _ => {}
        }
    }

    /// The outcome of the start, now or when it is known. Starts a Worker that is asleep.
    pub(crate) fn started(&self) -> oneshot::Receiver<Result<LoadReport, LoaderError>> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.state.lock();
        let known = match &state.phase {
            Phase::AwaitingCode | Phase::Starting { .. } => {
                state.ready.push(sender);
                return receiver;
            }
            Phase::Running { .. } => Ok(state.report.clone().unwrap_or_default()),
            Phase::Failed(error) => Err(error.clone()),
            Phase::Ended(cause) => Err(LoaderError::Ended(*cause)),
            Phase::Asleep => {
                state.ready.push(sender);
                drop(state);
                if let Err(error) = self.start() {
                    self.not_started(None, error);
                }
                return receiver;
            }
        };
        drop(state);
        // The receiver is here.
        let _never_gone = sender.send(known);
        receiver
    }

    pub(crate) fn load_report(&self) -> Option<LoadReport> {
        self.state.lock().report.clone()
    }

    fn forget(&self) {
        if let Some((namespace, name)) = &self.cached
            && let Some(namespace) = namespace.upgrade()
        {
            namespace.forget(name, self);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let phase = std::mem::replace(&mut self.state.get_mut().phase, Phase::Ended(Cause::Shutdown));
        self.leave(phase, Cause::Shutdown);
    }
}

/// Nothing of an isolate is left. If nobody asked for its end, its Worker is asleep now, and no longer cached.
fn isolate_ended(worker: &Weak<Worker>, generation: Generation, ticket: Ticket, cause: Cause) {
    ticket.ended(cause);
    let Some(worker) = worker.upgrade() else { return };
    let idle = {
        let mut state = worker.state.lock();
        if state.generation != generation {
            return;
        }
        let Phase::Running { idle, .. } = &mut state.phase else { return };
        let idle = idle.take();
        state.phase = Phase::Asleep;
        idle
    };
    if let Some(key) = idle {
        worker.host.live.no_longer_idle(key);
    }
    worker.forget();
}
