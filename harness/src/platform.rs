//! The seam of a pass filled with our own Worker Loader.

use std::sync::Arc;

use futures::future::BoxFuture;
use loaderd_loader::{Entrypoint, GlobalOutbound, LoaderError, ModuleSource, WorkerCode, WorkerLoader, WorkerStub};
use loaderd_runtime::channel::{ConsoleLevel, ConsoleSink};
use loaderd_runtime::isolate::{HangPolicy, LoadPhase, Uses};
use loaderd_runtime::limits::{Cause, ResourceLimits};
use loaderd_runtime::modules::ModuleContent;
use loaderd_runtime::rpc::plain::{EncodeError, Plain, PlainObject};
use loaderd_runtime::rpc::{Answer, Cap, CapKind, Message, RpcError};

use crate::pass::port::HostPort;
use crate::pass::worker::{
    CONFIG_NAME, Diagnostic, GuestAnswer, LoadedWorker, LogObserver, ModuleOrigin, PassConfig, PassEntrypoint,
    PassLoader, PassWorker, StartFailure, WorkerFailure,
};

/// The method of the harness's entrypoint that runs the program.
const RUN_METHOD: &str = "run";

/// Our own loader, as passes see it.
pub(crate) struct Platform {
    loader: WorkerLoader,
}

impl Platform {
    pub(crate) fn new(loader: WorkerLoader) -> Self {
        Self { loader }
    }
}

impl PassLoader for Platform {
    fn load(&self, worker: PassWorker) -> Result<Box<dyn LoadedWorker>, Diagnostic> {
        let mut code = WorkerCode::new(worker.compatibility_date, worker.main_module);
        for module in worker.modules {
            let content = ModuleContent::EsModule(module.source);
            code = code.module(
                module.name,
                match module.origin {
                    ModuleOrigin::Harness => ModuleSource::HostContent(content),
                    ModuleOrigin::Program => ModuleSource::Content(content),
                },
            );
        }
        code.limits = ResourceLimits {
            cpu_ms: worker.limits.map(|limits| limits.cpu_ms),
            sub_requests: worker.limits.map(|limits| limits.sub_requests),
        };
        code.env = Some(env(&worker.config, worker.observer.is_some()).map_err(|error| diagnostic(&error))?);
        code.global_outbound = GlobalOutbound::None;
        // What never settles is a matter of the pass's deadline alone.
        code.on_hang = HangPolicy::Wait;
        code.uses = Uses::One;
        code.console = worker.observer.map(|observer| Arc::new(Echo(observer)) as Arc<dyn ConsoleSink>);
        let loader = match &worker.tenant {
            Some(tenant) => &self.loader.for_tenant(tenant.label().clone()),
            None => &self.loader,
        };
        let stub = loader.load(code).map_err(|error| refusal(&error))?;
        Ok(Box::new(Loaded { stub, disposed: false }))
    }
}

/// The value of `env`.
fn env(config: &PassConfig, echo: bool) -> Result<Message, EncodeError> {
    let namespaces = config.namespaces.iter().map(|namespace| {
        let methods = namespace.methods().iter().map(|method| Plain::from(method.as_str())).collect();
        object([("name", namespace.name().as_str().into()), ("methods", Plain::Array(methods))])
    });
    let limits = object([
        ("maxLogBytes", config.max_log_bytes.into()),
        ("maxResultBytes", config.max_result_bytes.into()),
        ("maxHostCalls", config.max_host_calls.into()),
        ("maxHostCallArgumentBytes", config.max_host_call_argument_bytes.into()),
    ]);
    let mut members = vec![("namespaces", Plain::Array(namespaces.collect())), ("limits", limits)];
    if echo {
        members.push(("echo", true.into()));
    }
    object([(CONFIG_NAME, object(members))]).to_message()
}

fn object(members: impl IntoIterator<Item = (&'static str, Plain)>) -> Plain {
    Plain::Object(members.into_iter().collect::<PlainObject>())
}

/// Passes the Worker's own console on to whoever watches the pass.
struct Echo(Arc<dyn LogObserver>);

impl ConsoleSink for Echo {
    fn line(&self, _level: ConsoleLevel, text: &str) {
        self.0.line(text);
    }
}

struct Loaded {
    stub: WorkerStub,
    disposed: bool,
}

impl LoadedWorker for Loaded {
    fn entrypoint(&self) -> Result<Box<dyn PassEntrypoint>, WorkerFailure> {
        let entrypoint = self.stub.entrypoint(None, None, ResourceLimits::default());
        Ok(Box::new(Harness { stub: self.stub.clone(), entrypoint }))
    }

    fn dispose(mut self: Box<Self>, cause: Option<Cause>) -> Result<(), Diagnostic> {
        self.disposed = true;
        self.stub.end(cause.unwrap_or(Cause::Shutdown));
        Ok(())
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if !self.disposed {
            self.stub.end(Cause::Canceled);
        }
    }
}

struct Harness {
    stub: WorkerStub,
    entrypoint: Arc<Entrypoint>,
}

impl PassEntrypoint for Harness {
    fn run(&self, host: HostPort) -> BoxFuture<'static, Result<GuestAnswer, WorkerFailure>> {
        let host = Cap { kind: CapKind::Function, target: Arc::new(host) };
        let arguments = Plain::arguments(vec![Plain::Cap(host)]);
        let (stub, entrypoint) = (self.stub.clone(), self.entrypoint.clone());
        Box::pin(async move {
            let arguments = arguments.map_err(|error| WorkerFailure::Thrown { what: diagnostic(&error), cpu: None })?;
            let answering = entrypoint.call_method(RUN_METHOD, arguments);
            // The start's own error says more than the answer it gives to every call.
            stub.ready().await.map_err(|error| start_failure(&error))?;
            read(answering.await)
        })
    }

    fn dispose(self: Box<Self>) -> Result<(), Diagnostic> {
        Ok(())
    }
}

fn read(answer: Answer) -> Result<GuestAnswer, WorkerFailure> {
    let Answer { result, usage } = answer;
    // A run takes some time; none at all means that nobody measured.
    let cpu = (!usage.cpu.is_zero()).then_some(usage.cpu);
    let message = match result {
        Ok(message) => message,
        Err(RpcError { cause: Some(cause), message, .. }) => {
            return Err(WorkerFailure::Ended { cause, message, cpu });
        }
        Err(RpcError { name, message, .. }) => {
            return Err(WorkerFailure::Thrown { what: Diagnostic::Error { name, message }, cpu });
        }
    };
    let envelope = match Plain::from_message(&message) {
        Ok(Plain::String(text)) => Some(text.to_string_lossy()),
        _ => None,
    };
    Ok(GuestAnswer { envelope, cpu })
}

fn refusal(error: &LoaderError) -> Diagnostic {
    let error = error.to_rpc();
    Diagnostic::Error { name: error.name, message: error.message }
}

fn start_failure(error: &LoaderError) -> WorkerFailure {
    match error {
        LoaderError::Start(error) => WorkerFailure::Start(StartFailure {
            phase: error.phase,
            cause: error.cause,
            message: error.message.clone(),
            cpu: error.startup_cpu,
        }),
        LoaderError::Ended(cause) => {
            WorkerFailure::Ended { cause: *cause, message: cause.message().to_owned(), cpu: None }
        }
        LoaderError::ProcessGone => WorkerFailure::Lost(error.to_string()),
        // The machine would not run it: nothing that the program's text could have to do with.
        LoaderError::Platform(_) | LoaderError::Overloaded(_) => {
            let message = error.to_string();
            WorkerFailure::Start(StartFailure { phase: LoadPhase::Evaluate, cause: None, message, cpu: None })
        }
        LoaderError::Code(_) | LoaderError::GetCode(_) => WorkerFailure::Thrown { what: refusal(error), cpu: None },
    }
}

fn diagnostic(error: &impl std::error::Error) -> Diagnostic {
    Diagnostic::Error { name: "Error".to_owned(), message: error.to_string() }
}
