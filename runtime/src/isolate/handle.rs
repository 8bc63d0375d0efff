//! What the rest of the program holds of an isolate.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::inbox::{Invoke, Item, Life, Shared};
use super::thread;
use super::{EntrypointSpec, IsolateConfig, LoadCode, LoadError, LoadReport, SpawnError};
use crate::channel::InvocationReport;
use crate::invocation::{InvocationId, OnEnd};
use crate::limits::{Cause, Outcome, Usage};
use crate::objects::ObjectKey;
use crate::rpc::exports::{ExportId, ObjectRef};
use crate::rpc::{Call, Capability, Reply, RpcError};

/// A handle to an isolate: cheap to clone, usable from any thread, never blocking.
#[derive(Clone)]
pub struct Isolate(Arc<Owner>);

/// Ends the isolate when the last handle goes.
struct Owner {
    shared: Arc<Shared>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.end(Cause::Shutdown);
    }
}

impl Isolate {
    /// Starts a thread with a never-used isolate on it. Returns as soon as the thread is started; V8's part is done
    /// there, ahead of use.
    pub fn spawn(config: IsolateConfig) -> Result<Self, SpawnError> {
        Self::spawn_then(config, || {})
    }

    /// [`spawn`](Self::spawn), and calls `ready` on the new thread when V8's part is done there. Must not block.
    /// Dropped without being called where the isolate could not be made.
    pub fn spawn_then(config: IsolateConfig, ready: impl FnOnce() + Send + 'static) -> Result<Self, SpawnError> {
        let shared = Arc::new(Shared::new(config.inbox_len_max, config.idle.clone()));
        let isolate = Self(Arc::new(Owner { shared: shared.clone() }));
        shared.set_owner(isolate.downgrade());
        thread::start(config, shared, Box::new(ready))?;
        Ok(isolate)
    }

    /// Loads code into it; once per isolate, a second call is answered with an error. `done` runs on the isolate's
    /// thread and must not block.
    pub fn load(&self, code: LoadCode, done: impl FnOnce(Result<LoadReport, LoadError>) + Send + 'static) {
        if let Some(cause) = self.0.shared.cause() {
            return done(Err(LoadError::ended(cause)));
        }
        self.0.shared.post(Item::Load(Box::new(code), Box::new(done)));
    }

    /// An entrypoint of what is (or will be) loaded. Whether it exists is seen at the first call.
    #[must_use]
    pub fn entrypoint(&self, spec: EntrypointSpec) -> Arc<Entrypoint> {
        Arc::new(Entrypoint { isolate: self.clone(), spec: Arc::new(spec), object: None })
    }

    /// A Durable Object of what is (or will be) loaded: `spec` names its class. It comes into being when it is first
    /// called, and lives as long as the isolate.
    #[must_use]
    pub fn object(&self, spec: EntrypointSpec, key: ObjectKey) -> Arc<Entrypoint> {
        let object = Object { key: Arc::new(key), life: OnceLock::new() };
        Arc::new(Entrypoint { isolate: self.clone(), spec: Arc::new(spec), object: Some(object) })
    }

    /// Ends the isolate from any thread. The first cause wins; running JavaScript is terminated, everyone who waits
    /// is answered with the cause, and the thread exits. Returns at once.
    pub fn end(&self, cause: Cause) {
        self.0.shared.end(cause);
    }

    /// Why the isolate was ended, if it was.
    #[must_use]
    pub fn ended(&self) -> Option<Cause> {
        self.0.shared.cause()
    }

    /// Calls `callback` on the isolate's thread when nothing of the isolate is left but that thread. Must not block.
    /// When the isolate is gone already, it is never called; look at [`Isolate::ended`] afterwards.
    pub fn on_end(&self, callback: impl FnOnce(Cause) + Send + 'static) {
        self.0.shared.on_end(Box::new(callback));
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0.shared
    }

    /// A reference that does not keep the isolate alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakIsolate {
        WeakIsolate(Arc::downgrade(&self.0))
    }
}

impl fmt::Debug for Isolate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Isolate").field("ended", &self.ended()).finish()
    }
}

/// A reference to an isolate that does not keep it alive.
#[derive(Clone)]
pub struct WeakIsolate(std::sync::Weak<Owner>);

impl WeakIsolate {
    /// The isolate, unless it is gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<Isolate> {
        self.0.upgrade().map(Isolate)
    }
}

/// An entrypoint of a loaded Worker. Every call on it is an invocation of its own, with a fresh budget.
pub struct Entrypoint {
    isolate: Isolate,
    spec: Arc<EntrypointSpec>,
    object: Option<Object>,
}

/// A Durable Object that an entrypoint means.
struct Object {
    key: Arc<ObjectKey>,
    /// The life that it was first called in: what ends that life breaks this reference for good. A facet's is looked up
    /// each time, since its parent decides what becomes of it.
    life: OnceLock<Arc<Life>>,
}

/// Whose event a call is.
type Event = (InvocationId, Option<(Arc<ObjectKey>, Arc<Life>)>);

impl Entrypoint {
    /// Starts an invocation. `on_end` is called once, on the isolate's thread, when nothing of it is left; or on the
    /// watchdog's, when that thread is in a builtin that ignores its end. Dropping the returned handle does not end it.
    pub fn invoke(&self, call: Call, reply: Reply, on_end: Option<OnEnd>) -> Invocation {
        match self.event() {
            Ok(event) => self.start(event, call, reply, None, on_end),
            Err(error) => self.refuse(error, reply, on_end),
        }
    }

    /// The same, with what stands for the result before it is known.
    pub fn invoke_pipelined(
        &self,
        call: Call,
        reply: Reply,
        on_end: Option<OnEnd>,
    ) -> (Invocation, Option<Arc<dyn Capability>>) {
        let event = match self.event() {
            Ok(event) => event,
            Err(error) => return (self.refuse(error, reply, on_end), None),
        };
        let (result, pipeline) = ObjectRef::result_of(&self.isolate, event.0);
        (self.start(event, call, reply, Some(result), on_end), Some(pipeline))
    }

    /// A new invocation, or the object's, which all its events belong to. An error: the object is broken, or there are
    /// too many.
    fn event(&self) -> Result<Event, RpcError> {
        let shared = self.isolate.shared();
        let Some(Object { key, life }) = &self.object else { return Ok((shared.next_id(), None)) };
        let life = match life.get() {
            Some(life) => Arc::clone(life),
            None => {
                let class = self.spec.name.as_deref().unwrap_or("default");
                let found = shared.object_life(class, key).ok_or_else(|| RpcError {
                    overloaded: true,
                    ..RpcError::new("Error", "There are too many Durable Objects.")
                })?;
                if key.facet.is_none() { Arc::clone(life.get_or_init(|| found)) } else { found }
            }
        };
        match life.broken() {
            Some(why) => Err(why.clone()),
            None => Ok((life.invocation, Some((key.clone(), life)))),
        }
    }

    fn refuse(&self, error: RpcError, reply: Reply, on_end: Option<OnEnd>) -> Invocation {
        reply.send(Err(error));
        if let Some(on_end) = on_end {
            on_end(InvocationReport { outcome: Outcome::Exception, usage: Usage::default() });
        }
        Invocation { isolate: self.isolate.clone(), id: None }
    }

    fn start(
        &self,
        (id, object): Event,
        call: Call,
        reply: Reply,
        result: Option<ExportId>,
        on_end: Option<OnEnd>,
    ) -> Invocation {
        let entrypoint = self.spec.clone();
        self.isolate.shared().request(Box::new(Invoke { id, entrypoint, object, call, reply, result, on_end }));
        // One event of an object cannot be ended by itself.
        let id = self.object.is_none().then_some(id);
        Invocation { isolate: self.isolate.clone(), id }
    }

    /// The isolate it belongs to.
    #[must_use]
    pub fn isolate(&self) -> &Isolate {
        &self.isolate
    }
}

impl Capability for Entrypoint {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let caller = reply.caller();
        let (invocation, pipeline) = self.invoke_pipelined(call, reply, None);
        caller.on_gone(move || invocation.end(Cause::Canceled));
        pipeline
    }

    fn counts_as_subrequest(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A running invocation, seen from outside.
pub struct Invocation {
    isolate: Isolate,
    /// `None`: there is nothing to end.
    id: Option<InvocationId>,
}

impl Invocation {
    /// Ends this invocation alone: its callers get `cause`, what it had pending is dropped. A turn that is running
    /// is not interrupted; its CPU limit, or [`Isolate::end`], does that. An event of a Durable Object goes on.
    pub fn end(&self, cause: Cause) {
        if let Some(id) = self.id {
            self.isolate.shared().post(Item::EndInvocation(id, cause));
        }
    }
}
