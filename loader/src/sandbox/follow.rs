//! Reading a sandbox process's frames on the tokio runtime of whoever waits for them: what a frame wakes then runs on the
//! same thread, without another wake-up.
//!
//! The thread that serves the connection stays: it flushes, sees the process's end, and reads again when the runtime goes
//! or does not get round to it ([`Follower::stop`]).

use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Handle, Id};
use tokio::task::AbortHandle;

use super::session::Session;
use super::socket::Left;

/// Where one connection is read.
#[derive(Clone, Default)]
pub(super) struct Follower(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The runtime, also when reading there has ended by itself: it is not tried again.
    runtime: Option<Id>,
    task: Option<AbortHandle>,
    /// How often the place changed.
    changes: u64,
}

impl Follower {
    /// Has a connection read on a runtime.
    pub(super) fn read_on(&self, runtime: &Handle, session: &Arc<Session>) {
        let (before, change) = {
            let mut state = self.0.lock();
            if state.runtime == Some(runtime.id()) {
                return;
            }
            state.runtime = Some(runtime.id());
            state.changes += 1;
            session.lend();
            (state.task.take(), state.changes)
        };
        if let Some(before) = before {
            before.abort();
        }
        // Not under the lock: a runtime that is going drops it at once.
        let turn = Turn { follower: self.clone(), session: session.clone(), change };
        let task = runtime.spawn(turn.read()).abort_handle();
        let mut state = self.0.lock();
        if state.changes == change {
            state.task = Some(task);
        } else {
            drop(state);
            task.abort();
        }
    }

    /// Has the serving thread read, until the next [`read_on`](Self::read_on).
    pub(super) fn stop(&self, session: &Session) {
        let before = {
            let mut state = self.0.lock();
            if state.runtime.take().is_none() {
                return;
            }
            state.changes += 1;
            session.give_back();
            state.task.take()
        };
        if let Some(before) = before {
            before.abort();
        }
    }
}

/// A connection's reading on one runtime.
struct Turn {
    follower: Follower,
    session: Arc<Session>,
    change: u64,
}

impl Turn {
    async fn read(self) {
        let socket = Socket(self.session.clone());
        // SAFETY: the session, which `Socket` holds, keeps its one socket open for as long as it lives.
        let Ok(socket) = (unsafe { AsyncFd::register_with_interest(socket, Interest::READABLE) }) else { return };
        loop {
            let Ok(mut ready) = socket.readable().await else { return };
            match self.session.read() {
                Ok(Left::Nothing) => ready.clear_ready(),
                // Others have their turn, however much a process says.
                Ok(Left::More) => tokio::task::yield_now().await,
                // The serving thread has been told.
                Err(_) => return,
            }
        }
    }
}

impl Drop for Turn {
    /// Also when the runtime goes.
    fn drop(&mut self) {
        let state = self.follower.0.lock();
        if state.changes == self.change {
            self.session.give_back();
        }
    }
}

/// A connection's socket, for as long as the connection lasts.
struct Socket(Arc<Session>);

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.0.socket().as_fd().as_raw_fd()
    }
}
