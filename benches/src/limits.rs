//! How exactly CPU limits hold, and what programs that spin cost their neighbours. workerd has no CPU limit to compare.

use std::cell::Cell;
use std::io;
use std::time::Duration;

use futures::future::{join, join_all};
use loaderd_loader::sandbox::Sandboxes;
use loaderd_loader::{GlobalOutbound, WorkerCode, WorkerLoader};
use loaderd_runtime::isolate::Uses;
use loaderd_runtime::limits::{Cause, ResourceLimits};
use loaderd_runtime::modules::ModuleContent;
use loaderd_runtime::rpc::plain::Plain;
use tokio::sync::Notify;

use crate::Effort;
use crate::loaderd::Loaderd;
use crate::stats::{Samples, show};
use crate::table::Table;

const LIMITS_MS: [u32; 4] = [5, 10, 50, 500];
const SPINNERS: [usize; 4] = [1, 2, 8, 32];
/// Samples of a cell, where its CPU time allows.
const CELL_SAMPLES_MAX: usize = 200;
/// Samples of a cell, whatever CPU time they take.
const CELL_SAMPLES_MIN: usize = 4;

/// Passes before the first one that counts.
const WARM_UP: usize = 3;

const SPIN: &str = "import { WorkerEntrypoint } from 'cloudflare:workers';
export default class extends WorkerEntrypoint { run() { for (;;); } }";

/// Runs one program that spins until its limit ends it. Returns the CPU time that it used beyond the limit.
async fn spin(loader: &WorkerLoader, limit_ms: u32) -> io::Result<Duration> {
    let mut code = WorkerCode::new("2025-05-01", "spin.js").module("spin.js", ModuleContent::EsModule(SPIN.into()));
    code.global_outbound = GlobalOutbound::None;
    // As passes are.
    code.uses = Uses::One;
    let stub = loader.load(code).map_err(io::Error::other)?;
    let limits = ResourceLimits { cpu_ms: Some(limit_ms), sub_requests: None };
    let entrypoint = stub.entrypoint(None, None, limits);
    stub.ready().await.map_err(io::Error::other)?;
    let arguments = Plain::arguments(Vec::new()).map_err(io::Error::other)?;
    let answer = entrypoint.call_method("run", arguments).await;
    stub.end(Cause::Shutdown);
    match answer.result {
        Err(error) if error.cause == Some(Cause::ExceededCpu) => {
            Ok(answer.usage.cpu.saturating_sub(Duration::from_millis(limit_ms.into())))
        }
        Err(error) => Err(io::Error::other(format!("a spinning program ended with {}", error.message))),
        Ok(_) => Err(io::Error::other("a spinning program returned")),
    }
}

/// Prints the overshoot of each limit under each number of programs that spin at the same time.
pub(crate) async fn print_overshoot(mode: &str, loader: &WorkerLoader, effort: Effort) -> io::Result<()> {
    println!("CPU time used beyond the limit, {mode}, p50 / p99, on {} cores", cores());
    let heading = SPINNERS.iter().map(|count| format!("{count} spinning"));
    let mut table = Table::new(std::iter::once("limit".to_owned()).chain(heading));
    for limit_ms in LIMITS_MS {
        let mut row = vec![format!("{limit_ms} ms")];
        for spinners in SPINNERS {
            row.push(overshoot(loader, limit_ms, spinners, effort.overshoot_cpu).await?);
        }
        table.row(row);
    }
    table.print();
    Ok(())
}

async fn overshoot(loader: &WorkerLoader, limit_ms: u32, spinners: usize, cpu: Duration) -> io::Result<String> {
    let wanted = (cpu.as_millis() as usize).div_ceil(limit_ms as usize).clamp(CELL_SAMPLES_MIN, CELL_SAMPLES_MAX);
    let mut beyond = Vec::new();
    while beyond.len() < wanted {
        let round = join_all((0..spinners).map(|_| spin(loader, limit_ms))).await;
        beyond.extend(round.into_iter().collect::<io::Result<Vec<_>>>()?);
    }
    let samples = Samples::new(beyond).ok_or_else(|| io::Error::other("no samples"))?;
    Ok(format!("{} / {} (n={})", show(samples.p50()), show(samples.p99()), samples.len()))
}

/// Where a pass and the programs that spin beside it run.
pub(crate) struct Neighbourhood<'a> {
    pub(crate) name: &'static str,
    /// Runs the pass.
    pub(crate) loaderd: &'a Loaderd,
    /// Runs what spins.
    pub(crate) loader: &'a WorkerLoader,
    pub(crate) sandboxes: Option<&'a Sandboxes>,
}

/// Prints how long a trivial pass takes while others spin, each to a limit of 200 ms, again and again.
pub(crate) async fn print_neighbours(
    neighbourhoods: &[Neighbourhood<'_>],
    served: Vec<(&str, Vec<Duration>)>,
    effort: Effort,
) -> io::Result<()> {
    println!("A fresh trivial pass while other programs spin for 200 ms of CPU each, again and again, p50 / p99");
    let heading = std::iter::once("none spins".to_owned());
    let heading = heading.chain(SPINNERS.iter().map(|count| format!("{count} spinning")));
    let mut table = Table::new(std::iter::once(String::new()).chain(heading));
    let mut notes = Vec::new();
    for here in neighbourhoods {
        let mut row = vec![here.name.to_owned()];
        for spinners in std::iter::once(0).chain(SPINNERS) {
            let (durations, started) = beside(here, spinners, effort).await?;
            row.push(cell(durations));
            if started > 0 {
                notes.push(format!("{}, {spinners} spinning: {started} sandbox processes were started", here.name));
            }
        }
        table.row(row);
    }
    for (name, durations) in served {
        table.row([name.to_owned(), "–".to_owned(), cell(durations)]);
    }
    table.print();
    for note in notes {
        println!("{note}");
    }
    Ok(())
}

/// How long passes take, and how many sandbox processes were started meanwhile. Those that the programs that spin need are
/// there before.
async fn beside(here: &Neighbourhood<'_>, spinners: usize, effort: Effort) -> io::Result<(Vec<Duration>, u64)> {
    let (over, spun, all_spun) = (Cell::new(false), Cell::new(0), Notify::new());
    let spinning = join_all((0..spinners).map(|_| async {
        while !over.get() {
            spin(here.loader, 200).await?;
            spun.set(spun.get() + 1);
            if spun.get() >= spinners {
                all_spun.notify_one();
            }
        }
        io::Result::Ok(())
    }));
    let started = || here.sandboxes.map_or(0, |sandboxes| sandboxes.metrics().started);
    let measure = async {
        if spinners > 0 {
            all_spun.notified().await;
        }
        here.loaderd.neighbour(WARM_UP, effort.beside_time).await?;
        let before = started();
        let durations = here.loaderd.neighbour(effort.passes / 5, effort.beside_time).await?;
        io::Result::Ok((durations, started() - before))
    };
    let measured = async {
        let measured = measure.await;
        over.set(true);
        measured
    };
    // Until the last of them has met its limit: given up, they would go on and disturb what is measured next.
    let (measured, spun) = join(measured, spinning).await;
    spun.into_iter().collect::<io::Result<Vec<()>>>()?;
    measured
}

fn cell(durations: Vec<Duration>) -> String {
    Samples::new(durations).map_or_else(
        || "–".to_owned(),
        |samples| format!("{} / {} (n={})", show(samples.p50()), show(samples.p99()), samples.len()),
    )
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
