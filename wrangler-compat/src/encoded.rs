//! A configuration as a Cap'n Proto message, whether it was written as text or came encoded.

use capnp::message;
use loaderd_loader::config::{Config, ConfigError};
use loaderd_schema::workerd_capnp;

use crate::decode;
use crate::source::Diagnostic;
use crate::text::Places;

/// Bytes of an encoded config.
pub const ENCODED_BYTES_MAX: usize = 1 << 30;

/// Structs and lists inside each other. The schema's own nesting is a fraction of it; only wrapped bindings recurse.
const ENCODED_NESTING_MAX: i32 = 64;

const WORD_BYTES: usize = 8;

/// An encoded config. What it means is not known before [`Encoded::decode`].
pub struct Encoded {
    message: Message,
    places: Places,
}

enum Message {
    Written(message::Builder<message::HeapAllocator>),
    Read(message::Reader<capnp::serialize::OwnedSegments>),
}

impl Encoded {
    pub(crate) fn new(message: message::Builder<message::HeapAllocator>, places: Places) -> Self {
        Self { message: Message::Written(message), places }
    }

    /// Takes a message in the standard framing, in one segment or several.
    ///
    /// # Errors
    /// It is not such a message, or larger than [`ENCODED_BYTES_MAX`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Diagnostic> {
        if bytes.len() > ENCODED_BYTES_MAX {
            return Err(Diagnostic::new(format!("The encoded config is larger than {ENCODED_BYTES_MAX} bytes.")));
        }
        // Decoding visits each field about once. What needs much more than that is built to be read again and again.
        let words = bytes.len() / WORD_BYTES * 2 + 1024;
        let options =
            message::ReaderOptions { traversal_limit_in_words: Some(words), nesting_limit: ENCODED_NESTING_MAX };
        let reader = capnp::serialize::read_message(bytes, options)
            .map_err(|problem| Diagnostic::new(format!("The config is not a Cap'n Proto message: {problem}")))?;
        Ok(Self { message: Message::Read(reader), places: Places::new() })
    }

    pub(crate) fn root(&self) -> capnp::Result<workerd_capnp::config::Reader<'_>> {
        match &self.message {
            Message::Written(message) => message.get_root_as_reader(),
            Message::Read(message) => message.get_root(),
        }
    }

    /// As a message of one segment in the standard framing, which `--binary` reads back.
    ///
    /// # Errors
    /// The message is broken (only one that came encoded can be).
    pub fn to_bytes(&self) -> Result<Vec<u8>, Diagnostic> {
        let broken = |problem: capnp::Error| Diagnostic::new(format!("The config cannot be encoded: {problem}"));
        let root = self.root().map_err(broken)?;
        let words = root.total_size().map_err(broken)?.word_count + 1;
        let words = u32::try_from(words).map_err(|_| Diagnostic::new("The config is too large to be encoded."))?;
        let allocator = message::HeapAllocator::new().first_segment_words(words);
        let mut copy = message::Builder::new(allocator);
        copy.set_root(root).map_err(broken)?;
        Ok(capnp::serialize::write_message_to_words(&copy))
    }

    /// What the config means, with everything that loaderd does not support refused by name.
    ///
    /// # Errors
    /// All problems found, each with its field and, in text configs, its place.
    pub fn decode(&self) -> Result<Config, Vec<Diagnostic>> {
        decode::config(self)
    }

    /// A failed check of the decoded config, with its place in the file it came from.
    #[must_use]
    pub fn diagnose(&self, error: &ConfigError) -> Diagnostic {
        let mut field = Some(error.field.clone());
        let mut place = None;
        // A field that was left out has no place; what it is missing from has one.
        while let (None, Some(path)) = (&place, &field) {
            place = self.places.get(path.as_str()).map(crate::source::Span::place);
            field = path.parent();
        }
        Diagnostic { place, field: error.field.clone(), message: error.message.clone() }
    }
}
