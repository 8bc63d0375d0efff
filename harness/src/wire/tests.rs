//! The JSON wire form, both ways.

use std::time::Duration;

use super::*;
use crate::error::{CodeError, CodeExecutionError, ProgramReason, TimeoutKind};
use crate::request::{CodeExecutionLimits, CodeExecutionNamespace, CodeExecutionRequest, NetworkPolicy};
use crate::result::{CodeExecutionResult, Implementation, ResourceUse};

const REQUEST: &str = r#"{"language":"javascript","source":"async () => 1","namespaces":[{"name":"tools","methods":["query","count"]}],"network":{"_tag":"NetworkDisabled"},"limits":{"maxSourceBytes":65536,"maxWallTime":{"_tag":"Millis","value":5000},"cpuMillis":50,"maxLogBytes":16384,"maxResultBytes":65536,"maxHostCalls":8,"maxHostCallArgumentBytes":16384,"maxHostCallResultBytes":32768}}"#;

#[test]
fn a_request_reads_and_writes_the_same_text() {
    let request = CodeExecutionRequest::from_json(REQUEST).unwrap();
    assert_eq!(request.to_json(), REQUEST);
    let limits = CodeExecutionLimits {
        max_source_bytes: 65_536,
        max_wall_time: Duration::from_secs(5),
        cpu_millis: Some(50),
        max_log_bytes: 16_384,
        max_result_bytes: 65_536,
        max_host_calls: 8,
        max_host_call_concurrency: None,
        max_host_call_argument_bytes: 16_384,
        max_host_call_result_bytes: 32_768,
    };
    let namespace = CodeExecutionNamespace::new("tools", ["query", "count"]).unwrap();
    let built = CodeExecutionRequest::new("async () => 1", vec![namespace], NetworkPolicy::Disabled, limits).unwrap();
    assert_eq!(request, built);

    let envelope = format!(r#"{{"id":"x","request":{REQUEST},"traceId":"t","spanId":"s"}}"#);
    assert_eq!(CodeExecutionRequest::from_json(&envelope).unwrap(), request);
}

#[test]
fn a_wrong_request_is_answered_with_the_place() {
    let millis = r#"{"_tag":"Millis","value":5000}"#;
    for (from, to, expected) in [
        ("\"javascript\"", "\"python\"", "language must be \"javascript\""),
        ("\"async () => 1\"", "1", "source must be a string"),
        ("[\"query\",\"count\"]", "[\"query\",3]", "namespaces[0].methods[1] must be a string"),
        (
            "[\"query\",\"count\"]",
            "[\"query\",\"if\"]",
            "namespaces[0].methods[1] must not be the reserved word \"if\"",
        ),
        ("\"NetworkDisabled\"", "\"Open\"", "network._tag must be \"NetworkDisabled\" or \"NetworkAllowlist\""),
        (
            "\"maxHostCalls\":8",
            "\"maxHostCalls\":1.5",
            "limits.maxHostCalls must be a whole number from 0 to 4294967295",
        ),
        ("\"maxHostCalls\":8", "\"maxHostCalls\":10001", "limits.maxHostCalls must be from 0 to 10000, and is 10001"),
        (",\"maxHostCalls\":8", "", "limits.maxHostCalls is missing"),
        (millis, r#"{"_tag":"Infinity"}"#, "limits.maxWallTime must be finite"),
        (millis, r#"{"_tag":"Millis","value":0}"#, "limits.maxWallTime must be longer than zero"),
        (
            millis,
            r#"{"_tag":"Nanos","value":"1e3"}"#,
            "limits.maxWallTime.value must be a decimal number of nanoseconds",
        ),
        ("{\"language\"", "[\"language\"", "not JSON (at byte 11)"),
    ] {
        let text = REQUEST.replacen(from, to, 1);
        assert_ne!(text, REQUEST, "{from}");
        assert_eq!(CodeExecutionRequest::from_json(&text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn durations_keep_every_nanosecond() {
    let text = REQUEST.replace(r#"{"_tag":"Millis","value":5000}"#, r#"{"_tag":"Nanos","value":"123456789"}"#);
    let request = CodeExecutionRequest::from_json(&text).unwrap();
    assert_eq!(request.limits().max_wall_time, Duration::from_nanos(123_456_789));
    assert_eq!(request.to_json(), text);
}

#[test]
fn answers_have_the_contracts_form() {
    let result = CodeExecutionResult {
        implementation: Implementation::default(),
        value: Json::parse(r#"{"a":"\ud800"}"#).unwrap(),
        logs: vec!["line".to_owned()],
        resource_use: ResourceUse {
            wall_time: Duration::from_micros(1500),
            host_calls: 2,
            log_bytes: 4,
            result_bytes: 14,
            cpu_millis: Some(1),
        },
    };
    assert_eq!(
        result.to_answer_json(),
        r#"{"success":{"implementation":{"isolation":"isolated","identity":"loaderd"},"value":{"a":"\ud800"},"logs":["line"],"resourceUse":{"wallTime":{"_tag":"Nanos","value":"1500000"},"hostCalls":2,"logBytes":4,"resultBytes":14,"cpuMillis":1}}}"#
    );
    let failure = |error| {
        CodeExecutionError { implementation: Implementation::default(), error, cause: None, cpu: None }.to_answer_json()
    };
    assert_eq!(
        failure(CodeError::Timeout {
            kind: TimeoutKind::WallClock,
            max_wall_time: Duration::from_secs(1),
            logs: Vec::new()
        }),
        r#"{"failure":{"_tag":"CodeExecutionTimeoutError","implementation":{"isolation":"isolated","identity":"loaderd"},"kind":"wall-clock","maxWallTime":{"_tag":"Millis","value":1000},"logs":[]}}"#
    );
    assert_eq!(
        failure(CodeError::ProgramFailed {
            reason: ProgramReason::Rejected,
            thrown: Json::parse("[1]").unwrap(),
            message: "[1]".to_owned(),
            logs: Vec::new()
        }),
        r#"{"failure":{"_tag":"CodeProgramFailedError","implementation":{"isolation":"isolated","identity":"loaderd"},"reason":"rejected","thrown":[1],"message":"[1]","logs":[]}}"#
    );
}

#[test]
fn only_the_two_outcomes_are_outcomes() {
    let outcome = CodeHostCallOutcome::from_json;
    let five = Json::parse("5").unwrap();
    assert_eq!(
        outcome(r#"{"_tag":"CodeHostCallSuccess","value":5,"extra":1}"#),
        CodeHostCallOutcome::Success(five.clone())
    );
    assert_eq!(outcome(r#"{"_tag":"CodeHostCallFailure","error":5}"#), CodeHostCallOutcome::Failure(five));
    // Of equal members the last counts, as in JavaScript, also where the others would be outside the schema.
    let twice = r#"{"_tag":"bogus","value":1e999,"_tag":"CodeHostCallSuccess","value":{"a":1,"b":2,"a":3}}"#;
    assert_eq!(outcome(twice), CodeHostCallOutcome::Success(Json::parse(r#"{"a":3,"b":2}"#).unwrap()));
    for text in [
        r#"{"_tag":"CodeHostCallSuccess","value":5,"value":1e999}"#,
        "null",
        "{}",
        "not json",
        r#"{"_tag":"CodeHostCallSuccess"}"#,
        r#"{"_tag":"CodeHostCallSuccess","error":5}"#,
        r#"{"_tag":"CodeHostCallSuccess","value":1e999}"#,
        r#"{"_tag":"bogus","value":5}"#,
        r#"["CodeHostCallSuccess"]"#,
    ] {
        assert_eq!(outcome(text), CodeHostCallOutcome::OutsideSchema, "{text}");
    }
}
