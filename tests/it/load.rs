//! `examples/load` under load: 50 clients at a time, each of whose requests loads a fresh Worker that calls its host three
//! times, beside one that spins. Every answer is right, and nothing is left of it.
//!
//! The short form is part of `make test`; `make load` runs a minute and says how it went.

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::proc::{self, Held};
use crate::server;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/load");

/// Clients at work at the same time.
const CLIENTS: u64 = 50;
/// Requests of the short form, and of the warm-up before what the server holds is looked at.
const SHORT: u64 = 100;
const WARM_UP: u64 = 50;
/// How long the long form runs.
const LONG: Duration = Duration::from_secs(60);
/// Workers that spin while the short form runs.
const SPINS: u64 = 2;

/// When the clients stop.
#[derive(Clone, Copy)]
enum Until {
    Requests(u64),
    Time(Duration),
}

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name: &str, until| Trial::test(format!("load::{name}"), move || load(until).map_err(Into::into));
    vec![trial("short", Until::Requests(SHORT)), trial("minute", Until::Time(LONG)).with_ignored_flag(true)]
}

fn load(until: Until) -> Result<(), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loaderd"));
    command.args(["serve", "--experimental", "--control-fd=1", "config.capnp"]).current_dir(FOLDER);
    let (server, port) = server::start(&mut command)?;
    let pid = server.0.id();
    // As much as it takes until every thread and heap has had its turn.
    clients(port, if let Until::Time(time) = until { Until::Time(time / 2) } else { Until::Requests(WARM_UP) })?;
    let before = proc::at_rest(pid)?;
    let started = Instant::now();
    let latencies = clients(port, until)?;
    let elapsed = started.elapsed();
    let after = proc::at_rest(pid)?;
    report(latencies, elapsed, &before, &after);
    // Isolates that were made for the pool, or whose threads are ending, come and go.
    proc::settles(pid, &Held { threads: before.threads + 2, descriptors: before.descriptors + 2, ..before })?;
    // Fifty heaps come and go, so what is resident moves by some of them.
    if matches!(until, Until::Time(_)) && after.rss_kib > before.rss_kib + before.rss_kib / 5 {
        return Err(format!("memory grew from {} to {} KiB", before.rss_kib, after.rss_kib));
    }
    Ok(())
}

/// Runs the clients, and one more whose Workers spin, and gives how long each request took.
fn clients(port: u16, until: Until) -> Result<Vec<Duration>, String> {
    let started = Instant::now();
    let next = AtomicU64::new(0);
    let latencies = Mutex::new(Vec::new());
    let goes_on = |number: u64| match until {
        Until::Requests(count) => number < count,
        Until::Time(time) => started.elapsed() < time,
    };
    std::thread::scope(|scope| {
        let client = || {
            let agent = agent();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if !goes_on(number) {
                    return Ok(());
                }
                let asked = Instant::now();
                let answer = get(&agent, port, &format!("/?n={number}"))?;
                let took = asked.elapsed();
                if answer != (200, format!("{}", number * 8)) {
                    return Err(format!("request {number}: {answer:?}"));
                }
                latencies.lock().map_err(|_| "a client panicked")?.push(took);
            }
        };
        let spinner = || {
            let agent = agent();
            let mut spins = 0;
            while match until {
                Until::Requests(_) => spins < SPINS,
                Until::Time(time) => started.elapsed() < time,
            } {
                let answer = get(&agent, port, "/spin")?;
                if answer != (503, "Worker exceeded CPU time limit.".to_owned()) {
                    return Err(format!("a Worker that spins: {answer:?}"));
                }
                spins += 1;
            }
            Ok::<_, String>(())
        };
        let spinning = scope.spawn(spinner);
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        for client in clients {
            client.join().map_err(|_| "a client panicked")??;
        }
        spinning.join().map_err(|_| "a client panicked")?
    })?;
    latencies.into_inner().map_err(|_| "a client panicked".to_owned())
}

fn agent() -> ureq::Agent {
    ureq::Agent::new_with_config(ureq::Agent::config_builder().http_status_as_error(false).build())
}

fn get(agent: &ureq::Agent, port: u16, path: &str) -> Result<(u16, String), String> {
    let answer = agent.get(format!("http://127.0.0.1:{port}{path}")).call().map_err(|error| error.to_string())?;
    let status = answer.status().as_u16();
    let text = answer.into_body().read_to_string().map_err(|error| error.to_string())?;
    Ok((status, text))
}

fn report(mut latencies: Vec<Duration>, elapsed: Duration, before: &Held, after: &Held) {
    latencies.sort_unstable();
    let at = |per_mille: usize| latencies.get(latencies.len() * per_mille / 1_000).or(latencies.last());
    println!(
        "load: {} requests in {elapsed:.1?}, {:.0} a second; p50 {:.1?}, p99 {:.1?}, longest {:.1?}",
        latencies.len(),
        latencies.len() as f64 / elapsed.as_secs_f64(),
        at(500).copied().unwrap_or_default(),
        at(990).copied().unwrap_or_default(),
        latencies.last().copied().unwrap_or_default(),
    );
    println!("load: before {before:?}, after {after:?}");
}
