//! The platform's edge: passes whose loader and guest are fakes that misbehave as their case says.
//!
//! A case's `fake` has: `load`, `entrypoint` (what they throw), `guest` (what the guest does first), `run` (what it
//! then answers or throws), `afterEnd` (what it does when the pass is over), `disposalThrows`, and what to look at:
//! `disposed` (in this order) and `workerLimits`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use libtest_mimic::Trial;
use loaderd_harness::CodeExecutor;
use loaderd_harness::platform_edge::{
    Diagnostic, GuestAnswer, HostPort, LoadedWorker, PassEntrypoint, PassLoader, PassWorker, PassWorkerLimits,
    WorkerFailure,
};
use loaderd_runtime::limits::Cause;

use crate::case::{self, Case};
use crate::doors::rust;
use crate::expect;
use crate::host::ScriptedHost;
use crate::json::Json;

pub(crate) fn trials() -> Vec<Trial> {
    let cases = case::load("contract", "platform").cases;
    cases
        .into_iter()
        .map(|case| {
            let name = format!("contract::{}::edge", case.id);
            Trial::test(name, move || run(&case).map_err(|error| format!("{}\n  {error}", case.title).into()))
        })
        .collect()
}

fn run(case: &Case) -> Result<(), String> {
    rust::runtime().block_on(async {
        let host = ScriptedHost::new(case);
        let fake = case.fake.clone().ok_or("the case has no fake")?;
        let stage = Arc::new(Stage { fake, host: Arc::clone(&host), state: Mutex::default() });
        let executor = CodeExecutor::with_loader(Arc::new(Loader(Arc::clone(&stage))));
        let outcome = rust::execute(&executor, case, &host).await?;
        expect::check(case, &outcome)?;
        expect::check_host(case, &host.record(), true)?;
        stage.check().await
    })
}

/// What all fakes of one pass share.
struct Stage {
    fake: Json,
    host: Arc<ScriptedHost>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    port: Option<HostPort>,
    calls: HashMap<String, Call>,
    worker_limits: Option<PassWorkerLimits>,
    disposed: Vec<&'static str>,
    /// What the guest saw and should not have.
    surprises: Vec<String>,
}

/// A dispatched call: its outcome's text, or how it was refused.
type Call = Shared<BoxFuture<'static, String>>;

impl Stage {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a part of the fake throws, if it does.
    fn throws(&self, part: &str) -> Option<Diagnostic> {
        self.fake.get(part).map(diagnostic)
    }

    fn disposal(&self, what: &'static str) -> Result<(), Diagnostic> {
        self.lock().disposed.push(what);
        match self.fake.get("disposalThrows") {
            Some(Json::Bool(true)) => Err(diagnostic(&Json::text("disposal failed"))),
            _ => Ok(()),
        }
    }

    /// Does what the guest does, step by step.
    async fn act(&self, port: &HostPort, steps: &str) {
        for step in self.fake.get(steps).and_then(Json::as_array).unwrap_or_default() {
            if let Err(surprise) = self.step(port, step).await {
                self.lock().surprises.push(surprise);
            }
        }
    }

    async fn step(&self, port: &HostPort, step: &Json) -> Result<(), String> {
        let name = |key: &str| step.get(key).and_then(Json::as_text);
        if let Some(name) = name("dispatch") {
            let answer = port.call(&step.get("call").unwrap_or(&Json::Null).to_string());
            let text = async { answer.await.unwrap_or_else(|refused| format!("{}: {refused}", refused.class())) };
            self.lock().calls.insert(name, text.boxed().shared());
            Ok(())
        } else if let Some(name) = name("await") {
            let call = self.lock().calls.get(&name).cloned().ok_or("awaits a call it never made")?;
            let (found, expected) = (call.await, step.get("gives").and_then(Json::as_text).unwrap_or_default());
            if found == expected { Ok(()) } else { Err(format!("call {name} gave {found:?}, not {expected:?}")) }
        } else if let Some(calls) = step.get("hostSeen").and_then(Json::as_number) {
            self.host.seen(usize::try_from(calls).map_err(|error| error.to_string())?).await;
            Ok(())
        } else {
            Err(format!("the case has an unknown step {step}"))
        }
    }

    /// What is to be looked at when the pass is over.
    async fn check(&self) -> Result<(), String> {
        let port = self.lock().port.clone();
        if let Some(port) = port {
            self.act(&port, "afterEnd").await;
        }
        let state = self.lock();
        if let Some(surprise) = state.surprises.first() {
            return Err(surprise.clone());
        }
        if let Some(expected) = self.fake.get("disposed").and_then(Json::as_array) {
            let expected: Vec<_> = expected.iter().filter_map(Json::as_text).collect();
            if expected != state.disposed {
                return Err(format!("should have been disposed: {expected:?}; was: {:?}", state.disposed));
            }
        }
        if let Some(expected) = self.fake.get("workerLimits") {
            let pair = |limits: PassWorkerLimits| {
                Json::Array(vec![Json::number(limits.cpu_ms), Json::number(limits.sub_requests)])
            };
            let found = state.worker_limits.map_or(Json::Null, pair);
            if *expected != found {
                return Err(format!("the Worker's limits should be {expected}, and are {found}"));
            }
        }
        Ok(())
    }
}

fn diagnostic(thrown: &Json) -> Diagnostic {
    match (thrown.as_text(), thrown.get("name"), thrown.get("message")) {
        (Some(text), ..) if text == "unrenderable" => Diagnostic::Unrenderable,
        (Some(text), ..) => Diagnostic::Value(text),
        (None, name, message) => {
            let text = |json: Option<&Json>| json.and_then(Json::as_text).unwrap_or_default();
            Diagnostic::Error { name: text(name), message: text(message) }
        }
    }
}

struct Loader(Arc<Stage>);

impl PassLoader for Loader {
    fn load(&self, worker: PassWorker) -> Result<Box<dyn LoadedWorker>, Diagnostic> {
        self.0.lock().worker_limits = worker.limits;
        match self.0.throws("load") {
            Some(refusal) => Err(refusal),
            None => Ok(Box::new(Worker(Arc::clone(&self.0)))),
        }
    }
}

struct Worker(Arc<Stage>);

impl LoadedWorker for Worker {
    fn entrypoint(&self) -> Result<Box<dyn PassEntrypoint>, WorkerFailure> {
        match self.0.throws("entrypoint") {
            Some(refusal) => Err(WorkerFailure::Thrown { what: refusal, cpu: None }),
            None => Ok(Box::new(Entrypoint(Arc::clone(&self.0)))),
        }
    }

    fn dispose(self: Box<Self>, _cause: Option<Cause>) -> Result<(), Diagnostic> {
        self.0.disposal("worker")
    }
}

struct Entrypoint(Arc<Stage>);

impl PassEntrypoint for Entrypoint {
    fn run(&self, host: HostPort) -> BoxFuture<'static, Result<GuestAnswer, WorkerFailure>> {
        let stage = Arc::clone(&self.0);
        stage.lock().port = Some(host.clone());
        Box::pin(async move {
            stage.act(&host, "guest").await;
            let run = stage.fake.get("run").cloned().unwrap_or(Json::Null);
            match (run.get("throws"), run.get("envelope")) {
                (Some(thrown), _) => Err(WorkerFailure::Thrown { what: diagnostic(thrown), cpu: None }),
                (None, Some(envelope)) => Ok(GuestAnswer { envelope: Some(envelope.to_string()), cpu: None }),
                (None, None) => std::future::pending().await,
            }
        })
    }

    fn dispose(self: Box<Self>) -> Result<(), Diagnostic> {
        self.0.disposal("entrypoint")
    }
}
