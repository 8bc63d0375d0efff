//! Sandbox processes as a placement, kept by the broker.
//!
//! | Room | Owns |
//! |---|---|
//! | `queue` | Workers that wait for a process, and whose turn it is |
//! | `room` | which process a Worker goes to |
//! | `supervisor` | what ends processes, and how many are kept |

mod queue;
mod room;
mod supervisor;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use loaderd_runtime::isolate::IsolateConfig;
use loaderd_runtime::limits::Cause;
use parking_lot::{Condvar, Mutex};

use self::queue::Queue;
use super::exit::{RESTARTS, Restart};
use super::place::Wish;
use super::process::{Gone, Kill, NO_PROCESS, Owner, Process, Setup};
use super::socket::SendRoom;
use super::wire::Counters;
use crate::confine::launch::{Image, Stderr};
use crate::confine::{self, LayerState, LayerStatus};
use crate::error::{LoaderError, Overload};
use crate::placement::{PlacedIsolate, Placement, StartRequest};
use crate::shares::{NoPlace, Tally, Tenant};

/// The first pause after a process failed, doubled with each failure in a row.
const BACKOFF_FIRST: Duration = Duration::from_millis(50);

/// The longest pause.
const BACKOFF_MAX: Duration = Duration::from_secs(5);

/// How many processes in a row may fail to start before those who wait are told that none can be.
const NEVER_STARTED_MAX: u32 = 3;

/// Between what, and what, the number of processes is when nobody says, by the number of processors. Each takes some 25 MiB
/// without programs, and there are only as many as were needed at once. The higher one holds as many Workers as may live
/// ([`LIVE_ISOLATES_MAX`](crate::host::LIVE_ISOLATES_MAX)).
const PROCESSES_MIN: usize = 16;
const PROCESSES_MAX: usize = 128;

/// How the pool is kept. Every bound is per pool unless it says otherwise.
#[derive(Clone, Debug)]
pub struct SandboxConfig {
    /// What each isolate is created with.
    pub isolate: IsolateConfig,
    /// The command line of a sandbox process: this program with these arguments.
    pub arguments: Vec<String>,
    /// Processes at once.
    pub processes_max: usize,
    /// Workers at once in one process: as many share its fate. Each takes a thread, and a process has a thousand at most.
    pub workers_per_process_max: usize,
    /// Workers a process gets in its life.
    pub workers_per_life_max: usize,
    /// Never-used isolates a process keeps ready.
    pub isolates_warm: usize,
    /// Resident memory beside that of its live Workers with which a process is retired, in bytes.
    pub retire_rss_bytes: u64,
    /// How long a tenant keeps a process that it does not use, when another that has some wants more.
    pub idle_kept: Duration,
    /// How long a process is kept that nobody uses and nobody else wants.
    pub idle_max: Duration,
    /// Workers that may wait for a process.
    pub waiting_max: usize,
    pub stderr: Stderr,
}

impl SandboxConfig {
    /// The defaults, for a program that runs a sandbox process when given `arguments`.
    #[must_use]
    pub fn new(arguments: Vec<String>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self {
            isolate: IsolateConfig::default(),
            arguments,
            processes_max: (8 * cores).clamp(PROCESSES_MIN, PROCESSES_MAX),
            workers_per_process_max: 4,
            workers_per_life_max: 2_000,
            isolates_warm: 4,
            retire_rss_bytes: 256 << 20,
            idle_kept: Duration::from_secs(10),
            idle_max: Duration::from_secs(300),
            waiting_max: 1024,
            stderr: Stderr::Discard,
        }
    }
}

/// Counters of the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SandboxMetrics {
    /// Processes alive now.
    pub processes: usize,
    /// Of those, how many were asked for a sign of life and have not given it in time.
    pub silent: usize,
    /// Workers in them now, those being torn down included.
    pub workers: usize,
    /// Workers that wait for a process now.
    pub waiting: usize,
    /// Processes started so far.
    pub started: u64,
    /// Of those, how many had to be replaced, in the order of [`RESTARTS`](super::RESTARTS).
    pub restarts: [u64; RESTARTS.len()],
    /// CPU time that killed processes used for Workers that did not stop, after those who waited were answered.
    pub abandoned_cpu: Duration,
    /// Of those, retired because their memory did not return.
    pub retired_for_memory: u64,
    /// Isolates in them that exist, never-used ones included, as of their last sign of life.
    pub isolates_alive: u64,
    /// Never-used isolates in them, likewise.
    pub isolates_warm: u64,
    /// Threads in them that are in a builtin which ignores being told to end, likewise.
    pub threads_stuck: u64,
    /// Resident memory of all processes, in bytes.
    pub rss_bytes: u64,
}

impl SandboxMetrics {
    /// Processes that had to be replaced for this reason.
    #[must_use]
    pub fn restarted(&self, why: Restart) -> u64 {
        self.restarts[why.index()]
    }
}

/// Sandbox processes, as a placement. Dropping the last handle ends them.
pub struct Sandboxes(Arc<Shared>);

struct Shared {
    me: Weak<Shared>,
    config: SandboxConfig,
    image: Arc<Image>,
    /// For what waits to be sent to the processes.
    send_room: Arc<SendRoom>,
    state: Mutex<State>,
    bell: Condvar,
    started: AtomicU64,
    restarts: [AtomicU64; RESTARTS.len()],
    abandoned_cpu_us: AtomicU64,
    retired_for_memory: AtomicU64,
}

struct State {
    processes: Vec<Arc<Process>>,
    /// How many of them belong to each tenant that has some.
    claimed: Tally,
    waiting: Queue<Wish>,
    /// How processes fail that nobody's program has brought down.
    backoff: Backoff,
    /// How those of a tenant do: a pause of one tenant's concerns no other. As long as it matters.
    backoffs: HashMap<Tenant, Backoff>,
    /// Processes in a row that never started, since one did.
    never_started: u32,
    layers: Option<Vec<LayerStatus>>,
    closing: bool,
    /// When a Worker was last asked for, until what the broker freed since is given back.
    asked_at: Option<Instant>,
    /// Something is ending.
    look: bool,
    /// Somebody waits, and the supervisor knows: it lets go of those that nobody wants any more.
    looked_after: bool,
}

impl State {
    fn new(waiting_max: usize) -> Self {
        Self {
            processes: Vec::new(),
            claimed: Tally::default(),
            waiting: Queue::new(waiting_max),
            backoff: Backoff::default(),
            backoffs: HashMap::new(),
            never_started: 0,
            layers: None,
            closing: false,
            asked_at: None,
            look: false,
            looked_after: false,
        }
    }

    /// Processes of a tenant.
    fn held_by(&self, tenant: &Tenant) -> usize {
        self.claimed.of(tenant)
    }

    /// A process that belongs to nobody becomes a tenant's.
    fn claim(&mut self, process: &Process, tenant: &Tenant) {
        if process.tenant.set(tenant.clone()).is_ok() {
            self.claimed.add(tenant);
        }
    }

    /// A process is gone.
    fn forget(&mut self, process: &Arc<Process>) {
        let before = self.processes.len();
        self.processes.retain(|known| !Arc::ptr_eq(known, process));
        if let Some(tenant) = process.tenant.get().filter(|_| self.processes.len() < before) {
            self.claimed.remove(tenant);
        }
    }
}

impl Sandboxes {
    /// A pool whose first process starts at once.
    ///
    /// # Errors
    /// The program cannot be opened, or the system refused a thread.
    pub fn new(config: SandboxConfig) -> io::Result<Arc<Self>> {
        let shared = Shared::new(config)?;
        let supervised = Arc::downgrade(&shared);
        std::thread::Builder::new()
            .name("sandbox-supervisor".into())
            .spawn(move || supervisor::supervise(&supervised))?;
        shared.start_process(&mut shared.state.lock(), None);
        Ok(Arc::new(Self(shared)))
    }

    /// What the process that greeted last could and could not apply of its confinement; `None` until one has.
    #[must_use]
    pub fn confinement(&self) -> Option<Vec<LayerStatus>> {
        self.0.state.lock().layers.clone()
    }

    /// Counters.
    #[must_use]
    pub fn metrics(&self) -> SandboxMetrics {
        self.metrics_with(Process::rss_bytes)
    }

    /// The same, with the resident memory of each process as somebody says.
    fn metrics_with(&self, rss_bytes: impl Fn(&Process) -> u64) -> SandboxMetrics {
        // Nobody is placed meanwhile, so nothing else is done under the lock: the system takes its time to tell of a process.
        let (processes, waiting) = {
            let state = self.0.state.lock();
            (state.processes.clone(), state.waiting.len())
        };
        let counters: Vec<_> = processes.iter().map(|process| process.counters()).collect();
        let sum = |of: fn(&Counters) -> u32| counters.iter().map(|counters| u64::from(of(counters))).sum();
        SandboxMetrics {
            processes: processes.len(),
            silent: processes.iter().filter(|process| !process.answers()).count(),
            workers: processes.iter().map(|process| process.active.load(SeqCst)).sum(),
            waiting,
            started: self.0.started.load(Relaxed),
            restarts: std::array::from_fn(|at| self.0.restarts[at].load(Relaxed)),
            abandoned_cpu: Duration::from_micros(self.0.abandoned_cpu_us.load(Relaxed)),
            retired_for_memory: self.0.retired_for_memory.load(Relaxed),
            isolates_alive: sum(|counters| counters.isolates_alive),
            isolates_warm: sum(|counters| counters.isolates_warm),
            threads_stuck: sum(|counters| counters.threads_stuck),
            rss_bytes: processes.iter().map(|process| rss_bytes(process)).sum(),
        }
    }

    /// Whether programs can be run: not once no process starts any more.
    #[must_use]
    pub fn works(&self) -> bool {
        let state = self.0.state.lock();
        state.never_started < NEVER_STARTED_MAX || state.processes.iter().any(|process| process.is_welcomed())
    }

    /// The system's numbers of the processes, for tests and operators.
    #[must_use]
    pub fn pids(&self) -> Vec<i32> {
        self.0.state.lock().processes.iter().map(|process| process.pid()).filter(|pid| *pid != 0).collect()
    }
}

impl Drop for Sandboxes {
    fn drop(&mut self) {
        let (processes, waiting) = {
            let mut state = self.0.state.lock();
            state.closing = true;
            (std::mem::take(&mut state.processes), state.waiting.take_all())
        };
        self.0.bell.notify_all();
        for process in processes {
            process.kill(Kill::Closing, loaderd_runtime::rpc::RpcError::ended(Cause::Shutdown));
        }
        for wish in waiting {
            wish.refuse(LoaderError::Ended(Cause::Shutdown));
        }
    }
}

impl Placement for Sandboxes {
    fn start(&self, request: StartRequest) -> Arc<dyn PlacedIsolate> {
        let traced = request.code.channels.traces.is_some();
        let (wish, placed) = Wish::new(request);
        if traced {
            // Traces do not cross the boundary; dropping them in silence would be worse than saying so.
            let problem = "Tail Workers of Workers in sandbox processes are not supported by loaderd.";
            wish.refuse(LoaderError::Platform(problem.to_owned()));
            return placed;
        }
        let tenant = wish.tenant().cloned();
        let refused = {
            let mut state = self.0.state.lock();
            state.asked_at = Some(Instant::now());
            state.waiting.push(&tenant, wish).err()
        };
        let max = self.0.config.waiting_max;
        match refused {
            None => self.0.place_waiting(),
            Some((wish, NoPlace::Full)) => wish.refuse(LoaderError::Overloaded(Overload::Starting { max })),
            Some((wish, NoPlace::Share { held })) => {
                wish.refuse(LoaderError::Overloaded(Overload::StartingOfTenant { held, max }));
            }
        }
        placed
    }
}

impl Shared {
    /// A pool without processes, and without anybody who looks after it.
    fn new(config: SandboxConfig) -> io::Result<Arc<Self>> {
        let arguments: Vec<&str> = config.arguments.iter().map(String::as_str).collect();
        let image = Arc::new(Image::of_this_program(&arguments)?);
        Ok(Arc::new_cyclic(|me| Self {
            me: me.clone(),
            state: Mutex::new(State::new(config.waiting_max)),
            config,
            image,
            send_room: SendRoom::of_pool(),
            bell: Condvar::new(),
            started: AtomicU64::new(0),
            restarts: [const { AtomicU64::new(0) }; RESTARTS.len()],
            abandoned_cpu_us: AtomicU64::new(0),
            retired_for_memory: AtomicU64::new(0),
        }))
    }

    /// Starts one more process, unless the last ones failed and it is too early: any, or those of the tenant that it is for.
    fn start_process(&self, state: &mut State, tenant: Option<&Tenant>) -> Option<Arc<Process>> {
        let now = Instant::now();
        let of_tenant = tenant.and_then(|tenant| state.backoffs.get(tenant));
        if state.closing || state.backoff.pauses(now) || of_tenant.is_some_and(|backoff| backoff.pauses(now)) {
            return None;
        }
        let owner: Arc<dyn Owner> = self.me.upgrade()?;
        let id = self.started.fetch_add(1, Relaxed) + 1;
        let setup = Setup {
            isolate: &self.config.isolate,
            isolates_warm: self.config.isolates_warm,
            isolates_max: self.config.isolates_warm + self.config.workers_per_process_max,
            send_room: &self.send_room,
        };
        match Process::start(id, &self.image, self.config.stderr, &setup, &owner) {
            Ok(process) => {
                state.processes.push(process.clone());
                Some(process)
            }
            Err(error) => {
                tracing::error!(%error, "a sandbox process could not be started");
                state.backoff.note_failure(now);
                state.never_started = state.never_started.saturating_add(1);
                None
            }
        }
    }

    /// A machine that cannot start processes at all must not let anybody wait for ever.
    fn refuse_where_none_starts(&self) {
        let refused = {
            let mut state = self.state.lock();
            let hopeless = state.never_started >= NEVER_STARTED_MAX && state.processes.is_empty();
            if hopeless { state.waiting.take_all() } else { Vec::new() }
        };
        for wish in refused {
            wish.refuse(LoaderError::Platform(NO_PROCESS.to_owned()));
        }
    }
}

/// Failures since a Worker came to its end, and the pause after them.
#[derive(Clone, Copy, Default)]
struct Backoff {
    failures: u32,
    not_before: Option<Instant>,
}

impl Backoff {
    fn pauses(&self, now: Instant) -> bool {
        self.not_before.is_some_and(|time| now < time)
    }

    /// A process failed: the next one is to wait. Those that fail meanwhile ran beside it, and say no more than it does.
    fn note_failure(&mut self, now: Instant) {
        if self.pauses(now) {
            return;
        }
        let pause = BACKOFF_FIRST.saturating_mul(1 << self.failures.min(10)).min(BACKOFF_MAX);
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(now + pause);
    }

    /// Whether another failure now would be one of a series.
    fn matters(&self, now: Instant) -> bool {
        self.not_before.is_some_and(|time| now < time + BACKOFF_MAX)
    }
}

impl State {
    /// A process failed: one that ran programs says something of its tenant's, any other of this machine.
    fn note_failure(&mut self, process: &Process, now: Instant) {
        let ran = process.given.load(SeqCst) > 0;
        match process.tenant.get().filter(|_| ran) {
            None => self.backoff.note_failure(now),
            Some(tenant) => {
                self.backoffs.retain(|_, backoff| backoff.matters(now));
                self.backoffs.entry(tenant.clone()).or_default().note_failure(now);
            }
        }
    }
}

impl Owner for Shared {
    fn released(&self, process: &Arc<Process>) {
        // Whatever failed before, a Worker came to its end in a process of this machine.
        {
            let mut state = self.state.lock();
            (state.backoff.failures, state.never_started) = (0, 0);
            if let Some(backoff) = process.tenant.get().and_then(|tenant| state.backoffs.get_mut(tenant)) {
                backoff.failures = 0;
            }
        }
        let done = process.given.load(SeqCst) >= self.config.workers_per_life_max;
        // A retired process is closed when the last Worker leaves it.
        if done || process.is_retired() {
            process.retire();
        }
        self.place_waiting();
    }

    fn process_gone(&self, process: &Arc<Process>, how: Gone) {
        {
            let mut state = self.state.lock();
            state.forget(process);
            if let Gone::Early(why) = how {
                self.restarts[why.index()].fetch_add(1, Relaxed);
                // A pause is for what goes wrong by itself, not for what the broker does on purpose.
                if !matches!(why, Restart::Stuck | Restart::Hung) {
                    state.note_failure(process, Instant::now());
                }
                if why == Restart::NeverStarted {
                    state.never_started = state.never_started.saturating_add(1);
                }
            }
        }
        self.refuse_where_none_starts();
        {
            let mut state = self.state.lock();
            if state.processes.is_empty() {
                self.start_process(&mut state, None);
            }
        }
        self.place_waiting();
        // Where it was too early to start another, the supervisor is to look again soon.
        self.bell.notify_one();
    }

    fn wake(&self) {
        self.state.lock().look = true;
        self.bell.notify_one();
    }

    fn welcomed(&self, layers: &[LayerStatus]) {
        let mut state = self.state.lock();
        state.backoff.not_before = None;
        if state.layers.as_deref() != Some(layers) {
            for LayerStatus { layer, state, detail } in confine::news(state.layers.as_deref(), layers) {
                match state {
                    LayerState::Applied => tracing::info!(layer, state = state.name(), detail, "confinement"),
                    _ => tracing::warn!(layer, state = state.name(), detail, "confinement"),
                }
            }
            tracing::debug!(layers = layers.len(), "a sandbox process is confined");
            state.layers = Some(layers.to_vec());
        }
    }
}
