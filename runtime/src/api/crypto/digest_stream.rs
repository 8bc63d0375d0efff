//! Digests of data that arrives in pieces.

use std::cell::RefCell;

use md5::Md5;
use sha1::Sha1;
use sha2::digest::DynDigest;
use sha2::{Sha256, Sha384, Sha512};

use super::super::args::{new_array_buffer, set_function, with_bytes};
use super::super::resources;

type State = RefCell<Box<dyn DynDigest>>;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "open", open)?;
    set_function(scope, target, "update", update)?;
    set_function(scope, target, "finish", finish)
}

/// `open(name in upper case) → state`; `undefined` for an unknown name.
fn open(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let digest: Box<dyn DynDigest> = match args.get(0).to_rust_string_lossy(scope).as_str() {
        "MD5" => Box::new(Md5::default()),
        "SHA-1" => Box::new(Sha1::default()),
        "SHA-256" => Box::new(Sha256::default()),
        "SHA-384" => Box::new(Sha384::default()),
        "SHA-512" => Box::new(Sha512::default()),
        _ => return,
    };
    let state: State = RefCell::new(digest);
    result.set(resources::keep(scope, state).into());
}

/// `update(state, bytes)`.
fn update(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_, v8::Value>,
) {
    if let Some(state) = resources::get::<State>(scope, args.get(0)) {
        with_bytes(args.get(1), |bytes| state.borrow_mut().update(bytes));
    }
}

/// `finish(state) → ArrayBuffer`; the state then starts anew.
fn finish(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Some(state) = resources::get::<State>(scope, args.get(0)) else { return };
    let hash = state.borrow_mut().finalize_reset();
    if let Some(buffer) = new_array_buffer(scope, &hash) {
        result.set(buffer.into());
    }
}
