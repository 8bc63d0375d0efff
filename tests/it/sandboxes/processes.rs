//! Which process a pass goes to, and what becomes of it when the process goes.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use futures::future::join_all;
use libtest_mimic::Trial;
use loaderd_harness::{
    CodeExecutionLimits, CodeExecutionNamespace, CodeExecutionRequest, CodeExecutionResult, CodeExecutor, CodeHostCall,
    CodeHostCallOutcome, HostCallFuture, NetworkPolicy, PassFailure, PassHost, Tenant,
};
use loaderd_loader::sandbox::{Restart, SandboxConfig, SandboxMetrics, Sandboxes};
use loaderd_loader::{HostLimits, LoaderHost, LoaderOptions, ModuleSource, WorkerCode};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::sync::watch;

use super::{Broker, FAKE, Gate, PATIENCE, REAL, end_of, expect, pass, wall};
use crate::doors::rust::runtime;

const WAITS: &str = "async () => await host.call(1)";
const TERMINATED: &str = "CodeExecutorTerminatedError";
const NOT_STARTED: &str = "CodeExecutorStartError";
const DEADLINE: &str = "CodeExecutionTimeoutError";

type Check = fn() -> Result<(), String>;

pub(crate) fn trials() -> Vec<Trial> {
    let tests: Vec<(&str, Check)> = vec![
        ("tenants_never_share_a_process", || runtime().block_on(tenants())),
        ("a_tenant_that_wants_more_leaves_others_theirs", || runtime().block_on(left_theirs())),
        ("a_tenant_gets_what_others_do_not_use", || runtime().block_on(gets_the_unused())),
        ("a_tenant_without_a_process_gets_one", || runtime().block_on(gets_one())),
        ("a_tenant_that_asks_without_end_leaves_others_their_turn", || runtime().block_on(their_turn())),
        ("a_stopped_process_is_given_nothing_new", || runtime().block_on(stopped())),
        ("a_pass_that_has_not_started_is_placed_again", || runtime().block_on(placed_again())),
        ("a_pass_is_placed_again_once", || runtime().block_on(placed_again_once())),
        ("passes_whose_processes_are_killed_before_they_greet", || runtime().block_on(killed_before_greeting())),
        ("passes_where_no_process_starts", || runtime().block_on(none_starts())),
        ("one_process_is_ready_for_the_next", || runtime().block_on(spare())),
        ("a_process_that_dies_while_it_takes_no_more_is_recorded", || runtime().block_on(dies_retired())),
        ("a_pass_that_ends_while_it_waits_leaves_its_place", || runtime().block_on(leaves_its_place())),
        ("very_many_calls_wait_for_their_answers", || runtime().block_on(many_calls())),
        ("processes_that_nobody_uses_are_given_up", || runtime().block_on(given_up())),
        ("processes_are_retired_by_number", || runtime().block_on(retired_by_number())),
        ("processes_are_retired_when_memory_does_not_return", || runtime().block_on(retired_for_memory())),
        ("a_deaf_builtin_costs_its_process_and_is_counted", || runtime().block_on(deaf_builtin())),
        ("a_host_that_blocks_its_runtime_holds_up_nobody_else", || runtime().block_on(blocking_host())),
        ("a_runtime_that_goes_takes_no_process_with_it", || runtime().block_on(runtimes_that_go())),
        ("a_trap_that_v8_did_not_announce_is_no_memory_limit", || runtime().block_on(unannounced_trap())),
        ("tails_are_refused_by_name", || runtime().block_on(tails_are_refused())),
    ];
    tests
        .into_iter()
        .map(|(name, test)| Trial::test(format!("sandboxes::{name}"), move || test().map_err(Into::into)))
        .collect()
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

fn signal(pid: i32, signal: Signal) -> Result<(), String> {
    kill(Pid::from_raw(pid), signal).map_err(|error| error.to_string())
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

/// Two tenants with several passes each, and as few processes as that takes. One process dies: all passes of one
/// tenant end with it, and none of the other's.
async fn tenants() -> Result<(), String> {
    const EACH: usize = 4;
    let broker = Broker::start(&[REAL], |config| {
        (config.processes_max, config.workers_per_process_max) = (2, EACH);
    })?;
    let tenants = ["a", "b"].map(|label| broker.executor.for_tenant(Tenant::new(label).expect("a valid label")));
    let host = Gate::new();
    let passes = tenants
        .iter()
        .map(|tenant| join_all((0..EACH).map(|_| async { end_of(&pass(tenant, &host, WAITS, wall(PATIENCE)).await) })));
    let killing = async {
        host.seen(2 * EACH).await?;
        let pids = broker.sandboxes.pids();
        expect("the number of processes", &pids.len(), &2)?;
        signal(pids[0], Signal::SIGKILL)?;
        broker.until("the death is noticed", |metrics| metrics.restarted(Restart::Killed) == 1).await?;
        host.open();
        Ok::<_, String>(())
    };
    let (ends, killed) = futures::future::join(join_all(passes), killing).await;
    killed?;
    let died = ends.iter().filter(|ends| ends.iter().all(|end| *end == Err(TERMINATED.to_owned()))).count();
    let lived = ends.iter().filter(|ends| ends.iter().all(|end| *end == Ok("1".to_owned()))).count();
    expect("tenants whose passes all died, and all lived", &(died, lived), &(1, 1))
        .map_err(|e| format!("{e}: {ends:?}"))
}

/// A broker with room for two passes, a process each, and two tenants. The second one has run a pass.
async fn two_tenants(idle_kept: Duration) -> Result<(Broker, [CodeExecutor; 2]), String> {
    let broker = Broker::start(&[REAL], |config| {
        (config.processes_max, config.workers_per_process_max, config.idle_kept) = (2, 1, idle_kept);
    })?;
    let tenants = ["a", "b"].map(|label| broker.executor.for_tenant(Tenant::new(label).expect("a valid label")));
    let host = Gate::new();
    host.open();
    expect("a pass of b", &end_of(&pass(&tenants[1], &host, WAITS, wall(PATIENCE)).await), &Ok("1".to_owned()))?;
    broker.until("nobody is in the process", |metrics| metrics.workers == 0).await?;
    Ok((broker, tenants))
}

/// One tenant has more passes than processes; another's process, not in use for the moment, stays that one's.
async fn left_theirs() -> Result<(), String> {
    let (broker, [a, b]) = two_tenants(PATIENCE * 60).await?;
    let (host, open) = (Gate::new(), Gate::new());
    open.open();
    let many = join_all((0..3).map(|_| async { end_of(&pass(&a, &host, WAITS, wall(PATIENCE)).await) }));
    let beside = async {
        host.seen(1).await?;
        broker.until("the others wait", |metrics| metrics.waiting == 2).await?;
        for _ in 0..3 {
            expect("a pass of b", &end_of(&pass(&b, &open, WAITS, wall(PATIENCE)).await), &Ok("1".to_owned()))?;
        }
        expect("processes started", &broker.sandboxes.metrics().started, &2)?;
        host.open();
        Ok::<_, String>(())
    };
    let (many, beside) = futures::future::join(many, beside).await;
    beside?;
    expect("the passes of a", &many, &vec![Ok("1".to_owned()); 3])
}

/// The same, where the other has not used its process for long.
async fn gets_the_unused() -> Result<(), String> {
    let (_broker, [a, _]) = two_tenants(Duration::ZERO).await?;
    let host = Gate::new();
    let both = join_all((0..2).map(|_| async { end_of(&pass(&a, &host, WAITS, wall(PATIENCE)).await) }));
    let seen = async {
        host.seen(2).await?;
        host.open();
        Ok::<_, String>(())
    };
    let (both, seen) = futures::future::join(both, seen).await;
    seen?;
    expect("the passes of a", &both, &vec![Ok("1".to_owned()); 2])
}

/// Both processes are another's, one of them just used: who has none gets that.
async fn gets_one() -> Result<(), String> {
    let (broker, [a, b]) = two_tenants(PATIENCE * 60).await?;
    let newcomer = broker.executor.for_tenant(Tenant::new("c").expect("a valid label"));
    let (host, open) = (Gate::new(), Gate::new());
    open.open();
    let held = async { end_of(&pass(&a, &host, WAITS, wall(PATIENCE)).await) };
    let beside = async {
        host.seen(1).await?;
        for tenant in [&newcomer, &b, &newcomer] {
            expect("a pass", &end_of(&pass(tenant, &open, WAITS, wall(PATIENCE)).await), &Ok("1".to_owned()))?;
        }
        host.open();
        Ok::<_, String>(())
    };
    let (held, beside) = futures::future::join(held, beside).await;
    beside?;
    expect("the pass of a", &held, &Ok("1".to_owned()))
}

/// One tenant wants more than may wait: it is refused what is over its share; another's pass still has a place, and does not
/// have to wait until all of those are done.
async fn their_turn() -> Result<(), String> {
    const PLACES: usize = 8;
    const ASKED: usize = 20;
    /// Three quarters of the places.
    const SHARE: usize = 6;
    let broker = Broker::start(&[REAL], |config| {
        (config.processes_max, config.workers_per_process_max, config.waiting_max) = (1, 1, PLACES);
    })?;
    let [a, b] = ["a", "b"].map(|label| broker.executor.for_tenant(Tenant::new(label).expect("a valid label")));
    let (host, open, ended) = (Gate::new(), Gate::new(), Mutex::new(Vec::new()));
    open.open();
    let run = async |tenant: &CodeExecutor, host: &Arc<Gate>, label: &'static str| {
        let end = end_of(&pass(tenant, host, WAITS, wall(PATIENCE)).await);
        if end == Ok("1".to_owned()) {
            ended.lock().expect("nobody panics").push(label);
        }
        end
    };
    expect("the first pass of b", &run(&b, &open, "first").await, &Ok("1".to_owned()))?;
    let first = run(&a, &host, "a");
    let flood = async {
        host.seen(1).await?;
        Ok::<_, String>(join_all((1..ASKED).map(|_| run(&a, &host, "a"))).await)
    };
    let beside = async {
        broker.until("as many wait as may", |metrics| metrics.waiting == SHARE).await?;
        let opening = async {
            broker.until("b has a place", |metrics| metrics.waiting == SHARE + 1).await?;
            host.open();
            Ok::<_, String>(())
        };
        let (end, opened) = futures::future::join(run(&b, &host, "b"), opening).await;
        expect("the pass of b", &end, &Ok("1".to_owned()))?;
        opened
    };
    let (first, flood, beside) = futures::future::join3(first, flood, beside).await;
    beside?;
    expect("the first pass of a", &first, &Ok("1".to_owned()))?;
    let refused: Vec<_> = flood?.into_iter().filter_map(Result::err).collect();
    expect("those refused", &refused, &vec![NOT_STARTED.to_owned(); ASKED - 1 - SHARE])?;
    let last = ended.lock().expect("nobody panics").last().copied();
    expect("whose pass ended last", &last, &Some("a"))
}

/// A process stands still. As soon as that is known, passes go to the other one, though a pass of the same tenant would have
/// been in company before; the one in it is none the worse for it. That a pass is elsewhere shows only while the process stands
/// there: on a busy machine it may be killed as hung first, and all begins again.
async fn stopped() -> Result<(), String> {
    const ROUNDS: usize = 5;
    for _ in 0..ROUNDS {
        if elsewhere_while_one_stands().await? {
            return Ok(());
        }
    }
    Err(format!("in {ROUNDS} rounds no pass began elsewhere before the stopped process was killed"))
}

/// One round: whether a pass began while the process that had been stopped was still there.
async fn elsewhere_while_one_stands() -> Result<bool, String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 2)?;
    let hung = |metrics: &SandboxMetrics| metrics.restarted(Restart::Hung) > 0;
    let (first, second) = (Gate::new(), Gate::new());
    for host in [&first, &second] {
        host.open();
    }
    expect("a pass", &end_of(&pass(&broker.executor, &first, WAITS, wall(PATIENCE)).await), &Ok("1".to_owned()))?;
    broker.until("there is a spare one", |metrics| metrics.processes == 2 && metrics.workers == 0).await?;
    let stopped = broker.sandboxes.pids()[0];
    signal(stopped, Signal::SIGSTOP)?;
    let beside = async {
        broker.until("it is known", |metrics| metrics.silent == 1 || hung(metrics)).await?;
        let begins = async {
            second.seen(1).await?;
            Ok::<_, String>(stands(stopped))
        };
        let ended = pass(&broker.executor, &second, WAITS, wall(PATIENCE));
        let (ended, begun) = futures::future::join(ended, begins).await;
        expect("a pass after that", &end_of(&ended), &Ok("1".to_owned()))?;
        // An error: it has been killed.
        let _ = signal(stopped, Signal::SIGCONT);
        begun
    };
    let held = pass(&broker.executor, &first, WAITS, wall(PATIENCE));
    let (held, begun) = futures::future::join(held, beside).await;
    let begun = begun?;
    expect("the pass in it", &end_of(&held), &Ok("1".to_owned()))?;
    let metrics = broker.sandboxes.metrics();
    let other = metrics.restarts.iter().sum::<u64>() - metrics.restarted(Restart::Hung);
    expect("processes that ended for another reason", &other, &0)?;
    Ok(begun)
}

/// Whether a process is there and stopped, as the system tells it.
fn stands(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('T'))
}

/// A process dies that had been given a pass and had not begun it: the pass runs in the next one.
async fn placed_again() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let host = Gate::new();
    host.open();
    // The first process runs, and then stands still, so that it cannot take what it is given.
    expect("a pass", &end_of(&pass(&broker.executor, &host, WAITS, wall(PATIENCE)).await), &Ok("1".to_owned()))?;
    broker.until("nobody is in the process", |metrics| metrics.workers == 0).await?;
    let stopped = broker.sandboxes.pids();
    signal(stopped[0], Signal::SIGSTOP)?;
    let killing = async {
        broker.until("the pass was given to the process", |metrics| metrics.workers == 1).await?;
        signal(stopped[0], Signal::SIGKILL)
    };
    let (ended, killed) = futures::future::join(pass(&broker.executor, &host, WAITS, wall(PATIENCE)), killing).await;
    killed?;
    expect("the pass", &end_of(&ended), &Ok("1".to_owned()))?;
    expect("processes started", &broker.sandboxes.metrics().started, &2)
}

/// Processes that die of every pass: it is tried twice and then told.
async fn placed_again_once() -> Result<(), String> {
    let broker = Broker::start(&[FAKE, "closed_at_load"], |config| config.processes_max = 1)?;
    let ended = pass(&broker.executor, &Gate::new(), WAITS, wall(PATIENCE)).await;
    expect("the pass", &end_of(&ended), &Err(TERMINATED.to_owned()))?;
    broker.until("both deaths are counted", |metrics| metrics.restarts.iter().sum::<u64>() >= 2).await?;
    expect("passes that ended", &broker.executor.metrics().ended.iter().sum::<u64>(), &1)
}

/// More passes than are in processes at once, and all processes are killed before they greet: each pass was in two of them
/// that were killed, and is told that; none is told that processes cannot be started.
async fn killed_before_greeting() -> Result<(), String> {
    const PASSES: usize = 2;
    let broker = Broker::start(&[FAKE, "nothing_at_greeting"], |config| {
        (config.processes_max, config.workers_per_process_max) = (1, 1);
    })?;
    let host = Gate::new();
    let passes = join_all((0..PASSES).map(|_| pass(&broker.executor, &host, WAITS, wall(PATIENCE))));
    let killing = async {
        loop {
            for pid in broker.sandboxes.pids() {
                // It may have ended meanwhile.
                let _ = signal(pid, Signal::SIGKILL);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::pin!(killing);
    let ended = tokio::select! {
        ended = passes => ended,
        () = killing => return Err("passes outlived their processes".to_owned()),
    };
    for pass in &ended {
        expect("a pass", &end_of(pass), &Err(TERMINATED.to_owned()))?;
    }
    expect("passes that ended", &broker.executor.metrics().ended.iter().sum::<u64>(), &(PASSES as u64))?;
    let two_each = 2 * PASSES as u64;
    broker.until("two are killed for each pass", |metrics| metrics.restarted(Restart::Killed) >= two_each).await?;
    expect("processes that never started", &broker.sandboxes.metrics().restarted(Restart::NeverStarted), &0)
}

/// Processes that exit before they greet: whether a pass was to be in one or waited for one, it is told that it cannot start.
async fn none_starts() -> Result<(), String> {
    const PASSES: usize = 6;
    let broker = Broker::start(&[FAKE, "closed_at_greeting"], |config| {
        (config.processes_max, config.workers_per_process_max) = (1, 1);
    })?;
    let host = Gate::new();
    for pass in join_all((0..PASSES).map(|_| pass(&broker.executor, &host, WAITS, wall(PATIENCE)))).await {
        expect("a pass", &end_of(&pass), &Err(NOT_STARTED.to_owned()))?;
        let Err(PassFailure::Error(error)) = pass else { return Err("not an error".to_owned()) };
        let said = error.error.to_string();
        expect("whether it says why", &said.contains("no sandbox process can be started"), &true)
            .map_err(|wrong| format!("{wrong}: {said}"))?;
    }
    broker.until("three never started", |metrics| metrics.restarted(Restart::NeverStarted) >= 3).await?;
    let metrics = broker.sandboxes.metrics();
    let other: u64 = metrics.restarts.iter().sum::<u64>() - metrics.restarted(Restart::NeverStarted);
    expect("processes that ended for another reason", &other, &0)
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

/// A process has had its number of Workers, and one of them is still in it when it is killed.
async fn dies_retired() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| {
        (config.processes_max, config.workers_per_process_max, config.workers_per_life_max) = (1, 2, 1);
    })?;
    let (first, second) = (Gate::new(), Gate::new());
    let stays = async { end_of(&pass(&broker.executor, &second, WAITS, wall(PATIENCE)).await) };
    let killing = async {
        second.seen(1).await?;
        first.open();
        let ended = pass(&broker.executor, &first, WAITS, wall(PATIENCE)).await;
        expect("the pass beside it", &end_of(&ended), &Ok("1".to_owned()))?;
        broker.until("one has left", |metrics| metrics.workers == 1).await?;
        for pid in broker.sandboxes.pids() {
            signal(pid, Signal::SIGKILL)?;
        }
        broker.until("the death is counted", |metrics| metrics.restarted(Restart::Killed) == 1).await
    };
    let (ended, killed) = futures::future::join(stays, killing).await;
    killed?;
    expect("the pass in it", &ended, &Err(TERMINATED.to_owned()))
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

/// The program is answered for its own limit, the process is killed, and the time past the limit is counted.
async fn deaf_builtin() -> Result<(), String> {
    const DEAF: &str = "async () => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)";
    let before = loaderd_runtime::limits::overshoot::snapshot();
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let limits = CodeExecutionLimits { cpu_millis: Some(20), ..wall(PATIENCE) };
    let ended = pass(&broker.executor, &Gate::new(), DEAF, limits).await;
    expect("the pass", &end_of(&ended), &Err("CodeExecutionTimeoutError".to_owned()))?;
    broker.until("its process is killed", |metrics| metrics.restarted(Restart::Stuck) == 1).await?;
    let beyond = loaderd_runtime::limits::overshoot::snapshot().since(&before);
    expect("limits counted as met", &beyond.counts.iter().sum::<u64>(), &1)?;
    let beyond = Duration::from_micros(beyond.sum_us);
    expect("whether CPU time past the limit is told", &beyond.is_zero(), &false)
}

/// A thread meets a trap of which V8 has said nothing, as a failed check of compiled code is: its pass is told that this was
/// no limit of its own, its neighbour that it was not at fault, and the process counts as one in which V8 failed.
async fn unannounced_trap() -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let host = Gate::new();
    let neighbour = async { message_of(&pass(&broker.executor, &host, WAITS, wall(PATIENCE)).await) };
    let spinning = async {
        host.seen(1).await?;
        let limits = CodeExecutionLimits { cpu_millis: None, ..wall(PATIENCE) };
        Ok::<_, String>(message_of(&pass(&broker.executor, &host, "async () => { for (;;); }", limits).await))
    };
    let trapping = async {
        host.seen(1).await?;
        let process = broker.sandboxes.pids()[0];
        let deadline = Instant::now() + PATIENCE;
        let thread = loop {
            match busy_isolate(process)? {
                Some(thread) => break thread,
                None if Instant::now() < deadline => tokio::time::sleep(Duration::from_millis(5)).await,
                None => return Err("no isolate is busy".to_owned()),
            }
        };
        // SAFETY: asks the system for a signal to a thread of another process.
        match unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGTRAP) } {
            0 => broker.until("it is counted", |metrics| metrics.restarted(Restart::V8Check) == 1).await,
            _ => Err(std::io::Error::last_os_error().to_string()),
        }
    };
    let (neighbour, spinning, trapped) = futures::future::join3(neighbour, spinning, trapping).await;
    trapped?;
    let terminated = |message: &str| format!("{TERMINATED}: {message}");
    expect("the pass", &spinning?, &terminated("internal error: the isolate running this Worker was ended"))?;
    let innocent =
        "The sandbox process of this Worker ended because of another Worker in it; this Worker was not at fault.";
    expect("its neighbour", &neighbour, &terminated(innocent))
}

fn message_of(outcome: &Result<CodeExecutionResult, PassFailure>) -> String {
    match outcome {
        Ok(result) => result.value.as_str().to_owned(),
        Err(PassFailure::Error(error)) => format!("{}: {error}", error.error.tag()),
        Err(other) => other.to_string(),
    }
}

/// The thread of an isolate that has used some CPU time and runs now.
fn busy_isolate(process: i32) -> Result<Option<i32>, String> {
    /// Clock ticks of 10 ms. None of the isolates that wait to be used has needed as much.
    const BUSY_TICKS: u64 = 20;
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).map_err(|error| error.to_string())?;
    for task in tasks.flatten() {
        // A thread may end meanwhile.
        let Ok(stat) = std::fs::read_to_string(task.path().join("stat")) else { continue };
        let Some((name, fields)) = stat.rsplit_once(") ") else { continue };
        let fields: Vec<&str> = fields.split(' ').collect();
        let ticks = fields.get(11).and_then(|ticks| ticks.parse::<u64>().ok()).unwrap_or(0);
        if name.ends_with("(isolate") && ticks >= BUSY_TICKS {
            return Ok(task.file_name().to_str().and_then(|thread| thread.parse().ok()));
        }
    }
    Ok(None)
}
