//! The steps in which a file appears on the disk, whole and to stay: written beside its target,
//! synced, renamed, and its folder synced.
//!
//! Every output goes through these few functions. The tests record them, and play a loss of power
//! after each (`power_loss`).

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Attempt;
use crate::unfinished::{PREFIX, SUFFIX};
use crate::{Error, Result};

/// A temporary file in the folder of its target.
#[derive(Debug)]
pub(crate) struct Draft(NamedTempFile);

impl Draft {
    /// Creates a draft of a file, with the permissions that the file is to have.
    pub(crate) fn beside(end: &Path, existing: Option<&fs::Metadata>) -> io::Result<Self> {
        if existing.is_some() {
            // A file that may not be written to is not replaced either.
            File::options().write(true).open(end)?;
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let folder = folder_of(end);
        let mut file = builder.tempfile_in(folder)?;
        // The lock marks the file as being written. Whoever locked it before us is about to remove it.
        while matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock)) || !file.path().exists() {
            file = builder.tempfile_in(folder)?;
        }
        if let Some(found) = existing {
            file.as_file().set_permissions(found.permissions())?;
        }
        record(|| Step::Create(file.path().to_owned()));
        Ok(Self(file))
    }

    /// The place of the draft.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Waits until what was written is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        record(|| Step::Sync(self.path().to_owned()));
        tolerate(self.0.as_file().sync_all())
    }

    /// Moves the draft to its target, at once and as a whole.
    pub(crate) fn rename(self, end: &Path) -> io::Result<()> {
        let from = self.path().to_owned();
        self.0.persist(end).map_err(|error| error.error)?;
        record(|| Step::Rename(from, end.to_owned()));
        Ok(())
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.0.write(bytes)?;
        record(|| Step::Write(self.path().to_owned(), bytes[..count].to_vec()));
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Waits until the names in a folder are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    record(|| Step::SyncFolder(folder.to_owned()));
    #[cfg(unix)]
    {
        match File::open(folder) {
            Ok(opened) => tolerate(opened.sync_all()),
            // Files may be made in a folder that cannot be listed, and so not opened.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            Err(error) => Err(error),
        }
    }
    #[cfg(not(unix))]
    Ok(())
}

/// File systems that cannot sync say so in these words; more cannot be had of them.
fn tolerate(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        result => result,
    }
}

/// The folder that a path is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Creates a folder and those that it is in, to stay; nothing happens if it exists.
///
/// # Errors
/// A folder cannot be created.
///
/// # Example
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("figures/today");
/// isinglass_files::create_folder(&path)?;
/// isinglass_files::create_folder(&path)?;
/// assert!(path.is_dir());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create_folder(path: &Path) -> Result<()> {
    let missing: Vec<&Path> =
        path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
    let done = fs::create_dir_all(path)
        .and_then(|()| missing.into_iter().try_for_each(|folder| sync_folder(folder_of(folder))));
    done.map_err(|error| Error::access(path, Attempt::Create, &error))
}

/// A step, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Create(PathBuf),
    Write(PathBuf, Vec<u8>),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    SyncFolder(PathBuf),
}

#[cfg(not(test))]
#[inline]
fn record(_step: impl FnOnce() -> Step) {}

#[cfg(test)]
use recorder::record;

#[cfg(test)]
pub(crate) mod recorder {
    //! The steps of this thread.

    use std::cell::RefCell;

    use super::Step;

    thread_local! {
        static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn record(step: impl FnOnce() -> Step) {
        STEPS.with_borrow_mut(|steps| steps.push(step()));
    }

    /// Takes all steps so far.
    pub(crate) fn taken() -> Vec<Step> {
        STEPS.take()
    }
}
