//! Fetch events to messages and back.

use loaderd_runtime::rpc::plain::{BytesKind, JsString, Plain, PlainObject};
use loaderd_runtime::rpc::{Cap, CapKind, Message};

use crate::websocket::{LARGE_MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX, WebSocketEnd};

use super::{Body, FetchError, FetchRequest, FetchResponse, Length, Redirect};

/// The most header lines one head may have.
const HEADERS_MAX: usize = 4_096;

/// No body is so long: up to it, a number is exact.
const LENGTH_MAX: f64 = 9_007_199_254_740_992.0;

pub(super) fn write_request(request: FetchRequest) -> Result<Message, FetchError> {
    let redirect = match request.redirect {
        Redirect::Follow => "follow",
        Redirect::Manual => "manual",
    };
    let mut fields = vec![
        ("method", Plain::from(request.method)),
        ("url", Plain::from(request.url)),
        ("headers", write_headers(request.headers)),
        ("redirect", Plain::from(redirect)),
    ];
    write_body(request.body, &mut fields);
    if let Some(cf) = request.cf {
        fields.push(("cf", cf));
    }
    let request = Plain::Object(fields.into_iter().collect());
    Plain::arguments(vec![request]).map_err(|_| FetchError::TooLarge)
}

pub(super) fn read_request(arguments: &Message) -> Result<FetchRequest, FetchError> {
    let Plain::Array(arguments) = Plain::from_message(arguments)? else {
        return Err(FetchError::Missing("arguments"));
    };
    let Some(Plain::Object(mut fields)) = arguments.into_iter().next() else {
        return Err(FetchError::Missing("a request"));
    };
    let manual = fields.get("redirect").and_then(Plain::as_string).is_some_and(|mode| *mode == *"manual");
    Ok(FetchRequest {
        method: text(&fields, "method")?,
        url: text(&fields, "url")?,
        headers: read_headers(&fields)?,
        body: read_body(&mut fields),
        redirect: if manual { Redirect::Manual } else { Redirect::Follow },
        cf: fields.remove("cf").filter(|cf| !matches!(cf, Plain::Undefined)),
    })
}

pub(super) fn write_response(response: FetchResponse) -> Result<Message, FetchError> {
    let mut fields = vec![
        ("status", Plain::from(u32::from(response.status))),
        ("statusText", Plain::from(response.status_text)),
        ("headers", write_headers(response.headers)),
    ];
    write_body(response.body, &mut fields);
    if let Some(WebSocketEnd { target, message_bytes_max }) = response.web_socket {
        fields.push(("webSocket", Plain::Cap(Cap { kind: CapKind::Object, target })));
        fields.push(("webSocketBytesMax", Plain::Number(message_bytes_max as f64)));
    }
    Plain::Object(fields.into_iter().collect()).to_message().map_err(|_| FetchError::TooLarge)
}

pub(super) fn read_response(result: &Message) -> Result<FetchResponse, FetchError> {
    let Plain::Object(mut fields) = Plain::from_message(result)? else {
        return Err(FetchError::Missing("a response"));
    };
    let status = fields.get("status").and_then(Plain::as_number).filter(|status| (100.0..600.0).contains(status));
    Ok(FetchResponse {
        // In range, so nothing is cut off but a fraction.
        status: status.ok_or(FetchError::Missing("a status"))? as u16,
        status_text: text(&fields, "statusText")?,
        headers: read_headers(&fields)?,
        body: read_body(&mut fields),
        web_socket: read_web_socket(&mut fields),
    })
}

fn read_web_socket(fields: &mut PlainObject) -> Option<WebSocketEnd> {
    let Some(Plain::Cap(cap)) = fields.remove("webSocket") else { return None };
    let bytes_max = fields.get("webSocketBytesMax").and_then(Plain::as_number);
    // Clamped, so nothing is cut off but a fraction.
    let clamped = bytes_max.map(|bytes_max| bytes_max.clamp(0.0, LARGE_MESSAGE_BYTES_MAX as f64) as u64);
    Some(WebSocketEnd { target: cap.target, message_bytes_max: clamped.unwrap_or(MESSAGE_BYTES_MAX) })
}

fn text(fields: &PlainObject, name: &'static str) -> Result<String, FetchError> {
    fields.get(name).and_then(Plain::as_string).map(JsString::to_string_lossy).ok_or(FetchError::Missing(name))
}

fn write_headers(headers: Vec<(String, String)>) -> Plain {
    let lines = headers.into_iter().map(|(name, value)| Plain::Array(vec![name.into(), value.into()]));
    Plain::Array(lines.collect())
}

fn read_headers(fields: &PlainObject) -> Result<Vec<(String, String)>, FetchError> {
    let lines = fields.get("headers").and_then(Plain::as_array).ok_or(FetchError::Missing("headers"))?;
    if lines.len() > HEADERS_MAX {
        return Err(FetchError::TooLarge);
    }
    let pair = |line: &Plain| match line.as_array()? {
        [name, value] => Some((name.as_string()?.to_string_lossy(), value.as_string()?.to_string_lossy())),
        _ => None,
    };
    lines.iter().map(pair).collect::<Option<_>>().ok_or(FetchError::Missing("headers"))
}

fn write_body(body: Body, fields: &mut Vec<(&'static str, Plain)>) {
    let body = match body {
        Body::Empty => Plain::Null,
        Body::Bytes(bytes) => Plain::Bytes(BytesKind::Uint8Array, bytes),
        Body::Stream { source, length } => {
            if let Length::Bytes(bytes) = length {
                // Exact below 2⁵³.
                fields.push(("length", Plain::Number(bytes as f64)));
            }
            Plain::Cap(Cap { kind: CapKind::Object, target: source })
        }
    };
    fields.push(("body", body));
}

fn read_body(fields: &mut PlainObject) -> Body {
    let length = fields.get("length").and_then(Plain::as_number).filter(|length| (0.0..LENGTH_MAX).contains(length));
    match fields.remove("body") {
        Some(Plain::Bytes(_, bytes)) => Body::Bytes(bytes),
        Some(Plain::Cap(cap)) => {
            // In range, so nothing is cut off but a fraction.
            let length = length.map_or(Length::Unknown, |length| Length::Bytes(length as u64));
            Body::Stream { source: cap.target, length }
        }
        _ => Body::Empty,
    }
}
