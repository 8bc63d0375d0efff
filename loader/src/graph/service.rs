//! A reference to a service: what a binding, a socket or a global outbound holds. It finds the service when it is
//! first called, so that services may refer to each other in circles.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use loaderd_runtime::limits::{Cause, ResourceLimits};
use loaderd_runtime::objects::ObjectKey;
use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Answer, Call, Capability, Message, Reply, RpcError};

use super::{Node, Reach};
use crate::config::ServiceDesignator;
use crate::connect::ConnectRequest;
use crate::entrypoint::{Entrypoint, Invocation};
use crate::fetch::{FetchRequest, FetchResponse};

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    reach: Reach,
    designator: ServiceDesignator,
    /// Which object, when the entrypoint is a class of Durable Objects.
    object: Option<ObjectKey>,
    target: OnceLock<Target>,
}

#[derive(Clone)]
enum Target {
    Entrypoint(Arc<Entrypoint>),
    Plain(Arc<dyn Capability>),
}

impl Service {
    pub(super) fn new(reach: Reach, designator: &ServiceDesignator) -> Self {
        Self(Arc::new(Inner { reach, designator: designator.clone(), object: None, target: OnceLock::new() }))
    }

    /// A Durable Object; the designator's entrypoint is its class.
    pub(super) fn of_object(reach: Reach, designator: &ServiceDesignator, key: ObjectKey) -> Self {
        Self(Arc::new(Inner { reach, designator: designator.clone(), object: Some(key), target: OnceLock::new() }))
    }

    fn target(&self) -> Result<Target, RpcError> {
        if let Some(target) = self.0.target.get() {
            return Ok(target.clone());
        }
        let ServiceDesignator { service, entrypoint, props_json } = &self.0.designator;
        let gone =
            || RpcError { disconnected: true, ..RpcError::new("Error", format!("Service \"{service}\" is gone.")) };
        let shared = self.0.reach.shared().ok_or_else(gone)?;
        let target = match shared.node(service).ok_or_else(gone)? {
            Node::Plain(target) => Target::Plain(Arc::clone(target)),
            Node::Worker(stub) if let Some(key) = &self.0.object => {
                Target::Entrypoint(stub.object(entrypoint.as_deref().unwrap_or("default"), key.clone()))
            }
            Node::Worker(stub) => {
                let props = props_json.as_deref().map(props).transpose()?;
                Target::Entrypoint(stub.entrypoint(entrypoint.as_deref(), props, ResourceLimits::default()))
            }
        };
        Ok(self.0.target.get_or_init(|| target).clone())
    }

    fn start(&self, call: Call, reply: Reply) -> (Option<Invocation>, Option<Arc<dyn Capability>>) {
        match self.target() {
            Ok(Target::Entrypoint(entrypoint)) => {
                let (invocation, pipeline) = entrypoint.invoke(call, reply, None);
                (Some(invocation), pipeline)
            }
            Ok(Target::Plain(target)) => (None, target.call(call, reply)),
            Err(error) => {
                reply.send(Err(error));
                (None, None)
            }
        }
    }

    /// Calls a method with arguments. Dropping the future cancels the call.
    ///
    /// # Errors
    /// What the service threw, or why it could not be asked.
    pub async fn call_method(&self, method: &str, arguments: Vec<Plain>) -> Result<Message, RpcError> {
        let arguments = Plain::arguments(arguments).map_err(|error| RpcError::new("Error", error.to_string()))?;
        let call = Call::new(vec![method.to_owned()], loaderd_runtime::rpc::Op::Call(arguments));
        self.answer(call).await.result
    }

    /// Delivers an event of a kind that is no fetch: `test`, for one. Dropping the future cancels it.
    ///
    /// # Errors
    /// What the service threw, or why it could not be asked.
    pub async fn deliver(&self, kind: &str, parts: Vec<Plain>) -> Result<Message, RpcError> {
        let parts = Plain::arguments(parts).map_err(|error| RpcError::new("Error", error.to_string()))?;
        let call = Call::new(vec![kind.to_owned()], loaderd_runtime::rpc::Op::Event(parts));
        self.answer(call).await.result
    }

    /// Sends a request. Dropping the future cancels it.
    ///
    /// # Errors
    /// What the service threw, or why it could not be asked.
    pub async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, RpcError> {
        let call = request.into_call().map_err(|error| error.to_rpc())?;
        FetchResponse::from_answer(self.answer(call).await)
    }

    /// Delivers a connection; done when the service has handled it. Dropping the future cancels that.
    ///
    /// # Errors
    /// What the service threw, or why it could not be asked.
    pub async fn connect(&self, request: ConnectRequest) -> Result<(), RpcError> {
        self.answer(request.into_call()?).await.result.map(drop)
    }

    async fn answer(&self, call: Call) -> Answer {
        let (reply, answer) = Reply::channel();
        let (invocation, _) = self.start(call, reply);
        let mut open = Open(invocation);
        let answer = answer.await;
        open.0 = None;
        answer.unwrap_or_else(|_| Err(RpcError::ended(Cause::Canceled)).into())
    }
}

/// An invocation that ends when nobody waits for its answer any more.
struct Open(Option<Invocation>);

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(invocation) = self.0.take() {
            invocation.end(Cause::Canceled);
        }
    }
}

fn props(json: &str) -> Result<Message, RpcError> {
    let bad = |what: &dyn std::fmt::Display| RpcError::new("TypeError", format!("The service's props: {what}"));
    Plain::from_json(json).map_err(|error| bad(&error))?.to_message().map_err(|error| bad(&error))
}

impl Capability for Service {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let caller = reply.caller();
        let (invocation, pipeline) = self.start(call, reply);
        if let Some(invocation) = invocation {
            caller.on_gone(move || invocation.end(Cause::Canceled));
        }
        pipeline
    }

    fn counts_as_subrequest(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
