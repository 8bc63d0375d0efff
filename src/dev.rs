//! `loaderd dev`: wrangler projects, run as they are, and again when they change.

use std::path::PathBuf;
use std::process::ExitCode;

use loaderd_loader::HostLimits;
use loaderd_loader::cache::CACHE_BYTES_MAX;
use loaderd_loader::config::{Config, Experimental, Listen, Validation};
use loaderd_loader::graph::Server;
use loaderd_wrangler_compat::Diagnostic;
use loaderd_wrangler_compat::project::{Project, assemble};

use crate::services::{start, told_to_stop};
use crate::terminal;
use crate::watch::Watcher;

#[derive(clap::Args, Debug)]
pub(crate) struct DevArgs {
    /// Folders with a wrangler.json, wrangler.jsonc or wrangler.toml, or such files; the first one is reached from
    /// outside
    #[arg(value_name = "PROJECT", default_value = ".")]
    projects: Vec<PathBuf>,

    /// The named environment to run
    #[arg(short, long, value_name = "NAME")]
    env: Option<String>,

    /// Where to listen; the project's `dev.ip`, or the local machine, when not given
    #[arg(long, value_name = "ADDRESS")]
    ip: Option<String>,

    /// The port to listen on, 0 for a free one; the project's `dev.port`, or 8787, when not given
    #[arg(long)]
    port: Option<u16>,
}

/// wrangler's own default.
const DEFAULT_PORT: u16 = 8787;
const DEFAULT_IP: &str = "127.0.0.1";

pub(crate) fn run(arguments: &DevArgs) -> ExitCode {
    terminal::start_logging("warn", terminal::LogFormat::Text);
    crate::with_v8(&[], serve(arguments))
}

/// One reading of the projects: a config or what is wrong, and the files that decide.
struct Reading {
    config: Result<Config, Vec<Diagnostic>>,
    notes: Vec<Diagnostic>,
    files: Vec<PathBuf>,
}

async fn serve(arguments: &DevArgs) -> ExitCode {
    let stop = match told_to_stop() {
        Ok(stop) => stop,
        Err(error) => {
            terminal::error(&format!("cannot wait for signals: {error}"));
            return ExitCode::FAILURE;
        }
    };
    tokio::pin!(stop);
    // A free port stays the same one through reloads, so that open pages still find it.
    let mut port = arguments.port;
    loop {
        // Reading may run a bundler, so not on a thread that serves.
        let reading = tokio::task::block_in_place(|| read(arguments, port));
        let watcher = Watcher::new(reading.files);
        for note in &reading.notes {
            terminal::say(&format!("{} {note}", terminal::styled(terminal::Style::Help, "note:")));
        }
        let running = match reading.config {
            Ok(config) => begin(&config).await,
            Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
        };
        let ended = match running {
            Ok((graph, server)) => {
                let bound = server.bound().find_map(|bound| bound.address);
                if let Some(address) = bound {
                    terminal::say(&format!("Ready on http://{address}"));
                    port = Some(address.port());
                }
                let (tell, told) = tokio::sync::oneshot::channel::<()>();
                let mut serving = Box::pin(server.run(async { drop(told.await) }));
                let ended = tokio::select! {
                    () = &mut stop => Ended::Told,
                    () = watcher.changed() => Ended::Changed,
                    () = &mut serving => Ended::Told,
                };
                drop(tell);
                if matches!(ended, Ended::Told) {
                    serving.await;
                }
                drop(graph);
                ended
            }
            Err(problems) => {
                for problem in problems {
                    terminal::error(&problem);
                }
                terminal::say("Waiting for a change...");
                tokio::select! {
                    () = &mut stop => Ended::Told,
                    () = watcher.changed() => Ended::Changed,
                }
            }
        };
        match ended {
            Ended::Told => return ExitCode::SUCCESS,
            Ended::Changed => terminal::say("Reloading..."),
        }
    }
}

/// Why a server ended.
enum Ended {
    Told,
    Changed,
}

const VALIDATION: Validation = Validation { experimental: Experimental::Permitted, compat_date: None };

async fn begin(config: &Config) -> Result<(loaderd_loader::graph::Graph, Server), Vec<String>> {
    let errors = config.validate(&VALIDATION);
    if !errors.is_empty() {
        return Err(errors.iter().map(ToString::to_string).collect());
    }
    let graph = start(config, HostLimits::default(), &VALIDATION, CACHE_BYTES_MAX).await;
    let graph = graph.map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let server = Server::bind(&graph, &config.sockets).await.map_err(|error| vec![error.to_string()])?;
    Ok((graph, server))
}

fn read(arguments: &DevArgs, port: Option<u16>) -> Reading {
    let (mut projects, mut errors, mut notes, mut files) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for path in &arguments.projects {
        match Project::open(path, arguments.env.as_deref()) {
            Ok(project) => {
                notes.extend_from_slice(project.notes());
                files.extend_from_slice(project.files_read());
                projects.push(project);
            }
            Err(problems) => {
                // What was read before the problem showed is not known; the places it names are a good guess.
                files.extend(problems.iter().filter_map(|it| it.place.as_ref()).map(|place| place.file.clone().into()));
                files.push(path.clone());
                errors.extend(problems);
            }
        }
    }
    if !errors.is_empty() {
        return Reading { config: Err(errors), notes, files };
    }
    let wanted = projects.first().map(|project| project.dev().clone()).unwrap_or_default();
    let ip = arguments.ip.clone().or(wanted.ip).unwrap_or_else(|| DEFAULT_IP.to_owned());
    let port = port.or(wanted.port).unwrap_or(DEFAULT_PORT);
    let host = if ip.contains(':') { format!("[{ip}]") } else { ip };
    Reading { config: assemble(projects, Listen::Address(format!("{host}:{port}"))), notes, files }
}
