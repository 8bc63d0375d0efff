//! How much went through a connection's socket, and what waits to go: Cap'n Proto queues what it sends without a bound.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::io::{AsyncRead, AsyncWrite};

/// Bytes on their way out of a connection, and bytes that came in.
#[derive(Default)]
pub(super) struct Flow {
    unsent: Cell<usize>,
    received: Cell<usize>,
    /// Who waits for less to be unsent: as many as there are tasks.
    waiting: RefCell<Vec<Waker>>,
}

impl Flow {
    /// A message is in the queue.
    pub(super) fn queued(&self, bytes: usize) {
        self.unsent.set(self.unsent.get().saturating_add(bytes));
    }

    /// Bytes of the messages that were read since this was last asked.
    pub(super) fn take_received(&self) -> usize {
        self.received.take()
    }

    /// Resolves when at most `max` bytes are unsent. Of several who wait, each looks again when it is its turn.
    pub(super) async fn at_most_unsent(&self, max: usize) {
        std::future::poll_fn(|context| {
            if self.unsent.get() <= max {
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
        self.unsent.set(self.unsent.get().saturating_sub(bytes));
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
        if let Poll::Ready(Ok(bytes)) = written {
            self.flow.sent(bytes);
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
        let flow = Rc::new(Flow::default());
        flow.queued(10);
        let mut room = Box::pin(flow.at_most_unsent(4));
        assert!(room.as_mut().now_or_never().is_none());
        let mut out = Counted::new(futures::io::sink(), &flow);
        assert_eq!(out.write(&[0; 5]).now_or_never().map(Result::ok), Some(Some(5)));
        assert!(room.as_mut().now_or_never().is_none(), "5 are left");
        assert_eq!(out.write(&[0; 1]).now_or_never().map(Result::ok), Some(Some(1)));
        assert!(room.as_mut().now_or_never().is_some());
    }
}
