//! Waiting for files to change, and starting over.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use loaderd_wrangler_compat::{Disk, FileSource};

/// How often files are looked at. Changes are a person's; a quarter of a second is at once.
const INTERVAL: Duration = Duration::from_millis(250);

/// From noticing a change to looking what it is: writing a file takes a moment, and often there is more than one.
const SETTLING: Duration = Duration::from_millis(100);

/// What is compared: a file that is not there has none of it.
type Stamp = Option<(SystemTime, u64)>;

/// Files and what they looked like. Files that are read through it are watched from before that on, also those that were
/// looked for and are not there, so that what mends a broken config is seen whatever it is.
#[derive(Default)]
pub(crate) struct Watcher(Mutex<HashMap<PathBuf, Stamp>>);

impl FileSource for Watcher {
    fn read(&self, path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
        self.add(path);
        Disk.read(path, bytes_max)
    }
}

impl Watcher {
    /// Watches files that were read between `begun` and now. One that was written meanwhile has changed: what was read of
    /// it may be what it was before.
    pub(crate) fn since<'f>(begun: SystemTime, files: impl Iterator<Item = &'f PathBuf>) -> Self {
        let now = SystemTime::now();
        let settled = |(modified, _): &(SystemTime, u64)| *modified < begun || *modified > now;
        let stamps = files.map(|file| (file.clone(), stamp(file).filter(settled)));
        Self(Mutex::new(stamps.collect()))
    }

    /// Remembers what a file looks like now, if it is not watched already.
    pub(crate) fn add(&self, file: &Path) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.entry(file.to_owned()).or_insert_with(|| stamp(file));
    }

    /// Resolves when one of the files has changed, come or gone. Cancel-safe.
    pub(crate) async fn changed(&self) {
        while !self.has_changed() {
            tokio::time::sleep(INTERVAL).await;
        }
        tokio::time::sleep(SETTLING).await;
    }

    /// The same for callers without a runtime; blocks the thread.
    pub(crate) fn wait(&self) {
        while !self.has_changed() {
            std::thread::sleep(INTERVAL);
        }
        std::thread::sleep(SETTLING);
    }

    fn has_changed(&self) -> bool {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().any(|(file, before)| stamp(file) != *before)
    }
}

fn stamp(file: &Path) -> Stamp {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Runs this process's command line from the start in its place: V8's flags and sockets belong to a process.
pub(crate) fn start_over() -> std::process::ExitCode {
    use std::os::unix::process::CommandExt;
    crate::terminal::finish_logging();
    crate::terminal::say("Reloading due to config change...");
    let program = std::env::current_exe().unwrap_or_else(|_| "loaderd".into());
    let failed = std::process::Command::new(program).args(std::env::args_os().skip(1)).exec();
    crate::terminal::error(&format!("cannot start again: {failed}"));
    std::process::ExitCode::FAILURE
}
