//! Messages reach Cap'n Proto when they are whole: it makes room for all that a message's first bytes say is to come, and a
//! client that says so need not send it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use futures::io::AsyncRead;

use super::connection::BYTES_PER_WORD;

/// Segments of a message that is waited for; Cap'n Proto refuses more.
const SEGMENTS_MAX: usize = 512;

/// How much a message may be before it counts against what all connections may have of messages that are not whole.
const SMALL: usize = 64 << 10;

/// Room made at a time, as long as little has come.
const STEP: usize = 8 << 10;

/// What all connections hold of messages that are not whole.
pub(super) struct Unfinished {
    bytes: AtomicUsize,
    bytes_max: usize,
}

impl Unfinished {
    pub(super) fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes: AtomicUsize::new(0), bytes_max })
    }

    fn take(&self, bytes: usize) -> io::Result<()> {
        if self.bytes.fetch_add(bytes, Relaxed).saturating_add(bytes) <= self.bytes_max {
            return Ok(());
        }
        self.give_back(bytes);
        let max = self.bytes_max;
        Err(io::Error::other(format!("more than {max} bytes of messages that are not whole: try again later")))
    }

    fn give_back(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Relaxed);
    }
}

/// A stream of messages, read one whole message at a time. What is no message, or too large a one, is passed on as it is,
/// for Cap'n Proto to refuse.
pub(super) struct Whole<S> {
    source: S,
    message_bytes_max: usize,
    unfinished: Arc<Unfinished>,
    /// Of that, what is held here.
    held: usize,
    /// What came, in room for more.
    bytes: Vec<u8>,
    filled: usize,
    /// How much of it was passed on. `None`: it is not whole yet.
    passed: Option<usize>,
}

impl<S> Whole<S> {
    pub(super) fn new(source: S, message_bytes_max: usize, unfinished: &Arc<Unfinished>) -> Self {
        let unfinished = unfinished.clone();
        Self { source, message_bytes_max, unfinished, held: 0, bytes: Vec::new(), filled: 0, passed: None }
    }

    /// How long what has begun is, as far as can be seen. `None`: it cannot be waited for.
    fn wanted(&self) -> Option<usize> {
        let came = &self.bytes[..self.filled];
        let number = |at: usize| {
            let bytes = came.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(bytes)).ok()
        };
        let Some(last_segment) = number(0) else { return Some(BYTES_PER_WORD) };
        if last_segment >= SEGMENTS_MAX {
            return None;
        }
        let table = (4 * (2 + last_segment)).next_multiple_of(BYTES_PER_WORD);
        let mut all = table;
        for segment in 0..=last_segment {
            let Some(words) = number(4 * (1 + segment)) else { return Some(table) };
            all = all.saturating_add(words.saturating_mul(BYTES_PER_WORD));
        }
        (all <= self.message_bytes_max.saturating_add(table)).then_some(all)
    }

    /// Makes room for a part of what is wanted: as much again as came already.
    fn make_room(&mut self, wanted: usize) -> io::Result<()> {
        if self.filled < self.bytes.len() {
            return Ok(());
        }
        let room = (self.filled + self.filled.max(STEP)).min(wanted);
        if room > SMALL {
            self.unfinished.take(room - self.held)?;
            self.held = room;
        }
        self.bytes.resize(room, 0);
        Ok(())
    }

    fn give_back(&mut self) {
        self.unfinished.give_back(std::mem::take(&mut self.held));
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Whole<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        loop {
            if let Some(passed) = this.passed {
                let left = &this.bytes[passed..this.filled];
                let now = left.len().min(buffer.len());
                buffer[..now].copy_from_slice(&left[..now]);
                this.passed = Some(passed + now);
                if now == left.len() {
                    (this.bytes, this.filled, this.passed) = (Vec::new(), 0, None);
                    this.give_back();
                }
                return Poll::Ready(Ok(now));
            }
            let Some(wanted) = this.wanted().filter(|wanted| *wanted > this.filled) else {
                this.passed = Some(0);
                continue;
            };
            this.make_room(wanted)?;
            let filled = this.filled;
            let end = this.bytes.len().min(wanted);
            match ready!(Pin::new(&mut this.source).poll_read(context, &mut this.bytes[filled..end]))? {
                0 if filled == 0 => return Poll::Ready(Ok(0)),
                // What it has begun does not come any more.
                0 => this.passed = Some(0),
                came => this.filled += came,
            }
        }
    }
}

impl<S> Drop for Whole<S> {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use futures::{AsyncReadExt, FutureExt};

    use super::*;

    const MAX: usize = 1 << 20;

    /// Gives its bytes in pieces; then it is not ready, or at its end.
    struct Pieces {
        bytes: Vec<u8>,
        at: usize,
        piece: usize,
        ends: bool,
    }

    impl AsyncRead for Pieces {
        fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
            let now = self.piece.min(buffer.len()).min(self.bytes.len() - self.at);
            if now == 0 && !self.ends {
                return Poll::Pending;
            }
            buffer[..now].copy_from_slice(&self.bytes[self.at..self.at + now]);
            self.at += now;
            Poll::Ready(Ok(now))
        }
    }

    /// A message of so many segments of so many words.
    fn message(segments: u32, words: u32) -> Vec<u8> {
        let mut bytes = (segments - 1).to_le_bytes().to_vec();
        (0..segments).for_each(|_| bytes.extend(words.to_le_bytes()));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.resize(bytes.len() + (segments * words * 8) as usize, 7);
        bytes
    }

    fn whole(bytes: Vec<u8>, piece: usize, ends: bool, unfinished: &Arc<Unfinished>) -> Whole<Pieces> {
        Whole::new(Pieces { bytes, at: 0, piece, ends }, MAX, unfinished)
    }

    #[test]
    fn everything_comes_through_as_it_was() {
        let unfinished = Unfinished::new(MAX);
        let messages = [message(1, 0), message(1, 3), message(2, 5), message(5, 1), message(1, 20_000)].concat();
        let odd = [
            (&[] as &[u8], messages.clone()),
            (&messages, vec![1, 2, 3]),
            (&messages, message(1, 9)[..20].to_vec()),
            (&messages, vec![0xff; 50]),
            (&messages, [0_u32.to_le_bytes(), 0x7fff_ffff_u32.to_le_bytes()].concat()),
        ];
        for (before, odd) in odd {
            let all = [before, &odd].concat();
            for piece in [1, 7, 100_000] {
                let mut read = Vec::new();
                let mut whole = whole(all.clone(), piece, true, &unfinished);
                block_on(whole.read_to_end(&mut read)).expect("nothing is refused here");
                assert!(read == all, "in pieces of {piece}: {} of {} bytes", read.len(), all.len());
            }
        }
        assert_eq!(unfinished.bytes.load(Relaxed), 0);
    }

    #[test]
    fn room_is_made_for_what_came() {
        let unfinished = Unfinished::new(MAX);
        let mut begun = message(1, 100_000);
        begun.truncate(30_000);
        let mut whole = whole(begun, 1_000, false, &unfinished);
        assert!(whole.read(&mut [0; 8]).now_or_never().is_none(), "it is not whole");
        assert!(whole.bytes.capacity() <= 80_000, "{} bytes for 30,000", whole.bytes.capacity());
    }

    #[test]
    fn what_is_not_whole_is_bounded_for_all_together() {
        let unfinished = Unfinished::new(MAX);
        let begun = || {
            let mut begun = message(1, 100_000);
            begun.pop();
            whole(begun, 100_000, false, &unfinished)
        };
        let mut first = begun();
        assert!(first.read(&mut [0; 8]).now_or_never().is_none());
        let mut second = begun();
        let refused = second.read(&mut [0; 8]).now_or_never().expect("it is refused").expect_err("an error");
        assert!(refused.to_string().contains("not whole"), "{refused}");
        drop((first, second));
        assert_eq!(unfinished.bytes.load(Relaxed), 0);
        assert!(begun().read(&mut [0; 8]).now_or_never().is_none(), "there is room again");
    }
}
