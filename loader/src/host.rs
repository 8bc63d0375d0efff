//! The host of every loader in this process: one placement, one set of limits, one bound on live isolates, one set of
//! counters. Loaders (cache namespaces) are made from it.

use std::sync::Arc;
use std::time::Duration;

use loaderd_runtime::channel::ConsoleSink;
use loaderd_runtime::compat::Experimental;
use loaderd_runtime::limits::ResourceLimits;
use loaderd_runtime::modules::ExtensionModule;
use loaderd_runtime::rpc::Cap;

use crate::cache::MemoryCache;
use crate::callers::CallerCaps;
use crate::error::LoaderError;
use crate::in_process::InProcess;
use crate::live::{LiveSet, Metrics};
use crate::loader::WorkerLoader;
use crate::placement::Placement;
use crate::pool::PoolConfig;
use crate::tails::Activity;

/// Isolates alive at once when the host does not say: what one process can hold under the usual 65,530 memory
/// mappings, with room to spare.
pub const LIVE_ISOLATES_MAX: usize = 512;

/// Isolates kept warm with nothing to do when the host does not say. Over it the least recently used is evicted.
pub const IDLE_ISOLATES_MAX: usize = 64;

/// Bytes of code that dynamic Workers hold together when the host does not say. Each may have up to
/// [`CODE_BYTES_MAX`](crate::code::CODE_BYTES_MAX); this is 2 MiB for each of [`LIVE_ISOLATES_MAX`].
pub const HELD_CODE_BYTES_MAX: usize = 1 << 30;

/// CPU time for start-up when the host does not say.
pub const STARTUP_CPU: Duration = Duration::from_secs(1);

/// What a host allows, whatever the code it loads asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLimits {
    /// Default and ceiling for every invocation.
    pub invocation: ResourceLimits,
    /// CPU time for compiling and evaluating a Worker's modules, a budget of its own.
    pub startup_cpu: Duration,
    /// Isolates alive at once, those being torn down included. Over it a load is refused as overloaded, unless an
    /// idle isolate can be evicted for it.
    pub live_isolates_max: usize,
    /// Isolates that are alive with nothing to do.
    pub idle_isolates_max: usize,
    /// Bytes of code and `env` that dynamic Workers hold together: those that run, those that wait, and those that were
    /// evicted and whose stubs are held. Over it a load is refused as overloaded, unless evicting idle Workers makes room.
    pub held_code_bytes_max: usize,
}

impl Default for HostLimits {
    /// The platform's paid plan: 30 seconds of CPU and 10,000 subrequests an invocation, one second to start.
    fn default() -> Self {
        Self {
            invocation: ResourceLimits { cpu_ms: Some(30_000), sub_requests: Some(10_000) },
            startup_cpu: STARTUP_CPU,
            live_isolates_max: LIVE_ISOLATES_MAX,
            idle_isolates_max: IDLE_ISOLATES_MAX,
            held_code_bytes_max: HELD_CODE_BYTES_MAX,
        }
    }
}

/// Where loaders come from. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct LoaderHost(Arc<HostShared>);

pub(crate) struct HostShared {
    pub(crate) placement: Arc<dyn Placement>,
    pub(crate) limits: HostLimits,
    pub(crate) live: Arc<LiveSet>,
    pub(crate) tasks: tokio::runtime::Handle,
}

/// What a loader passes on from whoever it belongs to.
#[derive(Clone)]
pub struct LoaderOptions {
    /// Where the owner's own global `fetch()` goes: what [`GlobalOutbound::Inherit`](crate::GlobalOutbound) means.
    /// `None`: nowhere.
    pub outbound: Option<Cap>,
    /// In which each Worker that is loaded gets a namespace. `None`: they have no cache.
    pub cache: Option<MemoryCache>,
    /// Whether code may ask for experimental compatibility flags.
    pub experimental: Experimental,
    /// Receives the console lines of Workers whose code names nobody.
    pub console: Option<Arc<dyn ConsoleSink>>,
    /// On whose behalf it loads: code of different tenants never shares a sandbox process. Without one, code is in
    /// the company of other code without one.
    pub tenant: Option<Arc<str>>,
    /// What the host offers for import to Workers that are loaded.
    pub extensions: Arc<[ExtensionModule]>,
    /// Of Workers that load through a binding.
    pub caller_caps: CallerCaps,
    /// Counts the traces of Workers that are loaded.
    pub traces: Activity,
}

impl Default for LoaderOptions {
    fn default() -> Self {
        Self {
            outbound: None,
            cache: None,
            experimental: Experimental::Refused,
            console: None,
            tenant: None,
            extensions: Arc::default(),
            caller_caps: CallerCaps::default(),
            traces: Activity::default(),
        }
    }
}

impl LoaderHost {
    /// A host over a placement. `tasks` runs the callbacks that fetch code; nothing else is spawned on it.
    #[must_use]
    pub fn new(placement: Arc<dyn Placement>, limits: HostLimits, tasks: tokio::runtime::Handle) -> Self {
        let live = LiveSet::new(&limits);
        Self(Arc::new(HostShared { placement, limits, live, tasks }))
    }

    /// A host whose isolates live in this process, and the placement, for its counters.
    /// `runtime::setup::initialize` must have been called.
    ///
    /// # Errors
    /// The system refused the pool's thread.
    pub fn in_process(
        pool: PoolConfig,
        limits: HostLimits,
        tasks: tokio::runtime::Handle,
    ) -> Result<(Self, Arc<InProcess>), LoaderError> {
        let placement = InProcess::new(pool)?;
        Ok((Self::new(placement.clone(), limits, tasks), placement))
    }

    /// A loader with an empty cache of its own. The cache goes with the last handle to the loader; Workers whose
    /// stubs are still held stay usable.
    #[must_use]
    pub fn loader(&self, options: LoaderOptions) -> WorkerLoader {
        WorkerLoader::new(Arc::clone(&self.0), options)
    }

    /// Where this host's I/O runs.
    pub(crate) fn tasks(&self) -> &tokio::runtime::Handle {
        &self.0.tasks
    }

    /// Counters, for metrics.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.0.live.metrics()
    }
}
