//! Outputs that appear complete or not at all.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::error::{AccessFailure, Attempt};
use crate::{Error, Result};

const BUFFER: usize = 1 << 17;

/// How the names of temporary files begin and end.
const PREFIX: &str = ".isinglass-";
const SUFFIX: &str = ".tmp";

/// The longest chain of symbolic links that is followed.
const LINKS: usize = 40;

/// A reserved output: what is written to it appears under its path all at once, on
/// [`Output::commit`].
///
/// Until then everything goes to a temporary file in the same directory, so a directory that cannot
/// be written to is noticed before the work and not after it. Dropped without `commit`, it leaves
/// no trace. A symbolic link is followed, not replaced; an existing file keeps its permissions. A
/// device or a pipe (`/dev/null`, `/dev/stdout`) is written to directly.
///
/// # Example
/// ```
/// use std::io::Write;
/// use isinglass_files::Output;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("answer.txt");
/// let mut output = Output::create(&path)?;
/// writeln!(output, "42")?;
/// assert!(!path.exists());
/// output.commit()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "42\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// A temporary file, and the file that it becomes.
    Beside(BufWriter<NamedTempFile>, PathBuf, Unfinished),
    /// A device or a pipe.
    Direct(BufWriter<File>),
}

impl Output {
    /// Reserves an output.
    ///
    /// # Errors
    /// The path is a directory, its directory does not exist, or nothing can be written there.
    pub fn create(path: &Path) -> Result<Self> {
        let fail = |error: io::Error| Error::access(path, Attempt::Write, &error);
        let existing = fs::metadata(path).ok();
        if path.file_name().is_none() || existing.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        let special = existing.as_ref().is_some_and(|found| !found.is_file());
        let target = if special || is_stream(path) {
            let file = File::options().append(true).open(path);
            Target::Direct(BufWriter::with_capacity(BUFFER, file.map_err(fail)?))
        } else {
            let end = follow(path).map_err(fail)?;
            let directory = match end.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
                _ => PathBuf::from("."),
            };
            if !directory.is_dir() {
                return Err(Error::Access {
                    path: path.to_owned(),
                    failure: AccessFailure::NoDirectory(directory),
                    kind: io::ErrorKind::NotFound,
                });
            }
            let file = temporary(&directory, &end, existing.as_ref()).map_err(fail)?;
            let listed = Unfinished::list(file.path());
            Target::Beside(BufWriter::with_capacity(BUFFER, file), end, listed)
        };
        Ok(Self { path: path.to_owned(), target })
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error of this crate for a failed write to this output.
    pub fn error(&self, error: &io::Error) -> Error {
        Error::access(&self.path, Attempt::Write, error)
    }

    /// Finishes: from now on the path holds what was written.
    ///
    /// # Errors
    /// The last bytes could not be written, or the file could not be moved to its path. The target
    /// is then as it was.
    pub fn commit(self) -> Result<()> {
        let fail = |error: io::Error| Error::access(&self.path, Attempt::Write, &error);
        match self.target {
            Target::Direct(mut file) => file.flush().map_err(fail),
            Target::Beside(file, end, _listed) => {
                let file = file.into_inner().map_err(|error| fail(error.into_error()))?;
                file.persist(end).map_err(|error| fail(error.error))?;
                Ok(())
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Beside(file, ..) => file.write(bytes),
            Target::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Beside(file, ..) => file.flush(),
            Target::Direct(file) => file.flush(),
        }
    }
}

/// Temporary files of outputs that are neither committed nor dropped.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// An entry of the list of unfinished outputs, for as long as it lives.
#[derive(Debug)]
struct Unfinished(PathBuf);

impl Unfinished {
    fn list(path: &Path) -> Self {
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

/// Removes the temporary files of all outputs that are not finished: for a program that is about to
/// end without dropping them, as on a signal. Targets stay as they were.
pub fn discard_unfinished() {
    for path in unfinished().drain(..) {
        // Nothing else can be done about a file that cannot be removed.
        let _ = fs::remove_file(path);
    }
}

/// Removes the temporary files beside a path that killed programs left behind: those that nobody
/// holds a lock on. What cannot be removed, or is on a file system without locks, stays.
pub fn discard_abandoned(beside: &Path) {
    let directory = match beside.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(directory) else { return };
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

/// Whether a path names one of the program's own streams, which must not be replaced even if it is
/// a regular file.
fn is_stream(path: &Path) -> bool {
    path.starts_with("/dev/fd")
        || path.starts_with("/proc")
        || path == Path::new("/dev/stdout")
        || path == Path::new("/dev/stderr")
}

/// The path at the end of a chain of symbolic links, whether or not there is a file yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_owned();
    for _ in 0..LINKS {
        match fs::symlink_metadata(&end) {
            Ok(found) if found.is_symlink() => {
                let next = fs::read_link(&end)?;
                end = end.parent().unwrap_or(Path::new("")).join(next);
            }
            _ => return Ok(end),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// A temporary file in a directory, with the permissions that the final file is to have.
fn temporary(directory: &Path, end: &Path, existing: Option<&fs::Metadata>) -> io::Result<NamedTempFile> {
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
    let mut file = builder.tempfile_in(directory)?;
    // The lock marks the file as being written. Whoever locked it before us is about to remove it.
    while matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock)) || !file.path().exists() {
        file = builder.tempfile_in(directory)?;
    }
    if let Some(found) = existing {
        file.as_file().set_permissions(found.permissions())?;
    }
    Ok(file)
}
