//! The fetch event as it crosses between a Worker and its host: a call of `fetch` on a service, with plain data for
//! heads and, for a body that is not at hand, a capability to read it from.
//!
//! | Field of a request | |
//! |---|---|
//! | `method`, `url` | strings |
//! | `headers` | array of `[name, value]`; values are byte strings, a name may come more than once |
//! | `body` | null, bytes, or a body capability |
//! | `length` | of a body capability: how many bytes it will give, where that is known |
//! | `redirect` | `follow` or `manual` |
//! | `cf` | any value, or absent |
//!
//! A response has `status`, `statusText`, `headers`, `body` and `length`; one with status 101 has `webSocket`, a capability as
//! [`crate::websocket`] describes it, and `webSocketBytesMax`, the longest message that may be sent to it. A body capability has two methods: `read()` answers
//! with the next bytes, null at the end; `cancel()` says that nobody will read on. `read(bytes)` says that its reader
//! would wait for so many, which the other end may do, to save messages. One read may be open at a time, so a reader that
//! is slow holds its writer back.

mod body;
mod buffers;
mod idle;
mod received;
mod wire;

pub(crate) use idle::IdleLimited;

pub use body::{Body, BodyError, Length, ReadBody};
pub use received::CHUNK_BYTES_MAX;

use loaderd_runtime::limits::Usage;
use loaderd_runtime::rpc::plain::{DecodeError, Plain};
use loaderd_runtime::rpc::{Answer, Call, Op, RpcError};

pub use crate::websocket::WebSocketEnd;

/// The path of the call that a fetch is.
pub const FETCH: &str = "fetch";

/// A request, from whoever makes it.
pub struct FetchRequest {
    pub method: String,
    /// Whole, with scheme and host.
    pub url: String,
    /// In order; values as byte strings (each char one byte).
    pub headers: Vec<(String, String)>,
    pub body: Body,
    pub redirect: Redirect,
    /// `request.cf`.
    pub cf: Option<Plain>,
}

/// The value of a header, its first line where there are several.
pub(crate) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// What a redirect response does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redirect {
    /// It is followed where the request goes out to a network.
    #[default]
    Follow,
    /// It is the response.
    Manual,
}

/// A response, from whoever answers.
pub struct FetchResponse {
    /// 200 to 599, or 101.
    pub status: u16,
    pub status_text: String,
    pub headers: Vec<(String, String)>,
    pub body: Body,
    /// With status 101: the connection's other end.
    pub web_socket: Option<WebSocketEnd>,
}

/// Why something that crossed is no fetch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("a fetch without {0}")]
    Missing(&'static str),
    #[error("the head and body of this fetch are too large to cross in one message")]
    TooLarge,
}

impl FetchError {
    /// What the Worker on the other side gets.
    #[must_use]
    pub fn to_rpc(&self) -> RpcError {
        RpcError::new("TypeError", self.to_string())
    }
}

impl FetchRequest {
    /// A request without headers or body.
    #[must_use]
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            headers: Vec::new(),
            body: Body::Empty,
            redirect: Redirect::Follow,
            cf: None,
        }
    }

    /// The call that delivers this request.
    ///
    /// # Errors
    /// It is too large.
    pub fn into_call(self) -> Result<Call, FetchError> {
        Ok(Call::new(vec![FETCH.to_owned()], Op::Call(wire::write_request(self)?)))
    }

    /// The request that a call delivers; `None` when the call is no fetch.
    ///
    /// # Errors
    /// It claims to be one and is not.
    pub fn from_call(call: &Call) -> Option<Result<Self, FetchError>> {
        match &call.op {
            Op::Call(arguments) if call.path.len() == 1 && call.path[0] == FETCH => Some(wire::read_request(arguments)),
            Op::Call(_) | Op::Get | Op::Event(_) => None,
        }
    }
}

impl FetchResponse {
    /// A response with text in it.
    #[must_use]
    pub fn text(status: u16, status_text: &str, text: &str) -> Self {
        Self {
            status,
            status_text: status_text.to_owned(),
            headers: vec![("Content-Type".to_owned(), "text/plain; charset=UTF-8".to_owned())],
            body: Body::Bytes(bytes::Bytes::copy_from_slice(text.as_bytes())),
            web_socket: None,
        }
    }

    /// The answer that delivers this response.
    #[must_use]
    pub fn into_answer(self) -> Answer {
        let result = wire::write_response(self).map_err(|error| error.to_rpc());
        Answer { result, usage: Usage::default() }
    }

    /// The response that an answer delivers.
    ///
    /// # Errors
    /// The Worker failed, or answered with something else.
    pub fn from_answer(answer: Answer) -> Result<Self, RpcError> {
        wire::read_response(&answer.result?).map_err(|error| error.to_rpc())
    }
}
