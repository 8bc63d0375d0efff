//! A connection to an origin server as an end that a Worker can use.

use std::any::Any;
use std::sync::Arc;

use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Call, Capability, Message, Op, Reply, RpcError};
use tokio::io::{AsyncRead, AsyncWrite, ReadHalf, WriteHalf};
use tokio::sync::{Mutex, watch};

use super::bridge::protocol_error;
use super::codec::{Incoming, ReadError, Reader, Role, Writer};
use super::frame::Frame;
use super::{Deflate, LARGE_MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX};

/// The client's end of a connection. Dropping it closes the connection.
pub(crate) struct OriginSocket<S> {
    halves: Arc<Halves<S>>,
    tasks: tokio::runtime::Handle,
    /// Closed when this is dropped, which ends what is being read or written.
    dropped: watch::Sender<()>,
}

struct Halves<S> {
    reader: Mutex<Reader<ReadHalf<S>>>,
    writer: Mutex<Writer<WriteHalf<S>>>,
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> OriginSocket<S> {
    pub(crate) fn new(io: S, deflate: Option<Deflate>, tasks: &tokio::runtime::Handle) -> Self {
        let (read_half, write_half) = tokio::io::split(io);
        Self {
            halves: Arc::new(Halves {
                reader: Mutex::new(Reader::new(read_half, Role::Client, deflate)),
                writer: Mutex::new(Writer::new(write_half, Role::Client, deflate)),
            }),
            tasks: tasks.clone(),
            dropped: watch::Sender::new(()),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Halves<S> {
    async fn receive(&self, bytes_max: u64) -> Frame {
        let mut reader = self.reader.lock().await;
        loop {
            match reader.next(bytes_max).await {
                Ok(Incoming::Frame(frame)) => return frame,
                Ok(Incoming::Ping(payload)) => {
                    if self.writer.lock().await.pong(&payload).await.is_err() {
                        return Frame::Lost;
                    }
                }
                Err(ReadError::Lost) => return Frame::Lost,
                Err(ReadError::Protocol { code, what }) => {
                    // It may be gone already.
                    let _ = self.writer.lock().await.close(code, &what).await;
                    return Frame::Error(protocol_error(code, &what));
                }
            }
        }
    }

    async fn send(&self, frame: Frame) -> Result<Message, RpcError> {
        let written = self.writer.lock().await.frame(&frame).await;
        written.map_err(|error| RpcError {
            disconnected: true,
            ..RpcError::new("Error", format!("Network connection lost: {error}"))
        })?;
        Plain::Undefined.to_message().map_err(|error| RpcError::new("Error", error.to_string()))
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Capability for OriginSocket<S> {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let method = call.path.first().map(String::as_str);
        let (halves, mut dropped) = (Arc::clone(&self.halves), self.dropped.subscribe());
        match (method, call.op) {
            (Some("receive"), Op::Call(arguments)) => {
                let bytes_max = bytes_max(&arguments);
                self.tasks.spawn(async move {
                    tokio::select! {
                        frame = halves.receive(bytes_max) => reply.send(frame.to_answer()),
                        _ = dropped.changed() => {}
                    }
                });
            }
            (Some("send"), Op::Call(arguments)) => {
                let frame = Frame::from_arguments(&arguments);
                self.tasks.spawn(async move {
                    tokio::select! {
                        sent = halves.send(frame) => reply.send(sent),
                        _ = dropped.changed() => {}
                    }
                });
            }
            _ => reply.send(Err(RpcError::new("TypeError", "A WebSocket has the methods receive() and send()."))),
        }
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What `receive` was asked to take at most.
fn bytes_max(arguments: &Message) -> u64 {
    let asked = match Plain::from_message(arguments) {
        Ok(Plain::Array(arguments)) => arguments.first().and_then(Plain::as_number),
        _ => None,
    };
    // Clamped, so nothing is cut off but a fraction.
    asked.map_or(MESSAGE_BYTES_MAX, |asked| asked.clamp(0.0, LARGE_MESSAGE_BYTES_MAX as f64) as u64)
}
