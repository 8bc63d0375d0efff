//! Where programs run: the one place that decides what an executor is made of.

use std::sync::Arc;

use loaderd_harness::CodeExecutor;
use loaderd_loader::config::{AddressRules, Network};
use loaderd_loader::graph::network_service;
use loaderd_loader::in_process::InProcess;
use loaderd_loader::pool::{PoolConfig, PoolMetrics};
use loaderd_loader::{HostLimits, LoaderError, LoaderHost, LoaderOptions, Metrics, WorkerLoader};
use loaderd_runtime::limits::ResourceLimits;

/// The loaders of this process. Cheap to clone; clones share everything.
#[derive(Clone)]
pub(crate) struct Engine {
    host: LoaderHost,
    placement: Arc<InProcess>,
}

impl Engine {
    /// Starts it; needs a tokio runtime, and V8 set up.
    ///
    /// # Errors
    /// The system refused a thread.
    pub(crate) fn start() -> Result<Self, LoaderError> {
        let placement = InProcess::new(PoolConfig::default())?;
        // A request says what its program may use, and a wall clock bounds every pass.
        let limits = HostLimits { invocation: ResourceLimits::default(), ..HostLimits::default() };
        let host = LoaderHost::new(placement.clone(), limits, tokio::runtime::Handle::current());
        Ok(Self { host, placement })
    }

    /// What the loaders count.
    pub(crate) fn loader_metrics(&self) -> Metrics {
        self.host.metrics()
    }

    /// What the pool of never-used isolates counts.
    pub(crate) fn pool_metrics(&self) -> PoolMetrics {
        self.placement.pool_metrics()
    }

    /// An executor for programs that nobody trusts.
    pub(crate) fn executor(&self) -> CodeExecutor {
        CodeExecutor::new(self.host.loader(LoaderOptions::default()))
    }

    /// A loader for the user's own code: it reaches every network that this machine does.
    ///
    /// # Errors
    /// The network cannot be used.
    pub(crate) fn trusted_loader(&self) -> Result<WorkerLoader, String> {
        let rules = AddressRules { allow: vec!["network".to_owned()], deny: Vec::new() };
        let network = Network { rules, ..Network::internet() };
        let outbound = network_service(&network, &tokio::runtime::Handle::current())?;
        Ok(self.host.loader(LoaderOptions { outbound: Some(outbound), ..LoaderOptions::default() }))
    }
}
