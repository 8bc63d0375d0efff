//! Real isolates in this process: how they start, fail to, and go.

use std::time::Duration;

use loaderd_loader::{
    HostLimits, InProcess, LoaderError, LoaderHost, LoaderOptions, ModuleSource, PoolConfig, WorkerCode,
};
use loaderd_runtime::error::Blame;
use loaderd_runtime::limits::Cause;
use loaderd_runtime::modules::ModuleContent;

extern "C" fn set_up() {
    loaderd_runtime::setup::initialize();
}

// SAFETY: the C runtime calls this once on the main thread before `main`; it uses nothing that `main` sets up. V8
// wants to be set up before other threads exist, and the test harness makes them.
#[used]
#[unsafe(link_section = ".init_array")]
static SET_UP: extern "C" fn() = set_up;

fn host(target: usize, limits: HostLimits) -> (LoaderHost, std::sync::Arc<InProcess>) {
    let pool = PoolConfig { target, ..PoolConfig::default() };
    LoaderHost::in_process(pool, limits, tokio::runtime::Handle::current()).expect("a thread")
}

fn main_module(source: &str) -> WorkerCode {
    WorkerCode::new("2026-07-01", "m.js").module("m.js", ModuleSource::ByName(source.into()))
}

/// Waits until `done`, looking again each time the tasks of the runtime have had their turn.
async fn until(what: &str, done: impl Fn() -> bool) {
    let waited = tokio::time::timeout(Duration::from_secs(30), async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("never: {what}"));
}

#[tokio::test]
async fn what_does_not_start_says_why() {
    let cases = [
        (main_module("export default {"), "Uncaught SyntaxError: Unexpected end of input\n  at m.js:1:16"),
        (main_module("throw new Error('st')"), "Uncaught Error: st\n  at m.js:1:7"),
        (
            main_module("import 'nope.js'; export default {}"),
            "Uncaught Error: No such module \"nope.js\".\n  imported from \"m.js\"",
        ),
        (WorkerCode { main_module: "zz.js".into(), ..main_module("") }, "Uncaught Error: No such module: zz.js"),
        (
            WorkerCode::new("2026-07-01", "m").module("m", ModuleContent::Text("".into())),
            "Uncaught TypeError: Main module must be an ES module.",
        ),
    ];
    let (host, _) = host(2, HostLimits::default());
    let loader = host.loader(LoaderOptions::default());
    for (code, report) in cases {
        let error = loader.load(code).expect("passes the checks").ready().await.expect_err("does not start");
        assert_eq!(error.to_string(), format!("Failed to start Worker:\n{report}"));
        assert_eq!(error.blame(), Blame::Program);
    }
    until("all gone", || host.metrics().alive == 0).await;
    assert_eq!(host.metrics().load_failures, 5);
}

#[tokio::test]
async fn an_endless_top_level_ends_at_the_start_up_budget() {
    let (host, _) = host(1, HostLimits { startup_cpu: Duration::from_millis(20), ..HostLimits::default() });
    let stub = host.loader(LoaderOptions::default()).load(main_module("for (;;);")).expect("passes the checks");
    let error = stub.ready().await.expect_err("does not start");
    assert_eq!(error.cause(), Some(Cause::ExceededStartupCpu));
    assert_eq!(error.to_rpc().message, "Script startup exceeded CPU time limit.");
    assert!(error.to_rpc().overloaded);
    until("gone", || host.metrics().alive == 0).await;
}

#[tokio::test]
async fn a_worker_can_be_ended_while_it_starts() {
    let (host, _) = host(1, HostLimits::default());
    let stub = host.loader(LoaderOptions::default()).load(main_module("for (;;);")).expect("passes the checks");
    stub.end(Cause::ExceededWallTime);
    assert_eq!(stub.ready().await, Err(LoaderError::Ended(Cause::ExceededWallTime)));
    until("gone", || host.metrics().alive == 0).await;
}

#[tokio::test]
async fn each_isolate_of_the_pool_is_used_once_and_replaced() {
    let (host, pool) = host(3, HostLimits::default());
    let loader = host.loader(LoaderOptions::default());
    until("full", || pool.pool_metrics().pooled == 3).await;
    for _ in 0..20 {
        let stub = loader.load(main_module("globalThis.used = (globalThis.used ?? 0) + 1; if (used > 1) throw used;"));
        assert!(stub.expect("loads").ready().await.is_ok());
    }
    until("full again, and nothing else left", || {
        let metrics = pool.pool_metrics();
        metrics.pooled == 3 && metrics.alive == 3
    })
    .await;
    assert_eq!(host.metrics().loads, 20);
    assert_eq!(pool.pool_metrics().made, 23);
}

#[tokio::test]
async fn many_at_once_start_in_turn() {
    let (host, pool) = host(2, HostLimits::default());
    let loader = host.loader(LoaderOptions::default());
    let stubs: Vec<_> = (0..40).map(|_| loader.load(main_module("export default {}")).expect("loads")).collect();
    for stub in &stubs {
        assert!(stub.ready().await.is_ok());
    }
    assert_eq!(host.metrics().alive, 40);
    drop(stubs);
    until("all gone", || host.metrics().alive == 0 && pool.pool_metrics().waiting == 0).await;
}
