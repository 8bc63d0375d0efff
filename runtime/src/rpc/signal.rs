//! AbortSignals across JS RPC. Whoever has the signal keeps a [`Trigger`]; what crosses is a [`Signal`], a capability
//! with one method, `wait`, whose answer is that the signal was aborted, or that it never will be.

use std::any::Any;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{Call, Cap, CapKind, Capability, Message, Reply, RpcError};

/// Calls that may wait for one signal: one for each place it was sent to.
const WAITING_MAX: usize = 1_024;

/// What holders of a signal see when nobody could abort it any more and nobody said so.
const LOST: &str = "An AbortSignal received over RPC was implicitly aborted because the connection back to its trigger \
                    was lost.";

/// Aborts a signal that was sent. Dropping it says that the signal will never abort.
pub struct Trigger(Arc<Shared>);

/// A signal as a capability. `wait` is answered with an array of the reason once it was aborted, with undefined once it
/// cannot be, and with an error when the trigger was lost.
struct Signal(Arc<Shared>);

struct Shared(Mutex<State>);

enum State {
    Open(Vec<Reply>),
    Aborted(Message),
    Released,
}

impl Trigger {
    /// A signal to send, and its trigger.
    #[must_use]
    pub fn new() -> (Self, Cap) {
        let shared = Arc::new(Shared(Mutex::new(State::Open(Vec::new()))));
        let signal = Arc::new(Signal(Arc::clone(&shared)));
        (Self(shared), Cap { kind: CapKind::Object, target: signal })
    }

    /// Aborts the signal. `reason` is an array with the reason in it.
    pub fn abort(&self, reason: &Message) {
        let waiting = self.0.settle(State::Aborted(reason.clone()));
        for reply in waiting {
            reply.send(Ok(reason.clone()));
        }
    }
}

impl Drop for Trigger {
    fn drop(&mut self) {
        for reply in self.0.settle(State::Released) {
            reply.send(undefined());
        }
    }
}

/// The message of `undefined`.
fn undefined() -> Result<Message, RpcError> {
    super::plain::Plain::Undefined.to_message().map_err(|error| RpcError::new("Error", error.to_string()))
}

impl Shared {
    /// Moves to a last state; who waited for it is returned, to be told outside the lock.
    fn settle(&self, last: State) -> Vec<Reply> {
        let mut state = self.0.lock();
        match &mut *state {
            State::Open(waiting) => {
                let waiting = std::mem::take(waiting);
                *state = last;
                waiting
            }
            State::Aborted(_) | State::Released => Vec::new(),
        }
    }
}

impl Capability for Signal {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        if call.path.len() != 1 || call.path[0] != "wait" {
            reply.send(Err(RpcError::new("TypeError", "An AbortSignal's trigger can only be waited for.")));
            return None;
        }
        let answer = match &mut *self.0.0.lock() {
            State::Open(waiting) if waiting.len() < WAITING_MAX => {
                waiting.push(reply);
                return None;
            }
            State::Open(_) => Err(RpcError::new("Error", LOST)),
            State::Aborted(reason) => Ok(reason.clone()),
            State::Released => undefined(),
        };
        reply.send(answer);
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A trigger as an invocation keeps it.
pub(crate) struct TriggerCap(pub(crate) Trigger);

impl Capability for TriggerCap {
    fn call(&self, _: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        reply.send(Err(RpcError::new("TypeError", "This object cannot be called over RPC.")));
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
