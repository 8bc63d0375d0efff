//! What a sandbox process may do to the machine: nothing but compute, and talk over the one socket it was given.
//!
//! | Room | Owns |
//! |---|---|
//! | [`launch`] | starting a process by exec, in namespaces of its own, with nothing inherited |
//! | [`inside`] | what the process then gives up, step by step |
//! | `ruleset` | which files and networks are left: none, as far as the kernel can forbid them |
//! | `seccomp` | which system calls are left |
//!
//! Every layer is best effort, because not every machine has every layer; none replaces another. What could not be
//! applied is never silent: it is in the [`LayerStatus`] list, which is logged, where it is not as for the
//! process before, and shown by `loaderd doctor`.

pub mod inside;
pub mod launch;
mod ruleset;
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

/// What there is to say of a process's layers when those of the one before are known: what does not hold, and what holds
/// again. Of the first one, only what does not hold.
pub(crate) fn news(before: Option<&[LayerStatus]>, layers: &[LayerStatus]) -> Vec<LayerStatus> {
    let before = before.unwrap_or_default();
    let was = |layer: &str| before.iter().find(|status| status.layer == layer);
    let is_news = |status: &&LayerStatus| match was(&status.layer) {
        Some(was) => was != *status,
        None => status.state != LayerState::Applied,
    };
    let not_told = before.iter().filter(|was| layers.iter().all(|status| status.layer != was.layer));
    let not_told = not_told.map(|was| LayerStatus::new(&was.layer, LayerState::Missing, "not told of"));
    layers.iter().filter(is_news).cloned().chain(not_told).collect()
}

#[cfg(test)]
mod tests {
    use super::LayerState::{Applied, Missing, Partial};
    use super::*;

    fn layers(states: &[(&str, LayerState, &str)]) -> Vec<LayerStatus> {
        states.iter().map(|(layer, state, detail)| LayerStatus::new(layer, *state, *detail)).collect()
    }

    #[test]
    fn what_does_not_hold_is_news_once_and_again_when_it_changes() {
        let first = [("user", Applied, ""), ("landlock", Partial, "ABI V3"), ("seccomp", Applied, "")];
        let worse = [("user", Applied, ""), ("landlock", Missing, "switched off"), ("seccomp", Missing, "no")];
        type Case<'a> = (
            &'a [(&'a str, LayerState, &'a str)],
            &'a [(&'a str, LayerState, &'a str)],
            &'a [(&'a str, LayerState, &'a str)],
        );
        let cases: [Case<'_>; 6] = [
            (&[], &first, &first[1..2]),
            (&[], &first[..1], &[]),
            (&first, &first, &[]),
            (&first, &worse, &worse[1..]),
            (&worse, &first, &first[1..]),
            (&first, &first[..2], &[("seccomp", Missing, "not told of")]),
        ];
        for (before, now, expected) in cases {
            assert_eq!(news(Some(&layers(before)), &layers(now)), layers(expected), "{before:?}, then {now:?}");
        }
    }
}
