//! A loader without V8. The "program" is the name of something that its guest does.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use loaderd_harness::CodeExecutor;
use loaderd_harness::platform_edge::{
    Diagnostic, GuestAnswer, HostPort, LoadedWorker, ModuleOrigin, PassEntrypoint, PassLoader, PassWorker,
    WorkerFailure,
};
use loaderd_runtime::limits::Cause;
use tokio::sync::watch;

/// An executor over the fake, and a count of the Workers that are loaded now.
pub(crate) fn executor() -> (CodeExecutor, watch::Receiver<usize>) {
    let (alive, seen) = watch::channel(0);
    (CodeExecutor::with_loader(Arc::new(Fake { alive: Arc::new(alive) })), seen)
}

struct Fake {
    alive: Arc<watch::Sender<usize>>,
}

impl PassLoader for Fake {
    fn load(&self, worker: PassWorker) -> Result<Box<dyn LoadedWorker>, Diagnostic> {
        let program = worker.modules.iter().find(|module| module.origin == ModuleOrigin::Program);
        let program = program.map(|module| module.source.trim_start_matches("export default (\n").to_owned());
        self.alive.send_modify(|alive| *alive += 1);
        Ok(Box::new(Loaded { program: program.unwrap_or_default(), alive: self.alive.clone() }))
    }
}

struct Loaded {
    program: String,
    alive: Arc<watch::Sender<usize>>,
}

impl LoadedWorker for Loaded {
    fn entrypoint(&self) -> Result<Box<dyn PassEntrypoint>, WorkerFailure> {
        Ok(Box::new(Guest { program: self.program.trim_end_matches("\n);").to_owned() }))
    }

    fn dispose(self: Box<Self>, _cause: Option<Cause>) -> Result<(), Diagnostic> {
        Ok(())
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        self.alive.send_modify(|alive| *alive -= 1);
    }
}

struct Guest {
    program: String,
}

impl PassEntrypoint for Guest {
    fn run(&self, host: HostPort) -> BoxFuture<'static, Result<GuestAnswer, WorkerFailure>> {
        match self.program.as_str() {
            "hang" => futures::future::pending().boxed(),
            // Calls its host, and returns what became of the call.
            "call" => async move {
                let call = r#"{"namespace":"tools","method":"work","argument":{"n":1}}"#;
                let outcome = host.call(call).await;
                Ok(completed(&outcome.unwrap_or_else(|refused| format!("{:?}", refused.to_string()))))
            }
            .boxed(),
            // Leaves a call behind, and returns when it has reached the host.
            "leave a call behind" => async move {
                let _left = host.call(r#"{"namespace":"tools","method":"forget","argument":null}"#);
                let call = r#"{"namespace":"tools","method":"work","argument":null}"#;
                let outcome = host.call(call).await.unwrap_or_default();
                Ok(completed(&outcome))
            }
            .boxed(),
            value => futures::future::ready(Ok(completed(value))).boxed(),
        }
    }

    fn dispose(self: Box<Self>) -> Result<(), Diagnostic> {
        Ok(())
    }
}

fn completed(value: &str) -> GuestAnswer {
    let envelope =
        format!(r#"{{"_tag":"completed","value":{value},"logs":["one"],"hostCalls":1,"logBytes":3,"resultBytes":1}}"#);
    GuestAnswer { envelope: Some(envelope), cpu: None }
}
