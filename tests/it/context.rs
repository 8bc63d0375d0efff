//! W6 and W7: host calls run inside the pass's own scope. Their task-local values are a matter of Rust, so these two
//! cases are written in Rust; the other doors have no such thing to look at.

use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::Trial;
use loaderd_harness::{
    CodeExecutionLimits, CodeExecutionNamespace, CodeExecutionRequest, CodeHostCall, CodeHostCallOutcome,
    HostCallFuture, Json, NetworkPolicy, PassHost,
};
use tokio::sync::oneshot;

use crate::doors::rust;

tokio::task_local! {
    static OWNER: &'static str;
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("contract::W6::rust", || host_calls_see_the_callers_context().map_err(Into::into)),
        Trial::test("contract::W7::rust", || owners_in_reverse_order().map_err(Into::into)),
    ]
}

/// Answers each call with the owner in whose scope it runs, once it is let go.
struct WhoseHost(Mutex<Option<oneshot::Receiver<()>>>);

impl PassHost for WhoseHost {
    fn call(&self, _: CodeHostCall) -> HostCallFuture<'_> {
        let gate = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            if let Some(gate) = gate {
                let _ = gate.await;
            }
            Ok(CodeHostCallOutcome::Success(Json::string(OWNER.try_with(|owner| *owner).unwrap_or("nobody"))))
        })
    }
}

fn request() -> Result<CodeExecutionRequest, String> {
    let text = |error: loaderd_harness::InvalidRequest| error.to_string();
    let namespaces = vec![CodeExecutionNamespace::new("owner", ["name"]).map_err(text)?];
    let limits = CodeExecutionLimits::default();
    CodeExecutionRequest::new("async () => owner.name(null)", namespaces, NetworkPolicy::Disabled, limits).map_err(text)
}

/// Runs a pass as its owner; its host call waits for the gate.
async fn pass_of(owner: &'static str, gate: Option<oneshot::Receiver<()>>) -> Result<String, String> {
    let host = Arc::new(WhoseHost(Mutex::new(gate)));
    let executed = OWNER.scope(owner, rust::executor().execute(request()?, host)).await;
    Ok(executed.map_err(|error| error.to_string())?.value.as_str().to_owned())
}

fn host_calls_see_the_callers_context() -> Result<(), String> {
    let found = rust::runtime().block_on(pass_of("the caller", None))?;
    if found == "\"the caller\"" { Ok(()) } else { Err(format!("the host ran in the scope of {found}")) }
}

/// Two owners share an executor; the first to call is the last to be answered.
fn owners_in_reverse_order() -> Result<(), String> {
    rust::runtime().block_on(async {
        let (open_first, first_gate) = oneshot::channel();
        let first = tokio::spawn(pass_of("the first", Some(first_gate)));
        let second = pass_of("the second", None).await?;
        let _ = open_first.send(());
        let first = first.await.map_err(|error| error.to_string())??;
        if (first.as_str(), second.as_str()) == ("\"the first\"", "\"the second\"") {
            Ok(())
        } else {
            Err(format!("the calls ran in the scopes of {first} and {second}"))
        }
    })
}
