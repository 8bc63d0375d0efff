//! `atob` and `btoa`: forgiving base64 (Infra Standard) over Latin-1 strings.

use super::args::{set_function, set_made_text, throw_dom_exception};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Not a digit of the alphabet.
const INVALID: u8 = 0xff;

static DIGITS: [u8; 256] = digits();

const fn digits() -> [u8; 256] {
    let mut digits = [INVALID; 256];
    let mut value = 0;
    while value < ALPHABET.len() {
        digits[ALPHABET[value] as usize] = value as u8;
        value += 1;
    }
    digits
}

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "decode", decode_callback)?;
    set_function(scope, target, "encode", encode_callback)
}

fn decode_callback(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(input) = v8::Local::<v8::String>::try_from(args.get(0)) else { return };
    match latin1(scope, input).and_then(|bytes| decode(&bytes)) {
        Some(bytes) => {
            if let Some(text) = v8::String::new_from_one_byte(scope, &bytes, v8::NewStringType::Normal) {
                result.set(text.into());
            }
        }
        None => throw_dom_exception(
            scope,
            "InvalidCharacterError",
            "atob() called with invalid base64-encoded data. (Only whitespace, '+', '/', alphanumeric ASCII, and up \
             to two terminal '=' signs when the input data length is divisible by 4 are allowed.)",
        ),
    }
}

fn encode_callback(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(input) = v8::Local::<v8::String>::try_from(args.get(0)) else { return };
    let Some(bytes) = latin1(scope, input) else {
        throw_dom_exception(
            scope,
            "InvalidCharacterError",
            "btoa() can only operate on characters in the Latin1 (ISO/IEC 8859-1) range.",
        );
        return;
    };
    let text = v8::String::new_from_one_byte(scope, &encode(&bytes), v8::NewStringType::Normal);
    set_made_text(scope, &mut result, text);
}

/// The string's code units as bytes; `None` when one does not fit.
fn latin1(scope: &mut v8::PinScope<'_, '_>, text: v8::Local<'_, v8::String>) -> Option<Vec<u8>> {
    if !text.contains_only_onebyte() {
        return None;
    }
    let mut bytes = vec![0; text.length()];
    text.write_one_byte_v2(scope, 0, &mut bytes, v8::WriteFlags::empty());
    Some(bytes)
}

/// Base64 with padding.
pub(super) fn encode(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = u32::from(chunk[0]) << 16
            | u32::from(chunk.get(1).copied().unwrap_or(0)) << 8
            | u32::from(chunk.get(2).copied().unwrap_or(0));
        for digit in 0..4_u32 {
            if digit as usize <= chunk.len() {
                text.push(ALPHABET[(word >> (18 - 6 * digit)) as usize & 63]);
            } else {
                text.push(b'=');
            }
        }
    }
    text
}

/// Base64 without padding, in the alphabet for URLs.
pub(super) fn encode_url(bytes: &[u8]) -> Vec<u8> {
    let mut text = encode(bytes);
    text.truncate((bytes.len() * 4).div_ceil(3));
    for digit in &mut text {
        match digit {
            b'+' => *digit = b'-',
            b'/' => *digit = b'_',
            _ => {}
        }
    }
    text
}

/// Decoding as Node does it: both alphabets, and whatever is no digit is skipped.
pub(super) fn decode_lenient(text: &[u8]) -> Vec<u8> {
    let value = |byte: &u8| match byte {
        b'-' => Some(62),
        b'_' => Some(63),
        byte => Some(DIGITS[usize::from(*byte)]).filter(|value| *value != INVALID),
    };
    let digits: Vec<u8> = text.iter().filter_map(value).collect();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for chunk in digits.chunks(4) {
        let word =
            chunk.iter().enumerate().fold(0, |word, (place, digit)| word | u32::from(*digit) << (18 - 6 * place));
        let [_, first, second, third] = word.to_be_bytes();
        bytes.extend_from_slice(&[first, second, third][..chunk.len() - 1]);
    }
    bytes
}

/// Forgiving decoding: white space is skipped, padding may be missing, trailing bits are dropped.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.iter().copied().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r')).collect();
    let mut digits = digits.as_slice();
    if digits.len().is_multiple_of(4) {
        digits = digits.strip_suffix(b"==").or_else(|| digits.strip_suffix(b"=")).unwrap_or(digits);
    }
    if digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for chunk in digits.chunks(4) {
        let mut word = 0_u32;
        for (place, digit) in chunk.iter().enumerate() {
            let value = DIGITS[usize::from(*digit)];
            if value == INVALID {
                return None;
            }
            word |= u32::from(value) << (18 - 6 * place);
        }
        let [_, first, second, third] = word.to_be_bytes();
        bytes.extend_from_slice(&[first, second, third][..chunk.len() - 1]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_every_length() {
        for length in 0..70_u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(97)).collect();
            assert_eq!(decode(&encode(&bytes)).as_deref(), Some(bytes.as_slice()));
            assert_eq!(decode_lenient(&encode_url(&bytes)), bytes);
        }
    }
}
