//! Bytes received and not yet taken as frames. Never allocates more than a frame's bound, whatever its header claims.

use std::os::fd::{AsRawFd, BorrowedFd};

use capnp::Word;
use capnp::message::ReaderOptions;

use super::{Left, Lost, SEGMENTS_MAX, WORD_BYTES, lost};
use crate::sandbox::wire::Malformed;

/// How deep structures in a frame may nest; the deepest of the schema is far below.
const NESTING_MAX: i32 = 32;

/// What is read at once, in words.
const READ_WORDS: usize = 8 << 10;

/// The options that every frame is read with.
pub(in crate::sandbox) fn reader_options(frame_bytes_max: usize) -> ReaderOptions {
    let mut options = ReaderOptions::new();
    // A frame's content is read about once; a structure that points at the same bytes many times is an attack.
    options.traversal_limit_in_words(Some(2 * frame_bytes_max / WORD_BYTES)).nesting_limit(NESTING_MAX);
    options
}

/// Bytes received and not yet taken as frames. Frames start at word boundaries, so they are read in place.
pub(super) struct Inbox {
    words: Vec<Word>,
    /// The bytes between these are there.
    start: usize,
    end: usize,
    frame_bytes_max: usize,
}

impl Inbox {
    pub(super) fn new(frame_bytes_max: usize) -> Self {
        Self { words: Word::allocate_zeroed_vec(READ_WORDS), start: 0, end: 0, frame_bytes_max }
    }

    /// Reads what is there; how many bytes that was, and whether it may not have been all.
    pub(super) fn fill(&mut self, socket: BorrowedFd<'_>) -> Result<(usize, Left), Lost> {
        let room = &mut Word::words_to_bytes_mut(&mut self.words)[self.end..];
        let full = room.len();
        match nix::sys::socket::recv(socket.as_raw_fd(), room, nix::sys::socket::MsgFlags::MSG_DONTWAIT) {
            Ok(0) => Err(Lost::Closed),
            Ok(bytes) => {
                self.end += bytes;
                Ok((bytes, if bytes == full { Left::More } else { Left::Nothing }))
            }
            Err(nix::Error::EAGAIN) => Ok((0, Left::Nothing)),
            Err(nix::Error::EINTR) => Ok((0, Left::More)),
            Err(error) => Err(lost(error)),
        }
    }

    /// Hands over all whole frames.
    pub(super) fn take(&mut self, on_frame: &mut impl FnMut(&[u8]) -> Result<(), Malformed>) -> Result<(), Malformed> {
        while let Some(frame) = self.next()? {
            on_frame(frame)?;
        }
        Ok(())
    }

    /// The next whole frame; when there is none, makes room for one.
    fn next(&mut self) -> Result<Option<&[u8]>, Malformed> {
        let available = &Word::words_to_bytes(&self.words)[self.start..self.end];
        let needed = frame_bytes(available, self.frame_bytes_max)?;
        match needed {
            Some(bytes) if bytes <= available.len() => {
                let from = self.start;
                self.start += bytes;
                Ok(Some(&Word::words_to_bytes(&self.words)[from..from + bytes]))
            }
            needed => {
                self.make_room(needed.unwrap_or(0));
                Ok(None)
            }
        }
    }

    fn make_room(&mut self, frame_bytes: usize) {
        let held = self.end - self.start;
        let wanted_words = frame_bytes.div_ceil(WORD_BYTES).max(READ_WORDS);
        let fits = wanted_words <= self.words.len();
        // A buffer made for one large frame is not kept for the small ones after it.
        let oversized = held < READ_WORDS && self.words.len() > 4 * wanted_words;
        if fits && !oversized {
            if held == 0 || self.start + wanted_words * WORD_BYTES > self.words.len() * WORD_BYTES {
                Word::words_to_bytes_mut(&mut self.words).copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, held);
            }
            return;
        }
        let mut larger = Word::allocate_zeroed_vec(wanted_words);
        Word::words_to_bytes_mut(&mut larger)[..held]
            .copy_from_slice(&Word::words_to_bytes(&self.words)[self.start..self.end]);
        (self.words, self.start, self.end) = (larger, 0, held);
    }
}

/// The length of the frame that starts here, once its header is complete.
fn frame_bytes(bytes: &[u8], frame_bytes_max: usize) -> Result<Option<usize>, Malformed> {
    let number = |index: usize| -> Option<usize> {
        let field = bytes.get(index * 4..index * 4 + 4)?;
        usize::try_from(u32::from_le_bytes(field.try_into().ok()?)).ok()
    };
    let Some(segments) = number(0) else { return Ok(None) };
    if segments >= SEGMENTS_MAX {
        return Err(Malformed::TooMuch("segments of a frame"));
    }
    let segments = segments + 1;
    let header = (4 + 4 * segments).next_multiple_of(WORD_BYTES);
    if bytes.len() < header {
        return Ok(None);
    }
    let words: usize = (1..=segments).filter_map(number).sum();
    let total = words.saturating_mul(WORD_BYTES).saturating_add(header);
    if total > frame_bytes_max {
        return Err(Malformed::TooMuch("bytes of a frame"));
    }
    Ok(Some(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_how_long_its_frame_is_or_is_refused() {
        let frame = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        let cases: &[(&[u32], Result<Option<usize>, Malformed>)] = &[
            (&[], Ok(None)),
            (&[0], Ok(None)),
            (&[0, 2], Ok(Some(24))),
            (&[1, 2, 3], Ok(None)),
            (&[1, 2, 3, 0], Ok(Some(56))),
            (&[63], Ok(None)),
            (&[64, 0], Err(Malformed::TooMuch("segments of a frame"))),
            (&[u32::MAX, 0], Err(Malformed::TooMuch("segments of a frame"))),
            (&[0, 1 << 20], Err(Malformed::TooMuch("bytes of a frame"))),
            (&[1, u32::MAX, u32::MAX, 0], Err(Malformed::TooMuch("bytes of a frame"))),
        ];
        for (numbers, expected) in cases {
            assert_eq!(frame_bytes(&frame(numbers), 4096), *expected, "{numbers:?}");
        }
    }
}
