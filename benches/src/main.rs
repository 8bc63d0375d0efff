//! Measures, in one run on one machine, loaderd, the real workerd and the sandboxes that a Node user would pick, and
//! prints them side by side. `make bench` installs what it needs and runs it.
//!
//! | Room | Owns |
//! |---|---|
//! | `loaderd`, `served`, `node` | how each contender runs a program, and how that is timed |
//! | `limits` | how exactly CPU limits hold, and what spinning programs cost their neighbours |
//! | `figures`, `table`, `stats` | what was measured, and how it is shown |
//! | `http`, `memory` | a client for servers; resident memory from /proc |

mod figures;
mod http;
mod limits;
mod loaderd;
mod memory;
mod node;
mod served;
mod stats;
mod table;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use loaderd_loader::in_process::InProcess;
use loaderd_loader::pool::PoolConfig;
use loaderd_loader::{HostLimits, LoaderHost, LoaderOptions};

use crate::loaderd::Loaderd;
use crate::served::Server;

/// Between two measured passes, where they stand for requests that come now and then.
const PAUSE: Duration = Duration::from_millis(15);
const ISOLATES_HELD: u32 = 50;
/// Where npm puts workerd's own binary. Its launcher beside it would not pass a signal on.
const WORKERD: &str = "node_modules/@cloudflare/workerd-linux-64/bin/workerd";

/// Whether a contender gets a moment between two passes.
#[derive(Clone, Copy)]
enum Pace {
    /// As long as [`PAUSE`]: what is prepared ahead is ready again.
    Paused,
    BackToBack,
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
}

const THOROUGH: Effort = Effort { passes: 500, long_passes: 50, rate_time: Duration::from_secs(5) };
const QUICK: Effort = Effort { passes: 100, long_passes: 10, rate_time: Duration::from_secs(1) };

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
}

fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    // Before any thread exists, as V8's memory protection keys need it.
    loaderd_runtime::setup::initialize();
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run(&arguments))
}

async fn run(arguments: &Arguments) -> io::Result<()> {
    let effort = if arguments.quick { QUICK } else { THOROUGH };
    let placement = InProcess::new(PoolConfig::default()).map_err(io::Error::other)?;
    let host = LoaderHost::new(placement, HostLimits::default(), tokio::runtime::Handle::current());
    let loader = host.loader(LoaderOptions::default());
    let in_process = Loaderd::new(loader.clone());

    let mut contenders = vec![in_process.measure("loaderd, in process", effort).await?];
    let (mut served, mut notes, mut beside_a_spinner) = (Vec::new(), Vec::new(), Vec::new());
    let workerd = arguments.packages.as_ref().map(|packages| packages.join(WORKERD));
    for (name, binary) in [("workerd", workerd), ("loaderd serve", arguments.loaderd.clone())] {
        let Some(binary) = binary else { continue };
        let measured = Server::start(name, &binary).and_then(|server| {
            let figures = server.measure(effort)?;
            Ok((figures, server.beside_a_spinner(effort.passes / 5)?))
        });
        match measured {
            Ok(((contender, figures), durations)) => {
                contenders.push(contender);
                served.push(figures);
                beside_a_spinner.push((name, durations));
            }
            Err(error) => notes.push(format!("{name} was not measured: {error}")),
        }
    }
    if let Some(packages) = &arguments.packages {
        for sandbox in node::SANDBOXES {
            match node::measure(sandbox, packages, effort) {
                Ok(contender) => contenders.push(contender),
                Err(error) => notes.push(format!("{sandbox} was not measured: {error}")),
            }
        }
    }

    served.reverse();
    figures::print(&contenders);
    figures::print_served(&served);
    for note in notes {
        println!("{note}");
    }
    limits::print_overshoot(&loader).await?;
    limits::print_neighbours(&[("loaderd, in process", &in_process, &loader)], beside_a_spinner, effort.passes / 5)
        .await
}
