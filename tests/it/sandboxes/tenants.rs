//! Who gets which process, and whose turn it is, where there are several tenants.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use libtest_mimic::Trial;
use loaderd_harness::{CodeExecutor, Tenant};
use loaderd_loader::sandbox::Restart;
use nix::sys::signal::Signal;

use super::{Broker, Check, Gate, PATIENCE, REAL, TERMINATED, WAITS, end_of, expect, pass, signal, trials_of, wall};
use crate::doors::rust::runtime;

const NOT_STARTED: &str = "CodeExecutorStartError";

pub(crate) fn trials() -> Vec<Trial> {
    let tests: Vec<(&str, Check)> = vec![
        ("tenants_never_share_a_process", || runtime().block_on(tenants())),
        ("a_tenant_that_wants_more_leaves_others_theirs", || runtime().block_on(left_theirs())),
        ("a_tenant_gets_what_others_do_not_use", || runtime().block_on(gets_the_unused())),
        ("a_tenant_without_a_process_gets_one", || runtime().block_on(gets_one())),
        ("a_tenant_that_asks_without_end_leaves_others_their_turn", || runtime().block_on(their_turn())),
    ];
    trials_of(tests)
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
