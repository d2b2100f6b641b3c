//! Locks on files that are replaced while they are in use.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::disk::folder_of;
use crate::error::{AccessFailure, Attempt};
use crate::identity::follow;
use crate::unfinished::{PREFIX, Unfinished};
use crate::{Error, Result};

/// How often, and how long apart, the other process is looked for in its lock.
const LOOKS: usize = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// A lock on a file: as long as it lives, no other process gets one on the same file.
///
/// Outputs are replaced by renaming, so the lock is on a file of its own beside the target,
/// `.isinglass-NAME.lock`, which holds the number of the process. The operating system gives the
/// lock up when the process ends, however it ends; a lock file that was left behind locks nothing.
///
/// # Example
/// ```
/// use isinglass_files::Lock;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("fit.ckpt");
/// let lock = Lock::take(&path)?;
/// let message = Lock::take(&path).unwrap_err().to_string();
/// assert!(message.contains(&format!("is in use by process {}\n", std::process::id())));
/// drop(lock);
/// Lock::take(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Lock {
    /// Holds the lock.
    _file: File,
    path: PathBuf,
    _listed: Unfinished,
}

impl Lock {
    /// Locks a file, which need not exist. Returns `None` for devices and pipes, and where the file
    /// system has no locks.
    ///
    /// # Errors
    /// The file is locked, by a process whose number the error has; the lock file cannot be made.
    pub fn take(path: &Path) -> Result<Option<Self>> {
        let fail = |error: io::Error| Error::access(path, Attempt::Lock, &error);
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Ok(None);
        }
        let beside = beside(&follow(path).map_err(fail)?);
        loop {
            let file = File::options().read(true).write(true).create(true).truncate(false).open(&beside);
            let mut file = file.map_err(fail)?;
            match file.try_lock() {
                // Whoever had the lock before may have removed the file in between.
                Ok(()) if is_at(&file, &beside) => {
                    let listed = Unfinished::list(&beside);
                    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(fail)?;
                    return Ok(Some(Self { _file: file, path: beside, _listed: listed }));
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Access {
                        path: path.to_owned(),
                        failure: AccessFailure::InUse(owner(file)),
                        kind: io::ErrorKind::ResourceBusy,
                    });
                }
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    // Nothing else can be done about a file that cannot be removed.
                    let _ = fs::remove_file(&beside);
                    return Ok(None);
                }
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While the lock is held, so that nobody else's is removed.
        let _ = fs::remove_file(&self.path);
    }
}

/// The lock file of a path.
fn beside(end: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(PREFIX);
    name.push(end.file_name().unwrap_or_default());
    name.push(".lock");
    folder_of(end).join(name)
}

/// The process in a lock file; it is written just after the lock was taken.
fn owner(mut file: File) -> Option<u32> {
    for _ in 0..LOOKS {
        let mut text = String::new();
        // Where locks forbid reading, the process stays unknown.
        if file.read_to_string(&mut text).is_ok()
            && let Some(line) = text.strip_suffix('\n')
        {
            return line.parse().ok();
        }
        std::thread::sleep(PAUSE);
    }
    None
}

/// Whether an open file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let found = |found: io::Result<fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
    found(file.metadata()) == found(fs::metadata(path))
}

/// Whether an open file is the one at a path: it cannot be removed while it is open.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_lock_at_a_time_by_any_path_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.ckpt");
        // What a killed process leaves locks nothing.
        fs::write(beside(&path), "1\n").unwrap();
        let lock = Lock::take(&path).unwrap().unwrap();
        let again = Lock::take(&folder.path().join("./c.ckpt")).unwrap_err().to_string();
        assert!(again.contains(&format!("c.ckpt: is in use by process {}\n", std::process::id())), "{again}");
        assert!(Lock::take(&folder.path().join("d.ckpt")).unwrap().is_some());
        drop(lock);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(Lock::take(Path::new("/dev/null")).unwrap().is_none());
        assert!(Lock::take(&folder.path().join("no/such/c.ckpt")).is_err());
    }

    #[test]
    fn threads_that_want_a_lock_get_it_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.ckpt");
        let inside = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        if let Ok(lock) = Lock::take(&path) {
                            use std::sync::atomic::Ordering::SeqCst;
                            assert_eq!(inside.fetch_add(1, SeqCst), 0, "two locks at a time");
                            inside.fetch_sub(1, SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
    }
}
