//! The CPU clock of a thread, read by the thread itself or by the watchdog.

use std::time::Duration;

/// The CPU clock of one thread. Valid while that thread lives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadClock(libc::clockid_t);

impl ThreadClock {
    /// The calling thread's clock, readable from any thread. `None` when the system has no such clock.
    pub(crate) fn current() -> Option<Self> {
        let mut clock: libc::clockid_t = 0;
        // SAFETY: pthread_self() is the live calling thread, and `clock` outlives the call.
        let failed = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
        (failed == 0).then_some(Self(clock))
    }

    /// Nanoseconds of CPU time used by the thread so far. `None` when the thread is gone.
    pub(crate) fn read_ns(self) -> Option<u64> {
        read(self.0)
    }
}

/// Nanoseconds of CPU time used by the calling thread.
pub(crate) fn this_thread_ns() -> u64 {
    // The calling thread's own clock cannot fail to exist.
    read(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or(0)
}

/// Nanoseconds on the monotonic clock.
pub(crate) fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC).unwrap_or(0)
}

fn read(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call; an invalid clock id is reported, not undefined.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (failed == 0).then(|| (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64))
}

/// A duration in nanoseconds, saturating (584 years are enough).
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
