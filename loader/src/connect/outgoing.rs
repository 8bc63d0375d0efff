//! A Worker's connection: opened, and carried until either side has had enough.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use loaderd_runtime::rpc::plain::{JsString, Plain};
use loaderd_runtime::rpc::{Capability, RpcError};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::watch;

use super::{BoxStream, CHUNK_BYTES_MAX, ConnectRequest, ask, chunk, lost, tell};

type Opening<'a> = Pin<Box<dyn Future<Output = std::io::Result<BoxStream>> + Send + 'a>>;

/// How connections are opened and secured.
pub(crate) trait Dial: Send + Sync {
    /// Opens a connection to `host:port`, with TLS from its first byte on where that is asked for.
    fn open<'a>(&'a self, address: &'a str, secure: bool) -> Opening<'a>;

    /// Begins TLS on an open connection to a server that proves to be `host`.
    fn secure<'a>(&'a self, stream: BoxStream, host: &'a str) -> Opening<'a>;
}

/// Serves one connect event to its end. Dropping the future closes the connection.
pub(crate) async fn run(dial: &dyn Dial, request: ConnectRequest) -> Result<Plain, RpcError> {
    let mut stream = dial.open(&request.address, request.secure).await.map_err(|error| {
        tracing::debug!("connect() failed: {error}");
        RpcError { remote: false, ..lost() }
    })?;
    loop {
        tell(&request.opened, &[]);
        match carry(stream, &request).await {
            Some(Upgrade { stream: plain, host }) => {
                stream = dial.secure(plain, &host).await.map_err(|error| {
                    tracing::debug!("startTls() failed: {error}");
                    lost()
                })?;
            }
            None => return Ok(Plain::Undefined),
        }
    }
}

/// The Worker wants to go on over TLS.
struct Upgrade {
    stream: BoxStream,
    host: String,
}

/// Carries bytes both ways until both have ended, or the Worker asks for TLS.
async fn carry(stream: BoxStream, request: &ConnectRequest) -> Option<Upgrade> {
    let (from_peer, to_peer) = tokio::io::split(stream);
    let (pause, paused) = watch::channel(());
    let writing = async {
        let end = write(to_peer, &request.readable).await;
        if matches!(end, Written::StartTls(..)) {
            // What the peer has sent is delivered; then nothing more is read before TLS begins.
            pause.send_replace(());
        }
        end
    };
    let (written, reading) = tokio::join!(writing, read(from_peer, &request.writable, paused));
    match (written, reading) {
        (Written::StartTls(to_peer, host), Some(from_peer)) => {
            Some(Upgrade { stream: from_peer.unsplit(to_peer), host })
        }
        _ => None,
    }
}

enum Written {
    Ended,
    StartTls(WriteHalf<BoxStream>, String),
}

/// What the Worker writes.
async fn write(mut to: WriteHalf<BoxStream>, source: &Arc<dyn Capability>) -> Written {
    loop {
        match ask(source, &["read"], Vec::new()).await {
            Some(Plain::Bytes(_, bytes)) => {
                if to.write_all(&bytes).await.is_err() || to.flush().await.is_err() {
                    tell(source, &["cancel"]);
                    return Written::Ended;
                }
            }
            Some(Plain::Object(wish)) => {
                let host = wish.get("startTls").and_then(Plain::as_string).map(JsString::to_string_lossy);
                return host.map_or(Written::Ended, |host| Written::StartTls(to, host));
            }
            // Its end, or the Worker is gone. A peer that is gone already cannot be told.
            _ => {
                let _gone = to.shutdown().await;
                return Written::Ended;
            }
        }
    }
}

/// What the peer writes. Gives the stream back when it was paused.
async fn read(
    mut from: ReadHalf<BoxStream>,
    sink: &Arc<dyn Capability>,
    mut paused: watch::Receiver<()>,
) -> Option<ReadHalf<BoxStream>> {
    let gone = ask(sink, &["gone"], Vec::new());
    tokio::pin!(gone);
    let mut buffer = BytesMut::with_capacity(CHUNK_BYTES_MAX);
    loop {
        buffer.reserve(CHUNK_BYTES_MAX);
        let read = tokio::select! {
            biased;
            _ = &mut gone => return None,
            Ok(()) = paused.changed() => return Some(from),
            read = from.read_buf(&mut buffer) => read,
        };
        match read {
            Ok(0) => {
                ask(sink, &["close"], Vec::new()).await;
                return None;
            }
            Ok(_) => {
                let bytes: Bytes = buffer.split().freeze();
                for part in 0..bytes.len().div_ceil(CHUNK_BYTES_MAX) {
                    let end = bytes.len().min((part + 1) * CHUNK_BYTES_MAX);
                    ask(sink, &["write"], vec![chunk(bytes.slice(part * CHUNK_BYTES_MAX..end))]).await?;
                }
            }
            Err(_) => {
                ask(sink, &["abort"], Vec::new()).await;
                return None;
            }
        }
    }
}
