//! What a process holds, as the kernel counts it.

use std::time::{Duration, Instant};

/// How long a process may take to give back what it no longer needs. A bound against hanging tests, not an expectation.
const SETTLE_WAIT: Duration = Duration::from_secs(30);

/// What an idle sandbox process holds, with what its broker holds for it.
const THREADS_OF_A_PROCESS: usize = 9;
const DESCRIPTORS_OF_A_PROCESS: usize = 11;

/// What one process and its children hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) threads: usize,
    pub(crate) descriptors: usize,
    pub(crate) children: usize,
    /// Resident memory of them all, in KiB.
    pub(crate) rss_kib: u64,
    /// Resident memory of the process itself, in KiB.
    pub(crate) own_rss_kib: u64,
}

impl Held {
    pub(crate) fn by(pid: u32) -> Result<Self, String> {
        let children = children(pid)?;
        let mut held = Self { threads: 0, descriptors: 0, children: children.len(), rss_kib: 0, own_rss_kib: 0 };
        held.add(pid)?;
        held.own_rss_kib = held.rss_kib;
        for child in children {
            // A child may end while it is looked at; then it holds nothing.
            let _ = held.add(child);
        }
        Ok(held)
    }

    fn add(&mut self, pid: u32) -> Result<(), String> {
        let entries = |folder: &str| -> Result<usize, String> {
            let path = format!("/proc/{pid}/{folder}");
            Ok(std::fs::read_dir(&path).map_err(|error| format!("{path}: {error}"))?.count())
        };
        self.threads += entries("task")?;
        // A sandbox process may hide its descriptors from others; its broker's ends are counted all the same.
        self.descriptors += entries("fd").unwrap_or(0);
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).map_err(|error| error.to_string())?;
        let rss = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0");
        self.rss_kib += rss.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap_or(0);
        Ok(())
    }

    /// The most that a service may hold which held this, and has the processes of `now`. How many sandbox processes wait for
    /// work differs from moment to moment; each that came may hold what one holds, and no more.
    pub(crate) fn with_processes_of(&self, now: &Self) -> Result<Self, String> {
        // As many as the service may have unless told otherwise.
        let most = std::thread::available_parallelism().map_or(16, |cores| (8 * cores.get()).clamp(16, 128));
        if now.children > most {
            return Err(format!("{} sandbox processes are left; there may be {most}", now.children));
        }
        let more = now.children.saturating_sub(self.children);
        Ok(Self {
            threads: self.threads + more * THREADS_OF_A_PROCESS,
            descriptors: self.descriptors + more * DESCRIPTORS_OF_A_PROCESS,
            children: self.children + more,
            ..*self
        })
    }

    /// Whether this is no more than that was, memory aside.
    fn within(&self, bound: &Self) -> bool {
        self.threads <= bound.threads && self.descriptors <= bound.descriptors && self.children <= bound.children
    }
}

/// How many descriptors a process has open.
pub(crate) fn descriptors(pid: u32) -> Result<usize, String> {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map(Iterator::count).map_err(|error| error.to_string())
}

/// All descendants of a process.
pub(crate) fn children(pid: u32) -> Result<Vec<u32>, String> {
    let mut all = Vec::new();
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        let tasks = format!("/proc/{parent}/task");
        let Ok(tasks) = std::fs::read_dir(&tasks) else {
            if parent == pid {
                return Err(format!("{tasks} is gone"));
            }
            continue;
        };
        for task in tasks.flatten() {
            let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let found: Vec<u32> = text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
            all.extend_from_slice(&found);
            parents.extend(found);
        }
    }
    Ok(all)
}

/// Waits until a process holds no more than it did.
pub(crate) fn settles(pid: u32, bound: &Held) -> Result<(), String> {
    let deadline = Instant::now() + SETTLE_WAIT;
    loop {
        let held = Held::by(pid)?;
        if held.within(bound) {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("held at the start: {bound:?}\n  still held at the end: {held:?}"));
        }
        // The kernel tells nobody when another process's thread ends, so this asks again.
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What a process holds once it no longer changes: pools are filled and starters have ended.
pub(crate) fn at_rest(pid: u32) -> Result<Held, String> {
    let deadline = Instant::now() + SETTLE_WAIT;
    let mut last = Held::by(pid)?;
    let mut same = 0;
    while same < 10 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
        let held = Held::by(pid)?;
        same = if held.within(&last) && last.within(&held) { same + 1 } else { 0 };
        last = held;
    }
    Ok(last)
}
