//! What clients send and nobody reads. A connection that is closed over unread bytes is reset, and a reset can overtake the
//! response on its way to the client. So a body that is let go is read on for a while, which keeps the connection for the next
//! request, and a connection that ends in the middle of a request says that it will write no more and then listens for a moment.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Bytes of a body that are read for nobody; with more to come, the connection ends after the response.
pub const UNREAD_BYTES_MAX: u64 = 256 << 10;

/// How long such bytes are waited for.
const UNREAD_TIME_MAX: Duration = Duration::from_secs(1);

/// How long a connection that ends in the middle of a request listens, so that its client can read the response.
const LINGER_MAX: Duration = Duration::from_secs(5);

/// Bytes that are thrown away at a time.
const THROWN_AWAY_BYTES: usize = 16 << 10;

/// Whether a connection is in the middle of a request: bytes came since the last one had been read to its end.
#[derive(Clone, Default)]
pub(super) struct Midway(Arc<Flags>);

#[derive(Default)]
struct Flags {
    midway: AtomicBool,
    /// What comes are no requests any more.
    upgraded: AtomicBool,
}

impl Midway {
    fn set(&self, midway: bool) {
        self.0.midway.store(midway, Ordering::Relaxed);
    }

    fn get(&self) -> bool {
        self.0.midway.load(Ordering::Relaxed) && !self.0.upgraded.load(Ordering::Relaxed)
    }

    /// The connection has become one of another protocol, which says goodbye in its own way.
    pub(super) fn upgrade(&self) {
        self.0.upgraded.store(true, Ordering::Relaxed);
    }
}

/// A request's body that is read on when it is dropped before its end.
pub(super) struct ReadOn<B: HttpBody<Data = Bytes> + Send + Unpin + 'static> {
    /// `None` once it has ended.
    body: Option<B>,
    /// The client waits to be asked for it, and nobody has: nothing is on its way.
    held_back: bool,
    midway: Midway,
    tasks: tokio::runtime::Handle,
}

impl<B: HttpBody<Data = Bytes> + Send + Unpin + 'static> ReadOn<B> {
    /// `held_back`: the client asked for leave to send it. Must be called within a runtime.
    pub(super) fn new(body: B, held_back: bool, midway: Midway) -> Self {
        let mut this = Self { body: Some(body), held_back, midway, tasks: tokio::runtime::Handle::current() };
        this.note_end();
        this
    }

    fn note_end(&mut self) {
        if self.body.as_ref().is_some_and(HttpBody::is_end_stream) {
            self.body = None;
            self.midway.set(false);
        }
    }
}

impl<B: HttpBody<Data = Bytes> + Send + Unpin + 'static> HttpBody for ReadOn<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        // Whoever asks for it gets it sent.
        self.held_back = false;
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = ready!(Pin::new(body).poll_frame(context));
        match &polled {
            Some(Ok(_)) => self.note_end(),
            Some(Err(_)) => self.body = None,
            None => {
                self.body = None;
                self.midway.set(false);
            }
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl<B: HttpBody<Data = Bytes> + Send + Unpin + 'static> Drop for ReadOn<B> {
    fn drop(&mut self) {
        let Some(body) = self.body.take() else { return };
        let is_short = body.size_hint().exact().is_none_or(|bytes| bytes <= UNREAD_BYTES_MAX);
        if is_short && !self.held_back {
            let midway = self.midway.clone();
            self.tasks.spawn(async move {
                // Too slow is as good as too long: the connection ends.
                let _ended = tokio::time::timeout(UNREAD_TIME_MAX, throw_away(body, midway)).await;
            });
        }
    }
}

async fn throw_away<B: HttpBody<Data = Bytes> + Unpin>(mut body: B, midway: Midway) {
    let mut bytes = 0;
    while bytes <= UNREAD_BYTES_MAX {
        match std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            Some(Ok(frame)) => bytes += frame.data_ref().map_or(0, |data| data.len() as u64),
            Some(Err(_)) => return,
            None => return midway.set(false),
        }
    }
}

/// A connection that listens for a moment after it was shut down in the middle of a request.
pub(super) struct Lingering<S> {
    stream: S,
    midway: Midway,
    closing: Closing,
}

enum Closing {
    /// It is not shut down yet.
    Not,
    Listening(Pin<Box<Sleep>>),
    Done,
}

impl<S> Lingering<S> {
    pub(super) fn new(stream: S) -> (Self, Midway) {
        let midway = Midway::default();
        (Self { stream, midway: midway.clone(), closing: Closing::Not }, midway)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.midway.set(true);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            match &mut this.closing {
                Closing::Not => {
                    ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
                    this.closing = match this.midway.get() {
                        true => Closing::Listening(Box::pin(tokio::time::sleep(LINGER_MAX))),
                        false => Closing::Done,
                    };
                }
                Closing::Listening(until) => {
                    // Asked first: a client that never stops sending must not keep it from being asked.
                    if until.as_mut().poll(context).is_ready() {
                        this.closing = Closing::Done;
                        continue;
                    }
                    let mut bytes = [0; THROWN_AWAY_BYTES];
                    let mut buffer = ReadBuf::new(&mut bytes);
                    let read = ready!(Pin::new(&mut this.stream).poll_read(context, &mut buffer));
                    if read.is_err() || buffer.filled().is_empty() {
                        this.closing = Closing::Done;
                    }
                }
                Closing::Done => return Poll::Ready(Ok(())),
            }
        }
    }
}
