//! Cap'n Proto's text notation as tokens.

use std::sync::Arc;

use crate::source::{Diagnostic, SourceFile};

/// One token. Operators are single characters here, so `:.name` needs no space between.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Name(String),
    /// A quoted string or the lines of a block string, escapes resolved.
    Text(Vec<u8>),
    /// `0x"…"`.
    Binary(Vec<u8>),
    Integer(u64),
    Float(f64),
    /// A bracket, separator or operator.
    Mark(char),
}

impl Token {
    /// What an error calls it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Name(name) => format!("`{name}`"),
            Self::Text(_) => "a string".into(),
            Self::Binary(_) => "a binary literal".into(),
            Self::Integer(_) | Self::Float(_) => "a number".into(),
            Self::Mark(mark) => format!("`{mark}`"),
        }
    }
}

/// A token and the offset of its first byte.
#[derive(Clone, Debug)]
pub(crate) struct Spanned {
    pub(crate) token: Token,
    pub(crate) offset: usize,
}

/// All tokens of a file.
pub(crate) fn tokens(file: &Arc<SourceFile>) -> Result<Vec<Spanned>, Diagnostic> {
    let mut lexer = Lexer { text: &file.text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let offset = lexer.at;
        match lexer.next() {
            Ok(Some(token)) => tokens.push(Spanned { token, offset }),
            Ok(None) => return Ok(tokens),
            Err(message) => return Err(Diagnostic::at(file.place(lexer.at), message)),
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

const OPERATORS: &str = "!$%&*+-./:<=>?@^|~";
const BYTE_ORDER_MARK: char = '\u{feff}';

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let taken = self.peek()?;
        self.at += taken.len_utf8();
        Some(taken)
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        let taken = rest[..end].to_owned();
        self.at += end;
        taken
    }

    fn skip_blank(&mut self) {
        loop {
            self.take_while(|c| c.is_ascii_whitespace() || c == '\x0b' || c == BYTE_ORDER_MARK);
            if self.peek() != Some('#') {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn next(&mut self) -> Result<Option<Token>, String> {
        let Some(first) = self.peek() else { return Ok(None) };
        let token = match first {
            '"' => {
                self.take();
                Token::Text(self.quoted()?)
            }
            '`' => {
                self.take();
                let mut line = self.take_while(|c| c != '\n' && c != '\r');
                line.push('\n');
                Token::Text(line.into_bytes())
            }
            '0'..='9' => self.number()?,
            'a'..='z' | 'A'..='Z' | '_' => Token::Name(self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')),
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' => {
                self.take();
                Token::Mark(first)
            }
            other if OPERATORS.contains(other) => {
                self.take();
                Token::Mark(other)
            }
            other => return Err(format!("Unexpected character {other:?}.")),
        };
        Ok(Some(token))
    }

    /// The rest of a string whose opening quote has been taken.
    fn quoted(&mut self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        loop {
            match self.take() {
                None | Some('\n') => return Err("The string does not end on its line.".into()),
                Some('"') => return Ok(bytes),
                Some('\\') => bytes.push(self.escape()?),
                Some(other) => bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }

    fn escape(&mut self) -> Result<u8, String> {
        let byte = match self.take() {
            Some('a') => 0x07,
            Some('b') => 0x08,
            Some('f') => 0x0c,
            Some('n') => b'\n',
            Some('r') => b'\r',
            Some('t') => b'\t',
            Some('v') => 0x0b,
            Some(same @ ('\'' | '"' | '\\' | '?')) => same as u8,
            Some('x') => {
                let digits = self.digits(16, 2);
                if digits.len() != 2 {
                    return Err("An escape `\\x` needs two hexadecimal digits.".into());
                }
                u8::from_str_radix(&digits, 16).map_err(|_| "Bad escape.")?
            }
            Some('0'..='7') => {
                self.at -= 1;
                let digits = self.digits(8, 3);
                u8::from_str_radix(&digits, 8).map_err(|_| "An octal escape is at most `\\377`.")?
            }
            Some(other) => return Err(format!("Unknown escape `\\{other}`.")),
            None => return Err("The string does not end on its line.".into()),
        };
        Ok(byte)
    }

    fn digits(&mut self, radix: u32, count_max: usize) -> String {
        let digits: String = self.rest().chars().take(count_max).take_while(|c| c.is_digit(radix)).collect();
        self.at += digits.len();
        digits
    }

    fn number(&mut self) -> Result<Token, String> {
        let rest = self.rest();
        if rest.starts_with("0x\"") {
            self.at += 3;
            return self.binary();
        }
        if rest.starts_with("0x") || rest.starts_with("0X") {
            self.at += 2;
            let digits = self.take_while(|c| c.is_ascii_alphanumeric());
            return integer(&digits, 16);
        }
        let mut digits = self.take_while(|c| c.is_ascii_digit());
        let fraction = self.rest().strip_prefix('.').is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
        let exponent = matches!(self.peek(), Some('e' | 'E'));
        if !fraction && !exponent {
            if self.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
                return Err("A number cannot run into a name.".into());
            }
            let octal = digits.len() > 1 && digits.starts_with('0');
            return integer(&digits, if octal { 8 } else { 10 });
        }
        if fraction {
            self.at += 1;
            digits.push('.');
            digits.push_str(&self.take_while(|c| c.is_ascii_digit()));
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            self.at += 1;
            digits.push('e');
            if let Some(sign @ ('+' | '-')) = self.peek() {
                self.at += 1;
                digits.push(sign);
            }
            digits.push_str(&self.take_while(|c| c.is_ascii_digit()));
        }
        digits.parse().map(Token::Float).map_err(|_| format!("Bad number `{digits}`."))
    }

    fn binary(&mut self) -> Result<Token, String> {
        let mut digits = String::new();
        loop {
            match self.take() {
                Some('"') => break,
                Some(digit) if digit.is_ascii_hexdigit() => digits.push(digit),
                Some(blank) if blank.is_ascii_whitespace() => {}
                Some(other) => return Err(format!("{other:?} is not a hexadecimal digit.")),
                None => return Err("The binary literal does not end.".into()),
            }
        }
        if !digits.len().is_multiple_of(2) {
            return Err("A binary literal needs two hexadecimal digits for each byte.".into());
        }
        let bytes = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16));
        bytes.collect::<Result<_, _>>().map(Token::Binary).map_err(|problem| problem.to_string())
    }
}

fn integer(digits: &str, radix: u32) -> Result<Token, String> {
    u64::from_str_radix(digits, radix)
        .map(Token::Integer)
        .map_err(|problem| format!("Bad number `{digits}`: {problem}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> Result<Vec<Token>, String> {
        let file = Arc::new(SourceFile { name: "c".into(), path: "c".into(), text: text.into() });
        match tokens(&file) {
            Ok(tokens) => Ok(tokens.into_iter().map(|it| it.token).collect()),
            Err(problem) => Err(problem.to_string()),
        }
    }

    #[test]
    fn literals() {
        let cases: [(&str, Token); 11] = [
            (r#""a\tb\x41\101\"""#, Token::Text(b"a\tbAA\"".to_vec())),
            (r#""é""#, Token::Text("é".as_bytes().to_vec())),
            (r#""\xff""#, Token::Text(vec![0xff])),
            ("`block `line", Token::Text(b"block `line\n".to_vec())),
            ("0x\"00 fF\"", Token::Binary(vec![0, 0xff])),
            ("12", Token::Integer(12)),
            ("0x1f", Token::Integer(31)),
            ("017", Token::Integer(15)),
            ("1.5e2", Token::Float(150.0)),
            ("2e-1", Token::Float(0.2)),
            ("# comment\n\u{feff}name_1 # more", Token::Name("name_1".into())),
        ];
        for (text, token) in cases {
            assert_eq!(lex(text), Ok(vec![token]), "{text}");
        }
    }

    #[test]
    fn mistakes() {
        let cases = [
            ("\"open", "c:1:6: The string does not end on its line."),
            ("\n \"\\q\"", "c:2:5: Unknown escape `\\q`."),
            ("0x\"0\"", "c:1:6: A binary literal needs two hexadecimal digits for each byte."),
            (
                "99999999999999999999",
                "c:1:21: Bad number `99999999999999999999`: number too large to fit in target type.",
            ),
            ("%PYTHON ö", "c:1:9: Unexpected character 'ö'."),
        ];
        for (text, message) in cases {
            assert_eq!(lex(text), Err(message.into()), "{text}");
        }
    }
}
