//! The temporary files and locks that exist at the moment, to be removed when the program ends early.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::disk::folder_of;

/// How the names of temporary files begin and end.
pub(crate) const PREFIX: &str = ".isinglass-";
pub(crate) const SUFFIX: &str = ".tmp";

/// Temporary files of outputs that are neither committed nor dropped, and locks.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// An entry of the list of unfinished outputs, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    pub(crate) fn list(path: &Path) -> Self {
        unfinished().push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.0);
    }
}

fn unfinished() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    // A thread that panicked while it held the lock left the list whole.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of all outputs that are not finished, and all locks: for a program
/// that is about to end without dropping them, as on a signal. Targets stay as they were.
pub fn discard_unfinished() {
    for path in unfinished().drain(..) {
        // Nothing else can be done about a file that cannot be removed.
        let _ = fs::remove_file(path);
    }
}

/// Removes the temporary files beside a path that killed programs left behind: those that nobody
/// holds a lock on. What cannot be removed, or is on a file system without locks, stays.
pub fn discard_abandoned(beside: &Path) {
    let Ok(entries) = fs::read_dir(folder_of(beside)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // The lock is held until the file is gone, so that nobody starts to write to it.
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}
