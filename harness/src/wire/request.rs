//! Requests as JSON. What is read is checked here for its types, and by [`CodeExecutionRequest`] for its bounds.

use loaderd_runtime::rpc::plain::{Plain, PlainObject};
use serde::Serialize;

use super::duration::{self, WireDuration};
use crate::request::{
    CodeExecutionLimits, CodeExecutionNamespace, CodeExecutionRequest, InvalidRequest, JsIdentifier, NetworkPolicy,
};

type Read<T> = Result<T, InvalidRequest>;

impl CodeExecutionRequest {
    /// Reads a request in the contract's JSON wire form. The envelope around it, `{"id":…,"request":{…},…}`, may be
    /// there; members that the contract does not name are ignored.
    ///
    /// # Errors
    /// The text is not JSON, a member is missing or of the wrong type, or a bound is not kept.
    pub fn from_json(text: &str) -> Result<Self, InvalidRequest> {
        let value = Plain::from_json(text).map_err(|error| InvalidRequest::new("", error.to_string()))?;
        let outer = object(&value)?;
        match outer.get("request") {
            Some(request) if outer.get("source").is_none() => at("request", request, object).and_then(read),
            _ => read(outer),
        }
    }

    /// The request in the contract's JSON wire form.
    #[must_use]
    pub fn to_json(&self) -> String {
        let request = WireRequest {
            language: "javascript",
            source: self.source(),
            namespaces: self
                .namespaces()
                .iter()
                .map(|namespace| WireNamespace {
                    name: namespace.name().as_str(),
                    methods: namespace.methods().iter().map(JsIdentifier::as_str).collect(),
                })
                .collect(),
            network: match self.network() {
                NetworkPolicy::Disabled => WireNetwork::NetworkDisabled,
                NetworkPolicy::Allowlist { domains, ports } => WireNetwork::NetworkAllowlist { domains, ports },
            },
            limits: self.limits().into(),
        };
        // Strings, numbers and lists of them always serialize.
        serde_json::to_string(&request).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct WireRequest<'a> {
    language: &'static str,
    source: &'a str,
    namespaces: Vec<WireNamespace<'a>>,
    network: WireNetwork<'a>,
    limits: WireLimits,
}

#[derive(Serialize)]
struct WireNamespace<'a> {
    name: &'a str,
    methods: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "_tag")]
enum WireNetwork<'a> {
    NetworkDisabled,
    NetworkAllowlist { domains: &'a [String], ports: &'a [u16] },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireLimits {
    max_source_bytes: u32,
    max_wall_time: WireDuration,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_millis: Option<u32>,
    max_log_bytes: u32,
    max_result_bytes: u32,
    max_host_calls: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_host_call_concurrency: Option<u32>,
    max_host_call_argument_bytes: u32,
    max_host_call_result_bytes: u32,
}

impl From<&CodeExecutionLimits> for WireLimits {
    fn from(limits: &CodeExecutionLimits) -> Self {
        Self {
            max_source_bytes: limits.max_source_bytes,
            max_wall_time: limits.max_wall_time.into(),
            cpu_millis: limits.cpu_millis,
            max_log_bytes: limits.max_log_bytes,
            max_result_bytes: limits.max_result_bytes,
            max_host_calls: limits.max_host_calls,
            max_host_call_concurrency: limits.max_host_call_concurrency,
            max_host_call_argument_bytes: limits.max_host_call_argument_bytes,
            max_host_call_result_bytes: limits.max_host_call_result_bytes,
        }
    }
}

fn read(members: &PlainObject) -> Read<CodeExecutionRequest> {
    if required(members, "language", string)? != "javascript" {
        return Err(InvalidRequest::new("language", "must be \"javascript\""));
    }
    CodeExecutionRequest::new(
        required(members, "source", string)?,
        required(members, "namespaces", |value| each(value, namespace))?,
        required(members, "network", network)?,
        required(members, "limits", limits)?,
    )
}

fn namespace(value: &Plain) -> Read<CodeExecutionNamespace> {
    let members = object(value)?;
    let name = required(members, "name", string)?;
    let methods = required(members, "methods", |value| each(value, string))?;
    CodeExecutionNamespace::new(&name, methods)
}

fn network(value: &Plain) -> Read<NetworkPolicy> {
    let members = object(value)?;
    match required(members, "_tag", string)?.as_str() {
        "NetworkDisabled" => Ok(NetworkPolicy::Disabled),
        "NetworkAllowlist" => Ok(NetworkPolicy::Allowlist {
            domains: required(members, "domains", |value| each(value, string))?,
            ports: required(members, "ports", |value| each(value, port))?,
        }),
        _ => Err(InvalidRequest::new("_tag", "must be \"NetworkDisabled\" or \"NetworkAllowlist\"")),
    }
}

fn limits(value: &Plain) -> Read<CodeExecutionLimits> {
    let members = object(value)?;
    Ok(CodeExecutionLimits {
        max_source_bytes: required(members, "maxSourceBytes", count)?,
        max_wall_time: required(members, "maxWallTime", duration::read)?,
        cpu_millis: optional(members, "cpuMillis", count)?,
        max_log_bytes: required(members, "maxLogBytes", count)?,
        max_result_bytes: required(members, "maxResultBytes", count)?,
        max_host_calls: required(members, "maxHostCalls", count)?,
        max_host_call_concurrency: optional(members, "maxHostCallConcurrency", count)?,
        max_host_call_argument_bytes: required(members, "maxHostCallArgumentBytes", count)?,
        max_host_call_result_bytes: required(members, "maxHostCallResultBytes", count)?,
    })
}

/// Runs `read` and says where it failed.
fn at<'a, T>(name: &str, value: &'a Plain, read: impl FnOnce(&'a Plain) -> Read<T>) -> Read<T> {
    read(value).map_err(|error| error.within(name))
}

fn required<'a, T>(members: &'a PlainObject, name: &str, read: impl FnOnce(&'a Plain) -> Read<T>) -> Read<T> {
    let value = members.get(name).ok_or_else(|| InvalidRequest::new(name, "is missing"))?;
    at(name, value, read)
}

fn optional<'a, T>(members: &'a PlainObject, name: &str, read: impl FnOnce(&'a Plain) -> Read<T>) -> Read<Option<T>> {
    members.get(name).map(|value| at(name, value, read)).transpose()
}

fn object(value: &Plain) -> Read<&PlainObject> {
    value.as_object().ok_or_else(|| InvalidRequest::new("", "must be an object"))
}

fn string(value: &Plain) -> Read<String> {
    let text = value.as_string().ok_or_else(|| InvalidRequest::new("", "must be a string"))?;
    Ok(text.to_string_lossy())
}

fn each<T>(value: &Plain, read: impl Fn(&Plain) -> Read<T>) -> Read<Vec<T>> {
    let elements = value.as_array().ok_or_else(|| InvalidRequest::new("", "must be an array"))?;
    elements.iter().enumerate().map(|(index, element)| at(&format!("[{index}]"), element, &read)).collect()
}

/// A whole number that fits; whether it is in range is for the request to say.
fn count(value: &Plain) -> Read<u32> {
    let number = value.as_number().ok_or_else(|| InvalidRequest::new("", "must be a number"))?;
    if number.fract() != 0.0 || !(0.0..=f64::from(u32::MAX)).contains(&number) {
        return Err(InvalidRequest::new("", format!("must be a whole number from 0 to {}", u32::MAX)));
    }
    Ok(number as u32)
}

fn port(value: &Plain) -> Read<u16> {
    u16::try_from(count(value)?).map_err(|_| InvalidRequest::new("", "must be from 1 to 65535"))
}
