//! The files of a project whose code is broken: what mends it may be any of them, or one that is not there yet.

use std::path::{Path, PathBuf};

/// Files and folders of one project that are looked at.
const ENTRIES_MAX: usize = 10_000;

/// Adds a folder, the files in it, and the same for the folders in it, except installed packages and hidden folders.
pub(super) fn add(folder: &Path, files: &mut Vec<PathBuf>) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut open = vec![folder.to_owned()];
    let end = files.len() + ENTRIES_MAX;
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        files.push(folder);
        for entry in entries {
            if files.len() >= end {
                return;
            }
            let name = entry.file_name();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    if name != "node_modules" && !name.as_encoded_bytes().starts_with(b".") {
                        open.push(entry.path());
                    }
                }
                _ => files.push(entry.path()),
            }
        }
    }
}
