//! Source files, and places in them, for errors that a person can follow.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loaderd_loader::config::FieldPath;

/// The text of one file and the name it goes by in errors.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl SourceFile {
    /// The place of a byte offset; offsets past the end are the end.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place { file: self.name.clone(), line, column: before[start..].chars().count() + 1 }
    }
}

/// A byte offset in a source file.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) file: Arc<SourceFile>,
    pub(crate) offset: usize,
}

impl Span {
    pub(crate) fn place(&self) -> Place {
        self.file.place(self.offset)
    }
}

/// A place in a file; lines and columns count from one, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One problem with a configuration: what, where in which file, and about which field, as far as each is known.
///
/// Printed as `FILE:LINE:COLUMN: FIELD: MESSAGE`. Always the host's to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub place: Option<Place>,
    pub field: FieldPath,
    pub message: String,
}

impl Diagnostic {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { place: None, field: FieldPath::root(), message: message.into() }
    }

    pub(crate) fn at(place: Place, message: impl Into<String>) -> Self {
        Self { place: Some(place), field: FieldPath::root(), message: message.into() }
    }

    /// A problem with a whole file, such as one that cannot be read.
    pub(crate) fn file(path: &Path, message: impl fmt::Display) -> Self {
        Self::new(format!("{}: {message}", path.display()))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if !self.field.as_str().is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}
