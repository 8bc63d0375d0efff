//! What a host object in a message is: the number written first in its data. Numbers are never reused.

/// A capability; followed by its index in [`super::Message::caps`].
pub(crate) const CAPABILITY: u32 = 0;
