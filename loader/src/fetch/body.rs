//! Bodies: bytes at hand, or a capability to read them from; and each as the other side needs it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use futures::channel::oneshot;
use futures::future::FutureExt;
use http_body::{Body as HttpBody, Frame, SizeHint};
use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Answer, Call, Capability, Message, Op, Reply, RpcError};

use super::received::{self, AtHand, Received};

/// The body of a request or response.
#[derive(Clone, Default)]
pub enum Body {
    #[default]
    Empty,
    Bytes(Bytes),
    /// A body capability, as [`super`] describes it.
    Stream {
        source: Arc<dyn Capability>,
        length: Length,
    },
}

/// How many bytes a body has that is not at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Length {
    #[default]
    Unknown,
    /// Exactly so many; a body of another length has broken off.
    Bytes(u64),
}

impl Length {
    fn of(hint: &SizeHint) -> Self {
        hint.exact().map_or(Self::Unknown, Self::Bytes)
    }
}

/// Why a body broke off.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Whoever wrote it failed.
    #[error("{0}")]
    Writer(Box<RpcError>),
    #[error("the body is not made of bytes")]
    NotBytes,
    #[error("the body is not as long as it was said to be")]
    WrongLength,
}

impl Body {
    /// The body that arrives over a connection. It is read when the other side asks.
    pub fn from_http<B>(body: B, tasks: &tokio::runtime::Handle) -> Self
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        if body.is_end_stream() {
            return Self::Empty;
        }
        let length = Length::of(&body.size_hint());
        Self::Stream { source: Arc::new(Received::new(body, VecDeque::new(), tasks)), length }
    }

    /// As [`from_http`](Self::from_http), except that a short body which is there already is at hand.
    pub async fn from_http_at_hand<B>(body: B, tasks: &tokio::runtime::Handle) -> Self
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        let length = Length::of(&body.size_hint());
        match received::at_hand(body).await {
            AtHand::Whole(bytes) if bytes.is_empty() => Self::Empty,
            AtHand::Whole(bytes) => Self::Bytes(bytes),
            AtHand::Part(body, start) => Self::Stream { source: Arc::new(Received::new(body, start, tasks)), length },
            AtHand::Broken(start, why) => {
                Self::Stream { source: Arc::new(Received::<B>::broken(start, why, tasks)), length }
            }
        }
    }

    /// The same, of a body that is not at hand, when its length is known otherwise.
    #[must_use]
    pub fn with_length(self, bytes: u64) -> Self {
        match self {
            Self::Stream { source, .. } => Self::Stream { source, length: Length::Bytes(bytes) },
            at_hand => at_hand,
        }
    }

    /// How many bytes it has, where that is known.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        match self {
            Self::Empty => Some(0),
            Self::Bytes(bytes) => Some(bytes.len() as u64),
            Self::Stream { length: Length::Bytes(bytes), .. } => Some(*bytes),
            Self::Stream { length: Length::Unknown, .. } => None,
        }
    }

    /// The body as hyper sends it.
    #[must_use]
    pub fn into_http(self) -> ReadBody {
        match self {
            Self::Empty => ReadBody { state: ReadState::AtHand(Bytes::new()), left: Length::Unknown },
            Self::Bytes(bytes) => ReadBody { state: ReadState::AtHand(bytes), left: Length::Unknown },
            Self::Stream { source, length } => ReadBody { state: ReadState::Idle(source), left: length },
        }
    }
}

/// A body that hyper can send. A chunk is asked for when there is room for it.
pub struct ReadBody {
    state: ReadState,
    /// Of a stream: what is still to come.
    left: Length,
}

enum ReadState {
    AtHand(Bytes),
    Idle(Arc<dyn Capability>),
    Reading(Arc<dyn Capability>, oneshot::Receiver<Answer>),
    Broken(BodyError),
    Ended,
}

impl ReadBody {
    /// The body breaks off. Not in the same breath as what came before it: whoever sends it sends that first, where a body
    /// that is not ready makes it, and would drop it for an error.
    fn break_off<T>(&mut self, error: BodyError, context: &Context<'_>) -> Poll<T> {
        self.state = ReadState::Broken(error);
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl HttpBody for ReadBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        loop {
            match &mut self.state {
                ReadState::Ended => return Poll::Ready(None),
                ReadState::Broken(_) => {
                    let ReadState::Broken(error) = std::mem::replace(&mut self.state, ReadState::Ended) else {
                        return Poll::Ready(None);
                    };
                    return Poll::Ready(Some(Err(error)));
                }
                ReadState::AtHand(bytes) => {
                    let bytes = std::mem::take(bytes);
                    self.state = ReadState::Ended;
                    return Poll::Ready(bytes.has_remaining().then(|| Ok(Frame::data(bytes))));
                }
                ReadState::Idle(source) => {
                    let source = Arc::clone(source);
                    let (reply, answer) = Reply::channel();
                    // Nothing is pipelined on a chunk.
                    drop(source.call(method("read"), reply));
                    self.state = ReadState::Reading(source, answer);
                }
                ReadState::Reading(source, answer) => {
                    let Poll::Ready(answer) = answer.poll_unpin(context) else { return Poll::Pending };
                    let source = Arc::clone(source);
                    self.state = ReadState::Ended;
                    let chunk = match answer {
                        Ok(answer) => answer.result.map_err(|error| BodyError::Writer(Box::new(error))),
                        Err(oneshot::Canceled) => Err(BodyError::NotBytes),
                    };
                    match chunk.and_then(|message| Plain::from_message(&message).map_err(|_| BodyError::NotBytes)) {
                        Ok(Plain::Null | Plain::Undefined) => {
                            if matches!(self.left, Length::Bytes(left) if left > 0) {
                                return self.break_off(BodyError::WrongLength, context);
                            }
                            return Poll::Ready(None);
                        }
                        Ok(Plain::Bytes(_, bytes)) => {
                            if let Length::Bytes(left) = self.left {
                                let Some(left) = left.checked_sub(bytes.len() as u64) else {
                                    drop(source.call(method("cancel"), Reply::ignore()));
                                    return self.break_off(BodyError::WrongLength, context);
                                };
                                self.left = Length::Bytes(left);
                            }
                            self.state = ReadState::Idle(source);
                            if !bytes.is_empty() {
                                return Poll::Ready(Some(Ok(Frame::data(bytes))));
                            }
                        }
                        Ok(_) => return self.break_off(BodyError::NotBytes, context),
                        Err(error) => return self.break_off(error, context),
                    }
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            ReadState::Ended => true,
            ReadState::AtHand(bytes) => bytes.is_empty(),
            ReadState::Idle(_) => self.left == Length::Bytes(0),
            ReadState::Reading(..) | ReadState::Broken(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            ReadState::Ended => SizeHint::with_exact(0),
            ReadState::AtHand(bytes) => SizeHint::with_exact(bytes.len() as u64),
            ReadState::Idle(_) | ReadState::Reading(..) | ReadState::Broken(_) => match self.left {
                Length::Bytes(left) => SizeHint::with_exact(left),
                Length::Unknown => SizeHint::default(),
            },
        }
    }
}

impl Drop for ReadBody {
    fn drop(&mut self) {
        match &self.state {
            // All of it was taken: whoever wrote it may end it in peace.
            ReadState::Idle(source) if self.left == Length::Bytes(0) => {
                let held = Arc::clone(source);
                drop(source.call(method("read"), Reply::new(move |_| drop(held))));
            }
            ReadState::Idle(source) | ReadState::Reading(source, _) => {
                drop(source.call(method("cancel"), Reply::ignore()));
            }
            ReadState::AtHand(_) | ReadState::Broken(_) | ReadState::Ended => {}
        }
    }
}

fn method(name: &str) -> Call {
    // An empty array is far below the bound on messages.
    let arguments = Plain::arguments(Vec::new()).unwrap_or_else(|_| Message::default());
    Call::new(vec![name.to_owned()], Op::Call(arguments))
}
