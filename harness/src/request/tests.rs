//! Bounds of a request, one row each.

use std::time::Duration;

use super::*;

fn with_limits(change: impl FnOnce(&mut CodeExecutionLimits)) -> Result<CodeExecutionRequest, InvalidRequest> {
    let mut limits = CodeExecutionLimits::default();
    change(&mut limits);
    CodeExecutionRequest::new("async () => 1", Vec::new(), NetworkPolicy::Disabled, limits)
}

type Set = fn(&mut CodeExecutionLimits, u32);

#[test]
fn each_limit_has_its_range() {
    let rows: [(&str, u32, u32, Set); 8] = [
        ("limits.maxSourceBytes", 1, 4_194_304, |limits, value| limits.max_source_bytes = value),
        ("limits.cpuMillis", 1, 300_000, |limits, value| limits.cpu_millis = Some(value)),
        ("limits.maxLogBytes", 1, 1_048_576, |limits, value| limits.max_log_bytes = value),
        ("limits.maxResultBytes", 1, 4_194_304, |limits, value| limits.max_result_bytes = value),
        ("limits.maxHostCalls", 0, 10_000, |limits, value| limits.max_host_calls = value),
        ("limits.maxHostCallConcurrency", 1, 64, |limits, value| limits.max_host_call_concurrency = Some(value)),
        ("limits.maxHostCallArgumentBytes", 1, 1_048_576, |limits, value| {
            limits.max_host_call_argument_bytes = value;
        }),
        ("limits.maxHostCallResultBytes", 1, 4_194_304, |limits, value| limits.max_host_call_result_bytes = value),
    ];
    for (field, low, high, set) in rows {
        for value in [low, high] {
            assert!(with_limits(|limits| set(limits, value)).is_ok(), "{field} {value}");
        }
        for value in [low.checked_sub(1), Some(high + 1)].into_iter().flatten() {
            assert_eq!(with_limits(|limits| set(limits, value)).unwrap_err().field, field, "{value}");
        }
    }
    assert_eq!(
        with_limits(|limits| limits.max_wall_time = Duration::ZERO).unwrap_err().to_string(),
        "limits.maxWallTime must be longer than zero"
    );
    assert!(with_limits(|limits| limits.max_wall_time = Duration::MAX).is_ok());
}

#[test]
fn sources_and_namespaces_are_bounded() {
    let request = |source: String, namespaces| {
        CodeExecutionRequest::new(source, namespaces, NetworkPolicy::Disabled, CodeExecutionLimits::default())
    };
    assert!(request("x".repeat(SOURCE_UNITS_MAX), Vec::new()).is_ok());
    assert_eq!(request("x".repeat(SOURCE_UNITS_MAX + 1), Vec::new()).unwrap_err().field, "source");
    // Units, not bytes.
    assert!(request("€".repeat(SOURCE_UNITS_MAX), Vec::new()).is_ok());

    let namespace = CodeExecutionNamespace::new("tools", ["a", "a"]).unwrap();
    assert!(request(String::new(), vec![namespace.clone(); NAMESPACES_MAX]).is_ok());
    assert_eq!(request(String::new(), vec![namespace; NAMESPACES_MAX + 1]).unwrap_err().field, "namespaces");

    assert_eq!(CodeExecutionNamespace::new("tools", [""; 0]).unwrap_err().field, "methods");
    assert!(CodeExecutionNamespace::new("tools", ["a"; METHODS_MAX]).is_ok());
    assert_eq!(CodeExecutionNamespace::new("tools", ["a"; METHODS_MAX + 1]).unwrap_err().field, "methods");
    assert_eq!(CodeExecutionNamespace::new("tools", ["a", "if"]).unwrap_err().field, "methods[1]");
    assert_eq!(CodeExecutionNamespace::new("a b", ["a"]).unwrap_err().field, "name");
}

#[test]
fn allowlists_are_bounded() {
    let check = |domains: Vec<String>, ports| NetworkPolicy::Allowlist { domains, ports }.check();
    assert!(check(Vec::new(), Vec::new()).is_ok());
    assert!(check(vec!["d".repeat(256); 256], vec![65_535; 256]).is_ok());
    assert_eq!(check(vec![String::new()], Vec::new()).unwrap_err().field, "domains[0]");
    assert_eq!(check(vec!["d".repeat(257)], Vec::new()).unwrap_err().field, "domains[0]");
    assert_eq!(check(vec!["d".to_owned(); 257], Vec::new()).unwrap_err().field, "domains");
    assert_eq!(check(Vec::new(), vec![1; 257]).unwrap_err().field, "ports");
    assert_eq!(check(Vec::new(), vec![80, 0]).unwrap_err().field, "ports[1]");
}
