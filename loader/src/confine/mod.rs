//! What a sandbox process may do to the machine: nothing but compute, and talk over the one socket it was given.
//!
//! | Room | Owns |
//! |---|---|
//! | [`launch`] | starting a process by exec, in namespaces of its own, with nothing inherited |
//! | [`inside`] | what the process then gives up, step by step |
//! | `seccomp` | which system calls are left |
//!
//! Every layer is best effort, because not every machine has every layer; none replaces another. What could not be
//! applied is never silent: it is in the [`LayerStatus`] list, which is logged once and shown by `loaderd doctor`.

pub mod inside;
pub mod launch;
mod seccomp;

/// How one layer of the confinement turned out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerStatus {
    /// `namespaces`, `user`, `capabilities`, `landlock`, `seccomp`, …
    pub layer: String,
    pub state: LayerState,
    /// What exactly is in force, or why it is not.
    pub detail: String,
}

/// Whether a layer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerState {
    Applied,
    /// Some of it is missing on this machine.
    Partial,
    Missing,
}

impl LayerState {
    /// As reports spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Partial => "partial",
            Self::Missing => "missing",
        }
    }
}

impl LayerStatus {
    fn new(layer: &str, state: LayerState, detail: impl Into<String>) -> Self {
        Self { layer: layer.to_owned(), state, detail: detail.into() }
    }

    /// A layer that is one system call: there, or not.
    fn of<T, E: std::fmt::Display>(layer: &str, detail: &str, result: Result<T, E>) -> Self {
        match result {
            Ok(_) => Self::new(layer, LayerState::Applied, detail),
            Err(error) => Self::new(layer, LayerState::Missing, error.to_string()),
        }
    }
}
