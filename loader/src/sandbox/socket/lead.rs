//! Who reads a connection.
//!
//! It is the thread that serves the connection, unless a *guest* is about to wait for a frame anyway: then that reads, and
//! the answer it waits for wakes one thread instead of two. Frames are read under a lock, whoever reads them, so this
//! decides about wake-ups alone: a reader too many is harmless. That there is always one follows from two rules. A guest
//! that goes gives the lead back; and one that steps away, to handle what it has read, is waited for so long and no longer,
//! by an alarm that wakes the serving thread.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

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
    /// Wakes the serving thread to look for a guest that stays away. Without one, guests do not step away.
    alarm: Option<TimerFd>,
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
    /// A lead whose guests may step away.
    pub(super) fn with_alarm() -> nix::Result<Self> {
        let flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        Ok(Self { state: Mutex::default(), alarm: Some(TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?) })
    }

    /// Whether the serving thread is to read.
    pub(super) fn is_servers(&self) -> bool {
        matches!(self.state.lock().reader, Reader::Server)
    }

    /// By the serving thread: a guest is likely to come, and is waited for.
    pub(super) fn offer(&self) {
        if let Some(alarm) = &self.alarm {
            self.state.lock().expect_guest(alarm);
        }
    }

    /// By a guest that waits for a frame; whether it is to read.
    pub(super) fn take(&self) -> bool {
        let mut state = self.state.lock();
        let offered = matches!(state.reader, Reader::Away(_));
        if offered {
            state.reader = Reader::Guest;
        }
        offered
    }

    /// By a guest that has read something, and has to see to that.
    pub(super) fn step_away(&self) {
        let mut state = self.state.lock();
        if let (Some(alarm), Reader::Guest) = (&self.alarm, state.reader) {
            state.expect_guest(alarm);
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
        self.alarm.as_ref().map(AsFd::as_fd)
    }

    /// By the serving thread, when the alarm has gone off: takes the lead from a guest that stays away.
    pub(super) fn look(&self) {
        let Some(alarm) = &self.alarm else { return };
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
        let lead = Lead::with_alarm()?;
        assert!(!lead.take(), "nothing was offered");
        lead.offer();
        assert!(!lead.is_servers(), "a guest is expected");
        assert!(lead.take(), "it comes");
        assert!(!lead.take(), "there is one already");
        std::thread::sleep(2 * AWAY_MAX);
        lead.look();
        assert!(!lead.is_servers(), "it may wait as long as it likes");
        lead.step_away();
        std::thread::sleep(2 * AWAY_MAX);
        lead.look();
        assert!(lead.is_servers(), "it stays away");
        assert!(!lead.give_back(), "the lead is where it belongs");
        lead.offer();
        assert!(lead.take() && lead.give_back(), "a guest goes");
        assert!(lead.is_servers());
        Ok(())
    }
}
