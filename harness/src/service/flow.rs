//! How much went through a connection's socket, and what waits to go: Cap'n Proto queues what it sends without a bound.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::io::{AsyncRead, AsyncWrite};

/// What a message in the queue takes beside its bytes, roughly: a builder with room for more.
const MESSAGE_BYTES: usize = 1_024;

/// Bytes on their way out of a connection, and bytes that came in.
pub(super) struct Flow {
    unsent_bytes_max: usize,
    /// What of each message is still to be sent.
    queue: RefCell<VecDeque<usize>>,
    /// What all of them take.
    unsent: Cell<usize>,
    /// Nothing can be sent any more.
    broken: Cell<bool>,
    received: Cell<usize>,
    /// Who waits for less to be unsent: as many as there are tasks.
    waiting: RefCell<Vec<Waker>>,
}

impl Flow {
    /// Of a connection of which so many bytes may wait to be sent before nothing more is to be said.
    pub(super) fn new(unsent_bytes_max: usize) -> Rc<Self> {
        Rc::new(Self {
            unsent_bytes_max,
            queue: RefCell::default(),
            unsent: Cell::new(0),
            broken: Cell::new(false),
            received: Cell::new(0),
            waiting: RefCell::default(),
        })
    }

    /// A message is in the queue.
    pub(super) fn queued(&self, bytes: usize) {
        self.queue.borrow_mut().push_back(bytes);
        self.unsent.set(self.unsent.get().saturating_add(bytes).saturating_add(MESSAGE_BYTES));
    }

    /// Bytes of the messages that were read since this was last asked.
    pub(super) fn take_received(&self) -> usize {
        self.received.take()
    }

    /// Resolves when no more is unsent than may be, or nothing ever will be sent. Of several who wait, each looks again when it
    /// is its turn.
    pub(super) async fn has_room(&self) {
        std::future::poll_fn(|context| {
            if self.unsent.get() <= self.unsent_bytes_max || self.broken.get() {
                return Poll::Ready(());
            }
            let mut waiting = self.waiting.borrow_mut();
            if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    fn sent(&self, bytes: usize) {
        let (mut queue, mut left, mut done) = (self.queue.borrow_mut(), bytes, bytes);
        while let Some(first) = queue.front_mut() {
            if left < *first {
                *first -= left;
                break;
            }
            left -= *first;
            done = done.saturating_add(MESSAGE_BYTES);
            queue.pop_front();
        }
        drop(queue);
        self.unsent.set(self.unsent.get().saturating_sub(done));
        self.wake();
    }

    /// Whoever waits finds out what reading says.
    fn broken(&self) {
        self.broken.set(true);
        self.wake();
    }

    fn wake(&self) {
        self.waiting.take().into_iter().for_each(Waker::wake);
    }
}

/// One half of a connection's socket, counted.
pub(super) struct Counted<S> {
    half: S,
    flow: Rc<Flow>,
}

impl<S> Counted<S> {
    pub(super) fn new(half: S, flow: &Rc<Flow>) -> Self {
        Self { half, flow: flow.clone() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let read = Pin::new(&mut self.half).poll_read(context, buffer);
        if let Poll::Ready(Ok(bytes)) = read {
            self.flow.received.set(self.flow.received.get().saturating_add(bytes));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.half).poll_write(context, buffer);
        match written {
            Poll::Ready(Ok(bytes)) => self.flow.sent(bytes),
            Poll::Ready(Err(_)) => self.flow.broken(),
            Poll::Pending => {}
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.half).poll_flush(context)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.half).poll_close(context)
    }
}

#[cfg(test)]
mod tests {
    use futures::{AsyncWriteExt, FutureExt};

    use super::*;

    #[test]
    fn whoever_waits_goes_on_when_enough_was_sent() {
        let flow = Flow::new(MESSAGE_BYTES + 6);
        [4, 10, 6].into_iter().for_each(|bytes| flow.queued(bytes));
        let mut out = Counted::new(futures::io::sink(), &flow);
        let mut room = Box::pin(flow.has_room());
        for (bytes, enough) in [(3, false), (10, false), (1, true)] {
            assert!(room.as_mut().now_or_never().is_none(), "before {bytes} more");
            assert_eq!(out.write(&[0; 10][..bytes]).now_or_never().map(Result::ok), Some(Some(bytes)));
            assert_eq!(room.as_mut().now_or_never().is_some(), enough, "after {bytes} more");
        }
        assert_eq!(flow.unsent.get(), MESSAGE_BYTES + 6);
    }

    #[test]
    fn nobody_waits_for_what_will_never_be_sent() {
        let flow = Flow::new(0);
        flow.queued(10);
        let mut room = Box::pin(flow.has_room());
        assert!(room.as_mut().now_or_never().is_none());
        let (there, here) = std::os::unix::net::UnixStream::pair().expect("a pair of sockets");
        drop(there);
        let mut out = Counted::new(futures::io::AllowStdIo::new(here), &flow);
        assert!(out.write(&[0; 10]).now_or_never().is_some_and(|written| written.is_err()));
        assert!(room.as_mut().now_or_never().is_some());
    }
}
