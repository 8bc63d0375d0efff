//! What sandbox processes cost: the same work in this process and in theirs, side by side.

use std::io;
use std::process;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loaderd_loader::in_process::InProcess;
use loaderd_loader::placement::Placement;
use loaderd_loader::pool::PoolConfig;
use loaderd_loader::sandbox::{SandboxConfig, Sandboxes};
use loaderd_loader::{HostLimits, LoaderHost, LoaderOptions};

use crate::loaderd::{Loaderd, Where};
use crate::memory::cpu_time;
use crate::stats::show;
use crate::table::Table;
use crate::{Effort, SANDBOX};

/// Passes held at once where memory is measured: as many as there are processes, on a small machine.
const HELD: u32 = 8;

/// Isolates, or processes, made only to see how long the first pass takes.
const STARTS: u32 = 5;

/// What one of the two modes costs.
struct Costs {
    first_pass: Duration,
    cpu_per_pass: Duration,
    bytes_per_held: f64,
    bytes_per_process: Option<f64>,
}

/// Prints it. What a pass and a host call take is in the table of passes.
pub(crate) async fn print(loaderd: &[(&str, &Loaderd)], sandboxes: &Sandboxes, effort: Effort) -> io::Result<()> {
    let mut costs = Vec::new();
    for (_, loaderd) in loaderd {
        costs.push(measure(loaderd, sandboxes, effort).await?);
    }
    println!("What process mode costs, beside what its passes and host calls take");
    let names = loaderd.iter().map(|(name, _)| (*name).to_owned());
    let mut table = Table::new(std::iter::once(String::new()).chain(names));
    let mut row = |label: &str, of: &dyn Fn(&Costs) -> String| {
        table.row(std::iter::once(label.to_owned()).chain(costs.iter().map(of)));
    };
    let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
    row("first pass, nothing started ahead", &|of| show(of.first_pass));
    row("CPU time of a fresh pass, all processes", &|of| show(of.cpu_per_pass));
    row(&format!("memory that each of {HELD} passes adds while it waits for its host"), &|of| {
        megabytes(of.bytes_per_held)
    });
    row("resident memory of a sandbox process at rest", &|of| of.bytes_per_process.map_or("–".to_owned(), megabytes));
    table.print();
    Ok(())
}

async fn measure(loaderd: &Loaderd, sandboxes: &Sandboxes, effort: Effort) -> io::Result<Costs> {
    let mut first_passes = Vec::new();
    for _ in 0..STARTS {
        first_passes.push(first_pass(loaderd.place()).await?);
    }
    first_passes.sort_unstable();
    loaderd.warm_up(effort.passes).await?;
    let before = cpu_time(process::id());
    for _ in 0..effort.passes {
        loaderd.trivial().await?;
    }
    let passes = u32::try_from(effort.passes).unwrap_or(u32::MAX);
    let cpu_per_pass = cpu_time(process::id()).saturating_sub(before) / passes;
    let bytes_per_held = loaderd.bytes_per_isolate(HELD).await?;
    let bytes_per_process = (loaderd.place() == Where::Sandboxes).then(|| {
        let metrics = sandboxes.metrics();
        metrics.rss_bytes as f64 / metrics.processes.max(1) as f64
    });
    Ok(Costs { first_pass: first_passes[first_passes.len() / 2], cpu_per_pass, bytes_per_held, bytes_per_process })
}

/// How long it takes until the first pass is done, from when there is nothing.
async fn first_pass(place: Where) -> io::Result<Duration> {
    let started = Instant::now();
    let placement: Arc<dyn Placement> = match place {
        Where::InProcess => InProcess::new(PoolConfig::default()).map_err(io::Error::other)?,
        Where::Sandboxes => Sandboxes::new(SandboxConfig::new(vec!["loaderd-bench".to_owned(), SANDBOX.to_owned()]))?,
    };
    let host = LoaderHost::new(placement, HostLimits::default(), tokio::runtime::Handle::current());
    Loaderd::new(host.loader(LoaderOptions::default()), place).trivial().await?;
    Ok(started.elapsed())
}
