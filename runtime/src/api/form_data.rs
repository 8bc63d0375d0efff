//! The Rust half of `FormData`: finding the parts of a multipart/form-data body (RFC 7578).

use super::args::{copy_bytes, set_function, string, throw_error, throw_type_error};

/// Parts one body may have; more is refused.
const PARTS_MAX: usize = 100_000;

/// Random characters in a boundary: enough that no body contains it by accident.
const BOUNDARY_BYTES: usize = 16;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "parse", parse_callback)?;
    set_function(scope, target, "boundary", boundary)
}

/// `boundary() → string`.
fn boundary(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let mut bytes = [0_u8; BOUNDARY_BYTES];
    if getrandom::fill(&mut bytes).is_err() {
        return throw_error(scope, "The system's random number generator failed.");
    }
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    if let Some(text) = string(scope, &text) {
        result.set(text.into());
    }
}

/// One part: where its content is, and what its headers say.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    name: String,
    filename: Option<String>,
    media_type: Option<String>,
    start: usize,
    end: usize,
}

/// `parse(bytes, boundary) → [[name, file name, type, start, end], …]`.
fn parse_callback(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Some(bytes) = copy_bytes(args.get(0)) else { return };
    let boundary = args.get(1).to_rust_string_lossy(scope);
    let parts = match parse(&bytes, &boundary) {
        Ok(parts) => parts,
        Err(message) => return throw_type_error(scope, message),
    };
    let mut rows = Vec::with_capacity(parts.len());
    for part in parts {
        let mut row: Vec<v8::Local<'_, v8::Value>> = Vec::with_capacity(5);
        for text in [Some(part.name), part.filename, part.media_type] {
            row.push(match text {
                Some(text) => match string(scope, &text) {
                    Some(text) => text.into(),
                    None => return,
                },
                None => v8::undefined(scope).into(),
            });
        }
        for place in [part.start, part.end] {
            row.push(v8::Number::new(scope, place as f64).into());
        }
        rows.push(v8::Array::new_with_elements(scope, &row).into());
    }
    result.set(v8::Array::new_with_elements(scope, &rows).into());
}

fn find(bytes: &[u8], pattern: &[u8], from: usize) -> Option<usize> {
    bytes.get(from..)?.windows(pattern.len()).position(|window| window == pattern).map(|at| at + from)
}

/// The parts, or what is wrong in the platform's words.
fn parse(bytes: &[u8], boundary: &str) -> Result<Vec<Part>, &'static str> {
    let delimiter = format!("--{boundary}").into_bytes();
    let separator = format!("\r\n--{boundary}").into_bytes();
    let mut at = if bytes.starts_with(&delimiter) {
        delimiter.len()
    } else {
        find(bytes, &separator, 0).ok_or("No initial boundary string (or you have a truncated message).")?
            + separator.len()
    };
    let mut parts = Vec::new();
    loop {
        if bytes[at..].starts_with(b"--") {
            return Ok(parts);
        }
        at = find(bytes, b"\r\n", at).ok_or("Boundary string was not succeeded by CRLF.")? + 2;
        let head_end = find(bytes, b"\r\n\r\n", at).ok_or("No multipart message header termination found.")?;
        let head = String::from_utf8_lossy(&bytes[at..head_end]);
        let start = head_end + 4;
        let end = find(bytes, &separator, head_end + 2)
            .ok_or("No subsequent boundary string after multipart message.")?
            .max(start);
        if let Some(part) = part(&head, start, end)? {
            if parts.len() == PARTS_MAX {
                return Err("Too many parts in a multipart/form-data body.");
            }
            parts.push(part);
        }
        at = end + separator.len();
        if at > bytes.len() {
            return Err("No subsequent boundary string after multipart message.");
        }
    }
}

fn part(head: &str, start: usize, end: usize) -> Result<Option<Part>, &'static str> {
    let mut name = None;
    let mut filename = None;
    let mut media_type = None;
    for line in head.split("\r\n") {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        if key.trim().eq_ignore_ascii_case("content-type") {
            media_type = Some(value.to_owned());
        } else if key.trim().eq_ignore_ascii_case("content-disposition") {
            let mut rest = value;
            let kind = rest.split(';').next().unwrap_or("").trim();
            if !kind.eq_ignore_ascii_case("form-data") {
                return Err("Content-Disposition header for FormData part must have the value \"form-data\".");
            }
            while let Some((_, parameters)) = rest.split_once(';') {
                let (key, value, after) = parameter(parameters);
                match key.to_ascii_lowercase().as_str() {
                    "name" => name = Some(value),
                    "filename" => filename = Some(value),
                    _ => {}
                }
                rest = after;
            }
        }
    }
    let name = name.ok_or("No valid Content-Disposition header found in FormData part.")?;
    Ok(Some(Part { name, filename, media_type, start, end }))
}

/// The first `key=value` or `key="value"`, and what follows it from its `;` on.
fn parameter(text: &str) -> (&str, String, &str) {
    let Some((key, rest)) = text.split_once('=') else { return (text.trim(), String::new(), "") };
    if let Some(quoted) = rest.strip_prefix('"') {
        let close = quoted.find('"').unwrap_or(quoted.len());
        let value = quoted[..close].replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n");
        return (key.trim(), value, quoted.get(close + 1..).unwrap_or(""));
    }
    let close = rest.find(';').unwrap_or(rest.len());
    (key.trim(), rest[..close].trim().to_owned(), &rest[close..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_parts_and_never_reads_past_the_end() {
        let body = b"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\
                     --b\r\nContent-Disposition: form-data; name=f; filename=\"x;y\"\r\nContent-Type: q/r\r\n\r\nzz\r\n--b--";
        let parts = parse(body, "b").expect("a good body");
        assert_eq!(parts.len(), 2);
        assert_eq!((parts[0].name.as_str(), &body[parts[0].start..parts[0].end]), ("a", &b"1"[..]));
        assert_eq!(parts[1].filename.as_deref(), Some("x;y"));
        assert_eq!(&body[parts[1].start..parts[1].end], b"zz");
        for length in 0..body.len() {
            // Any prefix is refused or parsed, not a panic.
            let _ = parse(&body[..length], "b");
        }
    }
}
