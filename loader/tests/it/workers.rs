//! Workers that load Workers: each case of `workers/` is a Worker whose `test()` writes to its console, and the lines
//! it should write. Those beside the cases were recorded from workerd (`workers/record`); those in `ours/` hold what
//! workerd does not do.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loaderd_loader::config::{
    Binding, BindingValue, Compatibility, Config, Module, Service, ServiceDesignator, ServiceKind, Worker, WorkerCode,
};
use loaderd_loader::graph::{Graph, GraphOptions};
use loaderd_loader::{HostLimits, LoaderHost, PoolConfig};
use loaderd_runtime::channel::{ConsoleLevel, ConsoleSink};
use loaderd_runtime::compat::Experimental;
use loaderd_runtime::modules::ModuleContent;
use loaderd_runtime::rpc::plain::Plain;

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl ConsoleSink for Lines {
    fn line(&self, _: ConsoleLevel, text: &str) {
        self.0.lock().expect("no panics").extend(text.split('\n').map(str::to_owned));
    }
}

/// A Worker with a loader and itself among its bindings, as `workers/record` gives it to workerd.
fn config(source: String) -> Config {
    let content = ModuleContent::EsModule(source.into());
    let module = Module { name: "main.js".into(), content, named_exports: Vec::new() };
    let compatibility = Compatibility { date: Some("2026-07-01".into()), flags: vec!["experimental".into()] };
    let mut worker = Worker::new(WorkerCode::Modules(vec![module]), compatibility);
    let binding = |name: &str, value| Binding { name: name.into(), value };
    worker.bindings = vec![
        binding("loader", BindingValue::WorkerLoader { id: None }),
        binding("self", BindingValue::Service(ServiceDesignator::to("main"))),
    ];
    let service = Service { name: "main".into(), kind: ServiceKind::Worker(Box::new(worker)) };
    Config { services: vec![service], ..Config::default() }
}

async fn run(case: &Path) -> String {
    let limits = HostLimits { startup_cpu: Duration::from_millis(200), ..HostLimits::default() };
    let (host, _) = LoaderHost::in_process(PoolConfig::default(), limits, tokio::runtime::Handle::current())
        .expect("a thread for the pool");
    let lines = Arc::new(Lines::default());
    let options =
        GraphOptions { experimental: Experimental::Allowed, console: Some(lines.clone()), ..GraphOptions::default() };
    let source = std::fs::read_to_string(case).expect("a case");
    let graph = Graph::start(&config(source), &host, &options).await;
    let graph = graph.unwrap_or_else(|errors| panic!("{}: {errors:?}", case.display()));
    let service = graph.service(&ServiceDesignator::to("main"));
    let answer = service.call_method("test", vec![Plain::Object(Default::default())]);
    if let Err(error) = answer.await {
        lines.line(ConsoleLevel::Error, &format!("test() failed: {error}"));
    }
    let lines = lines.0.lock().expect("no panics");
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[tokio::test]
async fn every_case_writes_its_lines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/workers");
    let mut cases: Vec<PathBuf> = [folder.clone(), folder.join("ours")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
        .collect();
    cases.sort();
    assert!(cases.len() >= 3, "the cases are there");
    for case in cases {
        let expected = std::fs::read_to_string(case.with_extension("out")).expect("an expectation");
        let got = run(&case).await;
        let differing = got.lines().zip(expected.lines()).find(|(got, expected)| got != expected);
        assert!(got == expected, "{}: {differing:?}\n--- got:\n{got}", case.display());
    }
}
