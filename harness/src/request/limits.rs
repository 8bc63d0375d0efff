//! What one pass may use.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::InvalidRequest;

/// Host calls running at once where the request does not say.
pub const HOST_CALL_CONCURRENCY_DEFAULT: u32 = 4;

const SOURCE_BYTES: RangeInclusive<u32> = 1..=4_194_304;
const CPU_MILLIS: RangeInclusive<u32> = 1..=300_000;
const LOG_BYTES: RangeInclusive<u32> = 1..=1_048_576;
const RESULT_BYTES: RangeInclusive<u32> = 1..=4_194_304;
const HOST_CALLS: RangeInclusive<u32> = 0..=10_000;
const HOST_CALL_CONCURRENCY: RangeInclusive<u32> = 1..=64;
const HOST_CALL_ARGUMENT_BYTES: RangeInclusive<u32> = 1..=1_048_576;
const HOST_CALL_RESULT_BYTES: RangeInclusive<u32> = 1..=4_194_304;

/// The limits of one pass. "More than" a limit is refused, exactly the limit is allowed. Byte limits count UTF-8.
///
/// Ranges are checked when a [`CodeExecutionRequest`](super::CodeExecutionRequest) is made of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeExecutionLimits {
    /// Bytes of the source alone: 1 to 4,194,304.
    pub max_source_bytes: u32,
    /// From the start of loading to the program's answer, on the monotonic clock: more than zero.
    pub max_wall_time: Duration,
    /// CPU milliseconds of the program, host calls excluded: 1 to 300,000. `None`: no limit of the request's own.
    pub cpu_millis: Option<u32>,
    /// Bytes of all captured console lines together: 1 to 1,048,576.
    pub max_log_bytes: u32,
    /// Bytes of the result's JSON text: 1 to 4,194,304.
    pub max_result_bytes: u32,
    /// Host calls: 0 to 10,000.
    pub max_host_calls: u32,
    /// Host calls running at once: 1 to 64. `None`: [`HOST_CALL_CONCURRENCY_DEFAULT`].
    pub max_host_call_concurrency: Option<u32>,
    /// Bytes of one argument's JSON text: 1 to 1,048,576.
    pub max_host_call_argument_bytes: u32,
    /// Bytes of the JSON text of one outcome's value, success or failure: 1 to 4,194,304.
    pub max_host_call_result_bytes: u32,
}

impl Default for CodeExecutionLimits {
    /// The defaults of code mode, which suit a program that combines a few dozen calls.
    fn default() -> Self {
        Self {
            max_source_bytes: 262_144,
            max_wall_time: Duration::from_secs(30),
            cpu_millis: None,
            max_log_bytes: 262_144,
            max_result_bytes: 1_048_576,
            max_host_calls: 64,
            max_host_call_concurrency: None,
            max_host_call_argument_bytes: 262_144,
            max_host_call_result_bytes: 1_048_576,
        }
    }
}

impl CodeExecutionLimits {
    /// Host calls running at once.
    #[must_use]
    pub fn host_call_concurrency(&self) -> u32 {
        self.max_host_call_concurrency.unwrap_or(HOST_CALL_CONCURRENCY_DEFAULT)
    }

    pub(super) fn check(&self) -> Result<(), InvalidRequest> {
        let within = |name: &str, range: RangeInclusive<u32>, value: u32| {
            if range.contains(&value) {
                return Ok(());
            }
            let (low, high) = (range.start(), range.end());
            Err(InvalidRequest::new(name, format!("must be from {low} to {high}, and is {value}")))
        };
        let optional = |name: &str, range, value: Option<u32>| value.map_or(Ok(()), |value| within(name, range, value));
        within("maxSourceBytes", SOURCE_BYTES, self.max_source_bytes)?;
        if self.max_wall_time.is_zero() {
            return Err(InvalidRequest::new("maxWallTime", "must be longer than zero"));
        }
        optional("cpuMillis", CPU_MILLIS, self.cpu_millis)?;
        within("maxLogBytes", LOG_BYTES, self.max_log_bytes)?;
        within("maxResultBytes", RESULT_BYTES, self.max_result_bytes)?;
        within("maxHostCalls", HOST_CALLS, self.max_host_calls)?;
        optional("maxHostCallConcurrency", HOST_CALL_CONCURRENCY, self.max_host_call_concurrency)?;
        within("maxHostCallArgumentBytes", HOST_CALL_ARGUMENT_BYTES, self.max_host_call_argument_bytes)?;
        within("maxHostCallResultBytes", HOST_CALL_RESULT_BYTES, self.max_host_call_result_bytes)
    }
}
