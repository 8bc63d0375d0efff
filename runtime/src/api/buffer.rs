//! The Rust half of Node's `buffer` and `string_decoder`: text to bytes and back in Node's encodings, comparing and
//! searching. Bytes for the program are always made here and copied over there, so that nothing here writes into
//! memory that a program can reach.

use std::cmp::Ordering;

use super::args::{new_array_buffer, set_function, throw_error, with_bytes};
use super::base64;

/// Node's encodings, by the numbers that the JavaScript half gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16Le,
    Latin1,
    Ascii,
    Base64,
    Base64Url,
    Hex,
    /// What `transcode` takes Latin-1 and ASCII for.
    Windows1252,
}

impl Encoding {
    fn of(scope: &mut v8::PinScope<'_, '_>, number: v8::Local<'_, v8::Value>) -> Self {
        match number.uint32_value(scope) {
            Some(1) => Self::Utf16Le,
            Some(2) => Self::Latin1,
            Some(3) => Self::Ascii,
            Some(4) => Self::Base64,
            Some(5) => Self::Base64Url,
            Some(6) => Self::Hex,
            Some(7) => Self::Windows1252,
            _ => Self::Utf8,
        }
    }
}

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "decode", decode)?;
    set_function(scope, target, "text", text)?;
    set_function(scope, target, "utf8Length", utf8_length)?;
    set_function(scope, target, "compare", compare)?;
    set_function(scope, target, "indexOf", index_of)?;
    set_function(scope, target, "isUtf8", is_utf8)?;
    set_function(scope, target, "isAscii", is_ascii)
}

/// `decode(string, encoding, max) → ArrayBuffer`: the bytes that a string stands for, at most `max`, and only those of
/// whole characters. What is not in the encoding is left out, as in Node.
fn decode(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(string) = v8::Local::<v8::String>::try_from(args.get(0)) else { return };
    let encoding = Encoding::of(scope, args.get(1));
    let max = args.get(2).integer_value(scope).and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
    let mut bytes = match encoding {
        Encoding::Utf8 => {
            let mut text = string.to_rust_string_lossy(scope);
            let whole = |length: &usize| text.is_char_boundary(*length);
            let length = (0..=max.min(text.len())).rev().find(whole).unwrap_or(0);
            text.truncate(length);
            text.into_bytes()
        }
        Encoding::Utf16Le => units(scope, string).iter().take(max / 2).flat_map(|unit| unit.to_le_bytes()).collect(),
        Encoding::Latin1 | Encoding::Ascii => low_bytes(scope, string),
        Encoding::Base64 | Encoding::Base64Url => base64::decode_lenient(&low_bytes_or_none(scope, string)),
        Encoding::Hex => decode_hex(&low_bytes_or_none(scope, string)),
        Encoding::Windows1252 => string.to_rust_string_lossy(scope).chars().map(windows_1252).collect(),
    };
    bytes.truncate(max);
    if let Some(buffer) = new_array_buffer(scope, &bytes) {
        result.set(buffer.into());
    }
}

fn units(scope: &mut v8::PinScope<'_, '_>, string: v8::Local<'_, v8::String>) -> Vec<u16> {
    let mut units = vec![0; string.length()];
    string.write_v2(scope, 0, &mut units, v8::WriteFlags::empty());
    units
}

/// The low byte of each code unit.
fn low_bytes(scope: &mut v8::PinScope<'_, '_>, string: v8::Local<'_, v8::String>) -> Vec<u8> {
    let mut bytes = vec![0; string.length()];
    string.write_one_byte_v2(scope, 0, &mut bytes, v8::WriteFlags::empty());
    bytes
}

/// Each code unit as a byte; 0, a digit of no encoding, for one that does not fit.
fn low_bytes_or_none(scope: &mut v8::PinScope<'_, '_>, string: v8::Local<'_, v8::String>) -> Vec<u8> {
    if string.contains_only_onebyte() {
        return low_bytes(scope, string);
    }
    units(scope, string).into_iter().map(|unit| u8::try_from(unit).unwrap_or(0)).collect()
}

/// A character's byte, a question mark where it has none.
fn windows_1252(character: char) -> u8 {
    let mut utf8 = [0; 4];
    match encoding_rs::WINDOWS_1252.encode(character.encode_utf8(&mut utf8)) {
        (bytes, _, false) => bytes.first().copied().unwrap_or(b'?'),
        (_, _, true) => b'?',
    }
}

/// Pairs of digits up to the first that is not one.
fn decode_hex(digits: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    // Both digits are below 16.
    let pair = |pair: &[u8]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
    digits.chunks_exact(2).map_while(pair).collect()
}

/// `text(view, start, end, encoding) → string`; `start` and `end` lie within the view, in bytes.
fn text(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let start = args.get(1).integer_value(scope).and_then(|start| usize::try_from(start).ok()).unwrap_or(0);
    let end = args.get(2).integer_value(scope).and_then(|end| usize::try_from(end).ok()).unwrap_or(0);
    let encoding = Encoding::of(scope, args.get(3));
    let made = with_bytes(args.get(0), |bytes| {
        let bytes = &bytes[start.min(bytes.len())..end.min(bytes.len()).max(start.min(bytes.len()))];
        let normal = v8::NewStringType::Normal;
        match encoding {
            Encoding::Utf8 => v8::String::new_from_utf8(scope, bytes, normal),
            Encoding::Utf16Le => {
                let units: Vec<u16> =
                    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
                v8::String::new_from_two_byte(scope, &units, normal)
            }
            Encoding::Latin1 => v8::String::new_from_one_byte(scope, bytes, normal),
            Encoding::Ascii => {
                let bytes: Vec<u8> = bytes.iter().map(|byte| byte & 0x7f).collect();
                v8::String::new_from_one_byte(scope, &bytes, normal)
            }
            Encoding::Base64 => v8::String::new_from_one_byte(scope, &base64::encode(bytes), normal),
            Encoding::Base64Url => v8::String::new_from_one_byte(scope, &base64::encode_url(bytes), normal),
            Encoding::Hex => {
                const DIGITS: &[u8; 16] = b"0123456789abcdef";
                let digits: Vec<u8> = bytes
                    .iter()
                    .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
                    .collect();
                v8::String::new_from_one_byte(scope, &digits, normal)
            }
            Encoding::Windows1252 => {
                let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes);
                v8::String::new(scope, &text)
            }
        }
    });
    match made {
        Some(Some(string)) => result.set(string.into()),
        Some(None) => throw_error(scope, "Cannot create a string longer than 0x1fffffe8 characters"),
        None => {}
    }
}

/// `utf8Length(string) → bytes`.
fn utf8_length(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    if let Ok(string) = v8::Local::<v8::String>::try_from(args.get(0)) {
        result.set_double(string.utf8_length(scope) as f64);
    }
}

/// `compare(a, b) → -1, 0 or 1`.
fn compare(
    _: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let order = with_bytes(args.get(0), |a| with_bytes(args.get(1), |b| a.cmp(b))).flatten();
    if let Some(order) = order {
        result.set_int32(match order {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        });
    }
}

/// `indexOf(bytes, needle, from, forward, wide) → index`, in bytes, -1 when it is nowhere. `from` counts from the end
/// when negative. `wide`: both are looked at as 16-bit units.
fn index_of(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let from = args.get(2).number_value(scope).unwrap_or(0.0);
    let direction = if args.get(3).is_true() { Direction::Forward } else { Direction::Backward };
    let wide = args.get(4).is_true();
    let found = with_bytes(args.get(0), |hay| {
        with_bytes(args.get(1), |needle| {
            // Lengths are far below 2⁵³.
            let start = start_of_search(hay.len() as i64, from as i64, needle.len() as i64, direction)?;
            if !wide {
                return search(hay, needle, start, direction);
            }
            let units = |bytes: &[u8]| -> Vec<u16> {
                bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
            };
            if needle.is_empty() {
                return Some(start);
            }
            if needle.len() < 2 {
                return None;
            }
            search(&units(hay), &units(needle), start / 2, direction).map(|index| index * 2)
        })
    });
    result.set_double(found.flatten().flatten().map_or(-1.0, |index| index as f64));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// Where a search begins, in Node's reading of offsets; `None` when nothing can be found from there.
fn start_of_search(length: i64, from: i64, needle: i64, direction: Direction) -> Option<usize> {
    let forward = direction == Direction::Forward;
    let start = if from < 0 {
        match length.saturating_add(from) {
            start if start >= 0 => start,
            _ if forward || needle == 0 => 0,
            _ => return None,
        }
    } else if from.saturating_add(needle) <= length {
        from
    } else if needle == 0 {
        length
    } else if forward {
        return None;
    } else {
        length - 1
    };
    usize::try_from(start).ok()
}

/// The first occurrence at or after `start`, or the last at or before it; in time linear in both lengths (Knuth,
/// Morris, Pratt), because nothing can interrupt it.
fn search<T: Copy + Eq>(hay: &[T], needle: &[T], start: usize, direction: Direction) -> Option<usize> {
    if needle.is_empty() {
        return Some(start.min(hay.len()));
    }
    let (hay, skipped) = match direction {
        Direction::Forward => (hay.get(start..)?, start),
        Direction::Backward => (&hay[..hay.len().min(start.saturating_add(needle.len()))], 0),
    };
    if needle.len() > hay.len() {
        return None;
    }
    // How long the longest prefix is that also ends each prefix; below 2³², as buffers are.
    let mut borders = vec![0_u32; needle.len()];
    let mut matched = 0;
    for index in 1..needle.len() {
        while matched > 0 && needle[index] != needle[matched] {
            matched = borders[matched - 1] as usize;
        }
        if needle[index] == needle[matched] {
            matched += 1;
        }
        borders[index] = matched as u32;
    }
    let mut last = None;
    matched = 0;
    for (index, unit) in hay.iter().enumerate() {
        while matched > 0 && (matched == needle.len() || *unit != needle[matched]) {
            matched = borders[matched - 1] as usize;
        }
        if *unit == needle[matched] {
            matched += 1;
        }
        if matched == needle.len() {
            last = Some(skipped + index + 1 - needle.len());
            if direction == Direction::Forward {
                break;
            }
        }
    }
    last
}

/// `isUtf8(view) → boolean`.
fn is_utf8(
    _: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    result.set_bool(with_bytes(args.get(0), |bytes| std::str::from_utf8(bytes).is_ok()) == Some(true));
}

/// `isAscii(view) → boolean`.
fn is_ascii(
    _: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    result.set_bool(with_bytes(args.get(0), <[u8]>::is_ascii) == Some(true));
}

#[cfg(test)]
mod tests {
    use super::{Direction, decode_hex, search};

    #[test]
    fn searches() {
        let cases: [(&[u8], &[u8], usize, Direction, Option<usize>); 9] = [
            (b"abcabc", b"abc", 0, Direction::Forward, Some(0)),
            (b"abcabc", b"abc", 1, Direction::Forward, Some(3)),
            (b"abcabc", b"abc", 4, Direction::Forward, None),
            (b"abcabc", b"abc", 5, Direction::Backward, Some(3)),
            (b"abcabc", b"abc", 2, Direction::Backward, Some(0)),
            (b"aaaaab", b"aab", 0, Direction::Forward, Some(3)),
            (b"aaaa", b"aa", 4, Direction::Backward, Some(2)),
            (b"", b"a", 0, Direction::Forward, None),
            (b"abc", b"", 9, Direction::Forward, Some(3)),
        ];
        for (hay, needle, start, direction, expected) in cases {
            assert_eq!(search(hay, needle, start, direction), expected, "{needle:?} in {hay:?} {direction:?} {start}");
        }
    }

    #[test]
    fn hex_ends_where_it_is_none() {
        assert_eq!(decode_hex(b"0aFf"), [0x0a, 0xff]);
        assert_eq!(decode_hex(b"0aF"), [0x0a]);
        assert_eq!(decode_hex(b"0a0g11"), [0x0a]);
    }
}
