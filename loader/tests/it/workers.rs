//! Workers that load Workers: each case of `workers/` is a Worker whose `test()` writes to its console, and the lines
//! it should write. Those beside the cases were recorded from workerd (`workers/record`); those in `ours/` hold what
//! workerd does not do, those in `capped/` have caps on how many Workers run at once.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loaderd_loader::config::{
    Binding, BindingValue, Compatibility, Config, DurableObjectDesignator, DurableObjectNamespace,
    DurableObjectStorage, Module, NamespaceKind, Service, ServiceDesignator, ServiceKind, Worker, WorkerCode,
};
use loaderd_loader::graph::{Graph, GraphOptions};
use loaderd_loader::{CallerCaps, HostLimits, LoaderHost, PoolConfig};
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
    let has_objects = source.contains("class Counter extends DurableObject");
    let content = ModuleContent::EsModule(source.into());
    let module = Module { name: "main.js".into(), content, named_exports: Vec::new() };
    let compatibility = Compatibility { date: Some("2026-07-01".into()), flags: vec!["experimental".into()] };
    let mut worker = Worker::new(WorkerCode::Modules(vec![module]), compatibility);
    let binding = |name: &str, value| Binding { name: name.into(), value };
    worker.bindings = vec![
        binding("loader", BindingValue::WorkerLoader { id: None }),
        binding("self", BindingValue::Service(ServiceDesignator::to("main"))),
    ];
    if has_objects {
        let namespace = DurableObjectDesignator { class_name: "Counter".into(), service: None };
        worker.bindings.push(binding("objects", BindingValue::DurableObjectNamespace(namespace)));
        worker.durable_object_namespaces.push(DurableObjectNamespace {
            class_name: "Counter".into(),
            kind: NamespaceKind::Durable { unique_key: "key".into() },
            prevent_eviction: false,
            enable_sql: false,
        });
        worker.durable_object_storage = DurableObjectStorage::InMemory;
    }
    let service = Service { name: "main".into(), kind: ServiceKind::Worker(Box::new(worker)) };
    Config { services: vec![service], ..Config::default() }
}

/// A running configuration, and the host that runs it.
async fn start(config: &Config, console: Option<Arc<dyn ConsoleSink>>) -> (Graph, LoaderHost) {
    start_with(config, console, CallerCaps::default()).await
}

async fn start_with(
    config: &Config,
    console: Option<Arc<dyn ConsoleSink>>,
    caller_caps: CallerCaps,
) -> (Graph, LoaderHost) {
    let limits = HostLimits { startup_cpu: Duration::from_millis(200), ..HostLimits::default() };
    let (host, _) = LoaderHost::in_process(PoolConfig::default(), limits, tokio::runtime::Handle::current())
        .expect("a thread for the pool");
    let options = GraphOptions { experimental: Experimental::Allowed, console, caller_caps, ..GraphOptions::default() };
    let graph = Graph::start(config, &host, &options).await;
    (graph.unwrap_or_else(|errors| panic!("{errors:?}")), host)
}

async fn run(case: &Path, caps: CallerCaps) -> String {
    let lines = Arc::new(Lines::default());
    let source = std::fs::read_to_string(case).expect("a case");
    let (graph, _host) = start_with(&config(source), Some(lines.clone()), caps).await;
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
    let cap = |max| NonZeroU32::new(max);
    let folders = [
        (folder.clone(), CallerCaps::default()),
        (folder.join("ours"), CallerCaps::default()),
        (folder.join("capped"), CallerCaps { request: cap(2), durable_object: cap(3) }),
    ];
    for (folder, caps) in folders {
        check(&folder, caps).await;
    }
}

async fn check(folder: &Path, caps: CallerCaps) {
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "the cases are there");
    for case in cases {
        let expected = std::fs::read_to_string(case.with_extension("out")).expect("an expectation");
        let got = run(&case, caps).await;
        let differing = got.lines().zip(expected.lines()).find(|(got, expected)| got != expected);
        assert!(got == expected, "{}: {differing:?}\n--- got:\n{got}", case.display());
    }
}

/// Loads a Worker that calls back three times; the answer is the sum of what it was told.
const BUSY_PARENT: &str = "
    import { RpcTarget } from 'cloudflare:workers';
    class Tools extends RpcTarget {
      #base;
      constructor(base) { super(); this.#base = base; }
      add(n) { return this.#base + n; }
    }
    const CHILD = `
      import { WorkerEntrypoint } from 'cloudflare:workers';
      export default class extends WorkerEntrypoint {
        async run(tools) {
          let sum = 0;
          for (let i = 0; i < 3; i++) sum += await tools.add(i);
          return sum;
        }
      }`;
    export default {
      async work(base, { loader }) {
        const code = { compatibilityDate: '2026-07-01', mainModule: 'm.js', modules: { 'm.js': CHILD }, globalOutbound: null };
        return await loader.load(code).getEntrypoint().run(new Tools(base));
      },
    };
";

#[tokio::test]
async fn fifty_requests_at_once_each_load_a_worker_and_leave_nothing() {
    let (graph, host) = start(&config(BUSY_PARENT.into()), None).await;
    let service = graph.service(&ServiceDesignator::to("main"));
    for round in 0..4 {
        let calls = (0..50).map(|index| {
            let base = f64::from(round * 50 + index);
            let service = service.clone();
            async move {
                let answer = service.call_method("work", vec![Plain::Number(base)]).await.expect("no error");
                let sum = Plain::from_message(&answer).expect("plain").as_number();
                assert_eq!(sum, Some(3.0 * base + 3.0));
            }
        });
        futures::future::join_all(calls).await;
    }
    assert_eq!(host.metrics().loads, 201);
    only_the_parent_is_left(&host).await;
}

/// What a finished invocation had loaded goes with it; the parent stays.
async fn only_the_parent_is_left(host: &LoaderHost) {
    let gone = tokio::time::timeout(Duration::from_secs(30), async {
        while host.metrics().alive > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    gone.await.unwrap_or_else(|_| panic!("left over: {:?}", host.metrics()));
}

/// Each method leaves something to a Worker that it has loaded: a call that would run for ever, or what each holds of the
/// other.
const LEAVING_PARENT: &str = "
    import { RpcTarget } from 'cloudflare:workers';
    const CHILD = `
      import { WorkerEntrypoint } from 'cloudflare:workers';
      export default class extends WorkerEntrypoint {
        ready() {}
        wait() { setInterval(() => {}, 1000); return new Promise(() => {}); }
        fetch() { return this.wait(); }
        async trade(take, give) { globalThis.given = await give(); await take(() => globalThis.given.get()); }
      }`;
    const child = async (loader) => {
      const code = { compatibilityDate: '2026-07-01', mainModule: 'm.js', modules: { 'm.js': CHILD } };
      const entrypoint = loader.load(code).getEntrypoint();
      await entrypoint.ready();
      return entrypoint;
    };
    export default {
      async returns(_, { loader }) { (await child(loader)).wait(); },
      async fetches(_, { loader }) { (await child(loader)).fetch('http://child/'); },
      async throws(_, { loader }) { (await child(loader)).wait(); throw new Error('thrown'); },
      async aborts(_, { loader }, ctx) { (await child(loader)).wait(); ctx.abort(new Error('aborted')); },
      async trades(_, { loader }) {
        let taken;
        const take = (f) => { taken = f.dup(); };
        const give = () => new (class extends RpcTarget { get() { return 7; } })();
        await (await child(loader)).trade(take, give);
        if ((await taken()) !== 7) throw new Error('what was lent is gone');
      },
      async waits(_, { loader }) { await (await child(loader)).wait(); },
    };
";

#[tokio::test]
async fn a_call_ends_with_whoever_made_it() {
    let (graph, host) = start(&config(LEAVING_PARENT.into()), None).await;
    let service = graph.service(&ServiceDesignator::to("main"));
    for method in ["returns", "fetches", "throws", "aborts"] {
        // How it ends is not what this is about.
        let _ended = service.call_method(method, vec![Plain::Null]).await;
        only_the_parent_is_left(&host).await;
    }
    service.call_method("trades", vec![Plain::Null]).await.expect("no error");
    only_the_parent_is_left(&host).await;
    // Its client goes.
    let mut waiting = Box::pin(service.call_method("waits", vec![Plain::Null]));
    while host.metrics().alive < 2 {
        assert!(futures::poll!(&mut waiting).is_pending());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(waiting);
    only_the_parent_is_left(&host).await;
}

#[tokio::test]
async fn a_reference_to_an_entrypoint_that_is_not_there_is_said_before_the_first_request() {
    let mut config = config("export default {}; export const named = { fetch() {} };".into());
    let ServiceKind::Worker(worker) = &mut config.services[0].kind else { panic!("it is a Worker") };
    for (binding, entrypoint) in [("good", "named"), ("bad", "nope")] {
        let designator = ServiceDesignator { entrypoint: Some(entrypoint.into()), ..ServiceDesignator::to("main") };
        worker.bindings.push(Binding { name: binding.into(), value: BindingValue::Service(designator) });
    }
    let (host, _) =
        LoaderHost::in_process(PoolConfig::default(), HostLimits::default(), tokio::runtime::Handle::current())
            .expect("a thread for the pool");
    let options = GraphOptions { experimental: Experimental::Allowed, ..GraphOptions::default() };
    let errors = Graph::start(&config, &host, &options).await.err().expect("does not start");
    assert_eq!(
        errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "Worker \"main\"'s binding \"bad\" refers to service \"main\" with a named entrypoint \"nope\", but \"main\" has \
          no such named entrypoint."
        ]
    );
}
