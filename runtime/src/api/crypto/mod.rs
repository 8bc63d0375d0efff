//! The Rust half of `crypto`: random bytes, digests, constant-time comparison; ciphers, derivation, elliptic curves and
//! RSA in rooms of their own. Keys cross as bytes, which JavaScript keeps in private fields.

mod derive;
mod digest_stream;
mod elliptic;
mod rsa_keys;
mod symmetric;

use md5::Md5;
use sha1::Sha1;
use sha2::digest::Digest;
use sha2::{Sha256, Sha384, Sha512};

use super::args::{copy_bytes, new_array_buffer, set_function, set_text, throw_error, with_bytes};
use super::timers::require_invocation;

/// For the room of the `crypto` object.
pub(super) fn install_random(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "fillRandom", fill_random)?;
    set_function(scope, target, "randomUUID", random_uuid)
}

/// For the room of `SubtleCrypto`: the operations.
pub(super) fn install_subtle(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    symmetric::install(scope, target)?;
    derive::install(scope, target)?;
    elliptic::install_operations(scope, target)?;
    rsa_keys::install_operations(scope, target)?;
    set_function(scope, target, "isBuffer", is_buffer)?;
    set_function(scope, target, "digest", digest)?;
    set_function(scope, target, "timingSafeEqual", timing_safe_equal)
}

/// For the room of `CryptoKey`: making and encoding keys.
pub(super) fn install_keys(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    elliptic::install_keys(scope, target)?;
    rsa_keys::install_keys(scope, target)?;
    set_function(scope, target, "isBuffer", is_buffer)?;
    set_function(scope, target, "fillRandom", fill_random)?;
    set_function(scope, target, "timingSafeEqual", timing_safe_equal)
}

/// For the room of `DigestStream`.
pub(super) fn install_digest_stream(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    digest_stream::install(scope, target)
}

/// `isBuffer(value) → boolean`: an `ArrayBuffer` or `SharedArrayBuffer`.
fn is_buffer(
    _: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    result.set_bool(args.get(0).is_array_buffer() || args.get(0).is_shared_array_buffer());
}

/// `fillRandom(view)`: bytes from the operating system. Refused in global scope.
fn fill_random(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_, v8::Value>,
) {
    if !require_invocation(scope) {
        return;
    }
    let Ok(view) = v8::Local::<v8::ArrayBufferView>::try_from(args.get(0)) else { return };
    let length = view.byte_length();
    let data = view.data().cast::<u8>();
    if length == 0 || data.is_null() {
        return;
    }
    // SAFETY: `data` points at the view's first byte and `length` bytes follow it; V8 keeps the store alive while the
    // view is held in this scope, and no JavaScript runs before the slice is gone.
    let bytes = unsafe { std::slice::from_raw_parts_mut(data, length) };
    if getrandom::fill(bytes).is_err() {
        throw_error(scope, "The system's random number generator failed.");
    }
}

/// `randomUUID() → string`, version 4. Refused in global scope.
fn random_uuid(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    if !require_invocation(scope) {
        return;
    }
    let mut bytes = [0_u8; 16];
    if getrandom::fill(&mut bytes).is_err() {
        throw_error(scope, "The system's random number generator failed.");
        return;
    }
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    set_text(scope, &mut result, &text);
}

/// `digest(name in upper case, bytes) → ArrayBuffer`; `undefined` for an unknown name.
fn digest(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    if let Some(Some(hash)) = with_bytes(args.get(1), |bytes| hash_of(&name, bytes))
        && let Some(buffer) = new_array_buffer(scope, &hash)
    {
        result.set(buffer.into());
    }
}

/// A digest by its Web Cryptography name in upper case.
fn hash_of(name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    Some(match name {
        "MD5" => Md5::digest(bytes).to_vec(),
        "SHA-1" => Sha1::digest(bytes).to_vec(),
        "SHA-256" => Sha256::digest(bytes).to_vec(),
        "SHA-384" => Sha384::digest(bytes).to_vec(),
        "SHA-512" => Sha512::digest(bytes).to_vec(),
        _ => return None,
    })
}

/// `timingSafeEqual(a, b) → boolean`; `undefined` when their lengths differ.
fn timing_safe_equal(
    _: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let (Some(a), Some(b)) = (copy_bytes(args.get(0)), copy_bytes(args.get(1))) else { return };
    if a.len() != b.len() {
        return;
    }
    // Every byte is looked at whatever the earlier ones were; `black_box` keeps the optimiser from ending early.
    let difference = a.iter().zip(&b).fold(0_u8, |seen, (a, b)| std::hint::black_box(seen | (a ^ b)));
    result.set_bool(difference == 0);
}
