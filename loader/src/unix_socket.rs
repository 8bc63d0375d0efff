//! Listening on a Unix socket that has a file.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

/// The file of a Unix socket, removed with its listener if it is still the same one.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    fn identity(path: &Path) -> io::Result<(u64, u64)> {
        let found = std::fs::symlink_metadata(path)?;
        Ok((found.dev(), found.ino()))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if Self::identity(&self.path).is_ok_and(|identity| identity == self.identity) {
            // Whoever listens there next finds out that nobody does now.
            let _left = std::fs::remove_file(&self.path);
        }
    }
}

/// Listens at a path; needs a tokio runtime. A socket's file that nobody listens on any more is replaced.
///
/// # Errors
/// Somebody listens there, the file is no socket, or the system refuses.
pub fn bind(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            remove_left_over(path)?;
            UnixListener::bind(path)?
        }
        bound => bound?,
    };
    let file = SocketFile { path: path.to_owned(), identity: SocketFile::identity(path)? };
    Ok((listener, file))
}

/// Removes the socket's file of a process that is gone, and no other.
fn remove_left_over(path: &Path) -> io::Result<()> {
    if !std::fs::symlink_metadata(path)?.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "a file that is no socket is there"));
    }
    match UnixStream::connect(path).map_err(|error| error.kind()) {
        Err(io::ErrorKind::ConnectionRefused) => std::fs::remove_file(path),
        _ => Err(io::Error::new(io::ErrorKind::AddrInUse, "somebody listens there")),
    }
}
