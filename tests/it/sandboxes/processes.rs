//! How many processes there are, how long they live, and who may use one.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use futures::future::join_all;
use libtest_mimic::Trial;
use loaderd_harness::{
    CodeExecutionLimits, CodeExecutionNamespace, CodeExecutionRequest, CodeExecutor, CodeHostCall, CodeHostCallOutcome,
    HostCallFuture, NetworkPolicy, PassHost, Tenant,
};
use loaderd_loader::sandbox::{SandboxConfig, Sandboxes};
use loaderd_loader::{HostLimits, LoaderHost, LoaderOptions, ModuleSource, WorkerCode};
use tokio::sync::watch;

use super::{Broker, Check, Gate, PATIENCE, REAL, WAITS, end_of, expect, pass, trials_of, wall};
use crate::doors::rust::runtime;

const DEADLINE: &str = "CodeExecutionTimeoutError";

pub(crate) fn trials() -> Vec<Trial> {
    let tests: Vec<(&str, Check)> = vec![
        ("one_process_is_ready_for_the_next", || runtime().block_on(spare())),
        ("a_pass_that_ends_while_it_waits_leaves_its_place", || runtime().block_on(leaves_its_place())),
        ("very_many_calls_wait_for_their_answers", || runtime().block_on(many_calls())),
        ("processes_that_nobody_uses_are_given_up", || runtime().block_on(given_up())),
        ("processes_are_retired_by_number", || runtime().block_on(retired_by_number())),
        ("processes_are_retired_when_memory_does_not_return", || runtime().block_on(retired_for_memory())),
        ("a_host_that_blocks_its_runtime_holds_up_nobody_else", || runtime().block_on(blocking_host())),
        ("a_runtime_that_goes_takes_no_process_with_it", || runtime().block_on(runtimes_that_go())),
        ("tails_are_refused_by_name", || runtime().block_on(tails_are_refused())),
    ];
    trials_of(tests)
}

/// A trace that nobody would ever hear of is worse than a Worker that does not start.
async fn tails_are_refused() -> Result<(), String> {
    let sandboxes = Sandboxes::new(SandboxConfig::new(vec!["it".to_owned(), REAL.to_owned()]));
    let sandboxes = sandboxes.map_err(|error| error.to_string())?;
    let host = LoaderHost::new(sandboxes, HostLimits::default(), runtime().handle().clone());
    let loader = host.loader(LoaderOptions::default());
    let text = "Failed to start Worker: Tail Workers of Workers in sandbox processes are not supported by loaderd.";
    let wanted = Err(text.to_owned());
    for streaming in [false, true] {
        let mut code = WorkerCode::new("2026-07-01", "m.js").module("m.js", ModuleSource::ByName("export {};".into()));
        // Any service will do: nothing is ever sent to it.
        let tails = if streaming { &mut code.streaming_tails } else { &mut code.tails };
        tails.push(loader.binding());
        let started = match loader.load(code) {
            Ok(stub) => stub.ready().await.map(drop),
            Err(error) => Err(error),
        };
        expect("the start", &started.map_err(|error| error.to_string()), &wanted)?;
    }
    Ok(())
}

/// A host that blocks the thread it is called on until it is let go.
struct Blocks {
    called: watch::Sender<bool>,
    release: Mutex<mpsc::Receiver<()>>,
}

impl PassHost for Blocks {
    fn call(&self, call: CodeHostCall) -> HostCallFuture<'_> {
        self.called.send_replace(true);
        // An error: the test is over.
        let _ = self.release.lock().expect("nobody panics").recv();
        Box::pin(async { Ok(CodeHostCallOutcome::Success(call.argument)) })
    }
}

/// A program of another runtime on a thread of its own, and that runtime's end.
fn on_a_runtime_of_its_own(
    executor: CodeExecutor,
    host: Arc<dyn PassHost>,
    source: &'static str,
) -> tokio::task::JoinHandle<Result<String, String>> {
    tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let namespace = CodeExecutionNamespace::new("host", ["call"]).expect("valid names");
        let request = CodeExecutionRequest::new(source, vec![namespace], NetworkPolicy::Disabled, wall(PATIENCE));
        let request = request.expect("a valid request");
        end_of(&runtime.block_on(executor.execute(request, host)))
    })
}

/// Two passes share a process. The host of one blocks the runtime that it was asked for on; the other goes on.
async fn blocking_host() -> Result<(), String> {
    const TWO_CALLS: &str = "async () => [await host.call(1), await host.call(2)]";
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let (gate, (let_go, release)) = (Gate::new(), mpsc::channel());
    let blocks = Arc::new(Blocks { called: watch::channel(false).0, release: Mutex::new(release) });
    let others = async {
        gate.seen(1).await?;
        let blocked = on_a_runtime_of_its_own(broker.executor.clone(), blocks.clone(), WAITS);
        let mut called = blocks.called.subscribe();
        called.wait_for(|called| *called).await.map_err(|error| error.to_string())?;
        gate.open();
        Ok::<_, String>(blocked)
    };
    let (ended, blocked) =
        futures::future::join(pass(&broker.executor, &gate, TWO_CALLS, wall(PATIENCE)), others).await;
    let blocked = blocked?;
    expect("the pass beside it", &end_of(&ended), &Ok("[1,2]".to_owned()))?;
    let_go.send(()).map_err(|error| error.to_string())?;
    expect("the pass", &blocked.await.map_err(|error| error.to_string())?, &Ok("1".to_owned()))
}

/// One process serves runtimes that come and go, one after the other and at once.
async fn runtimes_that_go() -> Result<(), String> {
    const ROUNDS: usize = 5;
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let host = Gate::new();
    host.open();
    for round in 1..=ROUNDS {
        let passes =
            join_all((0..round).map(|_| on_a_runtime_of_its_own(broker.executor.clone(), host.clone(), WAITS)));
        for ended in passes.await {
            expect("a pass", &ended.map_err(|error| error.to_string())?, &Ok("1".to_owned()))?;
        }
        let ended = pass(&broker.executor, &host, WAITS, wall(PATIENCE)).await;
        expect("a pass of this runtime", &end_of(&ended), &Ok("1".to_owned()))?;
    }
    broker.until("nobody is in the process", |metrics| metrics.workers == 0).await?;
    expect("processes started", &broker.sandboxes.metrics().started, &1)
}

/// A pass makes a process its tenant's; another is started though nobody asks for it, and no third one.
async fn spare() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 3)?;
    let host = Gate::new();
    host.open();
    for tenant in ["a", "b"] {
        let executor = broker.executor.for_tenant(Tenant::new(tenant).expect("a valid label"));
        expect("a pass", &end_of(&pass(&executor, &host, WAITS, wall(PATIENCE)).await), &Ok("1".to_owned()))?;
        let expected = if tenant == "a" { 2 } else { 3 };
        broker.until("there is a spare one", |metrics| metrics.processes == expected).await?;
        expect("processes started", &broker.sandboxes.metrics().started, &(expected as u64))?;
    }
    Ok(())
}

/// Nobody else's place depends on a pass that was over before it had one.
async fn leaves_its_place() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| {
        (config.processes_max, config.workers_per_process_max) = (1, 1);
    })?;
    let host = Gate::new();
    let stays = async { end_of(&pass(&broker.executor, &host, WAITS, wall(PATIENCE)).await) };
    let waiting = async {
        host.seen(1).await?;
        let ended = pass(&broker.executor, &host, WAITS, wall(Duration::from_millis(50))).await;
        expect("a pass that waits for room", &end_of(&ended), &Err(DEADLINE.to_owned()))?;
        broker.until("nobody waits", |metrics| metrics.waiting == 0).await?;
        host.open();
        Ok::<_, String>(())
    };
    let (ended, waited) = futures::future::join(stays, waiting).await;
    waited?;
    expect("the pass that has room", &ended, &Ok("1".to_owned()))
}

/// As many calls as a pass may make, all at once.
async fn many_calls() -> Result<(), String> {
    const CALLS: u32 = 5_000;
    /// As many as a request may ask for.
    const AT_ONCE: u32 = 64;
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let host = Gate::new();
    let limits =
        CodeExecutionLimits { max_host_calls: CALLS, max_host_call_concurrency: Some(AT_ONCE), ..wall(PATIENCE) };
    let source =
        format!("async () => (await Promise.all(Array.from({{ length: {CALLS} }}, (_, n) => host.call(n)))).length");
    let opening = async {
        host.seen(AT_ONCE as usize).await?;
        host.open();
        Ok::<_, String>(())
    };
    let (ended, opened) = futures::future::join(pass(&broker.executor, &host, &source, limits), opening).await;
    expect("the pass", &end_of(&ended), &Ok(CALLS.to_string()))?;
    opened
}

/// A burst takes a process for each of its passes; after it there is the one that is ready for the next, and it works.
async fn given_up() -> Result<(), String> {
    const AT_ONCE: usize = 3;
    let broker = Broker::start(&[REAL], |config| {
        (config.processes_max, config.idle_max) = (AT_ONCE + 1, Duration::from_millis(1));
    })?;
    let host = Gate::new();
    let burst =
        join_all((0..AT_ONCE).map(|_| async { end_of(&pass(&broker.executor, &host, WAITS, wall(PATIENCE)).await) }));
    let all_there = async {
        host.seen(AT_ONCE).await?;
        expect("processes while all wait", &(broker.sandboxes.metrics().processes >= AT_ONCE), &true)?;
        host.open();
        Ok::<_, String>(())
    };
    let (ended, there) = futures::future::join(burst, all_there).await;
    there?;
    expect("the passes", &ended, &vec![Ok("1".to_owned()); AT_ONCE])?;
    broker.until("one is left", |metrics| metrics.processes == 1 && metrics.workers == 0).await?;
    let ended = pass(&broker.executor, &host, WAITS, wall(PATIENCE)).await;
    expect("a pass after it", &end_of(&ended), &Ok("1".to_owned()))?;
    let restarts = broker.sandboxes.metrics().restarts.iter().sum::<u64>();
    expect("processes that did not end in good order", &restarts, &0)
}

async fn retired_by_number() -> Result<(), String> {
    const LIFE: usize = 3;
    let broker = Broker::start(&[REAL], |config| (config.processes_max, config.workers_per_life_max) = (1, LIFE))?;
    let host = Gate::new();
    host.open();
    for _ in 0..3 * LIFE {
        let ended = pass(&broker.executor, &host, WAITS, wall(PATIENCE)).await;
        expect("a pass", &end_of(&ended), &Ok("1".to_owned()))?;
    }
    broker.until("three lives are over", |metrics| metrics.started >= 3).await?;
    let metrics = broker.sandboxes.metrics();
    expect("processes that did not end in good order", &metrics.restarts.iter().sum::<u64>(), &0)
}

/// Every process holds more than a page. One that is retired closes when nobody is in it, and the next takes over.
async fn retired_for_memory() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| (config.processes_max, config.retire_rss_bytes) = (1, 4096))?;
    let host = Gate::new();
    host.open();
    for retired in 1..=2 {
        let ended = pass(&broker.executor, &host, WAITS, wall(PATIENCE)).await;
        expect("a pass", &end_of(&ended), &Ok("1".to_owned()))?;
        broker.until("the process is retired", |metrics| metrics.retired_for_memory >= retired).await?;
    }
    let metrics = broker.sandboxes.metrics();
    expect("processes that did not end in good order", &metrics.restarts.iter().sum::<u64>(), &0)
}
