//! The way into an isolate: a queue read by its thread, and the sticky cause that ends it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;

use super::queue::{self, Queue};
use super::running::{Running, Scope};
use super::{EntrypointSpec, Idle, LoadCode, LoadError, LoadReport, WeakIsolate};
use crate::guard::callbacks;
use crate::invocation::meter::{Meter, Spent};
use crate::invocation::{InvocationId, OnEnd};
use crate::limits::Cause;
use crate::limits::turn::TurnClock;
use crate::limits::watchdog::{self, Expire};
use crate::objects::ObjectKey;
use crate::rpc::exports::ExportId;
use crate::rpc::{Answer, Call, Reply, RpcError, Waiter};

/// Work done on the isolate's thread with its context entered.
pub(crate) type Task = Box<dyn for<'s, 'i> FnOnce(&mut v8::PinScope<'s, 'i>) + Send>;

/// Called once with the result of loading.
pub(crate) type LoadDone = Box<dyn FnOnce(Result<LoadReport, LoadError>) + Send>;

/// One message to an isolate's thread.
pub(crate) enum Item {
    Load(Box<LoadCode>, LoadDone),
    Invoke(Box<Invoke>),
    /// A turn for an invocation (skipped when it is over) or, without one, for the isolate.
    Task {
        invocation: Option<InvocationId>,
        run: Task,
    },
    /// Ends one invocation, and it alone.
    EndInvocation(InvocationId, Cause),
    /// Ends the invocations that are still hung now that everything posted before has been handled.
    CheckHung,
    /// Look at the sticky cause.
    Wake,
}

/// A call on an entrypoint: a new invocation.
pub(crate) struct Invoke {
    pub(crate) id: InvocationId,
    pub(crate) entrypoint: Arc<EntrypointSpec>,
    /// Which object, when the entrypoint is a class of Durable Objects.
    pub(crate) object: Option<(Arc<ObjectKey>, Arc<Life>)>,
    pub(crate) call: Call,
    pub(crate) reply: Reply,
    /// Stands for the call's result, for pipelining.
    pub(crate) result: Option<ExportId>,
    pub(crate) on_end: Option<OnEnd>,
}

/// Durable Objects of one isolate.
pub(crate) const OBJECTS_MAX: usize = 100_000;

/// Ends of invocations that are remembered.
const ABORTED_MAX: usize = 64;

/// One life of a Durable Object: all its events, until it is ended.
pub(crate) struct Life {
    pub(crate) invocation: InvocationId,
    broken: OnceLock<RpcError>,
}

impl Life {
    /// Why it is over, when its program ended it.
    pub(crate) fn broken(&self) -> Option<&RpcError> {
        self.broken.get()
    }
}

/// An object's class, id and facet.
type ObjectName = (String, String, String);

type OnIsolateEnd = Box<dyn FnOnce(Cause) + Send>;

/// What every handle, capability and the thread itself share.
pub(crate) struct Shared {
    pub(super) queue: Queue,
    /// What the thread does while it waits.
    idle: Option<Arc<dyn Idle>>,
    /// Requests in the inbox; answers are not counted, since they are bounded by the calls that were allowed.
    waiting: AtomicUsize,
    inbox_len_max: usize,
    /// 0, or why it ended and by whose doing, 0 when it was no invocation's (see [`ended`]). Written once.
    end: AtomicU64,
    running: Running,
    v8: OnceLock<v8::IsolateHandle>,
    on_end: Mutex<Vec<OnIsolateEnd>>,
    /// Replies owed, by key, and the one who waits for the load: kept here so that the watchdog can answer them when
    /// the thread does not come back to do it.
    replies: Mutex<HashMap<u64, (InvocationId, Reply)>>,
    loading: Mutex<Option<LoadDone>>,
    /// What the invocations that are not over have used.
    meters: Mutex<HashMap<InvocationId, Arc<Meter>>>,
    /// Set where all invocations have one budget together.
    one_budget: OnceLock<Arc<Spent>>,
    /// What the running turn has used.
    pub(crate) turn: TurnClock,
    owner: OnceLock<WeakIsolate>,
    /// Whether there are memories that grow unseen, and whether the thread was asked to look at them and has not yet.
    look_asked: AtomicBool,
    /// The life of each Durable Object that was called.
    objects: Mutex<HashMap<ObjectName, Arc<Life>>>,
    /// The latest invocations that their programs have ended, and why: for the calls on objects of theirs that were on
    /// their way.
    aborted: Mutex<VecDeque<(InvocationId, RpcError)>>,
    next_id: AtomicU64,
}

impl Shared {
    pub(crate) fn new(inbox_len_max: usize, idle: Option<Arc<dyn Idle>>) -> Self {
        Self {
            queue: Queue::default(),
            idle,
            waiting: AtomicUsize::new(0),
            inbox_len_max,
            end: AtomicU64::new(0),
            running: Running::new(),
            v8: OnceLock::new(),
            on_end: Mutex::new(Vec::new()),
            replies: Mutex::default(),
            loading: Mutex::new(None),
            meters: Mutex::default(),
            one_budget: OnceLock::new(),
            turn: TurnClock::default(),
            owner: OnceLock::new(),
            look_asked: AtomicBool::new(false),
            objects: Mutex::default(),
            aborted: Mutex::default(),
            next_id: AtomicU64::new(1),
        }
    }

    /// The handle everybody else holds, for what the isolate itself gives out.
    pub(crate) fn owner(&self) -> Option<&WeakIsolate> {
        self.owner.get()
    }

    pub(crate) fn set_owner(&self, owner: WeakIsolate) {
        // Set once, by `Isolate::spawn`, before anything is posted.
        let _ = self.owner.set(owner);
    }

    pub(crate) fn memory_looked_at(&self) {
        self.look_asked.store(false, SeqCst);
    }

    /// A number unique in this isolate.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, SeqCst)
    }

    /// The life that an object has now. `None`: there are too many objects.
    pub(crate) fn object_life(&self, class: &str, key: &ObjectKey) -> Option<Arc<Life>> {
        let (id, facet) = key.identity();
        let mut objects = self.objects.lock();
        let known = objects.len();
        match objects.entry((class.to_owned(), id, facet)) {
            Entry::Occupied(entry) => Some(Arc::clone(entry.get())),
            Entry::Vacant(entry) => (known < OBJECTS_MAX).then(|| {
                let life = Life { invocation: self.next_id(), broken: OnceLock::new() };
                Arc::clone(entry.insert(Arc::new(life)))
            }),
        }
    }

    /// A facet that its parent has ended is called again: another life, of the same number, since calls on the result are on
    /// their way to that.
    pub(crate) fn revive_object(&self, class: &str, key: &ObjectKey, invocation: InvocationId) {
        let (id, facet) = key.identity();
        self.aborted.lock().retain(|(aborted, _)| *aborted != invocation);
        let life = || Arc::new(Life { invocation, broken: OnceLock::new() });
        self.objects.lock().entry((class.to_owned(), id, facet)).or_insert_with(life);
    }

    /// An object's life is over: its next event begins another. `why`, when its program ended it, is what stubs of this
    /// life answer with from now on.
    pub(crate) fn object_ended(&self, invocation: InvocationId, why: Option<&RpcError>) {
        self.objects.lock().retain(|_, life| {
            let over = life.invocation == invocation;
            if over && let Some(why) = why {
                // Nobody else ends it.
                let _ = life.broken.set(why.clone());
            }
            !over
        });
    }

    /// A program has ended its invocation.
    pub(crate) fn note_aborted(&self, invocation: InvocationId, why: &RpcError) {
        let mut aborted = self.aborted.lock();
        if aborted.len() >= ABORTED_MAX {
            aborted.pop_front();
        }
        aborted.push_back((invocation, why.clone()));
    }

    /// Why its program has ended an invocation, if it did so lately.
    pub(crate) fn why_aborted(&self, invocation: InvocationId) -> Option<RpcError> {
        self.aborted.lock().iter().find(|(id, _)| *id == invocation).map(|(_, why)| why.clone())
    }

    /// Notes what an invocation is metered by.
    pub(crate) fn invocation_begins(&self, invocation: InvocationId, meter: Arc<Meter>) {
        self.meters.lock().insert(invocation, meter);
    }

    /// The invocation is over.
    pub(crate) fn invocation_ended(&self, invocation: InvocationId) {
        self.meters.lock().remove(&invocation);
    }

    /// Keeps a reply that an invocation owes; returns its key.
    pub(crate) fn hold_reply(&self, invocation: InvocationId, reply: Reply) -> u64 {
        let key = self.next_id();
        self.replies.lock().insert(key, (invocation, reply));
        key
    }

    /// How many answers the invocations of this isolate wait for that others of it owe, themselves or by way of other
    /// isolates.
    pub(crate) fn owed_within(&self) -> HashMap<InvocationId, usize> {
        let replies = self.replies.lock();
        let calls: HashMap<_, _> =
            replies.values().filter_map(|(_, reply)| reply.waiter()?.first_within(self)).collect();
        drop(replies);
        let mut owed = HashMap::new();
        for invocation in calls.into_values() {
            *owed.entry(invocation).or_default() += 1;
        }
        owed
    }

    /// Who waits for a reply.
    pub(crate) fn waiter_of(&self, key: u64) -> Option<Arc<Waiter>> {
        self.replies.lock().get(&key)?.1.waiter().cloned()
    }

    /// The reply of this key, unless it was given already.
    pub(crate) fn take_reply(&self, key: u64) -> Option<Reply> {
        self.replies.lock().remove(&key).map(|(_, reply)| reply)
    }

    /// Keeps whoever waits for the load.
    pub(crate) fn hold_loading(&self, done: LoadDone) {
        *self.loading.lock() = Some(done);
    }

    /// Whoever waits for the load, unless they were answered already.
    pub(crate) fn take_loading(&self) -> Option<LoadDone> {
        self.loading.lock().take()
    }

    pub(crate) fn set_v8(&self, handle: v8::IsolateHandle) {
        // The thread sets it once, before anything else can.
        let _ = self.v8.set(handle);
    }

    /// All invocations have one budget together. Before there are any.
    pub(crate) fn set_one_budget(&self) {
        self.one_budget.get_or_init(Arc::default);
    }

    pub(crate) fn has_one_budget(&self) -> bool {
        self.one_budget.get().is_some()
    }

    /// What a new invocation spends from.
    pub(crate) fn budget_of_invocation(&self) -> Arc<Spent> {
        self.one_budget.get().cloned().unwrap_or_default()
    }

    /// Notes which turn runs, for the cause of a limit it may meet.
    pub(crate) fn set_running(&self, turn: u64, scope: Scope, invocation: Option<InvocationId>) {
        self.running.begin(turn, scope, invocation);
    }

    /// Notes what the running invocation's turn does now.
    pub(crate) fn set_scope(&self, scope: Scope) {
        self.running.set_scope(scope);
    }

    /// Why the isolate was ended, if it was.
    pub(crate) fn cause(&self) -> Option<Cause> {
        how(self.end.load(SeqCst)).map(|(cause, _)| cause)
    }

    /// The cause as it concerns one invocation: a limit that another one met is not this one's fault,
    /// unless it is one limit for all of them.
    pub(crate) fn cause_for(&self, invocation: InvocationId) -> Option<Cause> {
        let (cause, culprit) = how(self.end.load(SeqCst))?;
        Some(if culprit != 0 && culprit != invocation && !self.has_one_budget() { Cause::Condemned } else { cause })
    }

    /// Ends the isolate: the first cause wins, running JavaScript is terminated, the thread is told.
    pub(crate) fn end(&self, cause: Cause) {
        self.end_by(cause, 0);
        if self.turn.runs() {
            // It may be in a builtin that ignores its end, which nobody else finds out.
            watchdog::look();
        }
    }

    /// Ends the isolate for the limit that the turn on its own thread met.
    pub(crate) fn end_running(&self) {
        let (cause, culprit) = self.running.excess();
        self.end_by(cause, culprit);
    }

    fn end_by(&self, cause: Cause, culprit: InvocationId) {
        if self.end.compare_exchange(0, ended(cause, culprit), SeqCst, SeqCst).is_err() {
            return;
        }
        if let Some(v8) = self.v8.get() {
            v8.terminate_execution();
        }
        self.post(Item::Wake);
    }

    /// V8 gives up in the middle of something: notes why, and asks nothing more of it.
    pub(crate) fn note_fatal(&self, cause: Cause) {
        // Whatever ended it before is what ended it.
        let _ = self.end.compare_exchange(0, ended(cause, 0), SeqCst, SeqCst);
    }

    /// Calls `callback` with the cause once the isolate is gone; at once when it is gone already.
    pub(crate) fn on_end(&self, callback: OnIsolateEnd) {
        self.on_end.lock().push(callback);
    }

    pub(crate) fn run_on_end(&self) {
        let cause = self.cause().unwrap_or(Cause::Shutdown);
        let callbacks = std::mem::take(&mut *self.on_end.lock());
        for callback in callbacks {
            callback(cause);
        }
    }

    /// Puts a request into the inbox, or answers why not.
    pub(crate) fn request(&self, invoke: Box<Invoke>) {
        if let Some(cause) = self.cause() {
            return invoke.reply.send(Err(RpcError { disconnected: true, ..RpcError::ended(cause) }));
        }
        if self.waiting.fetch_add(1, SeqCst) >= self.inbox_len_max {
            self.waiting.fetch_sub(1, SeqCst);
            let error =
                RpcError { overloaded: true, ..RpcError::new("Error", "Too many requests wait for this Worker.") };
            return invoke.reply.send(Err(error));
        }
        self.post(Item::Invoke(invoke));
    }

    /// The thread took a request out of the inbox.
    pub(crate) fn request_taken(&self) {
        self.waiting.fetch_sub(1, SeqCst);
    }

    /// Puts anything else into the inbox. When the isolate is gone the item is dropped, which answers what it held.
    pub(crate) fn post(&self, item: Item) {
        if self.queue.put(item) == queue::Wake::Idle
            && let Some(idle) = &self.idle
        {
            idle.wake();
        }
    }

    /// What the thread does while it waits.
    pub(super) fn idle(&self) -> Option<&Arc<dyn Idle>> {
        self.idle.as_ref()
    }

    /// Runs `run` on the isolate's thread as a turn of `invocation`; dropped when that, or the isolate, is over.
    pub(crate) fn post_task(
        &self,
        invocation: Option<InvocationId>,
        run: impl for<'s, 'i> FnOnce(&mut v8::PinScope<'s, 'i>) + Send + 'static,
    ) {
        self.post(Item::Task { invocation, run: Box::new(run) });
    }
}

/// A cause and whose doing it was, as one number: nobody may see the one with another's other. Not 0.
fn ended(cause: Cause, culprit: InvocationId) -> u64 {
    // Invocations of one isolate are never so many that a number of theirs needs its upper byte.
    culprit << u8::BITS | u64::from(cause.code())
}

/// The same taken apart; `None`: nothing has ended.
fn how(end: u64) -> Option<(Cause, InvocationId)> {
    Some((Cause::from_code(end.to_le_bytes()[0])?, end >> u8::BITS))
}

impl Expire for Shared {
    fn expire(&self, turn: u64) {
        self.running.if_runs(turn, |(cause, culprit)| self.end_by(cause, culprit));
    }

    fn ending(&self) -> bool {
        self.cause().is_some()
    }

    fn look_at_memory(&self) {
        if !self.look_asked.swap(true, SeqCst)
            && let Some(v8) = self.v8.get()
        {
            callbacks::ask_to_look_at_memory(v8);
        }
    }

    fn ignored(&self, thread_ns: Option<u64>) {
        let cause = self.cause().unwrap_or(Cause::Shutdown);
        let cause_for = |invocation| self.cause_for(invocation).unwrap_or(cause);
        let (running, turn_ns) = (self.running.invocation(), self.turn.used_ns(thread_ns.unwrap_or(0)));
        let one_budget = self.has_one_budget() && running != 0;
        let turn_of = |invocation| if invocation == running || one_budget { turn_ns } else { 0 };
        let meters = std::mem::take(&mut *self.meters.lock());
        let owed = std::mem::take(&mut *self.replies.lock());
        for (invocation, reply) in owed.into_values() {
            let usage = meters.get(&invocation).map(|meter| meter.usage(turn_of(invocation))).unwrap_or_default();
            reply.send(Answer { result: Err(RpcError::ended(cause_for(invocation))), usage });
        }
        if let Some(done) = self.take_loading() {
            let startup_cpu = thread_ns.map(|_| Duration::from_nanos(turn_ns));
            done(Err(LoadError { startup_cpu, ..LoadError::ended(cause) }));
        }
        for (invocation, meter) in meters {
            meter.abandon(cause_for(invocation), turn_of(invocation));
        }
    }
}
