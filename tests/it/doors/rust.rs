//! The library's door: `CodeExecutor` in this process, its host a Rust object.

use std::sync::{Arc, OnceLock};

use loaderd_harness::{
    CodeExecutionLimits, CodeExecutionNamespace, CodeExecutionRequest, CodeExecutor, CodeHostCall, CodeHostCallOutcome,
    HostCallFuture, HostEnd, NetworkPolicy, PassFailure, PassHost,
};
use loaderd_loader::{HostLimits, InProcess, LoaderHost, LoaderOptions, PoolConfig};
use tokio::runtime::Runtime;

use crate::case::{Answer, Case, Request};
use crate::expect::Outcome;
use crate::host::{HostRecord, ScriptedHost};
use crate::json::Json;

pub(crate) fn run(case: &Case) -> Result<(Outcome, HostRecord), String> {
    runtime().block_on(pass(executor(), case))
}

/// The runtime all passes of this process run on.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a tokio runtime")
    })
}

/// The executor all passes of this process share: what one pass breaks, the others see.
pub(crate) fn executor() -> &'static CodeExecutor {
    static EXECUTOR: OnceLock<CodeExecutor> = OnceLock::new();
    EXECUTOR.get_or_init(|| {
        let _inside = runtime().enter();
        new_executor()
    })
}

/// One pass, and what its host saw. The host's last call is over when this returns, as the contract demands.
pub(crate) async fn pass(executor: &CodeExecutor, case: &Case) -> Result<(Outcome, HostRecord), String> {
    let host = ScriptedHost::new(case);
    let outcome = execute(executor, case, &host).await?;
    Ok((outcome, host.record()))
}

/// One pass with a host of the caller's.
pub(crate) async fn execute(executor: &CodeExecutor, case: &Case, host: &Arc<ScriptedHost>) -> Result<Outcome, String> {
    let request = request(&case.request)?;
    let executed = executor.execute(request, Arc::new(Host(Arc::clone(host))));
    match case.interrupt_after_calls {
        None => outcome(executed.await),
        Some(calls) => tokio::select! {
            biased;
            () = host.seen(calls) => Ok(Outcome::Interrupted),
            answer = executed => Err(format!("answered before it was interrupted: {answer:?}")),
        },
    }
}

pub(crate) fn request(from: &Request) -> Result<CodeExecutionRequest, String> {
    let namespaces = from
        .namespaces
        .iter()
        .map(|(name, methods)| CodeExecutionNamespace::new(name, methods))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    let network = match &from.allowlist {
        None => NetworkPolicy::Disabled,
        Some((domains, ports)) => NetworkPolicy::Allowlist { domains: domains.clone(), ports: ports.clone() },
    };
    let limits = CodeExecutionLimits {
        max_source_bytes: from.limits.source_bytes,
        max_wall_time: from.limits.wall,
        cpu_millis: from.limits.cpu_millis,
        max_log_bytes: from.limits.log_bytes,
        max_result_bytes: from.limits.result_bytes,
        max_host_calls: from.limits.host_calls,
        max_host_call_concurrency: from.limits.host_call_concurrency,
        max_host_call_argument_bytes: from.limits.host_call_argument_bytes,
        max_host_call_result_bytes: from.limits.host_call_result_bytes,
    };
    CodeExecutionRequest::new(from.source.as_str(), namespaces, network, limits).map_err(|error| error.to_string())
}

fn outcome(answer: Result<loaderd_harness::CodeExecutionResult, PassFailure>) -> Result<Outcome, String> {
    let text = match answer {
        Ok(result) => result.to_answer_json(),
        Err(PassFailure::Error(error)) => error.to_answer_json(),
        Err(PassFailure::HostDefect(_)) => return Ok(Outcome::Defect),
        Err(PassFailure::HostInterrupted) => return Ok(Outcome::Interrupted),
    };
    Json::parse(&text).map(Outcome::Answer)
}

/// The scripted host as the library sees it.
pub(crate) struct Host(pub(crate) Arc<ScriptedHost>);

impl PassHost for Host {
    fn call(&self, call: CodeHostCall) -> HostCallFuture<'_> {
        let host = Arc::clone(&self.0);
        Box::pin(async move {
            let argument = Json::parse(call.argument.as_str()).unwrap_or(Json::Null);
            let json = |value: &Json| loaderd_harness::Json::parse(&value.to_string()).expect("a case gives JSON");
            match host.call(call.namespace.as_str(), call.method.as_str(), argument).await {
                Answer::Ok(value) => Ok(CodeHostCallOutcome::Success(json(&value))),
                Answer::Fail(value) => Ok(CodeHostCallOutcome::Failure(json(&value))),
                Answer::Raw(outcome) => Ok(CodeHostCallOutcome::from_json(&outcome.to_string())),
                Answer::NotJson(expression) => Ok(CodeHostCallOutcome::from_json(&format!(
                    r#"{{"_tag":"CodeHostCallSuccess","value":{expression}}}"#
                ))),
                Answer::Panic => panic!("the host of this case breaks on purpose"),
                Answer::Interrupt | Answer::Never => Err(HostEnd::Interrupted),
            }
        })
    }
}

/// Isolates in this process: what other modes add is a boundary around the same code, and has tests of its own.
fn new_executor() -> CodeExecutor {
    let placement = InProcess::new(PoolConfig::default()).expect("a pool of isolates");
    let host = LoaderHost::new(placement, HostLimits::default(), runtime().handle().clone());
    CodeExecutor::new(host.loader(LoaderOptions::default()))
}
