//! Digests of data that arrives in pieces, and checksums, which the platform digests streams with too.

use std::cell::RefCell;

use md5::Md5;
use sha1::Sha1;
use sha2::digest::{DynDigest, InvalidBufferSize};
use sha2::{Sha256, Sha384, Sha512};

use super::super::args::{new_array_buffer, set_function, with_bytes};
use super::super::resources;

type State = RefCell<Box<dyn DynDigest>>;

/// What each byte does to a checksum whose bits are reflected, by the byte.
type Table = [u64; 256];

static CRC32: Table = table(0xedb8_8320);
static CRC32C: Table = table(0x82f6_3b78);
static CRC64_NVME: Table = table(0x9a6c_9329_ac4b_c9b5);

/// The table of a polynomial, written with its lowest power first.
const fn table(polynomial: u64) -> Table {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 == 1 { rest >> 1 ^ polynomial } else { rest >> 1 };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
}

/// A cyclic redundancy check that begins and ends with all bits inverted.
#[derive(Clone)]
struct Checksum {
    table: &'static Table,
    /// The inverted checksum so far, of `size` bytes.
    rest: u64,
    size: usize,
}

impl Checksum {
    const fn new(table: &'static Table, size: usize) -> Self {
        Self { table, rest: Self::ones(size), size }
    }

    const fn ones(size: usize) -> u64 {
        u64::MAX >> (64 - 8 * size)
    }

    fn take(&mut self, out: &mut [u8]) {
        let value = (self.rest ^ Self::ones(self.size)).to_be_bytes();
        out.copy_from_slice(&value[8 - self.size..]);
        self.rest = Self::ones(self.size);
    }
}

impl DynDigest for Checksum {
    fn update(&mut self, data: &[u8]) {
        for byte in data {
            self.rest = self.rest >> 8 ^ self.table[usize::from(self.rest as u8 ^ byte)];
        }
    }

    fn finalize_into(mut self, buf: &mut [u8]) -> Result<(), InvalidBufferSize> {
        self.finalize_into_reset(buf)
    }

    fn finalize_into_reset(&mut self, out: &mut [u8]) -> Result<(), InvalidBufferSize> {
        if out.len() != self.size {
            return Err(InvalidBufferSize);
        }
        self.take(out);
        Ok(())
    }

    fn reset(&mut self) {
        self.rest = Self::ones(self.size);
    }

    fn output_size(&self) -> usize {
        self.size
    }

    fn box_clone(&self) -> Box<dyn DynDigest> {
        Box::new(self.clone())
    }
}

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
        "CRC32" => Box::new(Checksum::new(&CRC32, 4)),
        "CRC32C" => Box::new(Checksum::new(&CRC32C, 4)),
        "CRC64NVME" => Box::new(Checksum::new(&CRC64_NVME, 8)),
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
