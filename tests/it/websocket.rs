//! A WebSocket client (RFC 6455) with as much of the protocol as tests need.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// How long a frame is waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// A frame's longest content, in bytes.
const FRAME_BYTES_MAX: u64 = 16 << 20;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;

/// The key of the specification's own example, and the answer to it.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// Opens a WebSocket and plays `steps`: `{"send": TEXT}`, `{"receive": TEXT}`, both with `"times"`, the same with `Bytes`,
/// `{"close": CODE}` and `{"receiveClose": CODE, "reason": TEXT}`.
pub(crate) fn play(port: u16, path: &str, steps: &[Value]) -> Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: {KEY}\r\n\r\n"
    )?;
    let head = head(&mut stream)?;
    if !head.starts_with("HTTP/1.1 101 ") || !head.contains(ACCEPT) {
        return Err(format!("no WebSocket: {head}").into());
    }
    for (at, step) in steps.iter().enumerate() {
        take(&mut stream, step).map_err(|error| format!("step {at}, {step}: {error}"))?;
    }
    Ok(())
}

fn head(stream: &mut TcpStream) -> Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.extend_from_slice(&byte);
    }
    Ok(String::from_utf8(head)?)
}

fn take(stream: &mut TcpStream, step: &Value) -> Result<()> {
    let times = step["times"].as_u64().unwrap_or(1);
    let text = |value: &Value| value.as_str().map(|text| text.repeat(times as usize).into_bytes());
    let bytes = |value: &Value| serde_json::from_value::<Vec<u8>>(value.clone()).ok();
    let code = |value: &Value| value.as_u64().and_then(|code| u16::try_from(code).ok());
    if let Some(content) = text(&step["send"]) {
        send(stream, TEXT, &content)
    } else if let Some(content) = bytes(&step["sendBytes"]) {
        send(stream, BINARY, &content)
    } else if let Some(code) = code(&step["close"]) {
        send(stream, CLOSE, &code.to_be_bytes())
    } else if let Some(content) = text(&step["receive"]) {
        expect(stream, TEXT, &content)
    } else if let Some(content) = bytes(&step["receiveBytes"]) {
        expect(stream, BINARY, &content)
    } else if let Some(code) = code(&step["receiveClose"]) {
        let reason = step["reason"].as_str().unwrap_or_default();
        expect(stream, CLOSE, &[&code.to_be_bytes(), reason.as_bytes()].concat())
    } else {
        Err("not a step".into())
    }
}

/// Sends one whole message in a frame. Its mask is zero, which changes no byte.
fn send(stream: &mut TcpStream, kind: u8, content: &[u8]) -> Result<()> {
    let mut frame = vec![0x80 | kind];
    match content.len() {
        length @ ..126 => frame.push(0x80 | length as u8),
        length @ ..0x1_0000 => {
            frame.push(0x80 | 126);
            frame.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(content);
    Ok(stream.write_all(&frame)?)
}

/// Receives one whole message, in however many frames.
fn expect(stream: &mut TcpStream, kind: u8, content: &[u8]) -> Result<()> {
    let (mut first, mut got) = (None, Vec::new());
    loop {
        let mut start = [0; 2];
        stream.read_exact(&mut start)?;
        let length = match start[1] {
            126 => {
                let mut length = [0; 2];
                stream.read_exact(&mut length)?;
                u16::from_be_bytes(length).into()
            }
            127 => {
                let mut length = [0; 8];
                stream.read_exact(&mut length)?;
                u64::from_be_bytes(length)
            }
            // A server's frames are not masked: the mask's bit would make it more than this.
            short if short < 126 => short.into(),
            masked => return Err(format!("a masked frame: {masked}").into()),
        };
        if length > FRAME_BYTES_MAX {
            return Err(format!("a frame of {length} bytes").into());
        }
        stream.take(length).read_to_end(&mut got)?;
        first.get_or_insert(start[0] & 0x0f);
        if start[0] & 0x80 != 0 {
            break;
        }
    }
    if first == Some(kind) && got == content {
        return Ok(());
    }
    let shown = String::from_utf8_lossy(&got[..got.len().min(100)]).into_owned();
    Err(format!("got a message of kind {first:?} and {} bytes: {shown:?}", got.len()).into())
}
