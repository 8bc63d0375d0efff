//! What an isolate's thread runs, and so what the excess of a budget is called and whose it is.

use parking_lot::Mutex;

use crate::invocation::InvocationId;
use crate::limits::Cause;

/// The budget a turn runs under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Startup,
    Invocation,
    DynamicImport,
    /// What is left to do when an invocation is over; nobody's where there was none.
    Housekeeping,
}

#[derive(Clone, Copy)]
struct Turn {
    number: u64,
    scope: Scope,
    /// 0: none.
    invocation: InvocationId,
}

/// The turn that runs, or was the last to. Locked for a few instructions, but by the watchdog, which tells what it has
/// decided before the next turn can begin.
pub(super) struct Running(Mutex<Turn>);

/// A cause, and the invocation whose doing it is: 0 where nobody's, or where the whole isolate is at fault.
type Fault = (Cause, InvocationId);

impl Running {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Turn { number: 0, scope: Scope::Startup, invocation: 0 }))
    }

    pub(super) fn begin(&self, number: u64, scope: Scope, invocation: Option<InvocationId>) {
        *self.0.lock() = Turn { number, scope, invocation: invocation.unwrap_or(0) };
    }

    pub(super) fn set_scope(&self, scope: Scope) {
        self.0.lock().scope = scope;
    }

    /// The invocation whose turn it is; 0: nobody's.
    pub(super) fn invocation(&self) -> InvocationId {
        let turn = *self.0.lock();
        if turn.scope == Scope::Housekeeping { 0 } else { turn.invocation }
    }

    /// What it is if the turn has used too much.
    pub(super) fn excess(&self) -> Fault {
        self.0.lock().excess()
    }

    /// Has `end` told what it is that a turn has used too much, unless that is over: then its thread has seen to it.
    pub(super) fn if_runs(&self, number: u64, end: impl FnOnce(Fault)) {
        let turn = self.0.lock();
        if turn.number == number {
            end(turn.excess());
        }
    }
}

impl Turn {
    fn excess(self) -> Fault {
        match self.scope {
            Scope::Startup => (Cause::ExceededStartupCpu, 0),
            Scope::DynamicImport => (Cause::ExceededStartupCpu, self.invocation),
            Scope::Invocation => (Cause::ExceededCpu, self.invocation),
            // What there is to do for nobody is the platform's.
            Scope::Housekeeping if self.invocation == 0 => (Cause::InternalError, 0),
            Scope::Housekeeping => (Cause::ExceededCpu, self.invocation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excess_is_of_the_turn_that_was_looked_at() {
        let running = Running::new();
        let told = |number| {
            let mut told = None;
            running.if_runs(number, |fault| told = Some(fault));
            told
        };
        for (number, scope, invocation, expected) in [
            (1, Scope::Startup, None, (Cause::ExceededStartupCpu, 0)),
            (2, Scope::Invocation, Some(7), (Cause::ExceededCpu, 7)),
            (3, Scope::DynamicImport, Some(7), (Cause::ExceededStartupCpu, 7)),
            (4, Scope::Housekeeping, Some(8), (Cause::ExceededCpu, 8)),
            (5, Scope::Housekeeping, None, (Cause::InternalError, 0)),
        ] {
            running.begin(number, scope, invocation);
            assert_eq!(told(number), Some(expected));
            assert_eq!(told(number - 1), None, "the turn before {scope:?} is over");
        }
    }
}
