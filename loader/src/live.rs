//! Which isolates are alive, which of them are idle, how much code is held, and whether one more may start. One lock, held for a few
//! instructions; evictions happen after it is released.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use loaderd_runtime::channel::InvocationReport;
use loaderd_runtime::isolate::LoadReport;
use loaderd_runtime::limits::{Cause, Outcome};
use parking_lot::Mutex;

use crate::error::{LoaderError, Overload};
use crate::host::HostLimits;
use crate::shares::{NoPlace, Shares, Tally, Tenant};
use crate::worker::Worker;

/// Counters of a host. Loads, evictions and ends only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Workers whose start was asked of the placement.
    pub loads: u64,
    /// Starts that failed.
    pub load_failures: u64,
    /// Loads refused because there was no room.
    pub refused: u64,
    /// Idle isolates that were evicted.
    pub evicted: u64,
    /// Isolates alive now, those starting and those being torn down included.
    pub alive: usize,
    /// Isolates alive now with nothing to do.
    pub idle: usize,
    /// Bytes of code that dynamic Workers hold now.
    pub held_code_bytes: usize,
    /// Isolates that ended, by cause, in the order of [`CAUSES`].
    pub ended: [u64; CAUSES.len()],
    /// Invocations that ended, by outcome, in the order of [`OUTCOMES`].
    pub invocations: [u64; OUTCOMES.len()],
    /// CPU time charged to them, as far as it is known.
    pub cpu: Duration,
    /// CPU time that starts used, those that failed included, as far as it is known.
    pub startup_cpu: Duration,
}

/// The causes that [`Metrics::ended`] counts, in its order.
pub const CAUSES: [Cause; 8] = [
    Cause::ExceededCpu,
    Cause::ExceededStartupCpu,
    Cause::ExceededMemory,
    Cause::ExceededWallTime,
    Cause::Condemned,
    Cause::Canceled,
    Cause::Shutdown,
    Cause::InternalError,
];

/// The outcomes that [`Metrics::invocations`] counts, in its order.
pub const OUTCOMES: [Outcome; 7] = [
    Outcome::Ok,
    Outcome::Exception,
    Outcome::Canceled,
    Outcome::ExceededCpu,
    Outcome::ExceededMemory,
    Outcome::ExceededWallTime,
    Outcome::InternalError,
];

/// See the module.
pub(crate) struct LiveSet {
    alive_max: usize,
    idle_max: usize,
    code_bytes_max: usize,
    state: Mutex<State>,
    pub(crate) loads: AtomicU64,
    pub(crate) load_failures: AtomicU64,
    invocations: [AtomicU64; OUTCOMES.len()],
    cpu_us: AtomicU64,
    startup_cpu_us: AtomicU64,
}

struct State {
    alive: Shares,
    code_bytes: usize,
    /// Idle Workers, least recently used first.
    idle: BTreeMap<u64, (Tenant, Weak<Worker>)>,
    /// How many of them are whose.
    idle_of: Tally,
    next: u64,
    refused: u64,
    evicted: u64,
    ended: [u64; CAUSES.len()],
}

/// Room for one isolate; given back with the cause that ended it.
pub(crate) struct Ticket {
    live: Arc<LiveSet>,
    tenant: Tenant,
}

/// Room for the code of one dynamic Worker.
pub(crate) struct CodeRoom {
    live: Arc<LiveSet>,
    bytes: usize,
}

/// A Worker's place among the idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdleKey(u64);

impl LiveSet {
    pub(crate) fn new(limits: &HostLimits) -> Arc<Self> {
        Arc::new(Self {
            alive_max: limits.live_isolates_max,
            idle_max: limits.idle_isolates_max,
            code_bytes_max: limits.held_code_bytes_max,
            state: Mutex::new(State {
                alive: Shares::new(limits.live_isolates_max),
                code_bytes: 0,
                idle: BTreeMap::new(),
                idle_of: Tally::default(),
                next: 0,
                refused: 0,
                evicted: 0,
                ended: [0; CAUSES.len()],
            }),
            loads: AtomicU64::new(0),
            load_failures: AtomicU64::new(0),
            invocations: [const { AtomicU64::new(0) }; OUTCOMES.len()],
            cpu_us: AtomicU64::new(0),
            startup_cpu_us: AtomicU64::new(0),
        })
    }

    /// Room for one more isolate of a tenant, for whom the idle ones of others count as free. Where there is none the least
    /// recently used idle one is evicted for it: of whoever has most of them idle, or of its own where it has its share. The
    /// bound may then be passed by those still being torn down.
    pub(crate) fn admit(self: &Arc<Self>, tenant: &Tenant) -> Result<Ticket, Overload> {
        let ticket = || Ticket { live: Arc::clone(self), tenant: tenant.clone() };
        loop {
            let candidate = {
                let mut state = self.state.lock();
                let spare = state.idle.len() - state.idle_of.of(tenant);
                let no_place = match state.alive.take_beside(tenant, spare) {
                    Ok(()) => return Ok(ticket()),
                    Err(no_place) => no_place,
                };
                let of_anybody = state.alive.may_displace(tenant, spare);
                match state.take_idle((!of_anybody).then_some(tenant)) {
                    Some(worker) => worker,
                    None => {
                        state.refused += 1;
                        let max = self.alive_max;
                        return Err(match no_place {
                            NoPlace::Full if spare == 0 => Overload::LiveIsolates { live: state.alive.total(), max },
                            NoPlace::Full | NoPlace::Share { .. } => {
                                Overload::LiveIsolatesOfTenant { held: state.alive.held_by(tenant), max }
                            }
                        });
                    }
                }
            };
            // A candidate may have become busy, or be gone, since it was taken off the list: then try the next.
            if candidate.upgrade().is_some_and(|worker| worker.evict()) {
                let mut state = self.state.lock();
                state.evicted += 1;
                state.alive.take_anyway(tenant);
                return Ok(ticket());
            }
        }
    }

    /// Room for so much code. At the bound idle Workers are evicted for it, as far as that frees theirs.
    pub(crate) fn hold_code(self: &Arc<Self>, bytes: usize) -> Result<CodeRoom, Overload> {
        if let Some(room) = self.code_room(bytes) {
            return Ok(room);
        }
        let idle: Vec<Weak<Worker>> = self.state.lock().idle.values().map(|(_, worker)| worker.clone()).collect();
        // One at a time and outside the lock: the last reference to a Worker gives its room back.
        for worker in idle {
            let evicted = worker.upgrade().is_some_and(|worker| worker.is_only_cached() && worker.evict());
            if evicted {
                self.evicted();
                if let Some(room) = self.code_room(bytes) {
                    return Ok(room);
                }
            }
        }
        let mut state = self.state.lock();
        state.refused += 1;
        Err(Overload::CodeBytes { bytes, held: state.code_bytes, max: self.code_bytes_max })
    }

    fn code_room(self: &Arc<Self>, bytes: usize) -> Option<CodeRoom> {
        let mut state = self.state.lock();
        let held = state.code_bytes.saturating_add(bytes);
        if held > self.code_bytes_max {
            return None;
        }
        state.code_bytes = held;
        Some(CodeRoom { live: Arc::clone(self), bytes })
    }

    /// Lists a tenant's Worker as idle.
    pub(crate) fn became_idle(&self, tenant: Tenant, worker: Weak<Worker>) -> IdleKey {
        let mut state = self.state.lock();
        let key = state.next;
        state.next += 1;
        state.idle_of.add(&tenant);
        state.idle.insert(key, (tenant, worker));
        IdleKey(key)
    }

    /// The Workers to evict so that the idle are no more than their bound. They are off the list already.
    pub(crate) fn over_idle_bound(&self) -> Vec<Weak<Worker>> {
        let mut state = self.state.lock();
        let mut over = Vec::new();
        while state.idle.len() > self.idle_max {
            let Some(key) = state.idle.first_key_value().map(|(key, _)| *key) else { break };
            over.extend(state.unlist(key));
        }
        over
    }

    pub(crate) fn evicted(&self) {
        self.state.lock().evicted += 1;
    }

    /// Takes a Worker off the idle list; it may have been taken off already.
    pub(crate) fn no_longer_idle(&self, key: IdleKey) {
        self.state.lock().unlist(key.0);
    }

    pub(crate) fn metrics(&self) -> Metrics {
        let state = self.state.lock();
        Metrics {
            loads: self.loads.load(Ordering::Relaxed),
            load_failures: self.load_failures.load(Ordering::Relaxed),
            refused: state.refused,
            evicted: state.evicted,
            alive: state.alive.total(),
            idle: state.idle.len(),
            held_code_bytes: state.code_bytes,
            ended: state.ended,
            invocations: std::array::from_fn(|at| self.invocations[at].load(Ordering::Relaxed)),
            cpu: Duration::from_micros(self.cpu_us.load(Ordering::Relaxed)),
            startup_cpu: Duration::from_micros(self.startup_cpu_us.load(Ordering::Relaxed)),
        }
    }

    /// Counts an invocation that is over, and says so in the log.
    pub(crate) fn invocation_ended(&self, report: &InvocationReport) {
        let InvocationReport { outcome, usage } = report;
        if let Some(index) = OUTCOMES.iter().position(|other| other == outcome) {
            self.invocations[index].fetch_add(1, Ordering::Relaxed);
        }
        add(&self.cpu_us, micros(usage.cpu));
        // What ran took some time; none at all means that it did not, or that nobody knows.
        let cpu_us = Some(micros(usage.cpu)).filter(|cpu| *cpu > 0);
        tracing::debug!(
            outcome = outcome.name(),
            cpu_us,
            wall_us = micros(usage.wall),
            sub_requests = usage.sub_requests,
            "invocation ended"
        );
    }

    /// Counts the start of an isolate that is over, and says so in the log.
    pub(crate) fn start_ended(&self, outcome: &Result<LoadReport, LoaderError>) {
        let (cpu, ended_by) = match outcome {
            Ok(report) => (Some(report.startup_cpu), None),
            Err(error) => (error.startup_cpu(), error.cause().map(Cause::name)),
        };
        let cpu_us = cpu.map(micros);
        add(&self.startup_cpu_us, cpu_us.unwrap_or(0));
        tracing::debug!(started = outcome.is_ok(), ended_by, cpu_us, "start-up ended");
    }
}

impl State {
    /// Takes a Worker off the idle list, if it is on it.
    fn unlist(&mut self, key: u64) -> Option<Weak<Worker>> {
        let (tenant, worker) = self.idle.remove(&key)?;
        self.idle_of.remove(&tenant);
        Some(worker)
    }

    /// Takes the least recently used Worker off the idle list: of that tenant, or of whoever has most idle ones.
    fn take_idle(&mut self, of: Option<&Tenant>) -> Option<Weak<Worker>> {
        let most = self.idle_of.most();
        let is_one = |owner: &Tenant| match of {
            Some(tenant) => owner == tenant,
            None => self.idle_of.of(owner) == most,
        };
        let key = self.idle.iter().find(|(_, (owner, _))| is_one(owner)).map(|(key, _)| *key)?;
        self.unlist(key)
    }
}

/// Adds to what only grows.
fn add(total: &AtomicU64, more: u64) {
    // Always updated.
    let _before = total.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |total| Some(total.saturating_add(more)));
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Ticket {
    /// Gives the room back: nothing of the isolate is left.
    pub(crate) fn ended(self, cause: Cause) {
        if let Some(index) = CAUSES.iter().position(|other| *other == cause) {
            self.live.state.lock().ended[index] += 1;
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.live.state.lock().alive.give_back(&self.tenant);
    }
}

impl Drop for CodeRoom {
    fn drop(&mut self) {
        self.live.state.lock().code_bytes -= self.bytes;
    }
}
