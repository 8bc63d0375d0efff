//! Outcomes of passes as Cap'n Proto messages.

use std::time::Duration;

use loaderd_schema::executor_capnp as schema;

use super::bounds::ServiceBounds;
use crate::error::{
    CodeError, CodeExecutionError, Feature, PassFailure, ProgramReason, SourceReason, Surface, TimeoutKind,
};
use crate::host::{HostDefect, HostDefectKind};
use crate::request::InvalidRequest;
use crate::result::{CodeExecutionResult, Implementation, Isolation, millis_rounded_up};

/// The outcome of a pass that ran.
pub(super) fn outcome(to: schema::pass_outcome::Builder<'_>, outcome: &Result<CodeExecutionResult, PassFailure>) {
    let mut to = to;
    match outcome {
        Ok(result) => self::result(to.init_success(), result),
        Err(PassFailure::Error(error)) => self::error(to.init_failure(), error),
        Err(PassFailure::HostDefect(defect)) => self::defect(to.init_host_defect(), defect),
        Err(PassFailure::HostInterrupted) => to.set_host_interrupted(()),
    }
}

/// Why a request never became a pass.
pub(super) enum Refusal {
    UnsupportedProtocolVersion,
    InvalidRequest(InvalidRequest),
    TooManyPasses(u32),
    ShuttingDown,
}

pub(super) fn refusal(to: schema::pass_outcome::Builder<'_>, refusal: &Refusal) {
    let mut to = to.init_refused();
    match refusal {
        Refusal::UnsupportedProtocolVersion => to.set_unsupported_protocol_version(schema::PROTOCOL_VERSION),
        Refusal::InvalidRequest(invalid) => {
            let mut to = to.init_invalid_request();
            to.set_field(&invalid.field);
            to.set_message(&invalid.message);
        }
        Refusal::TooManyPasses(bound) => to.set_too_many_passes(*bound),
        Refusal::ShuttingDown => to.set_shutting_down(()),
    }
}

pub(super) fn description(
    mut to: schema::executor_description::Builder<'_>,
    implementation: &Implementation,
    bounds: &ServiceBounds,
) {
    to.set_protocol_version(schema::PROTOCOL_VERSION);
    to.set_server_version(env!("CARGO_PKG_VERSION"));
    self::implementation(to.reborrow().init_implementation(), implementation);
    let mut to = to.init_bounds();
    to.set_passes_in_flight(bounds.passes_in_flight_max);
    to.set_message_bytes(bounds.message_bytes_max as u64);
    to.set_capabilities_per_message(bounds.capabilities_per_message_max);
    to.set_calls_in_flight(bounds.calls_in_flight_max);
}

fn implementation(mut to: schema::implementation::Builder<'_>, from: &Implementation) {
    to.set_isolation(match from.isolation {
        Isolation::Isolated => schema::Isolation::Isolated,
        Isolation::Unisolated => schema::Isolation::Unisolated,
    });
    to.set_identity(&*from.identity);
}

fn result(mut to: schema::code_execution_result::Builder<'_>, from: &CodeExecutionResult) {
    implementation(to.reborrow().init_implementation(), &from.implementation);
    to.set_value(from.value.as_str());
    lines(to.reborrow().init_logs(length(&from.logs)), &from.logs);
    let used = from.resource_use;
    let mut to = to.init_resource_use();
    to.set_wall_time(nanoseconds(used.wall_time));
    to.set_host_calls(used.host_calls);
    to.set_log_bytes(used.log_bytes);
    to.set_result_bytes(used.result_bytes);
    match used.cpu_millis {
        None => to.get_cpu().set_unknown(()),
        Some(millis) => to.get_cpu().set_millis(millis),
    }
}

fn defect(mut to: schema::host_defect::Builder<'_>, from: &HostDefect) {
    to.set_kind(match from.kind {
        HostDefectKind::Failed => schema::HostDefectKind::Failed,
        HostDefectKind::Disconnected => schema::HostDefectKind::Disconnected,
        HostDefectKind::Overloaded => schema::HostDefectKind::Overloaded,
        HostDefectKind::Unimplemented => schema::HostDefectKind::Unimplemented,
    });
    to.set_message(&from.message);
}

fn error(mut to: schema::code_execution_error::Builder<'_>, from: &CodeExecutionError) {
    implementation(to.reborrow().init_implementation(), &from.implementation);
    match from.cpu {
        None => to.reborrow().get_cpu().set_unknown(()),
        Some(cpu) => to.reborrow().get_cpu().set_millis(millis_rounded_up(cpu)),
    }
    match &from.error {
        CodeError::Source { reason, message } => {
            let mut to = to.init_source();
            to.set_reason(source_reason(*reason));
            to.set_message(message);
        }
        CodeError::Unsupported { feature, message } => {
            let mut to = to.init_unsupported();
            to.set_feature(self::feature(*feature));
            to.set_message(message);
        }
        CodeError::Start { message, cause } => {
            let mut to = to.init_start();
            to.set_message(message);
            match cause {
                None => to.get_cause().set_none(()),
                Some(cause) => to.get_cause().set_text(cause),
            }
        }
        CodeError::Timeout { kind, max_wall_time, logs } => {
            let mut to = to.init_timeout();
            to.set_kind(timeout_kind(*kind));
            to.set_max_wall_time(nanoseconds(*max_wall_time));
            lines(to.init_logs(length(logs)), logs);
        }
        CodeError::OutputLimit { surface, limit, observed, logs } => {
            let mut to = to.init_output_limit();
            to.set_surface(self::surface(*surface));
            to.set_limit(*limit);
            to.set_observed(*observed);
            lines(to.init_logs(length(logs)), logs);
        }
        CodeError::HostCallLimit { limit, logs } => {
            let mut to = to.init_host_call_limit();
            to.set_limit(*limit);
            lines(to.init_logs(length(logs)), logs);
        }
        CodeError::ProgramFailed { reason, thrown, message, logs } => {
            let mut to = to.init_program_failed();
            to.set_reason(program_reason(*reason));
            to.set_thrown(thrown.as_str());
            to.set_message(message);
            lines(to.init_logs(length(logs)), logs);
        }
        CodeError::Protocol { message } => to.init_protocol().set_message(message),
        CodeError::Terminated { message } => to.init_terminated().set_message(message),
    }
}

fn source_reason(from: SourceReason) -> schema::source_error::Reason {
    use schema::source_error::Reason;
    match from {
        SourceReason::Invalid => Reason::Invalid,
        SourceReason::Oversized => Reason::Oversized,
        SourceReason::NotAFunction => Reason::NotAFunction,
    }
}

fn feature(from: Feature) -> schema::unsupported_error::Feature {
    use schema::unsupported_error::Feature as To;
    match from {
        Feature::Language => To::Language,
        Feature::Network => To::Network,
        Feature::CpuLimit => To::CpuLimit,
        Feature::Namespaces => To::Namespaces,
        Feature::WallClock => To::WallClock,
        Feature::HostCalls => To::HostCalls,
    }
}

fn timeout_kind(from: TimeoutKind) -> schema::timeout_error::Kind {
    use schema::timeout_error::Kind;
    match from {
        TimeoutKind::Cpu => Kind::Cpu,
        TimeoutKind::WallClock => Kind::WallClock,
    }
}

fn surface(from: Surface) -> schema::output_limit_error::Surface {
    use schema::output_limit_error::Surface as To;
    match from {
        Surface::Logs => To::Logs,
        Surface::Result => To::Result,
        Surface::HostCallArgument => To::HostCallArgument,
        Surface::HostCallResult => To::HostCallResult,
    }
}

fn program_reason(from: ProgramReason) -> schema::program_failed_error::Reason {
    use schema::program_failed_error::Reason;
    match from {
        ProgramReason::Threw => Reason::Threw,
        ProgramReason::Rejected => Reason::Rejected,
        ProgramReason::NonJsonResult => Reason::NonJsonResult,
    }
}

/// Saturates after some 584 years.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Lines are bounded far below what a length can say.
fn length(lines: &[String]) -> u32 {
    u32::try_from(lines.len()).unwrap_or(u32::MAX)
}

fn lines(mut to: capnp::text_list::Builder<'_>, from: &[String]) {
    for (at, line) in (0..).zip(from) {
        to.set(at, line);
    }
}
