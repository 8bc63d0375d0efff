//! What a person is told of a pass.

use std::fmt::Write as _;
use std::time::Duration;

use loaderd_harness::{
    CodeError, CodeExecutionResult, PassFailure, ProgramReason, ResourceUse, SourceReason, Surface, TimeoutKind,
};

use loaderd_loader::host::STARTUP_CPU;
use loaderd_runtime::limits::Cause;

use super::place::{FirstColumn, Place};
use super::pretty::pretty;
use crate::terminal::{self, Style, styled};

/// What was run, for messages that point into it.
pub(crate) struct Program {
    /// The file's name, or `standard input`.
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) cpu_millis: Option<u32>,
}

/// Prints the value on standard output, and what it took on standard error.
pub(crate) fn completed(result: &CodeExecutionResult) -> Result<(), String> {
    let printed = terminal::print(&pretty(&result.value));
    terminal::say(&styled(Style::Dim, used(result.resource_use)));
    printed
}

fn used(used: ResourceUse) -> String {
    let mut text = format!("used {} wall", millis(used.wall_time));
    if let Some(cpu) = used.cpu_millis {
        let _ = write!(text, ", {cpu} ms CPU");
    }
    let calls = if used.host_calls == 1 { "host call" } else { "host calls" };
    let _ = write!(text, ", {} {calls}", used.host_calls);
    let _ = write!(text, ", {} log bytes, {} result bytes", used.log_bytes, used.result_bytes);
    text
}

fn millis(time: Duration) -> String {
    let millis = time.as_secs_f64() * 1e3;
    if millis < 10.0 { format!("{millis:.1} ms") } else { format!("{millis:.0} ms") }
}

/// Says what went wrong, where, and what can be done.
pub(crate) fn failed(failure: &PassFailure, program: &Program) {
    match failure {
        PassFailure::Error(failed) if failed.cause == Some(Cause::ExceededStartupCpu) => start_up_budget(),
        PassFailure::Error(failed) => code_error(&failed.error, failed.cause, program),
        PassFailure::HostDefect(defect) => {
            terminal::error(&format!("the tools failed: {defect}"));
            terminal::help(
                "this says nothing about the program; look at the tools module, and whether --tools is given",
            );
        }
        PassFailure::HostInterrupted => terminal::error("the tools interrupted the program"),
    }
    if let Some(cpu) = failure.cpu() {
        terminal::say(&styled(Style::Dim, format!("used {} CPU", millis(cpu))));
    }
}

fn code_error(error: &CodeError, cause: Option<Cause>, program: &Program) {
    match error {
        CodeError::Source { reason, message } => source(*reason, message, program),
        CodeError::Unsupported { message, .. } => {
            terminal::error(message);
            terminal::help("ask for something else; this cannot be turned on");
        }
        CodeError::Start { message, .. } => {
            terminal::error(&format!("the program did not start: {message}"));
            point_at(message, program, FirstColumn::One);
            // Otherwise the machine did not start it.
            if message.contains("Uncaught") {
                terminal::help(
                    "the expression itself is evaluated before console and tools exist: move work into the function",
                );
            }
        }
        CodeError::Timeout { kind, max_wall_time, .. } => timeout(*kind, *max_wall_time, program),
        CodeError::OutputLimit { surface, limit, observed, .. } => output(*surface, *limit, *observed),
        CodeError::HostCallLimit { limit, .. } => {
            terminal::error(&format!("the program called its tools more than {limit} times"));
            terminal::help("ask for more at once, or raise --max-host-calls");
        }
        CodeError::ProgramFailed { reason, message, .. } => program_failed(*reason, message),
        CodeError::Protocol { message } => {
            terminal::error(message);
            terminal::help("a tool must return a JSON value: no undefined, NaN, Date or class instance anywhere in it");
        }
        CodeError::Terminated { message } => {
            terminal::error(&format!("the program was ended: {message}"));
            if cause == Some(Cause::ExceededMemory) {
                terminal::help("work on less at a time");
            }
        }
    }
}

fn source(reason: SourceReason, message: &str, program: &Program) {
    let first_line = message.lines().find(|line| line.contains("Error")).unwrap_or(message);
    match reason {
        SourceReason::Invalid => {
            terminal::error(&format!("the source does not compile: {first_line}"));
            point_at(message, program, FirstColumn::Zero);
            terminal::help(
                "a program is one function expression, such as `async () => 1`, without a semicolon after it",
            );
        }
        SourceReason::Oversized => {
            terminal::error(&format!("{message} (--max-source-bytes)"));
            terminal::help("shorten it, or raise --max-source-bytes");
        }
        SourceReason::NotAFunction => {
            terminal::error(message);
            terminal::help("wrap it into a function: `async () => …`");
        }
    }
}

fn point_at(diagnostic: &str, program: &Program, first: FirstColumn) {
    if let Some(place) = Place::find(diagnostic, &program.source, first) {
        terminal::say(&format!("  --> {}:{}:{}", program.name, place.line, place.column));
        terminal::say(&place.excerpt(&program.source));
    }
}

fn timeout(kind: TimeoutKind, max_wall_time: Duration, program: &Program) {
    match (kind, program.cpu_millis) {
        (TimeoutKind::WallClock, _) => {
            terminal::error(&format!("the program met its limit of {} of time", millis(max_wall_time)));
            terminal::help("look for something that never settles, or raise --max-wall-ms");
        }
        (TimeoutKind::Cpu, Some(cpu)) => {
            terminal::error(&format!("the program met its limit of {cpu} ms of CPU time"));
            terminal::help("look for a loop that does not end, or raise --cpu-ms");
        }
        (TimeoutKind::Cpu, None) => {
            terminal::error("the program met the platform's limit of CPU time");
            terminal::help("look for a loop that does not end");
        }
    }
}

fn start_up_budget() {
    let budget = millis(STARTUP_CPU);
    terminal::error(&format!("evaluating the expression met the start-up budget of {budget} of CPU time"));
    terminal::help("look for a loop outside the function; --cpu-ms is about the function and changes nothing here");
}

fn output(surface: Surface, limit: u64, observed: u64) {
    let (what, option) = match surface {
        Surface::Logs => ("console output", "--max-log-bytes"),
        Surface::Result => ("result", "--max-result-bytes"),
        Surface::HostCallArgument => ("argument of a call to a tool", "--max-host-call-argument-bytes"),
        Surface::HostCallResult => ("answer of a tool", "--max-host-call-result-bytes"),
    };
    if surface == Surface::HostCallArgument && observed == 0 {
        terminal::error("a tool was called with something that is no JSON value");
        terminal::help("give it one argument that JSON can express; `undefined`, functions and cycles cannot be");
    } else {
        terminal::error(&format!("the {what} met its limit of {limit} bytes ({observed} bytes)"));
        terminal::help(&format!("make it smaller, or raise {option}"));
    }
}

fn program_failed(reason: ProgramReason, message: &str) {
    match reason {
        ProgramReason::Threw => terminal::error(&format!("the program threw {message}")),
        ProgramReason::Rejected => {
            terminal::error(&format!("the program failed with {message}"));
            terminal::help("a tool's failure that the program does not catch ends it; catch it to go on");
        }
        ProgramReason::NonJsonResult => {
            terminal::error(message);
            terminal::help("return data; `undefined`, functions, bigints and cycles cannot be expressed");
        }
    }
}
