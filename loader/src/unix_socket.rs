//! Listening on a Unix socket that has a file.
//!
//! A file whose listener is gone looks the same as one whose listener has only just been bound, so looking, removing and
//! binding are one step: whoever does them holds the lock of the folder (`flock`, which leaves nothing behind).

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::UnixListener;

/// How often, and how far apart, a folder's lock is tried for. Nobody needs it for longer than a few system calls.
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
        // Without the lock somebody else's could be there between the look and the removal.
        let Ok(_lock) = lock_folder(&self.path) else { return };
        if Identity::of(&self.path).is_ok_and(|identity| identity == self.identity) {
            // Whoever listens there next finds out that nobody does now.
            let _left = std::fs::remove_file(&self.path);
        }
    }
}

/// Listens at a path; needs a tokio runtime. A socket's file that nobody listens on any more is replaced. Of several that do
/// so at once, in any processes, one listens.
///
/// # Errors
/// Somebody listens there, the file is no socket, or the system refuses.
pub fn bind(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let _lock = lock_folder(path)?;
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

/// Takes the lock of the folder that a path is in. `None`: it has none, as it may not be read or its file system knows none.
fn lock_folder(path: &Path) -> io::Result<Option<File>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = match File::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        opened => opened?,
    };
    for _ in 0..LOCK_TRIES {
        match folder.try_lock() {
            Ok(()) => return Ok(Some(folder)),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process holds the lock of its folder"))
}
