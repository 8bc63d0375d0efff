//! The Worker Loader: who runs, with which capabilities and limits. It knows nothing of passes.
//!
//! | Room | Owns |
//! |---|---|
//! | [`host`] | what all loaders of a process share: placement, limits, the bound on live isolates, counters |
//! | [`loader`] | one cache namespace: `load` and `get` |
//! | [`code`] | what is to be loaded, and the checks on it that need no isolate |
//! | [`stub`] and [`entrypoint`] | what a caller holds: a Worker, its entrypoints, their invocations |
//! | [`cache`] | the Cache API's memory |
//! | [`callers`] | the optional cap on distinct Workers that one caller has running |
//! | `worker` | a Worker's states: asleep, starting, running, failed, ended |
//! | [`live`] | which isolates are alive and idle, admission and eviction |
//! | `shares` | how much of something bounded each tenant may hold |
//! | [`config`] | what one server runs, as plain data, validated |
//! | [`fetch`] | the fetch event as it crosses between a Worker and its host |
//! | `websocket` | WebSockets on connections, and as they cross between a Worker and its host |
//! | [`connect`] | the same for the connect event: connections without a protocol |
//! | `tls` | TLS, from options to the TLS library |
//! | [`tails`] | Tail Workers: what an invocation tells of itself, brought to whoever asked for it |
//! | [`graph`] | the services of one configuration, running; sockets |
//! | [`unix_socket`] | listening on a Unix socket that has a file |
//! | [`placement`] | the seam to wherever isolates live |
//! | [`in_process`] | isolates in this process: the placement over the pool |
//! | [`pool`] | never-used isolates, made ahead, each used once; `mappings`: how many a process can hold |
//! | [`sandbox`] | a placement: processes of their own, supervised |
//! | [`confine`] | what such a process may do to the machine |
//! | [`error`] | what can go wrong, and whose fault it is |

mod binding;
pub mod cache;
pub mod callers;
pub mod code;
pub mod config;
pub mod confine;
pub mod connect;
pub mod entrypoint;
pub mod error;
pub mod fetch;
pub mod freed;
pub mod graph;
pub mod host;
pub mod in_process;
pub mod live;
pub mod loader;
mod mappings;
pub mod placement;
pub mod pool;
pub mod sandbox;
mod shares;
pub mod stub;
pub mod tails;
mod tls;
pub mod unix_socket;
mod websocket;
mod worker;

pub use callers::{Caller, CallerCaps};
pub use code::{CodeError, GlobalOutbound, ModuleSource, WorkerCode};
pub use entrypoint::{Answering, Entrypoint, Invocation};
pub use error::{LoaderError, Overload};
pub use host::{HostLimits, LoaderHost, LoaderOptions};
pub use in_process::InProcess;
pub use live::Metrics;
pub use loader::WorkerLoader;
pub use pool::{PoolConfig, PoolMetrics};
pub use stub::WorkerStub;
pub use worker::WAITING_CALLS_MAX;
