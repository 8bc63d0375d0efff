//! The guest's answer: one envelope, whose shape is checked and whose numbers are believed.

use loaderd_runtime::rpc::plain::{Plain, PlainObject};

use super::{PassEnd, protocol};
use crate::error::{CodeError, MESSAGE_UNITS_MAX, ProgramReason, SourceReason, Surface};
use crate::json::Json;
use crate::request::CodeExecutionLimits;
use crate::result::{LOG_LINE_UNITS_MAX, LOG_LINES_MAX};
use crate::text;

/// What the guest says when the program returned a JSON value.
#[derive(Debug)]
pub(super) struct Completed {
    pub(super) value: Json,
    pub(super) logs: Vec<String>,
    pub(super) host_calls: u64,
    pub(super) log_bytes: u64,
    pub(super) result_bytes: u64,
}

/// Reads the answer and says what it makes of the pass. `None`: the guest answered something else than text.
pub(super) fn read(answer: Option<&str>, limits: &CodeExecutionLimits) -> Result<Completed, PassEnd> {
    let envelope = answer.and_then(|text| Plain::from_json(text).ok());
    envelope
        .as_ref()
        .and_then(Plain::as_object)
        .and_then(|members| map(members, limits))
        .unwrap_or_else(|| Err(protocol("The dynamic worker returned a value outside the harness envelope schema")))
}

/// `None`: the envelope is outside its schema.
fn map(members: &PlainObject, limits: &CodeExecutionLimits) -> Option<Result<Completed, PassEnd>> {
    let over = |surface, limit: u32| {
        let (limit, observed) = (limit.into(), count(members, "observed")?);
        Some(CodeError::OutputLimit { surface, limit, observed, logs: logs(members)? })
    };
    let error = match string(members, "_tag")?.as_str() {
        "completed" => {
            return Some(Ok(Completed {
                value: Json::from_plain(members.get("value")?).ok()?,
                logs: logs(members)?,
                host_calls: count(members, "hostCalls")?,
                log_bytes: count(members, "logBytes")?,
                result_bytes: count(members, "resultBytes")?,
            }));
        }
        "source-not-a-function" => {
            let actual = string(members, "actual")?;
            let message =
                format!("The source expression evaluated to {actual}; it must evaluate to one async function");
            CodeError::Source { reason: SourceReason::NotAFunction, message: text::cut(message, MESSAGE_UNITS_MAX) }
        }
        "program-failed" => CodeError::ProgramFailed {
            reason: reason(&string(members, "reason")?)?,
            thrown: Json::from_plain(members.get("thrown")?).ok()?,
            message: text::cut(string(members, "message")?, MESSAGE_UNITS_MAX),
            logs: logs(members)?,
        },
        "log-limit" => over(Surface::Logs, limits.max_log_bytes)?,
        "argument-limit" => over(Surface::HostCallArgument, limits.max_host_call_argument_bytes)?,
        "result-limit" => over(Surface::Result, limits.max_result_bytes)?,
        "host-call-limit" => CodeError::HostCallLimit { limit: limits.max_host_calls.into(), logs: logs(members)? },
        "protocol" => CodeError::Protocol { message: text::cut(string(members, "message")?, MESSAGE_UNITS_MAX) },
        _ => return None,
    };
    Some(Err(PassEnd::Error(error)))
}

fn reason(name: &str) -> Option<ProgramReason> {
    [ProgramReason::Threw, ProgramReason::Rejected, ProgramReason::NonJsonResult]
        .into_iter()
        .find(|reason| reason.name() == name)
}

fn string(members: &PlainObject, name: &str) -> Option<String> {
    Some(members.get(name)?.as_string()?.to_string_lossy())
}

/// A whole number, zero or more, that JavaScript's numbers hold exactly.
fn count(members: &PlainObject, name: &str) -> Option<u64> {
    const SAFE_INTEGER_MAX: f64 = ((1_u64 << 53) - 1) as f64;
    let number = members.get(name)?.as_number()?;
    (number.fract() == 0.0 && (0.0..=SAFE_INTEGER_MAX).contains(&number)).then_some(number as u64)
}

fn logs(members: &PlainObject) -> Option<Vec<String>> {
    let lines = members.get("logs")?.as_array()?;
    if lines.len() > LOG_LINES_MAX {
        return None;
    }
    lines
        .iter()
        .map(|line| {
            let line = line.as_string()?;
            (line.len_utf8() <= LOG_LINE_UNITS_MAX || line.len_utf16() <= LOG_LINE_UNITS_MAX)
                .then(|| line.to_string_lossy())
        })
        .collect()
}
