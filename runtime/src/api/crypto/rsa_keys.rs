//! RSA: RSASSA-PKCS1-v1_5, RSA-PSS and RSA-OAEP. Keys cross as DER: PKCS#8 for private, SPKI for public ones.

use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use rsa::rand_core::OsRng;
use rsa::traits::{PrivateKeyParts, PublicKeyParts};
use rsa::{BigUint, Oaep, Pkcs1v15Sign, Pss, RsaPrivateKey, RsaPublicKey};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

use super::super::args::{copy_bytes, new_array_buffer, set_function};
use super::super::timers::require_invocation;
use super::hash_of;

/// The longest modulus a key is generated with, in bits: the time it takes cannot be interrupted.
const GENERATE_BITS_MAX: usize = 4096;

/// The longest modulus of an imported key, in bits.
const MODULUS_BITS_MAX: usize = 16 << 10;

/// Making and encoding keys.
pub(super) fn install_keys(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "rsaGenerate", generate)?;
    set_function(scope, target, "rsaDecode", decode)?;
    set_function(scope, target, "rsaFromParts", from_parts)?;
    set_function(scope, target, "rsaParts", parts)
}

/// Using keys.
pub(super) fn install_operations(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "rsaSign", sign)?;
    set_function(scope, target, "rsaVerify", verify)?;
    set_function(scope, target, "rsaOaep", oaep)
}

fn answer(scope: &mut v8::PinScope<'_, '_>, bytes: Option<Vec<u8>>, result: &mut v8::ReturnValue<'_, v8::Value>) {
    if let Some(bytes) = bytes
        && let Some(buffer) = new_array_buffer(scope, &bytes)
    {
        result.set(buffer.into());
    }
}

/// Answers with an array of buffers.
fn answer_list(scope: &mut v8::PinScope<'_, '_>, list: &[Vec<u8>], result: &mut v8::ReturnValue<'_, v8::Value>) {
    let mut buffers = Vec::with_capacity(list.len());
    for bytes in list {
        let Some(buffer) = new_array_buffer(scope, bytes) else { return };
        buffers.push(buffer.into());
    }
    result.set(v8::Array::new_with_elements(scope, &buffers).into());
}

fn private_der(key: &RsaPrivateKey) -> Option<Vec<u8>> {
    key.to_pkcs8_der().ok().map(|der| der.as_bytes().to_vec())
}

fn public_der(key: &RsaPublicKey) -> Option<Vec<u8>> {
    key.to_public_key_der().ok().map(|der| der.as_bytes().to_vec())
}

/// `rsaGenerate(bits, exponent) → [pkcs8, spki]`; `undefined` when that is too long. Refused in global scope.
fn generate(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    if !require_invocation(scope) {
        return;
    }
    let bits = args.get(0).uint32_value(scope).unwrap_or(0) as usize;
    let exponent = args.get(1).uint32_value(scope).unwrap_or(0);
    if bits > GENERATE_BITS_MAX {
        return;
    }
    let Ok(key) = RsaPrivateKey::new_with_exp(&mut OsRng, bits, &BigUint::from(exponent)) else { return };
    if let (Some(private), Some(public)) = (private_der(&key), public_der(&key.to_public_key())) {
        answer_list(scope, &[private, public], &mut result);
    }
}

/// `rsaDecode(private, der) → der`, checked and in the form kept.
fn decode(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let private = args.get(0).is_true();
    let Some(der) = copy_bytes(args.get(1)) else { return };
    // A modulus of the largest size makes about nine times its bytes of DER.
    if der.len() > MODULUS_BITS_MAX {
        return;
    }
    let der = if private {
        RsaPrivateKey::from_pkcs8_der(&der).ok().and_then(|key| private_der(&key))
    } else {
        RsaPublicKey::from_public_key_der(&der).ok().and_then(|key| public_der(&key))
    };
    answer(scope, der, &mut result);
}

/// `rsaFromParts(n, e) → spki`, `rsaFromParts(n, e, d, p, q) → pkcs8`.
fn from_parts(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let mut numbers = Vec::new();
    for index in 0..args.length() {
        let Some(bytes) = copy_bytes(args.get(index)) else { return };
        if bytes.len() > MODULUS_BITS_MAX / 8 {
            return;
        }
        numbers.push(BigUint::from_bytes_be(&bytes));
    }
    let der = match <[BigUint; 5]>::try_from(numbers) {
        Ok([n, e, d, p, q]) => {
            RsaPrivateKey::from_components(n, e, d, vec![p, q]).ok().and_then(|key| private_der(&key))
        }
        Err(numbers) => match <[BigUint; 2]>::try_from(numbers) {
            Ok([n, e]) => RsaPublicKey::new_with_max_size(n, e, MODULUS_BITS_MAX).ok().and_then(|key| public_der(&key)),
            Err(_) => None,
        },
    };
    answer(scope, der, &mut result);
}

/// `rsaParts(private, der) → [n, e]` or `[n, e, d, p, q, dp, dq, qi]`.
fn parts(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let private = args.get(0).is_true();
    let Some(der) = copy_bytes(args.get(1)) else { return };
    if !private {
        let Ok(key) = RsaPublicKey::from_public_key_der(&der) else { return };
        return answer_list(scope, &[key.n().to_bytes_be(), key.e().to_bytes_be()], &mut result);
    }
    let Ok(mut key) = RsaPrivateKey::from_pkcs8_der(&der) else { return };
    if key.precompute().is_err() {
        return;
    }
    let [p, q] = key.primes() else { return };
    let (Some(dp), Some(dq), Some(qi)) = (key.dp(), key.dq(), key.crt_coefficient()) else { return };
    let list = [
        key.n().to_bytes_be(),
        key.e().to_bytes_be(),
        key.d().to_bytes_be(),
        p.to_bytes_be(),
        q.to_bytes_be(),
        dp.to_bytes_be(),
        dq.to_bytes_be(),
        qi.to_bytes_be(),
    ];
    answer_list(scope, &list, &mut result);
}

fn pkcs1(hash: &str) -> Option<Pkcs1v15Sign> {
    Some(match hash {
        "SHA-1" => Pkcs1v15Sign::new::<Sha1>(),
        "SHA-256" => Pkcs1v15Sign::new::<Sha256>(),
        "SHA-384" => Pkcs1v15Sign::new::<Sha384>(),
        "SHA-512" => Pkcs1v15Sign::new::<Sha512>(),
        _ => return None,
    })
}

fn pss(hash: &str, salt_length: usize) -> Option<Pss> {
    Some(match hash {
        "SHA-1" => Pss::new_with_salt::<Sha1>(salt_length),
        "SHA-256" => Pss::new_with_salt::<Sha256>(salt_length),
        "SHA-384" => Pss::new_with_salt::<Sha384>(salt_length),
        "SHA-512" => Pss::new_with_salt::<Sha512>(salt_length),
        _ => return None,
    })
}

/// `rsaSign(hash, salt length or -1 for PKCS#1, pkcs8, data) → signature`.
fn sign(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let hash = args.get(0).to_rust_string_lossy(scope);
    let salt = args.get(1).int32_value(scope).unwrap_or(-1);
    let (Some(der), Some(data)) = (copy_bytes(args.get(2)), copy_bytes(args.get(3))) else { return };
    let Ok(key) = RsaPrivateKey::from_pkcs8_der(&der) else { return };
    let Some(digest) = hash_of(&hash, &data) else { return };
    let signature = match usize::try_from(salt) {
        Ok(salt) => pss(&hash, salt).and_then(|scheme| key.sign_with_rng(&mut OsRng, scheme, &digest).ok()),
        Err(_) => pkcs1(&hash).and_then(|scheme| key.sign_with_rng(&mut OsRng, scheme, &digest).ok()),
    };
    answer(scope, signature, &mut result);
}

/// `rsaVerify(hash, salt length or -1 for PKCS#1, spki, signature, data) → boolean`.
fn verify(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let hash = args.get(0).to_rust_string_lossy(scope);
    let salt = args.get(1).int32_value(scope).unwrap_or(-1);
    let (Some(der), Some(signature), Some(data)) =
        (copy_bytes(args.get(2)), copy_bytes(args.get(3)), copy_bytes(args.get(4)))
    else {
        return;
    };
    let Ok(key) = RsaPublicKey::from_public_key_der(&der) else { return };
    let Some(digest) = hash_of(&hash, &data) else { return };
    let valid = match usize::try_from(salt) {
        Ok(salt) => pss(&hash, salt).is_some_and(|scheme| key.verify(scheme, &digest, &signature).is_ok()),
        Err(_) => pkcs1(&hash).is_some_and(|scheme| key.verify(scheme, &digest, &signature).is_ok()),
    };
    result.set_bool(valid);
}

/// `rsaOaep(encrypt, hash, der, label, data) → ArrayBuffer`.
fn oaep(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let encrypt = args.get(0).is_true();
    let hash = args.get(1).to_rust_string_lossy(scope);
    let (Some(der), Some(label), Some(data)) =
        (copy_bytes(args.get(2)), copy_bytes(args.get(3)), copy_bytes(args.get(4)))
    else {
        return;
    };
    // The crate takes labels as text; a binary one is refused rather than changed.
    let Ok(label) = String::from_utf8(label) else { return };
    let padding = match hash.as_str() {
        "SHA-1" => Oaep::new_with_label::<Sha1, _>(label),
        "SHA-256" => Oaep::new_with_label::<Sha256, _>(label),
        "SHA-384" => Oaep::new_with_label::<Sha384, _>(label),
        "SHA-512" => Oaep::new_with_label::<Sha512, _>(label),
        _ => return,
    };
    let bytes = if encrypt {
        RsaPublicKey::from_public_key_der(&der).ok().and_then(|key| key.encrypt(&mut OsRng, padding, &data).ok())
    } else {
        RsaPrivateKey::from_pkcs8_der(&der).ok().and_then(|key| key.decrypt_blinded(&mut OsRng, padding, &data).ok())
    };
    answer(scope, bytes, &mut result);
}
