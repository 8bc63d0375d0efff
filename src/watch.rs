//! Waiting for files to change, and starting over.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How often files are looked at. Changes are a person's; a quarter of a second is at once.
const INTERVAL: Duration = Duration::from_millis(250);

/// What is compared: a file that is not there has none of it.
type Stamp = Option<(SystemTime, u64)>;

/// Files and what they looked like.
pub(crate) struct Watcher(HashMap<PathBuf, Stamp>);

impl Watcher {
    /// Remembers what the files look like now. Take it before reading them, so that no change is missed.
    pub(crate) fn new(files: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(files.into_iter().map(|file| (file.clone(), stamp(&file))).collect())
    }

    /// Resolves when one of the files has changed, come or gone. Cancel-safe.
    pub(crate) async fn changed(&self) {
        while !self.has_changed() {
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// The same for callers without a runtime; blocks the thread.
    pub(crate) fn wait(&self) {
        while !self.has_changed() {
            std::thread::sleep(INTERVAL);
        }
    }

    fn has_changed(&self) -> bool {
        self.0.iter().any(|(file, before)| stamp(file) != *before)
    }
}

fn stamp(file: &PathBuf) -> Stamp {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Runs this process's command line from the start in its place: V8's flags and sockets belong to a process.
pub(crate) fn start_over() -> std::process::ExitCode {
    use std::os::unix::process::CommandExt;
    crate::terminal::say("Reloading due to config change...");
    let program = std::env::current_exe().unwrap_or_else(|_| "loaderd".into());
    let failed = std::process::Command::new(program).args(std::env::args_os().skip(1)).exec();
    crate::terminal::error(&format!("cannot start again: {failed}"));
    std::process::ExitCode::FAILURE
}
