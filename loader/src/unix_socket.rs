//! Listening on a Unix socket that has a file.
//!
//! A file whose listener is gone looks the same as one whose listener has only just been bound, so looking, removing and
//! binding are one step: whoever does them holds the lock of the folder (`flock`, which leaves nothing behind). Whoever may read
//! a folder may hold its lock for good, so nobody depends on it: it is waited for, and then done without.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::UnixListener;

/// How often, and how far apart, who binds tries for a folder's lock. Nobody needs it for longer than a few system calls.
const LOCK_TRIES: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The file of a Unix socket, removed with its listener if it is still the same one.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: Identity,
}

/// Which file it is: numbers are used again, so when it was made belongs to it.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    number: u64,
    made: (i64, i64),
}

impl Identity {
    fn of(path: &Path) -> io::Result<Self> {
        let found = std::fs::symlink_metadata(path)?;
        Ok(Self { device: found.dev(), number: found.ino(), made: (found.mtime(), found.mtime_nsec()) })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Without the lock somebody else's could be there between the look and the removal. Nobody's end waits for it.
        let Ok(_lock) = lock_folder(&self.path, 1) else { return };
        if Identity::of(&self.path).is_ok_and(|identity| identity == self.identity) {
            // Whoever listens there next finds out that nobody does now.
            let _left = std::fs::remove_file(&self.path);
        }
    }
}

/// Listens at a path; needs a tokio runtime. A socket's file that nobody listens on any more is replaced. Of several that do
/// so at once, in any processes, one listens, unless somebody who does not bind keeps the folder's lock all the while.
///
/// # Errors
/// Somebody listens there, the file is no socket, or the system refuses.
pub fn bind(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    bind_trying(path, LOCK_TRIES)
}

/// The same, with how often the folder's lock is tried for.
fn bind_trying(path: &Path, lock_tries: u32) -> io::Result<(UnixListener, SocketFile)> {
    let _lock = lock_folder(path, lock_tries)?;
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            remove_left_over(path)?;
            // Others than us may bind without the lock.
            UnixListener::bind(path).map_err(|error| match error.kind() {
                io::ErrorKind::AddrInUse => somebody_listens(),
                _ => error,
            })?
        }
        bound => bound?,
    };
    let file = SocketFile { path: path.to_owned(), identity: Identity::of(path)? };
    Ok((listener, file))
}

/// Removes the socket's file of a process that is gone, and no other.
fn remove_left_over(path: &Path) -> io::Result<()> {
    if !std::fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "a file that is no socket is there"));
    }
    match UnixStream::connect(path).map_err(|error| error.kind()) {
        Err(io::ErrorKind::ConnectionRefused) => std::fs::remove_file(path),
        _ => Err(somebody_listens()),
    }
}

fn somebody_listens() -> io::Error {
    io::Error::new(io::ErrorKind::AddrInUse, "somebody listens there")
}

/// Takes the lock of the folder that a path is in. `None`: it has none, as it may not be read or its file system knows none, or
/// somebody else had it at each of so many tries.
fn lock_folder(path: &Path, tries: u32) -> io::Result<Option<File>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = match File::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        opened => opened?,
    };
    for left in (0..tries).rev() {
        match folder.try_lock() {
            Ok(()) => return Ok(Some(folder)),
            Err(TryLockError::WouldBlock) if left > 0 => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => break,
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lock_that_somebody_keeps_stops_nobody() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("socket");
        let kept = File::open(folder.path())?;
        kept.lock()?;
        // A file left over, too.
        drop(std::os::unix::net::UnixListener::bind(&path)?);
        let bound = bind_trying(&path, 2)?;
        UnixStream::connect(&path)?;
        drop(bound);
        assert!(!path.exists(), "the file goes with its listener");
        assert!(File::open(folder.path())?.try_lock().is_err(), "it was kept all the while");
        Ok(())
    }
}
