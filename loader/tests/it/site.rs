//! Small configurations of real Workers for other tests: what a Worker is, in a line, and what it answers.

use loaderd_loader::config::{
    Binding, BindingValue, Compatibility, Config, Module, Service, ServiceDesignator, ServiceKind, Worker, WorkerCode,
};
use loaderd_loader::graph::{Graph, GraphError, GraphOptions};
use loaderd_loader::{HostLimits, LoaderHost, PoolConfig};
use loaderd_runtime::compat::Experimental;
use loaderd_runtime::modules::ModuleContent;
use loaderd_runtime::rpc::plain::Plain;

/// A Worker of one module.
pub(crate) fn worker(source: &str, flags: &[&str], bindings: Vec<Binding>) -> Worker {
    let content = ModuleContent::EsModule(source.into());
    let module = Module { name: "main.js".into(), content, named_exports: Vec::new() };
    let flags = flags.iter().map(ToString::to_string).collect();
    let compatibility = Compatibility { date: Some("2026-07-01".into()), flags };
    Worker { bindings, ..Worker::new(WorkerCode::Modules(vec![module]), compatibility) }
}

pub(crate) fn service(name: &str, kind: ServiceKind) -> Service {
    Service { name: name.into(), kind }
}

pub(crate) fn worker_service(name: &str, worker: Worker) -> Service {
    service(name, ServiceKind::Worker(Box::new(worker)))
}

pub(crate) fn binding(name: &str, value: BindingValue) -> Binding {
    Binding { name: name.into(), value }
}

/// Starts a configuration in this process.
pub(crate) async fn start(config: &Config) -> Result<(Graph, LoaderHost), Vec<GraphError>> {
    let tasks = tokio::runtime::Handle::current();
    let (host, _) = LoaderHost::in_process(PoolConfig::default(), HostLimits::default(), tasks).expect("a thread");
    let options = GraphOptions { experimental: Experimental::Allowed, ..GraphOptions::default() };
    Ok((Graph::start(config, &host, &options).await?, host))
}

/// What `test()` of the service `main` gives, which is a string; or the error's text.
pub(crate) async fn test_of(graph: &Graph) -> String {
    let service = graph.service(&ServiceDesignator::to("main"));
    match service.call_method("test", vec![Plain::Object(Default::default())]).await {
        Ok(answer) => match Plain::from_message(&answer) {
            Ok(Plain::String(text)) => text.to_string_lossy(),
            _ => "no text".to_owned(),
        },
        Err(error) => error.to_string(),
    }
}
