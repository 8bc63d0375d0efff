//! Answers as JSON: `{"success": …}` or `{"failure": …}`.

use serde::Serialize;

use super::duration::WireDuration;
use crate::error::{CodeError, CodeExecutionError};
use crate::json::Json;
use crate::result::{CodeExecutionResult, Implementation};

impl CodeExecutionResult {
    /// `{"success": …}`, in the contract's wire form.
    #[must_use]
    pub fn to_answer_json(&self) -> String {
        let used = self.resource_use;
        write(&WireAnswer::Success(WireResult {
            implementation: (&self.implementation).into(),
            value: &self.value,
            logs: &self.logs,
            resource_use: WireUse {
                wall_time: used.wall_time.into(),
                host_calls: used.host_calls,
                log_bytes: used.log_bytes,
                result_bytes: used.result_bytes,
                cpu_millis: used.cpu_millis,
            },
        }))
    }
}

impl CodeExecutionError {
    /// `{"failure": …}`, in the contract's wire form.
    #[must_use]
    pub fn to_answer_json(&self) -> String {
        write(&WireAnswer::Failure(wire_error(self)))
    }
}

fn write(answer: &WireAnswer<'_>) -> String {
    // Strings, numbers and checked JSON always serialize.
    serde_json::to_string(answer).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum WireAnswer<'a> {
    Success(WireResult<'a>),
    Failure(WireError<'a>),
}

#[derive(Serialize)]
struct WireImplementation<'a> {
    isolation: &'static str,
    identity: &'a str,
}

impl<'a> From<&'a Implementation> for WireImplementation<'a> {
    fn from(implementation: &'a Implementation) -> Self {
        Self { isolation: implementation.isolation.name(), identity: &implementation.identity }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireResult<'a> {
    implementation: WireImplementation<'a>,
    value: &'a Json,
    logs: &'a [String],
    resource_use: WireUse,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireUse {
    wall_time: WireDuration,
    host_calls: u64,
    log_bytes: u64,
    result_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_millis: Option<u64>,
}

/// One of the nine; members that the error does not have are left out.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireError<'a> {
    #[serde(rename = "_tag")]
    tag: &'static str,
    implementation: WireImplementation<'a>,
    #[serde(flatten)]
    fields: WireFields<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireFields<'a> {
    Source {
        reason: &'static str,
        message: &'a str,
    },
    Unsupported {
        feature: &'static str,
        message: &'a str,
    },
    Start {
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<&'a str>,
    },
    Timeout {
        kind: &'static str,
        #[serde(rename = "maxWallTime")]
        max_wall_time: WireDuration,
        logs: &'a [String],
    },
    OutputLimit {
        surface: &'static str,
        limit: u64,
        observed: u64,
        logs: &'a [String],
    },
    HostCallLimit {
        limit: u64,
        logs: &'a [String],
    },
    ProgramFailed {
        reason: &'static str,
        thrown: &'a Json,
        message: &'a str,
        logs: &'a [String],
    },
    Message {
        message: &'a str,
    },
}

fn wire_error(failure: &CodeExecutionError) -> WireError<'_> {
    let fields = match &failure.error {
        CodeError::Source { reason, message } => WireFields::Source { reason: reason.name(), message },
        CodeError::Unsupported { feature, message } => WireFields::Unsupported { feature: feature.name(), message },
        CodeError::Start { message, cause } => WireFields::Start { message, cause: cause.as_deref() },
        CodeError::Timeout { kind, max_wall_time, logs } => {
            WireFields::Timeout { kind: kind.name(), max_wall_time: (*max_wall_time).into(), logs }
        }
        CodeError::OutputLimit { surface, limit, observed, logs } => {
            WireFields::OutputLimit { surface: surface.name(), limit: *limit, observed: *observed, logs }
        }
        CodeError::HostCallLimit { limit, logs } => WireFields::HostCallLimit { limit: *limit, logs },
        CodeError::ProgramFailed { reason, thrown, message, logs } => {
            WireFields::ProgramFailed { reason: reason.name(), thrown, message, logs }
        }
        CodeError::Protocol { message } | CodeError::Terminated { message } => WireFields::Message { message },
    };
    WireError { tag: failure.error.tag(), implementation: (&failure.implementation).into(), fields }
}
