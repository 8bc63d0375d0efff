//! JS RPC. A value crosses as structured-clone bytes plus the capabilities it mentions; nothing else crosses.
//!
//! [`Capability`] is the one door: an object in another isolate, a host's Rust object, or the far end of a process
//! boundary are all a `Capability`, and an isolate cannot tell them apart.

use std::fmt;
use std::sync::Arc;

pub(crate) mod cloned_error;
pub(crate) mod deserialize;
pub(crate) mod errors;
pub(crate) mod exports;
pub(crate) mod glue;
pub(crate) mod host_tag;
pub(crate) mod outgoing;
pub mod plain;
mod reply;
pub(crate) mod serialize;
pub(crate) mod serve;
pub mod signal;
pub(crate) mod state;

pub(crate) use self::reply::Waiter;
pub use self::reply::{Awaiting, Caller, Reply};
use crate::limits::{Cause, Usage};
use crate::trace::{Origin, prefix};

/// The largest serialized value that may cross in one message, as on the platform.
pub const MESSAGE_BYTES_MAX: usize = 32 << 20;

/// The longest text of an error that crosses, in UTF-8 bytes: its message, its stack or its name. More is cut off, since a
/// program can throw whatever fits into its memory.
pub const ERROR_TEXT_BYTES_MAX: usize = 1 << 20;

/// A serialized value: bytes in V8's structured-clone format (host objects as in `rpc::serialize`) and the
/// capabilities they refer to by index.
#[derive(Clone, Default)]
pub struct Message {
    pub bytes: bytes::Bytes,
    pub caps: Vec<Cap>,
}

impl Message {
    /// Whether it is small enough to cross. A host can make any; what programs say is checked when it is written.
    ///
    /// # Errors
    /// What whoever sends it is told when it is not.
    pub fn check_size(&self) -> Result<(), RpcError> {
        check_size(self.bytes.len())
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Content never reaches logs.
        write!(f, "Message({} bytes, {} caps)", self.bytes.len(), self.caps.len())
    }
}

/// How the receiver revives a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapKind {
    /// An `RpcTarget` or other object: revived as an `RpcStub` with properties.
    Object,
    /// A function: revived as a callable `RpcStub`.
    Function,
    /// A service (entrypoint): revived as a `Fetcher`.
    Service,
}

/// A capability and the shape it is revived in.
#[derive(Clone)]
pub struct Cap {
    pub kind: CapKind,
    pub target: Arc<dyn Capability>,
}

/// One operation on a capability.
#[derive(Clone, Debug)]
pub struct Call {
    /// Property names from the capability's object to the member meant; at most [`PATH_MAX`].
    pub path: Vec<String>,
    pub op: Op,
    /// What led to it.
    pub origin: Origin,
}

impl Call {
    /// A call that nothing led to.
    #[must_use]
    pub fn new(path: Vec<String>, op: Op) -> Self {
        Self { path, op, origin: Origin::default() }
    }

    /// Whether a path may be sent. Programs choose the names on it, and how many there are.
    ///
    /// # Errors
    /// What whoever makes the call is told when it may not.
    pub fn check_path(path: &[String]) -> Result<(), RpcError> {
        if path.len() > PATH_MAX {
            return Err(RpcError { remote: false, ..RpcError::new("TypeError", PATH_TOO_LONG) });
        }
        check_size(path.iter().map(String::len).sum())
    }
}

/// The names of the longest path that one call may have: a property, and 64 more of one another.
pub const PATH_MAX: usize = 65;

/// What a program is told of a longer one.
const PATH_TOO_LONG: &str = "RPC pipelined property path is too deep (max 64).";

/// What a program is told of content that is larger than [`MESSAGE_BYTES_MAX`].
pub(crate) fn too_large(bytes: usize) -> String {
    format!(
        "Serialized RPC arguments or return values are limited to 32MiB, but the size of this value was: {bytes} bytes."
    )
}

fn check_size(bytes: usize) -> Result<(), RpcError> {
    if bytes <= MESSAGE_BYTES_MAX {
        return Ok(());
    }
    Err(RpcError { remote: false, ..RpcError::new("Error", too_large(bytes)) })
}

/// What to do with the member that a call's path names.
#[derive(Clone, Debug)]
pub enum Op {
    /// Read it.
    Get,
    /// Call it. The message is an array: the arguments.
    Call(Message),
    /// Deliver an event to a service: the path is the event's kind (`scheduled`, `queue`, …), the message an array. Programs
    /// cannot make one of their own; what they call is a method, whatever its name.
    Event(Message),
}

/// Something an isolate or the host can call. Dropping the last reference releases it at its home.
///
/// Called from any thread, also from an isolate's thread in the middle of a turn: an implementation must not block.
/// The answer goes to `reply`, exactly once, from any thread; a dropped [`Reply`] answers "canceled" by itself.
pub trait Capability: Send + Sync + 'static {
    /// Starts the call. What is returned, if anything, stands for the result before it is known: calls on it are
    /// pipelined. `None`: this capability cannot pipeline, and the caller must await the answer first.
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>>;

    /// Whether a call on it counts as a subrequest of the caller (services do; objects met in a session do not).
    fn counts_as_subrequest(&self) -> bool {
        false
    }

    /// Why it may not be handed to another Worker, if it may not; the text of the `DataCloneError` that says so.
    fn refuses_transfer(&self) -> Option<&'static str> {
        None
    }

    /// For downcasting by whoever made it (for example, to see that a capability is the runtime's own export).
    fn as_any(&self) -> &dyn std::any::Any;
}

/// An answered call: the value, and what the callee's invocation had used when it answered (zero when unknown).
#[derive(Debug)]
pub struct Answer {
    pub result: Result<Message, RpcError>,
    pub usage: Usage,
}

impl From<Result<Message, RpcError>> for Answer {
    fn from(result: Result<Message, RpcError>) -> Self {
        Self { result, usage: Usage::default() }
    }
}

/// An error that crosses: what the caller's JavaScript will throw.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {message}")]
pub struct RpcError {
    /// The JavaScript class it is revived as: `Error`, `TypeError`, `RangeError`, … (`Error` when unknown here).
    pub name: String,
    pub message: String,
    /// The callee's stack, when it may be shown.
    pub stack: Option<String>,
    /// It came from the other side: callers see `remote: true`.
    pub remote: bool,
    /// Backing off may help: callers see `overloaded: true`.
    pub overloaded: bool,
    /// The thing called is gone for good: callers see `retryable: true`-free disconnection semantics (`onRpcBroken`).
    pub disconnected: bool,
    /// A Durable Object was reset: callers see `durableObjectReset: true`.
    pub reset: bool,
    /// When a limit or its owner ended the callee, which.
    pub cause: Option<Cause>,
    /// A thrown value in structured-clone form, when the callee threw something that is not a plain error
    /// (own properties, non-Error values); revived instead of `name`/`message` where it can be.
    pub thrown: Option<ThrownValue>,
}

/// A thrown value on its way; compared by its bytes only.
#[derive(Clone, Debug)]
pub struct ThrownValue(pub Message);

impl PartialEq for ThrownValue {
    fn eq(&self, other: &Self) -> bool {
        self.0.bytes == other.0.bytes
    }
}
impl Eq for ThrownValue {}

impl RpcError {
    /// A remote error of the given class.
    #[must_use]
    pub fn new(name: &str, message: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            message: message.into(),
            stack: None,
            remote: true,
            overloaded: false,
            disconnected: false,
            reset: false,
            cause: None,
            thrown: None,
        }
    }

    /// Name, message and stack, as people read them.
    #[must_use]
    pub fn report(&self) -> String {
        let summary = self.to_string();
        match &self.stack {
            Some(stack) if stack.starts_with(&summary) => stack.clone(),
            Some(stack) => format!("{summary}\n{stack}"),
            None => summary,
        }
    }

    /// The same error, as it may cross: without what no message may be as long as.
    #[must_use]
    pub fn clipped(mut self) -> Self {
        for text in [&mut self.name, &mut self.message].into_iter().chain(&mut self.stack) {
            text.truncate(prefix(text, ERROR_TEXT_BYTES_MAX).len());
        }
        let thrown = self.thrown.take();
        self.thrown = thrown.filter(|ThrownValue(message)| message.check_size().is_ok());
        self
    }

    /// What every caller of an ended invocation gets.
    #[must_use]
    pub fn ended(cause: Cause) -> Self {
        Self { overloaded: cause.overloaded(), cause: Some(cause), ..Self::new("Error", cause.message()) }
    }
}
