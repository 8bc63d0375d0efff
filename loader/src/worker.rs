//! One loaded Worker: its code, the isolate that runs it now (if any), the calls that wait for it, and how it gets
//! from one state to the next.
//!
//! Locks: a Worker's own lock may be held while the live set's is taken, never the other way round. No callback and no
//! placement is called under either.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use futures::channel::oneshot;
use loaderd_runtime::channel::{Channels, InvocationReport};
use loaderd_runtime::isolate::{LoadCode, LoadReport};
use loaderd_runtime::limits::{Cause, Outcome, ResourceLimits, Usage};
use loaderd_runtime::rpc::{Call, Capability, Reply, RpcError};
use parking_lot::Mutex;

use crate::cache::MemoryCache;
use crate::code::{self, CheckedCode, GlobalOutbound, WorkerCode};
use crate::entrypoint::{Entrypoint, Invocation, InvocationSlot, Next, PendingCall};
use crate::error::LoaderError;
use crate::host::{HostShared, LoaderOptions};
use crate::live::{IdleKey, Ticket};
use crate::loader::Namespace;
use crate::placement::{Invoked, OnInvocationEnd, PlacedEntrypoint, PlacedInvocation, PlacedIsolate, StartRequest};

/// Calls that may wait for one Worker to start. Over it they are refused as overloaded.
pub const WAITING_CALLS_MAX: usize = 1024;

/// Which of a Worker's isolates, counted from 1; a Worker that was evicted gets another.
pub(crate) type Generation = u64;

/// Checked code in the form a placement takes, kept so that an evicted Worker can start again.
#[derive(Clone)]
pub(crate) struct Prepared {
    load: Arc<LoadCode>,
    tenant: Option<Arc<str>>,
}

impl Prepared {
    pub(crate) fn new(host: &HostShared, options: &LoaderOptions, code: WorkerCode) -> Result<Self, LoaderError> {
        let mut checked = code::check(code, options.experimental, &options.traces)?;
        checked.source.extensions = Arc::clone(&options.extensions);
        Ok(Self::of_checked(host, options, checked))
    }

    pub(crate) fn of_checked(host: &HostShared, options: &LoaderOptions, code: CheckedCode) -> Self {
        let global_outbound = match code.global_outbound {
            GlobalOutbound::Inherit => options.outbound.clone(),
            GlobalOutbound::None => None,
            GlobalOutbound::Cap(cap) => Some(cap),
        };
        let limits = &host.limits;
        Self {
            tenant: options.tenant.clone(),
            load: Arc::new(LoadCode {
                source: code.source,
                env: code.env,
                channels: Channels {
                    global_outbound,
                    cache: code.cache.or_else(|| options.cache.as_ref().map(MemoryCache::channel)),
                    console: code.console.or_else(|| options.console.clone()),
                    objects: code.objects,
                    refuses_transfer: code.refuses_transfer,
                    traces: code.traces,
                },
                startup_cpu: limits.startup_cpu,
                limits: limits.invocation.lowest(code.limits),
                on_hang: code.on_hang,
                clock: code.clock,
                compat: code.compat,
            }),
        }
    }
}

/// See the module.
pub(crate) struct Worker {
    id: u64,
    me: Weak<Worker>,
    host: Arc<HostShared>,
    stay: Stay,
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
        Self::new(namespace, None, Phase::Asleep, Some(code), Stay::Evictable)
    }

    /// A Worker that is never evicted, not started yet.
    pub(crate) fn pinned(namespace: &Arc<Namespace>, code: Prepared) -> Arc<Self> {
        Self::new(namespace, None, Phase::Asleep, Some(code), Stay::Pinned)
    }

    /// A Worker whose code is on its way.
    pub(crate) fn awaiting_code(namespace: &Arc<Namespace>, name: Option<String>) -> Arc<Self> {
        Self::new(namespace, name, Phase::AwaitingCode, None, Stay::Evictable)
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

    /// Starts the Worker if it is asleep.
    pub(crate) fn start(&self) -> Result<(), LoaderError> {
        // Room first: taking it may evict others, which takes their locks.
        let ticket = self.host.live.admit().map_err(LoaderError::Overloaded)?;
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
        let (starting, ending) = (self.me.clone(), self.me.clone());
        let isolate = self.host.placement.start(StartRequest {
            code: code.load,
            tenant: code.tenant,
            on_started: Box::new(move |outcome| {
                if let Some(worker) = starting.upgrade() {
                    worker.outcome(generation, outcome);
                }
            }),
            on_end: Box::new(move |cause| isolate_ended(&ending, generation, ticket, cause)),
        });
        self.placed(generation, isolate);
        Ok(())
    }

    /// The placement has returned the isolate; it may have started already.
    fn placed(&self, generation: Generation, placed: Arc<dyn PlacedIsolate>) {
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
                    return;
                }
                _ => return,
            }
        };
        if let Some(outcome) = outcome {
            self.outcome(generation, outcome);
        }
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
    fn dispatch(
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

    fn invocation_ended(&self, generation: Generation) {
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

    /// Whether its isolate has ended and nobody has asked it for anything since.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(&self.state.lock().phase, Phase::Running { isolate, .. } if isolate.ended().is_some())
    }

    /// Keeps the isolate from being evicted while what is returned lives.
    pub(crate) fn hold(&self) -> Busy {
        self.state.lock().held += 1;
        Busy(self.me.clone())
    }

    fn let_go(&self) {
        {
            let mut state = self.state.lock();
            state.held -= 1;
            if state.held > 0 || state.active > 0 {
                return;
            }
            // It may have been taken off the list because it could not be evicted.
            if let Phase::Running { idle, .. } = &mut state.phase {
                if let Some(key) = idle.take() {
                    self.host.live.no_longer_idle(key);
                }
                *idle = self.list_as_idle();
            }
        }
        self.evict_over_bound();
    }

    fn list_as_idle(&self) -> Option<IdleKey> {
        (self.stay == Stay::Evictable).then(|| self.host.live.became_idle(self.me.clone()))
    }

    fn evict_over_bound(&self) {
        for worker in self.host.live.over_idle_bound() {
            if worker.upgrade().is_some_and(|worker| worker.evict()) {
                self.host.live.evicted();
            }
        }
    }

    /// Ends the isolate if it is idle; the Worker is asleep then. Its cache forgets it: code is kept only as long as
    /// somebody holds a stub.
    pub(crate) fn evict(&self) -> bool {
        let isolate = {
            let mut state = self.state.lock();
            if state.active > 0 || state.held > 0 {
                return false;
            }
            let Phase::Running { isolate, .. } = &state.phase else { return false };
            let isolate = Arc::clone(isolate);
            state.phase = Phase::Asleep;
            isolate
        };
        self.forget();
        isolate.end(Cause::Shutdown);
        true
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

/// Keeps a Worker's isolate from being evicted.
pub(crate) struct Busy(Weak<Worker>);

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(worker) = self.0.upgrade() {
            worker.let_go();
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

fn refuse_all(waiting: Vec<Arc<InvocationSlot>>, error: &RpcError) {
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
