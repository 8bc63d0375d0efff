//! What an isolate's thread does for its process while it waits.

use std::fmt;
use std::time::Instant;

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
