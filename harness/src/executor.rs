//! [`CodeExecutor`]: the library's door.

use std::sync::Arc;

use loaderd_loader::WorkerLoader;

use crate::error::PassFailure;
use crate::host::PassHost;
use crate::metrics::PassMetrics;
use crate::pass::worker::{LogObserver, PassLoader};
use crate::pass::{self, PassSettings};
use crate::platform::Platform;
use crate::request::CodeExecutionRequest;
use crate::result::{CodeExecutionResult, Implementation};
use crate::tenant::Tenant;

/// The compatibility date of the Workers that passes run in, where nothing else is said.
pub const COMPATIBILITY_DATE_DEFAULT: &str = "2025-05-01";

/// Runs programs, each in an isolate of its own that is destroyed afterwards. Cheap to clone; usable from any thread,
/// inside a tokio runtime with time and I/O enabled.
#[derive(Clone)]
pub struct CodeExecutor(Arc<PassSettings>);

impl CodeExecutor {
    /// An executor over our own loader.
    #[must_use]
    pub fn new(loader: WorkerLoader) -> Self {
        Self::with_loader(Arc::new(Platform::new(loader)))
    }

    /// An executor over any loader.
    #[must_use]
    pub fn with_loader(loader: Arc<dyn PassLoader>) -> Self {
        Self(Arc::new(PassSettings {
            loader,
            implementation: Implementation::default(),
            compatibility_date: COMPATIBILITY_DATE_DEFAULT.to_owned(),
            counters: Arc::default(),
            tenant: None,
        }))
    }

    /// The same for the passes of one tenant; what is counted is counted together. Passes of different tenants never
    /// share a sandbox process.
    #[must_use]
    pub fn for_tenant(&self, tenant: Tenant) -> Self {
        Self(Arc::new(PassSettings { tenant: Some(tenant), ..(*self.0).clone() }))
    }

    /// The same with another compatibility date (`YYYY-MM-DD`) for the Workers that passes run in.
    #[must_use]
    pub fn with_compatibility_date(self, date: impl Into<String>) -> Self {
        Self(Arc::new(PassSettings { compatibility_date: date.into(), counters: Arc::default(), ..(*self.0).clone() }))
    }

    /// What results and errors of this executor carry.
    #[must_use]
    pub fn implementation(&self) -> &Implementation {
        &self.0.implementation
    }

    /// What it has counted of its passes, those of its clones included.
    #[must_use]
    pub fn metrics(&self) -> PassMetrics {
        self.0.counters.snapshot()
    }

    /// Runs one program to its end.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the pass: no further host call starts, the isolate is ended, calls in flight are
    /// dropped, and nothing of the pass remains. The program may have had effects through its host; nothing is
    /// repeated or rolled back.
    ///
    /// # Errors
    /// One of the nine errors of the contract, or the way in which the host broke.
    pub async fn execute(
        &self,
        request: CodeExecutionRequest,
        host: Arc<dyn PassHost>,
    ) -> Result<CodeExecutionResult, PassFailure> {
        pass::run(&self.0, request, host, None).await
    }

    /// Like [`execute`](Self::execute), and tells `observer` of each captured console line at once.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub async fn execute_observed(
        &self,
        request: CodeExecutionRequest,
        host: Arc<dyn PassHost>,
        observer: Arc<dyn LogObserver>,
    ) -> Result<CodeExecutionResult, PassFailure> {
        pass::run(&self.0, request, host, Some(observer)).await
    }
}
