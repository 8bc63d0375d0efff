//! The CPU time of an invocation whose process did not live to report it: what the process used meanwhile, where nothing
//! else ran in it. What it does for its own in between, such as making an isolate ahead, is in it.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use loaderd_runtime::limits::Usage;
use loaderd_runtime::rpc::Reply;

use super::Process;
use crate::placement::OnInvocationEnd;

/// The invocations in a process.
#[derive(Default)]
pub(super) struct Invocations {
    open: usize,
    begun: u64,
}

/// What one invocation has used, as its process tells it without a word.
struct Spent {
    process: Weak<Process>,
    worker: u64,
    began: Instant,
    /// `None`: it was not alone when it began.
    alone: Option<Alone>,
    told: OnceLock<Usage>,
}

/// What was so when an invocation began that had its process for itself. It still has while nobody else has come.
struct Alone {
    cpu: Duration,
    invocations: u64,
    workers: usize,
}

impl Process {
    /// An invocation of a Worker begins: has those who wait for it told what it had used if the process does not say.
    pub(in crate::sandbox) fn invocation_begins(
        self: &Arc<Self>,
        worker: u64,
        reply: Reply,
        on_end: OnInvocationEnd,
    ) -> (Reply, OnInvocationEnd) {
        let spent = Arc::new(Spent::begin(self, worker));
        let answering = spent.clone();
        let reply = reply.amended(move |answer| {
            answering.bound(&mut answer.usage);
            if answer.result.is_err() {
                answering.amend(&mut answer.usage);
            }
        });
        let on_end: OnInvocationEnd = Box::new(move |mut report| {
            spent.bound(&mut report.usage);
            spent.amend(&mut report.usage);
            if let Some(process) = spent.process.upgrade() {
                process.running.lock().open -= 1;
            }
            on_end(report);
        });
        (reply, on_end)
    }
}

impl Spent {
    fn begin(process: &Arc<Process>, worker: u64) -> Self {
        // Under one lock, so that a Worker that comes meanwhile is seen either now or later.
        let (alone, workers) = {
            let workers = process.workers.lock();
            (workers.len() == 1, process.given.load(SeqCst))
        };
        let (alone, invocations) = {
            let mut running = process.running.lock();
            running.open += 1;
            running.begun += 1;
            (alone && running.open == 1, running.begun)
        };
        let cpu = if alone { process.cpu_time() } else { Duration::ZERO };
        Self {
            process: Arc::downgrade(process),
            worker,
            began: Instant::now(),
            alone: (!cpu.is_zero()).then_some(Alone { cpu, invocations, workers }),
            told: OnceLock::new(),
        }
    }

    /// Lowers what the process tells to what can be: an invocation is on one thread, which uses no more CPU time than time
    /// goes by.
    fn bound(&self, usage: &mut Usage) {
        let most = self.began.elapsed();
        usage.cpu = usage.cpu.min(most);
        usage.wall = usage.wall.min(most);
    }

    /// Puts in what the invocation has used, if nobody measured it because its process is gone, or does not come to its end.
    fn amend(&self, usage: &mut Usage) {
        let Some(process) = self.process.upgrade().filter(|_| usage.cpu.is_zero()) else { return };
        if process.lost.load(SeqCst) || process.worker(self.worker).is_some_and(|worker| worker.ending()) {
            *usage = *self.told.get_or_init(|| self.usage(&process));
        }
    }

    fn usage(&self, process: &Process) -> Usage {
        let still = |alone: &&Alone| {
            alone.workers == process.given.load(SeqCst) && alone.invocations == process.running.lock().begun
        };
        let alone = self.alone.as_ref().filter(still);
        let cpu = alone.map_or(Duration::ZERO, |alone| process.cpu_time().saturating_sub(alone.cpu));
        Usage { cpu, wall: self.began.elapsed(), sub_requests: 0 }
    }
}
