//! Which invocations nothing can wake any more.
//!
//! One that is unanswered and waits neither for a call nor for a timer may still wait for a promise that another invocation of
//! the isolate is going to resolve: many Workers keep what they start with in a promise that all requests share. V8 does not
//! say whose promise is awaited, so nothing counts as hung while another invocation can go on by itself. One that waits
//! for nothing but answers of those that cannot, cannot either.

use std::collections::{HashMap, HashSet};

use super::state::IsolateState;
use crate::invocation::InvocationId;

/// Invocations that looked hung after a turn of theirs.
#[derive(Default)]
pub(super) struct Suspects {
    ids: HashSet<InvocationId>,
    /// A check is in the inbox.
    asked: bool,
}

impl Suspects {
    pub(super) fn add(&mut self, id: InvocationId) {
        self.ids.insert(id);
    }

    pub(super) fn remove(&mut self, id: InvocationId) {
        self.ids.remove(&id);
    }

    /// Whether a check is to be put into the inbox, after a turn of whichever invocation.
    pub(super) fn take_check(&mut self) -> bool {
        !self.ids.is_empty() && !std::mem::replace(&mut self.asked, true)
    }

    /// Those that are hung, now that everything posted before the check has been handled.
    pub(super) fn hung(&mut self, state: &IsolateState) -> Vec<InvocationId> {
        self.asked = false;
        self.ids.retain(|id| state.invocation(*id).is_some_and(|invocation| invocation.hung()));
        if self.ids.is_empty() || somebody_goes_on(&state.pending_io(), &state.shared.owed_within()) {
            return Vec::new();
        }
        self.ids.drain().collect()
    }
}

/// Whether an invocation waits for more than answers of others that are here. `pending` is how much each waits for, `owed`
/// how much of that others owe.
fn somebody_goes_on(pending: &HashMap<InvocationId, usize>, owed: &HashMap<InvocationId, usize>) -> bool {
    pending.iter().any(|(id, waits_for)| *waits_for > owed.get(id).copied().unwrap_or(0))
}
