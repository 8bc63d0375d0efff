//! Lengths of time on the wire: whole milliseconds as a number, anything finer as nanoseconds in a decimal string.

use std::time::Duration;

use loaderd_runtime::rpc::plain::Plain;
use serde::Serialize;

use crate::request::InvalidRequest;

/// The largest integer that JavaScript's numbers hold exactly.
pub(super) const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

const NANOS_PER_MILLI: u128 = 1_000_000;
const NANOS_PER_SECOND: u128 = 1_000_000_000;

#[derive(Serialize)]
#[serde(tag = "_tag", content = "value")]
pub(super) enum WireDuration {
    Millis(u64),
    Nanos(String),
}

impl From<Duration> for WireDuration {
    fn from(duration: Duration) -> Self {
        let nanos = duration.as_nanos();
        match u64::try_from(nanos / NANOS_PER_MILLI) {
            Ok(millis) if nanos.is_multiple_of(NANOS_PER_MILLI) && millis <= SAFE_INTEGER_MAX => Self::Millis(millis),
            _ => Self::Nanos(nanos.to_string()),
        }
    }
}

/// Reads a length of time, zero included.
pub(super) fn read(value: &Plain) -> Result<Duration, InvalidRequest> {
    const FORMS: &str = r#"must be {"_tag":"Millis","value":5000} or {"_tag":"Nanos","value":"123456789"}"#;
    let wrong = || InvalidRequest::new("", FORMS);
    let members = value.as_object().ok_or_else(wrong)?;
    let amount = members.get("value");
    match super::text(members, "_tag").ok_or_else(wrong)?.as_str() {
        "Millis" => {
            let millis = amount.and_then(Plain::as_number).ok_or_else(wrong)?;
            let whole = millis.fract() == 0.0 && (0.0..=SAFE_INTEGER_MAX as f64).contains(&millis);
            if whole {
                Ok(Duration::from_millis(millis as u64))
            } else {
                Err(InvalidRequest::new("value", "must be a whole number of milliseconds, zero or more"))
            }
        }
        "Nanos" => {
            let digits = amount.and_then(Plain::as_string).ok_or_else(wrong)?.to_string_lossy();
            let nanos = (!digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()))
                .then(|| digits.parse::<u128>().ok())
                .flatten()
                .ok_or_else(|| InvalidRequest::new("value", "must be a decimal number of nanoseconds"))?;
            let seconds = u64::try_from(nanos / NANOS_PER_SECOND)
                .map_err(|_| InvalidRequest::new("value", "is longer than any clock can measure"))?;
            Ok(Duration::new(seconds, (nanos % NANOS_PER_SECOND) as u32))
        }
        "Infinity" => Err(InvalidRequest::new("", "must be finite")),
        _ => Err(wrong()),
    }
}
