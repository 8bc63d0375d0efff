//! The service graph: the services of one configuration, running, with nothing reachable but what it connects.
//!
//! | File | Owns |
//! |---|---|
//! | `build` | a configuration to running services |
//! | `env` | bindings to the `env` message |
//! | `service` | references to services, as capabilities |
//! | `network` | services that answer over a network |
//! | `dial` | opening connections, TLS included |
//! | `loopback` | sockets within the process, for tests |
//! | `listen` | what a socket is bound to |
//! | `addresses` | which addresses a network service may reach |
//! | `disk` | a folder as a service |
//! | `server` | sockets, and HTTP on them |
//! | `head` | request heads that are refused |
//! | `unread` | what clients send and nobody reads |

mod addresses;
mod build;
mod dial;
mod disk;
mod env;
mod head;
mod listen;
mod loopback;
mod network;
mod server;
mod service;
mod unread;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use loaderd_runtime::channel::ConsoleSink;
use loaderd_runtime::compat::Experimental;
use loaderd_runtime::isolate::ClockPolicy;
use loaderd_runtime::modules::exports::ExportedEntrypoint;
use loaderd_runtime::rpc::{Cap, CapKind};

pub use build::GraphError;
pub use listen::BindError;
pub use server::{Bound, CONNECTIONS_MAX, DRAIN_MAX, HEAD_BYTES_MAX, HEAD_LINES_MAX, Patience, Server};
pub use service::Service;
pub use unread::UNREAD_BYTES_MAX;

use self::loopback::Loopbacks;
use crate::WorkerStub;
use crate::cache::CACHE_BYTES_MAX;
use crate::callers::CallerCaps;
use crate::config::{Network, ServiceDesignator};
use crate::host::LoaderHost;
use crate::tails::Activity;

/// The services of one configuration, running. Cheap to clone; they end with the last clone.
#[derive(Clone)]
pub struct Graph(Arc<Shared>);

/// How a configuration is run.
#[derive(Clone)]
pub struct GraphOptions {
    /// Whether Workers may have experimental compatibility flags.
    pub experimental: Experimental,
    /// The compatibility date of every Worker, which then has none of its own.
    pub compat_date: Option<String>,
    /// Receives what Workers write to their console.
    pub console: Option<Arc<dyn ConsoleSink>>,
    pub clock: ClockPolicy,
    /// Bytes for the Cache API of Workers whose configuration names no service for it, and as many again for the Workers
    /// that they load. 0: they have no cache.
    pub cache_bytes_max: usize,
    /// Of every Worker, under its own.
    pub caller_caps: CallerCaps,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self {
            experimental: Experimental::Refused,
            compat_date: None,
            console: None,
            clock: ClockPolicy::Frozen,
            cache_bytes_max: CACHE_BYTES_MAX,
            caller_caps: CallerCaps::default(),
        }
    }
}

/// A network service by itself, for a loader that belongs to no configuration.
///
/// # Errors
/// An address rule is none.
pub fn network_service(config: &Network, tasks: &tokio::runtime::Handle) -> Result<Cap, String> {
    Ok(Cap { kind: CapKind::Service, target: network::service(config, tasks)? })
}

pub(crate) struct Shared {
    host: LoaderHost,
    loopbacks: Loopbacks,
    services: OnceLock<HashMap<String, Node>>,
    /// Traces on their way to Tail Workers.
    activity: Activity,
}

/// A running service.
enum Node {
    Worker(WorkerStub),
    /// Anything that answers fetches and has no entrypoints.
    Plain(Arc<dyn loaderd_runtime::rpc::Capability>),
}

impl Graph {
    /// A service of this graph, to call from outside. Whether it exists is known at the first call.
    #[must_use]
    pub fn service(&self, designator: &ServiceDesignator) -> Service {
        Service::new(Reach::Owned(Arc::clone(&self.0)), designator)
    }

    /// What a Worker exports, the default entrypoint first. `None` for services that are not Workers.
    #[must_use]
    pub fn entrypoints(&self, service: &str) -> Option<Arc<[ExportedEntrypoint]>> {
        match self.0.node(service)? {
            Node::Worker(stub) => stub.load_report().map(|report| report.entrypoints),
            Node::Plain(_) => None,
        }
    }

    fn loopbacks(&self) -> &Loopbacks {
        &self.0.loopbacks
    }

    /// Completes when no trace is on its way to a Tail Worker, at the latest after `at_most`. May be dropped.
    pub async fn traces_delivered(&self, at_most: Duration) {
        self.0.activity.settled(at_most).await;
    }

    /// The host that runs its Workers.
    #[must_use]
    pub fn host(&self) -> &LoaderHost {
        &self.0.host
    }
}

impl Shared {
    fn node(&self, name: &str) -> Option<&Node> {
        self.services.get()?.get(name)
    }
}

/// How a reference to a service reaches the graph: a Worker's own must not keep it alive.
#[derive(Clone)]
enum Reach {
    Owned(Arc<Shared>),
    Weak(Weak<Shared>),
}

impl Reach {
    fn shared(&self) -> Option<Arc<Shared>> {
        match self {
            Self::Owned(shared) => Some(Arc::clone(shared)),
            Self::Weak(shared) => shared.upgrade(),
        }
    }
}
