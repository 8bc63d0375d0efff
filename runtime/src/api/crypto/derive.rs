//! HKDF and PBKDF2.

use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

use super::super::args::{copy_bytes, new_array_buffer, set_function};

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "hkdf", hkdf)?;
    set_function(scope, target, "pbkdf2", pbkdf2)
}

/// `hkdf(hash, key, salt, info, bytes) → ArrayBuffer`; `undefined` when that is more than the hash can give.
fn hkdf(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let hash = args.get(0).to_rust_string_lossy(scope);
    let (Some(key), Some(salt), Some(info)) =
        (copy_bytes(args.get(1)), copy_bytes(args.get(2)), copy_bytes(args.get(3)))
    else {
        return;
    };
    let length = args.get(4).uint32_value(scope).unwrap_or(0) as usize;
    // 255 blocks of the largest hash; more is refused below without taking memory first.
    if length > 255 * 64 {
        return;
    }
    let mut output = vec![0; length];
    let expanded = match hash.as_str() {
        "SHA-1" => Hkdf::<Sha1>::new(Some(&salt), &key).expand(&info, &mut output),
        "SHA-256" => Hkdf::<Sha256>::new(Some(&salt), &key).expand(&info, &mut output),
        "SHA-384" => Hkdf::<Sha384>::new(Some(&salt), &key).expand(&info, &mut output),
        "SHA-512" => Hkdf::<Sha512>::new(Some(&salt), &key).expand(&info, &mut output),
        _ => return,
    };
    if expanded.is_ok()
        && let Some(buffer) = new_array_buffer(scope, &output)
    {
        result.set(buffer.into());
    }
}

/// `pbkdf2(hash, password, salt, iterations, bytes) → ArrayBuffer`.
fn pbkdf2(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let hash = args.get(0).to_rust_string_lossy(scope);
    let (Some(password), Some(salt)) = (copy_bytes(args.get(1)), copy_bytes(args.get(2))) else { return };
    let iterations = args.get(3).uint32_value(scope).unwrap_or(0);
    let length = args.get(4).uint32_value(scope).unwrap_or(0) as usize;
    let output = match hash.as_str() {
        "SHA-1" => blocks::<Hmac<Sha1>>(scope, &password, &salt, iterations, length),
        "SHA-256" => blocks::<Hmac<Sha256>>(scope, &password, &salt, iterations, length),
        "SHA-384" => blocks::<Hmac<Sha384>>(scope, &password, &salt, iterations, length),
        "SHA-512" => blocks::<Hmac<Sha512>>(scope, &password, &salt, iterations, length),
        _ => None,
    };
    if let Some(output) = output
        && let Some(buffer) = new_array_buffer(scope, &output)
    {
        result.set(buffer.into());
    }
}

/// PBKDF2 (RFC 8018 5.2) a block at a time, so that an isolate that is being terminated stops within one block's
/// iterations, which are bounded: V8 cannot interrupt Rust.
fn blocks<M: Mac + hmac::digest::KeyInit + Clone>(
    isolate: &v8::Isolate,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    length: usize,
) -> Option<Vec<u8>> {
    let keyed = <M as Mac>::new_from_slice(password).ok()?;
    let mut output = Vec::new();
    for block in 1.. {
        if output.len() >= length {
            break;
        }
        if isolate.is_execution_terminating() {
            return None;
        }
        let mut last = keyed.clone().chain_update(salt).chain_update(u32::to_be_bytes(block)).finalize().into_bytes();
        let mut sum = last.clone();
        for _ in 1..iterations {
            last = keyed.clone().chain_update(&last).finalize().into_bytes();
            for (sum, byte) in sum.iter_mut().zip(&last) {
                *sum ^= byte;
            }
        }
        output.extend_from_slice(&sum);
    }
    output.truncate(length);
    Some(output)
}
