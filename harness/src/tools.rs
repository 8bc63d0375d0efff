//! A host made of a JavaScript module: each export that is an object of functions is a namespace, its functions are
//! the methods. The module runs in an isolate of its own; it is the user's, and trusted with whatever it is given.

use std::sync::{Arc, LazyLock};

use loaderd_loader::{GlobalOutbound, LoaderError, ModuleSource, WorkerCode, WorkerLoader, WorkerStub};
use loaderd_runtime::channel::ConsoleSink;
use loaderd_runtime::isolate::{ClockPolicy, HangPolicy};
use loaderd_runtime::limits::{Cause, ResourceLimits};
use loaderd_runtime::modules::ModuleContent;
use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Call, Capability, Message, Op, Reply, RpcError};

use crate::executor::COMPATIBILITY_DATE_DEFAULT;
use crate::host::{CodeHostCall, CodeHostCallOutcome, HostCallFuture, HostDefect, HostDefectKind, HostEnd, PassHost};
use crate::request::{CodeExecutionNamespace, InvalidRequest};

const HOST_MODULE: &str = "tools-host.js";
const TOOLS_MODULE: &str = "tools.js";

static HOST: LazyLock<Arc<str>> = LazyLock::new(|| include_str!("../js/tools-host.js").into());

/// Why a module is no host.
#[derive(Debug, thiserror::Error)]
pub enum ToolsError {
    /// It did not start; the text says where in it.
    #[error("{0}")]
    Load(#[from] LoaderError),
    /// An export cannot be a namespace.
    #[error("{0}")]
    Namespace(InvalidRequest),
    /// It could not be asked for its exports.
    #[error("{0}")]
    Describe(String),
    /// What it said about its exports could not be read.
    #[error("the tools module could not be read")]
    Unreadable,
}

/// A module that answers host calls. Dropping it ends its isolate.
pub struct ToolsHost {
    /// The object that answers. All calls on it belong to one invocation, so tools may wait for each other.
    tools: Arc<dyn Capability>,
    namespaces: Vec<CodeExecutionNamespace>,
    _worker: OwnedWorker,
}

impl ToolsHost {
    /// Loads a module. It gets the loader's own outbound network, and its console goes to `console`.
    ///
    /// # Errors
    /// The module does not start, or an export cannot be a namespace.
    pub async fn load(loader: &WorkerLoader, source: &str, console: Arc<dyn ConsoleSink>) -> Result<Self, ToolsError> {
        let mut code = WorkerCode::new(COMPATIBILITY_DATE_DEFAULT, HOST_MODULE)
            .module(HOST_MODULE, ModuleSource::HostContent(ModuleContent::EsModule(HOST.clone())))
            .module(TOOLS_MODULE, ModuleContent::EsModule(source.into()));
        code.global_outbound = GlobalOutbound::Inherit;
        code.console = Some(console);
        code.clock = ClockPolicy::Real;
        // One call may wait for another; the pass has the deadline.
        code.on_hang = HangPolicy::Wait;
        let worker = OwnedWorker(loader.load(code)?);
        worker.0.ready().await?;
        let entrypoint = worker.0.entrypoint(None, None, ResourceLimits::default());
        let answer = entrypoint.call_method("open", arguments(Vec::new())).await;
        let tools = match Plain::from_message(&answer.result.map_err(unusable)?) {
            Ok(Plain::Cap(tools)) => tools.target,
            _ => return Err(ToolsError::Unreadable),
        };
        let list = call(&tools, "list", Vec::new()).await.map_err(unusable)?;
        let list = text(&list).and_then(|text| Plain::from_json(&text).ok()).ok_or(ToolsError::Unreadable)?;
        let list = list.as_array().ok_or(ToolsError::Unreadable)?;
        let namespaces = list.iter().map(namespace).collect::<Result<_, _>>()?;
        Ok(Self { tools, namespaces, _worker: worker })
    }

    /// What the module offers.
    #[must_use]
    pub fn namespaces(&self) -> &[CodeExecutionNamespace] {
        &self.namespaces
    }
}

/// A Worker that ends when it is dropped.
struct OwnedWorker(WorkerStub);

impl Drop for OwnedWorker {
    fn drop(&mut self) {
        self.0.end(Cause::Shutdown);
    }
}

fn namespace(described: &Plain) -> Result<CodeExecutionNamespace, ToolsError> {
    let members = described.as_object().ok_or(ToolsError::Unreadable)?;
    let name = members.get("name").and_then(Plain::as_string).ok_or(ToolsError::Unreadable)?.to_string_lossy();
    let methods = members.get("methods").and_then(Plain::as_array).ok_or(ToolsError::Unreadable)?;
    let methods = methods.iter().filter_map(Plain::as_string).map(|method| method.to_string_lossy());
    CodeExecutionNamespace::new(&name, methods)
        .map_err(|error| ToolsError::Namespace(error.within(&format!("export {name}"))))
}

impl PassHost for ToolsHost {
    fn call(&self, call: CodeHostCall) -> HostCallFuture<'_> {
        Box::pin(async move {
            let given = [call.namespace.as_str(), call.method.as_str(), call.argument.as_str()];
            match self::call(&self.tools, "call", given.map(Plain::from).into()).await {
                Ok(message) => Ok(outcome(&message)),
                Err(error) => Err(broken(&error)),
            }
        })
    }
}

/// Calls a method of the tools. Dropping the future leaves the tool running: it is the user's own.
async fn call(tools: &Arc<dyn Capability>, method: &str, values: Vec<Plain>) -> Result<Message, RpcError> {
    let (reply, answer) = Reply::channel();
    tools.call(Call::new(vec![method.to_owned()], Op::Call(arguments(values))), reply);
    match answer.await {
        Ok(answer) => answer.result,
        Err(_) => Err(RpcError::ended(Cause::Canceled)),
    }
}

fn unusable(error: RpcError) -> ToolsError {
    ToolsError::Describe(error.message)
}

/// An argument's text is bounded far below what a message may hold.
fn arguments(values: Vec<Plain>) -> Message {
    Plain::arguments(values).unwrap_or_default()
}

fn text(message: &Message) -> Option<String> {
    Some(Plain::from_message(message).ok()?.as_string()?.to_string_lossy())
}

fn outcome(message: &Message) -> CodeHostCallOutcome {
    text(message).map_or(CodeHostCallOutcome::OutsideSchema, |text| CodeHostCallOutcome::from_json(&text))
}

/// The module met a limit or its isolate is gone.
fn broken(error: &RpcError) -> HostEnd {
    let kind = if error.disconnected { HostDefectKind::Disconnected } else { HostDefectKind::Failed };
    HostDefect { kind, message: format!("the tools module failed: {}", error.message) }.into()
}
