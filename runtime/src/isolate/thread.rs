//! An isolate's thread: creates the isolate, reads the inbox, runs turns, tears everything down.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::hung::Suspects;
use super::inbox::{Invoke, Item, LoadDone, Shared};
use super::running::Scope;
use super::state::{IsolateState, Worker};
use super::timers::Timer;
use super::{EntrypointSpec, HangPolicy, IsolateConfig, LoadCode, LoadError, LoadPhase, LoadReport, SpawnError, Uses};
use crate::channel::InvocationReport;
use crate::compat::Flag;
use crate::error::Blame;
use crate::invocation::{InvocationId, InvocationState, OnEnd};
use crate::limits::cpu::{ThreadClock, nanos, this_thread_ns};
use crate::limits::overshoot;
use crate::limits::watchdog::Registration;
use crate::limits::{Cause, Outcome};
use crate::modules::exports::{ExportedEntrypoint, entrypoints};
use crate::modules::start;
use crate::rpc::{Call, Op, Reply, glue};
use crate::trace::TraceStart;
use crate::trace::tracer::Tracer;
use crate::vm::Vm;

/// CPU budget of turns that are no invocation's: letting go of what one has left, running finalizers meanwhile.
const HOUSEKEEPING_CPU: Duration = Duration::from_secs(1);

/// V8's own tasks run after a turn; more than this many wait for the next one.
const V8_TASKS_PER_TURN_MAX: usize = 64;

/// Starts the thread.
pub(super) fn start(
    config: IsolateConfig,
    shared: Arc<Shared>,
    ready: Box<dyn FnOnce() + Send>,
) -> Result<(), SpawnError> {
    std::thread::Builder::new().name("isolate".into()).stack_size(config.stack_bytes).spawn(move || {
        let ending = Ending(shared.clone());
        let run = std::panic::AssertUnwindSafe(|| run(&config, &shared, ready));
        if std::panic::catch_unwind(run).is_err() {
            // A bug of ours costs this isolate, not the process: everything it held is answered by being dropped.
            tracing::error!("an isolate's thread panicked; its isolate is gone");
            shared.end(Cause::InternalError);
        }
        shared.queue.close();
        drop(ending);
    })?;
    Ok(())
}

/// Tells whoever asked that the isolate is gone, on every way out of the thread.
struct Ending(Arc<Shared>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.run_on_end();
    }
}

fn run(config: &IsolateConfig, shared: &Arc<Shared>, ready: Box<dyn FnOnce() + Send>) {
    let Some(clock) = ThreadClock::current() else {
        tracing::error!("this system has no CPU clock for threads; isolates cannot be limited");
        return shared.end(Cause::Shutdown);
    };
    crate::fatal::enter(shared);
    let vm = Vm::new(config, shared);
    let watch = Registration::new(clock, shared.clone());
    vm.state.asides.set_deadline(watch.deadline());
    ready();
    let mut thread = Thread { vm, watch, shared: shared.clone(), turn: 0, suspects: Suspects::default() };
    thread.serve();
    if let Some(idle) = shared.idle() {
        idle.leave();
    }
    thread.tear_down();
}

struct Thread {
    // Dropped in this order: the watchdog forgets the thread only after V8 can no longer run on it.
    vm: Vm,
    watch: Registration,
    shared: Arc<Shared>,
    turn: u64,
    suspects: Suspects,
}

/// Who pays for a turn.
enum Payer {
    Startup(Duration),
    Invocation(Rc<InvocationState>),
    /// What is left to do when an invocation is over; nobody's where there was none.
    Housekeeping(Option<InvocationId>),
}

impl Thread {
    fn serve(&mut self) {
        while self.shared.cause().is_none() {
            let due = self.vm.state.next_due();
            self.work_while_idle(due);
            match self.shared.queue.take_by(due) {
                Some(item) => self.handle(item),
                None => self.fire_due_timers(),
            }
        }
    }

    /// Does the process's work, where there is some, until there is something in the inbox or `until`.
    fn work_while_idle(&self, until: Option<Instant>) {
        if let Some(idle) = self.shared.idle()
            && self.shared.queue.is_empty()
            && self.vm.state.worker.borrow().is_some()
        {
            idle.work(&self.shared.queue, until);
        }
    }

    fn handle(&mut self, item: Item) {
        self.vm.state.advance_clock();
        match item {
            Item::Load(code, done) => self.load(*code, done),
            Item::Invoke(invoke) => {
                self.shared.request_taken();
                self.invoke(*invoke);
            }
            Item::Task { invocation: None, run } => {
                self.run_turn(Payer::Housekeeping(None), |scope| run(scope));
            }
            Item::Task { invocation: Some(id), run } => {
                if let Some(invocation) = self.vm.state.invocation(id) {
                    self.invocation_turn(&invocation, |scope| run(scope));
                }
            }
            Item::EndInvocation(id, cause) => self.end_invocation(id, Some(cause)),
            // Nothing has happened that another check could find.
            Item::CheckHung => return self.check_hung(),
            Item::Wake => {}
        }
        self.ask_for_check();
    }

    /// Timers that are due fire one turn each; what arrived meanwhile goes first, so that a flood of timers cannot
    /// keep answers out.
    fn fire_due_timers(&mut self) {
        let now = Instant::now();
        while self.shared.queue.is_empty() && self.shared.cause().is_none() {
            let Some(timer) = self.vm.state.timers.borrow_mut().take_due(now) else { return };
            self.vm.state.set_clock_ms(timer.due_ms);
            if let Some(invocation) = self.vm.state.invocation(timer.invocation) {
                invocation.timer_fired();
                self.invocation_turn(&invocation, |scope| call_timer(scope, timer));
                self.ask_for_check();
            }
        }
    }

    fn load(&mut self, code: LoadCode, done: LoadDone) {
        let LoadCode { source, env, channels, startup_cpu, limits, on_hang, clock, uses, compat } = code;
        if self.vm.state.worker.borrow().is_some() {
            return done(Err(LoadError {
                message: "This isolate has been used: code can be loaded into it once.".into(),
                phase: LoadPhase::Compile,
                cause: None,
                blame: Blame::Host,
                startup_cpu: None,
            }));
        }
        if uses == Uses::One {
            self.watch.set_used_once();
            self.shared.set_one_budget();
        }
        self.shared.hold_loading(done);
        self.vm.state.set_import_budget(startup_cpu);
        let state = self.vm.state.clone();
        let mut result = None;
        let startup = self.run_turn(Payer::Startup(startup_cpu), |scope| {
            let (not_yet, main) = (Default::default(), Default::default());
            let worker = Worker { env: not_yet, main, channels, limits, on_hang, clock, compat };
            *state.worker.borrow_mut() = Some(Rc::new(worker));
            result = Some(load_worker(scope, &state, source, env));
        });
        let result = match (self.shared.cause(), result) {
            (Some(cause), _) => Err(LoadError::ended(cause)),
            (None, Some(Ok(entrypoints))) => Ok(LoadReport { startup_cpu: startup, entrypoints: entrypoints.into() }),
            (None, Some(Err(error))) => Err(error),
            (None, None) => Err(LoadError::ended(Cause::Shutdown)),
        };
        let result = result.map_err(|error| {
            // Nothing else can be loaded into it.
            self.shared.end(Cause::Shutdown);
            LoadError { startup_cpu: Some(startup), ..error }
        });
        if let Some(done) = self.shared.take_loading() {
            done(result);
        }
    }

    fn invoke(&mut self, invoke: Invoke) {
        let Invoke { id, entrypoint, object, call, reply, result, on_end } = invoke;
        let (object, life) = object.unzip();
        if let (Some(key), Some(why)) = (&object, life.as_ref().and_then(|life| life.broken())) {
            // Its life ended while the event was on its way.
            if key.facet.is_none() {
                return event_reply(reply, on_end).send(Err(why.clone()));
            }
            self.shared.revive_object(entrypoint.name.as_deref().unwrap_or("default"), key, id);
        }
        if object.is_some()
            && let Some(invocation) = self.vm.state.invocation(id)
        {
            // Another event of an object that is there.
            invocation.refill();
            invocation.set_origin(call.origin);
            let reply = event_reply(reply, on_end);
            let target = (&*entrypoint, object.as_deref());
            self.invocation_turn(&invocation, |scope| glue::dispatch_entrypoint(scope, target, call, reply, result));
            return;
        }
        let (reply, on_end) = match object {
            Some(_) => (event_reply(reply, on_end), None),
            None => (reply, on_end),
        };
        let code_limits = self.vm.state.worker.borrow().as_ref().map(|worker| worker.limits).unwrap_or_default();
        // The events of an object are one invocation, which has no end to tell of while the object lives.
        let tracer = if object.is_none() { self.tracer(&entrypoint, &call) } else { None };
        let limits = code_limits.lowest(entrypoint.limits);
        let invocation = InvocationState::new(id, limits, on_end, &self.shared, tracer);
        invocation.set_origin(call.origin);
        self.vm.state.add_invocation(invocation.clone());
        if let Some(key) = &object {
            invocation.set_object(&key.id);
        }
        if invocation.cpu_remaining_ns() == Some(0) {
            // A budget of nothing is used up before anything runs. The isolate has done nothing wrong.
            invocation.hold_reply(reply);
            return self.end_invocation(id, Some(Cause::ExceededCpu));
        }
        let target = (&*entrypoint, object.as_deref());
        self.invocation_turn(&invocation, |scope| glue::dispatch_entrypoint(scope, target, call, reply, result));
    }

    /// What a new invocation is traced through, if somebody wants its trace.
    fn tracer(&self, entrypoint: &EntrypointSpec, call: &Call) -> Option<Tracer> {
        let sink = self.vm.state.worker.borrow().as_ref()?.channels.traces.clone()?;
        let is_trace = |kind: &String| kind == "tail" || kind == "tailStream";
        let start = TraceStart {
            entrypoint: entrypoint.name.clone().filter(|name| name != "default"),
            delivers_trace: matches!(call.op, Op::Event(_)) && call.path.first().is_some_and(is_trace),
            origin: call.origin,
        };
        sink.begin(&start).map(|trace| Tracer::new(trace, call.origin))
    }

    /// A turn of an invocation, and what follows from it: over, hung, or waiting for more.
    fn invocation_turn(
        &mut self,
        invocation: &Rc<InvocationState>,
        work: impl for<'s, 'i> FnOnce(&mut v8::PinScope<'s, 'i>),
    ) {
        self.run_turn(Payer::Invocation(invocation.clone()), work);
        if self.shared.cause().is_some() {
            return;
        }
        let wait = self.vm.state.worker.borrow().as_ref().is_some_and(|worker| worker.on_hang == HangPolicy::Wait);
        if invocation.over() {
            self.end_invocation(invocation.id, None);
        } else if invocation.lingers() {
            self.vm.rpc().hold_loosely(invocation.id);
        } else if invocation.hung() && !wait {
            self.suspects.add(invocation.id);
        }
    }

    /// Has suspects looked at when everything that is in the inbox has been handled: what they have themselves set going may
    /// still wake them, like the disposer of an object that they let go of.
    fn ask_for_check(&mut self) {
        if self.suspects.take_check() {
            self.shared.post(Item::CheckHung);
        }
    }

    /// Ends the invocations that nothing can wake any more.
    fn check_hung(&mut self) {
        for id in self.suspects.hung(&self.vm.state) {
            self.end_invocation(id, None);
        }
    }

    /// Answers what an invocation left unanswered and drops what it held.
    fn end_invocation(&mut self, id: u64, cause: Option<Cause>) {
        let Some(invocation) = self.vm.state.remove_invocation(id) else { return };
        self.suspects.remove(id);
        if invocation.is_of_object() {
            self.shared.object_ended(id, invocation.aborted().as_ref());
        }
        invocation.finish(cause);
        self.run_turn(Payer::Housekeeping(Some(id)), |scope| glue::invocation_ended(scope, id));
    }

    /// Runs `work` and the microtasks it leaves, within the payer's budget; returns the CPU time used, which has
    /// been charged.
    fn run_turn(&mut self, payer: Payer, work: impl for<'s, 'i> FnOnce(&mut v8::PinScope<'s, 'i>)) -> Duration {
        let (scope_kind, whose, budget_ns) = match &payer {
            Payer::Startup(budget) => (Scope::Startup, None, Some(nanos(*budget))),
            Payer::Housekeeping(whose) => (Scope::Housekeeping, *whose, Some(nanos(HOUSEKEEPING_CPU))),
            Payer::Invocation(invocation) => (Scope::Invocation, Some(invocation.id), invocation.cpu_remaining_ns()),
        };
        let invocation = match &payer {
            Payer::Invocation(invocation) => Some(invocation.clone()),
            Payer::Startup(_) | Payer::Housekeeping(_) => None,
        };
        self.turn += 1;
        self.shared.set_running(self.turn, scope_kind, whose);
        self.vm.state.begin_turn(invocation);
        let started = this_thread_ns();
        self.vm.state.set_turn_started_ns(started);
        self.shared.turn.begin(started);
        // Also without a budget: the watchdog sees to more than CPU time.
        let budget = budget_ns.unwrap_or(u64::MAX);
        self.vm.state.asides.begin(started.saturating_add(budget));
        self.watch.enter(self.turn, started, budget);
        self.vm.turn(V8_TASKS_PER_TURN_MAX, work);
        let ended = self.watch.leave();
        self.shared.turn.over();
        let used = ended.saturating_sub(started).saturating_sub(self.vm.state.asides.used_ns());
        if let Payer::Invocation(invocation) = &payer {
            invocation.charge_cpu_ns(used);
        }
        self.vm.state.set_turn_started_ns(0);
        if let Some(beyond_ns) = budget_ns.and_then(|budget| used.checked_sub(budget)).filter(|beyond| *beyond > 0) {
            self.shared.end_running();
            if self.shared.cause().is_some_and(Cause::is_cpu) {
                overshoot::record(Duration::from_nanos(beyond_ns));
            }
        }
        for visitor in self.vm.state.end_turn() {
            self.shared.post_task(Some(visitor), |_| {});
        }
        Duration::from_nanos(used)
    }

    /// Answers everybody who still waits; the isolate itself goes when `self` does.
    fn tear_down(self) {
        let cause = self.shared.cause().unwrap_or(Cause::Shutdown);
        for invocation in self.vm.state.take_invocations() {
            let ended = self.shared.cause_for(invocation.id).unwrap_or(cause);
            // One that had nothing left to do when its isolate was let go has ended by itself.
            let let_go = matches!(ended, Cause::Canceled | Cause::Shutdown) && invocation.idle();
            invocation.finish((!let_go).then_some(ended));
        }
        while let Some(item) = self.shared.queue.take() {
            match item {
                Item::Invoke(invoke) => invoke.reply.send(Err(crate::rpc::RpcError::ended(cause))),
                Item::Load(_, done) => done(Err(LoadError::ended(cause))),
                Item::Task { .. } | Item::EndInvocation(..) | Item::CheckHung | Item::Wake => {}
            }
        }
        self.vm.dispose();
    }
}

/// The reply of an object's event, which ends with its answer; what the object goes on with is nobody's event.
fn event_reply(reply: Reply, on_end: Option<OnEnd>) -> Reply {
    let Some(on_end) = on_end else { return reply };
    Reply::awaited_by(reply.waiter().cloned(), move |answer| {
        let outcome = match &answer.result {
            Ok(_) => Outcome::Ok,
            Err(error) => error.cause.map_or(Outcome::Exception, Cause::outcome),
        };
        let usage = answer.usage;
        reply.send(answer);
        on_end(InvocationReport { outcome, usage });
    })
}

fn load_worker<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    source: crate::modules::WorkerSource,
    env: Option<crate::rpc::Message>,
) -> Result<Vec<ExportedEntrypoint>, LoadError> {
    let env_error = || LoadError {
        message: "Failed to start Worker:\nUncaught Error: The Worker's env is not a serialized object.".into(),
        phase: LoadPhase::Compile,
        cause: None,
        blame: Blame::Host,
        startup_cpu: None,
    };
    crate::api::settle_flagged(scope);
    // Ahead of `env`, in which internal modules may make bindings.
    state.registry.borrow_mut().load(source, state.has_flag(Flag::NewModuleRegistry));
    let env = match env {
        None => v8::Object::new(scope),
        Some(message) => {
            v8::tc_scope!(let scope, scope);
            match glue::revive(scope, &message) {
                Some(value) => v8::Local::<v8::Object>::try_from(value)
                    .ok()
                    .and_then(|value| plain_object(scope, value))
                    .ok_or_else(env_error)?,
                None => return Err(start::thrown(scope, LoadPhase::Evaluate)),
            }
        }
    };
    let Some(worker) = state.worker.borrow().clone() else { return Err(env_error()) };
    *worker.env.borrow_mut() = Some(v8::Global::new(scope, env));
    let namespace = start::start(scope, state)?;
    *worker.main.borrow_mut() = Some(v8::Global::new(scope, namespace));
    Ok(entrypoints(scope, namespace))
}

/// The same members in a plain object: `env` is one, whatever was given for it.
fn plain_object<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    object: v8::Local<'s, v8::Object>,
) -> Option<v8::Local<'s, v8::Object>> {
    let plain = crate::api::object_prototype(scope)?;
    if object.get_prototype(scope) == Some(plain) {
        return Some(object);
    }
    let copy = v8::Object::new(scope);
    let names = object.get_own_property_names(scope, v8::GetPropertyNamesArgs::default())?;
    for index in 0..names.length() {
        let name = names.get_index(scope, index)?;
        let value = object.get(scope, name)?;
        let name = name.to_string(scope)?;
        copy.create_data_property(scope, name.into(), value)?;
    }
    Some(copy)
}

fn call_timer(scope: &mut v8::PinScope<'_, '_>, timer: Timer) {
    let callback = v8::Local::new(scope, &timer.callback);
    let receiver = v8::undefined(scope);
    // What a timer throws is reported by the timers room, which wraps every callback; here nothing is left to do.
    let _ = callback.call(scope, receiver.into(), &[]);
}
