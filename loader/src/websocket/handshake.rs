//! What is asked of HTTP requests and responses before they become WebSockets (RFC 6455 4).

use http::header::{
    CONNECTION, CONTENT_LENGTH, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version, request};
use tungstenite::handshake::client::generate_key;
use tungstenite::handshake::derive_accept_key;

use super::extensions::{self, Deflate};

/// The one version there is.
const VERSION: HeaderValue = HeaderValue::from_static("13");

const WEBSOCKET: HeaderValue = HeaderValue::from_static("websocket");

/// Headers of the connection, which each hop writes itself.
pub(crate) const HOP_HEADERS: [HeaderName; 4] =
    [SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION];

/// Of them, those that a Worker's request has no say in.
pub(crate) const OWN_HEADERS: [HeaderName; 3] = [SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION];

/// Whether header lines ask for a WebSocket, as a Worker's own requests do.
pub(crate) fn is_asked_for(headers: &[(String, String)]) -> bool {
    headers.iter().any(|(name, value)| name.eq_ignore_ascii_case("upgrade") && value.eq_ignore_ascii_case("websocket"))
}

/// What a request on a connection asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Nothing,
    /// A WebSocket: what proves that it was understood.
    Accept(HeaderValue),
    Refused(Refusal),
}

/// Why a request for a WebSocket cannot be granted, whatever the Worker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Method,
    Body,
    Key,
    Version,
}

impl Refusal {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Method => "ERROR: WebSocket must be initiated with a GET request.",
            Self::Body => "ERROR: A request for a WebSocket must not have a body.",
            Self::Key => "ERROR: Missing Sec-WebSocket-Key",
            Self::Version => "ERROR: The requested WebSocket version is not supported.",
        }
    }

    /// The version that would do, where that was the problem.
    pub(crate) fn version(self) -> Option<HeaderValue> {
        (self == Self::Version).then_some(VERSION)
    }
}

/// What a request on a connection asks for.
pub(crate) fn asked(head: &request::Parts) -> Asked {
    let upgrades = has_token(&head.headers, &CONNECTION, "upgrade") && has_token(&head.headers, &UPGRADE, "websocket");
    if !upgrades || head.version != Version::HTTP_11 {
        return Asked::Nothing;
    }
    if head.method != Method::GET {
        return Asked::Refused(Refusal::Method);
    }
    let has_length = head.headers.get(CONTENT_LENGTH).is_some_and(|length| length != "0");
    if has_length || head.headers.contains_key(TRANSFER_ENCODING) {
        return Asked::Refused(Refusal::Body);
    }
    if head.headers.get(SEC_WEBSOCKET_VERSION) != Some(&VERSION) {
        return Asked::Refused(Refusal::Version);
    }
    let accept = head.headers.get(SEC_WEBSOCKET_KEY).filter(|key| !key.is_empty()).and_then(accept_for);
    accept.map_or(Asked::Refused(Refusal::Key), Asked::Accept)
}

fn accept_for(key: &HeaderValue) -> Option<HeaderValue> {
    HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()
}

fn has_token(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|token| token.trim().eq_ignore_ascii_case(wanted))
}

/// Sets the headers of a response that grants a WebSocket.
pub(crate) fn grant(headers: &mut HeaderMap, accept: HeaderValue, extensions: Option<HeaderValue>) {
    if let Some(extensions) = extensions {
        headers.insert(SEC_WEBSOCKET_EXTENSIONS, extensions);
    }
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, WEBSOCKET);
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
}

/// What the response to a request for a WebSocket has to prove, and whether it may choose to compress messages.
pub(crate) struct Expected {
    accept: HeaderValue,
    offers_deflate: bool,
}

/// Sets the headers of a request for a WebSocket, which offers what the Worker's own does.
pub(crate) fn ask(headers: &mut HeaderMap) -> Option<Expected> {
    let offer = extensions::offer(lines(headers));
    headers.remove(SEC_WEBSOCKET_EXTENSIONS);
    let offers_deflate = offer.is_some();
    if let Some(offer) = offer {
        headers.insert(SEC_WEBSOCKET_EXTENSIONS, offer);
    }
    let key = HeaderValue::from_str(&generate_key()).ok()?;
    let accept = accept_for(&key)?;
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, WEBSOCKET);
    headers.insert(SEC_WEBSOCKET_VERSION, VERSION);
    headers.insert(SEC_WEBSOCKET_KEY, key);
    Some(Expected { accept, offers_deflate })
}

/// Lines of a header that say what extensions are offered, chosen or wanted.
pub(crate) fn lines(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(SEC_WEBSOCKET_EXTENSIONS).iter().filter_map(|line| line.to_str().ok())
}

/// What a response with status 101 agrees to; an error where it is no WebSocket.
pub(crate) fn agreed_with_origin(headers: &HeaderMap, expected: &Expected) -> Result<Option<Deflate>, &'static str> {
    if !has_token(headers, &UPGRADE, "websocket") {
        return Err("the server switched to another protocol than WebSocket");
    }
    if headers.get(SEC_WEBSOCKET_ACCEPT) != Some(&expected.accept) {
        return Err("the server's Sec-WebSocket-Accept is wrong");
    }
    extensions::agreed(lines(headers), expected.offers_deflate)
}
