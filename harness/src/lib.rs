//! The code executor: runs one program in one fresh isolate, lets it call its host, and answers with its value, its
//! logs and what it used, or with one of nine errors.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use loaderd_harness::*;
//! # async fn example(loader: loaderd_loader::WorkerLoader) -> Result<(), Box<dyn std::error::Error>> {
//! let executor = CodeExecutor::new(loader);
//! let request = CodeExecutionRequest::new(
//!     "async () => 6 * 7",
//!     Vec::new(),
//!     NetworkPolicy::Disabled,
//!     CodeExecutionLimits::default(),
//! )?;
//! let result = executor.execute(request, Arc::new(NoHost)).await?;
//! assert_eq!(result.value.as_str(), "42");
//! # Ok(())
//! # }
//! ```
//!
//! | Room | Owns |
//! |---|---|
//! | [`executor`] | the library's door |
//! | [`request`] | what is asked, and its bounds |
//! | [`host`] | what a program may call, and its answers |
//! | [`result`], [`error`] | what comes of it |
//! | [`metrics`] | what is counted of passes |
//! | [`json`] | JSON values as JavaScript writes them |
//! | `wire` | requests and answers as JSON |
//! | `pass` | the life of one pass; its seam to the loader is [`platform_edge`] |
//! | [`service`] | the executor over Cap'n Proto |
//! | [`tenant`] | on whose behalf |
//! | [`tools`] | a host made of a JavaScript module |
//! | `platform` | that seam filled with our own loader |
//!
//! This crate is a client of the Worker Loader and knows nothing of V8.

pub mod error;
pub mod executor;
pub mod host;
pub mod json;
pub mod metrics;
mod pass;
mod platform;
pub mod request;
pub mod result;
pub mod service;
pub mod tenant;
mod text;
pub mod tools;
mod wire;

pub use error::{
    CodeError, CodeExecutionError, Feature, PassFailure, ProgramReason, SourceReason, Surface, TimeoutKind,
};
pub use executor::CodeExecutor;
pub use host::{
    CodeHostCall, CodeHostCallOutcome, HostCallFuture, HostDefect, HostDefectKind, HostEnd, NoHost, PassHost,
};
pub use json::Json;
pub use pass::worker::LogObserver;
pub use request::{
    CodeExecutionLimits, CodeExecutionNamespace, CodeExecutionRequest, InvalidRequest, JsIdentifier, NetworkPolicy,
};
pub use result::{CodeExecutionResult, Implementation, Isolation, ResourceUse};
pub use tenant::Tenant;

/// The seam between a pass and whatever loads its Worker: for loaders other than our own, and for tests of what
/// happens when one misbehaves.
pub mod platform_edge {
    pub use crate::pass::port::{DispatchError, HostPort};
    pub use crate::pass::worker::{
        CONFIG_NAME, Diagnostic, GuestAnswer, LoadedWorker, ModuleOrigin, PassConfig, PassEntrypoint, PassLoader,
        PassModule, PassWorker, PassWorkerLimits, StartFailure, WorkerFailure,
    };
}
