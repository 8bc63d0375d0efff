//! Ids of traces, invocations and spans: random, never zero, written in hexadecimal.

use std::fmt;

/// Names a trace (an invocation and everything it caused), or one invocation of it: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(u128);

/// Names a span: 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpanId(u64);

impl TraceId {
    /// A new id.
    #[must_use]
    pub fn random() -> Self {
        Self(u128::from_le_bytes(random_bytes()) | 1)
    }
}

impl SpanId {
    /// A new id.
    #[must_use]
    pub fn random() -> Self {
        Self(u64::from_le_bytes(random_bytes()) | 1)
    }

    /// The id of its hexadecimal form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().filter(|id| *id != 0).map(Self)
    }
}

/// Where the system has no randomness, ids repeat, and traces are harder to read; nothing depends on them.
fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let _repeats = getrandom::fill(&mut bytes);
    bytes
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
