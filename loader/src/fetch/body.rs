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
    Stream(Arc<dyn Capability>),
}

/// Why a body broke off.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Whoever wrote it failed.
    #[error("{0}")]
    Writer(Box<RpcError>),
    #[error("the body is not made of bytes")]
    NotBytes,
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
        Self::Stream(Arc::new(Received::new(body, VecDeque::new(), tasks)))
    }

    /// As [`from_http`](Self::from_http), except that a short body which is there already is at hand.
    pub async fn from_http_at_hand<B>(body: B, tasks: &tokio::runtime::Handle) -> Self
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        match received::at_hand(body).await {
            AtHand::Whole(bytes) if bytes.is_empty() => Self::Empty,
            AtHand::Whole(bytes) => Self::Bytes(bytes),
            AtHand::Part(body, start) => Self::Stream(Arc::new(Received::new(body, start, tasks))),
            AtHand::Broken(start, why) => Self::Stream(Arc::new(Received::<B>::broken(start, why, tasks))),
        }
    }

    /// The body as hyper sends it.
    #[must_use]
    pub fn into_http(self) -> ReadBody {
        match self {
            Self::Empty => ReadBody { state: ReadState::AtHand(Bytes::new()) },
            Self::Bytes(bytes) => ReadBody { state: ReadState::AtHand(bytes) },
            Self::Stream(source) => ReadBody { state: ReadState::Idle(source) },
        }
    }
}

/// A body that hyper can send. A chunk is asked for when there is room for it.
pub struct ReadBody {
    state: ReadState,
}

enum ReadState {
    AtHand(Bytes),
    Idle(Arc<dyn Capability>),
    Reading(Arc<dyn Capability>, oneshot::Receiver<Answer>),
    Ended,
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
                        Ok(Plain::Null | Plain::Undefined) => return Poll::Ready(None),
                        Ok(Plain::Bytes(_, bytes)) => {
                            self.state = ReadState::Idle(source);
                            if !bytes.is_empty() {
                                return Poll::Ready(Some(Ok(Frame::data(bytes))));
                            }
                        }
                        Ok(_) => return Poll::Ready(Some(Err(BodyError::NotBytes))),
                        Err(error) => return Poll::Ready(Some(Err(error))),
                    }
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            ReadState::Ended => true,
            ReadState::AtHand(bytes) => bytes.is_empty(),
            ReadState::Idle(_) | ReadState::Reading(..) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            ReadState::Ended => SizeHint::with_exact(0),
            ReadState::AtHand(bytes) => SizeHint::with_exact(bytes.len() as u64),
            ReadState::Idle(_) | ReadState::Reading(..) => SizeHint::default(),
        }
    }
}

impl Drop for ReadBody {
    fn drop(&mut self) {
        if let ReadState::Idle(source) | ReadState::Reading(source, _) = &self.state {
            drop(source.call(method("cancel"), Reply::ignore()));
        }
    }
}

fn method(name: &str) -> Call {
    // An empty array is far below the bound on messages.
    let arguments = Plain::arguments(Vec::new()).unwrap_or_else(|_| Message::default());
    Call { path: vec![name.to_owned()], op: Op::Call(arguments) }
}
