//! JSON as the contract means it: member order kept, numbers as they are written, strings in UTF-16 units with half
//! surrogate pairs allowed. None of the usual crates keeps all three.

use std::fmt::{self, Write as _};

/// The deepest nesting read here; results of programs may nest deeper than a test's stack likes.
const DEPTH_MAX: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// The text of the number.
    Number(String),
    /// UTF-16 units.
    String(Vec<u16>),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { bytes: text.as_bytes(), at: 0 };
        let value = parser.value(0)?;
        parser.space();
        if parser.at == parser.bytes.len() { Ok(value) } else { Err(parser.unexpected()) }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::String(text.encode_utf16().collect())
    }

    pub(crate) fn number(number: impl fmt::Display) -> Self {
        Self::Number(number.to_string())
    }

    /// A member of an object; `None` when absent or when this is no object.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The string, half surrogate pairs replaced.
    pub(crate) fn as_text(&self) -> Option<String> {
        match self {
            Self::String(units) => Some(String::from_utf16_lossy(units)),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<u64> {
        match self {
            Self::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_object(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The same with half surrogate pairs as U+FFFD, which is what plain text (a log line, a message) becomes at a
    /// door that speaks UTF-8. Byte counts stay as they are: both are three bytes.
    pub(crate) fn without_half_pairs(&self) -> Self {
        match self {
            Self::String(units) => Self::text(&String::from_utf16_lossy(units)),
            Self::Array(items) => Self::Array(items.iter().map(Self::without_half_pairs).collect()),
            other => other.clone(),
        }
    }

    /// Replaces `{"$text": …}` and `{"$lines": …}` by what they stand for.
    pub(crate) fn expand(self) -> Result<Self, String> {
        match self {
            Self::Array(items) => items.into_iter().map(Self::expand).collect::<Result<_, _>>().map(Self::Array),
            Self::Object(members) => match members.as_slice() {
                [(key, pieces)] if key == "$text" => expand_text(pieces),
                [(key, Self::Array(pair))] if key == "$lines" => match pair.as_slice() {
                    [line, times] => {
                        let times =
                            times.as_number().and_then(|n| usize::try_from(n).ok()).ok_or("$lines needs a number")?;
                        Ok(Self::Array(vec![line.clone().expand()?; times]))
                    }
                    _ => Err("$lines is [line, times]".to_owned()),
                },
                _ => members
                    .into_iter()
                    .map(|(key, value)| Ok((key, value.expand()?)))
                    .collect::<Result<_, String>>()
                    .map(Self::Object),
            },
            other => Ok(other),
        }
    }
}

fn expand_text(pieces: &Json) -> Result<Json, String> {
    let mut all = Vec::new();
    for piece in pieces.as_array().ok_or("$text is an array of pieces")? {
        match piece {
            Json::String(units) => all.extend_from_slice(units),
            Json::Array(pair) => match pair.as_slice() {
                [Json::String(units), times] => {
                    for _ in 0..times.as_number().ok_or("a piece repeats a number of times")? {
                        all.extend_from_slice(units);
                    }
                }
                _ => return Err("a repeated piece is [text, times]".to_owned()),
            },
            _ => return Err("a piece is text, or [text, times]".to_owned()),
        }
    }
    Ok(Json::String(all))
}

/// JSON text as `JSON.stringify` writes it.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text),
            Self::String(units) => write_string(f, units),
            Self::Array(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        f.write_char(',')?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_char(']')
            }
            Self::Object(members) => {
                f.write_char('{')?;
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        f.write_char(',')?;
                    }
                    write_string(f, &key.encode_utf16().collect::<Vec<_>>())?;
                    write!(f, ":{value}")?;
                }
                f.write_char('}')
            }
        }
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, units: &[u16]) -> fmt::Result {
    f.write_char('"')?;
    for unit in char::decode_utf16(units.iter().copied()) {
        match unit {
            Err(half) => write!(f, "\\u{:04x}", half.unpaired_surrogate())?,
            Ok('"') => f.write_str("\\\"")?,
            Ok('\\') => f.write_str("\\\\")?,
            Ok('\n') => f.write_str("\\n")?,
            Ok('\r') => f.write_str("\\r")?,
            Ok('\t') => f.write_str("\\t")?,
            Ok('\u{8}') => f.write_str("\\b")?,
            Ok('\u{c}') => f.write_str("\\f")?,
            Ok(control) if control < ' ' => write!(f, "\\u{:04x}", u32::from(control))?,
            Ok(other) => f.write_char(other)?,
        }
    }
    f.write_char('"')
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn unexpected(&self) -> String {
        match self.bytes.get(self.at) {
            Some(&byte) => format!("unexpected {:?} at byte {}", char::from(byte), self.at),
            None => "unexpected end".to_owned(),
        }
    }

    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.bytes[self.at..].starts_with(text.as_bytes());
        if found {
            self.at += text.len();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > DEPTH_MAX {
            return Err("nested too deep to read here".to_owned());
        }
        self.space();
        match self.bytes.get(self.at) {
            Some(b'n') if self.eat("null") => Ok(Json::Null),
            Some(b't') if self.eat("true") => Ok(Json::Bool(true)),
            Some(b'f') if self.eat("false") => Ok(Json::Bool(false)),
            Some(b'"') => self.string().map(Json::String),
            Some(b'[') => self.array(depth),
            Some(b'{') => self.object(depth),
            Some(b'-' | b'0'..=b'9') => Ok(Json::Number(self.number())),
            _ => Err(self.unexpected()),
        }
    }

    fn number(&mut self) -> String {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned()
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.eat("]") {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.eat("]") {
                return Ok(Json::Array(items));
            }
            if !self.eat(",") {
                return Err(self.unexpected());
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut members = Vec::new();
        self.space();
        if self.eat("}") {
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            if self.bytes.get(self.at) != Some(&b'"') {
                return Err(self.unexpected());
            }
            let key = String::from_utf16_lossy(&self.string()?);
            self.space();
            if !self.eat(":") {
                return Err(self.unexpected());
            }
            members.push((key, self.value(depth + 1)?));
            self.space();
            if self.eat("}") {
                return Ok(Json::Object(members));
            }
            if !self.eat(",") {
                return Err(self.unexpected());
            }
        }
    }

    fn string(&mut self) -> Result<Vec<u16>, String> {
        self.at += 1;
        let mut units = Vec::new();
        loop {
            let start = self.at;
            while !matches!(self.bytes.get(self.at), None | Some(b'"' | b'\\')) {
                self.at += 1;
            }
            units.extend(String::from_utf8_lossy(&self.bytes[start..self.at]).encode_utf16());
            match self.bytes.get(self.at) {
                None => return Err(self.unexpected()),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(units);
                }
                Some(_) => units.push(self.escape()?),
            }
        }
    }

    fn escape(&mut self) -> Result<u16, String> {
        let escape = *self.bytes.get(self.at + 1).ok_or_else(|| "unexpected end".to_owned())?;
        self.at += 2;
        Ok(match escape {
            b'"' | b'\\' | b'/' => u16::from(escape),
            b'b' => 8,
            b'f' => 12,
            b'n' => 10,
            b'r' => 13,
            b't' => 9,
            b'u' => {
                let digits = self.bytes.get(self.at..self.at + 4).and_then(|d| std::str::from_utf8(d).ok());
                let unit = digits.and_then(|d| u16::from_str_radix(d, 16).ok()).ok_or_else(|| self.unexpected())?;
                self.at += 4;
                unit
            }
            _ => return Err(self.unexpected()),
        })
    }
}
