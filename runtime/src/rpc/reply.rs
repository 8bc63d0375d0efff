//! Where the answer of a call goes, and how the callee hears that nobody waits for it any more.

use std::fmt;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::{Answer, RpcError};
use crate::invocation::InvocationId;
use crate::isolate::inbox::Shared;
use crate::limits::Cause;

/// Where an answer goes: exactly one [`Answer`], also when dropped.
pub struct Reply {
    deliver: Option<Box<dyn FnOnce(Answer) + Send>>,
    waiter: Option<Arc<Waiter>>,
    caller: Caller,
}

/// Which invocation, of which isolate, waits for an answer, and who waits for an answer of that: an isolate looks whether
/// its invocations wait for each other.
pub(crate) struct Waiter {
    isolate: Weak<Shared>,
    invocation: InvocationId,
    behind: Option<Arc<Waiter>>,
    depth: usize,
}

/// Waiters behind a waiter that are known of.
const WAITERS_MAX: usize = 16;

impl Waiter {
    pub(crate) fn new(isolate: &Arc<Shared>, invocation: InvocationId, behind: Option<Arc<Self>>) -> Arc<Self> {
        let behind = behind.filter(|behind| behind.depth < WAITERS_MAX);
        let depth = behind.as_ref().map_or(0, |behind| behind.depth + 1);
        Arc::new(Self { isolate: Arc::downgrade(isolate), invocation, behind, depth })
    }

    /// The first one that is of an isolate, and its invocation.
    pub(crate) fn first_within(self: &Arc<Self>, isolate: &Shared) -> Option<(*const Self, InvocationId)> {
        let mut at = self;
        loop {
            if std::ptr::eq(at.isolate.as_ptr(), isolate) {
                return Some((Arc::as_ptr(at), at.invocation));
            }
            at = at.behind.as_ref()?;
        }
    }
}

impl Reply {
    /// Calls `deliver` with the answer, on whatever thread answers; it must not block.
    pub fn new(deliver: impl FnOnce(Answer) + Send + 'static) -> Self {
        Self::awaited_by(None, deliver)
    }

    /// The same, for an invocation that waits for the answer.
    pub(crate) fn awaited_by(waiter: Option<Arc<Waiter>>, deliver: impl FnOnce(Answer) + Send + 'static) -> Self {
        Self { deliver: Some(Box::new(deliver)), waiter, caller: Caller(None) }
    }

    /// The same reply, of a caller that may lose interest: it does when what is returned beside the reply is dropped
    /// ahead of the answer.
    #[must_use]
    pub fn awaited(self) -> (Self, Awaiting) {
        let link = Arc::new(Mutex::new(Link::Awaited(None)));
        let mut reply = self;
        reply.caller = Caller(Some(Arc::clone(&link)));
        (reply, Awaiting(link))
    }

    /// The invocation that waits for the answer, where that is known.
    pub(crate) fn waiter(&self) -> Option<&Arc<Waiter>> {
        self.waiter.as_ref()
    }

    /// The same reply, with something to do ahead of the answer, wherever that is given; it must not block.
    #[must_use]
    pub fn preceded_by(self, first: impl FnOnce() + Send + 'static) -> Self {
        self.amended(|_| first())
    }

    /// The same reply, with something done to the answer ahead of whoever gets it; it must not block.
    #[must_use]
    pub fn amended(mut self, amend: impl FnOnce(&mut Answer) + Send + 'static) -> Self {
        let deliver = self.deliver.take();
        let deliver = move |mut answer| {
            amend(&mut answer);
            if let Some(deliver) = deliver {
                deliver(answer);
            }
        };
        Self { deliver: Some(Box::new(deliver)), waiter: self.waiter.take(), caller: self.caller.clone() }
    }

    /// A reply that nobody reads.
    #[must_use]
    pub fn ignore() -> Self {
        Self::new(drop)
    }

    /// A reply and the future of its answer. Dropping the future does not cancel the call.
    pub fn channel() -> (Self, futures::channel::oneshot::Receiver<Answer>) {
        let (sender, receiver) = futures::channel::oneshot::channel();
        (Self::new(move |answer| drop(sender.send(answer))), receiver)
    }

    /// The caller, to be asked about when the reply itself is elsewhere.
    #[must_use]
    pub fn caller(&self) -> Caller {
        self.caller.clone()
    }

    pub fn send(mut self, answer: impl Into<Answer>) {
        self.deliver(answer.into());
    }

    fn deliver(&mut self, answer: Answer) {
        let Some(deliver) = self.deliver.take() else { return };
        if let Some(link) = &self.caller.0 {
            let before = std::mem::replace(&mut *link.lock(), Link::Over);
            // What was to be done for a caller that goes is let go of outside the lock.
            drop(before);
        }
        deliver(answer);
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.deliver(Err(RpcError::ended(Cause::Canceled)).into());
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}

/// What a caller and its callee both know of a call.
enum Link {
    /// With what is done when the caller goes.
    Awaited(Option<Box<dyn FnOnce() + Send>>),
    /// The caller is gone, and nobody was to be told yet.
    Abandoned,
    /// Answered, or abandoned and told.
    Over,
}

/// Whoever waits for an answer. Dropping it before there is one tells the callee that nobody does.
pub struct Awaiting(Arc<Mutex<Link>>);

impl Drop for Awaiting {
    fn drop(&mut self) {
        let told = {
            let mut link = self.0.lock();
            match std::mem::replace(&mut *link, Link::Over) {
                Link::Awaited(None) => {
                    *link = Link::Abandoned;
                    None
                }
                Link::Awaited(told) => told,
                Link::Abandoned | Link::Over => None,
            }
        };
        if let Some(told) = told {
            told();
        }
    }
}

/// The caller that a reply goes to, if it may lose interest. Cheap to clone.
#[derive(Clone)]
pub struct Caller(Option<Arc<Mutex<Link>>>);

impl Caller {
    /// Calls `gone` once if the caller loses interest before it is answered, also when it has already; on the thread
    /// where that happens, so it must not block. Only the first who asks is told.
    pub fn on_gone(&self, gone: impl FnOnce() + Send + 'static) {
        let Some(link) = &self.0 else { return };
        let gone_already = {
            let mut link = link.lock();
            match &mut *link {
                Link::Awaited(told) => {
                    told.get_or_insert_with(|| Box::new(gone));
                    return;
                }
                Link::Abandoned => {
                    *link = Link::Over;
                    true
                }
                Link::Over => false,
            }
        };
        if gone_already {
            gone();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Reply;
    use crate::rpc::RpcError;

    #[test]
    fn a_callee_hears_of_its_caller() {
        let told = Arc::new(AtomicUsize::new(0));
        let tell = || {
            let told = Arc::clone(&told);
            move || {
                told.fetch_add(1, Ordering::SeqCst);
            }
        };
        let (reply, awaiting) = Reply::ignore().awaited();
        reply.caller().on_gone(tell());
        drop(awaiting);
        assert_eq!(told.load(Ordering::SeqCst), 1, "it goes before the answer");
        drop(reply);
        let (reply, awaiting) = Reply::ignore().awaited();
        let caller = reply.caller();
        drop(awaiting);
        caller.on_gone(tell());
        assert_eq!(told.load(Ordering::SeqCst), 2, "it has gone already");
        drop(reply);
        let (reply, awaiting) = Reply::ignore().awaited();
        let caller = reply.caller();
        caller.on_gone(tell());
        reply.send(Err(RpcError::new("Error", "answered")));
        drop(awaiting);
        caller.on_gone(tell());
        assert_eq!(told.load(Ordering::SeqCst), 2, "it was answered");
    }
}
