//! The connect event as it crosses between a Worker and its host: a connection without a protocol.
//!
//! It is a call of `connect` on a service with one argument:
//!
//! | Field | What |
//! |---|---|
//! | `address` | `host:port`, what the connection is to |
//! | `secure` | whether it begins with TLS |
//! | `readable` | a body capability ([`crate::fetch`]): what who connects writes. It may also answer `{startTls: host}` |
//! | `writable` | has `write(bytes)`, `close()`, `abort()`, and `gone()`, which answers when nobody reads any more |
//! | `opened` | a function to call once the connection is there, and again when it goes on over TLS |
//!
//! The call lasts as long as the connection, and its failure before `opened` was called is the failure to connect.
//!
//! | File | Owns |
//! |---|---|
//! | `stream` | connections as the rest of the crate holds them |
//! | `outgoing` | a Worker's connection to somewhere, over a stream |
//! | `incoming` | somebody's connection to a Worker, from a stream |

mod incoming;
mod outgoing;
mod stream;

use std::sync::Arc;

use bytes::Bytes;
use loaderd_runtime::rpc::plain::{BytesKind, JsString, Plain, PlainObject};
use loaderd_runtime::rpc::{Call, Cap, CapKind, Capability, Message, Op, Reply, RpcError};

pub(crate) use incoming::request_from;
pub(crate) use outgoing::{Dial, run};
pub(crate) use stream::BoxStream;

/// The name of the method.
pub const CONNECT: &str = "connect";

/// The most bytes that one read answers with, and that one write carries.
const CHUNK_BYTES_MAX: usize = 64 << 10;

/// Bytes of an address: a domain name, a colon and a port.
const ADDRESS_BYTES_MAX: usize = 300;

/// What a connect event is about. See the module.
pub struct ConnectRequest {
    pub address: String,
    /// Whether it begins with TLS.
    pub secure: bool,
    pub readable: Arc<dyn Capability>,
    pub writable: Arc<dyn Capability>,
    pub opened: Arc<dyn Capability>,
}

impl ConnectRequest {
    /// The request that a call delivers; `None` when the call is no connect event.
    #[must_use]
    pub fn from_call(call: &Call) -> Option<Result<Self, RpcError>> {
        match &call.op {
            Op::Call(arguments) if call.path.len() == 1 && call.path[0] == CONNECT => {
                Some(Self::read(arguments).ok_or_else(|| RpcError::new("TypeError", "This is no connect event.")))
            }
            Op::Call(_) | Op::Get | Op::Event(_) => None,
        }
    }

    fn read(arguments: &Message) -> Option<Self> {
        let Ok(Plain::Array(arguments)) = Plain::from_message(arguments) else { return None };
        let Some(Plain::Object(mut fields)) = arguments.into_iter().next() else { return None };
        let address = fields.get("address").and_then(Plain::as_string).map(JsString::to_string_lossy)?;
        let mut cap = |name: &str| match fields.remove(name)? {
            Plain::Cap(cap) => Some(cap.target),
            _ => None,
        };
        let (readable, writable, opened) = (cap("readable")?, cap("writable")?, cap("opened")?);
        if address.len() > ADDRESS_BYTES_MAX {
            return None;
        }
        let secure = fields.get("secure").and_then(Plain::as_bool).unwrap_or_default();
        Some(Self { address, secure, readable, writable, opened })
    }

    /// The call that delivers this request.
    ///
    /// # Errors
    /// It is too large.
    pub fn into_call(self) -> Result<Call, RpcError> {
        let cap = |kind, target| Plain::Cap(Cap { kind, target });
        let fields: PlainObject = [
            ("address", Plain::from(self.address)),
            ("secure", Plain::from(self.secure)),
            ("readable", cap(CapKind::Object, self.readable)),
            ("writable", cap(CapKind::Object, self.writable)),
            ("opened", cap(CapKind::Function, self.opened)),
        ]
        .into_iter()
        .collect();
        let arguments = Plain::arguments(vec![Plain::Object(fields)]);
        let arguments = arguments.map_err(|error| RpcError::new("RangeError", error.to_string()))?;
        Ok(Call::new(vec![CONNECT.to_owned()], Op::Call(arguments)))
    }
}

/// A connection that broke.
pub(crate) fn lost() -> RpcError {
    RpcError { disconnected: true, remote: false, ..RpcError::new("Error", "Network connection lost.") }
}

fn call_of(path: &[&str], arguments: Vec<Plain>) -> Option<Call> {
    let arguments = Plain::arguments(arguments).ok()?;
    Some(Call::new(path.iter().map(ToString::to_string).collect(), Op::Call(arguments)))
}

/// Calls a capability and waits for its answer. `None`: it failed, or is gone.
async fn ask(target: &Arc<dyn Capability>, path: &[&str], arguments: Vec<Plain>) -> Option<Plain> {
    let (reply, answer) = Reply::channel();
    // Nothing is pipelined on these.
    drop(target.call(call_of(path, arguments)?, reply));
    Plain::from_message(&answer.await.ok()?.result.ok()?).ok()
}

/// Calls a capability whose answer nobody waits for.
fn tell(target: &Arc<dyn Capability>, path: &[&str]) {
    if let Some(call) = call_of(path, Vec::new()) {
        drop(target.call(call, Reply::ignore()));
    }
}

fn chunk(bytes: Bytes) -> Plain {
    Plain::Bytes(BytesKind::Uint8Array, bytes)
}
