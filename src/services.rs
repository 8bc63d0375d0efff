//! What `serve`, `test` and `dev` share: the arguments that change a config, and a config to running services.

use std::io::Write;
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::sync::Arc;

use loaderd_loader::cache::CACHE_BYTES_MAX;
use loaderd_loader::config::{
    self, Config, ConfigError, FieldPath, Listen, Override, OverrideUse, Overrides, Validation,
};
use loaderd_loader::graph::{Graph, GraphError, GraphOptions};
use loaderd_loader::pool::PoolConfig;
use loaderd_loader::{CallerCaps, HostLimits, LoaderHost};
use loaderd_runtime::channel::{ConsoleLevel, ConsoleSink};
use loaderd_runtime::compat;
use loaderd_runtime::isolate::ClockPolicy;
use loaderd_wrangler_compat::{Diagnostic, Encoded};

use crate::config::{Named, problem, refuse};

/// Arguments of workerd that change what a config says, in both `serve` and `test`.
#[derive(clap::Args, Debug)]
pub(crate) struct ChangeArgs {
    /// Let the socket NAME listen on ADDR, whatever the config says; may be repeated
    #[arg(short, long, value_name = "NAME=ADDR")]
    pub(crate) socket_addr: Vec<Named>,

    /// Use PATH for the disk service NAME, whatever the config says; may be repeated
    #[arg(short, long, value_name = "NAME=PATH")]
    directory_path: Vec<Named>,

    /// Connect the external service NAME to ADDR, whatever the config says; may be repeated
    #[arg(short, long, value_name = "NAME=ADDR")]
    external_addr: Vec<Named>,

    /// Permit features that workerd may still change
    #[arg(long)]
    experimental: bool,

    /// Start again when the config, or a file it embeds, changes
    #[arg(short, long)]
    pub(crate) watch: bool,

    /// Log more, to standard error
    #[arg(short, long)]
    verbose: bool,

    /// Memory for the Cache API of Workers that have no cacheApiOutbound, and as much again for the Workers that they
    /// load; 0 for none
    #[arg(long, value_name = "BYTES", default_value_t = CACHE_BYTES_MAX)]
    cache_bytes: usize,

    #[command(flatten)]
    caps: CapArgs,

    #[command(flatten)]
    unsupported: UnsupportedArgs,
}

/// Caps that the platform has on Workers that load others, and that nobody has here who does not ask for them.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct CapArgs {
    /// Let each request to a Worker have at most N distinct dynamic Workers running at once (4 on the platform)
    #[arg(long, value_name = "N")]
    dynamic_workers_per_request: Option<NonZeroU32>,

    /// The same for each Durable Object (10 on the platform)
    #[arg(long, value_name = "N")]
    dynamic_workers_per_object: Option<NonZeroU32>,
}

impl CapArgs {
    pub(crate) fn caps(self) -> CallerCaps {
        CallerCaps { request: self.dynamic_workers_per_request, durable_object: self.dynamic_workers_per_object }
    }
}

/// Arguments that workerd takes and loaderd refuses by name, so that nobody believes them in force.
#[derive(clap::Args, Debug)]
struct UnsupportedArgs {
    #[arg(short, long, hide = true, value_name = "ADDR")]
    inspector_addr: Option<String>,
    #[arg(long, hide = true, value_name = "ADDR")]
    debug_port: Option<String>,
    #[arg(long, hide = true, value_name = "PATH=CATEGORIES", visible_alias = "p")]
    perfetto_trace: Option<String>,
    #[arg(long, hide = true, value_name = "PATH")]
    async_trace: Option<String>,
    #[arg(long, hide = true, value_name = "FRAMES")]
    async_trace_stacks: Option<String>,
    #[arg(long, hide = true)]
    async_trace_promises: bool,
    #[arg(long, hide = true, value_name = "ADDR")]
    cluster_addr: Option<String>,
    #[arg(long, hide = true, value_name = "ADDR")]
    cluster_advertise: Option<String>,
    #[arg(long, hide = true)]
    pyodide_package_disk_cache_dir: Option<String>,
    #[arg(long, hide = true)]
    pyodide_bundle_disk_cache_dir: Option<String>,
    #[arg(long, hide = true)]
    python_save_snapshot: bool,
    #[arg(long, hide = true)]
    python_save_baseline_snapshot: bool,
    #[arg(long, hide = true)]
    python_load_snapshot: Option<String>,
    #[arg(long, hide = true)]
    python_snapshot_dir: Option<String>,
}

impl UnsupportedArgs {
    fn named(&self) -> Option<&'static str> {
        let given = [
            (self.inspector_addr.is_some(), "--inspector-addr"),
            (self.debug_port.is_some(), "--debug-port"),
            (self.perfetto_trace.is_some(), "--perfetto-trace"),
            (self.async_trace.is_some(), "--async-trace"),
            (self.async_trace_stacks.is_some(), "--async-trace-stacks"),
            (self.async_trace_promises, "--async-trace-promises"),
            (self.cluster_addr.is_some(), "--cluster-addr"),
            (self.cluster_advertise.is_some(), "--cluster-advertise"),
            (self.pyodide_package_disk_cache_dir.is_some(), "--pyodide-package-disk-cache-dir"),
            (self.pyodide_bundle_disk_cache_dir.is_some(), "--pyodide-bundle-disk-cache-dir"),
            (self.python_save_snapshot, "--python-save-snapshot"),
            (self.python_save_baseline_snapshot, "--python-save-baseline-snapshot"),
            (self.python_load_snapshot.is_some(), "--python-load-snapshot"),
            (self.python_snapshot_dir.is_some(), "--python-snapshot-dir"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }
}

impl ChangeArgs {
    /// Refuses what is not supported.
    pub(crate) fn check(&self) -> Result<(), ExitCode> {
        match self.unsupported.named() {
            Some(name) => Err(refuse(&[problem(format!("{name} is not supported by loaderd."))])),
            None => Ok(()),
        }
    }

    /// How much is logged, unless the environment says so.
    pub(crate) fn log_level(&self) -> &'static str {
        if self.verbose { "info" } else { "warn" }
    }

    /// `descriptors` are what `--socket-fd` gives.
    pub(crate) fn overrides(&self, descriptors: Vec<Override<Listen>>) -> Overrides {
        let named = |it: &Named| Override { name: it.name.clone(), value: it.value.clone() };
        let address = |it: &Named| Override { name: it.name.clone(), value: Listen::Address(it.value.clone()) };
        Overrides {
            sockets: self.socket_addr.iter().map(address).chain(descriptors).collect(),
            externals: self.external_addr.iter().map(named).collect(),
            directories: self
                .directory_path
                .iter()
                .map(|it| Override { name: it.name.clone(), value: it.value.clone().into() })
                .collect(),
        }
    }

    pub(crate) fn extras(&self) -> Extras {
        Extras { cache_bytes_max: self.cache_bytes, caller_caps: self.caps.caps() }
    }

    pub(crate) fn experimental(&self) -> config::Experimental {
        if self.experimental { config::Experimental::Permitted } else { config::Experimental::Refused }
    }
}

/// A config that is decoded, changed as the command line says, and free of mistakes that show before code runs.
pub(crate) fn checked_config(
    encoded: &Encoded,
    overrides: &Overrides,
    used_for: OverrideUse,
    against: &Validation,
) -> Result<Config, Vec<Diagnostic>> {
    let mut config = encoded.decode()?;
    let mut errors = config.apply_overrides(overrides, used_for);
    errors.extend(config.validate(against));
    if errors.is_empty() { Ok(config) } else { Err(errors.iter().map(|error| encoded.diagnose(error)).collect()) }
}

/// What the command line says of all services, and workerd's does not.
#[derive(Clone, Copy)]
pub(crate) struct Extras {
    pub(crate) cache_bytes_max: usize,
    pub(crate) caller_caps: CallerCaps,
}

/// Starts the services of a config. Everything wrong with them is in the error, one problem each.
pub(crate) async fn start(
    config: &Config,
    limits: HostLimits,
    against: &Validation,
    extras: Extras,
    console: Arc<dyn ConsoleSink>,
) -> Result<Graph, Vec<ConfigError>> {
    let tasks = tokio::runtime::Handle::current();
    let host = LoaderHost::in_process(PoolConfig::default(), limits, tasks);
    let (host, _) = host.map_err(|error| vec![ConfigError::new(FieldPath::root(), error.to_string())])?;
    let options = GraphOptions {
        experimental: match against.experimental {
            config::Experimental::Permitted => compat::Experimental::Allowed,
            config::Experimental::Refused => compat::Experimental::Refused,
        },
        compat_date: against.compat_date.clone(),
        console: Some(console),
        // What a config describes is the user's own code; as in workerd it sees the real time.
        clock: ClockPolicy::Real,
        cache_bytes_max: extras.cache_bytes_max,
        caller_caps: extras.caller_caps,
    };
    let graph = Graph::start(config, &host, &options).await;
    graph.map_err(|errors| errors.iter().flat_map(|error| problems(config, error)).collect())
}

/// One for each line that is about a field; a report of code that does not start is whole, and about none.
fn problems(config: &Config, error: &GraphError) -> Vec<ConfigError> {
    let message = error.to_string();
    match error.field(config) {
        Some(field) => message.lines().map(|line| ConfigError::new(field.clone(), line)).collect(),
        None => vec![ConfigError::new(FieldPath::root(), message)],
    }
}

/// Problems of a config, with their places in the file as far as they have one.
pub(crate) fn places(encoded: &Encoded, problems: &[ConfigError]) -> Vec<String> {
    let place = |problem: &ConfigError| match problem.field.parent() {
        Some(_) => encoded.diagnose(problem).to_string(),
        None => problem.message.clone(),
    };
    problems.iter().map(place).collect()
}

/// The console of Workers: as in workerd, warnings and errors go to standard error and the rest to standard output.
pub(crate) struct Console;

impl ConsoleSink for Console {
    fn line(&self, level: ConsoleLevel, text: &str) {
        // Nobody reading it is no reason to fail.
        let _ = match level {
            ConsoleLevel::Warn | ConsoleLevel::Error => writeln!(std::io::stderr().lock(), "{text}"),
            ConsoleLevel::Debug | ConsoleLevel::Info | ConsoleLevel::Log => {
                writeln!(std::io::stdout().lock(), "{text}")
            }
        };
    }
}
