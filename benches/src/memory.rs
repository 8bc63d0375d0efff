//! Resident memory of a process and of every process it started, from /proc.

use std::collections::HashMap;
use std::fs;

/// Resident bytes of the process and its descendants; 0 when it is gone.
pub(crate) fn resident_bytes(process: u32) -> u64 {
    let processes = all_processes();
    let mut total = 0;
    let mut wanted = vec![process];
    while let Some(process) = wanted.pop() {
        if let Some(found) = processes.get(&process) {
            total += found.resident_bytes;
        }
        wanted.extend(processes.iter().filter(|(_, found)| found.parent == process).map(|(id, _)| *id));
    }
    total
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
