//! JSON text as `JSON.stringify` writes it, byte for byte.

use super::string::Chunk;
use super::{DEPTH_MAX, JsString, JsonWriteError, Plain};

type Result<T> = std::result::Result<T, JsonWriteError>;

pub(super) fn write(value: &Plain) -> Result<Option<String>> {
    let mut text = String::new();
    Ok(write_value(&mut text, value, 0)?.then_some(text))
}

/// Appends the value. False, and nothing appended, when it is `undefined`.
fn write_value(text: &mut String, value: &Plain, depth: usize) -> Result<bool> {
    if depth >= DEPTH_MAX {
        return Err(JsonWriteError::Depth);
    }
    match value {
        Plain::Undefined => return Ok(false),
        Plain::Null => text.push_str("null"),
        Plain::Bool(true) => text.push_str("true"),
        Plain::Bool(false) => text.push_str("false"),
        Plain::Number(number) if number.is_finite() => {
            text.push_str(ryu_js::Buffer::new().format_finite(*number));
        }
        Plain::Number(_) => text.push_str("null"),
        Plain::String(string) => write_string(text, string),
        Plain::Array(elements) => {
            text.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                if !write_value(text, element, depth + 1)? {
                    text.push_str("null");
                }
            }
            text.push(']');
        }
        Plain::Object(object) => {
            text.push('{');
            let mut first = true;
            for (key, value) in object {
                let start = text.len();
                if !first {
                    text.push(',');
                }
                write_string(text, key);
                text.push(':');
                if write_value(text, value, depth + 1)? {
                    first = false;
                } else {
                    text.truncate(start);
                }
            }
            text.push('}');
        }
        Plain::Date(millis) => write_date(text, *millis),
        Plain::BigInt(_) => return Err(JsonWriteError::NotJson("bigint")),
        Plain::Map(_) => return Err(JsonWriteError::NotJson("Map")),
        Plain::Set(_) => return Err(JsonWriteError::NotJson("Set")),
        Plain::Bytes(..) => return Err(JsonWriteError::NotJson("bytes")),
        Plain::Error(_) => return Err(JsonWriteError::NotJson("Error")),
        Plain::Cap(_) => return Err(JsonWriteError::NotJson("RpcStub")),
        Plain::Made(..) => return Err(JsonWriteError::NotJson("an object of the runtime")),
    }
    Ok(true)
}

fn write_string(text: &mut String, string: &JsString) {
    text.push('"');
    for chunk in string.chunks() {
        match chunk {
            Chunk::Text(part) => write_text(text, part),
            Chunk::LoneSurrogate(unit) => write_escape(text, unit),
        }
    }
    text.push('"');
}

fn write_text(text: &mut String, part: &str) {
    let mut plain_from = 0;
    for (place, byte) in part.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            0x09 => "\\t",
            0x0a => "\\n",
            0x0c => "\\f",
            0x0d => "\\r",
            0..0x20 => "",
            _ => continue,
        };
        text.push_str(&part[plain_from..place]);
        if short.is_empty() {
            write_escape(text, byte.into())
        } else {
            text.push_str(short)
        }
        plain_from = place + 1;
    }
    text.push_str(&part[plain_from..]);
}

fn write_escape(text: &mut String, unit: u16) {
    text.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        text.extend(char::from_digit(u32::from(unit >> shift) & 0xf, 16));
    }
}

/// The time in UTC, in the one format that `Date.prototype.toJSON` uses; `null` when it is invalid.
fn write_date(text: &mut String, millis: f64) {
    /// A hundred million days, the most a JavaScript date may be away from 1970.
    const MILLIS_MAX: f64 = 8.64e15;
    const DAY: i64 = 86_400_000;
    if millis.is_nan() || millis.abs() > MILLIS_MAX {
        text.push_str("null");
        return;
    }
    let millis = millis as i64;
    let (days, time) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    let (year, month, day) = civil_from_days(days);
    let year = match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{}{:06}", if year < 0 { '-' } else { '+' }, year.abs()),
    };
    let (hour, minute) = (time / 3_600_000, time / 60_000 % 60);
    let (second, milli) = (time / 1000 % 60, time % 1000);
    text.push_str(&format!("\"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z\""));
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar. Years are counted from
/// March inside, so that the leap day is the last of one.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    const DAYS_PER_400_YEARS: i64 = 146_097;
    const MARCH_OF_YEAR_0: i64 = 719_468;
    let shifted = days + MARCH_OF_YEAR_0;
    let era = shifted.div_euclid(DAYS_PER_400_YEARS);
    let day_of_era = shifted.rem_euclid(DAYS_PER_400_YEARS);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}
