//! [`WorkerStub`]: what `load` and `get` give.

use std::any::Any;
use std::sync::Arc;

use loaderd_runtime::isolate::{EntrypointSpec, LoadReport};
use loaderd_runtime::limits::{Cause, ResourceLimits};
use loaderd_runtime::objects::ObjectKey;
use loaderd_runtime::rpc::{Call, Capability, Message, Reply};

use crate::entrypoint::Entrypoint;
use crate::error::LoaderError;
use crate::worker::{Busy, Worker};

/// A loaded (or loading) Worker. Cheap to clone. While a stub, an entrypoint or a call of it is held the Worker is
/// usable; an isolate that was evicted meanwhile, or that a limit ended, is started again by the next call.
#[derive(Clone)]
pub struct WorkerStub(Arc<Worker>);

impl WorkerStub {
    pub(crate) fn new(worker: Arc<Worker>) -> Self {
        Self(worker)
    }

    /// An entrypoint: `None` and `"default"` are the default export. Whether it exists is known at the first call.
    /// `props` is the value of `ctx.props` (an object; `None` is `{}`); `limits` apply under those of the code and
    /// the host, field by field.
    #[must_use]
    pub fn entrypoint(&self, name: Option<&str>, props: Option<Message>, limits: ResourceLimits) -> Arc<Entrypoint> {
        let name = name.filter(|name| *name != "default").map(str::to_owned);
        Arc::new(Entrypoint::new(Arc::clone(&self.0), EntrypointSpec { name, props, limits }))
    }

    /// A Durable Object of the class that is exported under `class`. It comes into being when it is first called.
    #[must_use]
    pub fn object(&self, class: &str, key: ObjectKey) -> Arc<Entrypoint> {
        let spec = EntrypointSpec { name: Some(class.to_owned()), ..EntrypointSpec::default() };
        Arc::new(Entrypoint::of_object(Arc::clone(&self.0), spec, key))
    }

    /// A Durable Object of a class of the Worker, which stays loaded while what is returned is held.
    pub(crate) fn facet(&self, spec: EntrypointSpec, key: ObjectKey) -> Arc<dyn Capability> {
        let entrypoint = Entrypoint::of_object(Arc::clone(&self.0), spec, key);
        Arc::new(Held { entrypoint, _busy: self.0.hold() })
    }

    /// Waits until the Worker runs. Dropping the future changes nothing.
    ///
    /// # Errors
    /// Why it does not run, and will not.
    pub async fn ready(&self) -> Result<LoadReport, LoaderError> {
        let waiting = self.0.started();
        waiting.await.unwrap_or(Err(LoaderError::Ended(Cause::Canceled)))
    }

    /// What the latest start took; `None` before the first has succeeded.
    #[must_use]
    pub fn load_report(&self) -> Option<LoadReport> {
        self.0.load_report()
    }

    /// Ends the Worker for good: its isolate, its calls, and every call from now on. The first cause wins.
    pub fn end(&self, cause: Cause) {
        self.0.end(cause);
    }
}

/// An object of a Worker that must not be evicted meanwhile: its state is in the isolate.
struct Held {
    entrypoint: Entrypoint,
    _busy: Busy,
}

impl Capability for Held {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        self.entrypoint.call(call, reply)
    }

    fn counts_as_subrequest(&self) -> bool {
        true
    }

    fn refuses_transfer(&self) -> Option<&'static str> {
        self.entrypoint.refuses_transfer()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
