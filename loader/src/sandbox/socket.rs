//! One Unix socket: frames out from any thread, frames in on one.
//!
//! Sending never blocks. What the kernel does not take at once waits in a bounded queue that the reading thread
//! flushes; a peer that lets it fill has stopped reading, and is given up. Receiving never allocates more than a
//! frame's bound, whatever its header claims.

use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use capnp::Word;
use capnp::message::{Builder, HeapAllocator, ReaderOptions};
use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use parking_lot::Mutex;

use super::wire::Malformed;

/// The most bytes that may wait for a peer that does not read.
pub(super) const SEND_QUEUE_BYTES_MAX: usize = 256 << 20;

/// The most segments a frame may come in; ours fit one or a few.
const SEGMENTS_MAX: usize = 64;

/// How much is read of a peer that takes nothing more, in bytes: more than a socket holds.
const LAST_WORDS_BYTES_MAX: usize = 1 << 20;

/// How deep structures in a frame may nest; the deepest of the schema is far below.
const NESTING_MAX: i32 = 32;

/// What is read at once, in words.
const READ_WORDS: usize = 8 << 10;

const WORD_BYTES: usize = 8;

/// Why a socket is of no use any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Lost {
    #[error("it closed the connection")]
    Closed,
    #[error("it stopped reading")]
    Stalled,
    #[error("it sent {0}")]
    Malformed(#[from] Malformed),
    #[error("the connection failed: {0}")]
    Io(io::ErrorKind),
}

/// The sending half, and what wakes the receiving one.
pub(super) struct Sender {
    socket: OwnedFd,
    wake: EventFd,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    /// Frames, or what is left of the first one.
    waiting: VecDeque<Vec<u8>>,
    /// How much of the first one is sent.
    sent: usize,
    bytes: usize,
    lost: Option<Lost>,
}

impl Sender {
    pub(super) fn new(socket: OwnedFd) -> io::Result<Self> {
        let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        Ok(Self { socket, wake, queue: Mutex::new(Queue::default()) })
    }

    /// Sends a frame, or queues it. Frames of one thread arrive in its order.
    pub(super) fn send(&self, frame: &Builder<HeapAllocator>) -> Result<(), Lost> {
        let segments = frame.get_segments_for_output();
        let table = segment_table(&segments);
        let mut parts: Vec<&[u8]> = Vec::with_capacity(segments.len() + 1);
        parts.push(&table);
        parts.extend(segments.iter().copied());
        let total: usize = parts.iter().map(|part| part.len()).sum();

        let mut queue = self.queue.lock();
        if let Some(lost) = &queue.lost {
            return Err(lost.clone());
        }
        let mut sent = 0;
        if queue.waiting.is_empty() {
            match write(self.socket.as_fd(), &parts) {
                Ok(bytes) => sent = bytes,
                Err(nix::Error::EAGAIN | nix::Error::EINTR) => {}
                Err(error) => {
                    let lost = lost(error);
                    queue.lost = Some(lost.clone());
                    drop(queue);
                    self.wake();
                    return Err(lost);
                }
            }
            if sent == total {
                return Ok(());
            }
        }
        if queue.bytes + (total - sent) > SEND_QUEUE_BYTES_MAX {
            // Part of a frame may be out already, so there is no way back.
            queue.lost = Some(Lost::Stalled);
            drop(queue);
            self.wake();
            return Err(Lost::Stalled);
        }
        let mut rest = Vec::with_capacity(total - sent);
        let mut skip = sent;
        for part in parts {
            let from = skip.min(part.len());
            rest.extend_from_slice(&part[from..]);
            skip -= from;
        }
        queue.bytes += rest.len();
        queue.waiting.push_back(rest);
        drop(queue);
        self.wake();
        Ok(())
    }

    /// How many bytes wait for the peer.
    pub(super) fn backlog(&self) -> usize {
        self.queue.lock().bytes
    }

    /// Gives the connection up: nothing more is sent, and the receiving thread returns.
    pub(super) fn close(&self, why: Lost) {
        let mut queue = self.queue.lock();
        queue.lost.get_or_insert(why);
        queue.waiting = VecDeque::new();
        queue.bytes = 0;
        drop(queue);
        self.wake();
    }

    fn wake(&self) {
        // It only fails when the counter is full, and then the other side is awake.
        let _ = self.wake.write(1);
    }

    /// Sends what waits, as far as the kernel takes it; whether some is left.
    fn flush(&self) -> Result<bool, Lost> {
        let mut queue = self.queue.lock();
        if let Some(lost) = &queue.lost {
            return Err(lost.clone());
        }
        while let Some(first) = queue.waiting.front() {
            match write(self.socket.as_fd(), &[&first[queue.sent..]]) {
                Ok(bytes) => {
                    let done = queue.sent + bytes == first.len();
                    queue.bytes -= bytes;
                    queue.sent += bytes;
                    if done {
                        queue.waiting.pop_front();
                        queue.sent = 0;
                    }
                }
                Err(nix::Error::EINTR) => {}
                Err(nix::Error::EAGAIN) => return Ok(true),
                Err(error) => {
                    let lost = lost(error);
                    queue.lost = Some(lost.clone());
                    return Err(lost);
                }
            }
        }
        Ok(false)
    }
}

/// Reads frames until the connection is lost, and flushes what waits to be sent. `on_frame` gets the words of each.
pub(super) fn receive(
    sender: &Sender,
    frame_bytes_max: usize,
    mut on_frame: impl FnMut(&[u8]) -> Result<(), Malformed>,
) -> Lost {
    let mut inbox = Inbox::new(frame_bytes_max);
    let mut flushing = false;
    loop {
        let events = if flushing { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
        let mut fds = [PollFd::new(sender.socket.as_fd(), events), PollFd::new(sender.wake.as_fd(), PollFlags::POLLIN)];
        match nix::poll::poll(&mut fds, PollTimeout::NONE) {
            Ok(_) => {}
            Err(nix::Error::EINTR) => continue,
            Err(error) => return lost(error),
        }
        let socket = fds[0].revents().unwrap_or(PollFlags::empty());
        let woken = fds[1].any().unwrap_or(false);
        if woken {
            // Only resets the counter: what woke us is in the queue.
            let _ = sender.wake.read();
        }
        if woken || socket.contains(PollFlags::POLLOUT) {
            match sender.flush() {
                Ok(left) => flushing = left,
                Err(why) => {
                    // A peer that went may have said why before it did.
                    let mut read = 0;
                    while read < LAST_WORDS_BYTES_MAX
                        && let Ok(bytes @ 1..) = inbox.fill(sender.socket.as_fd())
                        && inbox.take(&mut on_frame).is_ok()
                    {
                        read += bytes;
                    }
                    return why;
                }
            }
        }
        if socket.intersects(PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR) {
            if let Err(why) = inbox.fill(sender.socket.as_fd()) {
                return why;
            }
            if let Err(malformed) = inbox.take(&mut on_frame) {
                return malformed.into();
            }
        }
    }
}

/// The options that every frame is read with.
pub(super) fn reader_options(frame_bytes_max: usize) -> ReaderOptions {
    let mut options = ReaderOptions::new();
    // A frame's content is read about once; a structure that points at the same bytes many times is an attack.
    options.traversal_limit_in_words(Some(2 * frame_bytes_max / WORD_BYTES)).nesting_limit(NESTING_MAX);
    options
}

/// Bytes received and not yet taken as frames. Frames start at word boundaries, so they are read in place.
struct Inbox {
    words: Vec<Word>,
    /// The bytes between these are there.
    start: usize,
    end: usize,
    frame_bytes_max: usize,
}

impl Inbox {
    fn new(frame_bytes_max: usize) -> Self {
        Self { words: Word::allocate_zeroed_vec(READ_WORDS), start: 0, end: 0, frame_bytes_max }
    }

    /// Reads what is there; how many bytes that was.
    fn fill(&mut self, socket: BorrowedFd<'_>) -> Result<usize, Lost> {
        let room = &mut Word::words_to_bytes_mut(&mut self.words)[self.end..];
        match nix::sys::socket::recv(socket.as_raw_fd(), room, nix::sys::socket::MsgFlags::MSG_DONTWAIT) {
            Ok(0) => Err(Lost::Closed),
            Ok(bytes) => {
                self.end += bytes;
                Ok(bytes)
            }
            Err(nix::Error::EAGAIN | nix::Error::EINTR) => Ok(0),
            Err(error) => Err(lost(error)),
        }
    }

    /// Hands over all whole frames.
    fn take(&mut self, on_frame: &mut impl FnMut(&[u8]) -> Result<(), Malformed>) -> Result<(), Malformed> {
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

/// Cap'n Proto's header of a stream frame: how many segments, and how many words each.
fn segment_table(segments: &[&[u8]]) -> Vec<u8> {
    let mut table = Vec::with_capacity((4 + 4 * segments.len()).next_multiple_of(WORD_BYTES));
    let mut put = |number: usize| table.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    put(segments.len().saturating_sub(1));
    for segment in segments {
        put(segment.len() / WORD_BYTES);
    }
    table.resize(table.len().next_multiple_of(WORD_BYTES), 0);
    table
}

fn write(socket: BorrowedFd<'_>, parts: &[&[u8]]) -> nix::Result<usize> {
    let mut iovecs: [MaybeUninit<libc::iovec>; SEGMENTS_MAX + 1] = [MaybeUninit::uninit(); SEGMENTS_MAX + 1];
    let count = parts.len().min(iovecs.len());
    for (iovec, part) in iovecs.iter_mut().zip(parts) {
        iovec.write(libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    }
    // SAFETY: `msghdr` is plain data for which all zeroes means "nothing of it".
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = iovecs.as_mut_ptr().cast();
    header.msg_iovlen = count;
    // SAFETY: the first `count` vectors are initialised above and point at `parts`, which the kernel only reads.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) };
    nix::Error::result(sent).map(|bytes| usize::try_from(bytes).unwrap_or(0))
}

fn lost(error: nix::Error) -> Lost {
    match error {
        nix::Error::EPIPE | nix::Error::ECONNRESET => Lost::Closed,
        error => Lost::Io(io::Error::from(error).kind()),
    }
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
