//! The `workerLoader` binding: a [`WorkerLoader`] as Workers reach it.

use std::sync::Arc;

use futures::channel::oneshot;
use loaderd_runtime::dynamic::{self, CodeWanted, DynamicLoader, DynamicWorker, Found, LoaderCap, WorkerCode};
use loaderd_runtime::isolate::EntrypointSpec;
use loaderd_runtime::limits::{Cause, ResourceLimits};
use loaderd_runtime::objects::{ClassCap, ObjectClass, ObjectKey};
use loaderd_runtime::rpc::{Cap, CapKind, Message, RpcError};

use crate::callers::CallerCaps;
use crate::loader::WorkerLoader;
use crate::stub::WorkerStub;

impl WorkerLoader {
    /// The capability that a Worker's `env` holds as its `WorkerLoader`.
    #[must_use]
    pub fn binding(&self) -> Cap {
        Cap { kind: CapKind::Service, target: Arc::new(LoaderCap(Arc::new(self.clone()))) }
    }
}

impl DynamicLoader for WorkerLoader {
    fn load(&self, code: WorkerCode) -> Result<Arc<dyn DynamicWorker>, RpcError> {
        match self.load(code) {
            Ok(stub) => Ok(Arc::new(Bound { stub, caps: self.caller_caps() })),
            Err(error) => Err(RpcError { remote: false, ..error.to_rpc() }),
        }
    }

    fn get(&self, id: Option<&str>) -> Found {
        let mut wanted = None;
        let stub = self.get(id, || {
            let (sender, receiver) = oneshot::channel();
            // The receiver is gone only when the host is.
            wanted = Some(CodeWanted::new(move |code| drop(sender.send(code))));
            async { receiver.await.unwrap_or_else(|_| Err(RpcError::ended(Cause::Canceled))) }
        });
        Found { worker: Arc::new(Bound { stub, caps: self.caller_caps() }), wanted }
    }
}

/// A Worker that a Worker has loaded.
struct Bound {
    stub: WorkerStub,
    caps: CallerCaps,
}

impl DynamicWorker for Bound {
    fn entrypoint(
        &self,
        name: Option<&str>,
        props: Option<Message>,
        limits: ResourceLimits,
        caller: &dynamic::Caller,
    ) -> Cap {
        let entrypoint = self.stub.entrypoint(name, props, limits);
        let target = match self.caps.count(caller) {
            None => entrypoint,
            Some(caller) => Arc::new(entrypoint.for_caller(caller)),
        };
        Cap { kind: CapKind::Service, target }
    }

    fn class(&self, name: Option<&str>, props: Option<Message>, limits: ResourceLimits) -> Cap {
        let spec = EntrypointSpec { name: name.map(str::to_owned), props, limits };
        let class = DynamicClass { worker: self.stub.clone(), spec };
        Cap { kind: CapKind::Service, target: Arc::new(ClassCap(Arc::new(class))) }
    }
}

/// A class of Durable Objects of a Worker that was loaded for a Worker.
struct DynamicClass {
    worker: WorkerStub,
    spec: EntrypointSpec,
}

impl ObjectClass for DynamicClass {
    fn object(&self, key: ObjectKey) -> Cap {
        Cap { kind: CapKind::Service, target: self.worker.facet(self.spec.clone(), key) }
    }

    fn refuses_transfer(&self) -> Option<&'static str> {
        Some(crate::entrypoint::NOT_TRANSFERABLE)
    }
}
