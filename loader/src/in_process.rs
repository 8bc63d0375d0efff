//! Isolates in this process: a placement over the pool of never-used ones.

use std::sync::Arc;

use loaderd_runtime::channel::InvocationReport;
use loaderd_runtime::isolate::{self, EntrypointSpec, Isolate};
use loaderd_runtime::limits::{Cause, Outcome, Usage};
use loaderd_runtime::objects::ObjectKey;
use loaderd_runtime::rpc::{Call, Reply};
use parking_lot::Mutex;

use crate::error::LoaderError;
use crate::placement::{
    Invoked, OnInvocationEnd, PlacedEntrypoint, PlacedInvocation, PlacedIsolate, Placement, StartRequest,
};
use crate::pool::{Pool, PoolConfig, PoolMetrics};

/// See the module. `runtime::setup::initialize` must have been called before one is made.
pub struct InProcess {
    pool: Arc<Pool>,
}

impl InProcess {
    /// A placement whose pool begins to fill at once.
    ///
    /// # Errors
    /// The system refused the pool's thread.
    pub fn new(config: PoolConfig) -> Result<Arc<Self>, LoaderError> {
        Ok(Arc::new(Self { pool: Arc::new(Pool::new(config)?) }))
    }

    /// Counters of the pool.
    #[must_use]
    pub fn pool_metrics(&self) -> PoolMetrics {
        self.pool.metrics()
    }
}

impl Placement for InProcess {
    fn start(&self, request: StartRequest) -> Arc<dyn PlacedIsolate> {
        let placed = Arc::new(Placed(Mutex::new(Phase::Waiting(request))));
        let (place, pool) = (Arc::clone(&placed), Arc::downgrade(&self.pool));
        self.pool.take(Box::new(move |isolate| {
            let unused = match isolate {
                Ok(isolate) => place.give(isolate),
                Err(error) => {
                    place.fail(error);
                    None
                }
            };
            if let Some((isolate, pool)) = unused.zip(pool.upgrade()) {
                pool.put_back(isolate);
            }
        }));
        placed
    }
}

/// A Worker's isolate, or the wish for one.
struct Placed(Mutex<Phase>);

enum Phase {
    Waiting(StartRequest),
    Given(Isolate),
    /// No isolate was given, and none is wanted any more.
    Over(Cause),
}

impl Placed {
    /// Loads the code into an isolate; gives it back unused where it is no longer wanted.
    fn give(&self, isolate: Isolate) -> Option<Isolate> {
        let request = {
            let mut phase = self.0.lock();
            if let Phase::Over(_) = *phase {
                return Some(isolate);
            }
            match std::mem::replace(&mut *phase, Phase::Given(isolate.clone())) {
                Phase::Waiting(request) => request,
                // An isolate is given once.
                Phase::Given(_) | Phase::Over(_) => return None,
            }
        };
        let StartRequest { code, tenant: _, on_started, on_end } = request;
        let (started, ended) = (Once(Some(on_started)), Once(Some(on_end)));
        isolate.on_end(move |cause| ended.call(cause));
        let code = Arc::unwrap_or_clone(code);
        isolate.load(code, move |result| started.call(result.map_err(LoaderError::Start)));
        None
    }

    /// No isolate can be had.
    fn fail(&self, error: LoaderError) {
        let cause = error.cause().unwrap_or(Cause::Shutdown);
        if let Some(request) = self.give_up(cause) {
            (request.on_started)(Err(error));
            (request.on_end)(cause);
        }
    }

    fn give_up(&self, cause: Cause) -> Option<StartRequest> {
        let mut phase = self.0.lock();
        match &*phase {
            Phase::Waiting(_) => match std::mem::replace(&mut *phase, Phase::Over(cause)) {
                Phase::Waiting(request) => Some(request),
                Phase::Given(_) | Phase::Over(_) => None,
            },
            Phase::Given(_) | Phase::Over(_) => None,
        }
    }

    fn isolate(&self) -> Option<Isolate> {
        match &*self.0.lock() {
            Phase::Given(isolate) => Some(isolate.clone()),
            Phase::Waiting(_) | Phase::Over(_) => None,
        }
    }
}

impl PlacedIsolate for Placed {
    fn entrypoint(&self, spec: EntrypointSpec) -> Arc<dyn PlacedEntrypoint> {
        Arc::new(LocalEntrypoint(self.isolate().map(|isolate| isolate.entrypoint(spec))))
    }

    fn object(&self, spec: EntrypointSpec, key: ObjectKey) -> Option<Arc<dyn PlacedEntrypoint>> {
        Some(Arc::new(LocalEntrypoint(self.isolate().map(|isolate| isolate.object(spec, key)))))
    }

    fn end(&self, cause: Cause) {
        match self.isolate() {
            Some(isolate) => isolate.end(cause),
            None => self.fail(LoaderError::Ended(cause)),
        }
    }

    fn ended(&self) -> Option<Cause> {
        match &*self.0.lock() {
            Phase::Given(isolate) => isolate.ended(),
            Phase::Waiting(_) => None,
            Phase::Over(cause) => Some(*cause),
        }
    }
}

/// `None`: there never was an isolate.
struct LocalEntrypoint(Option<Arc<isolate::Entrypoint>>);

impl PlacedEntrypoint for LocalEntrypoint {
    fn invoke(&self, call: Call, reply: Reply, on_end: OnInvocationEnd) -> Invoked {
        let on_end = Once(Some(on_end));
        let on_end = Box::new(move |report: InvocationReport| on_end.call(report));
        let started = self.0.as_ref().map(|entrypoint| entrypoint.invoke_pipelined(call, reply, Some(on_end)));
        let (invocation, pipeline) = started.unzip();
        Invoked { invocation: Arc::new(LocalInvocation(invocation)), pipeline: pipeline.flatten() }
    }
}

struct LocalInvocation(Option<isolate::Invocation>);

impl PlacedInvocation for LocalInvocation {
    fn end(&self, cause: Cause) {
        if let Some(invocation) = &self.0 {
            invocation.end(cause);
        }
    }
}

/// A callback that is called exactly once: by whoever has something to tell, else when it is dropped, as happens to
/// what lies in the inbox of an isolate that ends.
struct Once<T: Unheard>(Option<Box<dyn FnOnce(T) + Send>>);

impl<T: Unheard> Once<T> {
    fn call(mut self, value: T) {
        if let Some(callback) = self.0.take() {
            callback(value);
        }
    }
}

impl<T: Unheard> Drop for Once<T> {
    fn drop(&mut self) {
        if let Some(callback) = self.0.take() {
            callback(T::unheard());
        }
    }
}

/// What a callback is told that nobody called.
trait Unheard {
    fn unheard() -> Self;
}

impl Unheard for Cause {
    fn unheard() -> Self {
        Self::Shutdown
    }
}

impl<T> Unheard for Result<T, LoaderError> {
    fn unheard() -> Self {
        Err(LoaderError::Ended(Cause::Shutdown))
    }
}

impl Unheard for InvocationReport {
    fn unheard() -> Self {
        Self { outcome: Outcome::Canceled, usage: Usage::default() }
    }
}
