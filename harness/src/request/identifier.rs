//! Names that a program can use for a namespace or a method.

use std::fmt;
use std::sync::Arc;

use super::InvalidRequest;

/// The longest identifier, in UTF-16 units (it is ASCII, so also in bytes).
pub const IDENTIFIER_UNITS_MAX: usize = 128;

/// Words that are no identifiers in strict code, or that strict code may not assign.
const RESERVED: [&str; 48] = [
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// An ASCII JavaScript identifier that is not a reserved word, 1 to [`IDENTIFIER_UNITS_MAX`] long.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JsIdentifier(Arc<str>);

impl JsIdentifier {
    /// # Errors
    /// The name is no such identifier; the message says in which way.
    pub fn new(name: &str) -> Result<Self, InvalidRequest> {
        let why = if name.is_empty() {
            "must not be empty".to_owned()
        } else if name.len() > IDENTIFIER_UNITS_MAX {
            format!("must be at most {IDENTIFIER_UNITS_MAX} characters")
        } else if !is_identifier(name) {
            format!("must match ^[A-Za-z_$][A-Za-z0-9_$]*$, and {name:?} does not")
        } else if RESERVED.contains(&name) {
            format!("must not be the reserved word {name:?}")
        } else {
            return Ok(Self(name.into()));
        };
        Err(InvalidRequest::new("", why))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_identifier(name: &str) -> bool {
    let starts = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$';
    let mut bytes = name.bytes();
    bytes.next().is_some_and(starts) && bytes.all(|byte| starts(byte) || byte.is_ascii_digit())
}

impl fmt::Debug for JsIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for JsIdentifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_ascii_names_that_are_not_reserved() {
        let longest = "a".repeat(128);
        for name in ["a", "$", "_0", "async", "of", "get", "undefined", "__proto__", "console", &longest] {
            assert!(JsIdentifier::new(name).is_ok(), "{name}");
        }
        let too_long = "a".repeat(129);
        for name in ["", "0a", "a-b", "é", "a.b", "await", "yield", "enum", "let", " a", &too_long] {
            assert!(JsIdentifier::new(name).is_err(), "{name}");
        }
    }
}
