//! What the rooms share on an isolate's thread. Reached from any V8 callback through the isolate's slot.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::inbox::Shared;
use super::running::Scope;
use super::timers::Timers;
use super::{ClockPolicy, HangPolicy, Isolate};
use crate::channel::Channels;
use crate::code_cache::Experience;
use crate::compat::{CompatFlags, Flag};
use crate::invocation::{InvocationId, InvocationState};
use crate::limits::aside::{Aside, Asides};
use crate::limits::cpu::{nanos, this_thread_ns};
use crate::limits::growing_memory::GrowingMemories;
use crate::limits::memory::MemoryMeter;
use crate::limits::overshoot;
use crate::limits::{Cause, ResourceLimits};
use crate::modules::registry::Registry;
use crate::rpc::RpcError;

/// What every Worker of the isolate's life gets from whoever loaded it.
pub(crate) struct Worker {
    pub(crate) env: RefCell<Option<v8::Global<v8::Object>>>,
    /// The main module's namespace: its exports are the entrypoints.
    pub(crate) main: RefCell<Option<v8::Global<v8::Object>>>,
    pub(crate) channels: Channels,
    pub(crate) limits: ResourceLimits,
    pub(crate) on_hang: HangPolicy,
    pub(crate) clock: ClockPolicy,
    pub(crate) compat: CompatFlags,
}

/// State of one isolate, on its thread.
pub(crate) struct IsolateState {
    pub(crate) shared: Arc<Shared>,
    pub(crate) memory: Arc<MemoryMeter>,
    pub(crate) growing: GrowingMemories,
    /// Bytes beside V8's heap that capabilities hold for the program.
    pub(crate) held_bytes: Rc<Cell<usize>>,
    pub(crate) registry: RefCell<Registry>,
    pub(crate) worker: RefCell<Option<Rc<Worker>>>,
    pub(crate) timers: RefCell<Timers>,
    invocations: RefCell<HashMap<InvocationId, Rc<InvocationState>>>,
    /// Whose turn it is, whose code runs in it now, and whose has run in it beside them.
    turn: RefCell<Option<Rc<InvocationState>>>,
    current: RefCell<Option<Rc<InvocationState>>>,
    visitors: RefCell<HashSet<InvocationId>>,
    /// The program's clock, ms since the epoch.
    clock_ms: Cell<f64>,
    /// The running turn's program has ended its invocation, and V8 was told to stop it.
    aborted: Cell<bool>,
    /// CPU reading at which the running turn began, 0 between turns.
    turn_started_ns: Cell<u64>,
    /// What the running turn does beside its invocation's work, and what is left for importing.
    pub(crate) asides: Asides,
    import_left_ns: AtomicU64,
}

impl IsolateState {
    pub(crate) fn new(shared: Arc<Shared>, memory: Arc<MemoryMeter>) -> Rc<Self> {
        let state = Rc::new(Self {
            shared,
            memory,
            growing: GrowingMemories::default(),
            held_bytes: Rc::default(),
            registry: RefCell::default(),
            worker: RefCell::default(),
            timers: RefCell::default(),
            invocations: RefCell::default(),
            turn: RefCell::default(),
            current: RefCell::default(),
            visitors: RefCell::default(),
            clock_ms: Cell::new(0.0),
            aborted: Cell::new(false),
            turn_started_ns: Cell::new(0),
            asides: Asides::default(),
            import_left_ns: AtomicU64::new(0),
        });
        state.advance_clock();
        state
    }

    /// The state of the isolate a callback runs in. Every isolate of this crate has one from its first moment on.
    pub(crate) fn of(isolate: &v8::Isolate) -> Rc<Self> {
        match isolate.get_slot::<Rc<Self>>() {
            Some(state) => state.clone(),
            None => unreachable!("an isolate without its state"),
        }
    }

    /// A handle to this isolate, for capabilities it exports. `None` while it is going.
    pub(crate) fn isolate(&self) -> Option<Isolate> {
        self.shared.owner()?.upgrade()
    }

    /// Whether the Worker asked for a behaviour. Before it is loaded, none is asked for.
    pub(crate) fn has_flag(&self, flag: Flag) -> bool {
        self.worker.borrow().as_ref().is_some_and(|worker| worker.compat.has(flag))
    }

    /// How much of what a Worker does was done in this isolate, which is about to go.
    pub(crate) fn experience(&self) -> Experience {
        let ran = self.worker.borrow().as_ref().is_some_and(|worker| worker.main.borrow().is_some());
        let stopped = self.shared.cause().is_some_and(|cause| !matches!(cause, Cause::Canceled | Cause::Shutdown));
        if ran && !stopped { Experience::Whole } else { Experience::Little }
    }

    /// The invocation whose code runs: the one whose turn it is, or another one that waited for a promise of this one. `None` in
    /// global scope.
    pub(crate) fn current(&self) -> Option<Rc<InvocationState>> {
        self.current.borrow().clone()
    }

    pub(crate) fn set_current(&self, invocation: Option<Rc<InvocationState>>) {
        let turn = self.turn.borrow().as_ref().map(|turn| turn.id);
        if let Some(visitor) = invocation.as_ref().filter(|invocation| turn != Some(invocation.id)) {
            self.visitors.borrow_mut().insert(visitor.id);
        }
        *self.current.borrow_mut() = invocation;
    }

    /// A turn of an invocation (`None`: of none) begins.
    pub(crate) fn begin_turn(&self, invocation: Option<Rc<InvocationState>>) {
        self.current.borrow_mut().clone_from(&invocation);
        *self.turn.borrow_mut() = invocation;
    }

    /// The turn is over. What is returned are other invocations whose code has run in it: each needs a turn of its own, in
    /// which it is seen what it waits for now.
    pub(crate) fn end_turn(&self) -> HashSet<InvocationId> {
        *self.current.borrow_mut() = None;
        *self.turn.borrow_mut() = None;
        self.visitors.take()
    }

    /// Code that an invocation has set going runs, whoever's turn it is: what that does from now on is its own. `None`, or an
    /// invocation that is over: it is taken for code of the turn's.
    pub(crate) fn follow(&self, invocation: Option<InvocationId>) {
        if self.current.borrow().as_ref().map(|current| current.id) == invocation {
            return;
        }
        let of_turn = || self.turn.borrow().clone();
        let current = invocation.and_then(|id| self.invocation(id)).or_else(of_turn);
        self.set_current(current);
    }

    /// Notes that what runs is being stopped, for this turn only.
    pub(crate) fn set_aborted(&self) {
        self.aborted.set(true);
    }

    /// Whether what runs was stopped since this was last asked.
    pub(crate) fn take_aborted(&self) -> bool {
        self.aborted.take()
    }

    pub(crate) fn invocation(&self, id: InvocationId) -> Option<Rc<InvocationState>> {
        self.invocations.borrow().get(&id).cloned()
    }

    /// The invocation that keeps a reply: mostly the current one, but a promise may be resolved by another's turn.
    pub(crate) fn keeper_of_reply(&self, key: u64) -> Option<Rc<InvocationState>> {
        let holds = |invocation: &Rc<InvocationState>| invocation.holds_reply(key);
        self.current().filter(holds).or_else(|| self.invocations.borrow().values().find(|kept| holds(kept)).cloned())
    }

    /// What every invocation waits for: how many calls and timers.
    pub(crate) fn pending_io(&self) -> HashMap<InvocationId, usize> {
        self.invocations.borrow().iter().map(|(id, invocation)| (*id, invocation.pending_io())).collect()
    }

    pub(crate) fn add_invocation(&self, invocation: Rc<InvocationState>) {
        self.invocations.borrow_mut().insert(invocation.id, invocation);
    }

    pub(crate) fn remove_invocation(&self, id: InvocationId) -> Option<Rc<InvocationState>> {
        self.timers.borrow_mut().clear_invocation(id);
        self.invocations.borrow_mut().remove(&id)
    }

    /// Every invocation ends, and whoever waits for one hears why.
    pub(crate) fn abort_all(&self, error: &RpcError) {
        for invocation in self.invocations.borrow().values() {
            invocation.abort(error, self.turn_cpu_ns());
        }
    }

    pub(crate) fn take_invocations(&self) -> Vec<Rc<InvocationState>> {
        self.invocations.borrow_mut().drain().map(|(_, invocation)| invocation).collect()
    }

    /// Whether code of the Worker runs outside any invocation: I/O, timers and randomness are refused there.
    pub(crate) fn in_global_scope(&self) -> bool {
        self.current.borrow().is_none()
    }

    /// Something arrived from outside: the program's clock may move on (never back).
    pub(crate) fn advance_clock(&self) {
        self.clock_ms.set(system_ms().max(self.clock_ms.get()));
    }

    /// A timer fires: the program's clock shows the time it was set for.
    pub(crate) fn set_clock_ms(&self, ms: f64) {
        self.clock_ms.set(ms.max(self.clock_ms.get()));
    }

    /// The time as the program sees it, whole ms since the epoch; 0 in global scope, which sees no time pass.
    pub(crate) fn now_ms(&self) -> f64 {
        if self.in_global_scope() {
            return 0.0;
        }
        let real = self.worker.borrow().as_ref().is_some_and(|worker| worker.clock == ClockPolicy::Real);
        if real { system_ms() } else { self.clock_ms.get() }
    }

    /// Looks at what grows without a word: WebAssembly memories, growable shared buffers, what capabilities hold, and what V8 accounts for beside its
    /// heap (resizable buffers, say). Over the limit, what is garbage goes first. On the isolate's thread, outside a garbage
    /// collection.
    pub(crate) fn look_at_memory(&self, isolate: &mut v8::Isolate) {
        let look = |isolate: &mut v8::Isolate| {
            let growing = self.growing.bytes().saturating_add(self.held_bytes.get());
            self.growing.tell(isolate, growing);
            self.memory.see_beside(self.growing.external_bytes(isolate), growing)
        };
        if look(isolate) {
            isolate.low_memory_notification();
            if look(isolate) {
                self.memory.flag();
            }
        }
    }

    pub(crate) fn set_turn_started_ns(&self, reading: u64) {
        self.turn_started_ns.set(reading);
    }

    /// CPU used by the running turn so far, in ns.
    pub(crate) fn turn_cpu_ns(&self) -> u64 {
        match self.turn_started_ns.get() {
            0 => 0,
            started => this_thread_ns().saturating_sub(started).saturating_sub(self.asides.used_ns()),
        }
    }

    /// Sets the CPU time for all modules that are imported dynamically.
    pub(crate) fn set_import_budget(&self, budget: Duration) {
        self.import_left_ns.store(nanos(budget), Relaxed);
    }

    /// Runs a part of an invocation's turn on a budget of its own. In other turns it is a part of them.
    pub(crate) fn aside<T>(&self, aside: Aside, work: impl FnOnce() -> T) -> T {
        let Some(invocation) = self.current().filter(|_| !self.asides.inside()) else { return work() };
        let left = match aside {
            Aside::DynamicImport => &self.import_left_ns,
            Aside::Logging => invocation.logging_left_ns(),
        };
        if aside == Aside::DynamicImport {
            self.shared.set_scope(Scope::DynamicImport);
        }
        let (budget, used_before) = (left.load(Relaxed), self.asides.used_ns());
        self.shared.turn.begin_aside(this_thread_ns());
        let done = self.asides.run(left, work);
        self.shared.turn.end_aside(self.asides.used_ns().saturating_sub(used_before));
        if left.load(Relaxed) == 0 {
            self.shared.end_running();
            let used = self.asides.used_ns().saturating_sub(used_before);
            overshoot::record(Duration::from_nanos(used.saturating_sub(budget)));
        }
        self.shared.set_scope(Scope::Invocation);
        done
    }

    /// Drops every handle into V8's heap, which is about to go.
    pub(crate) fn clear(&self) {
        self.end_turn();
        self.growing.clear();
        *self.timers.borrow_mut() = Timers::default();
        *self.registry.borrow_mut() = Registry::default();
        *self.worker.borrow_mut() = None;
    }

    /// The next due time of the isolate's timers.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.timers.borrow().next_due()
    }
}

/// The system's clock, ms since the epoch.
pub(crate) fn system_ms() -> f64 {
    // A clock before 1970 is not worth a failure.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_millis() as f64)
}
