//! What an isolate costs before it has any code: the time and the CPU time to make it, with a context and all APIs, to
//! destroy it, and its memory while it is there.

use std::io;
use std::process;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use loaderd_runtime::isolate::{Isolate, IsolateConfig};
use nix::time::{ClockId, clock_gettime};

use crate::memory::resident_bytes;
use crate::stats::{Samples, show};

/// Code caches have what they keep after fewer than this many.
const WARM_UP: usize = 20;
const HELD: usize = 200;

/// Makes and destroys isolates one at a time, then holds many.
pub(crate) fn print(count: usize) -> io::Result<()> {
    let (mut wall, mut cpu, mut end) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..WARM_UP + count {
        let made = Made::new()?;
        let (took, used) = (made.took, made.cpu);
        let ended = made.destroy()?;
        if at >= WARM_UP {
            wall.push(took);
            cpu.push(used);
            end.push(ended);
        }
    }
    let before = resident_bytes(process::id());
    let held = (0..HELD).map(|_| Made::new()).collect::<io::Result<Vec<_>>>()?;
    let after = resident_bytes(process::id());
    for made in held {
        made.destroy()?;
    }
    println!("An isolate with its context and APIs, without code (n={count})");
    for (what, durations) in
        [("made, p50 / p99", wall), ("CPU time of its thread until then", cpu), ("destroyed, p50 / p99", end)]
    {
        let samples = Samples::new(durations).ok_or_else(|| io::Error::other("no samples"))?;
        println!("  {what}: {} / {}", show(samples.p50()), show(samples.p99()));
    }
    println!("  memory, {HELD} held: {:.2} MB each\n", (after as f64 - before as f64) / HELD as f64 / 1e6);
    Ok(())
}

/// An isolate that nobody uses.
struct Made {
    isolate: Isolate,
    took: Duration,
    /// CPU time of its thread until it was ready.
    cpu: Duration,
}

impl Made {
    fn new() -> io::Result<Self> {
        let (sender, ready) = sync_channel(1);
        let started = Instant::now();
        let isolate = Isolate::spawn_then(IsolateConfig::default(), move || {
            // The receiver waits below.
            let _ = sender.send(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID));
        });
        let isolate = isolate.map_err(io::Error::other)?;
        let cpu = ready.recv().map_err(io::Error::other)??;
        Ok(Self { isolate, took: started.elapsed(), cpu: Duration::from(cpu) })
    }

    /// Waits until nothing is left of it.
    fn destroy(self) -> io::Result<Duration> {
        let (sender, gone) = sync_channel(1);
        self.isolate.on_end(move |_| {
            let _ = sender.send(());
        });
        let started = Instant::now();
        drop(self.isolate);
        gone.recv().map_err(io::Error::other)?;
        Ok(started.elapsed())
    }
}
