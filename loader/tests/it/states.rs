//! How Workers start, wait, fail, are evicted and come back; with a placement that does what the test says.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loaderd_loader::{
    Caller, GlobalOutbound, HostLimits, LoaderError, LoaderOptions, ModuleSource, Overload, WorkerCode, WorkerLoader,
    WorkerStub,
};
use loaderd_runtime::error::Blame;
use loaderd_runtime::isolate::{LoadError, LoadPhase, LoadReport};
use loaderd_runtime::limits::{Cause, ResourceLimits};
use loaderd_runtime::modules::ModuleContent;
use loaderd_runtime::rpc::{Message, RpcError};

use crate::scripted::Scripted;

const NO_LIMITS: ResourceLimits = ResourceLimits { cpu_ms: None, sub_requests: None };

pub(crate) fn code() -> WorkerCode {
    WorkerCode::new("2026-07-01", "m.js").module("m.js", ModuleSource::ByName("export default {}".into()))
}

fn failure() -> LoaderError {
    LoaderError::Start(LoadError {
        message: "Failed to start Worker:\nUncaught Error: st\n  at m.js:1:7".into(),
        phase: LoadPhase::Evaluate,
        cause: None,
        blame: Blame::Program,
        startup_cpu: None,
    })
}

/// Lets the tasks that were spawned run until they wait.
async fn settle() {
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn calls_wait_for_the_start_and_arrive_in_order() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let stub = host.loader(LoaderOptions::default()).load(code()).expect("loads");
    let entrypoint = stub.entrypoint(None, None, NO_LIMITS);
    let first = entrypoint.call_method("first", Message::default());
    let second = entrypoint.call_method("second", Message::default());
    let isolate = placement.isolate(0);
    assert_eq!(isolate.methods(), Vec::<String>::new());
    assert_eq!(stub.load_report(), None);

    let report = LoadReport { startup_cpu: Duration::from_micros(7), ..LoadReport::default() };
    isolate.start(Ok(report.clone()));
    assert_eq!(isolate.methods(), ["first", "second"]);
    assert_eq!(stub.ready().await, Ok(report.clone()));
    assert_eq!(stub.load_report(), Some(report));
    let third = entrypoint.call_method("third", Message::default());
    assert_eq!(isolate.methods(), ["first", "second", "third"]);
    for (index, call) in [first, second, third].into_iter().enumerate() {
        isolate.answer(index);
        assert!(call.await.result.is_ok());
    }
}

#[tokio::test]
async fn a_failed_start_is_the_error_of_each_call_and_of_ready() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let stub = host.loader(LoaderOptions::default()).load(code()).expect("loads");
    let entrypoint = stub.entrypoint(None, None, NO_LIMITS);
    let early = entrypoint.call_method("early", Message::default());
    placement.isolate(0).start(Err(failure()));
    placement.isolate(0).gone();
    assert_eq!(stub.ready().await, Err(failure()));
    for call in [early, entrypoint.call_method("late", Message::default())] {
        let error = call.await.result.expect_err("fails");
        assert_eq!(error.message, failure().to_string());
    }
    assert_eq!(placement.starts(), 1, "a failed Worker is not started again");
    assert_eq!(host.metrics().load_failures, 1);
    assert_eq!(host.metrics().alive, 0);
}

#[tokio::test]
async fn the_cpu_time_of_starts_never_becomes_less() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let loader = host.loader(LoaderOptions::default());
    for (index, cpu_us) in [7, u64::MAX, 7].into_iter().enumerate() {
        let before = host.metrics().startup_cpu;
        let _stub = loader.load(code()).expect("loads");
        let report = LoadReport { startup_cpu: Duration::from_micros(cpu_us), ..LoadReport::default() };
        placement.isolate(index).start(Ok(report));
        assert!(host.metrics().startup_cpu >= before, "{before:?}, and then {cpu_us} us more");
    }
}

#[tokio::test]
async fn gets_of_one_name_share_one_load_and_names_keep_their_worker() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let loader = host.loader(LoaderOptions::default());
    let asked = Arc::new(AtomicUsize::new(0));
    let get = |id: Option<&str>| {
        let asked = asked.clone();
        loader.get(id, move || {
            asked.fetch_add(1, Ordering::Relaxed);
            async { Ok(code()) }
        })
    };
    let stubs = [get(Some("a")), get(Some("a"))];
    settle().await;
    assert_eq!((asked.load(Ordering::Relaxed), placement.starts()), (1, 1));
    placement.isolate(0).start(Ok(LoadReport::default()));
    for stub in &stubs {
        assert!(stub.ready().await.is_ok());
    }
    let _third = get(Some("a"));
    let _empty = get(Some(""));
    let _nameless = (get(None), get(None));
    settle().await;
    assert_eq!((asked.load(Ordering::Relaxed), placement.starts()), (4, 4), "\"\" is a name, no name is always fresh");
}

#[tokio::test]
async fn a_load_that_failed_is_tried_again_by_the_next_get() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let loader = host.loader(LoaderOptions::default());

    let refused = loader.get(Some("a"), || async { Err(RpcError::new("RangeError", "no code today")) });
    assert_eq!(refused.ready().await.expect_err("fails").to_string(), "RangeError: no code today");
    let answer = refused.entrypoint(None, None, NO_LIMITS).call_method("x", Message::default()).await;
    assert_eq!(answer.result.expect_err("fails").name, "RangeError");

    let bad = loader.get(Some("a"), || async { Ok(WorkerCode::new("nonsense", "m.js")) });
    let error = bad.ready().await.expect_err("fails");
    assert_eq!(error.to_string(), "Dynamic Worker code must contain at least one module.");
    assert_eq!(error.blame(), Blame::Host);

    let broken = loader.get(Some("a"), || async { Ok(code()) });
    settle().await;
    placement.isolate(0).start(Err(failure()));
    assert_eq!(broken.ready().await, Err(failure()));

    let good = loader.get(Some("a"), || async { Ok(code()) });
    settle().await;
    placement.isolate(1).start(Ok(LoadReport::default()));
    assert!(good.ready().await.is_ok());
}

#[tokio::test]
async fn a_worker_that_met_a_limit_is_fresh_for_the_next_call_and_the_next_get() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let loader = host.loader(LoaderOptions::default());
    let stub = loader.get(Some("a"), || async { Ok(code()) });
    settle().await;
    let first = placement.isolate(0);
    first.start(Ok(LoadReport::default()));
    let entrypoint = stub.entrypoint(None, None, NO_LIMITS);
    let _spins = entrypoint.call_method("spin", Message::default());
    first.condemn(Cause::ExceededCpu);

    // Its end is not known to the loader yet; the call is not to suffer for it.
    let call = entrypoint.call_method("next", Message::default());
    assert_eq!(placement.starts(), 2);
    placement.isolate(1).start(Ok(LoadReport::default()));
    placement.isolate(1).answer(0);
    assert!(call.await.result.is_ok());
    first.gone();
    assert_eq!(host.metrics().alive, 1);

    let _again = loader.get(Some("a"), || async { Ok(code()) });
    settle().await;
    assert_eq!(placement.starts(), 3, "the cache forgot it");
}

#[tokio::test]
async fn the_least_recently_used_idle_worker_is_evicted_and_comes_back_when_called() {
    let limits = HostLimits { idle_isolates_max: 2, ..HostLimits::default() };
    let (placement, host) = Scripted::host(limits);
    let loader = host.loader(LoaderOptions::default());
    let mut stubs = Vec::new();
    for index in 0..3 {
        stubs.push(loader.load(code()).expect("loads"));
        if index == 2 {
            // Used again: the second is the least recently used now.
            let call = stubs[0].entrypoint(None, None, NO_LIMITS).call_method("x", Message::default());
            placement.isolate(0).answer(0);
            assert!(call.await.result.is_ok());
        }
        placement.isolate(index).start(Ok(LoadReport::default()));
    }
    let ended = || (0..3).map(|index| placement.isolate(index).cause()).collect::<Vec<_>>();
    assert_eq!(ended(), [None, Some(Cause::Shutdown), None]);
    assert_eq!((host.metrics().evicted, host.metrics().idle), (1, 2));

    let call = stubs[1].entrypoint(None, None, NO_LIMITS).call_method("back", Message::default());
    assert_eq!(placement.starts(), 4);
    placement.isolate(3).start(Ok(LoadReport::default()));
    placement.isolate(3).answer(0);
    assert!(call.await.result.is_ok());
}

#[tokio::test]
async fn a_busy_worker_is_never_evicted_and_a_full_host_refuses() {
    let limits = HostLimits { live_isolates_max: 1, ..HostLimits::default() };
    let (placement, host) = Scripted::host(limits);
    let loader = host.loader(LoaderOptions::default());
    let stub = loader.load(code()).expect("loads");
    placement.isolate(0).start(Ok(LoadReport::default()));
    let call = stub.entrypoint(None, None, NO_LIMITS).call_method("x", Message::default());

    let error = loader.load(code()).err().expect("is refused");
    assert_eq!(error, LoaderError::Overloaded(Overload::LiveIsolates { live: 1, max: 1 }));
    assert!(error.to_rpc().overloaded);
    assert_eq!(error.blame(), Blame::Platform);
    assert_eq!(host.metrics().refused, 1);

    placement.isolate(0).answer(0);
    assert!(call.await.result.is_ok());
    let second = loader.load(code()).expect("the idle one makes room");
    assert_eq!(placement.isolate(0).cause(), Some(Cause::Shutdown));
    drop(second);
    assert_eq!(placement.isolate(1).cause(), Some(Cause::Shutdown), "nobody holds it");
}

#[tokio::test]
async fn a_tenant_leaves_isolates_to_others_and_with_its_share_evicts_only_its_own() {
    const MAX: usize = 8;
    let limits = HostLimits { live_isolates_max: MAX, ..HostLimits::default() };
    let (placement, host) = Scripted::host(limits);
    let loader = host.loader(LoaderOptions::default());
    let [a, b, c] = ["a", "b", "c"].map(|tenant| loader.for_tenant(tenant.into()));

    // Somebody else has asked, so a tenant that takes what it can get leaves some.
    let idle = b.load(code()).expect("loads");
    placement.isolate(0).start(Ok(LoadReport::default()));
    let (of_a, error) = fill(&a);
    assert_eq!(of_a.len(), 6);
    assert_eq!(error, LoaderError::Overloaded(Overload::LiveIsolatesOfTenant { held: 6, max: MAX }));
    assert!(error.to_rpc().overloaded);
    assert_eq!(placement.isolate(0).cause(), None, "three quarters without it");
    let first = c.load(code()).expect("who comes later finds one");

    // What it has idle itself makes room for it.
    placement.isolate(1).start(Ok(LoadReport::default()));
    let again = a.load(code()).expect("its idle one makes room");
    assert_eq!(placement.isolate(1).cause(), Some(Cause::Shutdown));
    assert_eq!(placement.isolate(0).cause(), None);

    // Who holds little finds room where anybody has one idle.
    let second = c.load(code()).expect("an idle one makes room");
    assert_eq!(placement.isolate(0).cause(), Some(Cause::Shutdown));
    drop((idle, of_a, first, again, second));
}

/// Loads as many as there is room for, and what comes of one more.
fn fill(loader: &WorkerLoader) -> (Vec<WorkerStub>, LoaderError) {
    let mut stubs = Vec::new();
    loop {
        match loader.load(code()) {
            Ok(stub) => stubs.push(stub),
            Err(error) => return (stubs, error),
        }
    }
}

#[tokio::test]
async fn what_others_left_idle_makes_room_up_to_a_tenants_share() {
    const MAX: usize = 8;
    let limits = HostLimits { live_isolates_max: MAX, ..HostLimits::default() };
    let (placement, host) = Scripted::host(limits);
    let loader = host.loader(LoaderOptions::default());
    let [a, b, c] = ["a", "b", "c"].map(|tenant| loader.for_tenant(tenant.into()));
    let mut kept = Vec::new();
    for (index, tenant) in [&c, &b, &b, &b].into_iter().enumerate() {
        kept.push(tenant.load(code()).expect("loads"));
        placement.isolate(index).start(Ok(LoadReport::default()));
    }
    let (of_a, error) = fill(&a);
    let evicted = || (0..4).map(|index| placement.isolate(index).cause().is_some()).collect::<Vec<_>>();
    assert_eq!(of_a.len(), 6, "three quarters");
    assert_eq!(error, LoaderError::Overloaded(Overload::LiveIsolatesOfTenant { held: 6, max: MAX }));
    // Of whoever has most idle ones, the least recently used first.
    assert_eq!(evicted(), [false, true, true, false]);
    assert_eq!((host.metrics().evicted, host.metrics().idle), (2, 2));
    drop((kept, of_a));
}

#[tokio::test]
async fn a_place_without_room_refuses_and_is_asked_again_by_the_next_call() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let loader = host.loader(LoaderOptions::default());
    let stub = loader.load(code()).expect("loads");
    placement.isolate(0).start(Ok(LoadReport::default()));
    placement.isolate(0).gone();

    let full = LoaderError::Overloaded(Overload::Starting { max: 1 });
    placement.refuse(Some(full.clone()));
    assert_eq!(loader.load(code()).err(), Some(full.clone()));
    let cached = loader.get(Some("a"), || async { Ok(code()) });
    assert_eq!(cached.ready().await, Err(full.clone()));
    let call = |stub: &WorkerStub| stub.entrypoint(None, None, NO_LIMITS).call_method("x", Message::default());
    for stub in [&stub, &cached] {
        let error = call(stub).await.result.expect_err("there is no room");
        assert!(error.overloaded && error.message == full.to_string(), "{}", error.message);
        assert_eq!(stub.ready().await, Err(full.clone()));
    }
    assert_eq!(host.metrics().alive, 0);

    placement.refuse(None);
    for stub in [stub, cached] {
        let answer = call(&stub);
        let isolate = placement.isolate(placement.starts() - 1);
        isolate.start(Ok(LoadReport::default()));
        isolate.answer(0);
        assert!(answer.await.result.is_ok());
    }
}

/// Code of a Worker that takes about so many bytes.
fn large(bytes: usize) -> WorkerCode {
    code().module("large.txt", ModuleContent::Text("x".repeat(bytes).into()))
}

#[tokio::test]
async fn code_counts_as_long_as_somebody_holds_it_and_a_host_that_is_full_of_it_refuses() {
    const MAX: usize = 10_000;
    let limits = HostLimits { held_code_bytes_max: MAX, ..HostLimits::default() };
    let (placement, host) = Scripted::host(limits);
    let loader = host.loader(LoaderOptions::default());
    let first = loader.load(large(6_000)).expect("there is room");
    placement.isolate(0).start(Ok(LoadReport::default()));
    let held = host.metrics().held_code_bytes;
    assert!((6_000..7_000).contains(&held), "{held}");

    // The first is idle, and evicting it would free nothing: its stub is held, so that it may be called again.
    let error = loader.load(large(5_000)).err().expect("is refused");
    let LoaderError::Overloaded(Overload::CodeBytes { bytes, held: said, max: MAX }) = error else {
        panic!("{error}");
    };
    assert!((5_000..6_000).contains(&bytes) && said == held, "{error}");
    assert!(error.to_rpc().overloaded && error.blame() == Blame::Platform, "{error}");
    assert_eq!((host.metrics().refused, placement.starts()), (1, 1));
    assert_eq!(placement.isolate(0).cause(), None);
    let refused = loader.get(Some("b"), || async { Ok(large(5_000)) });
    assert_eq!(refused.ready().await, Err(error));

    drop(first);
    assert_eq!(host.metrics().held_code_bytes, 0, "nobody can call it");
    drop(loader.load(large(5_000)).expect("there is room again"));
}

#[tokio::test]
async fn idle_workers_that_only_their_cache_holds_make_room_for_code() {
    let limits = HostLimits { held_code_bytes_max: 10_000, ..HostLimits::default() };
    let (placement, host) = Scripted::host(limits);
    let loader = host.loader(LoaderOptions::default());
    let cached = |name: &'static str| loader.get(Some(name), || async { Ok(large(3_000)) });
    let (kept, second) = (cached("a"), cached("b"));
    settle().await;
    for index in 0..2 {
        placement.isolate(index).start(Ok(LoadReport::default()));
    }
    drop(second);
    assert_eq!(host.metrics().evicted, 0, "both are kept warm");

    let third = loader.load(large(5_000)).expect("one makes room");
    assert_eq!([0, 1].map(|index| placement.isolate(index).cause()), [None, Some(Cause::Shutdown)]);
    assert_eq!(host.metrics().evicted, 1);
    drop((kept, third));
}

#[tokio::test]
async fn an_ended_worker_stays_ended() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let stub = host.loader(LoaderOptions::default()).load(code()).expect("loads");
    let entrypoint = stub.entrypoint(None, None, NO_LIMITS);
    let waiting = entrypoint.call_method("x", Message::default());
    stub.end(Cause::ExceededWallTime);
    stub.end(Cause::Canceled);
    assert_eq!(placement.isolate(0).cause(), Some(Cause::ExceededWallTime));
    placement.isolate(0).start(Err(LoaderError::Ended(Cause::ExceededWallTime)));
    placement.isolate(0).gone();
    for call in [waiting, entrypoint.call_method("y", Message::default())] {
        let error = call.await.result.expect_err("ended");
        assert_eq!(error.cause, Some(Cause::ExceededWallTime));
        assert_eq!(error.message, Cause::ExceededWallTime.message());
    }
    assert_eq!(stub.ready().await, Err(LoaderError::Ended(Cause::ExceededWallTime)));
    assert_eq!(placement.starts(), 1);
}

#[tokio::test]
async fn dropping_a_call_cancels_it_waiting_or_running() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let stub = host.loader(LoaderOptions::default()).load(code()).expect("loads");
    let entrypoint = stub.entrypoint(None, None, NO_LIMITS);
    drop(entrypoint.call_method("waiting", Message::default()));
    let running = entrypoint.call_method("running", Message::default());
    placement.isolate(0).start(Ok(LoadReport::default()));
    assert_eq!(placement.isolate(0).methods(), ["running"]);
    drop(running);
    assert_eq!(placement.isolate(0).call_ended(0), Some(Cause::Canceled));
}

#[tokio::test]
async fn an_open_call_keeps_its_worker() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let stub = host.loader(LoaderOptions::default()).load(code()).expect("loads");
    let entrypoint = stub.entrypoint(None, None, NO_LIMITS);
    placement.isolate(0).start(Ok(LoadReport::default()));
    let call = entrypoint.call_method("x", Message::default());
    drop((stub, entrypoint));
    assert_eq!(placement.isolate(0).cause(), None);
    placement.isolate(0).answer(0);
    assert!(call.await.result.is_ok());
    assert_eq!(placement.isolate(0).cause(), Some(Cause::Shutdown));
}

#[tokio::test]
async fn the_lowest_limit_wins_field_by_field() {
    let host_limits = ResourceLimits { cpu_ms: Some(100), sub_requests: Some(50) };
    let cases = [
        // (code, entrypoint, effective)
        (NO_LIMITS, NO_LIMITS, host_limits),
        (
            ResourceLimits { cpu_ms: Some(10), sub_requests: None },
            NO_LIMITS,
            ResourceLimits { cpu_ms: Some(10), sub_requests: Some(50) },
        ),
        (
            ResourceLimits { cpu_ms: Some(10), sub_requests: Some(500) },
            ResourceLimits { cpu_ms: Some(20), sub_requests: Some(5) },
            ResourceLimits { cpu_ms: Some(10), sub_requests: Some(5) },
        ),
        (
            ResourceLimits { cpu_ms: Some(20), sub_requests: None },
            ResourceLimits { cpu_ms: Some(0), sub_requests: Some(1) },
            ResourceLimits { cpu_ms: Some(0), sub_requests: Some(1) },
        ),
    ];
    let limits = HostLimits { invocation: host_limits, ..HostLimits::default() };
    let (placement, host) = Scripted::host(limits);
    for (index, (code_limits, entrypoint_limits, effective)) in cases.into_iter().enumerate() {
        let code = WorkerCode { limits: code_limits, global_outbound: GlobalOutbound::None, ..code() };
        let stub = host.loader(LoaderOptions::default()).load(code).expect("loads");
        let isolate = placement.isolate(index);
        isolate.start(Ok(LoadReport::default()));
        let _call = stub.entrypoint(None, None, entrypoint_limits).call_method("x", Message::default());
        assert_eq!(isolate.code.limits, host_limits.lowest(code_limits), "case {index}");
        assert_eq!(isolate.spec(0).limits, effective, "case {index}");
    }
}

#[tokio::test]
async fn a_caller_may_run_so_many_distinct_workers_at_once() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let loader = host.loader(LoaderOptions::default());
    let caller = Caller::new(2);
    let stubs: Vec<_> = (0..3).map(|_| loader.load(code()).expect("loads")).collect();
    for index in 0..3 {
        placement.isolate(index).start(Ok(LoadReport::default()));
    }
    let entrypoints: Vec<_> =
        stubs.iter().map(|stub| stub.entrypoint(None, None, NO_LIMITS).for_caller(caller.clone())).collect();
    let first = entrypoints[0].call_method("x", Message::default());
    let _same = entrypoints[0].call_method("x", Message::default());
    let _second = entrypoints[1].call_method("x", Message::default());
    let error = entrypoints[2].call_method("x", Message::default()).await.result.expect_err("refused");
    assert_eq!(
        error.message,
        "Dynamic worker concurrency limit exceeded: each request may have up to 2 concurrent dynamic worker \
         invocations. Wait for one to finish before starting another."
    );
    assert!(error.overloaded);

    placement.isolate(1).answer(0);
    let third = entrypoints[2].call_method("x", Message::default());
    placement.isolate(2).answer(0);
    assert!(third.await.result.is_ok(), "a place is free when an invocation ends");
    placement.isolate(0).answer(0);
    assert!(first.await.result.is_ok());
    let free = stubs[1].entrypoint(None, None, NO_LIMITS).call_method("x", Message::default());
    placement.isolate(1).answer(1);
    assert!(free.await.result.is_ok(), "without a caller nothing is counted");
}

#[tokio::test]
async fn forgetting_the_cache_loads_each_name_anew() {
    let (placement, host) = Scripted::host(HostLimits::default());
    let loader = host.loader(LoaderOptions::default());
    let old = loader.get(Some("a"), || async { Ok(code()) });
    settle().await;
    placement.isolate(0).start(Ok(LoadReport::default()));
    loader.forget_all();
    assert_eq!(placement.isolate(0).cause(), None, "its stub is still held");
    let _new = loader.get(Some("a"), || async { Ok(code()) });
    settle().await;
    assert_eq!(placement.starts(), 2);
    drop(old);
    assert_eq!(placement.isolate(0).cause(), Some(Cause::Shutdown));
}
