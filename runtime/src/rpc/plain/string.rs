//! JavaScript strings outside V8: sequences of UTF-16 units, lone surrogates included.

use std::fmt;

/// A JavaScript string, held as WTF-8: UTF-8 in which a lone surrogate takes the three bytes its code point would.
/// Surrogates that form a pair are always joined, so equal strings have equal bytes.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JsString(Box<[u8]>);

impl JsString {
    /// Reads UTF-16 units.
    #[must_use]
    pub fn from_utf16(units: &[u16]) -> Self {
        let mut builder = JsStringBuilder::with_capacity(units.len());
        for &unit in units {
            builder.push_unit(unit);
        }
        builder.finish()
    }

    /// Reads Latin-1 bytes: one byte, one unit.
    #[must_use]
    pub fn from_latin1(bytes: &[u8]) -> Self {
        if bytes.is_ascii() {
            return Self(bytes.into());
        }
        bytes.iter().copied().map(char::from).collect::<String>().into()
    }

    /// The text, unless it holds a lone surrogate.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The text with each lone surrogate replaced by U+FFFD, which takes as many bytes.
    #[must_use]
    pub fn to_string_lossy(&self) -> String {
        let mut text = String::with_capacity(self.0.len());
        for chunk in self.chunks() {
            match chunk {
                Chunk::Text(part) => text.push_str(part),
                Chunk::LoneSurrogate(_) => text.push(char::REPLACEMENT_CHARACTER),
            }
        }
        text
    }

    /// Length in UTF-16 units: what JavaScript's `length` says.
    #[must_use]
    pub fn len_utf16(&self) -> usize {
        self.units().count()
    }

    /// Length in bytes when encoded as UTF-8 with each lone surrogate replaced by U+FFFD: what `TextEncoder` makes.
    #[must_use]
    pub fn len_utf8(&self) -> usize {
        self.0.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The UTF-16 units, in order.
    pub fn units(&self) -> impl Iterator<Item = u16> + '_ {
        self.chunks().flat_map(|chunk| match chunk {
            Chunk::Text(text) => Units::Text(text.encode_utf16()),
            Chunk::LoneSurrogate(unit) => Units::One(Some(unit)),
        })
    }

    /// Whether every unit is below U+0100.
    #[must_use]
    pub(super) fn is_latin1(&self) -> bool {
        // Lead bytes of U+0080..=U+00FF are C2 and C3; everything above starts with C4 or more.
        self.0.iter().all(|&byte| byte < 0xc4)
    }

    /// The string cut into UTF-8 text and lone surrogates.
    pub(super) fn chunks(&self) -> Chunks<'_> {
        Chunks { rest: &self.0 }
    }

    /// The numeric value, when the string is a canonical array index (`"0"`, `"17"`, below 2³² − 1).
    #[must_use]
    pub(super) fn array_index(&self) -> Option<u32> {
        let digits = &*self.0;
        let canonical = matches!(digits, [b'0'] | [b'1'..=b'9', ..]) && digits.len() <= 10;
        if !canonical {
            return None;
        }
        let mut value: u64 = 0;
        for &digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            value = value * 10 + u64::from(digit - b'0');
        }
        u32::try_from(value).ok().filter(|&index| index != u32::MAX)
    }
}

enum Units<'a> {
    Text(std::str::EncodeUtf16<'a>),
    One(Option<u16>),
}

impl Iterator for Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        match self {
            Self::Text(units) => units.next(),
            Self::One(unit) => unit.take(),
        }
    }
}

/// A piece of a [`JsString`].
pub(super) enum Chunk<'a> {
    Text(&'a str),
    LoneSurrogate(u16),
}

pub(super) struct Chunks<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (valid, rest) = match std::str::from_utf8(self.rest) {
            Ok(text) => {
                self.rest = &[];
                return Some(Chunk::Text(text));
            }
            Err(error) => self.rest.split_at(error.valid_up_to()),
        };
        if let (false, Ok(text)) = (valid.is_empty(), std::str::from_utf8(valid)) {
            self.rest = rest;
            return Some(Chunk::Text(text));
        }
        // By construction the only thing that is not UTF-8 is ED A0..BF xx: a surrogate's three bytes.
        let (surrogate, rest) = rest.split_at(rest.len().min(3));
        self.rest = rest;
        let [_, middle, last] = *surrogate else { return None };
        Some(Chunk::LoneSurrogate(0xd000 | (u16::from(middle & 0x3f) << 6) | u16::from(last & 0x3f)))
    }
}

/// Builds a [`JsString`] from text and UTF-16 units, joining surrogates as they meet.
#[derive(Default)]
pub(super) struct JsStringBuilder {
    bytes: Vec<u8>,
    /// A high surrogate that the next unit may complete; not yet in `bytes`.
    high: Option<u16>,
}

impl JsStringBuilder {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), high: None }
    }

    pub(super) fn push_unit(&mut self, unit: u16) {
        if let Some(high) = self.high.take() {
            if (0xdc00..=0xdfff).contains(&unit) {
                let code = 0x1_0000 + ((u32::from(high) - 0xd800) << 10) + (u32::from(unit) - 0xdc00);
                self.push_char(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                return;
            }
            self.push_surrogate(high);
        }
        match unit {
            0xd800..=0xdbff => self.high = Some(unit),
            0xdc00..=0xdfff => self.push_surrogate(unit),
            _ => self.push_char(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }

    pub(super) fn push_str(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(high) = self.high.take() {
            self.push_surrogate(high);
        }
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(super) fn finish(mut self) -> JsString {
        if let Some(high) = self.high.take() {
            self.push_surrogate(high);
        }
        JsString(self.bytes.into_boxed_slice())
    }

    fn push_char(&mut self, character: char) {
        self.bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn push_surrogate(&mut self, unit: u16) {
        let [high, low] = unit.to_be_bytes();
        self.bytes.extend_from_slice(&[0xed, 0x80 | ((high & 0x0f) << 2) | (low >> 6), 0x80 | (low & 0x3f)]);
    }
}

impl From<&str> for JsString {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl From<String> for JsString {
    fn from(text: String) -> Self {
        Self(text.into_bytes().into_boxed_slice())
    }
}

impl PartialEq<str> for JsString {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl PartialEq<&str> for JsString {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl fmt::Debug for JsString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string_lossy(), f)
    }
}
