//! Waiting for what another process does in its own time.

use std::time::{Duration, Instant};

/// Long enough for any machine; a test that passes waits for a fraction of it.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn until(mut done: impl FnMut() -> bool, what: &str) -> Result<(), String> {
    let end = Instant::now() + PATIENCE;
    while !done() {
        if Instant::now() > end {
            return Err(format!("waited too long for {what}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
