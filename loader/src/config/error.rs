//! What is wrong with a configuration, and where.

use std::fmt;

/// One problem of a configuration. Always the host's to mend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// The whole text for a person, in workerd's words where workerd has any.
    pub message: String,
    /// The field it is about; empty where it is about the whole.
    pub field: FieldPath,
}

impl ConfigError {
    #[must_use]
    pub fn new(field: FieldPath, message: impl Into<String>) -> Self {
        Self { message: message.into(), field }
    }
}

/// The way from the configuration's root to a field, for example `services[0].worker.bindings[2].service`.
///
/// Names are those of workerd's configuration format, so that a reader can find the place in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FieldPath(String);

impl FieldPath {
    /// The whole configuration.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// A member of the struct that this path leads to.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        let dot = if self.0.is_empty() { "" } else { "." };
        Self(format!("{}{dot}{name}", self.0))
    }

    /// An element of the list that this path leads to.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of what contains this field; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.0.is_empty() {
            return None;
        }
        let end = self.0.rfind(['.', '[']).unwrap_or(0);
        Some(Self(self.0[..end].to_owned()))
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
