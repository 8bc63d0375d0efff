//! Values and frames as Cap'n Proto, in both directions. Pure: no tables, no sockets.
//!
//! What a capability becomes on the wire is the session's business, so writing takes a [`Lower`] and reading a
//! [`Raise`]. Reading trusts nothing: whatever does not fit is [`Malformed`], which ends the connection.

mod status;
mod values;
mod workers;

pub(super) use status::{
    Counters, read_console_level, read_counters, read_layer, read_load_report, write_console_level, write_counters,
    write_layer, write_load_report,
};
pub(super) use values::{read_answer, read_call, read_call_head, read_cause, write_answer, write_call, write_cause};
pub(super) use workers::{
    read_entrypoint, read_isolate_config, read_load, read_load_error, read_report, write_entrypoint,
    write_isolate_config, write_load, write_load_error, write_report,
};

use loaderd_runtime::rpc::{Cap, CapKind, Message, RpcError};
use loaderd_schema::channel_capnp as schema;

/// The version of `channel.capnp` spoken here.
pub(super) use schema::PROTOCOL_VERSION;

/// The most capabilities one message may mention.
pub(super) const MESSAGE_CAPS_MAX: usize = 4096;

/// The other end sent something that no correct peer sends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Malformed {
    #[error("not a frame of this protocol")]
    Encoding,
    #[error("a frame that makes no sense here: {0}")]
    Unexpected(&'static str),
    #[error("more than its bound allows: {0}")]
    TooMuch(&'static str),
}

impl From<capnp::Error> for Malformed {
    fn from(_: capnp::Error) -> Self {
        // The details quote the peer, which may be hostile: they go nowhere.
        Self::Encoding
    }
}

impl From<capnp::NotInSchema> for Malformed {
    fn from(_: capnp::NotInSchema) -> Self {
        Self::Encoding
    }
}

impl From<std::str::Utf8Error> for Malformed {
    fn from(_: std::str::Utf8Error) -> Self {
        Self::Encoding
    }
}

/// Where a capability lives, seen from whoever sends the message.
#[derive(Clone, Debug)]
pub(super) enum CapPlace {
    Sender(u64),
    Receiver(u64),
    Nowhere(RpcError),
}

/// A capability on the wire.
#[derive(Clone, Debug)]
pub(super) struct WireCap {
    pub(super) kind: CapKind,
    pub(super) counts_as_subrequest: bool,
    pub(super) place: CapPlace,
}

/// Makes a capability ready to be sent, by putting it into a table.
pub(super) type Lower<'a> = &'a mut dyn FnMut(&Cap) -> WireCap;

/// Makes a capability of what was received, or says why it cannot be one.
pub(super) type Raise<'a> = &'a mut dyn FnMut(WireCap) -> Result<Cap, Malformed>;

/// What a call is made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Export(u64),
    Result(u64),
    Entrypoint { worker: u64, entrypoint: u32 },
}

/// How a question was answered.
#[derive(Debug)]
pub(super) enum Answered {
    Value(Message),
    Error(RpcError),
    NotPipelined,
}

/// A new frame, its first segment large enough for `payload_bytes` of content.
pub(super) fn frame(payload_bytes: usize) -> capnp::message::Builder<capnp::message::HeapAllocator> {
    /// What a frame takes besides its content, in words.
    const OVERHEAD_WORDS: usize = 64;
    let words = payload_bytes.div_ceil(8).saturating_add(OVERHEAD_WORDS);
    let words = u32::try_from(words).unwrap_or(u32::MAX);
    capnp::message::Builder::new(capnp::message::HeapAllocator::new().first_segment_words(words))
}

/// About how many bytes a message takes on the wire.
pub(super) fn message_bytes(message: &Message) -> usize {
    /// One capability, errors aside.
    const CAP_BYTES: usize = 32;
    message.bytes.len() + message.caps.len() * CAP_BYTES
}
