//! `loaderd dev`: wrangler projects, run as they are, and again when they change.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use loaderd_loader::HostLimits;
use loaderd_loader::cache::CACHE_BYTES_MAX;
use loaderd_loader::config::{Experimental, Listen, Validation};
use loaderd_loader::graph::Server;
use loaderd_runtime::channel::{ConsoleLevel, ConsoleSink};
use loaderd_wrangler_compat::Diagnostic;
use loaderd_wrangler_compat::project::{DevOptions, Project, SourceMaps, assemble, source_maps};

use crate::services::{CapArgs, Console, Extras, start};
use crate::stop::told_to_stop;
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

    #[command(flatten)]
    caps: CapArgs,
}

/// wrangler's own default.
const DEFAULT_PORT: u16 = 8787;
const DEFAULT_IP: &str = "127.0.0.1";

pub(crate) fn run(arguments: &DevArgs) -> ExitCode {
    let current = Arc::new(RwLock::new(Arc::new(SourceMaps::default())));
    let maps = Arc::clone(&current);
    terminal::start_logging_rewritten("warn", move |text| {
        let maps = Arc::clone(&maps.read().unwrap_or_else(PoisonError::into_inner));
        maps.applied(text).into_owned()
    });
    crate::with_v8(&[], serve(arguments, &current))
}

async fn serve(arguments: &DevArgs, maps: &RwLock<Arc<SourceMaps>>) -> ExitCode {
    let stop = match told_to_stop() {
        Ok(stop) => stop,
        Err(error) => {
            terminal::error(&format!("cannot wait for signals: {error}"));
            return ExitCode::FAILURE;
        }
    };
    tokio::pin!(stop);
    let mut dev = Dev { arguments, maps, door: None, running: None, notes: Vec::new(), files: Vec::new() };
    loop {
        let watcher = match dev.run_what_is_there().await {
            Ok(watcher) => watcher,
            Err(code) => return code,
        };
        tokio::select! {
            () = &mut stop => break,
            () = watcher.changed() => terminal::say("Reloading..."),
        }
    }
    if let Some(Running { tell, serving }) = dev.running {
        drop(tell);
        // However it ends, this is over.
        let _over = serving.await;
    }
    ExitCode::SUCCESS
}

/// What is being done.
struct Dev<'a> {
    arguments: &'a DevArgs,
    /// Of what is served, for the log.
    maps: &'a RwLock<Arc<SourceMaps>>,
    door: Option<Door>,
    running: Option<Running>,
    /// Those that have been said.
    notes: Vec<Diagnostic>,
    /// What was read the last time all was well.
    files: Vec<PathBuf>,
}

/// Where clients come in. It stays open while one server takes another's place, so that no client is turned away.
struct Door {
    /// What was asked for, where 0 is any free port.
    address: (String, u16),
    listener: TcpListener,
}

/// A server, which ends when `tell` is dropped.
struct Running {
    tell: tokio::sync::oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<()>,
}

/// One reading of the projects: what to run or what is wrong, and the files that decide.
struct Reading {
    projects: Result<Vec<Project>, Vec<Diagnostic>>,
    files: Vec<PathBuf>,
    /// Whether a project is where it should be; if not, somebody mistyped its name.
    are_there: bool,
}

/// What is wrong, and whether a change of a file can help.
enum Failed {
    Mendable(Vec<String>),
    Final(Vec<String>),
}

impl From<&[Diagnostic]> for Failed {
    fn from(problems: &[Diagnostic]) -> Self {
        Self::Mendable(problems.iter().map(ToString::to_string).collect())
    }
}

const VALIDATION: Validation = Validation { experimental: Experimental::Permitted, compat_date: None };

/// A console that shows places in sources for those in bundles.
struct Mapped(Arc<SourceMaps>);

impl ConsoleSink for Mapped {
    fn line(&self, level: ConsoleLevel, text: &str) {
        Console.line(level, &self.0.applied(text));
    }
}

impl Dev<'_> {
    /// Reads the projects and serves them, in place of what was served before if all is well with them, and says how that
    /// went. Gives what to watch, or an exit code where nothing is served and no change of a file would help.
    async fn run_what_is_there(&mut self) -> Result<Watcher, ExitCode> {
        let begun = SystemTime::now();
        // Reading may run a bundler, so not on a thread that serves.
        let reading = tokio::task::block_in_place(|| read(self.arguments));
        let files = reading.files;
        let watcher = Watcher::since(begun, files.iter().chain(&self.files));
        let outcome = match reading.projects {
            Ok(projects) => self.change_over(projects).await,
            Err(problems) if reading.are_there => Err(Failed::from(problems.as_slice())),
            Err(problems) => Err(Failed::Final(problems.iter().map(ToString::to_string).collect())),
        };
        let (problems, is_final) = match outcome {
            Ok(()) => {
                self.files = files;
                return Ok(watcher);
            }
            Err(Failed::Mendable(problems)) => (problems, false),
            Err(Failed::Final(problems)) => (problems, true),
        };
        for problem in problems {
            terminal::error(&problem);
        }
        match self.running {
            Some(_) => terminal::say("What was served before still is. Waiting for a change..."),
            None if is_final => return Err(ExitCode::FAILURE),
            None => terminal::say("Waiting for a change..."),
        }
        Ok(watcher)
    }

    /// Starts the projects; when they run, lets clients in to them, and no more to what ran before.
    async fn change_over(&mut self, projects: Vec<Project>) -> Result<(), Failed> {
        let notes: Vec<Diagnostic> = projects.iter().flat_map(Project::notes).cloned().collect();
        for note in notes.iter().filter(|note| !self.notes.contains(note)) {
            terminal::say(&format!("{} {note}", terminal::styled(terminal::Style::Help, "note:")));
        }
        self.notes = notes;
        let maps = Arc::new(source_maps(&projects));
        let wanted = projects.first().map(|project| project.dev().clone()).unwrap_or_default();
        // Which descriptor it will be is not known before all else is well.
        let mut config =
            assemble(projects, Listen::Address(String::new())).map_err(|problems| Failed::from(problems.as_slice()))?;
        let errors = config.validate(&VALIDATION);
        if !errors.is_empty() {
            return Err(Failed::Mendable(errors.iter().map(ToString::to_string).collect()));
        }
        let console = Arc::new(Mapped(Arc::clone(&maps)));
        let extras = Extras { cache_bytes_max: CACHE_BYTES_MAX, caller_caps: self.arguments.caps.caps() };
        let graph = start(&config, HostLimits::default(), &VALIDATION, extras, console).await;
        let graph = graph.map_err(|problems| {
            Failed::Mendable(problems.iter().map(|problem| maps.applied(&problem.message).into_owned()).collect())
        })?;
        let (at, listen) = self.open_door(wanted)?;
        for socket in &mut config.sockets {
            socket.listen = Some(listen.clone());
        }
        let server = Server::bind(&graph, &config.sockets).await;
        let server = server.map_err(|error| Failed::Mendable(vec![error.to_string()]))?;
        *self.maps.write().unwrap_or_else(PoisonError::into_inner) = maps;
        let (tell, told) = tokio::sync::oneshot::channel::<()>();
        let serving = tokio::spawn(async move {
            server.run(async { drop(told.await) }).await;
            drop(graph);
        });
        // The one before answers what it has begun with, and ends.
        self.running = Some(Running { tell, serving });
        terminal::say(&format!("Ready on http://{at}"));
        Ok(())
    }

    /// The address of the door that is open, or of another one where the projects want it elsewhere now.
    fn open_door(&mut self, wanted: DevOptions) -> Result<(SocketAddr, Listen), Failed> {
        let ip = self.arguments.ip.clone().or(wanted.ip).unwrap_or_else(|| DEFAULT_IP.to_owned());
        let address = (ip, self.arguments.port.or(wanted.port).unwrap_or(DEFAULT_PORT));
        let failed = |(ip, port): &(String, u16), error: io::Error| {
            Failed::Final(vec![format!("Cannot listen on {ip}, port {port}: {error}. Choose another with --port.")])
        };
        let door = match self.door.take() {
            Some(door) if door.address == address => door,
            before => match listen(&address.0, address.1) {
                Ok(listener) => Door { address, listener },
                Err(error) => {
                    self.door = before;
                    return Err(failed(&address, error));
                }
            },
        };
        let at = door.listener.local_addr().map_err(|error| failed(&door.address, error))?;
        let listen = Listen::Descriptor(door.listener.as_raw_fd());
        self.door = Some(door);
        Ok((at, listen))
    }
}

/// `*` is every address of this machine.
fn listen(ip: &str, port: u16) -> io::Result<TcpListener> {
    match ip {
        "*" => TcpListener::bind((Ipv6Addr::UNSPECIFIED, port))
            .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))),
        ip => TcpListener::bind((ip.trim_start_matches('[').trim_end_matches(']'), port)),
    }
}

fn read(arguments: &DevArgs) -> Reading {
    let (mut projects, mut errors, mut files, mut are_there) = (Vec::new(), Vec::new(), Vec::new(), true);
    for path in &arguments.projects {
        match Project::open(path, arguments.env.as_deref()) {
            Ok(project) => {
                files.extend_from_slice(project.files());
                projects.push(project);
            }
            Err(unopened) => {
                are_there &= unopened.files.iter().any(|file| file.exists());
                files.extend(unopened.files);
                errors.extend(unopened.problems);
            }
        }
    }
    let projects = if errors.is_empty() { Ok(projects) } else { Err(errors) };
    Reading { projects, files, are_there }
}
