//! Where the bytes of configuration files come from: the disk, or a table in tests.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Reads files by path. One implementation is the disk; tests and fuzzers bring their own.
pub trait FileSource {
    /// The whole file. A file larger than `bytes_max` is an error, not a long read.
    ///
    /// # Errors
    /// Whatever the system says, and [`io::ErrorKind::FileTooLarge`].
    fn read(&self, path: &Path, bytes_max: usize) -> io::Result<Vec<u8>>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl FileSource for Disk {
    fn read(&self, path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
        let file = std::fs::File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder, not a file"));
        }
        let mut bytes = Vec::new();
        // One byte more than allowed tells a full file from one that is too large, whatever its metadata says.
        file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
        Ok(bytes)
    }
}

/// Files by path, in memory.
#[derive(Clone, Debug, Default)]
pub struct InMemory(pub BTreeMap<PathBuf, Vec<u8>>);

impl FileSource for InMemory {
    fn read(&self, path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
        let bytes = self.0.get(path).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))?;
        if bytes.len() > bytes_max { Err(too_large(bytes_max)) } else { Ok(bytes.clone()) }
    }
}

fn too_large(bytes_max: usize) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("is larger than {bytes_max} bytes"))
}

/// A path without `.` and, where that can be told from the text alone, without `..`.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(result.components().next_back(), Some(Component::Normal(_))) => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}
