//! Values as hosts see them: [`Message`]s made and read without V8.
//!
//! The wire format is V8's structured clone. This room reads and writes the part of it that data consists of, bounded
//! in depth and number of values, and turns values into JSON text and back exactly as JavaScript would. It is what
//! Rust code outside an isolate uses; inside, `rpc::serialize` does the same with V8 itself.

mod decode;
mod encode;
mod json_read;
mod json_write;
mod string;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use bytes::Bytes;

use super::{Cap, Message};
pub use encode::append_bytes;
pub use string::JsString;

/// The deepest nesting that is read or written, in either format.
pub const DEPTH_MAX: usize = 512;

/// The most values one message may hold when it is read here, those met again through back-references included.
pub const VALUES_MAX: usize = 1 << 21;

/// A value that needs no V8. Identity is not kept: an object met twice is two equal values.
#[derive(Clone, Default)]
pub enum Plain {
    #[default]
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    BigInt(Box<BigInt>),
    String(JsString),
    /// Holes are read as `Undefined`; properties other than elements are dropped.
    Array(Vec<Plain>),
    Object(PlainObject),
    Map(Vec<(Plain, Plain)>),
    Set(Vec<Plain>),
    /// Milliseconds since 1970; NaN is an invalid date.
    Date(f64),
    /// Bytes, and what JavaScript holds them in.
    Bytes(BytesKind, Bytes),
    Error(Box<PlainError>),
    Cap(Cap),
    /// An object that the isolate which reads it makes from the value. Written only: no host reads one.
    Made(Made, Box<Plain>),
}

/// What an isolate makes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// What an internal module makes of bindings; from `[module, entrypoint, bindings]`.
    WrappedBinding,
    /// An object that compiles code from strings; from anything. Only in `env`.
    UnsafeEval,
    /// A `WebAssembly.Module`; from its bytes. Only in `env`.
    WasmModule,
}

impl Made {
    /// The number that `js/rpc.js` knows it by.
    fn part(self) -> u32 {
        match self {
            Self::WrappedBinding => 20,
            Self::UnsafeEval => 21,
            Self::WasmModule => 23,
        }
    }
}

/// An integer of any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigInt {
    /// Zero is never negative.
    pub negative: bool,
    /// The magnitude, least significant byte first, without trailing zero bytes.
    pub magnitude: Vec<u8>,
}

impl From<u64> for BigInt {
    fn from(value: u64) -> Self {
        let mut magnitude = value.to_le_bytes().to_vec();
        magnitude.truncate(8 - (value.leading_zeros() / 8) as usize);
        Self { negative: false, magnitude }
    }
}

/// What JavaScript holds bytes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BytesKind {
    ArrayBuffer,
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float16Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
    DataView,
}

/// A JavaScript `Error`.
#[derive(Clone, Default)]
pub struct PlainError {
    /// Its class or, when that has no name of its own, its `name`.
    pub name: String,
    pub message: Option<JsString>,
    pub stack: Option<JsString>,
    pub cause: Option<Plain>,
    /// Its other own properties.
    pub properties: PlainObject,
}

/// An object's own properties, in JavaScript's order: array indices ascending, then names as they were added. A name
/// occurs once; the last value given to it wins. `__proto__` is a name like any other.
#[derive(Clone, Default)]
pub struct PlainObject(Vec<(JsString, Plain)>);

impl PlainObject {
    /// Puts properties into JavaScript's order.
    #[must_use]
    pub fn from_entries(entries: Vec<(JsString, Plain)>) -> Self {
        let mut places: HashMap<JsString, usize> = HashMap::with_capacity(entries.len());
        let mut kept: Vec<(JsString, Plain)> = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            match places.entry(key.clone()) {
                Entry::Occupied(place) => kept[*place.get()].1 = value,
                Entry::Vacant(place) => {
                    place.insert(kept.len());
                    kept.push((key, value));
                }
            }
        }
        // Stable: names, which all share the last rank, keep their order.
        kept.sort_by_key(|(key, _)| key.array_index().map_or(u64::MAX, u64::from));
        Self(kept)
    }

    /// The value of the property, if there is one.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Plain> {
        self.0.iter().find_map(|(name, value)| (*name == *key).then_some(value))
    }

    /// Takes the property's value out.
    pub fn remove(&mut self, key: &str) -> Option<Plain> {
        let place = self.0.iter().position(|(name, _)| *name == *key)?;
        Some(self.0.remove(place).1)
    }

    pub fn iter(&self) -> std::slice::Iter<'_, (JsString, Plain)> {
        self.0.iter()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for PlainObject {
    type Item = (JsString, Plain);
    type IntoIter = std::vec::IntoIter<(JsString, Plain)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a PlainObject {
    type Item = &'a (JsString, Plain);
    type IntoIter = std::slice::Iter<'a, (JsString, Plain)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: Into<JsString>> FromIterator<(K, Plain)> for PlainObject {
    fn from_iter<T: IntoIterator<Item = (K, Plain)>>(entries: T) -> Self {
        Self::from_entries(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

/// Why bytes are not a value that can be read here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("the message is not well-formed structured-clone data (at byte {0})")]
    Malformed(usize),
    #[error("the message is in version {0} of the structured-clone format, which cannot be read")]
    Version(u32),
    #[error("the message holds a value of a kind that only JavaScript can read (at byte {0})")]
    Unsupported(usize),
    #[error("the message holds an object that contains itself (at byte {0})")]
    Cyclic(usize),
    #[error("the message is nested more than {DEPTH_MAX} levels deep")]
    Depth,
    #[error("the message holds more than {VALUES_MAX} values")]
    Values,
    #[error("the message, or what its back-references unfold to, is too long")]
    Bytes,
}

/// Why a value cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    #[error("the value is nested more than {DEPTH_MAX} levels deep")]
    Depth,
    /// How long the message would have been, as far as it was written.
    #[error("{}", super::too_large(*.0))]
    Bytes(usize),
}

/// Why text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonReadError {
    #[error("not JSON (at byte {0})")]
    Syntax(usize),
    #[error("JSON nested more than {DEPTH_MAX} levels deep")]
    Depth,
    #[error("JSON with more than {VALUES_MAX} values")]
    Values,
}

/// Why a value has no JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonWriteError {
    /// A value for which `JSON.stringify` throws, or that it would silently turn into `{}`.
    #[error("a value of type {0} has no JSON form")]
    NotJson(&'static str),
    #[error("the value is nested more than {DEPTH_MAX} levels deep")]
    Depth,
}

impl Plain {
    /// Reads a message. Linear in its length unless back-references repeat large values, which counts against
    /// [`VALUES_MAX`].
    pub fn from_message(message: &Message) -> Result<Self, DecodeError> {
        decode::decode(message)
    }

    /// Writes a message, at most [`super::MESSAGE_BYTES_MAX`] long.
    pub fn to_message(&self) -> Result<Message, EncodeError> {
        encode::encode(self)
    }

    /// Writes the arguments of a call.
    pub fn arguments(arguments: Vec<Self>) -> Result<Message, EncodeError> {
        Self::Array(arguments).to_message()
    }

    /// What `JSON.parse` makes of the text.
    pub fn from_json(text: &str) -> Result<Self, JsonReadError> {
        json_read::read(text)
    }

    /// What `JSON.stringify` makes of the value; `None` where it makes `undefined`.
    pub fn to_json(&self) -> Result<Option<String>, JsonWriteError> {
        json_write::write(self)
    }

    #[must_use]
    pub fn as_object(&self) -> Option<&PlainObject> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_string(&self) -> Option<&JsString> {
        match self {
            Self::String(string) => Some(string),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }
}

impl From<&str> for Plain {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Plain {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<JsString> for Plain {
    fn from(string: JsString) -> Self {
        Self::String(string)
    }
}

impl From<f64> for Plain {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Plain {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for Plain {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Cap> for Plain {
    fn from(cap: Cap) -> Self {
        Self::Cap(cap)
    }
}

impl From<PlainObject> for Plain {
    fn from(object: PlainObject) -> Self {
        Self::Object(object)
    }
}
