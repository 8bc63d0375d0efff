//! No files, no TCP, no signals and no abstract sockets outside: a ruleset of landlock's that handles all and allows nothing.
//! A kernel that knows less of it enforces what it knows, and what it leaves open is told.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr,
    RulesetStatus, Scope,
};

use super::{LayerState, LayerStatus};

/// The newest landlock that this was written for.
const WRITTEN_FOR: ABI = ABI::V6;

/// What kernels forbid that know landlock up to some version.
#[derive(Debug, PartialEq, Eq)]
struct Forbidden {
    files: BitFlags<AccessFs>,
    network: BitFlags<AccessNet>,
    scopes: BitFlags<Scope>,
}

impl Forbidden {
    fn by(abi: ABI) -> Self {
        Self { files: Access::from_all(abi), network: Access::from_all(abi), scopes: Access::from_all(abi) }
    }

    /// Of what is asked for, what such a kernel leaves open.
    fn left_open(abi: ABI) -> Vec<&'static str> {
        let (asked, known) = (Self::by(WRITTEN_FOR), Self::by(abi));
        let open = [
            ("files", (asked.files & !known.files).contains(AccessFs::ReadFile)),
            ("moving files", (asked.files & !known.files).contains(AccessFs::Refer)),
            ("truncating files", (asked.files & !known.files).contains(AccessFs::Truncate)),
            ("TCP", !(asked.network & !known.network).is_empty()),
            ("devices", (asked.files & !known.files).contains(AccessFs::IoctlDev)),
            ("abstract sockets", (asked.scopes & !known.scopes).contains(Scope::AbstractUnixSocket)),
            ("signals", (asked.scopes & !known.scopes).contains(Scope::Signal)),
        ];
        open.into_iter().filter_map(|(what, is_open)| is_open.then_some(what)).collect()
    }
}

/// Applies it to the calling thread and all that it makes.
pub(super) fn apply() -> LayerStatus {
    let asked = Forbidden::by(WRITTEN_FOR);
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(asked.files)
        .and_then(|ruleset| ruleset.handle_access(asked.network))
        .and_then(|ruleset| ruleset.scope(asked.scopes))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
    match restricted {
        Ok(status) => told(status.landlock, &status.ruleset),
        Err(error) => LayerStatus::new("landlock", LayerState::Missing, error.to_string()),
    }
}

/// What is told of a kernel's landlock and what it enforces.
fn told(kernel: LandlockStatus, enforced: &RulesetStatus) -> LayerStatus {
    let detail = match kernel {
        LandlockStatus::Available { effective_abi, .. } => {
            let left_open = Forbidden::left_open(effective_abi);
            match left_open.is_empty() {
                true => format!("ABI {effective_abi:?}"),
                false => format!("ABI {effective_abi:?}, which leaves open: {}", left_open.join(", ")),
            }
        }
        LandlockStatus::NotEnabled => "switched off".to_owned(),
        LandlockStatus::NotImplemented => "not in this kernel".to_owned(),
    };
    let state = match enforced {
        RulesetStatus::FullyEnforced => LayerState::Applied,
        RulesetStatus::PartiallyEnforced => LayerState::Partial,
        RulesetStatus::NotEnforced => LayerState::Missing,
    };
    LayerStatus::new("landlock", state, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_kernel_forbids_what_it_knows_and_the_rest_is_told() {
        let cases: [(ABI, usize, usize, usize, &[&str]); 7] = [
            // What is forbidden: kinds of access to files, of TCP, and what reaches outside otherwise.
            (
                ABI::Unsupported,
                0,
                0,
                0,
                &["files", "moving files", "truncating files", "TCP", "devices", "abstract sockets", "signals"],
            ),
            (ABI::V1, 13, 0, 0, &["moving files", "truncating files", "TCP", "devices", "abstract sockets", "signals"]),
            (ABI::V2, 14, 0, 0, &["truncating files", "TCP", "devices", "abstract sockets", "signals"]),
            (ABI::V3, 15, 0, 0, &["TCP", "devices", "abstract sockets", "signals"]),
            (ABI::V4, 15, 2, 0, &["devices", "abstract sockets", "signals"]),
            (ABI::V5, 16, 2, 0, &["abstract sockets", "signals"]),
            (ABI::V6, 16, 2, 2, &[]),
        ];
        for (abi, files, network, scopes, open) in cases {
            let forbidden = Forbidden::by(abi);
            let counts = (forbidden.files.len(), forbidden.network.len(), forbidden.scopes.len());
            assert_eq!(counts, (files, network, scopes), "{abi:?}");
            assert_eq!(Forbidden::left_open(abi), open, "{abi:?}");
        }
        assert!(Forbidden::left_open(ABI::V7).is_empty(), "newer than what this was written for");
    }

    #[test]
    fn what_is_told_names_what_is_left_open() {
        let available = |effective_abi| LandlockStatus::Available { effective_abi, kernel_abi: None };
        let cases = [
            (available(ABI::V6), RulesetStatus::FullyEnforced, LayerState::Applied, "ABI V6"),
            (
                available(ABI::V3),
                RulesetStatus::PartiallyEnforced,
                LayerState::Partial,
                "ABI V3, which leaves open: TCP, devices, abstract sockets, signals",
            ),
            (LandlockStatus::NotEnabled, RulesetStatus::NotEnforced, LayerState::Missing, "switched off"),
            (LandlockStatus::NotImplemented, RulesetStatus::NotEnforced, LayerState::Missing, "not in this kernel"),
        ];
        for (kernel, enforced, state, detail) in cases {
            assert_eq!(told(kernel, &enforced), LayerStatus::new("landlock", state, detail));
        }
    }
}
