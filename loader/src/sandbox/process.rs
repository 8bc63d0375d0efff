//! One sandbox process, as the broker sees it: its thread, the Workers in it, and how it ends.

mod role;
mod spent;
mod watch;

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use loaderd_runtime::channel::InvocationReport;
use loaderd_runtime::isolate::IsolateConfig;
use loaderd_runtime::limits::{Cause, overshoot};
use loaderd_runtime::rpc::RpcError;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use parking_lot::Mutex;
use tokio::runtime::Handle;

use self::role::BrokerRole;
use self::spent::Invocations;
use self::watch::Life;
use super::child::FRAME_BYTES_MAX;
use super::exit::{self, Restart};
use super::follow::Follower;
use super::session::Session;
use super::socket::{Lost, Receiver, SendRoom, Sender};
use super::wire::{self, Counters, PROTOCOL_VERSION};
use super::worker::RemoteWorker;
use crate::confine::LayerStatus;
use crate::confine::launch::{Image, Stderr};
use crate::error::LoaderError;
use crate::placement::OnInvocationEnd;

/// What those are told who wait for a process where none can be had.
pub(super) const NO_PROCESS: &str = "no sandbox process can be started";

/// Told when a process has room again, or is no more.
pub(super) trait Owner: Send + Sync + 'static {
    /// A Worker left the process.
    fn released(&self, process: &Arc<Process>);
    /// The process is gone, everybody in it was answered.
    fn process_gone(&self, process: &Arc<Process>, how: Gone);
    /// Something is ending: look soon whether it does.
    fn wake(&self);
    /// It greeted back: what it could apply of its confinement.
    fn welcomed(&self, layers: &[LayerStatus]);
}

/// How a process went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// Closed because it had done its share, or because the pool goes.
    Done,
    /// Too early.
    Early(Restart),
}

/// Why the broker ends a process at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kill {
    /// For a Worker that did not stop, or because it gave no sign of life.
    For(Restart),
    /// The pool goes.
    Closing,
}

/// See the module.
pub(super) struct Process {
    pub(super) id: u64,
    session: Arc<Session>,
    follower: Follower,
    workers: Mutex<HashMap<u64, Arc<RemoteWorker>>>,
    /// Invocations whose reports are awaited, by question, and the Worker of each.
    invocations: Mutex<HashMap<u64, (OnInvocationEnd, u64)>>,
    running: Mutex<Invocations>,
    next_worker: AtomicU64,
    /// When it was started.
    began: Instant,
    /// Workers in it, those being torn down included.
    pub(super) active: AtomicUsize,
    /// Workers it was ever given; raised under the lock of `workers`.
    pub(super) given: AtomicUsize,
    pub(super) tenant: OnceLock<Option<Arc<str>>>,
    /// When a Worker last left it, or it was started.
    used: Mutex<Instant>,
    retired: AtomicBool,
    /// It was closed because nobody was in it any more.
    sent_away: AtomicBool,
    killed: OnceLock<Kill>,
    welcomed: AtomicBool,
    /// The connection is gone.
    lost: AtomicBool,
    /// How it went, once that is known.
    fate: OnceLock<Gone>,
    /// What it last said that it counts.
    counters: Mutex<Counters>,
    pid: AtomicI32,
    pidfd: OnceLock<OwnedFd>,
    launch_layers: OnceLock<Vec<LayerStatus>>,
    life: Mutex<Life>,
    owner: Weak<dyn Owner>,
}

/// What a process is to be.
pub(super) struct Setup<'a> {
    pub(super) isolate: &'a IsolateConfig,
    /// Never-used isolates that it keeps ready.
    pub(super) isolates_warm: usize,
    /// Isolates that it has at most.
    pub(super) isolates_max: usize,
    /// Where what is sent to it waits.
    pub(super) send_room: &'a Arc<SendRoom>,
}

impl Process {
    /// Starts a process on a thread of its own. Workers can be loaded into it at once: what is sent waits.
    pub(super) fn start(
        id: u64,
        image: &Arc<Image>,
        stderr: Stderr,
        setup: &Setup<'_>,
        owner: &Arc<dyn Owner>,
    ) -> io::Result<Arc<Self>> {
        let (process, theirs) = Self::unstarted(id, setup, owner)?;
        let (image, running, owner) = (image.clone(), process.clone(), owner.clone());
        // The child dies with the thread that launched it, so that thread serves it to the end.
        std::thread::Builder::new().name("sandbox-broker".into()).spawn(move || {
            let how = running.serve(&image, theirs, stderr);
            running.settle(how);
            owner.process_gone(&running, how);
        })?;
        Ok(process)
    }

    /// A process that was greeted and does not run, and its end of the socket.
    pub(super) fn unstarted(id: u64, setup: &Setup<'_>, owner: &Arc<dyn Owner>) -> io::Result<(Arc<Self>, OwnedFd)> {
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::SOCK_CLOEXEC)?;
        let role = Arc::new(BrokerRole { process: OnceLock::new(), owner: Arc::downgrade(owner) });
        let (sender, receiver) = (Sender::new(ours, setup.send_room)?, Receiver::new(FRAME_BYTES_MAX));
        let session = Session::new(sender, receiver, FRAME_BYTES_MAX, Box::new(role.clone()));
        let process = Arc::new(Self {
            id,
            session: session.clone(),
            follower: Follower::default(),
            workers: Mutex::default(),
            invocations: Mutex::default(),
            running: Mutex::default(),
            next_worker: AtomicU64::new(1),
            began: Instant::now(),
            active: AtomicUsize::new(0),
            given: AtomicUsize::new(0),
            tenant: OnceLock::new(),
            used: Mutex::new(Instant::now()),
            retired: AtomicBool::new(false),
            sent_away: AtomicBool::new(false),
            killed: OnceLock::new(),
            welcomed: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            fate: OnceLock::new(),
            counters: Mutex::default(),
            pid: AtomicI32::new(0),
            pidfd: OnceLock::new(),
            launch_layers: OnceLock::new(),
            life: Mutex::new(Life::begins()),
            owner: Arc::downgrade(owner),
        });
        let _ = role.process.set(Arc::downgrade(&process));
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let _ = session.send(0, |frame| {
            let mut hello = frame.init_hello();
            hello.set_version(PROTOCOL_VERSION);
            hello.set_isolates_warm(count(setup.isolates_warm));
            hello.set_isolates_max(count(setup.isolates_max));
            wire::write_isolate_config(setup.isolate, hello.init_isolate());
        });
        Ok((process, theirs))
    }

    fn serve(&self, image: &Image, theirs: OwnedFd, stderr: Stderr) -> Gone {
        let child = match image.launch(theirs, stderr) {
            Ok(child) => child,
            Err(error) => {
                tracing::error!(%error, "a sandbox process could not be started");
                self.session.close(Lost::Io(error.kind()));
                self.session.run();
                self.follower.stop(&self.session);
                return Gone::Early(Restart::NeverStarted);
            }
        };
        self.pid.store(child.pid, SeqCst);
        let pidfd = self.pidfd.get_or_init(|| child.pidfd);
        let _ = self.launch_layers.set(child.layers);
        if self.killed.get().is_some() {
            self.signal_kill();
        }
        let lost = self.session.run();
        self.follower.stop(&self.session);
        let alone = self.ends_by_itself(&lost, pidfd);
        self.signal_kill();
        // The kernel has the exit; nobody else reaps this child.
        let status = nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(child.pid), None).ok();
        self.pid.store(0, SeqCst);
        let reason = match self.killed.get() {
            Some(Kill::Closing) => return Gone::Done,
            Some(Kill::For(reason)) => *reason,
            None if self.sent_away.load(SeqCst) && lost == Lost::Closed => return Gone::Done,
            None => exit::why(&lost, status, alone),
        };
        // What becomes of it by another's doing could become of any; this says that the machine does not run it.
        let reason = match reason {
            by_itself if by_itself.by_its_own_doing() && self.was_of_no_use() => Restart::NeverStarted,
            reason => reason,
        };
        let ended = status.map(|status| format!("{status:?}"));
        tracing::warn!(
            process = self.id,
            reason = reason.name(),
            ended,
            by_itself = alone,
            connection = %lost,
            "a sandbox process went too early"
        );
        Gone::Early(reason)
    }

    /// Whether a process whose connection is gone has ended without being made to. Only waits where that can be.
    fn ends_by_itself(&self, lost: &Lost, pidfd: &OwnedFd) -> bool {
        let sent_away = self.killed.get().is_some() || self.sent_away.load(SeqCst);
        !sent_away && *lost == Lost::Closed && exit::ends_by_itself(pidfd)
    }

    pub(super) fn wake_supervisor(&self) {
        if let Some(owner) = self.owner.upgrade() {
            owner.wake();
        }
    }

    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Notes a Worker and gives it its number. What the process says is read on `runtime`, where the Worker was asked for,
    /// unless there are others in it: a host that blocks that runtime must not keep them waiting.
    pub(super) fn admit(
        &self,
        runtime: Option<&Handle>,
        make: impl FnOnce(u64) -> Arc<RemoteWorker>,
    ) -> Arc<RemoteWorker> {
        let id = self.next_worker.fetch_add(1, SeqCst);
        let worker = make(id);
        self.active.fetch_add(1, SeqCst);
        let mut workers = self.workers.lock();
        self.given.fetch_add(1, SeqCst);
        workers.insert(id, worker.clone());
        match runtime.filter(|_| workers.len() == 1) {
            Some(runtime) => self.follower.read_on(runtime, &self.session),
            None => self.follower.stop(&self.session),
        }
        worker
    }

    fn worker(&self, id: u64) -> Option<Arc<RemoteWorker>> {
        self.workers.lock().get(&id).cloned()
    }

    /// Everything of a Worker is over: tells whoever waits, once.
    pub(super) fn worker_gone(self: &Arc<Self>, id: u64, error: &RpcError, owner: Option<&Arc<dyn Owner>>) {
        let Some(worker) = self.workers.lock().remove(&id) else { return };
        self.session.forget_scope(id, error);
        let open: Vec<OnInvocationEnd> = {
            let mut invocations = self.invocations.lock();
            let mine = invocations.extract_if(|_, (_, worker)| *worker == id);
            mine.map(|(_, (on_end, _))| on_end).collect()
        };
        for on_end in open {
            on_end(crate::worker::never_ran(error));
        }
        worker.over(error.cause.unwrap_or(Cause::Shutdown));
        *self.used.lock() = Instant::now();
        self.active.fetch_sub(1, SeqCst);
        if let Some(owner) = owner {
            owner.released(self);
        }
    }

    /// Awaits the report of an invocation of a Worker.
    pub(super) fn await_report(&self, question: u64, worker: u64, on_end: OnInvocationEnd) {
        self.invocations.lock().insert(question, (on_end, worker));
        // The Worker may have gone just now; then nobody else will tell.
        if self.worker(worker).is_none()
            && let Some((on_end, _)) = self.invocations.lock().remove(&question)
        {
            on_end(crate::worker::never_ran(&super::session::connection_lost()));
        }
    }

    fn reported(&self, question: u64, report: InvocationReport) {
        // Unknown when its Worker is gone already, or when the process makes it up.
        let awaited = self.invocations.lock().remove(&question);
        if let Some((on_end, _)) = awaited {
            on_end(report);
        }
    }

    /// It says what it counts. What it claims is not believed beyond what it was given: one limit met per Worker, and no more
    /// CPU time for each than the process is old. What it takes back is not believed either, or it could claim it again.
    fn counted(&self, mut counters: Counters) {
        let given = self.given.load(SeqCst) as u64;
        let age_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let new = {
            let mut last = self.counters.lock();
            let (told, before) = (&mut counters.overshoot, last.overshoot);
            for (count, before) in told.counts.iter_mut().zip(before.counts) {
                *count = (*count).min(given).max(before);
            }
            told.sum_us = told.sum_us.min(given.saturating_mul(age_us)).max(before.sum_us);
            *last = counters;
            counters.overshoot.since(&before)
        };
        overshoot::add(&new);
    }

    /// What it last said that it counts.
    pub(super) fn counters(&self) -> Counters {
        *self.counters.lock()
    }

    /// A Worker cannot be sent to it. Whoever serves the connection may not have seen yet that it is lost, or may have
    /// passed the Worker by.
    pub(super) fn cannot_take(self: &Arc<Self>, worker: u64) {
        self.lost.store(true, SeqCst);
        if self.welcomed.load(SeqCst) || self.fate.get().is_some() {
            self.worker_gone(worker, &self.session.lost_error(), None);
        }
    }

    /// It is known how it went, and so what those are told who are still in it.
    pub(super) fn settle(self: &Arc<Self>, how: Gone) {
        let _ = self.fate.set(how);
        self.all_gone();
    }

    /// What those are told that were to start in it.
    pub(super) fn start_error(&self) -> LoaderError {
        match self.fate.get() {
            Some(Gone::Early(Restart::NeverStarted)) => LoaderError::Platform(NO_PROCESS.to_owned()),
            _ => LoaderError::ProcessGone,
        }
    }

    /// Tells everybody in it that it is gone.
    fn all_gone(self: &Arc<Self>) {
        let ids: Vec<u64> = self.workers.lock().keys().copied().collect();
        let cause_of = |id| self.worker(id).and_then(|worker| worker.cause());
        // V8 gave up on a Worker, and which one that was could be told in time: the others hear that it was not them.
        let gave_up = |id: &u64| matches!(cause_of(*id), Some(Cause::ExceededMemory | Cause::InternalError));
        let culprit = ids.iter().any(gave_up);
        if culprit && self.killed.get().is_none() {
            self.session.set_lost(not_at_fault());
        }
        let error = self.session.lost_error();
        // Who was alone in it has used up its memory, also where V8 had no time to say so.
        let used_up = matches!(self.fate.get(), Some(Gone::Early(Restart::OutOfMemory))) && ids.len() == 1;
        let implied = used_up.then_some(Cause::ExceededMemory);
        for id in ids {
            let own = cause_of(id).or(implied).map(RpcError::ended);
            self.worker_gone(id, own.as_ref().unwrap_or(&error), None);
        }
    }

    /// How long ago a Worker last left it.
    pub(super) fn unused_for(&self) -> Duration {
        self.used.lock().elapsed()
    }

    /// Closes it once nobody is in it; it takes no more Workers meanwhile.
    pub(super) fn retire(&self) {
        self.retired.store(true, SeqCst);
        if self.active.load(SeqCst) == 0 {
            self.sent_away.store(true, SeqCst);
            self.session.close(Lost::Closed);
        }
    }

    /// A Worker that was counted as one of its own has not come to be in it, or another count has been made for it.
    pub(super) fn uncount(&self) {
        self.active.fetch_sub(1, SeqCst);
        // Whoever was the last to leave it may have thought that this one would be.
        if self.is_retired() {
            self.retire();
        }
    }

    /// Whether it never came to do anything for anybody: it did not greet, or nobody was ever in it.
    fn was_of_no_use(&self) -> bool {
        !self.welcomed.load(SeqCst) || self.given.load(SeqCst) == 0
    }

    /// Whether it has started.
    pub(super) fn is_welcomed(&self) -> bool {
        self.welcomed.load(SeqCst)
    }

    /// Whether it takes no more Workers.
    pub(super) fn is_closed(&self) -> bool {
        self.retired.load(SeqCst) || self.killed.get().is_some() || self.lost.load(SeqCst)
    }

    /// Whether its last Worker will close it.
    pub(super) fn is_retired(&self) -> bool {
        self.retired.load(SeqCst)
    }

    /// Ends the process at once. Those in it who are not answered yet get `error`.
    pub(super) fn kill(&self, why: Kill, error: RpcError) {
        self.session.set_lost(error);
        // The first reason is the one.
        let _ = self.killed.set(why);
        self.signal_kill();
        self.session.close(Lost::Closed);
    }

    fn signal_kill(&self) {
        if let Some(pidfd) = self.pidfd.get() {
            // SAFETY: `pidfd` is open and refers to this child alone, also after it is gone.
            unsafe {
                libc::syscall(
                    libc::SYS_pidfd_send_signal,
                    pidfd.as_raw_fd(),
                    libc::SIGKILL,
                    std::ptr::null::<libc::siginfo_t>(),
                    0,
                );
            }
        }
    }

    /// The system's number of the process; 0 when it does not run.
    pub(super) fn pid(&self) -> i32 {
        self.pid.load(SeqCst)
    }
}

/// What those get whose process was killed because of somebody else in it.
fn not_at_fault() -> RpcError {
    RpcError {
        disconnected: true,
        cause: Some(Cause::Condemned),
        ..RpcError::new(
            "Error",
            "The sandbox process of this Worker ended because of another Worker in it; this Worker was not at fault.",
        )
    }
}
