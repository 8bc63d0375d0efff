//! One event's handling: the state workerd calls an IoContext. Budgets, subrequest count, what is still pending, and
//! whom to tell how it ended. Lives on the isolate's thread; outsiders hold an [`crate::isolate::Invocation`].

pub(crate) mod meter;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::channel::InvocationReport;
use crate::dynamic::{Caller, CallerKind};
use crate::isolate::inbox::Shared;
use crate::isolate::state::system_ms;
use crate::limits::cpu::nanos;
use crate::limits::{Cause, Outcome, ResourceLimits, Usage};
use crate::rpc::{Reply, RpcError, Waiter};
use crate::trace::tracer::Tracer;
use crate::trace::{ErrorInfo, Origin, SpanId};
use meter::{Listeners, Meter};

/// What callers get when nothing is left that could ever produce their answer.
pub(crate) const HUNG: &str = "The Workers runtime canceled this request because it detected that your Worker's code \
                               had hung and would never generate a response. Refer to: \
                               https://developers.cloudflare.com/workers/observability/errors/";

const TOO_MANY_SUBREQUESTS: &str = "Too many subrequests by single Worker invocation. To configure this limit, refer \
                                    to https://developers.cloudflare.com/workers/wrangler/configuration/#limits";
const TOO_MANY_API_REQUESTS: &str = "Too many API requests by single Worker invocation. To configure this limit, \
                                     refer to https://developers.cloudflare.com/workers/wrangler/configuration/#limits";

/// Identifies an invocation within its isolate; never reused.
pub(crate) type InvocationId = u64;

/// Who serves a subrequest: the two are worded differently on the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubrequestClass {
    /// `fetch` and calls on services.
    External,
    /// Services of the platform itself: loopback exports, Durable Objects and their like.
    InHouse,
}

/// Called once when an invocation has ended: on its isolate's thread or, where that ignores its end, on the watchdog's.
/// Must not block.
pub type OnEnd = Box<dyn FnOnce(InvocationReport) + Send>;

/// The state of one event's handling.
pub(crate) struct InvocationState {
    pub(crate) id: InvocationId,
    limits: ResourceLimits,
    meter: Arc<Meter>,
    /// What was used before its budget was last refilled.
    cpu_refilled_ns: Cell<u64>,
    /// Outgoing calls and timers that may still wake it.
    pending_io: Cell<usize>,
    /// Objects of its session that somebody outside holds.
    exports: Cell<usize>,
    /// Objects given to others as arguments, who may still call them.
    callbacks: Cell<usize>,
    wait_until: Cell<usize>,
    /// Timers of it that have fired.
    timers_fired: Cell<u64>,
    /// Keys of the replies it owes; the replies themselves are where the watchdog finds them.
    replies: RefCell<HashSet<u64>>,
    shared: Arc<Shared>,
    threw: Cell<bool>,
    /// The id of the Durable Object that it is.
    object: RefCell<Option<Arc<str>>>,
    of_fetch: Cell<bool>,
    /// As loaders know it.
    caller: OnceCell<Caller>,
    /// Its program ended it: nothing of it goes on.
    aborted: RefCell<Option<RpcError>>,
    /// What led to it, or to the latest event of a Durable Object.
    origin: Cell<Origin>,
    /// Set when somebody wants its trace.
    tracer: Option<Tracer>,
}

impl InvocationState {
    pub(crate) fn new(
        id: InvocationId,
        limits: ResourceLimits,
        on_end: Option<OnEnd>,
        shared: &Arc<Shared>,
        tracer: Option<Tracer>,
    ) -> Rc<Self> {
        let listeners = Listeners { on_end, trace: tracer.as_ref().map(Tracer::root) };
        let meter = Meter::new(shared.budget_of_invocation(), listeners);
        shared.invocation_begins(id, meter.clone());
        Rc::new(Self {
            id,
            limits,
            meter,
            cpu_refilled_ns: Cell::new(0),
            pending_io: Cell::new(0),
            exports: Cell::new(0),
            callbacks: Cell::new(0),
            wait_until: Cell::new(0),
            timers_fired: Cell::new(0),
            replies: RefCell::default(),
            shared: shared.clone(),
            threw: Cell::new(false),
            object: RefCell::default(),
            of_fetch: Cell::new(false),
            caller: OnceCell::new(),
            aborted: RefCell::default(),
            origin: Cell::default(),
            tracer,
        })
    }

    /// CPU it may still use, in ns; `None` without a limit.
    pub(crate) fn cpu_remaining_ns(&self) -> Option<u64> {
        let limit = nanos(Duration::from_millis(u64::from(self.limits.cpu_ms?)));
        Some(limit.saturating_sub(self.meter.cpu_ns().saturating_sub(self.cpu_refilled_ns.get())))
    }

    /// What is left for formatting what it logs, in ns.
    pub(crate) fn logging_left_ns(&self) -> &AtomicU64 {
        self.meter.logging_left_ns()
    }

    pub(crate) fn charge_cpu_ns(&self, used_ns: u64) {
        self.meter.charge_cpu_ns(used_ns);
    }

    /// Gives a Durable Object's invocation its whole CPU budget and its subrequests again, from the next turn on: each thing that is
    /// delivered to an object has one. False for other invocations, which have one for all they do.
    pub(crate) fn refill(&self) -> bool {
        let of_object = self.is_of_object();
        // Not where the budget is that of the whole Worker.
        if of_object && !self.shared.has_one_budget() {
            self.cpu_refilled_ns.set(self.meter.cpu_ns());
            self.meter.set_sub_requests(0);
        }
        of_object
    }

    /// `turn_ns` is what the running turn has used and is not charged yet.
    pub(crate) fn usage(&self, turn_ns: u64) -> Usage {
        self.meter.usage(turn_ns)
    }

    /// Counts a subrequest. An error is an ordinary exception for the program to catch.
    pub(crate) fn count_subrequest(&self, class: SubrequestClass) -> Result<(), &'static str> {
        let counted = self.meter.sub_requests();
        if self.limits.sub_requests.is_some_and(|limit| counted >= limit) {
            return Err(match class {
                SubrequestClass::External => TOO_MANY_SUBREQUESTS,
                SubrequestClass::InHouse => TOO_MANY_API_REQUESTS,
            });
        }
        self.meter.set_sub_requests(counted.saturating_add(1));
        Ok(())
    }

    /// Keeps a reply where it is answered whatever happens to the JavaScript that should have; returns its key. The
    /// key is unique in the isolate: JavaScript may settle a reply while another invocation runs.
    pub(crate) fn hold_reply(&self, reply: Reply) -> u64 {
        let key = self.shared.hold_reply(self.id, reply);
        self.replies.borrow_mut().insert(key);
        key
    }

    pub(crate) fn holds_reply(&self, key: u64) -> bool {
        self.replies.borrow().contains(&key)
    }

    pub(crate) fn take_reply(&self, key: u64) -> Option<Reply> {
        if self.replies.borrow_mut().remove(&key) { self.shared.take_reply(key) } else { None }
    }

    /// Notes that its handler threw, which is what its outcome will say.
    pub(crate) fn note_exception(&self) {
        self.threw.set(true);
    }

    /// Its program ends it: whoever waits hears why, and nothing of it goes on after this turn.
    pub(crate) fn abort(&self, error: &RpcError, turn_ns: u64) {
        self.threw.set(true);
        self.shared.note_aborted(self.id, error);
        if self.is_of_object() {
            self.shared.object_ended(self.id, Some(error));
        }
        *self.aborted.borrow_mut() = Some(error.clone());
        self.answer_all(error, turn_ns);
    }

    /// Why its program has ended it, if it has.
    pub(crate) fn aborted(&self) -> Option<RpcError> {
        self.aborted.borrow().clone()
    }

    /// Nobody waits for its answer any more; what it does for itself goes on.
    pub(crate) fn cancel(&self, turn_ns: u64) {
        self.answer_all(&RpcError::ended(Cause::Canceled), turn_ns);
    }

    fn answer_all(&self, error: &RpcError, turn_ns: u64) {
        let owed = std::mem::take(&mut *self.replies.borrow_mut());
        for reply in owed.into_iter().filter_map(|key| self.shared.take_reply(key)) {
            reply.send(crate::rpc::Answer { result: Err(error.clone()), usage: self.usage(turn_ns) });
        }
    }

    /// What its trace is told through, if it is traced.
    pub(crate) fn tracer(&self) -> Option<&Tracer> {
        self.tracer.as_ref()
    }

    /// Whether everything it was asked for has been answered.
    pub(crate) fn answered(&self) -> bool {
        self.replies.borrow().is_empty()
    }

    /// Whether nothing outside can wake it any more.
    fn unreachable(&self) -> bool {
        self.pending_io.get() == 0 && self.exports.get() == 0 && self.callbacks.get() == 0
    }

    /// Whether it is unanswered and nothing can change that.
    pub(crate) fn hung(&self) -> bool {
        !self.answered() && self.unreachable() && !self.is_of_object()
    }

    /// Who waits for it.
    pub(crate) fn waiter(&self) -> Option<Arc<Waiter>> {
        let key = self.replies.borrow().iter().next().copied()?;
        self.shared.waiter_of(key)
    }

    /// Outgoing calls and timers that may still wake it.
    pub(crate) fn pending_io(&self) -> usize {
        self.pending_io.get()
    }

    pub(crate) fn timer_fired(&self) {
        self.timers_fired.set(self.timers_fired.get() + 1);
    }

    pub(crate) fn timers_fired(&self) -> u64 {
        self.timers_fired.get()
    }

    /// It is a Durable Object's: all events of the object are one invocation, which goes on until the object ends.
    pub(crate) fn set_object(&self, id: &str) {
        *self.object.borrow_mut() = Some(id.into());
    }

    /// It handles a fetch: to callers its hanging is something that happened on the other side.
    pub(crate) fn set_of_fetch(&self) {
        self.of_fetch.set(true);
    }

    pub(crate) fn is_of_object(&self) -> bool {
        self.object.borrow().is_some()
    }

    /// The id of the Durable Object that it is.
    pub(crate) fn object_id(&self) -> Option<Arc<str>> {
        self.object.borrow().clone()
    }

    pub(crate) fn set_origin(&self, origin: Origin) {
        self.origin.set(origin);
    }

    /// What leads to a call that it makes in `span`.
    pub(crate) fn origin_of_call(&self, span: Option<SpanId>) -> Origin {
        let origin = self.origin.get();
        Origin { span: self.tracer.as_ref().map(|tracer| tracer.context(span)).or(origin.span), ..origin }
    }

    /// As loaders know it.
    pub(crate) fn caller(&self) -> &Caller {
        let kind = if self.is_of_object() { CallerKind::DurableObject } else { CallerKind::Request };
        self.caller.get_or_init(|| Caller::new(kind))
    }

    /// Whether it is over: aborted, or answered, nobody outside holds an object of its session, and no `waitUntil` task
    /// can still make progress. Pending calls, timers and callbacks do not keep it. A Durable Object's is over only when
    /// it was aborted.
    pub(crate) fn over(&self) -> bool {
        if self.is_of_object() {
            return self.aborted.borrow().is_some();
        }
        self.aborted.borrow().is_some()
            || (self.answered() && self.exports.get() == 0 && (self.wait_until.get() == 0 || self.unreachable()))
    }

    /// Whether it has answered all, and objects of its session that others hold keep it.
    pub(crate) fn lingers(&self) -> bool {
        self.answered() && self.exports.get() > 0 && !self.is_of_object()
    }

    /// Whether it has answered all it was asked, and only others' holding its objects keeps it.
    pub(crate) fn idle(&self) -> bool {
        self.answered() && self.wait_until.get() == 0
    }

    /// Answers whatever is unanswered and reports. Further calls do nothing.
    pub(crate) fn finish(&self, ended: Option<Cause>) {
        // Its owner may let go of a Worker that has answered before the invocation is seen to be over.
        let ended = ended.filter(|cause| !(cause.by_owner() && self.idle()));
        let error = match ended {
            Some(cause) => RpcError::ended(cause),
            None => RpcError { remote: self.of_fetch.get(), ..RpcError::new("Error", HUNG) },
        };
        let hung = ended.is_none() && !self.answered();
        self.answer_all(&error, 0);
        self.shared.invocation_ended(self.id);
        let Some(listeners) = self.meter.take_listeners() else { return };
        let outcome = match ended {
            Some(cause) => cause.outcome(),
            None if hung || self.threw.get() => Outcome::Exception,
            None => Outcome::Ok,
        };
        self.end_trace(ended, hung, outcome);
        if let Some(on_end) = listeners.on_end {
            on_end(InvocationReport { outcome, usage: self.usage(0) });
        }
    }

    fn end_trace(&self, ended: Option<Cause>, hung: bool, outcome: Outcome) {
        let Some(tracer) = &self.tracer else { return };
        let now = system_ms();
        let why = match ended {
            Some(Cause::Canceled | Cause::Shutdown) => None,
            Some(cause) => Some(cause.message()),
            None => hung.then_some(HUNG),
        };
        if let Some(message) = why {
            tracer.exception(now, None, ErrorInfo { name: "Error".into(), message: message.into(), stack: None });
        }
        tracer.end(now, outcome, self.usage(0));
    }
}

/// Why something counts as pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldKind {
    /// An outgoing call or a timer.
    Io,
    /// An object of the session, held by somebody outside.
    Export,
    /// An object given as an argument to something of the invocation's own caller.
    Lent,
    /// An object given away as an argument.
    Callback,
    /// A `waitUntil` task.
    WaitUntil,
}

/// Counts something as pending for as long as it lives.
pub(crate) struct Hold {
    invocation: Rc<InvocationState>,
    kind: HoldKind,
}

impl Hold {
    pub(crate) fn new(invocation: &Rc<InvocationState>, kind: HoldKind) -> Self {
        let hold = Self { invocation: invocation.clone(), kind };
        hold.counter().set(hold.counter().get() + 1);
        hold
    }

    fn counter(&self) -> &Cell<usize> {
        match self.kind {
            HoldKind::Io => &self.invocation.pending_io,
            HoldKind::Export | HoldKind::Lent => &self.invocation.exports,
            HoldKind::Callback => &self.invocation.callbacks,
            HoldKind::WaitUntil => &self.invocation.wait_until,
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.counter().set(self.counter().get() - 1);
    }
}
