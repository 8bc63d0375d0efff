//! How the broker sees from outside whether a process is well: its signs of life, Workers that outlive their end, and what
//! the system says of it.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use loaderd_runtime::limits::{Cause, overshoot};
use loaderd_runtime::rpc::RpcError;

use super::{Kill, Process, not_at_fault};
use crate::sandbox::exit::Restart;
use crate::sandbox::worker::RemoteWorker;

/// How long after its end a Worker's thread may stay busy before its callers are answered all the same.
const ANSWER_GRACE: Duration = Duration::from_millis(150);

/// How long after its end a Worker's thread may stay busy before its process is killed for it. Longer than the other:
/// a thread that is only short of processor time must not cost its neighbours their process.
const KILL_GRACE: Duration = Duration::from_millis(1_000);

/// The same where its process has used less than [`KILL_CPU`] since its callers were answered: it was kept from running,
/// or waits for something.
const KILL_GRACE_STARVED: Duration = Duration::from_millis(5_000);

/// CPU time with which a Worker that does not come to its end is taken to be in a builtin that ignores it. Taking down
/// the largest heap takes less.
const KILL_CPU: Duration = Duration::from_millis(300);

/// How long a process may not answer before it counts as hung.
const PONG_WITHIN: Duration = Duration::from_secs(10);

/// How long after a Worker's end, at most, a runtime may not get round to reading what its process says: then the thread that
/// serves the connection does, as it does when the process seems not to answer.
const READ_WITHIN: Duration = Duration::from_millis(50);

/// How long a process may take to answer before others are preferred to it, also such as have to be started for that. One that
/// runs answers within milliseconds; one that is short of processor time loses nothing but a Worker that it would be slow with.
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);

/// How long after an answer a process that is given a Worker is asked again. Others are asked every second.
const ASK_AFTER: Duration = Duration::from_millis(250);

/// How long a process may not answer before it is given nothing at all.
const SILENT_AFTER: Duration = Duration::from_secs(3);

/// How long a process may take to greet before it counts as hung. Longer, since a busy machine starts programs slowly.
const GREET_WITHIN: Duration = Duration::from_secs(30);

/// A page of memory, as `/proc` counts them on the processors we build for.
const PAGE_BYTES: u64 = 4096;

/// A process's signs of life.
pub(super) struct Life {
    /// When it gave the last one, or was started.
    seen: Instant,
    /// When it was first asked for another, once it had greeted.
    asked: Option<Instant>,
}

impl Life {
    /// Of a process that is being started.
    pub(super) fn begins() -> Self {
        Self { seen: Instant::now(), asked: None }
    }
}

impl Process {
    /// Whether it has answered what it was asked last, or still has time to: one that does not may be stopped, or short of
    /// processor time.
    pub(in crate::sandbox) fn answers(&self) -> bool {
        self.life.lock().asked.is_none_or(|asked| asked.elapsed() <= ANSWERS_WITHIN)
    }

    /// Whether it has not answered for so long that it is most likely to be stopped.
    pub(in crate::sandbox) fn is_silent(&self) -> bool {
        self.life.lock().asked.is_some_and(|asked| asked.elapsed() > SILENT_AFTER)
    }

    /// It gave a sign of life.
    pub(super) fn lives(&self) {
        *self.life.lock() = Life { seen: Instant::now(), asked: None };
    }

    /// Asks for a sign of life, if the last one is not from just now: so that it is known soon whether the Worker that it is
    /// given should be the last one.
    pub(in crate::sandbox) fn ask(&self) {
        let is_due = {
            let life = self.life.lock();
            self.is_welcomed() && life.asked.is_none() && life.seen.elapsed() >= ASK_AFTER
        };
        if is_due {
            self.send_ping(Instant::now());
        }
    }

    /// It has greeted, and was asked for a sign of life so long ago.
    #[cfg(test)]
    pub(in crate::sandbox) fn was_asked(&self, ago: Duration) {
        self.welcomed.store(true, SeqCst);
        self.life.lock().asked = Instant::now().checked_sub(ago);
    }

    fn send_ping(&self, now: Instant) {
        if self.welcomed.load(SeqCst) {
            self.life.lock().asked.get_or_insert(now);
        }
        let _ = self.session.send(0, |mut frame| frame.set_ping(self.id));
    }

    /// Answers those who wait for Workers that outlived their end, and kills the process for one that does so for
    /// long; returns the CPU time that it used from the one to the other, if it did.
    pub(in crate::sandbox) fn kill_if_stuck(&self, now: Instant) -> Option<Duration> {
        if self.killed.get().is_some() {
            return None;
        }
        if !self.answers() || self.workers.lock().values().any(|worker| worker.ended_for(now) >= READ_WITHIN) {
            self.follower.stop(&self.session);
        }
        let ended: Vec<Arc<RemoteWorker>> =
            self.workers.lock().values().filter(|worker| worker.ended_for(now) >= ANSWER_GRACE).cloned().collect();
        for worker in &ended {
            worker.answer_all(self.cpu_time());
        }
        let used = |worker: &RemoteWorker| self.cpu_time().saturating_sub(worker.cpu_time_when_answered());
        let stuck = ended.iter().find(|worker| {
            let ended_for = worker.ended_for(now);
            ended_for >= KILL_GRACE_STARVED || (ended_for >= KILL_GRACE && used(worker) >= KILL_CPU)
        })?;
        let abandoned = used(stuck);
        for worker in ended.iter().filter(|worker| worker.cause().is_some_and(Cause::is_cpu)) {
            // Its thread never came to count that itself. Without what it used until its callers were answered.
            overshoot::record(used(worker));
        }
        self.kill(Kill::For(Restart::Stuck), not_at_fault());
        Some(abandoned)
    }

    /// Whether a Worker in it was ended and is not gone.
    pub(in crate::sandbox) fn has_ending(&self) -> bool {
        self.workers.lock().values().any(|worker| worker.ending())
    }

    /// Asks for a sign of life; kills the process when it has given none for long.
    pub(in crate::sandbox) fn ping(&self, now: Instant) -> bool {
        let patience = if self.welcomed.load(SeqCst) { PONG_WITHIN } else { GREET_WITHIN };
        let silent = now.saturating_duration_since(self.life.lock().seen);
        if silent > patience / 2 {
            self.follower.stop(&self.session);
        }
        if silent > patience {
            self.kill(Kill::For(Restart::Hung), hung());
            return true;
        }
        self.send_ping(now);
        false
    }

    /// CPU time that it has used; none when unknown.
    pub(super) fn cpu_time(&self) -> Duration {
        let pid = nix::unistd::Pid::from_raw(self.pid.load(SeqCst));
        if pid.as_raw() == 0 {
            return Duration::ZERO;
        }
        let clock = nix::time::clock_getcpuclockid(pid).and_then(nix::time::clock_gettime);
        clock.map_or(Duration::ZERO, Duration::from)
    }

    /// Resident memory, in bytes; 0 when unknown.
    pub(in crate::sandbox) fn rss_bytes(&self) -> u64 {
        let pid = self.pid.load(SeqCst);
        if pid == 0 {
            return 0;
        }
        let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
        pages * PAGE_BYTES
    }
}

fn hung() -> RpcError {
    RpcError {
        disconnected: true,
        cause: Some(Cause::Shutdown),
        ..RpcError::new("Error", "The sandbox process of this Worker did not answer and was ended.")
    }
}
