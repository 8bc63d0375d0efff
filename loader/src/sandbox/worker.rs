//! One Worker in a sandbox process, as the loader sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use loaderd_runtime::channel::{ConsoleLevel, ConsoleSink};
use loaderd_runtime::isolate::{EntrypointSpec, LoadCode, LoadReport};
use loaderd_runtime::limits::Cause;
use loaderd_runtime::rpc::{Call, Reply, RpcError};
use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::process::Process;
use super::wire;
use crate::error::LoaderError;
use crate::placement::{Invoked, OnInvocationEnd, PlacedEntrypoint, PlacedInvocation, PlacedIsolate, StartRequest};

/// See the module.
pub(super) struct RemoteWorker {
    id: u64,
    process: Arc<Process>,
    /// When its process was given it.
    given: Instant,
    console: Option<Arc<dyn ConsoleSink>>,
    next_entrypoint: AtomicU32,
    state: Mutex<State>,
}

/// Places a Worker again whose process died before it had started.
pub(super) type Again = Box<dyn FnOnce(StartRequest) + Send>;

struct State {
    /// What it takes to place it again; given up once it has started.
    again: Option<(Arc<LoadCode>, Option<Arc<str>>, Again)>,
    on_started: Option<Box<dyn FnOnce(Result<LoadReport, LoaderError>) + Send>>,
    on_end: Option<Box<dyn FnOnce(Cause) + Send>>,
    /// The first cause, and when it was known.
    ended: Option<(Cause, Instant)>,
    /// CPU time of its process when those who wait were answered although it had not stopped.
    answered_at: Option<Duration>,
    over: bool,
}

impl RemoteWorker {
    /// Puts a Worker into a process. Should that die before the Worker has started, or has met a limit, `again` gets
    /// the request back: nothing of the Worker has been seen by anybody.
    pub(super) fn start(
        process: &Arc<Process>,
        request: StartRequest,
        runtime: Option<&Handle>,
        again: Option<Again>,
    ) -> Arc<Self> {
        let StartRequest { code, tenant, on_started, on_end } = request;
        let worker = process.admit(runtime, |id| {
            Arc::new(Self {
                id,
                process: process.clone(),
                given: Instant::now(),
                console: code.channels.console.clone(),
                next_entrypoint: AtomicU32::new(1),
                state: Mutex::new(State {
                    again: again.map(|again| (code.clone(), tenant, again)),
                    on_started: Some(on_started),
                    on_end: Some(on_end),
                    ended: None,
                    answered_at: None,
                    over: false,
                }),
            })
        });
        let bytes = code.source.modules.iter().map(|module| module.name.len() + 64).sum::<usize>() + (64 << 10);
        let sent = process.session().send_with_caps(worker.id, bytes, |frame, lower| {
            wire::write_load(worker.id, &code, frame.init_load(), lower);
        });
        if sent.is_err() {
            process.cannot_take(worker.id);
        }
        worker
    }

    pub(super) fn cause(&self) -> Option<Cause> {
        self.state.lock().ended.map(|(cause, _)| cause)
    }

    pub(super) fn ending(&self) -> bool {
        self.state.lock().ended.is_some()
    }

    /// How long ago it was ended; zero when it was not.
    pub(super) fn ended_for(&self, now: Instant) -> Duration {
        self.state.lock().ended.map_or(Duration::ZERO, |(_, since)| now.saturating_duration_since(since))
    }

    /// The process says that the modules are evaluated, or never will be. They are on one thread, which uses no more CPU time
    /// than time goes by.
    pub(super) fn told_started(&self, mut result: Result<LoadReport, LoaderError>) {
        let told = match &mut result {
            Ok(report) => Some(&mut report.startup_cpu),
            Err(LoaderError::Start(error)) => error.startup_cpu.as_mut(),
            Err(_) => None,
        };
        if let Some(cpu) = told {
            *cpu = (*cpu).min(self.given.elapsed());
        }
        self.started(result);
    }

    fn started(&self, result: Result<LoadReport, LoaderError>) {
        let (on_started, again) = {
            let mut state = self.state.lock();
            (state.on_started.take(), state.again.take())
        };
        drop(again);
        if let Some(on_started) = on_started {
            on_started(result);
        }
    }

    /// The process says that a limit, or its owner, ended the Worker; the first cause, which counts.
    pub(super) fn told_ended(&self, cause: Cause) -> Cause {
        self.state.lock().ended.get_or_insert_with(|| (cause, Instant::now())).0
    }

    /// Answers everybody with the Worker's own cause, although its thread still runs. Its process has used so much CPU time
    /// until now.
    pub(super) fn answer_all(&self, process_cpu: Duration) {
        self.state.lock().answered_at.get_or_insert(process_cpu);
        let cause = self.cause().unwrap_or(Cause::Shutdown);
        self.started(Err(LoaderError::Ended(cause)));
        self.process.session().fail_scope(self.id, &RpcError::ended(cause));
    }

    /// CPU time that its process had used when [`answer_all`](Self::answer_all) was first called.
    pub(super) fn cpu_time_when_answered(&self) -> Duration {
        self.state.lock().answered_at.unwrap_or_default()
    }

    /// Nothing of it is left.
    pub(super) fn over(&self, cause: Cause) {
        let (on_started, on_end, cause) = {
            let mut state = self.state.lock();
            if std::mem::replace(&mut state.over, true) {
                return;
            }
            let again = state.again.take().filter(|_| state.ended.is_none());
            if let Some((code, tenant, again)) = again
                && let (Some(on_started), Some(on_end)) = (state.on_started.take(), state.on_end.take())
            {
                drop(state);
                return again(StartRequest { code, tenant, on_started, on_end });
            }
            let cause = state.ended.map_or(cause, |(cause, _)| cause);
            state.ended.get_or_insert((cause, Instant::now()));
            (state.on_started.take(), state.on_end.take(), cause)
        };
        if let Some(on_started) = on_started {
            on_started(Err(match cause {
                Cause::Shutdown | Cause::Condemned => self.process.start_error(),
                cause => LoaderError::Ended(cause),
            }));
        }
        if let Some(on_end) = on_end {
            on_end(cause);
        }
    }

    pub(super) fn console(&self, level: ConsoleLevel, text: &str, dropped: u32) {
        let Some(sink) = &self.console else { return };
        if dropped > 0 {
            sink.line(ConsoleLevel::Warn, &format!("({dropped} console lines were lost)"));
        }
        sink.line(level, text);
    }
}

impl PlacedIsolate for RemoteWorker {
    fn entrypoint(&self, spec: EntrypointSpec) -> Arc<dyn PlacedEntrypoint> {
        let entrypoint = self.next_entrypoint.fetch_add(1, Relaxed);
        let bytes = spec.props.as_ref().map_or(0, wire::message_bytes) + 256;
        // A lost connection answers the calls.
        let _ = self.process.session().send_with_caps(self.id, bytes, |frame, lower| {
            wire::write_entrypoint(self.id, entrypoint, &spec, frame.init_entrypoint(), lower);
        });
        Arc::new(RemoteEntrypoint { process: self.process.clone(), worker: self.id, entrypoint })
    }

    fn end(&self, cause: Cause) {
        {
            let mut state = self.state.lock();
            if state.over || state.ended.is_some() {
                return;
            }
            state.ended = Some((cause, Instant::now()));
        }
        let _ = self.process.session().send(0, |frame| {
            let mut end = frame.init_end();
            end.set_worker(self.id);
            end.set_cause(wire::write_cause(cause));
        });
        self.process.wake_supervisor();
    }

    fn ended(&self) -> Option<Cause> {
        self.cause()
    }
}

struct RemoteEntrypoint {
    process: Arc<Process>,
    worker: u64,
    entrypoint: u32,
}

impl PlacedEntrypoint for RemoteEntrypoint {
    fn invoke(&self, call: Call, reply: Reply, on_end: OnInvocationEnd) -> Invoked {
        let (reply, on_end) = self.process.invocation_begins(self.worker, reply, on_end);
        let mut on_end = Some(on_end);
        let await_report = |question| {
            if let Some(on_end) = on_end.take() {
                self.process.await_report(question, self.worker, on_end);
            }
        };
        match self.process.session().invoke(self.worker, self.entrypoint, call, reply, await_report) {
            Some((question, result)) => {
                let invocation = RemoteInvocation { process: self.process.clone(), question: Some(question) };
                Invoked { invocation: Arc::new(invocation), pipeline: Some(result) }
            }
            None => {
                // It was answered on the spot, and never numbered.
                if let Some(on_end) = on_end {
                    on_end(crate::worker::never_ran(&super::session::connection_lost()));
                }
                let invocation = RemoteInvocation { process: self.process.clone(), question: None };
                Invoked { invocation: Arc::new(invocation), pipeline: None }
            }
        }
    }
}

impl Drop for RemoteEntrypoint {
    fn drop(&mut self) {
        let _ = self.process.session().send(0, |frame| {
            let mut reference = frame.init_release_entrypoint();
            reference.set_worker(self.worker);
            reference.set_entrypoint(self.entrypoint);
        });
    }
}

struct RemoteInvocation {
    process: Arc<Process>,
    /// `None`: it never ran.
    question: Option<u64>,
}

impl PlacedInvocation for RemoteInvocation {
    fn end(&self, cause: Cause) {
        let Some(question) = self.question else { return };
        let _ = self.process.session().send(0, |frame| {
            let mut end = frame.init_end_invocation();
            end.set_question(question);
            end.set_cause(wire::write_cause(cause));
        });
    }
}
