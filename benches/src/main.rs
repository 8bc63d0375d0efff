//! Measures, in one run on one machine, loaderd, the real workerd and the sandboxes that a Node user would pick, and
//! prints them side by side. `make bench` installs what it needs and runs it.
//!
//! | Room | Owns |
//! |---|---|
//! | `loaderd`, `served`, `node` | how each contender runs a program, and how that is timed |
//! | `web` | everyday tasks of a Worker over HTTP: requests per second, CPU time per request |
//! | `creation` | what an isolate without code costs |
//! | `process_mode` | what sandbox processes cost |
//! | `limits` | how exactly CPU limits hold, and what spinning programs cost their neighbours |
//! | `figures`, `table`, `stats` | what was measured, and how it is shown |
//! | `http`, `memory` | a client for servers; resident memory from /proc |

mod creation;
mod endurance;
mod figures;
mod http;
mod limits;
mod loaderd;
mod memory;
mod node;
mod process_mode;
mod served;
mod stats;
mod table;
mod web;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use loaderd_loader::in_process::InProcess;
use loaderd_loader::pool::PoolConfig;
use loaderd_loader::sandbox::{SandboxConfig, Sandboxes};
use loaderd_loader::{HostLimits, LoaderHost, LoaderOptions};

use crate::figures::Contender;
use crate::limits::Neighbourhood;
use crate::loaderd::{Loaderd, Where};
use crate::served::Server;

/// Between two measured passes, where they stand for requests that come now and then.
const PAUSE: Duration = Duration::from_millis(15);
const ISOLATES_HELD: u32 = 50;
/// Where npm puts workerd's own binary. Its launcher beside it would not pass a signal on.
const WORKERD: &str = "node_modules/@cloudflare/workerd-linux-64/bin/workerd";

/// Passes after each pause at [`Pace::Bursts`]: half of what loaderd keeps ready on two cores.
const BURST: usize = 4;

/// Whether a contender gets a moment between two passes.
#[derive(Clone, Copy)]
enum Pace {
    /// As long as [`PAUSE`]: what is prepared ahead is ready again, and the processors have forgotten what they ran.
    Paused,
    /// A pause before [`BURST`] passes, one after the other: what is prepared ahead is there for each.
    Bursts,
    BackToBack,
}

impl Pace {
    /// Whether there is a pause before the pass with this number.
    fn pauses_before(self, pass: usize) -> bool {
        match self {
            Self::Paused => true,
            Self::Bursts => pass.is_multiple_of(BURST),
            Self::BackToBack => false,
        }
    }
}

/// How much is measured.
#[derive(Clone, Copy)]
struct Effort {
    /// Samples of a short pass.
    passes: usize,
    /// Samples of a pass with a thousand host calls.
    long_passes: usize,
    /// How long passes per second are counted.
    rate_time: Duration,
    /// How long passes beside programs that spin are measured, at most, for each number of those.
    beside_time: Duration,
    /// CPU time of all that is ended at one limit under one load, at least.
    overshoot_cpu: Duration,
    /// Passes one after the other, over which nothing may grow.
    endurance: u32,
}

const THOROUGH: Effort = Effort {
    passes: 500,
    long_passes: 50,
    rate_time: Duration::from_secs(5),
    beside_time: Duration::from_secs(10),
    overshoot_cpu: Duration::from_millis(1500),
    endurance: 100_000,
};
const QUICK: Effort = Effort {
    passes: 100,
    long_passes: 10,
    rate_time: Duration::from_secs(1),
    beside_time: Duration::from_secs(2),
    overshoot_cpu: Duration::from_millis(300),
    endurance: 10_000,
};

#[derive(Parser)]
#[command(about = "Measures loaderd beside workerd and the sandboxes of Node")]
struct Arguments {
    /// The folder where npm installed benches/node/package.json; without it only loaderd is measured.
    #[arg(long)]
    packages: Option<PathBuf>,
    /// The binary `loaderd`, to be served beside workerd; without it only the library is measured.
    #[arg(long)]
    loaderd: Option<PathBuf>,
    /// A fifth of the samples: a look, not a measurement.
    #[arg(long)]
    quick: bool,
    /// Only one part.
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Give V8 so many threads of its own in this process, which it does not have in loaderd.
    #[arg(long, value_name = "THREADS", default_value_t = 0)]
    v8_helpers: u32,
}

/// What can be measured by itself.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Fresh passes, host calls, memory.
    Passes,
    /// What sandbox processes cost.
    ProcessMode,
    /// Everyday tasks of a Worker over HTTP.
    Web,
    /// How exactly limits hold, and what spinning programs cost their neighbours.
    Limits,
    /// What many passes leave behind.
    Endurance,
    /// What an isolate without code costs.
    Creation,
    /// Who pays for V8's collecting of garbage and compiling.
    Charges,
}

/// The argument that makes this program a sandbox process.
const SANDBOX: &str = "sandbox-process";

impl Arguments {
    fn wants(&self, part: Part) -> bool {
        self.only.is_none_or(|only| only == part)
    }
}

fn main() -> io::Result<()> {
    // A sandbox process gives up its rights while it is one thread.
    if std::env::args().nth(1).as_deref() == Some(SANDBOX) {
        let _code = loaderd_loader::sandbox::child::main();
        return Ok(());
    }
    let arguments = Arguments::parse();
    // Before any thread exists, as V8's memory protection keys need it.
    match arguments.v8_helpers {
        0 => loaderd_runtime::setup::initialize(),
        threads => loaderd_runtime::setup::initialize_with_helpers(threads),
    }
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run(&arguments))
}

async fn run(arguments: &Arguments) -> io::Result<()> {
    let effort = if arguments.quick { QUICK } else { THOROUGH };
    // Ahead of the pools, which would fill meanwhile.
    if arguments.wants(Part::Creation) {
        creation::print(effort.passes)?;
    }
    let placement = InProcess::new(PoolConfig::default()).map_err(io::Error::other)?;
    let host = LoaderHost::new(placement, HostLimits::default(), tokio::runtime::Handle::current());
    let loader = host.loader(LoaderOptions::default());
    let in_process = Loaderd::new(loader.clone(), Where::InProcess);
    let sandboxes = Sandboxes::new(SandboxConfig::new(vec!["loaderd-bench".to_owned(), SANDBOX.to_owned()]))?;
    let sandboxed = LoaderHost::new(sandboxes.clone(), HostLimits::default(), tokio::runtime::Handle::current());
    let sandboxed_loader = sandboxed.loader(LoaderOptions::default());
    let in_sandboxes = Loaderd::new(sandboxed_loader.clone(), Where::Sandboxes);
    if arguments.wants(Part::Endurance) {
        endurance::print(&[("in process", &in_process), ("sandboxed", &in_sandboxes)], effort).await?;
    }
    if arguments.wants(Part::Charges) {
        in_process.print_charges().await?;
    }
    if arguments.wants(Part::Passes) {
        measure_passes(&in_process, &in_sandboxes, arguments, effort).await?;
    }
    if arguments.wants(Part::ProcessMode) {
        let modes = [("loaderd, in process", &in_process), ("loaderd, sandboxed", &in_sandboxes)];
        process_mode::print(&modes, &sandboxes, effort).await?;
    }
    if arguments.wants(Part::Web) {
        let figures = on_each_server(arguments, "web.capnp", |server| web::measure(server, effort));
        web::print(&figures);
    }
    if arguments.wants(Part::Limits) {
        let passes = effort.passes / 5;
        let beside = on_each_server(arguments, "config.capnp", |server| server.beside_a_spinner(passes));
        limits::print_overshoot("in process", &loader, effort).await?;
        limits::print_overshoot("sandboxed", &sandboxed_loader, effort).await?;
        let stranger = in_sandboxes.for_tenant("neighbour")?;
        let here = |name, loaderd, loader, sandboxes| Neighbourhood { name, loaderd, loader, sandboxes };
        let neighbourhoods = [
            here("loaderd, in process", &in_process, &loader, None),
            here("loaderd, sandboxed", &in_sandboxes, &sandboxed_loader, Some(&*sandboxes)),
            here("loaderd, sandboxed, of another tenant", &stranger, &sandboxed_loader, Some(&*sandboxes)),
        ];
        limits::print_neighbours(&neighbourhoods, beside, effort).await?;
    }
    Ok(())
}

/// loaderd as a library, both servers, and the sandboxes of Node.
async fn measure_passes(
    in_process: &Loaderd,
    in_sandboxes: &Loaderd,
    arguments: &Arguments,
    effort: Effort,
) -> io::Result<()> {
    let mut contenders = vec![
        measured_in_a_task(in_process, "loaderd, in process", effort).await?,
        measured_in_a_task(in_sandboxes, "loaderd, sandboxed", effort).await?,
    ];
    let servers = on_each_server(arguments, "config.capnp", |server| server.measure(effort));
    let (of_passes, served): (Vec<_>, Vec<_>) = servers.into_iter().map(|(_, figures)| figures).unzip();
    contenders.extend(of_passes);
    if let Some(packages) = &arguments.packages {
        for sandbox in node::SANDBOXES {
            match node::measure(sandbox, packages, effort) {
                Ok(contender) => contenders.push(contender),
                Err(error) => println!("{sandbox} was not measured: {error}"),
            }
        }
    }
    figures::print(&contenders);
    figures::print_served(&served);
    Ok(())
}

/// As a server runs passes: a pass that is polled by `block_on` itself is woken from another thread each time.
async fn measured_in_a_task(loaderd: &Loaderd, name: &'static str, effort: Effort) -> io::Result<Contender> {
    let loaderd = loaderd.clone();
    tokio::spawn(async move { loaderd.measure(name, effort).await }).await.map_err(io::Error::other)?
}

/// Measures `loaderd serve` and workerd with the same config, one after the other; what could not be measured is said.
fn on_each_server<T>(
    arguments: &Arguments,
    config: &str,
    measure: impl Fn(&Server) -> io::Result<T>,
) -> Vec<(&'static str, T)> {
    let workerd = arguments.packages.as_ref().map(|packages| packages.join(WORKERD));
    let binaries = [("loaderd serve", arguments.loaderd.clone()), ("workerd", workerd)];
    let measured = binaries.into_iter().filter_map(|(name, binary)| {
        match Server::start(name, &binary?, config).and_then(|server| measure(&server)) {
            Ok(figures) => Some((name, figures)),
            Err(error) => {
                println!("{name} was not measured with {config}: {error}");
                None
            }
        }
    });
    measured.collect()
}
