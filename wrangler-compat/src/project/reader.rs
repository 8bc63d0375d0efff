//! Typed access to the members of a table, collecting problems with their places.

use super::value::{Entry, Kind, Value};
use crate::source::{Diagnostic, Place};

/// Problems that are listed.
const DIAGNOSTICS_MAX: usize = 100;

/// Collects what is wrong and what is worth saying.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) errors: Vec<Diagnostic>,
    pub(super) notes: Vec<Diagnostic>,
}

impl Reader {
    pub(super) fn error(&mut self, place: Place, message: impl Into<String>) {
        if self.errors.len() < DIAGNOSTICS_MAX {
            self.errors.push(Diagnostic::at(place, message));
        }
    }

    pub(super) fn note(&mut self, place: Place, message: impl Into<String>) {
        if self.notes.len() < DIAGNOSTICS_MAX {
            self.notes.push(Diagnostic::at(place, message));
        }
    }

    fn mistyped(&mut self, key: &str, wanted: &str, value: &Value) {
        self.error(value.place(), format!("`{key}` must be {wanted}, not {}.", value.describe()));
    }

    pub(super) fn text(&mut self, key: &str, value: &Value) -> Option<String> {
        if let Kind::Text(text) = &value.kind {
            return Some(text.clone());
        }
        self.mistyped(key, "a string", value);
        None
    }

    pub(super) fn bool(&mut self, key: &str, value: &Value) -> Option<bool> {
        if let Kind::Bool(value) = value.kind {
            return Some(value);
        }
        self.mistyped(key, "true or false", value);
        None
    }

    /// A whole number from zero up to `u32::MAX`.
    pub(super) fn count(&mut self, key: &str, value: &Value) -> Option<u32> {
        if let Kind::Number(number) = &value.kind
            && let Some(count) = number.as_u64().and_then(|it| u32::try_from(it).ok())
        {
            return Some(count);
        }
        self.mistyped(key, "a whole number that is not negative", value);
        None
    }

    pub(super) fn array<'v>(&mut self, key: &str, value: &'v Value) -> &'v [Value] {
        if let Kind::Array(elements) = &value.kind {
            return elements;
        }
        self.mistyped(key, "an array", value);
        &[]
    }

    pub(super) fn texts(&mut self, key: &str, value: &Value) -> Vec<String> {
        self.array(key, value).iter().filter_map(|element| self.text(key, element)).collect()
    }

    pub(super) fn table<'v>(&mut self, key: &str, value: &'v Value) -> &'v [Entry] {
        if let Kind::Table(entries) = &value.kind {
            return entries;
        }
        self.mistyped(key, "a table", value);
        &[]
    }

    /// The members of one element of a list such as `services`, each of which must be in `known`.
    pub(super) fn members<'v>(&mut self, key: &str, value: &'v Value, known: &[&str]) -> Members<'v> {
        let entries = self.table(key, value);
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let message =
                    format!("`{}` is not supported under `{key}`; known are: {}.", entry.key, known.join(", "));
                self.error(entry.key_span.place(), message);
            }
        }
        Members { key: key.to_owned(), entries, place: value.place() }
    }
}

/// The members of a table that belongs to a key.
pub(super) struct Members<'v> {
    key: String,
    entries: &'v [Entry],
    pub(super) place: Place,
}

impl<'v> Members<'v> {
    pub(super) fn get(&self, name: &str) -> Option<&'v Value> {
        self.entries.iter().find(|entry| entry.key == name).map(|entry| &entry.value)
    }

    pub(super) fn required_text(&self, reader: &mut Reader, name: &str) -> Option<String> {
        match self.get(name) {
            Some(value) => reader.text(name, value),
            None => {
                reader.error(self.place.clone(), format!("`{}` needs `{name}`.", self.key));
                None
            }
        }
    }

    pub(super) fn optional_text(&self, reader: &mut Reader, name: &str) -> Option<String> {
        self.get(name).and_then(|value| reader.text(name, value))
    }
}
