//! The contract's JSON wire form: requests in, answers out, and outcomes of host calls.

mod answer;
mod duration;
mod request;
#[cfg(test)]
mod tests;

use loaderd_runtime::rpc::plain::{Plain, PlainObject};

use crate::host::{CodeHostCall, CodeHostCallOutcome};
use crate::json::Json;
use crate::request::JsIdentifier;

/// The tag of a successful outcome of a host call.
pub(crate) const HOST_CALL_SUCCESS: &str = "CodeHostCallSuccess";
/// The tag of a failed outcome of a host call.
pub(crate) const HOST_CALL_FAILURE: &str = "CodeHostCallFailure";

/// A member that has a string value, as UTF-8.
fn text(members: &PlainObject, name: &str) -> Option<String> {
    Some(members.get(name)?.as_string()?.to_string_lossy())
}

/// Reads a host call as the guest sends it; `None` when it is none.
pub(crate) fn host_call(text_of_call: &str) -> Option<CodeHostCall> {
    let call = Plain::from_json(text_of_call).ok()?;
    let members = call.as_object()?;
    Some(CodeHostCall {
        namespace: JsIdentifier::new(&text(members, "namespace")?).ok()?,
        method: JsIdentifier::new(&text(members, "method")?).ok()?,
        argument: Json::from_plain(members.get("argument")?).ok()?,
    })
}

/// Reads the outcome of a host call; `None` when it is none.
pub(crate) fn host_call_outcome(text_of_outcome: &str) -> Option<CodeHostCallOutcome> {
    let outcome = Plain::from_json(text_of_outcome).ok()?;
    let members = outcome.as_object()?;
    match text(members, "_tag")?.as_str() {
        HOST_CALL_SUCCESS => Some(CodeHostCallOutcome::Success(Json::from_plain(members.get("value")?).ok()?)),
        HOST_CALL_FAILURE => Some(CodeHostCallOutcome::Failure(Json::from_plain(members.get("error")?).ok()?)),
        _ => None,
    }
}
