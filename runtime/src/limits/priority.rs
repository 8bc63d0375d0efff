//! Who goes first where threads want the same processor: one that has run little, ahead of one that runs for long.
//!
//! The kernel shares processors fairly between threads, and every isolate has one: beside 32 that spin, a fresh one would
//! get a thirty-third. So a thread lets others go first once a single turn has used [`ALLOWANCE_NS`], until that turn ends:
//! a Worker that handles many short requests is not one that runs for long. It does so in two ways: long slices, which the
//! kernel (since Linux 6.12) interrupts for whoever wakes up and asks for a shorter one; and niceness, which is a smaller
//! share. The first anybody may take back. Taking back niceness needs a right (`CAP_SYS_NICE`, or `RLIMIT_NICE` of 20 or
//! more); without it, only the threads of Workers that are used once are made nice, since those end soon.
//!
//! Niceness and not `SCHED_IDLE`: a thread that is idle to the kernel may never run while others want to, and it may hold
//! a lock that those wait for. It did not do better either.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};

use parking_lot::{Mutex, MutexGuard};

/// CPU time that a turn may use before its thread lets others go first. Most need less.
pub(super) const ALLOWANCE_NS: u64 = 5_000_000;

/// The slice of a thread that lets others go first. The kernel's own is 0.7 to 2.8 ms. Not much longer, since it is also how
/// long those that let others go first wait for each other.
const LONG_SLICE_NS: u64 = 8_000_000;

/// The shortest slice that the kernel gives.
const SHORTEST_SLICE_NS: u64 = 100_000;

/// The kernel's own slice.
const USUAL_SLICE_NS: u64 = 0;

/// What a thread that lets others go first is nicer by: it weighs a ninth.
const NICER: libc::c_int = 10;

/// The niceness that weighs least: a seventieth.
const NICEST: libc::c_int = 19;

/// How a thread stands to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Priority {
    Ordinary,
    /// Lets others go first.
    Behind,
    /// It is of no use to anybody any more.
    Last,
}

/// What the kernel is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    nice: libc::c_int,
    slice_ns: u64,
}

/// What to ask for, for a thread that has niceness `now`.
fn wish(to: Priority, usual: Usual, now: libc::c_int, used_once: bool) -> Wish {
    let may_be_nicer = usual.may_take_back || used_once;
    match to {
        Priority::Ordinary => {
            Wish { nice: if usual.may_take_back { usual.nice } else { now }, slice_ns: USUAL_SLICE_NS }
        }
        Priority::Behind if may_be_nicer => {
            Wish { nice: now.max((usual.nice + NICER).min(NICEST)), slice_ns: LONG_SLICE_NS }
        }
        Priority::Behind => Wish { nice: now, slice_ns: LONG_SLICE_NS },
        Priority::Last => Wish { nice: NICEST, slice_ns: LONG_SLICE_NS },
    }
}

/// What threads of this process are given when nobody asks for anything.
#[derive(Clone, Copy, Debug)]
struct Usual {
    nice: libc::c_int,
    /// Whether a thread that was made nicer can be made what it was.
    may_take_back: bool,
}

/// `None`: somebody has given this process a policy of its own, and it is left alone.
static USUAL: LazyLock<Option<Usual>> = LazyLock::new(|| {
    // On a thread of its own, which then is what it may have to stay.
    std::thread::Builder::new().stack_size(256 << 10).spawn(measure).ok()?.join().ok().flatten()
});

/// Finds out what a thread may do, for which a sandbox process soon has no system calls any more.
pub(super) fn prepare() {
    LazyLock::force(&USUAL);
}

fn measure() -> Option<Usual> {
    // SAFETY: asks about the calling thread; no memory is touched.
    if unsafe { libc::sched_getscheduler(0) } != libc::SCHED_OTHER {
        return None;
    }
    let nice = niceness(0);
    let set = |nice| set(0, Wish { nice, slice_ns: USUAL_SLICE_NS });
    Some(Usual { nice, may_take_back: nice < NICEST && set(nice + 1) && set(nice) })
}

/// The priority of one thread, which any thread may change while it lives.
#[derive(Debug)]
pub(super) struct ThreadPriority {
    thread: libc::pid_t,
    /// Whether it is used for one invocation, and then ends.
    used_once: AtomicBool,
    /// Whether it is anything but ordinary; known without the lock.
    lowered: AtomicBool,
    now: Mutex<Now>,
}

#[derive(Debug)]
struct Now {
    priority: Priority,
    nice: libc::c_int,
}

impl ThreadPriority {
    /// The calling thread's, which is ordinary.
    pub(super) fn of_this_thread() -> Self {
        // SAFETY: no memory is touched.
        let thread = unsafe { libc::gettid() };
        let nice = USUAL.map_or(0, |usual| usual.nice);
        Self {
            thread,
            used_once: AtomicBool::new(false),
            lowered: AtomicBool::new(false),
            now: Mutex::new(Now { priority: Priority::Ordinary, nice }),
        }
    }

    /// The thread ends after one invocation.
    pub(super) fn set_used_once(&self) {
        self.used_once.store(true, Relaxed);
    }

    /// Whether it is anything but ordinary.
    pub(super) fn is_lowered(&self) -> bool {
        self.lowered.load(SeqCst)
    }

    /// Lowers it to `to`, unless it is as low already. Returns whether that is done; it is not when another thread changes
    /// it just now. For the watchdog, which waits for nobody.
    pub(super) fn lower(&self, to: Priority) -> bool {
        let Some(mut now) = self.now.try_lock() else { return false };
        if now.priority < to {
            self.lowered.store(true, SeqCst);
            self.ask(&mut now, to);
        }
        true
    }

    /// As [`restore`](Self::restore), unless another thread changes it just now. For the watchdog.
    pub(super) fn hurry(&self) {
        if let Some(now) = self.now.try_lock() {
            self.make_ordinary(now);
        }
    }

    /// Makes it ordinary again, as far as the system allows. Costs next to nothing where it is. For the thread itself.
    pub(super) fn restore(&self) {
        if self.is_lowered() {
            self.make_ordinary(self.now.lock());
        }
    }

    fn make_ordinary(&self, mut now: MutexGuard<'_, Now>) {
        if now.priority != Priority::Ordinary {
            self.ask(&mut now, Priority::Ordinary);
            self.lowered.store(false, SeqCst);
        }
    }

    fn ask(&self, now: &mut Now, to: Priority) {
        now.priority = to;
        if let Some(usual) = *USUAL {
            let wish = wish(to, usual, now.nice, self.used_once.load(Relaxed));
            if set(self.thread, wish) {
                now.nice = wish.nice;
            }
        }
    }
}

/// Asks for the shortest turns that the kernel gives the calling thread, which everybody may: since Linux 6.12 a thread that
/// wakes up for such a turn goes ahead of those in the middle of a long one. Elsewhere nothing comes of it.
pub(super) fn ask_for_short_slices() {
    set(0, Wish { nice: niceness(0), slice_ns: SHORTEST_SLICE_NS });
}

/// A thread's niceness. An error would look like one of -1, which is as good a guess as any.
fn niceness(thread: libc::pid_t) -> libc::c_int {
    // SAFETY: no memory is touched.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, thread.unsigned_abs()) }
}

/// Asks the kernel; returns whether it did as it was asked. `thread`: 0 is the calling one.
fn set(thread: libc::pid_t, wish: Wish) -> bool {
    // SAFETY: `sched_attr` is plain data for which all zeroes is a valid value.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = u32::try_from(size_of::<libc::sched_attr>()).unwrap_or(0);
    attributes.sched_policy = libc::SCHED_OTHER.unsigned_abs();
    attributes.sched_nice = wish.nice;
    attributes.sched_runtime = wish.slice_ns;
    // SAFETY: `attributes` outlives the call, which reads as much of it as it says it is long. A thread that is gone, or
    // one that is not ours, is an error.
    unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const attributes, 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn niceness_is_asked_for_where_it_can_be_taken_back_or_need_not_be() {
        let (free, bound) = (Usual { nice: 0, may_take_back: true }, Usual { nice: 0, may_take_back: false });
        let nice = Usual { nice: 15, may_take_back: true };
        let long = |nice| Wish { nice, slice_ns: LONG_SLICE_NS };
        let usual = |nice| Wish { nice, slice_ns: USUAL_SLICE_NS };
        let cases = [
            // (asked for, of whom, niceness now, used once, wish)
            (Priority::Behind, free, 0, false, long(10)),
            (Priority::Ordinary, free, 10, false, usual(0)),
            (Priority::Behind, bound, 0, false, long(0)),
            (Priority::Ordinary, bound, 0, false, usual(0)),
            (Priority::Behind, bound, 0, true, long(10)),
            (Priority::Ordinary, bound, 10, true, usual(10)),
            (Priority::Behind, bound, 10, true, long(10)),
            (Priority::Last, bound, 0, false, long(19)),
            (Priority::Ordinary, bound, 19, false, usual(19)),
            (Priority::Behind, nice, 15, false, long(19)),
            (Priority::Ordinary, nice, 19, false, usual(15)),
        ];
        for (to, of, now, used_once, expected) in cases {
            assert_eq!(wish(to, of, now, used_once), expected, "{to:?}, {of:?}, {now}, {used_once}");
        }
    }

    #[test]
    fn a_thread_that_was_lowered_is_what_it_was_as_far_as_the_system_allows() {
        let Some(usual) = *USUAL else { return };
        // Lowered by another thread, as the watchdog does it.
        std::thread::scope(|scope| {
            let (tell, told) = std::sync::mpsc::sync_channel(0);
            let (lowered, go_on) = std::sync::mpsc::sync_channel::<()>(0);
            let thread = scope.spawn(move || {
                let priority = std::sync::Arc::new(ThreadPriority::of_this_thread());
                tell.send(priority.clone()).expect("somebody asks");
                let _dropped = go_on.recv();
                assert!(priority.is_lowered());
                let lowered = niceness(priority.thread);
                priority.restore();
                assert!(!priority.is_lowered());
                (lowered, niceness(priority.thread))
            });
            assert!(told.recv().expect("a thread").lower(Priority::Behind));
            drop(lowered);
            let (lowered, restored) = thread.join().expect("no panic");
            let behind = if usual.may_take_back { (usual.nice + NICER).min(NICEST) } else { usual.nice };
            assert_eq!((lowered, restored), (behind, usual.nice));
        });
        // Of no use to anybody, this never needs a right.
        std::thread::spawn(move || {
            let priority = ThreadPriority::of_this_thread();
            priority.lower(Priority::Last);
            assert_eq!(niceness(priority.thread), NICEST);
            priority.lower(Priority::Behind);
            assert_eq!(niceness(priority.thread), NICEST, "no higher");
            priority.restore();
            assert_eq!(niceness(priority.thread), if usual.may_take_back { usual.nice } else { NICEST });
        })
        .join()
        .expect("no panic");
    }
}
