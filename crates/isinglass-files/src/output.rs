//! Outputs that appear complete or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::disk::{Draft, folder_of, sync_folder};
use crate::error::{AccessFailure, Attempt};
use crate::identity::follow;
use crate::unfinished::Unfinished;
use crate::{Error, Result};

const BUFFER: usize = 1 << 17;

/// Whether outputs wait for the disk.
static SYNC: AtomicBool = AtomicBool::new(true);

/// Sets whether outputs that are created from now on wait until they are on the disk; they do unless
/// this is called with `false`, as for benchmarks.
pub fn sync_outputs(sync: bool) {
    SYNC.store(sync, Ordering::Relaxed);
}

/// A reserved output: what is written to it appears under its path all at once, on
/// [`Output::commit`].
///
/// Until then everything goes to a temporary file in the same directory, so a directory that cannot
/// be written to is noticed before the work and not after it. Dropped without `commit`, it leaves
/// no trace. A symbolic link is followed, not replaced; an existing file keeps its permissions. A
/// device or a pipe (`/dev/null`, `/dev/stdout`) is written to directly.
///
/// A file that was committed stays: content and name are on the disk, as far as the file system can
/// be asked for it. A loss of power on the way leaves the old file or the new one, as a whole.
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
    /// Whether to wait for the disk.
    sync: bool,
}

#[derive(Debug)]
enum Target {
    /// A temporary file, and the file that it becomes.
    Beside(BufWriter<Draft>, PathBuf, Unfinished),
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
            let directory = folder_of(&end);
            if !directory.is_dir() {
                return Err(Error::Access {
                    path: path.to_owned(),
                    failure: AccessFailure::NoDirectory(directory.to_owned()),
                    kind: io::ErrorKind::NotFound,
                });
            }
            let draft = Draft::beside(&end, existing.as_ref()).map_err(fail)?;
            let listed = Unfinished::list(draft.path());
            Target::Beside(BufWriter::with_capacity(BUFFER, draft), end, listed)
        };
        Ok(Self { path: path.to_owned(), target, sync: SYNC.load(Ordering::Relaxed) })
    }

    /// The same output, which does not wait for the disk: it is as whole as ever if the program is
    /// killed, but a loss of power soon after it was committed may leave an old or a broken file.
    #[must_use]
    pub fn without_sync(mut self) -> Self {
        self.sync = false;
        self
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
    /// is then as it was. Or the folder could not be synced: what was written is there, but may not
    /// survive a loss of power.
    pub fn commit(self) -> Result<()> {
        let fail = |error: io::Error| Error::access(&self.path, Attempt::Write, &error);
        match self.target {
            Target::Direct(mut file) => file.flush().map_err(fail),
            Target::Beside(draft, end, _listed) => {
                let draft = draft.into_inner().map_err(|error| fail(error.into_error()))?;
                if self.sync {
                    draft.sync().map_err(fail)?;
                }
                draft.rename(&end).map_err(fail)?;
                if self.sync {
                    let synced = sync_folder(folder_of(&end));
                    synced.map_err(|error| Error::access(&self.path, Attempt::Sync, &error))?;
                }
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

/// Whether a path names one of the program's own streams, which must not be replaced even if it is
/// a regular file.
fn is_stream(path: &Path) -> bool {
    path.starts_with("/dev/fd")
        || path.starts_with("/proc")
        || path == Path::new("/dev/stdout")
        || path == Path::new("/dev/stderr")
}
