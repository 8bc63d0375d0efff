//! The Brotli coding of bodies, a bounded amount of output at a time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Write;
use std::rc::Rc;

use brotli::enc::StandardAlloc;
use brotli::{Allocator, BrotliDecompressStream, BrotliResult, BrotliState, CompressorWriter, HuffmanCode};

use super::charge::Charge;
use super::compression::{COMPRESSION_FAILED, Codec, Failure, INCOMPLETE, MALFORMED, OUTPUT_BYTES_MAX, TRAILING};

/// How hard to compress, of 11.
const QUALITY: u32 = 5;

/// The logarithm of how many bytes back a repetition may lie.
const WINDOW_BITS: u32 = 18;

/// What a compressor of this quality and window holds, in bytes.
const COMPRESSOR_BYTES: usize = 4 << 20;

/// Input given to the compressor at once, in bytes.
const INPUT_BYTES_MAX: usize = 64 << 10;

pub(super) struct Compressor {
    writer: Option<CompressorWriter<Vec<u8>>>,
    _charge: Charge,
}

impl Compressor {
    pub(super) fn new(mut charge: Charge) -> Self {
        charge.set(COMPRESSOR_BYTES);
        Self { writer: Some(CompressorWriter::new(Vec::new(), 0, QUALITY, WINDOW_BITS)), _charge: charge }
    }
}

impl Codec for Compressor {
    fn step(&mut self, input: &mut VecDeque<u8>, closing: bool) -> Result<Vec<u8>, Failure> {
        let Some(writer) = &mut self.writer else { return Ok(Vec::new()) };
        while !input.is_empty() {
            let chunk = input.make_contiguous();
            let length = chunk.len().min(INPUT_BYTES_MAX);
            writer.write_all(&chunk[..length]).map_err(|_| COMPRESSION_FAILED)?;
            input.drain(..length);
            let output = std::mem::take(writer.get_mut());
            if !output.is_empty() {
                return Ok(output);
            }
        }
        if closing {
            return Ok(self.writer.take().map(CompressorWriter::into_inner).unwrap_or_default());
        }
        Ok(Vec::new())
    }
}

/// Gives memory to a decompressor and counts it.
struct Counting {
    inner: StandardAlloc,
    charge: Rc<RefCell<Charge>>,
}

impl Counting {
    fn new(charge: &Rc<RefCell<Charge>>) -> Self {
        Self { inner: StandardAlloc::default(), charge: Rc::clone(charge) }
    }
}

impl<T> Allocator<T> for Counting
where
    StandardAlloc: Allocator<T>,
{
    type AllocatedMemory = <StandardAlloc as Allocator<T>>::AllocatedMemory;

    fn alloc_cell(&mut self, length: usize) -> Self::AllocatedMemory {
        // Its memory is kept until it goes, window and tables alike; what it frees on the way is little.
        self.charge.borrow_mut().add(length.saturating_mul(size_of::<T>()));
        self.inner.alloc_cell(length)
    }

    fn free_cell(&mut self, data: Self::AllocatedMemory) {
        self.inner.free_cell(data);
    }
}

type State = BrotliState<Counting, Counting, Counting>;

pub(super) struct Decompressor {
    state: Box<State>,
    finished: bool,
}

// What the decompressor's tables are made of.
const _: fn() = || {
    fn allocates<T: Allocator<u8> + Allocator<u32> + Allocator<HuffmanCode>>() {}
    allocates::<Counting>();
};

impl Decompressor {
    pub(super) fn new(charge: Charge) -> Self {
        let charge = Rc::new(RefCell::new(charge));
        let state = BrotliState::new_strict(Counting::new(&charge), Counting::new(&charge), Counting::new(&charge));
        Self { state: Box::new(state), finished: false }
    }
}

impl Codec for Decompressor {
    fn step(&mut self, input: &mut VecDeque<u8>, closing: bool) -> Result<Vec<u8>, Failure> {
        if self.finished {
            return if input.is_empty() { Ok(Vec::new()) } else { Err(TRAILING) };
        }
        let mut output = vec![0; OUTPUT_BYTES_MAX];
        let chunk = input.make_contiguous();
        let (mut available_in, mut read) = (chunk.len(), 0);
        let (mut available_out, mut written, mut total) = (output.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut available_in,
            &mut read,
            chunk,
            &mut available_out,
            &mut written,
            &mut output,
            &mut total,
            &mut self.state,
        );
        input.drain(..read);
        output.truncate(written);
        match result {
            BrotliResult::ResultFailure => return Err(MALFORMED),
            BrotliResult::ResultSuccess => self.finished = true,
            BrotliResult::NeedsMoreInput if closing && output.is_empty() => return Err(INCOMPLETE),
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        Ok(output)
    }
}
