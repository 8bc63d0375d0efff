//! Structured-clone bytes to [`Plain`]. The bytes may be hostile: every length is checked against what is left of
//! them before anything is allocated, and depth and number of values are bounded.

use bytes::Bytes;

use super::string::JsStringBuilder;
use super::wire::*;
use super::{BigInt, BytesKind, DEPTH_MAX, DecodeError, JsString, Plain, PlainError, PlainObject, VALUES_MAX};
use crate::rpc::{Cap, MESSAGE_BYTES_MAX, Message, host_tag};

type Result<T> = std::result::Result<T, DecodeError>;

/// The bytes that strings and big integers may take together: more than the message when back-references repeat them.
const UNFOLDED_BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;

/// Elements reserved before the first is read; more are reserved as they come.
const RESERVE_MAX: usize = 1024;

pub(super) fn decode(message: &Message) -> Result<Plain> {
    if message.bytes.len() > MESSAGE_BYTES_MAX {
        return Err(DecodeError::Bytes);
    }
    let mut decoder = Decoder {
        bytes: &message.bytes,
        caps: &message.caps,
        at: 0,
        values: 0,
        unfolded_bytes: 0,
        depth: 0,
        objects: Vec::new(),
        next_id: 0,
    };
    decoder.header()?;
    decoder.value()
}

struct Decoder<'a> {
    bytes: &'a Bytes,
    caps: &'a [Cap],
    at: usize,
    values: usize,
    /// Bytes of strings and big integers made so far.
    unfolded_bytes: usize,
    depth: usize,
    /// The objects met so far, by the id that back-references name.
    objects: Vec<Seen>,
    next_id: usize,
}

/// An object that a back-reference may name.
#[derive(Clone)]
enum Seen {
    /// Still being read: a reference to it makes a cycle.
    Open,
    /// Its tag is at this place, from which it can be read again.
    At(usize),
    /// Bytes are shared instead.
    Bytes(BytesKind, Bytes),
}

impl Decoder<'_> {
    fn header(&mut self) -> Result<()> {
        if self.bytes.first() == Some(&host_tag::PARTS) {
            // Objects of the API: only the value that refers to one of them cannot be read.
            self.at = 1;
            let start = self.at;
            let count = self.varint32()? as usize;
            if count > host_tag::PARTS_MAX {
                return Err(DecodeError::Malformed(start));
            }
            for _ in 0..count {
                let length = self.length()?;
                self.take(length)?;
            }
        }
        if self.byte()? != VERSION {
            return Err(DecodeError::Version(0));
        }
        let version = self.varint32()?;
        if VERSIONS_READ.contains(&version) { Ok(()) } else { Err(DecodeError::Version(version)) }
    }

    /// Reads one value, and the view that may follow a buffer.
    fn value(&mut self) -> Result<Plain> {
        self.values += 1;
        if self.values > VALUES_MAX {
            return Err(DecodeError::Values);
        }
        if self.depth >= DEPTH_MAX {
            return Err(DecodeError::Depth);
        }
        self.depth += 1;
        let value = self.value_at_depth();
        self.depth -= 1;
        value
    }

    fn value_at_depth(&mut self) -> Result<Plain> {
        let value = self.value_without_view()?;
        if let Plain::Bytes(BytesKind::ArrayBuffer, bytes) = &value
            && self.peek_tag() == Some(ARRAY_BUFFER_VIEW)
        {
            let start = self.at;
            self.tag()?;
            return self.view(start, bytes);
        }
        Ok(value)
    }

    fn value_without_view(&mut self) -> Result<Plain> {
        let tag = self.tag()?;
        let start = self.at - 1;
        match tag {
            VERIFY_OBJECT_COUNT => {
                self.varint32()?;
                self.value()
            }
            UNDEFINED | THE_HOLE => Ok(Plain::Undefined),
            NULL => Ok(Plain::Null),
            TRUE => Ok(Plain::Bool(true)),
            FALSE => Ok(Plain::Bool(false)),
            INT32 => self.int32().map(|value| Plain::Number(value.into())),
            UINT32 => self.varint32().map(|value| Plain::Number(value.into())),
            DOUBLE => self.double().map(Plain::Number),
            BIG_INT => self.big_int().map(|value| Plain::BigInt(Box::new(value))),
            UTF8_STRING | ONE_BYTE_STRING | TWO_BYTE_STRING => self.string_after(tag).map(Plain::String),
            OBJECT_REFERENCE => self.reference(start),
            // Boxed primitives are objects, so they take an id, but as data they are what they wrap.
            TRUE_OBJECT => self.object(start, |_| Ok(Plain::Bool(true))),
            FALSE_OBJECT => self.object(start, |_| Ok(Plain::Bool(false))),
            NUMBER_OBJECT => self.object(start, |this| this.double().map(Plain::Number)),
            BIG_INT_OBJECT => self.object(start, |this| this.big_int().map(|value| Plain::BigInt(Box::new(value)))),
            STRING_OBJECT => self.object(start, |this| this.string().map(Plain::String)),
            DATE => self.object(start, |this| this.double().map(Plain::Date)),
            BEGIN_OBJECT => self.object(start, Self::plain_object),
            BEGIN_DENSE_ARRAY => self.object(start, Self::dense_array),
            BEGIN_SPARSE_ARRAY => self.object(start, Self::sparse_array),
            BEGIN_MAP => self.object(start, Self::map),
            BEGIN_SET => self.object(start, Self::set),
            ARRAY_BUFFER | IMMUTABLE_ARRAY_BUFFER => self.object(start, |this| {
                let length = this.length()?;
                Ok(Plain::Bytes(BytesKind::ArrayBuffer, this.slice(length)?))
            }),
            RESIZABLE_ARRAY_BUFFER => self.object(start, |this| {
                let length = this.length()?;
                this.varint64()?;
                Ok(Plain::Bytes(BytesKind::ArrayBuffer, this.slice(length)?))
            }),
            ERROR => self.object(start, Self::error),
            HOST_OBJECT => self.object(start, Self::host_object),
            b'R' | b't' | b'u' | b'p' | b'w' | b'm' => Err(DecodeError::Unsupported(start)),
            _ => Err(DecodeError::Malformed(start)),
        }
    }

    /// Gives the object an id, reads it, and marks it complete.
    fn object(&mut self, start: usize, read: impl FnOnce(&mut Self) -> Result<Plain>) -> Result<Plain> {
        let id = self.next_id;
        self.next_id += 1;
        // When it is read again for a back-reference it takes the id it had.
        match self.objects.get_mut(id) {
            Some(place) => *place = Seen::Open,
            None => self.objects.push(Seen::Open),
        }
        let value = read(self)?;
        self.objects[id] = match &value {
            Plain::Bytes(kind, bytes) => Seen::Bytes(*kind, bytes.clone()),
            _ => Seen::At(start),
        };
        Ok(value)
    }

    /// Reads the object that a back-reference names once more, from where it is.
    fn reference(&mut self, start: usize) -> Result<Plain> {
        let id = self.varint32()? as usize;
        let place = match self.objects.get(id) {
            None => return Err(DecodeError::Malformed(start)),
            Some(Seen::Open) => return Err(DecodeError::Cyclic(start)),
            Some(Seen::Bytes(kind, bytes)) => return Ok(Plain::Bytes(*kind, bytes.clone())),
            Some(Seen::At(place)) => *place,
        };
        let (at, next_id) = (self.at, self.next_id);
        (self.at, self.next_id) = (place, id);
        let value = self.value_without_view()?;
        (self.at, self.next_id) = (at, next_id);
        Ok(value)
    }

    fn plain_object(&mut self) -> Result<Plain> {
        let entries = self.properties(END_OBJECT)?;
        Ok(Plain::Object(PlainObject::from_entries(entries)))
    }

    /// Reads names and values up to the end tag and the count after it.
    fn properties(&mut self, end: u8) -> Result<Vec<(JsString, Plain)>> {
        let mut entries = Vec::new();
        loop {
            if self.peek_tag() == Some(end) {
                self.tag()?;
                let start = self.at;
                let count = self.varint32()? as usize;
                return if count == entries.len() { Ok(entries) } else { Err(DecodeError::Malformed(start)) };
            }
            let start = self.at;
            let key = match self.value()? {
                Plain::String(key) => key,
                Plain::Number(key) => JsString::from(ryu_js::Buffer::new().format(key)),
                _ => return Err(DecodeError::Malformed(start)),
            };
            entries.push((key, self.value()?));
        }
    }

    fn dense_array(&mut self) -> Result<Plain> {
        let start = self.at;
        let length = self.varint32()? as usize;
        // An element takes at least a byte.
        if length > self.left() {
            return Err(DecodeError::Malformed(start));
        }
        let mut elements = Vec::with_capacity(length.min(RESERVE_MAX));
        for _ in 0..length {
            elements.push(self.value()?);
        }
        self.properties(END_DENSE_ARRAY)?;
        let start = self.at;
        if self.varint32()? as usize == length {
            Ok(Plain::Array(elements))
        } else {
            Err(DecodeError::Malformed(start))
        }
    }

    fn sparse_array(&mut self) -> Result<Plain> {
        let start = self.at;
        let length = self.varint32()? as usize;
        let entries = self.properties(END_SPARSE_ARRAY)?;
        if self.varint32()? as usize != length {
            return Err(DecodeError::Malformed(start));
        }
        // The holes become values, so they count as such.
        self.values = self.values.saturating_add(length);
        if self.values > VALUES_MAX {
            return Err(DecodeError::Values);
        }
        let mut elements = vec![Plain::Undefined; length];
        for (key, value) in entries {
            if let Some(place) = key.array_index().and_then(|index| elements.get_mut(index as usize)) {
                *place = value;
            }
        }
        Ok(Plain::Array(elements))
    }

    fn map(&mut self) -> Result<Plain> {
        let mut entries = Vec::new();
        while self.peek_tag() != Some(END_MAP) {
            entries.push((self.value()?, self.value()?));
        }
        self.tag()?;
        self.expect_count(entries.len() * 2)?;
        Ok(Plain::Map(entries))
    }

    fn set(&mut self) -> Result<Plain> {
        let mut members = Vec::new();
        while self.peek_tag() != Some(END_SET) {
            members.push(self.value()?);
        }
        self.tag()?;
        self.expect_count(members.len())?;
        Ok(Plain::Set(members))
    }

    fn expect_count(&mut self, count: usize) -> Result<()> {
        let start = self.at;
        if self.varint32()? as usize == count { Ok(()) } else { Err(DecodeError::Malformed(start)) }
    }

    fn view(&mut self, start: usize, buffer: &Bytes) -> Result<Plain> {
        let tag = self.byte()?;
        let (offset, length) = (self.length()?, self.length()?);
        // Flags: length-tracking and backed by a resizable buffer. Neither changes what the bytes are now.
        self.varint32()?;
        let &(_, kind, element) = VIEWS.iter().find(|(view, ..)| *view == tag).ok_or(DecodeError::Malformed(start))?;
        let fits = offset.checked_add(length).is_some_and(|end| end <= buffer.len());
        if !fits || offset % element != 0 || length % element != 0 {
            return Err(DecodeError::Malformed(start));
        }
        self.object(start, |_| Ok(Plain::Bytes(kind, buffer.slice(offset..offset + length))))
    }

    fn error(&mut self) -> Result<Plain> {
        let mut error = PlainError { name: "Error".to_owned(), ..PlainError::default() };
        let mut tag = self.byte()?;
        if let Some((_, class)) = ERROR_CLASSES.iter().find(|(class, _)| *class == tag) {
            error.name = (*class).to_owned();
            tag = self.byte()?;
        }
        if tag == ERROR_MESSAGE {
            error.message = Some(self.string()?);
            tag = self.byte()?;
        }
        if tag == ERROR_STACK {
            error.stack = Some(self.string()?);
            tag = self.byte()?;
        }
        if tag == ERROR_CAUSE {
            error.cause = Some(self.value()?);
            tag = self.byte()?;
        }
        if tag == ERROR_END { Ok(Plain::Error(Box::new(error))) } else { Err(DecodeError::Malformed(self.at - 1)) }
    }

    fn host_object(&mut self) -> Result<Plain> {
        let start = self.at;
        match self.varint32()? {
            host_tag::CAPABILITY => {
                let index = self.varint32()? as usize;
                self.caps.get(index).cloned().map(Plain::Cap).ok_or(DecodeError::Malformed(start))
            }
            host_tag::ERROR => self.host_error(start),
            _ => Err(DecodeError::Unsupported(start)),
        }
    }

    fn host_error(&mut self, start: usize) -> Result<Plain> {
        let (name, message, mut properties) = match (self.value()?, self.value()?, self.value()?) {
            (Plain::String(name), Plain::String(message), Plain::Object(properties)) => (name, message, properties),
            _ => return Err(DecodeError::Malformed(start)),
        };
        let cause = properties.remove("cause");
        let (name, message) = (name.to_string_lossy(), Some(message));
        Ok(Plain::Error(Box::new(PlainError { name, message, stack: None, cause, properties })))
    }

    fn big_int(&mut self) -> Result<BigInt> {
        let start = self.at;
        let bits = self.varint32()?;
        let mut magnitude = self.unfold((bits >> 1) as usize)?.to_vec();
        while magnitude.last() == Some(&0) {
            magnitude.pop();
        }
        let negative = bits & 1 == 1;
        if negative && magnitude.is_empty() {
            return Err(DecodeError::Malformed(start));
        }
        Ok(BigInt { negative, magnitude })
    }

    fn string(&mut self) -> Result<JsString> {
        let tag = self.tag()?;
        self.string_after(tag)
    }

    fn string_after(&mut self, tag: u8) -> Result<JsString> {
        let start = self.at;
        let length = self.varint32()? as usize;
        let bytes = self.unfold(length)?;
        match tag {
            UTF8_STRING => Ok(String::from_utf8_lossy(bytes).into_owned().into()),
            ONE_BYTE_STRING => Ok(JsString::from_latin1(bytes)),
            TWO_BYTE_STRING if length.is_multiple_of(2) => {
                let mut builder = JsStringBuilder::with_capacity(length);
                for unit in bytes.chunks_exact(2) {
                    builder.push_unit(u16::from_le_bytes([unit[0], unit[1]]));
                }
                Ok(builder.finish())
            }
            _ => Err(DecodeError::Malformed(start)),
        }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or(DecodeError::Malformed(self.at))?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, length: usize) -> Result<&[u8]> {
        let start = self.at;
        if length > self.left() {
            return Err(DecodeError::Malformed(start));
        }
        self.at += length;
        Ok(&self.bytes[start..self.at])
    }

    /// Takes bytes that are about to be copied.
    fn unfold(&mut self, length: usize) -> Result<&[u8]> {
        self.unfolded_bytes = self.unfolded_bytes.saturating_add(length);
        if self.unfolded_bytes > UNFOLDED_BYTES_MAX {
            return Err(DecodeError::Bytes);
        }
        self.take(length)
    }

    /// Shares the next bytes with the message.
    fn slice(&mut self, length: usize) -> Result<Bytes> {
        let start = self.at;
        self.take(length)?;
        Ok(self.bytes.slice(start..start + length))
    }

    fn tag(&mut self) -> Result<u8> {
        loop {
            let tag = self.byte()?;
            if tag != PADDING {
                return Ok(tag);
            }
        }
    }

    fn peek_tag(&self) -> Option<u8> {
        self.bytes[self.at..].iter().copied().find(|&tag| tag != PADDING)
    }

    fn length(&mut self) -> Result<usize> {
        let start = self.at;
        usize::try_from(self.varint64()?).map_err(|_| DecodeError::Malformed(start))
    }

    fn int32(&mut self) -> Result<i32> {
        let zigzag = self.varint32()?;
        Ok((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())
    }

    fn varint32(&mut self) -> Result<u32> {
        let start = self.at;
        u32::try_from(self.varint64()?).map_err(|_| DecodeError::Malformed(start))
    }

    fn varint64(&mut self) -> Result<u64> {
        let start = self.at;
        let mut value: u64 = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                break;
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DecodeError::Malformed(start))
    }

    fn double(&mut self) -> Result<f64> {
        let start = self.at;
        let bytes = self.take(8)?;
        bytes.try_into().map(f64::from_le_bytes).map_err(|_| DecodeError::Malformed(start))
    }
}
