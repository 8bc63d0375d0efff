//! Who reads a connection.
//!
//! It is the thread that serves the connection, unless a *guest* is about to wait for a frame anyway: then that reads, and
//! the answer it waits for wakes one thread instead of two. Frames are read under a lock, whoever reads them, so this
//! decides about wake-ups alone: a reader too many is harmless. That there is always one follows from two rules. A guest
//! that goes gives the lead back; and one that steps away, to handle what it has read, is waited for so long and no longer,
//! by an alarm that wakes the serving thread.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use nix::sys::timer::Expiration;
use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags, TimerSetTimeFlags};
use parking_lot::Mutex;

/// How long a guest may be away before the serving thread reads again: what is said meanwhile, the end of a Worker that
/// spins included, is read so much later.
const AWAY_MAX: Duration = Duration::from_millis(1);

/// See the module.
#[derive(Default)]
pub(super) struct Lead {
    state: Mutex<State>,
    guests: Option<Guests>,
}

/// What it takes to have guests that come and go.
struct Guests {
    /// Wakes the serving thread to look for a guest that stays away.
    alarm: TimerFd,
    /// Ends a guest's waiting.
    wake: EventFd,
}

#[derive(Default)]
struct State {
    reader: Reader,
    /// The alarm will go off.
    armed: bool,
}

#[derive(Clone, Copy, Default)]
enum Reader {
    #[default]
    Server,
    Guest,
    /// A guest is expected (back).
    Away(Instant),
}

impl Lead {
    /// A lead that may be offered to guests, who come and go.
    pub(super) fn with_guests() -> nix::Result<Self> {
        let flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        let guests = Guests {
            alarm: TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?,
            wake: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?,
        };
        Ok(Self { state: Mutex::default(), guests: Some(guests) })
    }

    /// Whether the serving thread is to read.
    pub(super) fn is_servers(&self) -> bool {
        matches!(self.state.lock().reader, Reader::Server)
    }

    /// By the serving thread: a guest is likely to come, and is waited for.
    pub(super) fn offer(&self) {
        if let Some(guests) = &self.guests {
            self.state.lock().expect_guest(&guests.alarm);
        }
    }

    /// By a guest that waits for a frame: if it is to read, what becomes readable when its waiting is to end.
    pub(super) fn take(&self) -> Option<&EventFd> {
        let guests = self.guests.as_ref()?;
        let mut state = self.state.lock();
        let Reader::Away(_) = state.reader else { return None };
        state.reader = Reader::Guest;
        Some(&guests.wake)
    }

    /// Ends the waiting of a guest. From any thread.
    pub(super) fn wake_guest(&self) {
        if let Some(guests) = &self.guests {
            // It only fails when the counter is full, and then the guest is awake.
            let _ = guests.wake.write(1);
        }
    }

    /// By a guest that has read something, and has to see to that.
    pub(super) fn step_away(&self) {
        let mut state = self.state.lock();
        if let (Some(guests), Reader::Guest) = (&self.guests, state.reader) {
            state.expect_guest(&guests.alarm);
        }
    }

    /// Has a guest read that does not step away.
    pub(super) fn lend(&self) {
        self.state.lock().reader = Reader::Guest;
    }

    /// The serving thread is to read; returns whether it did not before, and so has to be woken.
    pub(super) fn give_back(&self) -> bool {
        !matches!(std::mem::replace(&mut self.state.lock().reader, Reader::Server), Reader::Server)
    }

    /// What becomes readable when it is time for [`look`](Self::look).
    pub(super) fn alarm(&self) -> Option<BorrowedFd<'_>> {
        self.guests.as_ref().map(|guests| guests.alarm.as_fd())
    }

    /// By the serving thread, when the alarm has gone off: takes the lead from a guest that stays away.
    pub(super) fn look(&self) {
        let Some(Guests { alarm, .. }) = &self.guests else { return };
        // Only resets it.
        let _ = alarm.wait();
        let mut state = self.state.lock();
        state.armed = false;
        if let Reader::Away(since) = state.reader {
            match AWAY_MAX.checked_sub(since.elapsed()) {
                Some(left) if !left.is_zero() => state.arm(alarm, left),
                _ => state.reader = Reader::Server,
            }
        }
    }
}

impl State {
    fn expect_guest(&mut self, alarm: &TimerFd) {
        self.reader = Reader::Away(Instant::now());
        if !self.armed {
            self.arm(alarm, AWAY_MAX);
        }
    }

    fn arm(&mut self, alarm: &TimerFd, after: Duration) {
        let once = Expiration::OneShot(TimeSpec::from_duration(after));
        self.armed = alarm.set(once, TimerSetTimeFlags::empty()).is_ok();
        if !self.armed {
            self.reader = Reader::Server;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_reads_while_it_is_there_and_not_when_it_stays_away() -> nix::Result<()> {
        let lead = Lead::with_guests()?;
        assert!(lead.take().is_none(), "nothing was offered");
        lead.offer();
        assert!(!lead.is_servers(), "a guest is expected");
        assert!(lead.take().is_some(), "it comes");
        assert!(lead.take().is_none(), "there is one already");
        std::thread::sleep(2 * AWAY_MAX);
        lead.look();
        assert!(!lead.is_servers(), "it may wait as long as it likes");
        lead.step_away();
        std::thread::sleep(2 * AWAY_MAX);
        lead.look();
        assert!(lead.is_servers(), "it stays away");
        assert!(!lead.give_back(), "the lead is where it belongs");
        lead.offer();
        assert!(lead.take().is_some() && lead.give_back(), "a guest goes");
        assert!(lead.is_servers());
        Ok(())
    }
}
