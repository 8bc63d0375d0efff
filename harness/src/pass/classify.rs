//! Failures of the loader and of the Worker, told apart: the program's source is blamed only for what a compiler
//! said, a bare failure to start is infrastructure, and what nobody recognises is a termination.
//!
//! Failures of our own runtime carry their phase and cause, which decide. Only foreign diagnostics are recognised by
//! their text.

use loaderd_runtime::isolate::LoadPhase;
use loaderd_runtime::limits::Cause;

use super::worker::{Diagnostic, StartFailure, WorkerFailure};
use super::{PassEnd, timeout, timeout_error};
use crate::error::{CodeError, MESSAGE_UNITS_MAX, SourceReason, TimeoutKind};
use crate::request::CodeExecutionLimits;
use crate::text;

/// The most of a foreign diagnostic that is looked at, in UTF-16 units.
const DIAGNOSTIC_UNITS_MAX: usize = 8_192;

/// What a refused load makes of the pass.
pub(super) fn load(refusal: &Diagnostic) -> PassEnd {
    let text = refusal.message().unwrap_or("The Worker Loader failed without a diagnostic");
    let text = text::cut(text.to_owned(), DIAGNOSTIC_UNITS_MAX);
    if names_syntax(&text.to_lowercase()) {
        return invalid_source(text);
    }
    let message = text::cut(format!("The Worker Loader rejected the pass: {text}"), MESSAGE_UNITS_MAX);
    PassEnd::Error(CodeError::Start { message, cause: Some(text) })
}

/// What a failure of the loaded Worker makes of the pass.
pub(super) fn worker(failure: &WorkerFailure, limits: &CodeExecutionLimits) -> PassEnd {
    match failure {
        WorkerFailure::Start(failure) => start(failure, limits),
        WorkerFailure::Ended { cause, message, .. } => {
            ended(*cause, text::cut(message.clone(), MESSAGE_UNITS_MAX), limits)
        }
        WorkerFailure::Lost(message) => terminated(text::cut(message.clone(), MESSAGE_UNITS_MAX)),
        WorkerFailure::Thrown { what, .. } => thrown(what, limits),
    }
}

fn start(failure: &StartFailure, limits: &CodeExecutionLimits) -> PassEnd {
    let message = text::cut(failure.message.clone(), MESSAGE_UNITS_MAX);
    match (failure.cause, failure.phase) {
        (Some(cause), _) => ended(cause, message, limits),
        (None, LoadPhase::Compile) => invalid_source(message),
        // A SyntaxError that the program itself throws while it is evaluated counts as its source's fault too.
        (None, LoadPhase::Evaluate) if names_syntax(&message.to_lowercase()) => invalid_source(message),
        (None, LoadPhase::Evaluate) => PassEnd::Error(CodeError::Start { cause: Some(message.clone()), message }),
    }
}

fn ended(cause: Cause, message: String, limits: &CodeExecutionLimits) -> PassEnd {
    let error = match cause {
        Cause::ExceededCpu | Cause::ExceededStartupCpu => timeout_error(TimeoutKind::Cpu, limits),
        Cause::ExceededWallTime => timeout_error(TimeoutKind::WallClock, limits),
        Cause::ExceededMemory | Cause::Condemned | Cause::Canceled | Cause::Shutdown | Cause::InternalError => {
            CodeError::Terminated { message }
        }
    };
    PassEnd::Ended(error, cause)
}

fn thrown(diagnostic: &Diagnostic, limits: &CodeExecutionLimits) -> PassEnd {
    let text = diagnostic.text().unwrap_or_else(|| "[unserializable worker failure]".to_owned());
    let text = text::cut(text, DIAGNOSTIC_UNITS_MAX);
    let lower = text.to_lowercase();
    let message = text::cut(text, MESSAGE_UNITS_MAX);
    if names_syntax(&lower) {
        invalid_source(message)
    } else if lower.contains("cpu") {
        timeout(TimeoutKind::Cpu, limits)
    } else if lower.contains("failed to start worker") {
        PassEnd::Error(CodeError::Start { cause: Some(message.clone()), message })
    } else {
        terminated(message)
    }
}

/// Whether a diagnostic, in lower case, is a compiler's.
fn names_syntax(lower: &str) -> bool {
    ["syntaxerror", "failed to compile", "failed to parse"].iter().any(|text| lower.contains(text))
}

fn invalid_source(message: String) -> PassEnd {
    let message = text::cut(message, MESSAGE_UNITS_MAX);
    PassEnd::Error(CodeError::Source { reason: SourceReason::Invalid, message })
}

fn terminated(message: String) -> PassEnd {
    PassEnd::Error(CodeError::Terminated { message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str, message: &str) -> Diagnostic {
        Diagnostic::Error { name: name.to_owned(), message: message.to_owned() }
    }

    /// The tag, and the reason or kind where the error has one.
    fn sort(end: PassEnd) -> String {
        let (PassEnd::Error(error) | PassEnd::Ended(error, _)) = end else { return "host".to_owned() };
        let detail = match &error {
            CodeError::Source { reason, .. } => reason.name(),
            CodeError::Timeout { kind, .. } => kind.name(),
            _ => "",
        };
        format!("{} {detail}", error.tag()).trim_end().to_owned()
    }

    #[test]
    fn refused_loads_are_told_apart_by_message_alone() {
        for (refusal, expected) in [
            (error("SyntaxError", "Unexpected token"), "CodeExecutorStartError"),
            (error("Error", "Uncaught SyntaxError: x"), "CodeSourceError invalid"),
            (Diagnostic::Value("FAILED TO PARSE module".to_owned()), "CodeSourceError invalid"),
            (error("Error", "cpu"), "CodeExecutorStartError"),
            (Diagnostic::Unrenderable, "CodeExecutorStartError"),
        ] {
            assert_eq!(sort(load(&refusal)), expected, "{refusal:?}");
        }
        let PassEnd::Error(CodeError::Start { message, .. }) = load(&error("Error", &"x".repeat(9_000))) else {
            panic!("a start error")
        };
        assert_eq!(message.len(), MESSAGE_UNITS_MAX);
        assert!(message.starts_with("The Worker Loader rejected the pass: xxx"));
    }

    #[test]
    fn thrown_failures_are_told_apart_by_name_and_message_in_order() {
        let limits = CodeExecutionLimits::default();
        for (diagnostic, expected) in [
            (error("SyntaxError", "Unexpected token"), "CodeSourceError invalid"),
            (error("Error", "Worker exceeded CPU time limit."), "CodeExecutionTimeoutError cpu"),
            (error("Error", "Failed to start Worker"), "CodeExecutorStartError"),
            (error("Error", "Failed to start Worker: Uncaught SyntaxError: x"), "CodeSourceError invalid"),
            (error("Error", "Failed to start Worker: cpu"), "CodeExecutionTimeoutError cpu"),
            (error("Error", "code had hung and would never generate a response"), "CodeExecutorTerminatedError"),
            (Diagnostic::Value("[object Object]".to_owned()), "CodeExecutorTerminatedError"),
            (Diagnostic::Unrenderable, "CodeExecutorTerminatedError"),
        ] {
            assert_eq!(
                sort(worker(&WorkerFailure::Thrown { what: diagnostic.clone(), cpu: None }, &limits)),
                expected,
                "{diagnostic:?}"
            );
        }
    }

    #[test]
    fn our_own_failures_are_told_apart_by_phase_and_cause() {
        let limits = CodeExecutionLimits::default();
        let start = |phase, cause, message: &str| {
            WorkerFailure::Start(StartFailure { phase, cause, message: message.to_owned(), cpu: None })
        };
        let run_ended = |cause: Cause| WorkerFailure::Ended { cause, message: cause.message().to_owned(), cpu: None };
        for (failure, expected) in [
            (start(LoadPhase::Compile, None, "anything, cpu included"), "CodeSourceError invalid"),
            (start(LoadPhase::Evaluate, None, "Uncaught Error: cpu"), "CodeExecutorStartError"),
            (start(LoadPhase::Evaluate, None, "Uncaught SyntaxError: fake"), "CodeSourceError invalid"),
            (start(LoadPhase::Evaluate, Some(Cause::ExceededStartupCpu), "x"), "CodeExecutionTimeoutError cpu"),
            (start(LoadPhase::Evaluate, Some(Cause::ExceededMemory), "x"), "CodeExecutorTerminatedError"),
            (run_ended(Cause::ExceededCpu), "CodeExecutionTimeoutError cpu"),
            (run_ended(Cause::ExceededWallTime), "CodeExecutionTimeoutError wall-clock"),
            (run_ended(Cause::ExceededMemory), "CodeExecutorTerminatedError"),
            (run_ended(Cause::Shutdown), "CodeExecutorTerminatedError"),
            (run_ended(Cause::InternalError), "CodeExecutorTerminatedError"),
        ] {
            assert_eq!(sort(worker(&failure, &limits)), expected, "{failure:?}");
        }
    }
}
