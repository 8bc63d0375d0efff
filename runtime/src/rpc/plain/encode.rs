//! [`Plain`] to structured-clone bytes, as V8 would write them.

use super::wire::*;
use super::{BigInt, BytesKind, DEPTH_MAX, EncodeError, JsString, Made, Plain, PlainError, PlainObject};
use crate::rpc::{Cap, MESSAGE_BYTES_MAX, Message, host_tag};

type Result<T> = std::result::Result<T, EncodeError>;

pub(super) fn encode(value: &Plain) -> Result<Message> {
    let mut encoder = Encoder::new(header());
    encoder.value(value)?;
    Ok(Message { bytes: host_tag::frame(encoder.bytes, &encoder.parts).into(), caps: encoder.caps })
}

/// Appends the bytes of a message that is one `Uint8Array`. Its content comes in parts, so that each byte is copied once.
///
/// # Errors
/// It is longer than a message may be; nothing has been appended.
pub fn append_bytes(message: &mut Vec<u8>, parts: &[bytes::Bytes]) -> Result<()> {
    let length = parts.iter().map(bytes::Bytes::len).sum();
    if length > MESSAGE_BYTES_MAX - HOLDER_BYTES_MAX {
        return Err(EncodeError::Bytes(length));
    }
    message.reserve(length + HOLDER_BYTES_MAX);
    message.extend_from_slice(&header());
    let mut encoder = Encoder::new(std::mem::take(message));
    encoder.byte_holder(BytesKind::Uint8Array, length, parts);
    *message = encoder.bytes;
    Ok(())
}

/// The most bytes that a message has beside those of its one view.
const HOLDER_BYTES_MAX: usize = 32;

struct Encoder {
    bytes: Vec<u8>,
    caps: Vec<Cap>,
    /// Of the body that is being written.
    parts: Vec<Vec<u8>>,
    depth: usize,
    part_depth: usize,
}

fn header() -> Vec<u8> {
    vec![VERSION, VERSION_WRITTEN]
}

impl Encoder {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, caps: Vec::new(), parts: Vec::new(), depth: 0, part_depth: 0 }
    }

    fn value(&mut self, value: &Plain) -> Result<()> {
        if self.depth >= DEPTH_MAX {
            return Err(EncodeError::Depth);
        }
        self.depth += 1;
        match value {
            Plain::Undefined => self.bytes.push(UNDEFINED),
            Plain::Null => self.bytes.push(NULL),
            Plain::Bool(true) => self.bytes.push(TRUE),
            Plain::Bool(false) => self.bytes.push(FALSE),
            Plain::Number(number) => self.number(*number),
            Plain::BigInt(integer) => self.big_int(integer),
            Plain::String(string) => self.string(string),
            Plain::Array(elements) => self.array(elements)?,
            Plain::Object(object) => self.object(object)?,
            Plain::Map(entries) => {
                self.bytes.push(BEGIN_MAP);
                for (key, value) in entries {
                    self.value(key)?;
                    self.value(value)?;
                }
                self.bytes.push(END_MAP);
                self.varint(entries.len() * 2);
            }
            Plain::Set(members) => {
                self.bytes.push(BEGIN_SET);
                for member in members {
                    self.value(member)?;
                }
                self.bytes.push(END_SET);
                self.varint(members.len());
            }
            Plain::Date(millis) => {
                self.bytes.push(DATE);
                self.bytes.extend_from_slice(&millis.to_le_bytes());
            }
            Plain::Bytes(kind, bytes) => self.byte_holder(*kind, bytes.len(), std::slice::from_ref(bytes)),
            Plain::Error(error) => self.error(error)?,
            Plain::Cap(cap) => {
                self.bytes.push(HOST_OBJECT);
                self.varint(host_tag::CAPABILITY as usize);
                self.varint(self.caps.len());
                self.caps.push(cap.clone());
            }
            Plain::Made(made, of) => self.part(*made, of)?,
        }
        self.depth -= 1;
        // Checked after each value, so that what is over the limit is at most one string or buffer.
        if self.bytes.len() > MESSAGE_BYTES_MAX { Err(EncodeError::Bytes(self.bytes.len())) } else { Ok(()) }
    }

    /// A body of its own, which goes before this one.
    fn part(&mut self, made: Made, of: &Plain) -> Result<()> {
        if self.part_depth >= host_tag::PART_DEPTH_MAX || self.parts.len() >= host_tag::PARTS_MAX {
            return Err(EncodeError::Depth);
        }
        self.part_depth += 1;
        let outer = (std::mem::replace(&mut self.bytes, header()), std::mem::take(&mut self.parts));
        self.bytes.push(BEGIN_DENSE_ARRAY);
        self.varint(2);
        self.number(made.part().into());
        self.value(of)?;
        self.bytes.push(END_DENSE_ARRAY);
        self.varint(0);
        self.varint(2);
        let body = host_tag::frame(std::mem::take(&mut self.bytes), &self.parts);
        (self.bytes, self.parts) = outer;
        self.part_depth -= 1;
        self.bytes.push(HOST_OBJECT);
        self.varint(host_tag::PART as usize);
        self.varint(self.parts.len());
        self.parts.push(body);
        Ok(())
    }

    fn number(&mut self, number: f64) {
        let integer = number as i32;
        // Compared by bits: -0 is not the integer 0.
        if f64::from(integer).to_bits() == number.to_bits() {
            self.int32(integer);
        } else {
            self.bytes.push(DOUBLE);
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn int32(&mut self, integer: i32) {
        self.bytes.push(INT32);
        let zigzag = (integer << 1) ^ (integer >> 31);
        self.varint(zigzag.cast_unsigned() as usize);
    }

    fn big_int(&mut self, integer: &BigInt) {
        self.bytes.push(BIG_INT);
        let length = integer.magnitude.len().next_multiple_of(8);
        self.varint(length << 1 | usize::from(integer.negative && length > 0));
        self.bytes.extend_from_slice(&integer.magnitude);
        self.bytes.resize(self.bytes.len() + (length - integer.magnitude.len()), 0);
    }

    fn string(&mut self, string: &JsString) {
        if string.is_latin1() {
            self.bytes.push(ONE_BYTE_STRING);
            match string.as_str() {
                Some(text) if text.is_ascii() => {
                    self.varint(text.len());
                    self.bytes.extend_from_slice(text.as_bytes());
                }
                _ => {
                    self.varint(string.len_utf16());
                    self.bytes.extend(string.units().map(|unit| unit.to_le_bytes()[0]));
                }
            }
            return;
        }
        let length = string.len_utf16() * 2;
        // Two-byte characters start at an even place.
        if (self.bytes.len() + 1 + varint_len(length)) % 2 == 1 {
            self.bytes.push(PADDING);
        }
        self.bytes.push(TWO_BYTE_STRING);
        self.varint(length);
        self.bytes.reserve(length);
        for unit in string.units() {
            self.bytes.extend_from_slice(&unit.to_le_bytes());
        }
    }

    fn array(&mut self, elements: &[Plain]) -> Result<()> {
        self.bytes.push(BEGIN_DENSE_ARRAY);
        self.varint(elements.len());
        for element in elements {
            self.value(element)?;
        }
        self.bytes.push(END_DENSE_ARRAY);
        self.varint(0);
        self.varint(elements.len());
        Ok(())
    }

    fn object(&mut self, object: &PlainObject) -> Result<()> {
        self.bytes.push(BEGIN_OBJECT);
        for (key, value) in object {
            match key.array_index() {
                Some(index) if index <= INDEX_AS_INT32_MAX => self.int32(index.cast_signed()),
                Some(index) => self.number(index.into()),
                None => self.string(key),
            }
            self.value(value)?;
        }
        self.bytes.push(END_OBJECT);
        self.varint(object.len());
        Ok(())
    }

    /// `length` is that of all parts.
    fn byte_holder(&mut self, kind: BytesKind, length: usize, parts: &[bytes::Bytes]) {
        self.bytes.push(ARRAY_BUFFER);
        self.varint(length);
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        if let Some((tag, ..)) = VIEWS.iter().find(|(_, view, _)| *view == kind) {
            self.bytes.extend_from_slice(&[ARRAY_BUFFER_VIEW, *tag]);
            self.varint(0);
            self.varint(length);
            self.varint(0);
        }
    }

    /// As V8 itself writes errors; one with a name or properties of its own as `rpc::serialize` does.
    fn error(&mut self, error: &PlainError) -> Result<()> {
        let class = ERROR_CLASSES.iter().find(|(_, class)| *class == error.name);
        if !error.properties.is_empty() || (class.is_none() && error.name != "Error") {
            return self.host_error(error);
        }
        self.bytes.push(ERROR);
        self.bytes.extend(class.map(|(tag, _)| *tag));
        if let Some(message) = &error.message {
            self.bytes.push(ERROR_MESSAGE);
            self.string(message);
        }
        if let Some(stack) = &error.stack {
            self.bytes.push(ERROR_STACK);
            self.string(stack);
        }
        if let Some(cause) = &error.cause {
            self.bytes.push(ERROR_CAUSE);
            self.value(cause)?;
        }
        self.bytes.push(ERROR_END);
        Ok(())
    }

    fn host_error(&mut self, error: &PlainError) -> Result<()> {
        self.bytes.push(HOST_OBJECT);
        self.varint(host_tag::ERROR as usize);
        self.string(&error.name.as_str().into());
        self.string(error.message.as_ref().unwrap_or(&JsString::default()));
        let cause = error.cause.iter().map(|cause| ("cause".into(), cause.clone()));
        let properties = error.properties.iter().cloned().chain(cause).collect();
        self.object(&PlainObject::from_entries(properties))
    }

    fn varint(&mut self, mut value: usize) {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

fn varint_len(value: usize) -> usize {
    (usize::BITS - value.leading_zeros()).div_ceil(7).max(1) as usize
}
