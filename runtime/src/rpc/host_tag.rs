//! How a message carries what V8 cannot write by itself.
//!
//! A host object's data begins with one of these numbers, which are never reused. Objects of the API that only
//! JavaScript can make again are not written where they are met, because V8 runs no JavaScript while it reads: they
//! come first, each a message body of its own, and the value refers to them by index. A message that has such parts
//! begins with [`PARTS`], their number, and each part's length and bytes; then comes the value.

/// A capability; followed by its index in [`super::Message::caps`].
pub(crate) const CAPABILITY: u32 = 0;

/// An error; followed by its name, its message and an object of its other own properties, as values.
pub(crate) const ERROR: u32 = 1;

/// An object of the API; followed by the index of its part.
pub(crate) const PART: u32 = 2;

/// The first byte of a message with parts. V8's own format begins with `0xff`.
pub(crate) const PARTS: u8 = 0xfe;

/// Parts of one message.
pub(crate) const PARTS_MAX: usize = 10_000;

/// Parts inside parts: a `Response` with `Headers` is two deep.
pub(crate) const PART_DEPTH_MAX: usize = 8;

/// Puts the parts, if there are any, before the value.
pub(crate) fn frame(value: Vec<u8>, parts: &[Vec<u8>]) -> Vec<u8> {
    if parts.is_empty() {
        return value;
    }
    let mut bytes = vec![PARTS];
    write_varint(&mut bytes, parts.len());
    for part in parts {
        write_varint(&mut bytes, part.len());
        bytes.extend_from_slice(part);
    }
    bytes.extend_from_slice(&value);
    bytes
}

fn write_varint(bytes: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
