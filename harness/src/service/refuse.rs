//! Connections over the bound: told why, in the protocol's own words, and closed.

use std::time::Duration;

use capnp::message::Builder;
use capnp_rpc::rpc_capnp::{exception, message};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::listen::Socket;

/// How long a refused client may take to read why.
const REFUSAL_TIME_MAX: Duration = Duration::from_secs(1);

/// The most of a refused client's bytes that is read. They are read at all so that closing does not destroy the
/// refusal on its way.
const REFUSED_BYTES_MAX: u64 = 64 << 10;

/// Tells the other side that there is no room for it, and closes.
pub(super) async fn refuse(socket: Socket, connections_max: usize) {
    let reason = format!("too many connections: at most {connections_max} are open at once");
    let refusing = async {
        match socket {
            Socket::Unix(stream) => abort(tokio::net::UnixStream::from_std(stream)?, &reason).await,
            Socket::Tcp(stream) => abort(tokio::net::TcpStream::from_std(stream)?, &reason).await,
        }
    };
    // A client that is gone or does not read has learned enough.
    let _ = tokio::time::timeout(REFUSAL_TIME_MAX, refusing).await;
}

async fn abort<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, reason: &str) -> std::io::Result<()> {
    stream.write_all(&abort_message(reason)).await?;
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(REFUSED_BYTES_MAX), &mut tokio::io::sink()).await?;
    Ok(())
}

/// The bytes of the message that ends a connection.
fn abort_message(reason: &str) -> Vec<u8> {
    let mut message = Builder::new_default();
    let mut abort = message.init_root::<message::Builder<'_>>().init_abort();
    abort.set_reason(reason);
    abort.set_type(exception::Type::Overloaded);
    capnp::serialize::write_message_to_words(&message)
}
