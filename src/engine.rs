//! Where programs run: the one place that decides what an executor is made of.

use std::sync::Arc;

use clap::ValueEnum;
use loaderd_harness::{CodeExecutor, Tenant};
use loaderd_loader::config::{AddressRules, Network};
use loaderd_loader::graph::network_service;
use loaderd_loader::in_process::InProcess;
use loaderd_loader::placement::Placement;
use loaderd_loader::pool::{PoolConfig, PoolMetrics, STUCK_THREADS_MAX};
use loaderd_loader::sandbox::{SandboxConfig, SandboxMetrics, Sandboxes};
use loaderd_loader::{HostLimits, LoaderError, LoaderHost, LoaderOptions, Metrics, WorkerLoader};
use loaderd_runtime::limits::{ResourceLimits, stuck_threads};

use crate::sandbox;

/// Where isolates of programs that nobody trusts live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sandbox {
    /// In confined processes of their own: no network, no files; a crash costs one of them.
    #[default]
    Process,
    /// In this process: a little faster, and only V8 between a program and everything else.
    InProcess,
}

/// The loaders of this process. Cheap to clone; clones share everything.
#[derive(Clone)]
pub(crate) struct Engine {
    programs: LoaderHost,
    place: Place,
}

/// What the programs' isolates live in.
#[derive(Clone)]
enum Place {
    Processes(Arc<Sandboxes>),
    Here(Arc<InProcess>),
}

impl Engine {
    /// Starts it; needs a tokio runtime, and V8 set up.
    ///
    /// # Errors
    /// The system refused a thread or a process.
    pub(crate) fn start(sandbox: Sandbox) -> Result<Self, String> {
        let place = match sandbox {
            Sandbox::Process => {
                Place::Processes(Sandboxes::new(SandboxConfig::new(sandbox::command_line())).map_err(|error| {
                    format!("cannot start sandbox processes: {error} (--sandbox in-process does without)")
                })?)
            }
            Sandbox::InProcess => {
                Place::Here(InProcess::new(PoolConfig::default()).map_err(|error| error.to_string())?)
            }
        };
        let placement: Arc<dyn Placement> = match &place {
            Place::Processes(sandboxes) => sandboxes.clone(),
            Place::Here(here) => here.clone(),
        };
        Ok(Self { programs: LoaderHost::new(placement, limits(), tokio::runtime::Handle::current()), place })
    }

    /// Whether programs can be run, for all that is known.
    ///
    /// # Errors
    /// Why not. Without sandbox processes only a restart may change that.
    pub(crate) fn ready(&self) -> Result<(), &'static str> {
        match &self.place {
            Place::Here(_) if stuck_threads() >= STUCK_THREADS_MAX => Err("too many threads are stuck: restart"),
            Place::Processes(sandboxes) if !sandboxes.works() => Err("no sandbox process can be started"),
            Place::Here(_) | Place::Processes(_) => Ok(()),
        }
    }

    /// What the loaders count.
    pub(crate) fn loader_metrics(&self) -> Metrics {
        self.programs.metrics()
    }

    /// What the pool of never-used isolates counts; `None` when that is in other processes.
    pub(crate) fn pool_metrics(&self) -> Option<PoolMetrics> {
        match &self.place {
            Place::Here(here) => Some(here.pool_metrics()),
            Place::Processes(_) => None,
        }
    }

    /// What the pool of sandbox processes counts, where there is one.
    pub(crate) fn sandbox_metrics(&self) -> Option<SandboxMetrics> {
        match &self.place {
            Place::Here(_) => None,
            Place::Processes(sandboxes) => Some(sandboxes.metrics()),
        }
    }

    /// An executor for programs that nobody trusts, on behalf of a tenant where there is one.
    pub(crate) fn executor(&self, tenant: Option<Tenant>) -> CodeExecutor {
        let executor = CodeExecutor::new(self.programs.loader(LoaderOptions::default()));
        match tenant {
            Some(tenant) => executor.for_tenant(tenant),
            None => executor,
        }
    }

    /// A loader for the user's own code: it runs in this process and reaches every network that this machine does.
    ///
    /// # Errors
    /// The system refused a thread, or the network cannot be used.
    pub(crate) fn trusted_loader(&self) -> Result<WorkerLoader, String> {
        let here = match &self.place {
            Place::Here(_) => self.programs.clone(),
            Place::Processes(_) => {
                let placement = InProcess::new(PoolConfig { target: 1, ..PoolConfig::default() })
                    .map_err(|error: LoaderError| error.to_string())?;
                LoaderHost::new(placement, limits(), tokio::runtime::Handle::current())
            }
        };
        let rules = AddressRules { allow: vec!["network".to_owned()], deny: Vec::new() };
        let network = Network { rules, ..Network::internet() };
        let outbound = network_service(&network, &tokio::runtime::Handle::current())?;
        Ok(here.loader(LoaderOptions { outbound: Some(outbound), ..LoaderOptions::default() }))
    }
}

/// A request says what its program may use, and a wall clock bounds every pass.
fn limits() -> HostLimits {
    HostLimits { invocation: ResourceLimits::default(), ..HostLimits::default() }
}
