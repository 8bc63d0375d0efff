//! Whether the system gives this process what it takes to start at all. What is missing would otherwise end it in the
//! middle of something that cannot fail: V8 reserving its memory, or a library that counts on descriptors.

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

/// Address space that V8 reserves for all isolates together, and some to work with. Nearly all of it stays unused.
const ADDRESS_SPACE_BYTES: usize = 33 << 30;

/// Pairs of descriptors that a command opens at least.
const PIPES: usize = 8;

/// Threads that a command has before it runs a program, beside one for each processor.
const THREADS: usize = 16;

/// With fewer allowed for the whole user, it is tried out whether there are enough.
const FEW_THREADS: u64 = 4_096;

/// # Errors
/// What there is too little of, and which limit that is.
pub(crate) fn check() -> Result<(), String> {
    let opened: std::io::Result<Vec<_>> = (0..PIPES).map(|_| std::io::pipe()).collect();
    if let Err(error) = opened {
        return Err(format!("cannot start: {} files cannot be opened (`ulimit -n`): {error}", 2 * PIPES));
    }
    let (limit, _) = getrlimit(Resource::RLIMIT_AS).unwrap_or((RLIM_INFINITY, RLIM_INFINITY));
    if limit != RLIM_INFINITY && !can_reserve(ADDRESS_SPACE_BYTES) {
        return Err(format!(
            "cannot start: V8 needs {} GiB of address space, most of it unused, and this process may have {} KiB in all \
             (`ulimit -v`)",
            ADDRESS_SPACE_BYTES >> 30,
            limit >> 10
        ));
    }
    let (limit, _) = getrlimit(Resource::RLIMIT_NPROC).unwrap_or((RLIM_INFINITY, RLIM_INFINITY));
    let threads = THREADS + std::thread::available_parallelism().map_or(1, usize::from);
    if limit < FEW_THREADS
        && let Err(error) = can_start(threads)
    {
        return Err(format!("cannot start: {threads} threads are not to be had (`ulimit -u`): {error}"));
    }
    Ok(())
}

/// Whether there can be so many threads at once. None is left.
fn can_start(threads: usize) -> std::io::Result<()> {
    // Whoever is there waits until nobody can send any more.
    let (all, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    std::thread::scope(|scope| {
        // Dropped before the scope waits for the threads, also where not all of them are there.
        let _all = all;
        for _ in 0..threads {
            std::thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, || {
                drop(wait.lock().map(|wait| wait.recv()));
            })?;
        }
        Ok(())
    })
}

/// Whether so many bytes of addresses are to be had.
fn can_reserve(bytes: usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice, which nobody may touch, so nothing can refer into it.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return false;
    }
    // SAFETY: the mapping that was just made, whole; nothing refers into it.
    unsafe { libc::munmap(start, bytes) };
    true
}
