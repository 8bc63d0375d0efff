//! What is asked of an executor. A [`CodeExecutionRequest`] that exists is valid: making an invalid one fails, before
//! any executor sees it.

mod identifier;
mod limits;

pub use identifier::{IDENTIFIER_UNITS_MAX, JsIdentifier};
pub use limits::{CodeExecutionLimits, HOST_CALL_CONCURRENCY_DEFAULT};

use crate::text;

/// The longest source, in UTF-16 units: a bound on what is handled at all, `max_source_bytes` being the budget.
pub const SOURCE_UNITS_MAX: usize = 4_194_304;
/// The most namespaces of one request.
pub const NAMESPACES_MAX: usize = 32;
/// The most methods of one namespace.
pub const METHODS_MAX: usize = 64;
/// The most entries of each list of a network allowlist.
pub const ALLOWLIST_MAX: usize = 256;
/// The longest domain of a network allowlist, in UTF-16 units.
pub const DOMAIN_UNITS_MAX: usize = 256;

/// Why a request is invalid. The caller's fault; nothing was run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{message}", .field, if .field.is_empty() { "" } else { " " })]
pub struct InvalidRequest {
    /// Where, in the names of the contract: `limits.maxWallTime`, `namespaces[0].methods[3]`. Empty: the whole.
    pub field: String,
    /// What is wrong with it, and what would be right.
    pub message: String,
}

impl InvalidRequest {
    pub(crate) fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }

    /// The same, seen from one level further out.
    pub(crate) fn within(mut self, outer: &str) -> Self {
        let dot = if self.field.is_empty() || self.field.starts_with('[') { "" } else { "." };
        self.field = format!("{outer}{dot}{}", self.field);
        self
    }
}

/// A program and everything it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeExecutionRequest {
    source: String,
    namespaces: Vec<CodeExecutionNamespace>,
    network: NetworkPolicy,
    limits: CodeExecutionLimits,
}

/// A global object whose methods call the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeExecutionNamespace {
    name: JsIdentifier,
    methods: Vec<JsIdentifier>,
}

/// What the program may reach on its own, past its host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum NetworkPolicy {
    /// Nothing.
    #[default]
    Disabled,
    /// These hosts and ports. No executor here can enforce it, so a pass that asks for it is refused.
    Allowlist {
        /// At most [`ALLOWLIST_MAX`], each 1 to [`DOMAIN_UNITS_MAX`] UTF-16 units.
        domains: Vec<String>,
        /// At most [`ALLOWLIST_MAX`], none of them 0.
        ports: Vec<u16>,
    },
}

impl CodeExecutionRequest {
    /// A request whose every part is within the contract's bounds. The language is JavaScript, the only one.
    ///
    /// # Errors
    /// The first part that is out of bounds.
    pub fn new(
        source: impl Into<String>,
        namespaces: Vec<CodeExecutionNamespace>,
        network: NetworkPolicy,
        limits: CodeExecutionLimits,
    ) -> Result<Self, InvalidRequest> {
        let source = source.into();
        let units = text::units(&source);
        if units > SOURCE_UNITS_MAX {
            let message = format!("must be at most {SOURCE_UNITS_MAX} UTF-16 units, and is {units}");
            return Err(InvalidRequest::new("source", message));
        }
        if namespaces.len() > NAMESPACES_MAX {
            let message = format!("must be at most {NAMESPACES_MAX}, and are {}", namespaces.len());
            return Err(InvalidRequest::new("namespaces", message));
        }
        network.check().map_err(|error| error.within("network"))?;
        limits.check().map_err(|error| error.within("limits"))?;
        Ok(Self { source, namespaces, network, limits })
    }

    /// One expression that evaluates to one function.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The globals offered to the program. A later one of the same name replaces an earlier one.
    #[must_use]
    pub fn namespaces(&self) -> &[CodeExecutionNamespace] {
        &self.namespaces
    }

    #[must_use]
    pub fn network(&self) -> &NetworkPolicy {
        &self.network
    }

    #[must_use]
    pub fn limits(&self) -> &CodeExecutionLimits {
        &self.limits
    }
}

impl CodeExecutionNamespace {
    /// # Errors
    /// The name or a method is no [`JsIdentifier`], or there are not 1 to [`METHODS_MAX`] methods.
    pub fn new<M: AsRef<str>>(name: &str, methods: impl IntoIterator<Item = M>) -> Result<Self, InvalidRequest> {
        let name = JsIdentifier::new(name).map_err(|error| error.within("name"))?;
        let methods = methods
            .into_iter()
            .enumerate()
            .map(|(at, method)| {
                JsIdentifier::new(method.as_ref()).map_err(|error| error.within(&format!("methods[{at}]")))
            })
            .collect::<Result<Vec<_>, _>>()?;
        if !(1..=METHODS_MAX).contains(&methods.len()) {
            let message = format!("must be 1 to {METHODS_MAX}, and are {}", methods.len());
            return Err(InvalidRequest::new("methods", message));
        }
        Ok(Self { name, methods })
    }

    #[must_use]
    pub fn name(&self) -> &JsIdentifier {
        &self.name
    }

    /// In the order in which the object will have them.
    #[must_use]
    pub fn methods(&self) -> &[JsIdentifier] {
        &self.methods
    }
}

impl NetworkPolicy {
    fn check(&self) -> Result<(), InvalidRequest> {
        let Self::Allowlist { domains, ports } = self else { return Ok(()) };
        for (field, length) in [("domains", domains.len()), ("ports", ports.len())] {
            if length > ALLOWLIST_MAX {
                let message = format!("must be at most {ALLOWLIST_MAX}, and are {length}");
                return Err(InvalidRequest::new(field, message));
            }
        }
        if let Some(at) = domains.iter().position(|domain| !(1..=DOMAIN_UNITS_MAX).contains(&text::units(domain))) {
            let message = format!("must be 1 to {DOMAIN_UNITS_MAX} UTF-16 units");
            return Err(InvalidRequest::new(format!("domains[{at}]"), message));
        }
        match ports.iter().position(|&port| port == 0) {
            Some(at) => Err(InvalidRequest::new(format!("ports[{at}]"), "must be from 1 to 65535, and is 0")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
