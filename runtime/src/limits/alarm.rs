//! An alarm clock that one thread sleeps on and any thread may set, without waking the sleeper.
//!
//! It is a timer of the kernel because of that: whoever sleeps on a condition with a time-out has to be woken to sleep
//! for less. All it does is wake its sleeper, who looks for itself what there is to do.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use parking_lot::Mutex;

/// See the module.
pub(super) struct Alarm {
    timer: OwnedFd,
    /// Monotonic ns at which it goes off, or went off; `u64::MAX` when it is not set.
    due_ns: AtomicU64,
    /// Held while `due_ns` and the timer are made to agree.
    setting: Mutex<()>,
}

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no memory is touched.
        let timer = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
        if timer < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a descriptor just returned by the kernel, owned by nobody else.
        let timer = unsafe { OwnedFd::from_raw_fd(timer) };
        Ok(Self { timer, due_ns: AtomicU64::new(u64::MAX), setting: Mutex::new(()) })
    }

    /// Has it go off at `due_ns`, unless it goes off earlier. From any thread; a system call only where it is earlier.
    pub(super) fn set(&self, due_ns: u64) {
        if due_ns >= self.due_ns.load(SeqCst) {
            return;
        }
        let _setting = self.setting.lock();
        if due_ns >= self.due_ns.load(SeqCst) {
            return;
        }
        self.due_ns.store(due_ns, SeqCst);
        // A time of zero would switch the timer off.
        let due_ns = due_ns.max(1);
        let time = libc::timespec {
            tv_sec: libc::time_t::try_from(due_ns / 1_000_000_000).unwrap_or(libc::time_t::MAX),
            tv_nsec: libc::c_long::try_from(due_ns % 1_000_000_000).unwrap_or(0),
        };
        let once = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: time };
        // SAFETY: the timer is open and `once` outlives the call. It cannot fail: the time is valid.
        unsafe {
            libc::timerfd_settime(
                self.timer.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &raw const once,
                std::ptr::null_mut(),
            )
        };
    }

    /// From now on every [`set`](Self::set) counts again. What it was set to may still make it go off.
    pub(super) fn clear(&self) {
        self.due_ns.store(u64::MAX, SeqCst);
    }

    /// Sleeps until it goes off. May return early; for one thread.
    pub(super) fn sleep(&self) {
        let mut times_off = [0; 8];
        // SAFETY: the timer is open, and the buffer outlives the call and has the length that is said.
        unsafe { libc::read(self.timer.as_raw_fd(), times_off.as_mut_ptr().cast(), times_off.len()) };
    }
}
