//! `CompressionStream` and `DecompressionStream`: deflate in its three wrappings, a bounded amount of output at a time.

use std::cell::RefCell;
use std::collections::VecDeque;

use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};

use super::args::{new_array_buffer, set_function, throw_type_error, with_bytes};
use super::charge::Charge;
use super::{body_brotli, resources};

/// The most output one call produces, in bytes: what a small input can grow to reaches JavaScript in pieces, each
/// counted against the isolate's memory.
pub(super) const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// The longest gzip header accepted (its optional name and comment have no limit of their own), in bytes.
const GZIP_HEADER_BYTES_MAX: usize = 64 << 10;

/// CRC32 and length, at the end of gzip data.
const GZIP_TRAILER_BYTES: usize = 8;

/// A gzip header without options, of a Unix system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Gzip,
    /// With zlib's header and checksum.
    Deflate,
    DeflateRaw,
    /// Of bodies only: the streams do not know it.
    Brotli,
}

impl Format {
    /// `coding`: by the name of a content coding.
    fn named(name: &str, coding: bool) -> Option<Self> {
        match name {
            "gzip" => Some(Self::Gzip),
            "deflate" => Some(Self::Deflate),
            "deflate-raw" => Some(Self::DeflateRaw),
            "br" if coding => Some(Self::Brotli),
            _ => None,
        }
    }
}

/// Why data could not be decompressed, in the platform's words.
pub(super) type Failure = &'static str;

pub(super) const MALFORMED: Failure = "Decompression failed.";
pub(super) const TRAILING: Failure = "Trailing bytes after end of compressed data";
pub(super) const INCOMPLETE: Failure = "Called close() on a decompression stream with incomplete data";
pub(super) const COMPRESSION_FAILED: Failure = "Compression failed.";

/// What is refused of compressed data that is otherwise whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checks {
    /// Bytes after its end, and an end before its own.
    Strict,
    /// Nothing, as Workers of old compatibility dates expect.
    Lenient,
}

/// One direction of one stream: takes input whole, gives output in pieces.
pub(super) trait Codec {
    /// Up to [`OUTPUT_BYTES_MAX`] more bytes from `input`; nothing when it needs more input.
    fn step(&mut self, input: &mut VecDeque<u8>, closing: bool) -> Result<Vec<u8>, Failure>;
}

struct Compressor {
    format: Format,
    deflate: Compress,
    crc: Crc,
    header_pending: bool,
    finished: bool,
}

impl Compressor {
    fn new(format: Format) -> Self {
        Self {
            format,
            deflate: Compress::new(Compression::default(), format == Format::Deflate),
            crc: Crc::new(),
            header_pending: format == Format::Gzip,
            finished: false,
        }
    }
}

impl Codec for Compressor {
    fn step(&mut self, input: &mut VecDeque<u8>, closing: bool) -> Result<Vec<u8>, Failure> {
        let mut output = Vec::with_capacity(OUTPUT_BYTES_MAX + GZIP_HEADER.len() + GZIP_TRAILER_BYTES);
        if self.header_pending && (closing || !input.is_empty()) {
            output.extend_from_slice(&GZIP_HEADER);
            self.header_pending = false;
        }
        let limit = output.len() + OUTPUT_BYTES_MAX;
        while !self.finished && output.len() < limit && (closing || !input.is_empty()) {
            let chunk = input.make_contiguous();
            let flush = if closing { FlushCompress::Finish } else { FlushCompress::None };
            let before_in = self.deflate.total_in();
            let before_out = output.len();
            let status = self.deflate.compress_vec(chunk, &mut output, flush).map_err(|_| COMPRESSION_FAILED)?;
            let consumed = usize::try_from(self.deflate.total_in() - before_in).map_err(|_| COMPRESSION_FAILED)?;
            self.crc.update(&chunk[..consumed]);
            input.drain(..consumed);
            if status == Status::StreamEnd {
                self.finished = true;
                if self.format == Format::Gzip {
                    output.extend_from_slice(&self.crc.sum().to_le_bytes());
                    output.extend_from_slice(&self.crc.amount().to_le_bytes());
                }
            } else if consumed == 0 && output.len() == before_out {
                break;
            }
        }
        Ok(output)
    }
}

/// Where in its data a decompressor is.
enum Stage {
    GzipHeader,
    Body,
    GzipTrailer,
    End,
}

struct Decompressor {
    format: Format,
    checks: Checks,
    inflate: Decompress,
    crc: Crc,
    stage: Stage,
}

impl Decompressor {
    fn new(format: Format, checks: Checks) -> Self {
        Self {
            format,
            checks,
            inflate: Decompress::new(format == Format::Deflate),
            crc: Crc::new(),
            stage: if format == Format::Gzip { Stage::GzipHeader } else { Stage::Body },
        }
    }

    /// Moves on with what `input` has; `false` when more is needed or the output is full.
    fn advance(&mut self, input: &mut VecDeque<u8>, output: &mut Vec<u8>) -> Result<bool, Failure> {
        match self.stage {
            Stage::GzipHeader => {
                let Some(length) = gzip_header_length(input.make_contiguous())? else { return Ok(false) };
                input.drain(..length);
                self.stage = Stage::Body;
            }
            Stage::Body => {
                if input.is_empty() || output.len() >= OUTPUT_BYTES_MAX {
                    return Ok(false);
                }
                let chunk = input.make_contiguous();
                let (before_in, before_out) = (self.inflate.total_in(), output.len());
                let status =
                    self.inflate.decompress_vec(chunk, output, FlushDecompress::None).map_err(|_| MALFORMED)?;
                let consumed = usize::try_from(self.inflate.total_in() - before_in).map_err(|_| MALFORMED)?;
                self.crc.update(&output[before_out..]);
                input.drain(..consumed);
                if status == Status::StreamEnd {
                    self.stage = if self.format == Format::Gzip { Stage::GzipTrailer } else { Stage::End };
                } else if consumed == 0 && output.len() == before_out {
                    return Ok(false);
                }
            }
            Stage::GzipTrailer => {
                let trailer = input.make_contiguous();
                let Some((trailer, _)) = trailer.split_first_chunk::<GZIP_TRAILER_BYTES>() else { return Ok(false) };
                let mut expected = [0; GZIP_TRAILER_BYTES];
                expected[..4].copy_from_slice(&self.crc.sum().to_le_bytes());
                expected[4..].copy_from_slice(&self.crc.amount().to_le_bytes());
                if *trailer != expected {
                    return Err(MALFORMED);
                }
                input.drain(..GZIP_TRAILER_BYTES);
                self.stage = Stage::End;
            }
            Stage::End => {
                if self.checks == Checks::Strict && !input.is_empty() {
                    return Err(TRAILING);
                }
                input.clear();
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Codec for Decompressor {
    fn step(&mut self, input: &mut VecDeque<u8>, closing: bool) -> Result<Vec<u8>, Failure> {
        let mut output = Vec::with_capacity(OUTPUT_BYTES_MAX);
        while self.advance(input, &mut output)? {}
        if self.checks == Checks::Strict && closing && output.is_empty() && !matches!(self.stage, Stage::End) {
            return Err(INCOMPLETE);
        }
        Ok(output)
    }
}

/// The header's length once all of it is there (RFC 1952 2.3).
fn gzip_header_length(bytes: &[u8]) -> Result<Option<usize>, Failure> {
    const HAS_CRC: u8 = 2;
    const HAS_EXTRA: u8 = 4;
    const HAS_NAME: u8 = 8;
    const HAS_COMMENT: u8 = 16;
    let known = bytes.len().min(3);
    if bytes[..known] != GZIP_HEADER[..known] {
        return Err(MALFORMED);
    }
    let Some(&flags) = bytes.get(3) else { return Ok(None) };
    let mut at = GZIP_HEADER.len();
    if flags & HAS_EXTRA != 0 {
        let Some(length) = bytes.get(at..at + 2) else { return Ok(None) };
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    for flag in [HAS_NAME, HAS_COMMENT] {
        if flags & flag != 0 {
            let Some(end) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) else {
                return if bytes.len() > GZIP_HEADER_BYTES_MAX { Err(MALFORMED) } else { Ok(None) };
            };
            at += end + 1;
        }
    }
    if flags & HAS_CRC != 0 {
        at += 2;
    }
    Ok((bytes.len() >= at).then_some(at))
}

/// What a compressor for deflate holds, in bytes.
const COMPRESSOR_BYTES: usize = 320 << 10;

/// What a decompressor for deflate holds, in bytes.
const DECOMPRESSOR_BYTES: usize = 48 << 10;

/// A stream's codec and the input it has not used.
struct Stream {
    codec: Box<dyn Codec>,
    input: VecDeque<u8>,
    closing: bool,
    /// What the codec holds, in bytes, where it does not count that itself.
    codec_bytes: usize,
    charge: Charge,
}

impl Stream {
    fn count(&mut self) {
        self.charge.set(self.codec_bytes + self.input.capacity());
    }
}

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "open", open)?;
    set_function(scope, target, "push", push)?;
    set_function(scope, target, "close", close)?;
    set_function(scope, target, "next", next)
}

/// `open(format, compress, coding, strict) → stream`; `undefined` for an unknown format. `coding` says that the format is
/// a content coding, `strict` what is refused when it is decoded.
fn open(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    let Some(format) = Format::named(&name, args.get(2).is_true()) else { return };
    let Some(host) = super::host(scope) else { return };
    let charge = Charge::new(host.clone(), 0);
    let (codec, codec_bytes): (Box<dyn Codec>, usize) = match (format, args.get(1).is_true()) {
        (Format::Brotli, true) => (Box::new(body_brotli::Compressor::new(charge)), 0),
        (Format::Brotli, false) => (Box::new(body_brotli::Decompressor::new(charge)), 0),
        (_, true) => (Box::new(Compressor::new(format)), COMPRESSOR_BYTES),
        (_, false) => {
            let checks = if args.get(3).is_true() { Checks::Strict } else { Checks::Lenient };
            (Box::new(Decompressor::new(format, checks)), DECOMPRESSOR_BYTES)
        }
    };
    let mut stream =
        Stream { codec, input: VecDeque::new(), closing: false, codec_bytes, charge: Charge::new(host, 0) };
    stream.count();
    result.set(resources::keep(scope, RefCell::new(stream)).into());
}

/// `push(stream, bytes)`: gives it input.
fn push(scope: &mut v8::PinScope<'_, '_>, args: v8::FunctionCallbackArguments<'_>, _: v8::ReturnValue<'_, v8::Value>) {
    let Some(stream) = resources::get::<RefCell<Stream>>(scope, args.get(0)) else { return };
    let mut stream = stream.borrow_mut();
    with_bytes(args.get(1), |bytes| stream.input.extend(bytes));
    stream.count();
}

/// `close(stream)`: there will be no more input.
fn close(scope: &mut v8::PinScope<'_, '_>, args: v8::FunctionCallbackArguments<'_>, _: v8::ReturnValue<'_, v8::Value>) {
    if let Some(stream) = resources::get::<RefCell<Stream>>(scope, args.get(0)) {
        stream.borrow_mut().closing = true;
    }
}

/// `next(stream) → ArrayBuffer` of output, or `undefined` when it needs more input or is at its end.
fn next(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Some(stream) = resources::get::<RefCell<Stream>>(scope, args.get(0)) else { return };
    let output = {
        let stream = &mut *stream.borrow_mut();
        let output = stream.codec.step(&mut stream.input, stream.closing);
        if stream.input.is_empty() {
            stream.input = VecDeque::new();
        }
        stream.count();
        output
    };
    match output {
        Err(message) => throw_type_error(scope, message),
        Ok(output) if output.is_empty() => {}
        Ok(output) => {
            if let Some(buffer) = new_array_buffer(scope, &output) {
                result.set(buffer.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All output of a codec for one input.
    fn run(codec: &mut dyn Codec, input: &[u8]) -> Result<Vec<u8>, Failure> {
        let mut input: VecDeque<u8> = input.iter().copied().collect();
        let mut all = Vec::new();
        for closing in [false, true] {
            loop {
                let piece = codec.step(&mut input, closing)?;
                if piece.is_empty() {
                    break;
                }
                assert!(piece.len() <= OUTPUT_BYTES_MAX + GZIP_HEADER.len() + GZIP_TRAILER_BYTES);
                all.extend(piece);
            }
        }
        Ok(all)
    }

    #[test]
    fn round_trips_in_bounded_pieces() {
        for format in [Format::Gzip, Format::Deflate, Format::DeflateRaw] {
            for input in [Vec::new(), b"hello".to_vec(), vec![7; 3 << 20]] {
                let packed = run(&mut Compressor::new(format), &input).expect("compresses");
                assert_eq!(run(&mut Decompressor::new(format, Checks::Strict), &packed), Ok(input.clone()));
                let cut = &packed[..packed.len() - 1];
                assert_eq!(run(&mut Decompressor::new(format, Checks::Strict), cut), Err(INCOMPLETE));
                assert_eq!(run(&mut Decompressor::new(format, Checks::Lenient), cut).map(|_| ()), Ok(()));
                let longer = [&packed[..], b"x"].concat();
                assert_eq!(run(&mut Decompressor::new(format, Checks::Strict), &longer), Err(TRAILING));
                assert_eq!(run(&mut Decompressor::new(format, Checks::Lenient), &longer), Ok(input.clone()));
            }
        }
    }
}
