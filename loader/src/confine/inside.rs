//! What a sandbox process gives up, once it runs and before it meets any program.
//!
//! In steps, because of V8: [`before_v8`] on the main thread while it is alone, so that every later thread inherits
//! it; [`before_programs`] once everything that needs more than a program does is done.

use std::os::unix::ffi::OsStrExt;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::launch::THREADS_LIMITED;
use super::{LayerState, LayerStatus, ruleset, seccomp};

/// Descriptors a sandbox process may have open: streams, its socket, and what wakes its threads.
const FILES_MAX: u64 = 64;

/// Gives up files, privileges and the machine's resources. On the main thread, before any other exists.
#[must_use]
pub fn before_v8() -> Vec<LayerStatus> {
    // When memory runs out, the kernel should look here first, not at the broker. Raising it needs no right.
    let oom = std::fs::write("/proc/self/oom_score_adj", "1000");
    vec![
        LayerStatus::of("oom-score", "1000", oom),
        user(),
        capabilities(),
        LayerStatus::of("no-new-privs", "set", nix::sys::prctl::set_no_new_privs()),
        // Neither traced nor dumped: what it holds belongs to somebody.
        LayerStatus::of("no-ptrace", "not dumpable", nix::sys::prctl::set_dumpable(false)),
        rlimits(),
        threads(),
        ruleset::apply(),
    ]
}

/// Bounds the private writable memory of the process: all isolates, their stacks and V8 itself together, in bytes.
/// A step of its own, because the bound comes over the socket.
#[must_use]
pub fn limit_memory(data_bytes_max: u64) -> LayerStatus {
    match lower(Resource::RLIMIT_DATA, data_bytes_max) {
        Ok(bytes) => LayerStatus::new("memory", LayerState::Applied, format!("{} MiB", bytes >> 20)),
        Err(error) => LayerStatus::new("memory", LayerState::Missing, error.to_string()),
    }
}

/// Sets a limit for good, unless a lower one holds already; returns the one that holds.
fn lower(resource: Resource, limit: u64) -> nix::Result<u64> {
    let (soft, _) = getrlimit(resource)?;
    let limit = limit.min(soft);
    setrlimit(resource, limit, limit).map(|()| limit)
}

/// Gives up every system call that running programs does not need, for all threads, also those that exist.
#[must_use]
pub fn before_programs() -> LayerStatus {
    LayerStatus::of("seccomp", "an allow list; anything else ends the process", seccomp::apply())
}

fn user() -> LayerStatus {
    if nix::unistd::geteuid().is_root() {
        LayerStatus::new("user", LayerState::Missing, "the process is still root")
    } else {
        LayerStatus::new("user", LayerState::Applied, "not root")
    }
}

fn capabilities() -> LayerStatus {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:")).map(str::trim);
    match effective.and_then(|mask| u64::from_str_radix(mask, 16).ok()) {
        Some(0) => LayerStatus::new("capabilities", LayerState::Applied, "none held"),
        Some(mask) => LayerStatus::new("capabilities", LayerState::Missing, format!("holds {mask:#x}")),
        None => LayerStatus::new("capabilities", LayerState::Missing, "cannot be told"),
    }
}

/// The launch sets it, and says so, where the system counts them for this process alone.
fn threads() -> LayerStatus {
    if std::env::args_os().next_back().is_none_or(|last| last.as_bytes() != THREADS_LIMITED.to_bytes()) {
        let why = "the system counts those of all processes of a user together here";
        return LayerStatus::new("threads", LayerState::Missing, why);
    }
    match getrlimit(Resource::RLIMIT_NPROC) {
        Ok((max, _)) => LayerStatus::new("threads", LayerState::Applied, format!("at most {max}")),
        Err(error) => LayerStatus::new("threads", LayerState::Missing, error.to_string()),
    }
}

fn rlimits() -> LayerStatus {
    let limits = [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_FSIZE, 0),
        (Resource::RLIMIT_MEMLOCK, 0),
        (Resource::RLIMIT_MSGQUEUE, 0),
        (Resource::RLIMIT_RTPRIO, 0),
        (Resource::RLIMIT_NOFILE, FILES_MAX),
    ];
    let failed: Vec<String> = limits
        .into_iter()
        .filter_map(|(resource, limit)| lower(resource, limit).err().map(|error| format!("{resource:?}: {error}")))
        .collect();
    if failed.is_empty() {
        LayerStatus::new("rlimits", LayerState::Applied, "core, files, file size, locked memory, queues, priority")
    } else {
        LayerStatus::new("rlimits", LayerState::Partial, failed.join(", "))
    }
}
