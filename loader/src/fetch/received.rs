//! Bodies that arrive over a connection, as capabilities: read ahead by a bounded number of bytes once somebody reads.

use std::any::Any;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use futures::future::{AbortHandle, Abortable};
use http_body::Body as HttpBody;
use loaderd_runtime::rpc::plain::{self, Plain};
use loaderd_runtime::rpc::{Answer, Call, Capability, Message, Op, Reply, RpcError};
use parking_lot::Mutex;

use super::buffers;

/// The most bytes that one read of a body answers with.
pub const CHUNK_BYTES_MAX: usize = 256 << 10;

/// Bytes that are read before they are asked for; one frame of the connection may go over it.
const AHEAD_BYTES_MAX: usize = 256 << 10;

/// The most bytes that a read which asks for many waits for, and is answered with.
const GATHERED_BYTES_MAX: usize = 1 << 20;

/// The longest body that is waited for, for a moment, before its request is delivered.
const AT_HAND_BYTES_MAX: u64 = 64 << 10;

/// How often the connection gets a turn to hand over such a body. What came with the head is there after the first.
const AT_HAND_TURNS: usize = 2;

/// What [`at_hand`] found.
pub(super) enum AtHand<B> {
    Whole(Bytes),
    /// The body, and what it has already given.
    Part(B, VecDeque<Bytes>),
    /// What came before the connection broke.
    Broken(VecDeque<Bytes>, RpcError),
}

/// Takes a short body whole where it is there already.
pub(super) async fn at_hand<B>(mut body: B) -> AtHand<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let mut start = VecDeque::new();
    if !body.is_end_stream() && body.size_hint().upper().is_none_or(|bytes| bytes > AT_HAND_BYTES_MAX) {
        return AtHand::Part(body, start);
    }
    let mut turns = 0;
    while !body.is_end_stream() {
        let polled = std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut body).poll_frame(context))).await;
        match polled {
            Poll::Ready(None) => break,
            Poll::Ready(Some(Ok(frame))) => start.extend(frame.into_data().ok().filter(|bytes| !bytes.is_empty())),
            Poll::Ready(Some(Err(error))) => return AtHand::Broken(start, lost(&error)),
            Poll::Pending if turns < AT_HAND_TURNS => {
                turns += 1;
                tokio::task::yield_now().await;
            }
            Poll::Pending => return AtHand::Part(body, start),
        }
    }
    AtHand::Whole(join(start.make_contiguous()))
}

/// The body capability of a connection's body. Dropping it drops the body, which tells the peer.
pub(super) struct Received<B> {
    shared: Arc<Mutex<Shared<B>>>,
    tasks: tokio::runtime::Handle,
}

struct Shared<B> {
    chunks: VecDeque<Bytes>,
    /// Of all chunks.
    bytes: usize,
    source: Source<B>,
    /// Who reads, and found too little.
    reader: Option<Reader>,
}

struct Reader {
    reply: Reply,
    /// How many bytes it waits for, or the end: at least one, at most [`GATHERED_BYTES_MAX`].
    wanted: usize,
}

enum Source<B> {
    /// Nobody has read yet, so nothing is taken from the connection.
    Untouched(B),
    /// A task reads ahead.
    Reading(AbortHandle),
    /// As many bytes as may be are waiting; the next read goes on.
    Full(B),
    /// Nothing more will come; why, where it broke off.
    Over(Option<RpcError>),
}

impl<B> Received<B> {
    pub(super) fn new(body: B, start: VecDeque<Bytes>, tasks: &tokio::runtime::Handle) -> Self {
        Self::with(Source::Untouched(body), start, tasks)
    }

    /// A body of which this is all that there will be.
    pub(super) fn broken(start: VecDeque<Bytes>, why: RpcError, tasks: &tokio::runtime::Handle) -> Self {
        Self::with(Source::Over(Some(why)), start, tasks)
    }

    fn with(source: Source<B>, start: VecDeque<Bytes>, tasks: &tokio::runtime::Handle) -> Self {
        let bytes = start.iter().map(Bytes::len).sum();
        let shared = Shared { chunks: start, bytes, source, reader: None };
        Self { shared: Arc::new(Mutex::new(shared)), tasks: tasks.clone() }
    }
}

impl<B> Shared<B> {
    /// Drops the body and what it gave.
    fn end(&mut self) {
        if let Source::Reading(task) = std::mem::replace(&mut self.source, Source::Over(None)) {
            task.abort();
        }
        self.chunks.clear();
        self.bytes = 0;
    }

    /// What a read that wants this many bytes is answered with, or nothing while it has to wait.
    fn answer(&mut self, wanted: usize) -> Option<Answer> {
        let over = matches!(self.source, Source::Over(_));
        if self.bytes < wanted && !over {
            return None;
        }
        if let Source::Over(failure) = &mut self.source
            && self.bytes == 0
        {
            return Some(failure.take().map_or(Ok(Plain::Null), Err).and_then(to_message).into());
        }
        let length = self.bytes.min(wanted.max(CHUNK_BYTES_MAX));
        self.bytes -= length;
        Some(to_answer(&take(&mut self.chunks, length)))
    }

    /// Whether as much is waiting as may.
    fn is_full(&self) -> bool {
        self.bytes >= self.reader.as_ref().map_or(AHEAD_BYTES_MAX, |reader| reader.wanted.max(AHEAD_BYTES_MAX))
    }
}

/// Takes this many bytes from the front; there must be that many.
fn take(chunks: &mut VecDeque<Bytes>, length: usize) -> Vec<Bytes> {
    let mut taken = Vec::new();
    let mut missing = length;
    while missing > 0 {
        let Some(mut chunk) = chunks.pop_front() else { break };
        if chunk.len() > missing {
            chunks.push_front(chunk.split_off(missing));
        }
        missing -= chunk.len();
        taken.push(chunk);
    }
    taken
}

fn join(parts: &[Bytes]) -> Bytes {
    match parts {
        [] => Bytes::new(),
        [whole] => whole.clone(),
        _ => parts.concat().into(),
    }
}

/// The answer to a read, in which each byte is copied once.
fn to_answer(parts: &[Bytes]) -> Answer {
    let mut message = buffers::take(parts.iter().map(Bytes::len).sum());
    let written = plain::append_bytes(&mut message, parts);
    let written = written.map(|()| Message { bytes: buffers::filled(message), caps: Vec::new() });
    written.map_err(|error| RpcError::new("RangeError", error.to_string())).into()
}

/// How many bytes a read waits for: its argument, where it has one.
fn wanted(op: &Op) -> usize {
    let asked = match op {
        Op::Call(arguments) => match Plain::from_message(arguments) {
            Ok(Plain::Array(arguments)) => arguments.first().and_then(Plain::as_number),
            _ => None,
        },
        Op::Get | Op::Event(_) => None,
    };
    // A fraction is cut off, and what is no number of bytes is the least.
    asked.map_or(1, |bytes| (bytes as usize).clamp(1, GATHERED_BYTES_MAX))
}

fn lost(error: &impl std::fmt::Display) -> RpcError {
    RpcError { disconnected: true, ..RpcError::new("Error", format!("Network connection lost: {error}")) }
}

fn to_message(plain: Plain) -> Result<loaderd_runtime::rpc::Message, RpcError> {
    plain.to_message().map_err(|error| RpcError::new("RangeError", error.to_string()))
}

impl<B> Received<B>
where
    B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
    B::Error: std::fmt::Display,
{
    fn read(&self, wanted: usize, reply: Reply) {
        let mut shared = self.shared.lock();
        if shared.reader.is_some() {
            drop(shared);
            return reply.send(Err(RpcError::new("TypeError", "A body is read by one reader, one read at a time.")));
        }
        match shared.answer(wanted) {
            None => {
                shared.reader = Some(Reader { reply, wanted });
                self.read_on(&mut shared);
            }
            Some(answer) => {
                self.read_on(&mut shared);
                // Whoever is answered may read again at once.
                drop(shared);
                reply.send(answer);
            }
        }
    }

    /// Has a task read ahead where there is room and something to read.
    fn read_on(&self, shared: &mut Shared<B>) {
        if shared.is_full() {
            return;
        }
        let body = match std::mem::replace(&mut shared.source, Source::Over(None)) {
            Source::Untouched(body) | Source::Full(body) => body,
            other => {
                shared.source = other;
                return;
            }
        };
        let (task, registration) = AbortHandle::new_pair();
        shared.source = Source::Reading(task);
        self.tasks.spawn(Abortable::new(read_ahead(body, Arc::clone(&self.shared)), registration));
    }
}

async fn read_ahead<B>(mut body: B, shared: Arc<Mutex<Shared<B>>>)
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        let mut state = shared.lock();
        if matches!(state.source, Source::Over(_)) {
            return;
        }
        match frame {
            None => state.source = Source::Over(None),
            Some(Ok(frame)) => {
                if let Ok(bytes) = frame.into_data()
                    && !bytes.is_empty()
                {
                    state.bytes += bytes.len();
                    state.chunks.push_back(bytes);
                }
            }
            Some(Err(error)) => state.source = Source::Over(Some(lost(&error))),
        }
        let wanted = state.reader.as_ref().map(|reader| reader.wanted);
        let answer = wanted.and_then(|wanted| state.answer(wanted));
        let answered = answer.and_then(|answer| Some((state.reader.take()?, answer)));
        let goes_on = if matches!(state.source, Source::Over(_)) {
            None
        } else if state.is_full() {
            state.source = Source::Full(body);
            None
        } else {
            Some(body)
        };
        drop(state);
        if let Some((reader, answer)) = answered {
            reader.reply.send(answer);
        }
        let Some(rest) = goes_on else { return };
        body = rest;
    }
}

impl<B> Capability for Received<B>
where
    B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
    B::Error: std::fmt::Display,
{
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let method = match &call.op {
            Op::Call(_) => call.path.first().map(String::as_str),
            Op::Get | Op::Event(_) => None,
        };
        match method {
            Some("read") => self.read(wanted(&call.op), reply),
            Some("cancel") => {
                let waiting = {
                    let mut shared = self.shared.lock();
                    shared.end();
                    shared.reader.take()
                };
                if let Some(reader) = waiting {
                    reader.reply.send(to_message(Plain::Null));
                }
                reply.send(to_message(Plain::Undefined));
            }
            _ => reply.send(Err(RpcError::new("TypeError", "A body has the methods read() and cancel()."))),
        }
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<B> Drop for Received<B> {
    fn drop(&mut self) {
        self.shared.lock().end();
    }
}
