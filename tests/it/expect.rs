//! Compares what a pass did with what its case says.

use crate::case::{Case, Expect};
use crate::host::HostRecord;
use crate::json::Json;

/// How a pass ended, whichever door it came through.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The answer in the contract's JSON wire form: `{"success": …}` or `{"failure": …}`.
    Answer(Json),
    /// The pass was interrupted; by its caller, or by its host.
    Interrupted,
    /// The host broke.
    Defect,
}

/// The members each tag has in the wire form, beside `_tag` and `implementation`. `?` marks one that may be absent.
const FAILURES: [(&str, &[&str]); 9] = [
    ("CodeSourceError", &["reason", "message"]),
    ("CodeExecutorUnsupportedError", &["feature", "message"]),
    ("CodeExecutorStartError", &["message", "cause?"]),
    ("CodeExecutionTimeoutError", &["kind", "maxWallTime", "logs"]),
    ("CodeOutputLimitError", &["surface", "limit", "observed", "logs"]),
    ("CodeHostCallLimitError", &["limit", "logs"]),
    ("CodeProgramFailedError", &["reason", "thrown", "message", "logs"]),
    ("CodeExecutionProtocolError", &["message"]),
    ("CodeExecutorTerminatedError", &["message"]),
];

/// All that is wrong with an outcome, or nothing.
pub(crate) fn check(case: &Case, outcome: &Outcome) -> Result<(), String> {
    if let Outcome::Answer(answer) = outcome {
        well_formed(answer).map_err(|error| format!("not in the wire form: {error}\n  answer: {}", short(answer)))?;
    }
    let mut problems = Vec::new();
    for expect in &case.expect {
        match compare(expect, outcome) {
            Ok(()) => return Ok(()),
            Err(found) => problems.push(found),
        }
    }
    let said = match outcome {
        Outcome::Answer(answer) => short(answer),
        other => format!("{other:?}"),
    };
    Err(format!("{}\n  answer: {said}", problems.join("\n  or: ")))
}

/// What the host should have seen. `observes_interrupts`: whether this door can tell that a call was dropped.
pub(crate) fn check_host(case: &Case, record: &HostRecord, observes_interrupts: bool) -> Result<(), String> {
    if let Some(unscripted) = record.unscripted.first() {
        return Err(format!("the host has no answer for {unscripted}"));
    }
    if let Some(expected) = &case.host_saw
        && *expected != record.saw
    {
        return Err(format!("the host should have seen {expected:?}, and saw {:?}", record.saw));
    }
    if let Some(peak) = case.host_peak
        && peak != record.peak
    {
        return Err(format!("{peak} calls should have been active at once, and {} were", record.peak));
    }
    if let Some(interrupted) = case.host_interrupted.filter(|_| observes_interrupts)
        && interrupted != record.interrupted
    {
        return Err(format!("{interrupted} calls should have been interrupted, and {} were", record.interrupted));
    }
    if record.active != 0 && observes_interrupts {
        return Err(format!("{} host calls were still running after the pass", record.active));
    }
    Ok(())
}

fn short(json: &Json) -> String {
    let text = json.to_string();
    match text.char_indices().nth(2_000) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}

fn compare(expect: &Expect, outcome: &Outcome) -> Result<(), String> {
    match (expect, outcome) {
        (Expect::Interrupted, Outcome::Interrupted) | (Expect::Defect, Outcome::Defect) => Ok(()),
        (Expect::Completed(keys), Outcome::Answer(answer)) => {
            let result = answer.get("success").ok_or("should have completed")?;
            compare_keys(keys, result)
        }
        (Expect::Failed(keys), Outcome::Answer(answer)) => {
            let error = answer.get("failure").ok_or("should have failed")?;
            compare_keys(keys, error)
        }
        (expect, _) => Err(format!("should have been {expect:?}")),
    }
}

fn compare_keys(keys: &[(String, Json)], actual: &Json) -> Result<(), String> {
    for (key, expected) in keys {
        compare_key(key, expected, actual).map_err(|found| format!("{key}: {found}"))?;
    }
    let logs = actual.get("logs");
    if !keys.iter().any(|(key, _)| key == "logs") && logs.and_then(Json::as_array).is_some_and(|logs| !logs.is_empty())
    {
        return Err(format!("logs: should be empty, and are {}", short(logs.unwrap_or(&Json::Null))));
    }
    Ok(())
}

fn compare_key(key: &str, expected: &Json, actual: &Json) -> Result<(), String> {
    let message = || actual.get("message").and_then(Json::as_text).ok_or("there is no message");
    let text = |json: &Json| json.as_text().ok_or("the case gives no text");
    let found = match key {
        "logs" if expected.as_text().as_deref() == Some("any") => return Ok(()),
        "message" | "logs" => {
            let found = actual.get(key).ok_or("is absent")?;
            return same(&expected.without_half_pairs(), &found.without_half_pairs());
        }
        "messageHas" => {
            let parts = expected.as_array().map_or_else(|| vec![expected.clone()], <[Json]>::to_vec);
            let message = message()?;
            return match parts.iter().filter_map(Json::as_text).find(|part| !message.contains(part.as_str())) {
                Some(part) => Err(format!("{message:?} has no {part:?}")),
                None => Ok(()),
            };
        }
        "messageStarts" => {
            let (message, start) = (message()?, text(expected)?);
            return if message.starts_with(&start) { Ok(()) } else { Err(format!("{message:?} does not start so")) };
        }
        "messageUnits" => &Json::number(message()?.encode_utf16().count()),
        "isolation" => actual.get("implementation").and_then(|i| i.get("isolation")).ok_or("is absent")?,
        "hostCalls" | "logBytes" | "resultBytes" => {
            actual.get("resourceUse").and_then(|used| used.get(key)).ok_or("is absent")?
        }
        "maxWallMillis" => actual.get("maxWallTime").and_then(|wall| wall.get("value")).ok_or("is absent")?,
        "_tag" | "reason" | "feature" | "kind" | "surface" | "limit" | "observed" | "thrown" | "value" => {
            actual.get(key).ok_or("is absent")?
        }
        _ => return Err("the case names something that no outcome has".to_owned()),
    };
    same(expected, found)
}

fn same(expected: &Json, found: &Json) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("should be {}, and is {}", short(expected), short(found))) }
}

/// Every answer, whatever the case looks at, has exactly the members of its kind.
fn well_formed(answer: &Json) -> Result<(), String> {
    match answer.as_object() {
        Some([(tag, result)]) if tag == "success" => {
            members(result, &["implementation", "value", "logs", "resourceUse"])?;
            let used = result.get("resourceUse").ok_or("no resourceUse")?;
            members(used, &["wallTime", "hostCalls", "logBytes", "resultBytes", "cpuMillis?"])?;
            duration(used.get("wallTime"))?;
            logs(result)?;
            implementation(result)
        }
        Some([(tag, error)]) if tag == "failure" => {
            let tag = error.get("_tag").and_then(Json::as_text).ok_or("no _tag")?;
            let (_, fields) =
                FAILURES.iter().find(|(known, _)| *known == tag).ok_or("a tag that is none of the nine")?;
            members(error, &[&["_tag", "implementation"], *fields].concat())?;
            if fields.contains(&"maxWallTime") {
                duration(error.get("maxWallTime"))?;
            }
            if fields.contains(&"logs") {
                logs(error)?;
            }
            let message = error.get("message").and_then(Json::as_text).unwrap_or_default();
            if message.encode_utf16().count() > 8_000 {
                return Err("a message longer than 8,000 units".to_owned());
            }
            implementation(error)
        }
        _ => Err("an answer is success or failure".to_owned()),
    }
}

fn members(object: &Json, fields: &[&str]) -> Result<(), String> {
    let found = object.as_object().ok_or("not an object")?;
    for field in fields {
        if !field.ends_with('?') && object.get(field).is_none() {
            return Err(format!("no {field}"));
        }
    }
    match found.iter().find(|(key, _)| !fields.iter().any(|field| field.trim_end_matches('?') == key)) {
        Some((key, _)) => Err(format!("a member {key} too many")),
        None => Ok(()),
    }
}

fn implementation(object: &Json) -> Result<(), String> {
    let implementation = object.get("implementation").ok_or("no implementation")?;
    members(implementation, &["isolation", "identity"])?;
    match implementation.get("identity").and_then(Json::as_text) {
        Some(identity) if (1..=256).contains(&identity.encode_utf16().count()) => Ok(()),
        _ => Err("an identity has 1 to 256 units".to_owned()),
    }
}

fn duration(duration: Option<&Json>) -> Result<(), String> {
    let duration = duration.ok_or("no duration")?;
    match (duration.get("_tag").and_then(Json::as_text).as_deref(), duration.get("value")) {
        (Some("Millis"), Some(Json::Number(_))) => Ok(()),
        (Some("Nanos"), Some(value)) if value.as_text().is_some_and(|digits| digits.parse::<u128>().is_ok()) => Ok(()),
        _ => Err(format!("not a duration: {duration}")),
    }
}

fn logs(object: &Json) -> Result<(), String> {
    let lines = object.get("logs").and_then(Json::as_array).ok_or("logs are an array")?;
    if lines.len() > 4_096 {
        return Err("more than 4,096 lines".to_owned());
    }
    let fits = |line: &Json| matches!(line, Json::String(units) if units.len() <= 16_384);
    if lines.iter().all(fits) { Ok(()) } else { Err("a line is text of at most 16,384 units".to_owned()) }
}
