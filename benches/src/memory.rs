//! Resident memory and CPU time of a process and of every process it started, from /proc.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// What Linux counts CPU time in, as far as /proc shows it.
const TICKS_PER_SECOND: u64 = 100;

/// Resident bytes of the process and its descendants; 0 when it is gone.
pub(crate) fn resident_bytes(process: u32) -> u64 {
    family(process).map(|(_, found)| found.resident_bytes).sum()
}

/// CPU time that the process and its living descendants have used, in user and kernel mode; to a hundredth of a second.
pub(crate) fn cpu_time(process: u32) -> Duration {
    let ticks = family(process).filter_map(|(id, _)| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name, in parentheses, may hold anything; the twelfth and thirteenth fields after it are the times.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
        Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
    });
    Duration::from_millis(ticks.sum::<u64>() * 1000 / TICKS_PER_SECOND)
}

/// Threads of the process and its descendants.
pub(crate) fn threads(process: u32) -> usize {
    family(process).map(|(id, _)| entries(&format!("/proc/{id}/task"))).sum()
}

/// Open descriptors of the process and its descendants, as far as they may be seen.
pub(crate) fn descriptors(process: u32) -> usize {
    family(process).map(|(id, _)| entries(&format!("/proc/{id}/fd"))).sum()
}

fn entries(folder: &str) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

/// The process and its descendants.
fn family(process: u32) -> impl Iterator<Item = (u32, Process)> {
    let mut processes = all_processes();
    let mut wanted = vec![process];
    std::iter::from_fn(move || {
        loop {
            let process = wanted.pop()?;
            wanted.extend(processes.iter().filter(|(_, found)| found.parent == process).map(|(id, _)| *id));
            if let Some(found) = processes.remove(&process) {
                return Some((process, found));
            }
        }
    })
}

struct Process {
    parent: u32,
    resident_bytes: u64,
}

fn all_processes() -> HashMap<u32, Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .filter_map(|entry| {
            let id = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name))?;
                line.trim_start_matches(':').split_whitespace().next()?.parse::<u64>().ok()
            };
            // A process without memory of its own (a kernel thread, a zombie) has no such line.
            let resident_bytes = field("VmRSS").unwrap_or(0) * 1024;
            Some((id, Process { parent: u32::try_from(field("PPid")?).ok()?, resident_bytes }))
        })
        .collect()
}
