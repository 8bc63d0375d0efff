//! JSON text to [`Plain`], as `JSON.parse` reads it: escapes may name lone surrogates, the last of equal names wins,
//! and `__proto__` is a name like any other.

use super::string::JsStringBuilder;
use super::{DEPTH_MAX, JsString, JsonReadError, Plain, PlainObject, VALUES_MAX};

type Result<T> = std::result::Result<T, JsonReadError>;

pub(super) fn read(text: &str) -> Result<Plain> {
    let mut reader = Reader { text, at: 0, values: 0 };
    reader.skip_space();
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at == text.len() { Ok(value) } else { Err(JsonReadError::Syntax(reader.at)) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    values: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Plain> {
        if depth >= DEPTH_MAX {
            return Err(JsonReadError::Depth);
        }
        self.values += 1;
        if self.values > VALUES_MAX {
            return Err(JsonReadError::Values);
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Plain::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'n') => self.word("null", Plain::Null),
            Some(b't') => self.word("true", Plain::Bool(true)),
            Some(b'f') => self.word("false", Plain::Bool(false)),
            _ => Err(JsonReadError::Syntax(self.at)),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Plain> {
        let mut entries = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.eat(b'}') {
            return Ok(Plain::Object(PlainObject::default()));
        }
        loop {
            self.skip_space();
            let key = self.string()?;
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            entries.push((key, self.value(depth + 1)?));
            self.skip_space();
            if self.eat(b'}') {
                return Ok(Plain::Object(PlainObject::from_entries(entries)));
            }
            self.expect(b',')?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Plain> {
        let mut elements = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.eat(b']') {
            return Ok(Plain::Array(elements));
        }
        loop {
            self.skip_space();
            elements.push(self.value(depth + 1)?);
            self.skip_space();
            if self.eat(b']') {
                return Ok(Plain::Array(elements));
            }
            self.expect(b',')?;
        }
    }

    fn number(&mut self) -> Result<Plain> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _signed = self.eat(b'-') || self.eat(b'+');
            self.digits()?;
        }
        // What JSON allows, Rust's parser reads, rounded to nearest as JavaScript does.
        self.text[start..self.at].parse().map(Plain::Number).map_err(|_| JsonReadError::Syntax(start))
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(JsonReadError::Syntax(start)) }
    }

    fn string(&mut self) -> Result<JsString> {
        self.expect(b'"')?;
        let start = self.at;
        self.skip_plain();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(self.text[start..self.at - 1].into());
        }
        let mut builder = JsStringBuilder::default();
        builder.push_str(&self.text[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(builder.finish());
                }
                Some(b'\\') => {
                    self.at += 1;
                    builder.push_unit(self.escape()?);
                }
                _ => return Err(JsonReadError::Syntax(self.at)),
            }
            let start = self.at;
            self.skip_plain();
            builder.push_str(&self.text[start..self.at]);
        }
    }

    /// Passes over characters that stand for themselves.
    fn skip_plain(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        let plain = rest.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
        self.at += plain.unwrap_or(rest.len());
    }

    fn escape(&mut self) -> Result<u16> {
        let start = self.at;
        let Some(kind) = self.peek() else { return Err(JsonReadError::Syntax(start)) };
        self.at += 1;
        Ok(match kind {
            b'"' | b'\\' | b'/' => kind.into(),
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => 0x0a,
            b'r' => 0x0d,
            b't' => 0x09,
            b'u' => {
                let digits = self.text.as_bytes().get(self.at..self.at + 4).unwrap_or_default();
                if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(JsonReadError::Syntax(start));
                }
                self.at += 4;
                digits
                    .iter()
                    .fold(0, |unit, &digit| unit << 4 | char::from(digit).to_digit(16).unwrap_or_default() as u16)
            }
            _ => return Err(JsonReadError::Syntax(start)),
        })
    }

    fn word(&mut self, word: &str, value: Plain) -> Result<Plain> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(JsonReadError::Syntax(self.at));
        }
        self.at += word.len();
        Ok(value)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.eat(byte) { Ok(()) } else { Err(JsonReadError::Syntax(self.at)) }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}
