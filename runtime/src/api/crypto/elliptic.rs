//! ECDSA and ECDH over the NIST curves, Ed25519 and X25519. Keys cross as bytes: a private scalar or seed, a public
//! point in uncompressed SEC1 form or 32 bytes.

use ed25519_dalek::{Signer, SigningKey as EdSigningKey, VerifyingKey as EdVerifyingKey};
use p256::elliptic_curve::rand_core::OsRng;
use p256::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};

use super::super::args::{copy_bytes, new_array_buffer, set_function};
use super::super::timers::require_invocation;
use super::hash_of;

/// Making, checking and encoding keys.
pub(super) fn install_keys(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "ecGenerate", ec_generate)?;
    set_function(scope, target, "ecPublic", ec_public)?;
    set_function(scope, target, "ecCheckPoint", ec_check_point)?;
    set_function(scope, target, "ecDecode", ec_decode)?;
    set_function(scope, target, "ecEncode", ec_encode)?;
    set_function(scope, target, "edPublic", ed_public)?;
    set_function(scope, target, "xPublic", x_public)
}

/// Using keys.
pub(super) fn install_operations(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "ecdsaSign", ecdsa_sign)?;
    set_function(scope, target, "ecdsaVerify", ecdsa_verify)?;
    set_function(scope, target, "ecdh", ecdh)?;
    set_function(scope, target, "edSign", ed_sign)?;
    set_function(scope, target, "edVerify", ed_verify)?;
    set_function(scope, target, "x25519", x25519)
}

/// Runs `$body` with `$curve` naming the crate of the curve; nothing for other names.
macro_rules! with_curve {
    ($name:expr, $curve:ident => $body:expr) => {
        match $name {
            "P-256" => {
                use p256 as $curve;
                $body
            }
            "P-384" => {
                use p384 as $curve;
                $body
            }
            "P-521" => {
                use p521 as $curve;
                $body
            }
            _ => None,
        }
    };
}

/// The uncompressed point of a public key.
macro_rules! point {
    ($curve:ident, $public:expr) => {{
        use $curve::elliptic_curve::sec1::ToEncodedPoint;
        $public.to_encoded_point(false).as_bytes().to_vec()
    }};
}

fn answer(scope: &mut v8::PinScope<'_, '_>, bytes: Option<Vec<u8>>, result: &mut v8::ReturnValue<'_, v8::Value>) {
    if let Some(bytes) = bytes
        && let Some(buffer) = new_array_buffer(scope, &bytes)
    {
        result.set(buffer.into());
    }
}

/// Answers with `[first, second]`.
fn answer_pair(
    scope: &mut v8::PinScope<'_, '_>,
    pair: Option<(Vec<u8>, Vec<u8>)>,
    result: &mut v8::ReturnValue<'_, v8::Value>,
) {
    let Some((first, second)) = pair else { return };
    let Some(first) = new_array_buffer(scope, &first) else { return };
    let Some(second) = new_array_buffer(scope, &second) else { return };
    result.set(v8::Array::new_with_elements(scope, &[first.into(), second.into()]).into());
}

/// `ecGenerate(curve) → [private scalar, public point]`. Refused in global scope.
fn ec_generate(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    if !require_invocation(scope) {
        return;
    }
    let name = args.get(0).to_rust_string_lossy(scope);
    let pair = with_curve!(name.as_str(), curve => {
        let secret = curve::SecretKey::random(&mut OsRng);
        Some((secret.to_bytes().to_vec(), point!(curve, secret.public_key())))
    });
    answer_pair(scope, pair, &mut result);
}

/// `ecPublic(curve, private scalar) → public point`.
fn ec_public(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    let Some(secret) = copy_bytes(args.get(1)) else { return };
    let bytes = with_curve!(name.as_str(), curve => {
        curve::SecretKey::from_slice(&secret).ok().map(|secret| point!(curve, secret.public_key()))
    });
    answer(scope, bytes, &mut result);
}

/// `ecCheckPoint(curve, point) → uncompressed point`, when it is on the curve.
fn ec_check_point(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    let Some(bytes) = copy_bytes(args.get(1)) else { return };
    let bytes = with_curve!(name.as_str(), curve => {
        curve::PublicKey::from_sec1_bytes(&bytes).ok().map(|public| point!(curve, public))
    });
    answer(scope, bytes, &mut result);
}

/// `ecDecode(curve, private, der) → [private scalar or nothing, public point]` from PKCS#8 or SPKI.
fn ec_decode(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    let private = args.get(1).is_true();
    let Some(der) = copy_bytes(args.get(2)) else { return };
    let pair = with_curve!(name.as_str(), curve => if private {
        curve::SecretKey::from_pkcs8_der(&der)
            .ok()
            .map(|secret| (secret.to_bytes().to_vec(), point!(curve, secret.public_key())))
    } else {
        curve::PublicKey::from_public_key_der(&der).ok().map(|public| (Vec::new(), point!(curve, public)))
    });
    answer_pair(scope, pair, &mut result);
}

/// `ecEncode(curve, private, key) → der`: PKCS#8 of a scalar or SPKI of a point.
fn ec_encode(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    let private = args.get(1).is_true();
    let Some(key) = copy_bytes(args.get(2)) else { return };
    let bytes = with_curve!(name.as_str(), curve => if private {
        curve::SecretKey::from_slice(&key)
            .ok()
            .and_then(|secret| secret.to_pkcs8_der().ok().map(|der| der.as_bytes().to_vec()))
    } else {
        curve::PublicKey::from_sec1_bytes(&key)
            .ok()
            .and_then(|public| public.to_public_key_der().ok().map(|der| der.as_bytes().to_vec()))
    });
    answer(scope, bytes, &mut result);
}

/// The hash as a field element of `length` bytes: one shorter than that is padded in front, which is the same number.
fn prehash(mut hash: Vec<u8>, length: usize) -> Vec<u8> {
    if hash.len() < length {
        let mut padded = vec![0; length - hash.len()];
        padded.append(&mut hash);
        return padded;
    }
    hash
}

fn field_bytes(curve: &str) -> usize {
    match curve {
        "P-256" => 32,
        "P-384" => 48,
        _ => 66,
    }
}

/// `ecdsaSign(curve, hash, private scalar, data) → r and s`.
fn ecdsa_sign(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    let hash = args.get(1).to_rust_string_lossy(scope);
    let (Some(key), Some(data)) = (copy_bytes(args.get(2)), copy_bytes(args.get(3))) else { return };
    let Some(digest) = hash_of(&hash, &data) else { return };
    let digest = prehash(digest, field_bytes(&name));
    let bytes = with_curve!(name.as_str(), curve => {
        use curve::ecdsa::signature::hazmat::PrehashSigner;
        curve::ecdsa::SigningKey::from_slice(&key).ok().and_then(|key| {
            let signature: Option<curve::ecdsa::Signature> = key.sign_prehash(&digest).ok();
            signature.map(|signature| signature.to_bytes().to_vec())
        })
    });
    answer(scope, bytes, &mut result);
}

/// `ecdsaVerify(curve, hash, public point, signature, data) → boolean`.
fn ecdsa_verify(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    let hash = args.get(1).to_rust_string_lossy(scope);
    let (Some(key), Some(signature), Some(data)) =
        (copy_bytes(args.get(2)), copy_bytes(args.get(3)), copy_bytes(args.get(4)))
    else {
        return;
    };
    let Some(digest) = hash_of(&hash, &data) else { return };
    let digest = prehash(digest, field_bytes(&name));
    let valid = with_curve!(name.as_str(), curve => {
        use curve::ecdsa::signature::hazmat::PrehashVerifier;
        let key = curve::ecdsa::VerifyingKey::from_sec1_bytes(&key).ok();
        let signature = curve::ecdsa::Signature::from_slice(&signature).ok();
        key.zip(signature).map(|(key, signature)| key.verify_prehash(&digest, &signature).is_ok())
    });
    result.set_bool(valid.unwrap_or(false));
}

/// `ecdh(curve, private scalar, public point) → shared secret`.
fn ecdh(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    let (Some(secret), Some(public)) = (copy_bytes(args.get(1)), copy_bytes(args.get(2))) else { return };
    let bytes = with_curve!(name.as_str(), curve => {
        let secret = curve::SecretKey::from_slice(&secret).ok();
        let public = curve::PublicKey::from_sec1_bytes(&public).ok();
        secret.zip(public).map(|(secret, public)| {
            curve::ecdh::diffie_hellman(secret.to_nonzero_scalar(), public.as_affine()).raw_secret_bytes().to_vec()
        })
    });
    answer(scope, bytes, &mut result);
}

fn array_of(value: v8::Local<'_, v8::Value>) -> Option<[u8; 32]> {
    copy_bytes(value)?.try_into().ok()
}

/// `edPublic(seed) → public key`.
fn ed_public(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let bytes = array_of(args.get(0)).map(|seed| EdSigningKey::from_bytes(&seed).verifying_key().to_bytes().to_vec());
    answer(scope, bytes, &mut result);
}

/// `edSign(seed, data) → signature`.
fn ed_sign(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let (Some(seed), Some(data)) = (array_of(args.get(0)), copy_bytes(args.get(1))) else { return };
    let signature = EdSigningKey::from_bytes(&seed).sign(&data).to_bytes().to_vec();
    answer(scope, Some(signature), &mut result);
}

/// `edVerify(public key, signature, data) → boolean`.
fn ed_verify(
    _: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let (Some(key), Some(signature), Some(data)) =
        (array_of(args.get(0)), copy_bytes(args.get(1)), copy_bytes(args.get(2)))
    else {
        return;
    };
    let key = EdVerifyingKey::from_bytes(&key).ok();
    let signature = ed25519_dalek::Signature::from_slice(&signature).ok();
    let valid = key.zip(signature).is_some_and(|(key, signature)| {
        use ed25519_dalek::Verifier;
        key.verify(&data, &signature).is_ok()
    });
    result.set_bool(valid);
}

/// `xPublic(private key) → public key`.
fn x_public(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let bytes = array_of(args.get(0))
        .map(|secret| x25519_dalek::PublicKey::from(&x25519_dalek::StaticSecret::from(secret)).as_bytes().to_vec());
    answer(scope, bytes, &mut result);
}

/// `x25519(private key, public key) → shared secret`; `undefined` for a public key of small order.
fn x25519(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let (Some(secret), Some(public)) = (array_of(args.get(0)), array_of(args.get(1))) else { return };
    let shared = x25519_dalek::StaticSecret::from(secret).diffie_hellman(&x25519_dalek::PublicKey::from(public));
    let bytes = shared.was_contributory().then(|| shared.as_bytes().to_vec());
    answer(scope, bytes, &mut result);
}
