//! `loaderd serve`: the services of a workerd config, on their sockets.

use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::BorrowedFd;
use std::process::ExitCode;
use std::sync::Arc;

use loaderd_loader::HostLimits;
use loaderd_loader::config::{Config, ConfigError, FieldPath, Listen, Override, OverrideUse, ServiceKind, Validation};
use loaderd_loader::graph::{Bound, Server};
use loaderd_wrangler_compat::{Diagnostic, Encoded};

use crate::config::{ConfigArgs, Named, problem, refuse};
use crate::services::{ChangeArgs, Console, checked_config, places, start};
use crate::stop::told_to_stop;
use crate::terminal::{self, LogFormat};
use crate::watch::{Watcher, start_over};

#[derive(clap::Args, Debug)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    config: ConfigArgs,

    /// The constant to use, where the file defines several of type `Config`
    const_name: Option<String>,

    #[command(flatten)]
    server: ServerArgs,
}

/// The arguments that a compiled server takes too.
#[derive(clap::Args, Debug)]
pub(crate) struct ServerArgs {
    /// Let the socket NAME listen on the open descriptor FD; may be repeated
    #[arg(short = 'S', long, value_name = "NAME=FD")]
    socket_fd: Vec<NamedDescriptor>,

    /// Write a line of JSON to this descriptor for each socket that listens, with its port
    #[arg(long, value_name = "FD")]
    control_fd: Option<u32>,

    #[command(flatten)]
    change: ChangeArgs,
}

/// `NAME=FD`.
#[derive(Clone, Debug)]
struct NamedDescriptor {
    name: String,
    descriptor: i32,
}

impl std::str::FromStr for NamedDescriptor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Named { name, value } = text.parse()?;
        let descriptor: u16 =
            value.parse().map_err(|_| "Socket value must be a file descriptor (non-negative integer).")?;
        Ok(Self { name, descriptor: descriptor.into() })
    }
}

pub(crate) fn run(arguments: &ServeArgs) -> ExitCode {
    if let Err(code) = arguments.server.check() {
        return code;
    }
    let watcher = Watcher::default();
    match arguments.read(&watcher) {
        Ok((encoded, config)) => {
            crate::with_v8(&config.v8_flags, serve(&arguments.server, &encoded, &config, &watcher))
        }
        Err(problems) if arguments.server.change.watch => {
            refuse(&problems);
            terminal::say(WAITING);
            watcher.wait();
            start_over()
        }
        Err(problems) => refuse(&problems),
    }
}

const WAITING: &str = "Can't start server due to config errors, waiting for config files to change...";

impl ServeArgs {
    fn read(&self, watcher: &Watcher) -> Result<(Encoded, Config), Vec<Diagnostic>> {
        let encoded = self.config.read(self.const_name.as_deref(), watcher)?;
        let config = self.server.config_of(&encoded)?;
        Ok((encoded, config))
    }
}

/// Serves a config that this executable carries.
pub(crate) fn run_compiled(arguments: &ServerArgs, encoded: &[u8]) -> ExitCode {
    if let Err(code) = arguments.check() {
        return code;
    }
    if arguments.change.watch {
        return refuse(&[problem("--watch: a compiled server has no files that could change.")]);
    }
    let read = Encoded::from_bytes(encoded).map_err(|error| vec![error]);
    match read.and_then(|encoded| Ok((arguments.config_of(&encoded)?, encoded))) {
        Ok((config, encoded)) => {
            crate::with_v8(&config.v8_flags, serve(arguments, &encoded, &config, &Watcher::default()))
        }
        Err(problems) => refuse(&problems),
    }
}

impl ServerArgs {
    /// Refuses what is not supported, and descriptors that nobody can listen on.
    fn check(&self) -> Result<(), ExitCode> {
        self.change.check()?;
        let problems: Vec<Diagnostic> =
            self.socket_fd.iter().filter_map(|it| self.problem_with(it)).map(problem).collect();
        if problems.is_empty() { Ok(()) } else { Err(refuse(&problems)) }
    }

    fn problem_with(&self, NamedDescriptor { name, descriptor }: &NamedDescriptor) -> Option<String> {
        let at = format!("--socket-fd={name}={descriptor}");
        if self.change.socket_addr.iter().any(|it| it.name == *name) {
            return Some(format!("Socket \"{name}\" is given both --socket-addr and --socket-fd; use one."));
        }
        // SAFETY: asking for a descriptor's flags touches no memory, and is an error for one that is not open.
        if unsafe { libc::fcntl(*descriptor, libc::F_GETFD) } < 0 {
            return Some(format!("{at}: File descriptor is not open."));
        }
        // SAFETY: it is open, and nothing in this process closes what it was started with.
        let socket = unsafe { BorrowedFd::borrow_raw(*descriptor) };
        match nix::sys::socket::getsockopt(&socket, nix::sys::socket::sockopt::AcceptConn) {
            Ok(true) => None,
            Ok(false) => Some(format!("{at}: Socket for {name} is not listening.")),
            Err(_) => Some(format!("{at}: File descriptor is not a socket.")),
        }
    }

    fn config_of(&self, encoded: &Encoded) -> Result<Config, Vec<Diagnostic>> {
        let descriptors = self.socket_fd.iter();
        let descriptors =
            descriptors.map(|it| Override { name: it.name.clone(), value: Listen::Descriptor(it.descriptor) });
        let overrides = self.change.overrides(descriptors.collect());
        let config = checked_config(encoded, &overrides, OverrideUse::Serve, &self.validation())?;
        let loopbacks = loopbacks(&config);
        if loopbacks.is_empty() { Ok(config) } else { Err(loopbacks.iter().map(|it| encoded.diagnose(it)).collect()) }
    }

    fn validation(&self) -> Validation {
        Validation { experimental: self.change.experimental(), compat_date: None }
    }
}

async fn serve(arguments: &ServerArgs, encoded: &Encoded, config: &Config, watcher: &Watcher) -> ExitCode {
    terminal::start_server_logging(arguments.change.log_level(), LogFormat::Text);
    let failed = match serve_until_told(arguments, encoded, config, watcher).await {
        Ok(Ended::Told) => return ExitCode::SUCCESS,
        Ok(Ended::Changed) => return start_over(),
        Err(problems) => problems,
    };
    for problem in failed {
        terminal::say(&problem);
    }
    if !arguments.change.watch {
        return ExitCode::FAILURE;
    }
    terminal::say(WAITING);
    watcher.changed().await;
    start_over()
}

/// Addresses within the process, which only tests have.
fn loopbacks(config: &Config) -> Vec<ConfigError> {
    let is_loopback = |address: &str| address.starts_with("loopback:");
    let message = "`loopback:` addresses exist in `loaderd test` only.";
    let (sockets, services) = (FieldPath::root().field("sockets"), FieldPath::root().field("services"));
    let listening = config.sockets.iter().enumerate().filter_map(|(index, socket)| match &socket.listen {
        Some(Listen::Address(address)) if is_loopback(address) => Some(sockets.index(index).field("address")),
        _ => None,
    });
    let connecting = config.services.iter().enumerate().filter_map(|(index, service)| match &service.kind {
        ServiceKind::External(server) if server.address.as_deref().is_some_and(is_loopback) => {
            Some(services.index(index).field("external").field("address"))
        }
        _ => None,
    });
    listening.chain(connecting).map(|field| ConfigError::new(field, message)).collect()
}

/// Why a server ended.
enum Ended {
    Told,
    Changed,
}

async fn serve_until_told(
    arguments: &ServerArgs,
    encoded: &Encoded,
    config: &Config,
    watcher: &Watcher,
) -> Result<Ended, Vec<String>> {
    let stop = told_to_stop().map_err(|error| vec![format!("cannot wait for signals: {error}")])?;
    let mut control = arguments.control_fd.map(Control::open).transpose().map_err(|error| vec![error])?;
    let graph =
        start(config, HostLimits::default(), &arguments.validation(), arguments.change.extras(), Arc::new(Console))
            .await;
    let graph = graph.map_err(|problems| places(encoded, &problems))?;
    if config.sockets.is_empty() && !arguments.change.watch {
        terminal::say("The config defines no sockets, so there is nothing to serve.");
        return Ok(Ended::Told);
    }
    let server = Server::bind(&graph, &config.sockets).await.map_err(|error| vec![error.to_string()])?;
    for bound in server.bound() {
        tracing::info!(socket = %bound.name, address = ?bound.address, "listening");
        if let Some(control) = &mut control {
            control.announce(bound);
        }
    }
    let changed = async {
        if arguments.change.watch {
            watcher.changed().await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::pin!(stop);
    let mut ended = Ended::Told;
    let until = async {
        tokio::select! {
            () = &mut stop => {}
            () = changed => ended = Ended::Changed,
        }
    };
    server.run(until).await;
    Ok(ended)
}

/// Where the server tells whoever started it what it does, in workerd's messages. The descriptor stays open when this
/// goes: it belongs to the process, which may start over, and its end tells whoever reads it that the process is gone.
struct Control(ManuallyDrop<std::fs::File>);

impl Control {
    fn open(descriptor: u32) -> Result<Self, String> {
        use std::os::fd::FromRawFd;
        let bad = || format!("--control-fd={descriptor}: File descriptor is not open.");
        let raw = i32::try_from(descriptor).map_err(|_| bad())?;
        // SAFETY: asking for a descriptor's flags touches no memory, and is an error for one that is not open.
        if unsafe { libc::fcntl(raw, libc::F_GETFD) } < 0 {
            return Err(bad());
        }
        // SAFETY: it is open, and was passed to this process for this use alone: nothing else here knows its number.
        Ok(Self(ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(raw) })))
    }

    fn announce(&mut self, bound: &Bound) {
        // Unix sockets have no port; workerd says 0.
        let port = bound.address.map_or(0, |address| address.port());
        let name = serde_json::Value::from(bound.name.as_str());
        let message = format!("{{\"event\":\"listen\",\"socket\":{name},\"port\":{port}}}\n");
        if let Err(error) = self.0.write_all(message.as_bytes()) {
            tracing::error!("cannot write to the control descriptor: {error}");
        }
    }
}
