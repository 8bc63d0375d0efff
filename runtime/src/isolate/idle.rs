//! What an isolate's thread does for its process while it waits.

use std::fmt;
use std::sync::atomic::{Ordering::SeqCst, fence};
use std::time::Instant;

use crossbeam_channel::Receiver;

use super::inbox::{Item, Shared};

/// Work of a process that the thread of an isolate with nothing to do can do itself: in a sandbox process, reading what
/// the isolate waits for, so that it need not be woken when somebody else has read it.
pub trait Idle: fmt::Debug + Send + Sync + 'static {
    /// Called on the thread of an isolate with code in it, outside V8, when its inbox is empty. Works until there is
    /// something in `inbox`, or until `until`; returns at once where there is nothing to do, and the thread sleeps.
    fn work(&self, inbox: &dyn Sleeper, until: Option<Instant>);

    /// Something was put into the inbox of an isolate whose thread sleeps in [`work`](Self::work). From any thread; must
    /// not block.
    fn wake(&self);

    /// A thread that may have worked does not come back.
    fn leave(&self);
}

/// The inbox of the isolate whose thread works.
pub trait Sleeper {
    /// The thread is about to sleep: from now on it is woken ([`Idle::wake`]). False: it must not, there is something
    /// already.
    fn fall_asleep(&self) -> bool;

    /// The thread is awake.
    fn wake_up(&self);
}

/// An isolate's inbox, as its own thread sees it.
pub(super) struct OwnInbox<'a> {
    pub(super) shared: &'a Shared,
    pub(super) inbox: &'a Receiver<Item>,
}

impl Sleeper for OwnInbox<'_> {
    fn fall_asleep(&self) -> bool {
        self.shared.asleep.store(true, SeqCst);
        // Whoever puts something into the inbox looks at the flag after that. One of the two sees what the other did.
        fence(SeqCst);
        self.inbox.is_empty()
    }

    fn wake_up(&self) {
        self.shared.asleep.store(false, SeqCst);
    }
}
