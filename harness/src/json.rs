//! JSON values as they cross every boundary of a pass: text, exactly as JavaScript would write it.
//!
//! Byte limits are defined on that text, and only text can carry a lone surrogate (as its escape) through UTF-8.

use std::fmt;
use std::sync::Arc;

use loaderd_runtime::rpc::plain::{JsString, Plain};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// One JSON value, as the text `JSON.stringify` makes of it: no spaces, numbers and escapes in JavaScript's form,
/// array-index members first, the last of equal members only. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

/// Why something is not a JSON value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotJson(String);

impl Json {
    /// The value `null`.
    #[must_use]
    pub fn null() -> Self {
        Self("null".into())
    }

    /// Reads one JSON value, nested at most [`DEPTH_MAX`](loaderd_runtime::rpc::plain::DEPTH_MAX) deep, and brings it into JavaScript's form.
    ///
    /// # Errors
    /// The text is not JSON, is too deep, has too many values, or has a number that is not finite in JavaScript.
    pub fn parse(text: &str) -> Result<Self, NotJson> {
        let value = Plain::from_json(text).map_err(|error| NotJson(error.to_string()))?;
        Self::from_plain(&value)
    }

    /// The value's text, if every part of it is JSON: what the contract's strict check accepts.
    pub(crate) fn from_plain(value: &Plain) -> Result<Self, NotJson> {
        check(value)?;
        match value.to_json() {
            Ok(Some(text)) => Ok(Self(text.into())),
            Ok(None) => Err(NotJson("undefined is not a JSON value".to_owned())),
            Err(error) => Err(NotJson(error.to_string())),
        }
    }

    /// A JSON string.
    #[must_use]
    pub fn string(text: &str) -> Self {
        // A string always has a JSON text.
        Self::from_plain(&Plain::String(JsString::from(text))).unwrap_or_else(|_| Self::null())
    }

    /// The text, in JavaScript's form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Length of the text in UTF-8 bytes: what the contract's byte limits count.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    /// The value as Rust data. A lone surrogate becomes U+FFFD.
    ///
    /// # Errors
    /// The value does not have the shape of `T`, or is nested deeper than `serde_json` reads.
    pub fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match serde_json::from_str(&self.0) {
            // `serde_json` refuses escapes of lone surrogates; they are rare, so only then the text is rewritten.
            Err(error) if error.is_syntax() => serde_json::from_str(&self.without_lone_surrogates()),
            result => result,
        }
    }

    /// The JSON of anything that serializes.
    ///
    /// # Errors
    /// It does not serialize, for instance because a map's key is not a string.
    pub fn write<T: Serialize + ?Sized>(value: &T) -> Result<Self, NotJson> {
        let text = serde_json::to_string(value).map_err(|error| NotJson(error.to_string()))?;
        Self::parse(&text)
    }

    fn without_lone_surrogates(&self) -> String {
        fn replace(value: Plain) -> Plain {
            match value {
                Plain::String(text) => Plain::from(text.to_string_lossy()),
                Plain::Array(elements) => Plain::Array(elements.into_iter().map(replace).collect()),
                Plain::Object(members) => Plain::Object(
                    members.into_iter().map(|(name, value)| (name.to_string_lossy(), replace(value))).collect(),
                ),
                other => other,
            }
        }
        let value = Plain::from_json(&self.0).map(replace).unwrap_or_default();
        value.to_json().ok().flatten().unwrap_or_default()
    }
}

/// Finds what JSON text can say but JavaScript's JSON cannot hold (a number beyond all finite ones), and what is not
/// JSON at all.
fn check(value: &Plain) -> Result<(), NotJson> {
    match value {
        Plain::Null | Plain::Bool(_) | Plain::String(_) => Ok(()),
        Plain::Number(number) if number.is_finite() => Ok(()),
        Plain::Number(_) => Err(NotJson("a number that is not finite is not a JSON value".to_owned())),
        Plain::Array(elements) => elements.iter().try_for_each(check),
        Plain::Object(members) => members.iter().try_for_each(|(_, value)| check(value)),
        _ => Err(NotJson("a value that is neither data nor plain is not a JSON value".to_owned())),
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Json {
    /// Writes the text as it is; only `serde_json` can do that.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(text.get()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_brought_into_javascripts_form() {
        for (text, expected) in [
            (" [1, 1E21, 1e-7, -0, 5e-324] ", "[1,1e+21,1e-7,0,5e-324]"),
            (r#""\u0007\u0022\/\u2028\uD800""#, "\"\\u0007\\\"/\u{2028}\\ud800\""),
            (r#"{"b":1,"10":2,"9":3,"b":4}"#, r#"{"9":3,"10":2,"b":4}"#),
            ("1.0", "1"),
        ] {
            assert_eq!(Json::parse(text).unwrap().as_str(), expected);
        }
        assert_eq!(Json::parse("[1,1e21,1e-7,-0,5e-324]").unwrap().bytes(), 23);
    }

    #[test]
    fn what_is_no_json_value_is_refused() {
        for text in ["", "undefined", "1e999", "[1,", "NaN", "'a'", "1 2"] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn a_lone_surrogate_survives_as_text_and_is_replaced_when_read() {
        let json = Json::parse(r#"{"a":"\ud800"}"#).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), r#"{"a":"\ud800"}"#);
        let value: serde_json::Value = json.read().unwrap();
        assert_eq!(value["a"], "\u{fffd}");
    }
}
