//! [`WorkerLoader`]: one cache namespace. `load` never reuses; `get` keeps a Worker warm under its name.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use loaderd_runtime::limits::Cause;
use loaderd_runtime::rpc::RpcError;
use parking_lot::Mutex;

use crate::callers::CallerCaps;
use crate::code::{CheckedCode, WorkerCode};
use crate::error::LoaderError;
use crate::host::{HostShared, LoaderOptions};
use crate::stub::WorkerStub;
use crate::worker::{Prepared, Worker};

/// Loads Workers. Cheap to clone; clones share the cache. Usable from any thread, never blocks.
#[derive(Clone)]
pub struct WorkerLoader {
    namespace: Arc<Namespace>,
    options: Arc<LoaderOptions>,
}

/// One cache, shared by the clones of a loader and known (weakly) to the Workers in it.
pub(crate) struct Namespace {
    pub(crate) host: Arc<HostShared>,
    cache: Mutex<HashMap<String, Arc<Worker>>>,
}

impl WorkerLoader {
    pub(crate) fn new(host: Arc<HostShared>, options: LoaderOptions) -> Self {
        Self { namespace: Arc::new(Namespace { host, cache: Mutex::default() }), options: Arc::new(options) }
    }

    /// The same cache for another owner, who passes on other things.
    #[must_use]
    pub fn with_options(&self, options: LoaderOptions) -> Self {
        Self { namespace: Arc::clone(&self.namespace), options: Arc::new(options) }
    }

    pub(crate) fn caller_caps(&self) -> CallerCaps {
        self.options.caller_caps
    }

    /// The same cache and what is passed on, on behalf of a tenant.
    #[must_use]
    pub fn for_tenant(&self, tenant: Arc<str>) -> Self {
        self.with_options(LoaderOptions { tenant: Some(tenant), ..(*self.options).clone() })
    }

    /// Loads code into an isolate of its own. The checks happen here; starting goes on by itself, and requests wait
    /// for it. A failed start is the error of each call and of [`WorkerStub::ready`].
    ///
    /// # Errors
    /// The code was refused, or there is no room for one more isolate.
    pub fn load(&self, code: WorkerCode) -> Result<WorkerStub, LoaderError> {
        let prepared = Prepared::new(&self.namespace.host, &self.options, code)?;
        let worker = Worker::loaded(&self.namespace, prepared);
        worker.start()?;
        Ok(WorkerStub::new(worker))
    }

    /// Loads code that was checked already and stays loaded: a Worker of the configuration, which has no size caps.
    pub(crate) fn load_configured(&self, code: CheckedCode) -> Result<WorkerStub, LoaderError> {
        let worker = Worker::pinned(&self.namespace, Prepared::of_checked(&self.namespace.host, &self.options, code));
        worker.start()?;
        Ok(WorkerStub::new(worker))
    }

    /// The Worker of this name, warm where it is, else loaded from what `get_code` gives. Without a name nothing is
    /// reused, as with [`load`](Self::load). `get_code` is called only on a miss, and once for all who ask meanwhile;
    /// a load that fails is forgotten, so that the next `get` tries again.
    ///
    /// Every failure is the error of each call and of [`WorkerStub::ready`].
    pub fn get<F, C>(&self, id: Option<&str>, get_code: F) -> WorkerStub
    where
        F: FnOnce() -> C,
        C: Future<Output = Result<WorkerCode, RpcError>> + Send + 'static,
    {
        let (worker, replaced) = {
            let mut cache = self.namespace.cache.lock();
            // One whose isolate has ended is about to be forgotten.
            if let Some(worker) = id.and_then(|id| cache.get(id)).filter(|worker| !worker.has_ended()) {
                return WorkerStub::new(Arc::clone(worker));
            }
            let worker = Worker::awaiting_code(&self.namespace, id.map(str::to_owned), self.options.tenant.clone());
            let replaced = id.and_then(|id| cache.insert(id.to_owned(), Arc::clone(&worker)));
            (worker, replaced)
        };
        // Outside the lock: the last reference ends the isolate.
        drop(replaced);
        let code = get_code();
        let (host, options) = (Arc::clone(&self.namespace.host), Arc::clone(&self.options));
        let loading = Loading(Arc::clone(&worker));
        self.namespace.host.tasks.spawn(async move {
            let prepared = match code.await {
                Ok(code) => Prepared::new(&host, &options, code),
                Err(error) => Err(LoaderError::GetCode(Box::new(error))),
            };
            loading.0.code_arrived(prepared);
        });
        WorkerStub::new(worker)
    }

    /// Forgets every cached Worker. Stubs on hand stay usable; the next `get` of each name loads anew.
    pub fn forget_all(&self) {
        let forgotten = std::mem::take(&mut *self.namespace.cache.lock());
        drop(forgotten);
    }
}

/// A Worker whose code is awaited. Should the task that awaits it be dropped, those who wait for the Worker hear it.
struct Loading(Arc<Worker>);

impl Drop for Loading {
    fn drop(&mut self) {
        // Does nothing where the code has arrived.
        self.0.code_arrived(Err(LoaderError::Ended(Cause::Shutdown)));
    }
}

impl Namespace {
    /// Forgets one Worker, if it is still the one cached under its name.
    pub(crate) fn forget(&self, name: &str, worker: &Worker) {
        let forgotten = {
            let mut cache = self.cache.lock();
            match cache.get(name) {
                Some(cached) if std::ptr::eq(Arc::as_ptr(cached), worker) => cache.remove(name),
                _ => None,
            }
        };
        // Dropped outside the lock: the last reference ends the isolate.
        drop(forgotten);
    }
}
