//! What the exit code of `loaderd exec` says.

use loaderd_harness::{CodeError, PassFailure};

/// The program failed.
pub(crate) const PROGRAM: u8 = 1;
/// Wrong usage.
pub(crate) const USAGE: u8 = 2;
/// A limit was met.
pub(crate) const LIMIT: u8 = 3;
/// The source is no program.
pub(crate) const SOURCE: u8 = 4;
/// The request asks for something that is not supported.
pub(crate) const UNSUPPORTED: u8 = 5;
/// The platform failed.
pub(crate) const PLATFORM: u8 = 6;
/// Interrupted from the keyboard: 128 and the number of the signal, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit code of a pass without a result.
pub(crate) fn of(failure: &PassFailure) -> u8 {
    match failure {
        PassFailure::Error(failed) => match &failed.error {
            CodeError::ProgramFailed { .. } => PROGRAM,
            CodeError::Timeout { .. } | CodeError::OutputLimit { .. } | CodeError::HostCallLimit { .. } => LIMIT,
            CodeError::Source { .. } => SOURCE,
            CodeError::Unsupported { .. } => UNSUPPORTED,
            CodeError::Start { .. } | CodeError::Terminated { .. } | CodeError::Protocol { .. } => PLATFORM,
        },
        PassFailure::HostDefect(_) | PassFailure::HostInterrupted => PLATFORM,
    }
}
