//! Connections of any kind.

use tokio::io::{AsyncRead, AsyncWrite};

/// Bytes both ways: TCP, TLS, a Unix socket, or a pipe within this process.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

pub(crate) type BoxStream = Box<dyn Stream>;
