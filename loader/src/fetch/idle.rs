//! A body whose writer may not be silent for long.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

/// Fails when a reader has waited longer than allowed for the next bytes. Time in which nobody reads does not count.
pub(crate) struct IdleLimited<B> {
    body: B,
    idle_max: Duration,
    /// Set while somebody waits.
    waiting: bool,
    until: Pin<Box<Sleep>>,
}

/// Why such a body failed.
#[derive(Debug)]
pub(crate) enum IdleError<E> {
    Body(E),
    Silent(Duration),
}

impl<E: fmt::Display> fmt::Display for IdleError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(error) => error.fmt(f),
            Self::Silent(idle_max) => write!(f, "the client sent nothing for {} s", idle_max.as_secs()),
        }
    }
}

impl<B> IdleLimited<B> {
    pub(crate) fn new(body: B, idle_max: Duration) -> Self {
        Self { body, idle_max, waiting: false, until: Box::pin(tokio::time::sleep(idle_max)) }
    }
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for IdleLimited<B> {
    type Data = Bytes;
    type Error = IdleError<B::Error>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            self.waiting = false;
            return Poll::Ready(frame.map(|frame| frame.map_err(IdleError::Body)));
        }
        if !self.waiting {
            self.waiting = true;
            let until = Instant::now() + self.idle_max;
            self.until.as_mut().reset(until);
        }
        ready!(self.until.as_mut().poll(context));
        Poll::Ready(Some(Err(IdleError::Silent(self.idle_max))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
