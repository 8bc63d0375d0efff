//! The place of a sandbox process's watchdog ahead of the programs it watches.
//!
//! The process itself has no right to it: it gave up all it had. The broker may have one, and gives the thread its place
//! from outside. Where it has none, limits hold too, only later: by up to a tick of the kernel.

use std::fs;

use loaderd_runtime::limits::WATCHDOG_THREAD;

/// Has the watchdog of the process run as soon as it is awake. Does nothing where it cannot be found, or the broker has no
/// right to it.
pub(super) fn prefer_watchdog(pid: libc::pid_t) {
    let Some(thread) = first_thread(pid) else { return };
    // What runs in the process may call its threads anything; which of them came first it cannot change.
    let name = fs::read_to_string(format!("/proc/{pid}/task/{thread}/comm")).unwrap_or_default();
    if name.trim_end() != WATCHDOG_THREAD {
        return;
    }
    let lowest = libc::sched_param { sched_priority: 1 };
    // What it starts would be ordinary again.
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: `lowest` outlives the call. The process has not been reaped, so the number is no other program's.
    unsafe { libc::sched_setscheduler(thread, policy, &raw const lowest) };
}

/// The thread that the process started first, after its main one.
fn first_thread(pid: libc::pid_t) -> Option<libc::pid_t> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let numbers = threads.filter_map(|thread| thread.ok()?.file_name().to_str()?.parse::<libc::pid_t>().ok());
    numbers.filter(|thread| *thread != pid).min()
}
