//! The sending half: from any thread, without blocking.
//!
//! What the kernel does not take at once waits in a bounded queue that the serving thread flushes; a peer that lets it
//! fill has stopped reading, and is given up.

use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use capnp::message::{Builder, HeapAllocator};
use nix::sys::eventfd::{EfdFlags, EventFd};
use parking_lot::Mutex;

use super::room::{Room, SendRoom};
use super::{Lost, SEGMENTS_MAX, WORD_BYTES, lost};

/// The most bytes that may wait for a peer that does not read.
const SEND_QUEUE_BYTES_MAX: usize = 256 << 20;

/// The sending half, and what wakes the serving thread.
pub(in crate::sandbox) struct Sender {
    socket: OwnedFd,
    wake: EventFd,
    queue: Mutex<Queue>,
}

struct Queue {
    /// Frames, or what is left of the first one.
    waiting: VecDeque<Vec<u8>>,
    /// How much of the first one is sent.
    sent: usize,
    /// What waits, in bytes, as the room that it takes.
    room: Room,
    lost: Option<Lost>,
}

impl Sender {
    /// Sends on a socket; what waits for its peer takes room of `room`.
    pub(in crate::sandbox) fn new(socket: OwnedFd, room: &Arc<SendRoom>) -> io::Result<Self> {
        let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        let queue = Queue { waiting: VecDeque::new(), sent: 0, room: Room::of(room), lost: None };
        Ok(Self { socket, wake, queue: Mutex::new(queue) })
    }

    /// Sends a frame, or queues it. Frames of one thread arrive in its order.
    pub(in crate::sandbox) fn send(&self, frame: &Builder<HeapAllocator>) -> Result<(), Lost> {
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
        if queue.room.bytes() + (total - sent) > SEND_QUEUE_BYTES_MAX || !queue.room.take(total - sent) {
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
        queue.waiting.push_back(rest);
        drop(queue);
        self.wake();
        Ok(())
    }

    /// How many bytes wait for the peer.
    pub(in crate::sandbox) fn backlog(&self) -> usize {
        self.queue.lock().room.bytes()
    }

    /// Gives the connection up: nothing more is sent, and the serving thread returns.
    pub(in crate::sandbox) fn close(&self, why: Lost) {
        let mut queue = self.queue.lock();
        queue.lost.get_or_insert(why);
        queue.waiting = VecDeque::new();
        queue.room.give_back_all();
        drop(queue);
        self.wake();
    }

    pub(in crate::sandbox) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// What becomes readable when the serving thread is to look at what it has to do.
    pub(super) fn wake_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// The serving thread is awake.
    pub(super) fn awake(&self) {
        // Only resets the counter: what there is to do is elsewhere.
        let _ = self.wake.read();
    }

    /// Has the serving thread look at what it has to do.
    pub(super) fn wake(&self) {
        // It only fails when the counter is full, and then the other side is awake.
        let _ = self.wake.write(1);
    }

    /// Sends what waits, as far as the kernel takes it; whether some is left.
    pub(super) fn flush(&self) -> Result<bool, Lost> {
        let mut queue = self.queue.lock();
        if let Some(lost) = &queue.lost {
            return Err(lost.clone());
        }
        while let Some(first) = queue.waiting.front() {
            match write(self.socket.as_fd(), &[&first[queue.sent..]]) {
                Ok(bytes) => {
                    let done = queue.sent + bytes == first.len();
                    queue.room.give_back(bytes);
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

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use loaderd_schema::channel_capnp as schema;

    use super::*;

    #[test]
    fn a_peer_that_stops_reading_is_given_up() -> io::Result<()> {
        const FRAME_BYTES: u32 = 8 << 20;
        let (ours, theirs) = UnixStream::pair()?;
        let sender = Sender::new(ours.into(), &SendRoom::of_pool())?;
        let mut frame = Builder::new_default();
        frame.init_root::<schema::frame::Builder<'_>>().init_call().init_op().init_call().init_bytes(FRAME_BYTES);
        let frames_max = SEND_QUEUE_BYTES_MAX / FRAME_BYTES as usize + 1;
        let sent = (0..frames_max).take_while(|_| sender.send(&frame).is_ok()).count();
        assert!((1..frames_max).contains(&sent), "{sent} frames of at most {frames_max} were taken");
        assert!(sender.backlog() <= SEND_QUEUE_BYTES_MAX);
        // From then on nothing is taken, however small, and the serving thread hears of it.
        assert_eq!(sender.send(&Builder::new_default()), Err(Lost::Stalled));
        assert_eq!(sender.flush(), Err(Lost::Stalled));
        drop(theirs);
        Ok(())
    }

    #[test]
    fn peers_that_stop_reading_share_one_bound() -> io::Result<()> {
        const FRAME_BYTES: u32 = 8 << 20;
        const ROOM_BYTES: usize = 60 << 20;
        let room = SendRoom::new(ROOM_BYTES, 0);
        let mut frame = Builder::new_default();
        frame.init_root::<schema::frame::Builder<'_>>().init_call().init_op().init_call().init_bytes(FRAME_BYTES);
        let mut peers = Vec::new();
        for _ in 0..3 {
            let (ours, theirs) = UnixStream::pair()?;
            peers.push((Sender::new(ours.into(), &room)?, theirs));
        }
        let [(first, _), (second, _), (third, _)] = &peers[..] else { unreachable!("three were made") };
        for _ in 0..4 {
            assert_eq!(first.send(&frame), Ok(()));
        }
        let sent = std::iter::repeat_with(|| second.send(&frame)).take_while(Result::is_ok).count();
        assert_eq!(sent, 3, "beside what waits for the first");
        assert_eq!(second.send(&Builder::new_default()), Err(Lost::Stalled));
        assert!(first.backlog() + second.backlog() <= ROOM_BYTES);

        // What waited for one that is given up leaves its room.
        second.close(Lost::Closed);
        for _ in 0..3 {
            assert_eq!(third.send(&frame), Ok(()));
        }
        Ok(())
    }

    #[test]
    fn a_frame_may_wait_for_each_whatever_waits_for_the_others() -> io::Result<()> {
        const ALWAYS_BYTES: usize = 4 << 20;
        let (ours, _theirs) = UnixStream::pair()?;
        let sender = Sender::new(ours.into(), &SendRoom::new(0, ALWAYS_BYTES))?;
        let frame = |bytes: usize| {
            let mut frame = Builder::new_default();
            let bytes = u32::try_from(bytes).unwrap_or(0);
            frame.init_root::<schema::frame::Builder<'_>>().init_call().init_op().init_call().init_bytes(bytes);
            frame
        };
        assert_eq!(sender.send(&frame(ALWAYS_BYTES / 2)), Ok(()));
        assert_eq!(sender.send(&frame(8 * ALWAYS_BYTES)), Err(Lost::Stalled));
        Ok(())
    }
}
