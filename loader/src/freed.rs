//! What the C library has allocated, and giving back to the system what it freed.
//!
//! The C library keeps what is freed for whoever allocates next. Isolates allocate in bursts of a hundred megabytes, each on
//! a thread of its own, and so with a stock of its own: without this a process would hold gigabytes that nobody uses.

use std::time::Duration;

/// What the C library may keep, in bytes: enough for a few passes, so that not each of them asks the system.
const KEPT_MAX: usize = 16 << 20;

/// How long isolates may have been ending, or nothing be asked for, before what was freed is given back.
pub(crate) const GIVE_BACK_AFTER: Duration = Duration::from_secs(1);

/// From how many bytes on a broker gets memory from the system and gives it back as it is freed, and how much it keeps at
/// most at the end of each of the C library's arenas.
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 1 << 20;

/// Has the C library keep little of what is freed, for good: for a broker, whose messages may be large while it holds next
/// to nothing itself. Left alone, it keeps twice the largest block ever freed at the end of each arena, where not even
/// [`give_back_all`] takes it.
///
/// To be called on the main thread, before there are others.
pub fn keep_little() {
    #[cfg(target_env = "gnu")]
    // SAFETY: no other thread allocates meanwhile, which is all that it asks for.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}

/// Gives back what the C library keeps, where that is more than [`KEPT_MAX`]: for a process that goes on working. Takes some
/// milliseconds then, in which other threads may wait to allocate.
pub(crate) fn give_back() {
    if free_bytes() > KEPT_MAX {
        give_back_all();
    }
}

/// Gives back all that the C library keeps: for a process that has nothing to do. Takes some milliseconds.
#[cfg(target_env = "gnu")]
pub(crate) fn give_back_all() {
    // SAFETY: only tidies up the allocator's own state, under its own locks.
    unsafe { libc::malloc_trim(0) };
}

/// Other C libraries keep little.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn give_back_all() {}

/// What the C library keeps of what was freed, in bytes.
#[cfg(target_env = "gnu")]
fn free_bytes() -> usize {
    // SAFETY: only looks at the allocator's own state, under its own locks.
    unsafe { libc::mallinfo2() }.fordblks
}

/// Other C libraries do not say.
#[cfg(not(target_env = "gnu"))]
fn free_bytes() -> usize {
    0
}

/// What is allocated in this process, in bytes, with V8's heaps left out, which it maps itself.
#[cfg(target_env = "gnu")]
pub(crate) fn allocated_bytes() -> usize {
    // SAFETY: only looks at the allocator's own state, under its own locks.
    let counts = unsafe { libc::mallinfo2() };
    counts.uordblks.saturating_add(counts.hblkhd)
}

/// Other C libraries do not say.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn allocated_bytes() -> usize {
    0
}
