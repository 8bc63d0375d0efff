//! AES in the four modes of Web Cryptography, and HMAC. Each answers `undefined` where the data or key is wrong; the
//! JavaScript half says what that means.

use aes::cipher::consts::U16;
use aes::cipher::{
    BlockDecryptMut, BlockEncryptMut, InnerIvInit, KeyInit, KeyIvInit, StreamCipher, StreamCipherCoreWrapper,
    block_padding::Pkcs7,
};
use aes::{Aes128, Aes192, Aes256};
use hmac::{Hmac, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

use super::super::args::{copy_bytes, new_array_buffer, set_function};

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "aesGcm", aes_gcm)?;
    set_function(scope, target, "aesCbc", aes_cbc)?;
    set_function(scope, target, "aesCtr", aes_ctr)?;
    set_function(scope, target, "aesKw", aes_kw)?;
    set_function(scope, target, "hmac", hmac)
}

/// Runs `$body` with `$cipher` naming the AES of the key's length; nothing for other lengths.
macro_rules! with_aes {
    ($key:expr, $cipher:ident => $body:expr) => {
        match $key.len() {
            16 => {
                type $cipher = Aes128;
                $body
            }
            24 => {
                type $cipher = Aes192;
                $body
            }
            32 => {
                type $cipher = Aes256;
                $body
            }
            _ => None,
        }
    };
}

fn answer(scope: &mut v8::PinScope<'_, '_>, bytes: Option<Vec<u8>>, result: &mut v8::ReturnValue<'_, v8::Value>) {
    if let Some(bytes) = bytes
        && let Some(buffer) = new_array_buffer(scope, &bytes)
    {
        result.set(buffer.into());
    }
}

/// `aesGcm(encrypt, key, iv, data, additional data, tag bytes) → ArrayBuffer`.
fn aes_gcm(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let encrypt = args.get(0).is_true();
    let (Some(key), Some(iv), Some(data), Some(additional)) =
        (copy_bytes(args.get(1)), copy_bytes(args.get(2)), copy_bytes(args.get(3)), copy_bytes(args.get(4)))
    else {
        return;
    };
    let tag_length = args.get(5).uint32_value(scope).unwrap_or(0) as usize;
    let bytes = with_aes!(key, Aes => gcm::<Aes>(encrypt, &key, &iv, data, &additional, tag_length));
    answer(scope, bytes, &mut result);
}

/// AES-GCM with any IV and tag length (NIST SP 800-38D), over GHASH and CTR, since lengths are the
/// program's to choose.
fn gcm<C>(
    encrypt: bool,
    key: &[u8],
    iv: &[u8],
    mut data: Vec<u8>,
    additional: &[u8],
    tag_length: usize,
) -> Option<Vec<u8>>
where
    C: aes::cipher::BlockCipher + aes::cipher::BlockSizeUser<BlockSize = U16> + aes::cipher::BlockEncrypt + KeyInit,
{
    use aes::cipher::generic_array::GenericArray;
    use ghash::universal_hash::UniversalHash;

    let cipher = C::new_from_slice(key).ok()?;
    let mut subkey = GenericArray::default();
    cipher.encrypt_block(&mut subkey);
    let hash = |additional: &[u8], text: &[u8]| {
        let mut ghash = <ghash::GHash as ghash::universal_hash::KeyInit>::new(&subkey);
        ghash.update_padded(additional);
        ghash.update_padded(text);
        let mut lengths = GenericArray::default();
        lengths[..8].copy_from_slice(&(additional.len() as u64 * 8).to_be_bytes());
        lengths[8..].copy_from_slice(&(text.len() as u64 * 8).to_be_bytes());
        ghash.update(&[lengths]);
        ghash.finalize()
    };
    let mut counter = GenericArray::default();
    if iv.len() == 12 {
        counter[..12].copy_from_slice(iv);
        counter[15] = 1;
    } else {
        counter = hash(&[], iv);
    }
    let mut mask = counter;
    cipher.encrypt_block(&mut mask);
    let tag_of = |text: &[u8]| -> Vec<u8> {
        hash(additional, text).iter().zip(&mask).map(|(byte, mask)| byte ^ mask).take(tag_length).collect()
    };
    let core = ctr::CtrCore::<_, ctr::flavors::Ctr32BE>::inner_iv_init(cipher, &counter);
    let mut stream = StreamCipherCoreWrapper::from_core(core);
    // The first block of the key stream masks the tag.
    stream.apply_keystream(&mut GenericArray::<u8, U16>::default());
    if encrypt {
        stream.apply_keystream(&mut data);
        let tag = tag_of(&data);
        data.extend_from_slice(&tag);
        return Some(data);
    }
    let text_length = data.len().checked_sub(tag_length)?;
    let expected = tag_of(&data[..text_length]);
    let difference = data[text_length..].iter().zip(&expected).fold(0_u8, |seen, (a, b)| seen | (a ^ b));
    if std::hint::black_box(difference) != 0 {
        return None;
    }
    data.truncate(text_length);
    stream.apply_keystream(&mut data);
    Some(data)
}

/// `aesCbc(encrypt, key, iv, data) → ArrayBuffer`, with PKCS#7 padding.
fn aes_cbc(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let encrypt = args.get(0).is_true();
    let (Some(key), Some(iv), Some(data)) = (copy_bytes(args.get(1)), copy_bytes(args.get(2)), copy_bytes(args.get(3)))
    else {
        return;
    };
    let bytes = with_aes!(key, Aes => if encrypt {
        let cipher = cbc::Encryptor::<Aes>::new_from_slices(&key, &iv).ok();
        cipher.map(|cipher| cipher.encrypt_padded_vec_mut::<Pkcs7>(&data))
    } else {
        let cipher = cbc::Decryptor::<Aes>::new_from_slices(&key, &iv).ok();
        cipher.and_then(|cipher| cipher.decrypt_padded_vec_mut::<Pkcs7>(&data).ok())
    });
    answer(scope, bytes, &mut result);
}

/// `aesCtr(key, counter block, counter bits, data) → ArrayBuffer`; encryption and decryption are one.
fn aes_ctr(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let (Some(key), Some(counter), Some(data)) =
        (copy_bytes(args.get(0)), copy_bytes(args.get(1)), copy_bytes(args.get(3)))
    else {
        return;
    };
    let bits = args.get(2).uint32_value(scope).unwrap_or(0);
    let Ok(counter) = <[u8; 16]>::try_from(counter.as_slice()) else { return };
    let bytes = with_aes!(key, Aes => ctr_mode::<Aes>(&key, counter, bits, data));
    answer(scope, bytes, &mut result);
}

/// Counter mode whose counter is the last `bits` of the block and wraps within them: up to two runs of a 128-bit
/// counter.
fn ctr_mode<C>(key: &[u8], counter: [u8; 16], bits: u32, mut data: Vec<u8>) -> Option<Vec<u8>>
where
    C: aes::cipher::BlockCipher
        + aes::cipher::BlockSizeUser<BlockSize = U16>
        + aes::cipher::BlockEncrypt
        + aes::cipher::BlockEncryptMut
        + aes::cipher::KeySizeUser
        + KeyInit,
{
    let mask = if bits >= 128 { u128::MAX } else { (1_u128 << bits) - 1 };
    let start = u128::from_be_bytes(counter);
    let until_wrap = (mask - (start & mask)).saturating_add(1).saturating_mul(16);
    let split = usize::try_from(until_wrap).unwrap_or(usize::MAX).min(data.len());
    let (first, second) = data.split_at_mut(split);
    ctr::Ctr128BE::<C>::new_from_slices(key, &counter).ok()?.apply_keystream(first);
    if !second.is_empty() {
        let wrapped = (start & !mask).to_be_bytes();
        ctr::Ctr128BE::<C>::new_from_slices(key, &wrapped).ok()?.apply_keystream(second);
    }
    Some(data)
}

/// `aesKw(wrap, key, data) → ArrayBuffer` (RFC 3394).
fn aes_kw(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let wrap = args.get(0).is_true();
    let (Some(key), Some(data)) = (copy_bytes(args.get(1)), copy_bytes(args.get(2))) else { return };
    let bytes = with_aes!(key, Aes => {
        aes_kw::Kek::<Aes>::try_from(key.as_slice())
            .ok()
            .and_then(|kek| if wrap { kek.wrap_vec(&data) } else { kek.unwrap_vec(&data) }.ok())
    });
    answer(scope, bytes, &mut result);
}

/// `hmac(hash, key, data) → ArrayBuffer`.
fn hmac(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let hash = args.get(0).to_rust_string_lossy(scope);
    let (Some(key), Some(data)) = (copy_bytes(args.get(1)), copy_bytes(args.get(2))) else { return };
    macro_rules! mac {
        ($hash:ty) => {
            <Hmac<$hash> as Mac>::new_from_slice(&key)
                .ok()
                .map(|mac| mac.chain_update(&data).finalize().into_bytes().to_vec())
        };
    }
    let bytes = match hash.as_str() {
        "MD5" => mac!(Md5),
        "SHA-1" => mac!(Sha1),
        "SHA-256" => mac!(Sha256),
        "SHA-384" => mac!(Sha384),
        "SHA-512" => mac!(Sha512),
        _ => None,
    };
    answer(scope, bytes, &mut result);
}
