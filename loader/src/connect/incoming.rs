//! Somebody's connection, as the Worker that answers it gets it: capabilities over the two halves of a stream.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Call, Capability, Op, Reply, RpcError};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::Mutex;

use super::{BoxStream, CHUNK_BYTES_MAX, ConnectRequest, chunk, lost};

/// The connect event of a connection that arrived at `address`. The stream is closed when the capabilities are gone.
pub(crate) fn request_from(stream: BoxStream, address: String, tasks: &tokio::runtime::Handle) -> ConnectRequest {
    let (from_peer, to_peer) = tokio::io::split(stream);
    let source = Source { half: Arc::new(Mutex::new(Some(from_peer))), tasks: tasks.clone() };
    let sink = Sink { half: Arc::new(Mutex::new(Some(to_peer))), tasks: tasks.clone() };
    ConnectRequest {
        address,
        secure: false,
        readable: Arc::new(source),
        writable: Arc::new(sink),
        opened: Arc::new(Opened),
    }
}

fn method(call: &Call) -> Option<&str> {
    match &call.op {
        Op::Call(_) => call.path.first().map(String::as_str),
        Op::Get | Op::Event(_) => None,
    }
}

fn answer(reply: Reply, result: Result<Plain, RpcError>) {
    reply.send(
        result.and_then(|plain| plain.to_message().map_err(|error| RpcError::new("RangeError", error.to_string()))),
    );
}

/// What the peer writes: a body capability.
struct Source {
    half: Arc<Mutex<Option<ReadHalf<BoxStream>>>>,
    tasks: tokio::runtime::Handle,
}

impl Capability for Source {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let half = Arc::clone(&self.half);
        match method(&call) {
            Some("read") => drop(self.tasks.spawn(async move {
                answer(reply, read(&mut *half.lock().await).await);
            })),
            Some("cancel") => drop(self.tasks.spawn(async move {
                half.lock().await.take();
                answer(reply, Ok(Plain::Undefined));
            })),
            _ => reply.send(Err(RpcError::new("TypeError", "A body has the methods read() and cancel()."))),
        }
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

async fn read(half: &mut Option<ReadHalf<BoxStream>>) -> Result<Plain, RpcError> {
    let Some(from) = half else { return Ok(Plain::Null) };
    let mut buffer = BytesMut::with_capacity(CHUNK_BYTES_MAX);
    match from.read_buf(&mut buffer).await {
        Ok(0) => {
            *half = None;
            Ok(Plain::Null)
        }
        Ok(_) => Ok(chunk(buffer.freeze())),
        Err(_) => {
            *half = None;
            Err(lost())
        }
    }
}

/// What is written to the peer.
struct Sink {
    half: Arc<Mutex<Option<WriteHalf<BoxStream>>>>,
    tasks: tokio::runtime::Handle,
}

impl Capability for Sink {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let half = Arc::clone(&self.half);
        let Some(method) = method(&call).map(str::to_owned) else {
            reply.send(Err(RpcError::new("TypeError", "A sink has methods only.")));
            return None;
        };
        self.tasks.spawn(async move {
            let mut half = half.lock().await;
            let result = match (method.as_str(), &call.op) {
                ("write", Op::Call(arguments)) => match Plain::from_message(arguments) {
                    Ok(Plain::Array(arguments)) => write(&mut half, arguments).await,
                    _ => Err(RpcError::new("TypeError", "A socket carries bytes.")),
                },
                ("close", _) => {
                    if let Some(mut to) = half.take() {
                        // A peer that is gone already cannot be told.
                        let _gone = to.shutdown().await;
                    }
                    Ok(Plain::Undefined)
                }
                ("abort", _) => {
                    *half = None;
                    Ok(Plain::Undefined)
                }
                _ => Err(RpcError::new("TypeError", "A sink has the methods write(), close() and abort().")),
            };
            answer(reply, result);
        });
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

async fn write(half: &mut Option<WriteHalf<BoxStream>>, arguments: Vec<Plain>) -> Result<Plain, RpcError> {
    let Some(to) = half else { return Err(lost()) };
    let Some(Plain::Bytes(_, bytes)) = arguments.into_iter().next() else {
        return Err(RpcError::new("TypeError", "A socket carries bytes."));
    };
    if to.write_all(&bytes).await.is_err() || to.flush().await.is_err() {
        *half = None;
        return Err(lost());
    }
    Ok(Plain::Undefined)
}

/// The connection is there already, so nobody waits to hear it.
struct Opened;

impl Capability for Opened {
    fn call(&self, _: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        answer(reply, Ok(Plain::Undefined));
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
