//! The thread that looks after sandbox processes: kills what does not end, asks for signs of life, keeps as many as are
//! of use. When all is at rest, it gives back what the broker freed.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::Shared;
use crate::freed::{GIVE_BACK_AFTER, give_back_all};
use crate::sandbox::process::Process;

/// How often the supervisor looks while something is ending.
const LOOK: Duration = Duration::from_millis(20);

/// How often it asks for signs of life otherwise.
const PING: Duration = Duration::from_secs(1);

/// Kills what does not end or does not answer, and starts again what may be started again.
pub(super) fn supervise(pool: &Weak<Shared>) {
    let mut pinged = Instant::now();
    loop {
        let Some(shared) = pool.upgrade() else { return };
        let processes = {
            let mut state = shared.state.lock();
            if !state.look && !state.closing {
                state.looked_after = !state.waiting.is_empty();
                let pause = if state.looked_after { LOOK } else { PING };
                shared.bell.wait_for(&mut state, pause);
            }
            if state.closing {
                return;
            }
            state.look = false;
            state.processes.clone()
        };
        let now = Instant::now();
        let mut ending = false;
        for process in &processes {
            if let Some(abandoned) = process.kill_if_stuck(now) {
                let us = u64::try_from(abandoned.as_micros()).unwrap_or(u64::MAX);
                shared.abandoned_cpu_us.fetch_add(us, Relaxed);
            }
            ending |= process.has_ending();
        }
        if now.saturating_duration_since(pinged) >= PING {
            pinged = now;
            for process in &processes {
                process.ping(now);
                shared.retire_if_swollen(process);
            }
            shared.give_up_idle();
            // Not when the last one is taken: whoever took it is busy just then.
            shared.keep_spare();
            shared.give_back_at_rest(now);
        }
        shared.drop_unwanted();
        shared.place_waiting();
        shared.refuse_where_none_starts();
        if ending {
            shared.state.lock().look = true;
            drop((processes, shared));
            std::thread::sleep(LOOK);
        }
    }
}

impl Shared {
    /// Retires a process whose memory did not return: it holds more than it may with nothing to do, and than its live
    /// Workers could account for.
    fn retire_if_swollen(&self, process: &Process) {
        let workers = process.active.load(SeqCst) as u64 * self.config.isolate.memory_bytes_max as u64;
        let rss = process.rss_bytes();
        if !process.is_closed() && rss > self.config.retire_rss_bytes.saturating_add(workers) {
            tracing::info!(process = process.id, rss, "a sandbox process is retired: its memory did not return");
            self.retired_for_memory.fetch_add(1, Relaxed);
            process.retire();
        }
    }

    /// Retires processes that somebody used and nobody has used for long: a burst of passes leaves as many as it had at once.
    fn give_up_idle(&self) {
        // Under the lock, so that none is given a Worker at the same time.
        let state = self.state.lock();
        let unused = state.processes.iter().filter(|process| {
            let taken = process.tenant.get().is_some() && !process.is_closed();
            taken && process.active.load(SeqCst) == 0 && process.unused_for() >= self.config.idle_max
        });
        for process in unused {
            tracing::debug!(process = process.id, "a sandbox process is retired: nobody uses it");
            process.retire();
        }
    }

    /// Gives back what the broker freed, once there is no Worker and none was asked for in a while.
    fn give_back_at_rest(&self, now: Instant) {
        {
            let mut state = self.state.lock();
            let rested = state.asked_at.is_some_and(|at| now.saturating_duration_since(at) >= GIVE_BACK_AFTER);
            let busy =
                !state.waiting.is_empty() || state.processes.iter().any(|process| process.active.load(SeqCst) > 0);
            if !rested || busy {
                return;
            }
            state.asked_at = None;
        }
        give_back_all();
    }

    /// Has one process ready that belongs to nobody, as far as there may be more: whoever comes next and would be in
    /// company, or is of a tenant that has none, need not wait for one to start.
    fn keep_spare(&self) {
        let mut state = self.state.lock();
        let spare = |process: &Arc<Process>| !process.is_closed() && process.tenant.get().is_none();
        if state.processes.len() < self.config.processes_max && !state.processes.iter().any(spare) {
            self.start_process(&mut state, None);
        }
    }
}
