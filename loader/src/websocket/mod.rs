//! WebSockets (RFC 6455) on connections, and as they cross between a Worker and its host.
//!
//! One end of a connection crosses as a capability, as `js/websocket_pipe.js` has it: `receive(bytesMax)` answers with
//! the next [`Frame`], `send(frame)` is answered when it has been taken, and dropping it disconnects. One frame is on its
//! way in each direction, so that whoever is slow holds the other back.
//!
//! * [`bridge`] joins a client's connection with the end that a Worker returned.
//! * [`origin`] is a connection to an origin server as such an end.
//! * [`codec`] cuts bytes into frames. Headers are read and written by tungstenite; its message layer is not used, because
//!   it answers a Close frame by itself, which is up to the Worker here.
//! * [`deflate`] compresses messages, where [`extensions`] says that both sides want that.
//! * [`handshake`] is what is asked of HTTP requests and responses first.

mod bridge;
mod codec;
mod deflate;
pub(crate) mod extensions;
mod frame;
pub(crate) mod handshake;
mod origin;

use std::sync::Arc;

use loaderd_runtime::rpc::Capability;

pub(crate) use bridge::bridge;
pub(crate) use extensions::Deflate;
pub(crate) use origin::OriginSocket;

/// A larger message crosses, and is kept, in parts of at most this many bytes.
pub(crate) const PART_BYTES_MAX: usize = 1 << 20;

/// Bytes of one message when its receiver does not say.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 32 << 20;

/// The most bytes of one message that a receiver may ask for.
pub(crate) const LARGE_MESSAGE_BYTES_MAX: u64 = 128 << 20;

/// One end of a connection, as it comes with a response.
#[derive(Clone)]
pub struct WebSocketEnd {
    pub target: Arc<dyn Capability>,
    /// The longest message that may be sent to it, in bytes.
    pub message_bytes_max: u64,
}
