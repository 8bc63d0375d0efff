//! Messages compressed and decompressed (RFC 7692 7.2), piece by piece, in memory that does not depend on what they hold.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::extensions::Context;
use super::frame::Part;

/// What a sender leaves out at the end of a message.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// How hard is tried to make messages short. It is the host that computes, for whatever a program sends.
const LEVEL: u32 = 4;

/// Bytes of output that are made at a time.
const STEP_BYTES: usize = 16 << 10;

/// The other side's data is not compressed as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Invalid;

/// Decompresses what comes in. The memory it takes is there from the first compressed message on.
pub(super) struct Inflater {
    context: Context,
    stream: Option<Decompress>,
    input: Vec<u8>,
    /// Of the input, what was taken.
    at: usize,
    /// The last step filled all the room it had, so there may be more without further input.
    has_output: bool,
    tail: Tail,
}

/// Whether what the sender left out has been put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    Missing,
    There,
}

impl Inflater {
    pub(super) fn new(context: Context) -> Self {
        Self { context, stream: None, input: Vec::new(), at: 0, has_output: false, tail: Tail::Missing }
    }

    /// Whether there is something to be done before more input is of use.
    pub(super) fn is_busy(&self) -> bool {
        self.has_output || self.at < self.input.len()
    }

    /// The next bytes of a message; only where nothing is left to be done.
    pub(super) fn give(&mut self, input: &[u8]) {
        self.input.clear();
        self.input.extend_from_slice(input);
        self.at = 0;
    }

    /// The message has no more bytes. `true` when all of it has come out.
    pub(super) fn end(&mut self) -> bool {
        match self.tail {
            Tail::Missing => {
                self.tail = Tail::There;
                self.give(&TAIL);
                false
            }
            Tail::There => {
                self.tail = Tail::Missing;
                if self.context == Context::PerMessage {
                    self.stream = None;
                }
                true
            }
        }
    }

    /// Decompresses into `output`, at most `room` bytes.
    pub(super) fn inflate(&mut self, output: &mut Vec<u8>, room: usize) -> Result<(), Invalid> {
        let stream = self.stream.get_or_insert_with(|| Decompress::new(false));
        let mut step = [0; STEP_BYTES];
        let step = &mut step[..room.min(STEP_BYTES)];
        let (taken, made) = (stream.total_in(), stream.total_out());
        let status = stream.decompress(&self.input[self.at..], step, FlushDecompress::Sync).map_err(|_| Invalid)?;
        // Differences of what one call did, which fit.
        let (taken, made) = ((stream.total_in() - taken) as usize, (stream.total_out() - made) as usize);
        self.at += taken;
        output.extend_from_slice(&step[..made]);
        self.has_output = made == step.len();
        match status {
            // The sender ended its stream with the message: the next one starts anew.
            Status::StreamEnd => {
                self.stream = None;
                self.has_output = false;
            }
            Status::Ok | Status::BufError => {}
        }
        let stuck = taken == 0 && made == 0 && self.at < self.input.len() && status != Status::StreamEnd;
        if stuck { Err(Invalid) } else { Ok(()) }
    }
}

/// Compresses what goes out. The memory it takes is there from the first message on.
pub(super) struct Deflater {
    context: Context,
    stream: Option<Compress>,
}

impl Deflater {
    pub(super) fn new(context: Context) -> Self {
        Self { context, stream: None }
    }

    /// The payload of a frame for a part of a message.
    pub(super) fn deflate(&mut self, payload: &[u8], part: Part) -> std::io::Result<Vec<u8>> {
        let stream = self.stream.get_or_insert_with(|| Compress::new(Compression::new(LEVEL), false));
        let mut output = Vec::new();
        let mut step = [0; STEP_BYTES];
        let mut at = 0;
        loop {
            let (taken, made) = (stream.total_in(), stream.total_out());
            stream.compress(&payload[at..], &mut step, FlushCompress::Sync).map_err(std::io::Error::other)?;
            // As above.
            let (taken, made) = ((stream.total_in() - taken) as usize, (stream.total_out() - made) as usize);
            at += taken;
            output.extend_from_slice(&step[..made]);
            if at == payload.len() && made < step.len() {
                break;
            }
        }
        if part == Part::Last {
            if output.ends_with(&TAIL) {
                output.truncate(output.len() - TAIL.len());
            }
            if output.is_empty() {
                // RFC 7692 7.2.3.6: a message of nothing.
                output.push(0);
            }
            if self.context == Context::PerMessage {
                self.stream = None;
            }
        }
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inflated(inflater: &mut Inflater, frames: &[Vec<u8>]) -> Result<Vec<u8>, Invalid> {
        let mut output = Vec::new();
        for piece in frames.iter().flat_map(|frame| frame.chunks(7)) {
            inflater.give(piece);
            while inflater.is_busy() {
                inflater.inflate(&mut output, 1_000)?;
            }
        }
        while !inflater.end() {
            while inflater.is_busy() {
                inflater.inflate(&mut output, 1_000)?;
            }
        }
        Ok(output)
    }

    #[test]
    fn messages_come_out_as_they_went_in() {
        let long: Vec<u8> = (0..200_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        for context in [Context::Kept, Context::PerMessage] {
            let (mut deflater, mut inflater) = (Deflater::new(context), Inflater::new(context));
            for message in [&b"hello"[..], b"", &long, b"hello", &vec![0; 100_000], b""] {
                let (first, second) = message.split_at(message.len() / 2);
                let parts =
                    [deflater.deflate(first, Part::More).unwrap(), deflater.deflate(second, Part::Last).unwrap()];
                assert_eq!(inflated(&mut inflater, &parts).as_deref(), Ok(message));
                let whole = [deflater.deflate(message, Part::Last).unwrap()];
                assert_eq!(inflated(&mut inflater, &whole).as_deref(), Ok(message));
            }
        }
    }

    #[test]
    fn a_context_makes_repetition_short() {
        let message = b"what is said twice need not be sent twice";
        let mut kept = Deflater::new(Context::Kept);
        let first = kept.deflate(message, Part::Last).unwrap();
        assert!(kept.deflate(message, Part::Last).unwrap().len() < first.len() / 2);
        let mut fresh = Deflater::new(Context::PerMessage);
        assert_eq!(fresh.deflate(message, Part::Last).unwrap(), fresh.deflate(message, Part::Last).unwrap());
    }

    #[test]
    fn what_is_not_compressed_is_invalid() {
        for bytes in [&[0xff; 4][..], &[0x07], &[0x01, 0x05, 0x00, 0x00, 0x00]] {
            assert_eq!(inflated(&mut Inflater::new(Context::Kept), &[bytes.to_vec()]), Err(Invalid), "{bytes:?}");
        }
        // A stream that ends with its message, and another.
        let ended = vec![0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00];
        let mut inflater = Inflater::new(Context::Kept);
        for _ in 0..2 {
            assert_eq!(inflated(&mut inflater, std::slice::from_ref(&ended)).as_deref(), Ok(&b"Hello"[..]));
        }
    }
}
