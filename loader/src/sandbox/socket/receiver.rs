//! The receiving half: the thread that serves a connection, and the guests that read in its place.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use loaderd_runtime::isolate::Sleeper;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::time::TimeSpec;
use parking_lot::Mutex;

use super::inbox::Inbox;
use super::lead::Lead;
use super::sender::Sender;
use super::{Lost, lost};
use crate::sandbox::wire::Malformed;

/// How much is read of a peer that takes nothing more, in bytes: more than a socket holds.
const LAST_WORDS_BYTES_MAX: usize = 1 << 20;

/// How long a guest waits before it looks at its inbox by itself.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Whom a frame concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox) enum Concerns {
    /// A Worker is about to run, and is likely to wait for another frame soon.
    Worker,
    Nobody,
}

/// What is left after a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox) enum Left {
    Nothing,
    /// There may be more to read at once.
    More,
}

/// What was read.
struct Taken {
    bytes: usize,
    left: Left,
    concerns: Concerns,
}

/// The receiving half.
pub(in crate::sandbox) struct Receiver {
    incoming: Mutex<Incoming>,
    lead: Lead,
}

struct Incoming {
    inbox: Inbox,
    /// Nothing is read any more.
    over: Option<Lost>,
}

impl Receiver {
    /// The serving thread alone reads, or one that the lead is lent to.
    pub(in crate::sandbox) fn new(frame_bytes_max: usize) -> Self {
        Self::with_lead(frame_bytes_max, Lead::default())
    }

    /// Guests that come and go may read, too.
    pub(in crate::sandbox) fn with_guests(frame_bytes_max: usize) -> nix::Result<Self> {
        Ok(Self::with_lead(frame_bytes_max, Lead::with_guests()?))
    }

    fn with_lead(frame_bytes_max: usize, lead: Lead) -> Self {
        let incoming = Incoming { inbox: Inbox::new(frame_bytes_max), over: None };
        Self { incoming: Mutex::new(incoming), lead }
    }

    /// Serves the connection on this thread until it is lost: reads unless somebody else does, and flushes what waits to be
    /// sent. `on_frame` gets the words of each frame. Guests may read where `may_offer` says so.
    pub(in crate::sandbox) fn serve(
        &self,
        sender: &Sender,
        on_frame: &dyn Fn(&[u8]) -> Result<Concerns, Malformed>,
        may_offer: &dyn Fn() -> bool,
    ) -> Lost {
        let why = self.serve_until_lost(sender, on_frame, may_offer);
        // Whoever else reads does so no more.
        self.incoming.lock().over.get_or_insert(why).clone()
    }

    fn serve_until_lost(
        &self,
        sender: &Sender,
        on_frame: &dyn Fn(&[u8]) -> Result<Concerns, Malformed>,
        may_offer: &dyn Fn() -> bool,
    ) -> Lost {
        let mut flushing = false;
        loop {
            // The end of the peer is told whatever is asked for.
            let mut events = PollFlags::empty();
            events.set(PollFlags::POLLIN, self.lead.is_servers());
            events.set(PollFlags::POLLOUT, flushing);
            let wake = PollFd::new(sender.wake_fd(), PollFlags::POLLIN);
            let alarm = self.lead.alarm().unwrap_or(sender.wake_fd());
            let mut fds = [PollFd::new(sender.socket(), events), wake, PollFd::new(alarm, PollFlags::POLLIN)];
            match nix::poll::poll(&mut fds, PollTimeout::NONE) {
                Ok(_) => {}
                Err(nix::Error::EINTR) => continue,
                Err(error) => return lost(error),
            }
            let socket = fds[0].revents().unwrap_or(PollFlags::empty());
            let woken = fds[1].any().unwrap_or(false);
            if fds[2].any().unwrap_or(false) {
                self.lead.look();
            }
            if woken {
                sender.awake();
            }
            if woken || socket.contains(PollFlags::POLLOUT) {
                match sender.flush() {
                    Ok(left) => flushing = left,
                    Err(why) => {
                        // A peer that went may have said why before it did.
                        let mut read = 0;
                        while read < LAST_WORDS_BYTES_MAX
                            && let Ok(Taken { bytes: bytes @ 1.., .. }) = self.read_once(sender, on_frame)
                        {
                            read += bytes;
                        }
                        return why;
                    }
                }
            }
            if socket.intersects(PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR) {
                match self.read_once(sender, on_frame) {
                    Ok(Taken { concerns: Concerns::Worker, .. }) if may_offer() => self.lead.offer(),
                    Ok(_) => {}
                    Err(why) => return why,
                }
            }
        }
    }

    /// Reads once, in place of the serving thread, what is there, and hands over whole frames. An error has been told to
    /// the serving thread.
    pub(in crate::sandbox) fn read(
        &self,
        sender: &Sender,
        on_frame: &dyn Fn(&[u8]) -> Result<Concerns, Malformed>,
    ) -> Result<Left, Lost> {
        match self.read_once(sender, on_frame) {
            Ok(taken) => Ok(taken.left),
            Err(why) => {
                sender.close(why.clone());
                Err(why)
            }
        }
    }

    fn read_once(
        &self,
        sender: &Sender,
        on_frame: &dyn Fn(&[u8]) -> Result<Concerns, Malformed>,
    ) -> Result<Taken, Lost> {
        let mut incoming = self.incoming.lock();
        if let Some(why) = &incoming.over {
            return Err(why.clone());
        }
        let read = incoming.inbox.fill(sender.socket()).and_then(|(bytes, left)| {
            let mut concerns = Concerns::Nobody;
            incoming.inbox.take(&mut |frame| {
                if on_frame(frame)? == Concerns::Worker {
                    concerns = Concerns::Worker;
                }
                Ok(())
            })?;
            Ok(Taken { bytes, left, concerns })
        });
        if let Err(why) = &read {
            incoming.over = Some(why.clone());
        }
        read
    }

    /// An isolate's thread waits for what `inbox` gets: it reads meanwhile, if the lead was offered, until there is something
    /// or `until`. Returns at once where it was not.
    pub(in crate::sandbox) fn read_while_idle(
        &self,
        sender: &Sender,
        on_frame: &dyn Fn(&[u8]) -> Result<Concerns, Malformed>,
        inbox: &dyn Sleeper,
        until: Option<Instant>,
    ) {
        /// Gives the lead up again, also when a frame is handled badly.
        struct Away<'a>(&'a Lead);
        impl Drop for Away<'_> {
            fn drop(&mut self) {
                self.0.step_away();
            }
        }
        let Some(wake) = self.lead.take() else { return };
        let _away = Away(&self.lead);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if !inbox.fall_asleep() || left.is_some_and(|left| left.is_zero()) {
                return inbox.wake_up();
            }
            let mut fds =
                [PollFd::new(sender.socket(), PollFlags::POLLIN), PollFd::new(wake.as_fd(), PollFlags::POLLIN)];
            // Several guests may wait for one wake-up for a moment, and the wrong one take it.
            let wait = left.map_or(LOOK_AGAIN, |left| left.min(LOOK_AGAIN));
            let polled = nix::poll::ppoll(&mut fds, Some(TimeSpec::from_duration(wait)), None);
            inbox.wake_up();
            match polled {
                Ok(_) | Err(nix::Error::EINTR) => {}
                // The serving thread will meet it, too.
                Err(_) => return,
            }
            if fds[1].any().unwrap_or(false) {
                // Only resets the counter.
                let _ = wake.read();
            }
            if fds[0].any().unwrap_or(false) && self.read(sender, on_frame).is_err() {
                return;
            }
        }
    }

    /// Ends the waiting of a guest. From any thread.
    pub(in crate::sandbox) fn wake_guest(&self) {
        self.lead.wake_guest();
    }

    /// Somebody else reads from now on, until [`give_back`](Self::give_back).
    pub(in crate::sandbox) fn lend(&self, sender: &Sender) {
        self.lead.lend();
        // Where it waits for something to read, it no longer needs to.
        sender.wake();
    }

    /// The serving thread reads from now on.
    pub(in crate::sandbox) fn give_back(&self, sender: &Sender) {
        if self.lead.give_back() {
            sender.wake();
        }
    }
}
