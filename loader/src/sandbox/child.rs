//! The sandbox process: isolates, and one socket to the broker that asks for them.
//!
//! The process trusts the broker and nothing it is told to run. It reports what a broker cannot see from outside: that
//! a limit ended a Worker whose thread is still busy in a builtin that does not look.

use std::collections::HashMap;
use std::fmt;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use loaderd_runtime::channel::{ConsoleLevel, ConsoleSink};
use loaderd_runtime::fatal::{Fatal, on_fatal};
use loaderd_runtime::isolate::{Idle, IsolateConfig, Sleeper};
use loaderd_runtime::limits::{Cause, overshoot, stuck_threads};
use loaderd_runtime::rpc::Capability;
use loaderd_schema::channel_capnp as schema;
use parking_lot::{Condvar, Mutex, MutexGuard};

use super::exit::exit_code;
use super::session::{Invoke, NO_SCOPE, Role, Scope, Session, connection_lost};
use super::socket::{Lost, Receiver, SendRoom, Sender};
use super::wire::{self, Counters, Malformed, PROTOCOL_VERSION};
use crate::confine::{LayerStatus, inside, launch};
use crate::error::LoaderError;
use crate::freed::allocated_bytes;
use crate::in_process::InProcess;
use crate::placement::{PlacedEntrypoint, PlacedInvocation, PlacedIsolate, Placement, StartRequest};
use crate::pool::PoolConfig;

/// The largest frame either side accepts: a whole Worker's code with room to spare.
pub(super) const FRAME_BYTES_MAX: usize = 80 << 20;

/// How often the process looks for Workers that were ended and are still busy.
const STUCK_LOOK: Duration = Duration::from_millis(20);

/// Console bytes that may wait for the broker; lines beyond are counted and dropped.
const CONSOLE_BACKLOG_MAX: usize = 4 << 20;

/// What may be allocated for the one Worker of a process beyond its memory limit, in bytes: messages on their way, code,
/// and what the process itself holds. More is held by a library or a builtin on the Worker's behalf, where no limit of the
/// isolate's sees it.
const ALLOCATED_BESIDE_MAX: usize = 256 << 20;

/// How many times as long as it takes to count what is allocated it is left alone after that: the C library looks at every piece
/// that is free, and a program decides how many there are.
const COUNTED_EVERY: u32 = 20;

/// Memory of the process beside its isolates, in bytes: V8 itself, stacks, messages on their way.
const PROCESS_DATA_BYTES: u64 = 4 << 30;

/// Runs a sandbox process on the calling (main) thread until the broker is gone. Nothing else may run in it.
#[must_use]
pub fn main() -> ExitCode {
    let mut layers = inside::before_v8();
    loaderd_runtime::setup::initialize();
    // SAFETY: whoever started this process put the socket there, and nothing else uses it.
    let socket = unsafe { OwnedFd::from_raw_fd(launch::SOCKET_FD) };
    let (Ok(sender), Ok(receiver)) =
        (Sender::new(socket, &SendRoom::of_pool()), Receiver::with_guests(FRAME_BYTES_MAX))
    else {
        return ExitCode::FAILURE;
    };
    layers.retain(|layer| !layer.layer.is_empty());
    let role = ChildRole { layers: Mutex::new(layers), process: OnceLock::new() };
    let session = Session::new(sender, receiver, FRAME_BYTES_MAX, Box::new(role));
    let lost = session.run();
    // Isolates go with the process: their threads may be busy for ever, so nobody waits for them.
    ExitCode::from(u8::from(lost != Lost::Closed))
}

struct ChildRole {
    layers: Mutex<Vec<LayerStatus>>,
    process: OnceLock<Process>,
}

/// What there is after the broker's greeting.
struct Process {
    placement: Arc<InProcess>,
    workers: Arc<Workers>,
}

/// The Workers in the process.
#[derive(Default)]
struct Workers {
    table: Mutex<HashMap<Scope, Worker>>,
    /// There is one, where there was none.
    arrived: Condvar,
}

impl Workers {
    fn lock(&self) -> MutexGuard<'_, HashMap<Scope, Worker>> {
        self.table.lock()
    }
}

struct Worker {
    /// `None` while it is being placed.
    isolate: Option<Arc<dyn PlacedIsolate>>,
    entrypoints: HashMap<u32, Arc<dyn PlacedEntrypoint>>,
    invocations: HashMap<u64, Arc<dyn PlacedInvocation>>,
    told_ended: bool,
}

impl Role for ChildRole {
    fn frame(&self, session: &Arc<Session>, frame: schema::frame::Reader<'_>) -> Result<(), Malformed> {
        if let schema::frame::Hello(hello) = frame.which()? {
            return self.greeted(session, hello?);
        }
        let process = self.process.get().ok_or(Malformed::Unexpected("a frame before the greeting"))?;
        match frame.which()? {
            schema::frame::Load(load) => process.load(session, load?),
            schema::frame::Entrypoint(entrypoint) => process.entrypoint(session, entrypoint?),
            schema::frame::ReleaseEntrypoint(reference) => {
                let reference = reference?;
                let dropped = process
                    .workers
                    .lock()
                    .get_mut(&reference.get_worker())
                    .and_then(|worker| worker.entrypoints.remove(&reference.get_entrypoint()));
                drop(dropped);
                Ok(())
            }
            schema::frame::End(end) => {
                let end = end?;
                process.end(end.get_worker(), wire::read_cause(end.get_cause()?));
                Ok(())
            }
            schema::frame::EndInvocation(end) => {
                let end = end?;
                process.end_invocation(end.get_question(), wire::read_cause(end.get_cause()?));
                Ok(())
            }
            schema::frame::ReleaseWorker(worker) => {
                process.end(worker, Cause::Shutdown);
                Ok(())
            }
            schema::frame::Ping(nonce) => {
                // A lost connection is seen where frames are received.
                let _ = session.send(0, |frame| {
                    let mut pong = frame.init_pong();
                    pong.set_nonce(nonce);
                    wire::write_counters(&counters(&process.placement), pong.init_counters());
                });
                Ok(())
            }
            _ => Err(Malformed::Unexpected("a frame only a sandbox sends")),
        }
    }

    fn invoke(&self, session: &Arc<Session>, invoke: Invoke) -> Result<Option<Arc<dyn Capability>>, Malformed> {
        let process = self.process.get().ok_or(Malformed::Unexpected("a call before the greeting"))?;
        Ok(process.invoke(session, invoke))
    }

    fn admits_guest(&self) -> bool {
        // One Worker that reads must not keep others waiting while it runs.
        self.process.get().is_some_and(|process| process.workers.lock().len() == 1)
    }

    fn lost(&self, _: &Arc<Session>, _: &Lost) {}
}

/// Has the thread of a Worker that waits read what it waits for.
struct ReadWhileIdle(Weak<Session>);

impl fmt::Debug for ReadWhileIdle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadWhileIdle")
    }
}

impl Idle for ReadWhileIdle {
    fn work(&self, inbox: &dyn Sleeper, until: Option<Instant>) {
        if let Some(session) = self.0.upgrade() {
            session.read_while_idle(inbox, until);
        }
    }

    fn wake(&self) {
        if let Some(session) = self.0.upgrade() {
            session.wake_guest();
        }
    }

    fn leave(&self) {
        if let Some(session) = self.0.upgrade() {
            session.give_back();
        }
    }
}

impl ChildRole {
    fn greeted(&self, session: &Arc<Session>, hello: schema::hello::Reader<'_>) -> Result<(), Malformed> {
        if hello.get_version() != PROTOCOL_VERSION {
            return Err(Malformed::Unexpected("another version of the protocol"));
        }
        let mut isolate: IsolateConfig = wire::read_isolate_config(hello.get_isolate()?)?;
        isolate.idle = Some(Arc::new(ReadWhileIdle(Arc::downgrade(session))));
        let data_bytes = u64::from(hello.get_isolates_max())
            .saturating_mul(2)
            .saturating_mul(isolate.memory_bytes_max as u64)
            .saturating_add(PROCESS_DATA_BYTES);
        let memory_bytes_max = isolate.memory_bytes_max;
        let pool = PoolConfig { isolate, target: hello.get_isolates_warm() as usize, ..PoolConfig::default() };
        let placement = InProcess::new(pool).map_err(|_| Malformed::Unexpected("a machine without threads"))?;
        let process = Process { placement, workers: Arc::default() };
        process.watch(session, memory_bytes_max);
        // Before anything is loaded; a second greeting is refused below.
        let _ = DYING.set(Dying { session: Arc::downgrade(session), workers: Arc::downgrade(&process.workers) });
        on_fatal(die);
        let mut layers = std::mem::take(&mut *self.layers.lock());
        layers.push(inside::limit_memory(data_bytes));
        layers.push(inside::before_programs());
        if self.process.set(process).is_err() {
            return Err(Malformed::Unexpected("a second greeting"));
        }
        let _ = session.send(4096, |frame| {
            let mut welcome = frame.init_welcome();
            welcome.set_version(PROTOCOL_VERSION);
            let mut list = welcome.init_confinement(u32::try_from(layers.len()).unwrap_or(0));
            for (index, layer) in (0u32..).zip(&layers) {
                wire::write_layer(layer, list.reborrow().get(index));
            }
        });
        Ok(())
    }
}

impl Process {
    fn load(&self, session: &Arc<Session>, load: schema::load::Reader<'_>) -> Result<(), Malformed> {
        let id = load.get_worker();
        let (mut code, wants_console) = wire::read_load(load, &mut |cap| session.raise(id, cap))?;
        if wants_console {
            let session = Arc::downgrade(session);
            code.channels.console = Some(Arc::new(Console { session, worker: id, dropped: AtomicU32::new(0) }));
        }
        let worker =
            Worker { isolate: None, entrypoints: HashMap::new(), invocations: HashMap::new(), told_ended: false };
        if id == NO_SCOPE || self.workers.lock().insert(id, worker).is_some() {
            return Err(Malformed::Unexpected("a worker loaded twice"));
        }
        self.workers.arrived.notify_one();
        let (started, ended, workers) = (session.clone(), session.clone(), Arc::downgrade(&self.workers));
        let placement = Arc::downgrade(&self.placement);
        let isolate = self.placement.start(StartRequest {
            code: Arc::new(code),
            tenant: None,
            on_started: Box::new(move |result| send_loaded(&started, id, &result)),
            on_end: Box::new(move |cause| {
                if let Some(placement) = placement.upgrade().filter(|_| cause.is_cpu()) {
                    let counters = counters(&placement);
                    let _ = ended.send(0, |frame| wire::write_counters(&counters, frame.init_counters()));
                }
                gone(&ended, &workers, id, cause);
            }),
        });
        if let Some(worker) = self.workers.lock().get_mut(&id) {
            worker.isolate = Some(isolate);
        }
        Ok(())
    }

    fn entrypoint(&self, session: &Arc<Session>, reader: schema::entrypoint::Reader<'_>) -> Result<(), Malformed> {
        let reference = reader.get_ref()?;
        let worker = reference.get_worker();
        let spec = wire::read_entrypoint(reader, &mut |cap| session.raise(worker, cap))?;
        let mut workers = self.workers.lock();
        // Unknown when it has gone meanwhile.
        if let Some(worker) = workers.get_mut(&worker)
            && let Some(isolate) = &worker.isolate
        {
            let entrypoint = isolate.entrypoint(spec);
            worker.entrypoints.insert(reference.get_entrypoint(), entrypoint);
        }
        Ok(())
    }

    fn invoke(&self, session: &Arc<Session>, invoke: Invoke) -> Option<Arc<dyn Capability>> {
        let Invoke { question, worker, entrypoint, call, reply, wants_report } = invoke;
        let placed = self.workers.lock().get(&worker).and_then(|worker| worker.entrypoints.get(&entrypoint).cloned());
        let Some(placed) = placed else {
            reply.send(Err(connection_lost()));
            return None;
        };
        let (session, workers) = (Arc::downgrade(session), Arc::downgrade(&self.workers));
        let over = Arc::new(AtomicBool::new(false));
        let ended = over.clone();
        let invoked = placed.invoke(
            call,
            reply,
            Box::new(move |report| {
                ended.store(true, SeqCst);
                if let Some(workers) = workers.upgrade()
                    && let Some(worker) = workers.lock().get_mut(&worker)
                {
                    worker.invocations.remove(&question);
                }
                if let Some(session) = session.upgrade().filter(|_| wants_report) {
                    let _ = session.send(0, |frame| wire::write_report(question, &report, frame.init_report()));
                }
            }),
        );
        // It may have come to its end already, as one that is refused does.
        if let Some(worker) = self.workers.lock().get_mut(&worker).filter(|_| !over.load(SeqCst)) {
            worker.invocations.insert(question, invoked.invocation);
        }
        invoked.pipeline
    }

    fn end(&self, worker: Scope, cause: Cause) {
        let isolate = self.workers.lock().get(&worker).and_then(|worker| worker.isolate.clone());
        if let Some(isolate) = isolate {
            isolate.end(cause);
        }
    }

    fn end_invocation(&self, question: u64, cause: Cause) {
        let invocation = self.workers.lock().values().find_map(|worker| worker.invocations.get(&question).cloned());
        if let Some(invocation) = invocation {
            invocation.end(cause);
        }
    }

    /// Tells the broker of every Worker that was ended and is not gone: it may be in a builtin that never looks. Ends a Worker
    /// for which far more memory is allocated than it may have.
    fn watch(&self, session: &Arc<Session>, memory_bytes_max: usize) {
        let (session, workers) = (Arc::downgrade(session), self.workers.clone());
        let allocated_max = memory_bytes_max.saturating_add(ALLOCATED_BESIDE_MAX);
        let mut count_again = Instant::now();
        // Without this thread the broker still has its own deadlines.
        let _ = std::thread::Builder::new().name("stuck-watch".into()).stack_size(256 << 10).spawn(move || {
            loop {
                let (alone, ended) = {
                    let mut table = workers.lock();
                    workers.arrived.wait_while(&mut table, |table| table.is_empty());
                    // Of several it could be any.
                    let one =
                        table.values().next().filter(|_| table.len() == 1).and_then(|worker| worker.isolate.clone());
                    (one, newly_ended(&mut table))
                };
                if let Some(isolate) = alone.filter(|_| Instant::now() >= count_again) {
                    let started = Instant::now();
                    if allocated_bytes() > allocated_max {
                        isolate.end(Cause::ExceededMemory);
                    }
                    count_again = started + COUNTED_EVERY * started.elapsed();
                }
                let Some(session) = session.upgrade() else { return };
                for (id, cause) in ended {
                    let _ = session.send(0, |frame| write_end(id, cause, frame.init_ended()));
                }
                drop(session);
                std::thread::sleep(STUCK_LOOK);
            }
        });
    }
}

/// What is told when V8 gives up.
struct Dying {
    session: Weak<Session>,
    workers: Weak<Workers>,
}

static DYING: OnceLock<Dying> = OnceLock::new();

/// V8 gives up: tells the broker which Workers had met a limit, so that they hear of that and their neighbours of their
/// innocence, and exits with the reason. Whoever holds the table just now will let it go, unless it is this thread.
fn die(why: Fatal) {
    /// How long another thread may hold the table.
    const TABLE_WITHIN: Duration = Duration::from_millis(50);
    if let Some(dying) = DYING.get()
        && let (Some(session), Some(workers)) = (dying.session.upgrade(), dying.workers.upgrade())
        && let Some(mut workers) = workers.table.try_lock_for(TABLE_WITHIN)
    {
        for (id, cause) in newly_ended(&mut workers) {
            let _ = session.send(0, |frame| write_end(id, cause, frame.init_ended()));
        }
    }
    // SAFETY: ends the process without running anything more of it, from whatever state V8 is in.
    unsafe { libc::_exit(exit_code(why)) }
}

fn newly_ended(workers: &mut HashMap<Scope, Worker>) -> Vec<(Scope, Cause)> {
    workers
        .iter_mut()
        .filter(|(_, worker)| !worker.told_ended)
        .filter_map(|(id, worker)| {
            let cause = worker.isolate.as_ref()?.ended()?;
            worker.told_ended = true;
            Some((*id, cause))
        })
        .collect()
}

fn send_loaded(session: &Session, worker: Scope, result: &Result<loaderd_runtime::isolate::LoadReport, LoaderError>) {
    let _ = session.send(4096, |frame| {
        let mut loaded = frame.init_loaded();
        loaded.set_worker(worker);
        match result {
            Ok(report) => wire::write_load_report(report, loaded.init_ok()),
            Err(error) => wire::write_load_error(&as_load_error(error), loaded.init_error()),
        }
    });
}

/// The broker checked the code, so what is left are the runtime's own errors, or the machine's.
fn as_load_error(error: &LoaderError) -> loaderd_runtime::isolate::LoadError {
    use loaderd_runtime::isolate::{LoadError, LoadPhase};
    match error {
        LoaderError::Start(error) => error.clone(),
        LoaderError::Ended(cause) => LoadError::ended(*cause),
        other => LoadError {
            message: other.to_string(),
            phase: LoadPhase::Evaluate,
            cause: other.cause(),
            blame: other.blame(),
            startup_cpu: None,
        },
    }
}

fn counters(placement: &InProcess) -> Counters {
    let pool = placement.pool_metrics();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Counters {
        isolates_alive: count(pool.alive),
        isolates_warm: count(pool.pooled),
        threads_stuck: count(stuck_threads()),
        overshoot: overshoot::snapshot(),
    }
}

/// Nothing of a Worker's isolate is left.
fn gone(session: &Session, workers: &Weak<Workers>, worker: Scope, cause: Cause) {
    let dropped = workers.upgrade().and_then(|workers| workers.lock().remove(&worker));
    session.forget_scope(worker, &connection_lost());
    let _ = session.send(0, |frame| write_end(worker, cause, frame.init_gone()));
    drop(dropped);
}

fn write_end(worker: Scope, cause: Cause, mut end: schema::end::Builder<'_>) {
    end.set_worker(worker);
    end.set_cause(wire::write_cause(cause));
}

/// Sends console lines to the broker, unless it does not keep up.
struct Console {
    session: Weak<Session>,
    worker: Scope,
    dropped: AtomicU32,
}

impl ConsoleSink for Console {
    fn line(&self, level: ConsoleLevel, text: &str) {
        let Some(session) = self.session.upgrade() else { return };
        if session.backlog() > CONSOLE_BACKLOG_MAX {
            self.dropped.fetch_add(1, Relaxed);
            return;
        }
        let dropped = self.dropped.swap(0, Relaxed);
        let _ = session.send(text.len(), |frame| {
            let mut console = frame.init_console();
            console.set_worker(self.worker);
            console.set_level(wire::write_console_level(level));
            console.set_text(text);
            console.set_dropped(dropped);
        });
    }
}
