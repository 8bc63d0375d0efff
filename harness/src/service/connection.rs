//! One connection: the RPC system over its socket, until either side has had enough.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use capnp::message::ReaderOptions;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::{RpcSystem, twoparty};
use futures::AsyncReadExt;
use futures::io::{AsyncRead, AsyncWrite, BufReader, BufWriter};
use loaderd_schema::executor_capnp::code_executor;
use tokio_util::compat::TokioAsyncReadCompatExt;
use tokio_util::sync::CancellationToken;

use super::bounds::ServiceBounds;
use super::executor::Server;
use super::flow::{Counted, Flow};
use super::guard::Guarded;
use super::listen::Socket;
use super::whole::{Unfinished, Whole};
use crate::executor::CodeExecutor;

/// How deep a message's pointers may nest.
const MESSAGE_DEPTH_MAX: i32 = 64;

/// How long the last messages may take to leave when we close.
const FLUSH_TIME_MAX: Duration = Duration::from_secs(1);

pub(super) const BYTES_PER_WORD: usize = 8;

/// What all connections share.
#[derive(Clone)]
pub(super) struct Serving {
    pub(super) executor: CodeExecutor,
    pub(super) bounds: ServiceBounds,
    pub(super) unfinished: Arc<Unfinished>,
    /// Set when the service is told to stop.
    pub(super) stopping: CancellationToken,
}

/// Serves a connection to its end. When the other side goes away, everything it held is dropped, passes included.
pub(super) async fn serve(socket: Socket, serving: Serving) {
    let served = match socket {
        Socket::Unix(stream) => match tokio::net::UnixStream::from_std(stream) {
            Ok(stream) => serve_stream(stream.compat(), serving).await,
            Err(error) => return tracing::warn!("cannot serve a connection: {error}"),
        },
        Socket::Tcp(stream) => match tokio::net::TcpStream::from_std(stream) {
            Ok(stream) => serve_stream(stream.compat(), serving).await,
            Err(error) => return tracing::warn!("cannot serve a connection: {error}"),
        },
    };
    match served {
        Ok(()) => tracing::debug!("connection closed"),
        Err(error) => tracing::info!(%error, "connection closed"),
    }
}

async fn serve_stream<S>(stream: S, serving: Serving) -> Result<(), capnp::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let bounds = Rc::new(serving.bounds);
    let words_max = bounds.message_bytes_max / BYTES_PER_WORD;
    let options = ReaderOptions { traversal_limit_in_words: Some(words_max), nesting_limit: MESSAGE_DEPTH_MAX };
    let (input, output) = stream.split();
    let flow = Flow::new(bounds.unsent_bytes_max);
    let input = Whole::new(BufReader::new(input), bounds.message_bytes_max, &serving.unfinished);
    let (input, output) = (Counted::new(input, &flow), BufWriter::new(Counted::new(output, &flow)));
    let network = twoparty::VatNetwork::new(input, output, Side::Server, options);
    let server = Server::new(serving.executor, bounds.clone(), flow.clone(), serving.stopping.clone());
    let passes = server.passes();
    let client: code_executor::Client = capnp_rpc::new_client(server);
    let mut system = RpcSystem::new(Box::new(Guarded::new(network, bounds.clone(), flow)), Some(client.client));
    let disconnector = system.get_disconnector();

    let told_to_stop = async {
        serving.stopping.cancelled().await;
        // Those in flight may finish, within a bound; new ones are refused meanwhile.
        if tokio::time::timeout(bounds.drain_time_max, passes.idle()).await.is_err() {
            tracing::warn!("passes were still in flight when the time to stop was up: they are cancelled");
        }
    };
    tokio::select! {
        ended = &mut system => return ended,
        () = told_to_stop => {}
    }
    // Closing drops every pass still in flight. The system itself must go on to let the last messages out.
    let closing = async {
        tokio::select! {
            closed = disconnector => closed,
            ended = system => ended,
        }
    };
    tokio::time::timeout(FLUSH_TIME_MAX, closing).await.unwrap_or(Ok(()))
}
