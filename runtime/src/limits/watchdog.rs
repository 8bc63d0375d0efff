//! Enforces CPU budgets while a turn runs. One thread for the whole process.
//!
//! A turn publishes, in its isolate's [`Slot`], the reading of its thread's CPU clock at which it must have ended;
//! entering and leaving a turn are a few atomic operations, no lock. CPU time cannot outrun wall time, so the watchdog
//! sleeps exactly the smallest remaining budget, reads that thread's clock again, and terminates or sleeps on.
//!
//! A turn that is due earlier than the watchdog's next look sets its alarm, and wakes nobody. No look is lost: a turn
//! stores its deadline *before* it sets the alarm, and the watchdog clears the alarm *before* it scans the slots, both
//! sequentially consistent. So either the scan sees the deadline, or the turn finds the alarm cleared and sets it.
//!
//! It also sees to it that a thread that runs for long lets others go first (see [`priority`](super::priority)).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

use super::alarm::Alarm;
use super::cpu::{ThreadClock, monotonic_ns, this_thread_ns};
use super::looks::Looks;
use super::priority::{self, ALLOWANCE_NS, Priority, ThreadPriority};

/// The watchdog's thread, as the system names it. The first that a sandbox process starts.
pub const THREAD_NAME: &str = "cpu-watchdog";

/// When a turn goes on for this long after it was told to end, its callers are answered. When it has used as much CPU time
/// meanwhile, and was not merely kept from a processor, it is taken to ignore its end: the thread is left to itself, which
/// only ending its process would change.
const IGNORED_AFTER_NS: u64 = 10_000_000;

/// With so much CPU time used since it was told to end, a turn is taken to go on for ever, and its thread gets what nobody
/// else wants. One that comes to its end sooner should come to it soon: it holds memory.
const LOST_AFTER_NS: u64 = 10_000_000_000;

/// How soon, at least, the watchdog looks again at a thread for anything but its budget.
const LOOK_AT_THREAD_NS: u64 = 2_000_000;

/// How often a turn that has used up its allowance is asked to look at memory that grows unseen.
const MEMORY_LOOK_NS: u64 = 5_000_000;

static STUCK: AtomicUsize = AtomicUsize::new(0);

/// What the watchdog does when a budget is used up.
pub(crate) trait Expire: Send + Sync {
    /// Called on the watchdog's thread with the turn that ran out. Must not block.
    fn expire(&self, turn: u64);

    /// Whether what runs was told to end, for whatever cause.
    fn ending(&self) -> bool;

    /// Called on the watchdog's thread, again and again, while a turn runs for longer than most: asks it to look at memory
    /// that grows unseen. Must not block.
    fn look_at_memory(&self);

    /// Called on the watchdog's thread when a turn goes on although it was told to end: it may be in a builtin that does
    /// not look. Answers whoever waits for it. `thread_ns` is the reading of the thread's CPU clock, where it has one.
    /// Must not block.
    fn ignored(&self, thread_ns: Option<u64>);
}

/// One isolate's place in the watchdog's round.
pub(crate) struct Slot {
    clock: ThreadClock,
    /// CPU reading (ns) at which the running turn must have ended; 0 when no turn with a budget runs.
    deadline_ns: AtomicU64,
    /// Number of the running turn, so that a late expiry cannot end the next one.
    turn: AtomicU64,
    looks: Looks,
    /// The last turn the watchdog ended; it does so once a turn.
    expired_turn: AtomicU64,
    /// What the thread's clock shows when the turn has used up its allowance.
    ahead_until_ns: AtomicU64,
    priority: ThreadPriority,
    /// The turn that was seen ending, since when (monotonic ns), and what its thread's clock said then.
    ending_turn: AtomicU64,
    ending_since_ns: AtomicU64,
    ending_used_ns: AtomicU64,
    /// The last turn whose callers were answered for it, and the last one that ignored its end.
    answered_turn: AtomicU64,
    ignoring_turn: AtomicU64,
    expire: Arc<dyn Expire>,
}

struct Watchdog {
    slots: Mutex<Vec<Arc<Slot>>>,
    alarm: Alarm,
}

static WATCHDOG: LazyLock<Arc<Watchdog>> = LazyLock::new(|| {
    // Without a watchdog no limit holds; refusing to start is the only safe answer.
    let alarm = Alarm::new().unwrap_or_else(|error| panic!("cannot make the CPU watchdog's timer: {error}"));
    let watchdog = Arc::new(Watchdog { slots: Mutex::new(Vec::new()), alarm });
    let runner = watchdog.clone();
    // On a thread of its own that is gone before the watchdog's starts, which has to be a sandbox process's first.
    priority::prepare();
    let (tuned, ready) = std::sync::mpsc::sync_channel(1);
    std::thread::Builder::new()
        .name(THREAD_NAME.into())
        .stack_size(256 << 10)
        .spawn(move || {
            tune();
            // Whoever starts it waits for this.
            let _ = tuned.send(());
            runner.run();
        })
        .unwrap_or_else(|error| panic!("cannot start the CPU watchdog thread: {error}"));
    // A sandbox process soon gives up the system calls that tuning takes; making them later would end it.
    let _ = ready.recv();
    watchdog
});

/// Starts the watchdog, so that its thread exists before a process gives up the right to tune it.
pub(crate) fn start() {
    LazyLock::force(&WATCHDOG);
}

/// Registers the calling thread. Dropping the registration removes it; do so before the thread exits, since its
/// clock ends with it.
pub(crate) struct Registration {
    slot: Arc<Slot>,
}

impl Registration {
    pub(crate) fn new(clock: ThreadClock, expire: Arc<dyn Expire>) -> Self {
        let slot = Arc::new(Slot {
            clock,
            deadline_ns: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            looks: Looks::default(),
            expired_turn: AtomicU64::new(0),
            ahead_until_ns: AtomicU64::new(0),
            priority: ThreadPriority::of_this_thread(),
            ending_turn: AtomicU64::new(0),
            ending_since_ns: AtomicU64::new(0),
            ending_used_ns: AtomicU64::new(0),
            answered_turn: AtomicU64::new(0),
            ignoring_turn: AtomicU64::new(0),
            expire,
        });
        WATCHDOG.slots.lock().push(slot.clone());
        Self { slot }
    }

    /// The thread ends after one invocation.
    pub(crate) fn set_used_once(&self) {
        self.slot.priority.set_used_once();
    }

    /// A turn begins that may use `budget_ns` of CPU time; `began_ns` is what the thread's clock shows.
    pub(crate) fn enter(&self, turn: u64, began_ns: u64, budget_ns: u64) {
        let slot = &self.slot;
        // The watchdog may have looked at the turn before as it ended.
        slot.priority.restore();
        slot.ahead_until_ns.store(began_ns.saturating_add(ALLOWANCE_NS), SeqCst);
        slot.turn.store(turn, SeqCst);
        slot.deadline_ns.store(began_ns.saturating_add(budget_ns).max(1), SeqCst);
        WATCHDOG.alarm.set(monotonic_ns().saturating_add(budget_ns.min(ALLOWANCE_NS)));
    }

    /// The deadline of the turn that runs, to be moved by its own thread.
    pub(crate) fn deadline(&self) -> Deadline {
        Deadline(self.slot.clone())
    }

    /// The turn is over. Returns what the thread's clock shows.
    pub(crate) fn leave(&self) -> u64 {
        let slot = &self.slot;
        slot.deadline_ns.store(0, SeqCst);
        if slot.ignoring_turn.swap(0, SeqCst) != 0 {
            STUCK.fetch_sub(1, SeqCst);
        }
        slot.priority.restore();
        this_thread_ns()
    }
}

/// The deadline of the turn that runs on one thread.
pub(crate) struct Deadline(Arc<Slot>);

impl Deadline {
    /// What runs may use CPU until the thread's clock reads `deadline_ns`; `remaining_ns` from now.
    pub(crate) fn set(&self, deadline_ns: u64, remaining_ns: u64) {
        self.0.deadline_ns.store(deadline_ns.max(1), SeqCst);
        WATCHDOG.alarm.set(monotonic_ns().saturating_add(remaining_ns));
    }
}

impl Slot {
    /// Has the thread let others go first when it has used up its allowance; how long until that is looked at again, in ns.
    fn look_at_allowance(&self, used_ns: u64) -> u64 {
        if self.priority.is_lowered() {
            return u64::MAX;
        }
        let left = self.ahead_until_ns.load(SeqCst).saturating_sub(used_ns);
        if left > 0 || !self.priority.lower(Priority::Behind) {
            return left.max(LOOK_AT_THREAD_NS);
        }
        u64::MAX
    }

    /// A turn that was told to end still runs: how long until it is looked at again, in ns.
    fn look_at_ending(&self, turn: u64) -> u64 {
        let (now, used) = (monotonic_ns(), self.clock.read_ns());
        if self.ending_turn.swap(turn, SeqCst) != turn {
            self.ending_since_ns.store(now, SeqCst);
            self.ending_used_ns.store(used.unwrap_or(0), SeqCst);
            // All that is left for it to do is to come to its end.
            self.priority.hurry();
            return IGNORED_AFTER_NS;
        }
        let waited = now.saturating_sub(self.ending_since_ns.load(SeqCst));
        if waited < IGNORED_AFTER_NS {
            return IGNORED_AFTER_NS - waited;
        }
        if self.answered_turn.swap(turn, SeqCst) != turn {
            self.expire.ignored(used);
        }
        let went_on = used.unwrap_or(u64::MAX).saturating_sub(self.ending_used_ns.load(SeqCst));
        if went_on < IGNORED_AFTER_NS {
            return (IGNORED_AFTER_NS - went_on).max(LOOK_AT_THREAD_NS);
        }
        if self.ignoring_turn.swap(turn, SeqCst) != turn {
            STUCK.fetch_add(1, SeqCst);
        }
        let (priority, left) = match LOST_AFTER_NS.checked_sub(went_on) {
            Some(left) => (Priority::Behind, left.max(LOOK_AT_THREAD_NS)),
            None => (Priority::Last, u64::MAX),
        };
        if self.priority.lower(priority) { left } else { LOOK_AT_THREAD_NS }
    }
}

/// Has the watchdog look at once: something was told to end for another cause than its CPU time.
pub(crate) fn look() {
    WATCHDOG.alarm.set(0);
}

/// Threads that are in a builtin which ignores being told to end, now.
#[must_use]
pub fn stuck_threads() -> usize {
    STUCK.load(SeqCst)
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.leave();
        WATCHDOG.slots.lock().retain(|slot| !Arc::ptr_eq(slot, &self.slot));
    }
}

/// Makes the calling thread wake up as soon as it is due, as far as the system lets it.
fn tune() {
    // SAFETY: prctl with these arguments only changes the calling thread's timer slack.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
    if !run_ahead() {
        // The next best, where that may be had.
        // SAFETY: setpriority on the calling thread (who = 0) touches no memory.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -10) };
        priority::ask_for_short_slices();
    }
}

/// Has the calling thread run as soon as it is awake, ahead of all that share their time fairly; returns whether it
/// will. Among those a thread that wakes up may wait for the current one until the kernel's next tick, 4 ms on many
/// systems, whatever its niceness. Takes a right (`CAP_SYS_NICE`, or a limit of real-time priority) that we may lack.
fn run_ahead() -> bool {
    let lowest = libc::sched_param { sched_priority: 1 };
    // What it starts would be ordinary again.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the calling thread's own scheduling; `lowest` outlives the call.
    unsafe { libc::sched_setscheduler(0, policy, &raw const lowest) == 0 }
}

impl Watchdog {
    fn run(&self) {
        loop {
            self.alarm.clear();
            let sleep_ns = self.scan();
            self.alarm.set(monotonic_ns().saturating_add(sleep_ns));
            self.alarm.sleep();
        }
    }

    /// Ends what ran out; the smallest remaining budget of what did not, in ns (`u64::MAX`: nothing runs).
    fn scan(&self) -> u64 {
        let mut least = u64::MAX;
        for slot in self.slots.lock().iter() {
            let deadline = slot.deadline_ns.load(SeqCst);
            if deadline == 0 {
                continue;
            }
            let turn = slot.turn.load(SeqCst);
            if slot.expire.ending() {
                least = least.min(slot.look_at_ending(turn));
                continue;
            }
            // A clock that cannot be read counts as run out: the limit fails closed.
            let used = slot.clock.read_ns().unwrap_or(u64::MAX);
            if used < deadline {
                least = least.min(slot.looks.next(used, deadline - used)).min(slot.look_at_allowance(used));
                if used >= slot.ahead_until_ns.load(SeqCst) {
                    slot.expire.look_at_memory();
                    least = least.min(MEMORY_LOOK_NS);
                }
            } else if slot.deadline_ns.load(SeqCst) == deadline && slot.expired_turn.swap(turn, SeqCst) != turn {
                slot.expire.expire(turn);
                least = least.min(slot.look_at_ending(turn));
            }
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn that is not told to end.
    struct Endless;

    impl Expire for Endless {
        fn expire(&self, _: u64) {}

        fn ending(&self) -> bool {
            false
        }

        fn look_at_memory(&self) {}

        fn ignored(&self, _: Option<u64>) {}
    }

    #[test]
    fn a_turn_that_runs_for_long_lets_others_go_first_until_it_ends() {
        let clock = ThreadClock::current().expect("a clock");
        let thread = Registration::new(clock, Arc::new(Endless));
        let lowered = || thread.slot.priority.is_lowered();
        thread.enter(1, this_thread_ns(), u64::MAX);
        while !lowered() {
            std::hint::spin_loop();
        }
        thread.leave();
        thread.enter(2, this_thread_ns(), u64::MAX);
        assert!(!lowered(), "the next turn has run for nothing yet");
        thread.leave();
    }
}
