//! The Worker Loader: who runs, with which capabilities and limits. It knows nothing of passes.
//!
//! | Room | Owns |
//! |---|---|
//! | [`host`] | what all loaders of a process share: placement, limits, the bound on live isolates, counters |
//! | [`loader`] | one cache namespace: `load` and `get` |
//! | [`code`] | what is to be loaded, and the checks on it that need no isolate |
//! | [`stub`] and [`entrypoint`] | what a caller holds: a Worker, its entrypoints, their invocations |
//! | [`callers`] | the optional cap on distinct Workers that one caller has running |
//! | `worker` | a Worker's states: asleep, starting, running, failed, ended |
//! | [`live`] | which isolates are alive and idle, admission and eviction |
//! | [`config`] | what one server runs, as plain data, validated |
//! | [`placement`] | the seam to wherever isolates live |
//! | [`error`] | what can go wrong, and whose fault it is |

pub mod callers;
pub mod code;
pub mod config;
pub mod entrypoint;
pub mod error;
pub mod host;
pub mod live;
pub mod loader;
pub mod placement;
pub mod stub;
mod worker;

pub use callers::Caller;
pub use code::{CodeError, GlobalOutbound, ModuleSource, WorkerCode};
pub use entrypoint::{Answering, Entrypoint, Invocation};
pub use error::{LoaderError, Overload};
pub use host::{HostLimits, LoaderHost, LoaderOptions};
pub use live::Metrics;
pub use loader::WorkerLoader;
pub use stub::WorkerStub;
pub use worker::WAITING_CALLS_MAX;
