//! Requests as Cap'n Proto messages. Each text is read once: a message may be read through only so often.

use std::time::Duration;

use capnp::text;
use loaderd_schema::executor_capnp as schema;

use crate::request::{
    CodeExecutionLimits, CodeExecutionNamespace, CodeExecutionRequest, InvalidRequest, NetworkPolicy,
};
use crate::tenant::Tenant;

type Read<T> = Result<T, InvalidRequest>;

/// Reads a request of this protocol version.
pub(super) fn request(from: schema::code_execution_request::Reader<'_>) -> Read<CodeExecutionRequest> {
    match from.get_language() {
        Ok(schema::Language::Javascript) => {}
        Err(_) => return Err(InvalidRequest::new("language", "must be javascript")),
    }
    let source = text("source", from.get_source())?.to_owned();
    let namespaces = part("namespaces", from.get_namespaces())?
        .iter()
        .enumerate()
        .map(|(at, from)| namespace(from).map_err(|error| error.within(&format!("namespaces[{at}]"))))
        .collect::<Read<Vec<_>>>()?;
    let network = network(from.get_network()).map_err(|error| error.within("network"))?;
    let limits = limits(part("limits", from.get_limits())?).map_err(|error| error.within("limits"))?;
    CodeExecutionRequest::new(source, namespaces, network, limits)
}

/// On whose behalf, where the request says.
pub(super) fn tenant(from: schema::code_execution_request::Reader<'_>) -> Read<Option<Tenant>> {
    use schema::code_execution_request::tenant::Which;
    match from.get_tenant().which() {
        Ok(Which::None(())) => Ok(None),
        Ok(Which::Label(label)) => Tenant::new(text("tenant", label)?).map(Some),
        Err(_) => Err(InvalidRequest::new("tenant", "must be none or label")),
    }
}

fn namespace(from: schema::code_execution_namespace::Reader<'_>) -> Read<CodeExecutionNamespace> {
    let name = text("name", from.get_name())?;
    CodeExecutionNamespace::new(name, texts("methods", from.get_methods())?)
}

fn network(from: schema::code_execution_request::network::Reader<'_>) -> Read<NetworkPolicy> {
    use schema::code_execution_request::network::Which;
    match from.which() {
        Ok(Which::Disabled(())) => Ok(NetworkPolicy::Disabled),
        Ok(Which::Allowlist(allowlist)) => {
            let allowlist = part("allowlist", allowlist)?;
            let domains = texts("domains", allowlist.get_domains())?.into_iter().map(str::to_owned).collect();
            let ports = part("ports", allowlist.get_ports())?.iter().collect();
            Ok(NetworkPolicy::Allowlist { domains, ports })
        }
        Err(_) => Err(InvalidRequest::new("", "must be disabled or allowlist")),
    }
}

fn limits(from: schema::code_execution_limits::Reader<'_>) -> Read<CodeExecutionLimits> {
    use schema::code_execution_limits::{cpu, host_call_concurrency};
    let cpu_millis = match from.get_cpu().which() {
        Ok(cpu::Which::Unlimited(())) => None,
        Ok(cpu::Which::Millis(millis)) => Some(millis),
        Err(_) => return Err(InvalidRequest::new("cpu", "must be unlimited or millis")),
    };
    let max_host_call_concurrency = match from.get_host_call_concurrency().which() {
        Ok(host_call_concurrency::Which::Default(())) => None,
        Ok(host_call_concurrency::Which::Calls(calls)) => Some(calls),
        Err(_) => return Err(InvalidRequest::new("hostCallConcurrency", "must be default or calls")),
    };
    Ok(CodeExecutionLimits {
        max_source_bytes: from.get_source_bytes(),
        max_wall_time: Duration::from_nanos(from.get_wall_time()),
        cpu_millis,
        max_log_bytes: from.get_log_bytes(),
        max_result_bytes: from.get_result_bytes(),
        max_host_calls: from.get_host_calls(),
        max_host_call_concurrency,
        max_host_call_argument_bytes: from.get_host_call_argument_bytes(),
        max_host_call_result_bytes: from.get_host_call_result_bytes(),
    })
}

fn texts<'a>(field: &str, list: capnp::Result<capnp::text_list::Reader<'a>>) -> Read<Vec<&'a str>> {
    let list = part(field, list)?;
    list.iter().enumerate().map(|(at, entry)| text(&format!("{field}[{at}]"), entry)).collect()
}

fn text<'a>(field: &str, text: capnp::Result<text::Reader<'a>>) -> Read<&'a str> {
    part(field, text)?.to_str().map_err(|_| InvalidRequest::new(field, "must be UTF-8"))
}

/// A part of the message that may be malformed.
fn part<T>(field: &str, part: capnp::Result<T>) -> Read<T> {
    part.map_err(|error| InvalidRequest::new(field, format!("cannot be read: {error}")))
}
