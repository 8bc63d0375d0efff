//! What is left behind by many passes, one after the other: memory, threads and descriptors, after the first thousand and at the
//! end.

use std::io;
use std::time::Duration;

use crate::Effort;
use crate::loaderd::Loaderd;
use crate::memory::{descriptors, resident_bytes, threads};

/// Passes after which everything has its usual size.
const FIRST: u32 = 1_000;

/// How long passes may be over before what is counted is what stays.
const SETTLED: Duration = Duration::from_secs(1);

/// What this process and its sandbox processes hold.
#[derive(Clone, Copy)]
struct Held {
    resident_bytes: u64,
    threads: usize,
    descriptors: usize,
}

impl Held {
    async fn now() -> Self {
        tokio::time::sleep(SETTLED).await;
        let process = std::process::id();
        Self { resident_bytes: resident_bytes(process), threads: threads(process), descriptors: descriptors(process) }
    }
}

/// Runs them on each, one mode after the other.
pub(crate) async fn print(modes: &[(&str, &Loaderd)], effort: Effort) -> io::Result<()> {
    println!("Passes one after the other, two at a time: what is held after {FIRST} and after {}", effort.endurance);
    for (name, loaderd) in modes {
        loaderd.two_at_a_time(FIRST).await?;
        let first = Held::now().await;
        loaderd.two_at_a_time(effort.endurance - FIRST).await?;
        let last = Held::now().await;
        let share = (last.resident_bytes as f64 / first.resident_bytes as f64 - 1.0) * 100.0;
        println!(
            "  {name}: {:.1} to {:.1} MB ({share:+.1} %), {} to {} threads, {} to {} descriptors",
            first.resident_bytes as f64 / 1e6,
            last.resident_bytes as f64 / 1e6,
            first.threads,
            last.threads,
            first.descriptors,
            last.descriptors
        );
    }
    println!();
    Ok(())
}
