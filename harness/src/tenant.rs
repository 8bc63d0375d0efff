//! On whose behalf programs run.

use std::sync::Arc;

use crate::request::InvalidRequest;
use crate::text;

/// The longest label of a tenant, in UTF-16 units.
pub const TENANT_UNITS_MAX: usize = 256;

/// A label by which tenants are told apart. Programs of different tenants never share a sandbox process. It is compared
/// and never shown.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// # Errors
    /// The label is empty, or longer than [`TENANT_UNITS_MAX`].
    pub fn new(label: &str) -> Result<Self, InvalidRequest> {
        match text::units(label) {
            1..=TENANT_UNITS_MAX => Ok(Self(label.into())),
            units => {
                let message = format!("must be 1 to {TENANT_UNITS_MAX} UTF-16 units, and is {units}");
                Err(InvalidRequest::new("tenant", message))
            }
        }
    }

    pub(crate) fn label(&self) -> &Arc<str> {
        &self.0
    }
}

impl std::str::FromStr for Tenant {
    type Err = InvalidRequest;

    fn from_str(label: &str) -> Result<Self, Self::Err> {
        Self::new(label)
    }
}

impl std::fmt::Debug for Tenant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Labels may name customers: they go to no log.
        f.write_str("Tenant")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_a_length() {
        for (label, valid) in [("", false), ("a", true), (&*"x".repeat(256), true), (&*"x".repeat(257), false)] {
            assert_eq!(Tenant::new(label).is_ok(), valid, "{}", label.len());
        }
    }
}
