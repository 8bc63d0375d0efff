//! Bytes of a connection to frames and back. Memory is bounded by a part of a message, whatever a peer announces.

use std::io::Cursor;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

use super::PART_BYTES_MAX;
use super::deflate::{self, Deflater, Inflater};
use super::extensions::Deflate;
use super::frame::{Frame, Part};

/// Bytes read from a connection at once.
const READ_BYTES: usize = 16 << 10;

/// Bytes of a control frame's payload.
const CONTROL_BYTES_MAX: u64 = 125;

/// Bytes of a frame that are written together with its header.
const TOGETHER_BYTES_MAX: usize = 16 << 10;

/// Which end of the connection this is. Clients mask what they send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Client,
    Server,
}

/// What a connection's other end sent.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message or part of one, or Close.
    Frame(Frame),
    /// To be answered with a pong.
    Ping(Bytes),
}

/// Why nothing more can be read.
#[derive(Debug)]
pub(super) enum ReadError {
    Lost,
    /// The other end broke the protocol: what to close with.
    Protocol {
        code: u16,
        what: String,
    },
}

fn protocol(what: impl Into<String>) -> ReadError {
    ReadError::Protocol { code: 1002, what: what.into() }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Binary,
}

/// A message that is being received.
struct Message {
    kind: Kind,
    /// Payload so far, frames that were announced included.
    announced: u64,
    coding: Coding,
    /// Of a compressed message, what came out so far.
    inflated: u64,
}

/// Whether a message is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Plain,
    Deflated,
}

/// A data frame that is being received.
struct DataFrame {
    remaining: u64,
    mask: Mask,
    is_final: bool,
}

/// A masking key and how far it has been used.
struct Mask {
    key: Option<[u8; 4]>,
    used: usize,
}

impl Mask {
    fn apply(&mut self, bytes: &mut [u8]) {
        let Some(key) = self.key else { return };
        let mut turned = [0; 4];
        for (index, byte) in turned.iter_mut().enumerate() {
            *byte = key[(self.used + index) % 4];
        }
        for chunk in bytes.chunks_mut(4) {
            for (byte, key) in chunk.iter_mut().zip(turned) {
                *byte ^= key;
            }
        }
        self.used = (self.used + bytes.len()) % 4;
    }
}

/// The reading half of a connection.
pub(super) struct Reader<R> {
    io: R,
    role: Role,
    /// Read and not yet taken apart.
    buffer: BytesMut,
    message: Option<Message>,
    frame: Option<DataFrame>,
    /// Of the message, not yet given out.
    pending: Vec<u8>,
    /// Where compression was agreed on.
    inflater: Option<Inflater>,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub(super) fn new(io: R, role: Role, deflate: Option<Deflate>) -> Self {
        let inflater = deflate.map(|deflate| Inflater::new(deflate.incoming));
        Self { io, role, buffer: BytesMut::new(), message: None, frame: None, pending: Vec::new(), inflater }
    }

    /// The next frame. Messages longer than `bytes_max` are refused as soon as they are announced. Nothing is lost when
    /// the future is dropped.
    pub(super) async fn next(&mut self, bytes_max: u64) -> Result<Incoming, ReadError> {
        loop {
            if self.frame.is_some() {
                let deflated = self.message.as_ref().is_some_and(|message| message.coding == Coding::Deflated);
                let frame = if deflated { self.deflated_data(bytes_max).await? } else { self.data().await? };
                if let Some(frame) = frame {
                    return Ok(Incoming::Frame(frame));
                }
                continue;
            }
            let (header, length) = self.peek_header().await?;
            match header.opcode {
                OpCode::Control(control) => {
                    let payload = self.control(&header, length).await?;
                    match control {
                        Control::Close => return Ok(Incoming::Frame(close_frame(&payload)?)),
                        Control::Ping => return Ok(Incoming::Ping(payload)),
                        Control::Pong | Control::Reserved(_) => {}
                    }
                }
                OpCode::Data(data) => self.begin(&header, data, length, bytes_max)?,
            }
        }
    }

    /// Reads and throws away until the other end is gone.
    pub(super) async fn drain(&mut self) {
        self.buffer.clear();
        while self.fill().await.is_ok() {
            self.buffer.clear();
        }
    }

    async fn fill(&mut self) -> Result<(), ReadError> {
        self.buffer.reserve(READ_BYTES);
        match (&mut self.io).take(READ_BYTES as u64).read_buf(&mut self.buffer).await {
            Ok(0) | Err(_) => Err(ReadError::Lost),
            Ok(_) => Ok(()),
        }
    }

    /// The next frame's header, and the payload's length. It stays in the buffer, so that nothing is half taken.
    async fn peek_header(&mut self) -> Result<(FrameHeader, u64), ReadError> {
        loop {
            let mut cursor = Cursor::new(&self.buffer[..]);
            match FrameHeader::parse(&mut cursor) {
                Ok(Some((header, length))) => {
                    self.check(&header)?;
                    return Ok((header, length));
                }
                Ok(None) => self.fill().await?,
                Err(_) => {
                    let opcode = self.buffer.first().map_or(0, |first| first & 0x0f);
                    return Err(protocol(format!("Unknown opcode {opcode}")));
                }
            }
        }
    }

    fn check(&self, header: &FrameHeader) -> Result<(), ReadError> {
        if header.rsv1 && self.inflater.is_none() {
            return Err(protocol(
                "Received a WebSocket frame whose compression bit was set, but the compression extension was not \
                 negotiated for this connection.",
            ));
        }
        // Compression is a matter of whole messages, so their first frame says it.
        let compresses = matches!(header.opcode, OpCode::Data(Data::Text | Data::Binary));
        if header.rsv2 || header.rsv3 || (header.rsv1 && !compresses) {
            return Err(protocol("Received a frame with reserved bits set"));
        }
        match (self.role, header.mask) {
            (Role::Server, None) => Err(protocol("Received an unmasked frame from a client")),
            (Role::Client, Some(_)) => Err(protocol("Received a masked frame from a server")),
            _ => Ok(()),
        }
    }

    /// Takes a whole control frame out of the buffer.
    async fn control(&mut self, header: &FrameHeader, length: u64) -> Result<Bytes, ReadError> {
        if !header.is_final {
            return Err(protocol("Received fragmented control frame"));
        }
        if length > CONTROL_BYTES_MAX {
            return Err(protocol("Received a control frame that is too large"));
        }
        let (head, length) = (header_bytes(header, &self.buffer), length as usize);
        while self.buffer.len() < head + length {
            self.fill().await?;
        }
        self.buffer.advance(head);
        let mut payload = self.buffer.split_to(length);
        Mask { key: header.mask, used: 0 }.apply(&mut payload);
        Ok(payload.freeze())
    }

    /// Takes a data frame's header out of the buffer.
    fn begin(&mut self, header: &FrameHeader, data: Data, length: u64, bytes_max: u64) -> Result<(), ReadError> {
        let kind = match data {
            Data::Text => Some(Kind::Text),
            Data::Binary => Some(Kind::Binary),
            Data::Continue | Data::Reserved(_) => None,
        };
        let message = match (kind, self.message.take()) {
            (None, None) => return Err(protocol("Unexpected continuation frame")),
            (Some(_), Some(_)) => return Err(protocol("Missing continuation frame")),
            (Some(kind), None) => {
                let coding = if header.rsv1 { Coding::Deflated } else { Coding::Plain };
                Message { kind, announced: length, coding, inflated: 0 }
            }
            (None, Some(message)) => Message { announced: message.announced.saturating_add(length), ..message },
        };
        if message.announced > bytes_max {
            let what = format!("Message is too large: {} > {bytes_max}", message.announced);
            return Err(ReadError::Protocol { code: 1009, what });
        }
        self.message = Some(message);
        self.buffer.advance(header_bytes(header, &self.buffer));
        let mask = Mask { key: header.mask, used: 0 };
        self.frame = Some(DataFrame { remaining: length, mask, is_final: header.is_final });
        Ok(())
    }

    /// Reads on in a data frame. A frame comes of it when a message is complete, or too long to be kept whole.
    async fn data(&mut self) -> Result<Option<Frame>, ReadError> {
        loop {
            let Some(frame) = &mut self.frame else { return Ok(None) };
            let room = PART_BYTES_MAX.saturating_sub(self.pending.len());
            // Lengths beyond the address space are far above any limit on messages.
            let wanted = usize::try_from(frame.remaining).unwrap_or(usize::MAX).min(room);
            if wanted == 0 {
                break;
            }
            if self.buffer.is_empty() {
                self.fill().await?;
                continue;
            }
            let taken = wanted.min(self.buffer.len());
            let mut bytes = self.buffer.split_to(taken);
            frame.mask.apply(&mut bytes);
            frame.remaining -= taken as u64;
            self.pending.extend_from_slice(&bytes);
        }
        let Some(frame) = &self.frame else { return Ok(None) };
        let part = match (frame.remaining, frame.is_final) {
            (0, true) => Part::Last,
            (0, false) => {
                self.frame = None;
                return Ok(None);
            }
            _ => Part::More,
        };
        self.give_out(part).map(Some)
    }

    /// The same, of a compressed message: it is decompressed only as far as there is room for it.
    async fn deflated_data(&mut self, bytes_max: u64) -> Result<Option<Frame>, ReadError> {
        loop {
            let (Some(frame), Some(message), Some(inflater)) = (&mut self.frame, &mut self.message, &mut self.inflater)
            else {
                return Ok(None);
            };
            let room = PART_BYTES_MAX.saturating_sub(self.pending.len());
            if room == 0 {
                return self.give_out(Part::More).map(Some);
            }
            if inflater.is_busy() {
                let before = self.pending.len();
                inflater
                    .inflate(&mut self.pending, room)
                    .map_err(|deflate::Invalid| protocol("Invalid compressed data"))?;
                message.inflated += (self.pending.len() - before) as u64;
                if message.inflated > bytes_max {
                    return Err(ReadError::Protocol { code: 1009, what: "Message is too large".to_owned() });
                }
            } else if frame.remaining > 0 {
                if self.buffer.is_empty() {
                    self.fill().await?;
                    continue;
                }
                let wanted = usize::try_from(frame.remaining).unwrap_or(usize::MAX).min(READ_BYTES);
                let mut bytes = self.buffer.split_to(wanted.min(self.buffer.len()));
                frame.mask.apply(&mut bytes);
                frame.remaining -= bytes.len() as u64;
                inflater.give(&bytes);
            } else if !frame.is_final {
                self.frame = None;
                return Ok(None);
            } else if inflater.end() {
                return self.give_out(Part::Last).map(Some);
            }
        }
    }

    /// What came of a message so far, as a frame.
    fn give_out(&mut self, part: Part) -> Result<Frame, ReadError> {
        let kind = self.message.as_ref().map_or(Kind::Binary, |message| message.kind);
        if part == Part::Last {
            (self.frame, self.message) = (None, None);
        }
        let pending = std::mem::take(&mut self.pending);
        match kind {
            Kind::Binary => Ok(Frame::Binary(pending.into(), part)),
            Kind::Text => {
                let (text, rest) = take_text(pending, part)?;
                self.pending = rest;
                Ok(Frame::Text(text, part))
            }
        }
    }
}

/// The text in a part, and the bytes of a character that the part cuts in two.
fn take_text(bytes: Vec<u8>, part: Part) -> Result<(String, Vec<u8>), ReadError> {
    let not_utf8 = || ReadError::Protocol { code: 1007, what: "Received a text message that is not UTF-8".into() };
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, Vec::new())),
        Err(error) => {
            let (whole, cut) = (error.utf8_error().valid_up_to(), error.utf8_error().error_len());
            if cut.is_some() || part == Part::Last {
                return Err(not_utf8());
            }
            let mut bytes = error.into_bytes();
            let rest = bytes.split_off(whole);
            Ok((String::from_utf8(bytes).map_err(|_| not_utf8())?, rest))
        }
    }
}

/// How long a header that was parsed is.
fn header_bytes(header: &FrameHeader, buffer: &[u8]) -> usize {
    // Its form, not its value: a sender may write a small length long.
    let extended = match buffer.get(1).map_or(0, |second| second & 0x7f) {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    2 + extended + if header.mask.is_some() { 4 } else { 0 }
}

/// RFC 6455 5.5.1: nothing, or a code and a reason in UTF-8.
fn close_frame(payload: &[u8]) -> Result<Frame, ReadError> {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return match payload {
            [] => Ok(Frame::Close { code: 1005, reason: String::new() }),
            _ => Err(protocol("Received a Close frame with half a code")),
        };
    };
    let code = u16::from_be_bytes(*code);
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(protocol(format!("Received a Close frame with the code {code}")));
    }
    match std::str::from_utf8(reason) {
        Ok(reason) => Ok(Frame::Close { code, reason: reason.to_owned() }),
        Err(_) => {
            Err(ReadError::Protocol { code: 1007, what: "Received a Close frame whose reason is not UTF-8".into() })
        }
    }
}

/// The writing half of a connection.
pub(super) struct Writer<W> {
    io: W,
    role: Role,
    /// A message was begun and goes on.
    in_message: bool,
    /// A frame was begun: when its writing was given up, nothing can follow.
    in_frame: bool,
    closed: bool,
    /// Where compression was agreed on.
    deflater: Option<Deflater>,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub(super) fn new(io: W, role: Role, deflate: Option<Deflate>) -> Self {
        let deflater = deflate.map(|deflate| Deflater::new(deflate.outgoing));
        Self { io, role, in_message: false, in_frame: false, closed: false, deflater }
    }

    pub(super) async fn frame(&mut self, frame: &Frame) -> std::io::Result<()> {
        match frame {
            Frame::Text(text, part) => self.data(Data::Text, text.as_bytes(), *part).await,
            Frame::Binary(bytes, part) => self.data(Data::Binary, bytes, *part).await,
            Frame::Close { code, reason } => self.close(*code, reason).await,
            Frame::Error(_) | Frame::Lost => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    async fn data(&mut self, data: Data, payload: &[u8], part: Part) -> std::io::Result<()> {
        let (data, begins) = if self.in_message { (Data::Continue, false) } else { (data, true) };
        self.in_message = part == Part::More;
        let deflated = self.deflater.as_mut().map(|deflater| deflater.deflate(payload, part)).transpose()?;
        let coding = if deflated.is_some() && begins { Coding::Deflated } else { Coding::Plain };
        self.write(OpCode::Data(data), coding, part, deflated.as_deref().unwrap_or(payload)).await
    }

    pub(super) async fn pong(&mut self, payload: &[u8]) -> std::io::Result<()> {
        self.write(OpCode::Control(Control::Pong), Coding::Plain, Part::Last, payload).await
    }

    /// Closes this direction; again, it does nothing. Code 1005 says none, and no reason then.
    pub(super) async fn close(&mut self, code: u16, reason: &str) -> std::io::Result<()> {
        if self.closed || self.in_frame {
            return Ok(());
        }
        self.closed = true;
        let mut payload = Vec::new();
        if code != 1005 {
            payload.extend_from_slice(&code.to_be_bytes());
            let mut room = reason.len().min(CONTROL_BYTES_MAX as usize - 2);
            while !reason.is_char_boundary(room) {
                room -= 1;
            }
            payload.extend_from_slice(&reason.as_bytes()[..room]);
        }
        self.write(OpCode::Control(Control::Close), Coding::Plain, Part::Last, &payload).await
    }

    async fn write(&mut self, opcode: OpCode, coding: Coding, part: Part, payload: &[u8]) -> std::io::Result<()> {
        let key = match self.role {
            Role::Server => None,
            Role::Client => Some(random_key()?),
        };
        let (is_final, rsv1) = (part == Part::Last, coding == Coding::Deflated);
        let header = FrameHeader { is_final, rsv1, rsv2: false, rsv3: false, opcode, mask: key };
        let mut bytes = Vec::with_capacity(16 + payload.len().min(TOGETHER_BYTES_MAX));
        header.format(payload.len() as u64, &mut bytes).map_err(std::io::Error::other)?;
        let together = key.is_some() || payload.len() <= TOGETHER_BYTES_MAX;
        if together {
            let head = bytes.len();
            bytes.extend_from_slice(payload);
            Mask { key, used: 0 }.apply(&mut bytes[head..]);
        }
        self.in_frame = true;
        self.io.write_all(&bytes).await?;
        if !together {
            self.io.write_all(payload).await?;
        }
        self.io.flush().await?;
        self.in_frame = false;
        Ok(())
    }

    /// Says that nothing follows, whether the protocol says so or not.
    pub(super) async fn shut_down(&mut self) {
        // When the other end is gone there is nobody to tell.
        let _ = self.io.shutdown().await;
    }
}

/// A masking key: unpredictable, as RFC 6455 10.3 asks, so that a program cannot choose what is on the wire.
fn random_key() -> std::io::Result<[u8; 4]> {
    let mut key = [0; 4];
    getrandom::fill(&mut key).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(key)
}
