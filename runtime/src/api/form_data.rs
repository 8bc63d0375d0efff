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
        Err(message) => return throw_type_error(scope, &message),
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

/// The length of a line break (`\r\n` or `\n`) at a place; 0 where there is none.
fn line_break(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..) {
        Some([b'\n', ..]) => 1,
        Some([b'\r', b'\n', ..]) => 2,
        _ => 0,
    }
}

/// Where an empty line after `from` begins, and where what follows it does.
fn empty_line(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while at < bytes.len() {
        let first = line_break(bytes, at);
        let second = if first == 0 { 0 } else { line_break(bytes, at + first) };
        if second > 0 {
            return Some((at, at + first + second));
        }
        at += 1;
    }
    None
}

/// The parts, or what is wrong in the platform's words. Line feeds alone count as line breaks, as on the platform.
fn parse(bytes: &[u8], boundary: &str) -> Result<Vec<Part>, String> {
    let separator = format!("\n--{boundary}").into_bytes();
    let delimiter = &separator[1..];
    let mut at = find(bytes, delimiter, 0)
        .ok_or("No initial boundary string (or you have a truncated message).")?
        .saturating_add(delimiter.len());
    let mut parts = Vec::new();
    loop {
        if bytes.get(at..).is_some_and(|rest| rest.starts_with(b"--")) {
            return Ok(parts);
        }
        let lead = line_break(bytes, at);
        if lead == 0 {
            return Err("Boundary string was not succeeded by CRLF, LF, or '--'.".into());
        }
        at += lead;
        let (head_end, start) = empty_line(bytes, at).ok_or("No multipart message header termination found.")?;
        let head = String::from_utf8_lossy(&bytes[at..head_end]);
        let feed = find(bytes, &separator, start).ok_or("No subsequent boundary string after multipart message.")?;
        // The carriage return before the line feed is not part of the content either.
        let end = if feed > start && bytes[feed - 1] == b'\r' { feed - 1 } else { feed };
        if parts.len() == PARTS_MAX {
            return Err("Too many parts in a multipart/form-data body.".into());
        }
        parts.push(part(&head, start, end)?);
        at = feed + separator.len();
    }
}

fn part(head: &str, start: usize, end: usize) -> Result<Part, String> {
    let mut disposition = None;
    let mut media_type = None;
    for line in head.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        if key.trim().eq_ignore_ascii_case("content-type") {
            media_type = Some(value.trim().to_owned());
        } else if key.trim().eq_ignore_ascii_case("content-disposition") {
            disposition = Some(value.trim());
        }
    }
    let mut rest = disposition.ok_or("No valid Content-Disposition header found in FormData part.")?;
    let kind = rest.split(';').next().unwrap_or("").trim();
    if kind != "form-data" {
        return Err(format!(
            "Content-Disposition header for FormData part must have the value \"form-data\", possibly followed by \
             parameters. Got: \"{kind}\""
        ));
    }
    let mut name = None;
    let mut filename = None;
    while let Some((_, parameters)) = rest.split_once(';') {
        let (key, value, after) = parameter(parameters);
        match key {
            // As on the platform, what is empty or not in quotes is as good as absent.
            "name" => name = Some(value).filter(|value| !value.is_empty()),
            "filename" => filename = Some(value).filter(|value| !value.is_empty()),
            _ => {}
        }
        rest = after;
    }
    let name = name.ok_or("Content-Disposition header in FormData part is missing a name.")?;
    Ok(Part { name, filename, media_type, start, end })
}

/// The first `key="value"`, and what follows it from its `;` on. In quotes, a backslash stands for the character after it;
/// a value without quotes is none.
fn parameter(text: &str) -> (&str, String, &str) {
    let Some((key, rest)) = text.split_once('=') else { return (text.trim(), String::new(), "") };
    let rest = rest.trim_start();
    let Some(quoted) = rest.strip_prefix('"') else {
        let close = rest.find(';').unwrap_or(rest.len());
        return (key.trim(), String::new(), &rest[close..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (key.trim(), value, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (key.trim(), value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_parts_and_never_reads_past_the_end() {
        let body = b"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\
                     --b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x;y\"\r\nContent-Type: q/r\r\n\r\nzz\r\n--b--";
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
