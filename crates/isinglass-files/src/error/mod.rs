//! The error type of this crate: file, place, what was found, what is expected, and a hint.
//!
//! Errors are data. Each format has an enum of its problems beside its parser; [`Place`] and
//! [`Hint`] are shared. This module puts them together into a message, and nothing reads a finished
//! message.

mod fault;
mod hint;
mod place;
mod text;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use isinglass::Budget;
use isinglass::message::{Message, Style};

use crate::input::Ending;

pub use fault::Fault;
pub(crate) use fault::Parsed;
pub(crate) use hint::Hint;
pub(crate) use place::Place;
use text::OneLine;
pub(crate) use text::{Near, Quoted};

/// What can go wrong with a file.
///
/// The message is one line, `<path>: <place>: <problem>`, and at most one more that begins with
/// `hint:`. As a [`Message`] it names settings in the style of a front end.
///
/// # Example
/// ```
/// use isinglass_files::{TableOptions, parse_csv};
/// let error = parse_csv(b"a,b\n1,0\n1,maybe\n", "t.csv", b',', &TableOptions::default()).unwrap_err();
/// assert!(error.to_string().starts_with("t.csv: row 2 (line 3), column 'b': found 'maybe', expected "));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be opened, read or written.
    Access {
        /// The file.
        path: PathBuf,
        /// Why not.
        failure: AccessFailure,
        /// The kind of failure, for callers who treat some of them specially.
        kind: io::ErrorKind,
    },
    /// The ending of a file name is not supported for the purpose.
    Ending {
        /// The file.
        path: PathBuf,
        /// The endings that are supported.
        expected: Endings,
    },
    /// The program was built without the feature that reads Parquet files.
    NoParquet {
        /// The file.
        path: PathBuf,
    },
    /// The content of a file breaks the rules of its format.
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        fault: Fault,
    },
    /// A machine or a table holds something that the format of the output cannot hold.
    Unwritable {
        /// The file that was to be written.
        path: PathBuf,
        /// What cannot be written, and where it is.
        fault: Fault,
    },
}

/// Results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file cannot be opened, read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum AccessFailure {
    /// There is no such file.
    NoFile,
    /// There is no such directory to write the file to.
    NoDirectory(PathBuf),
    /// The file is a directory.
    IsDirectory,
    /// Compressed data end too early.
    Truncated,
    /// The content does not fit into the budget.
    TooLarge {
        /// Whether it is what a compressed file unpacks to.
        unpacked: bool,
        /// The bytes after which reading stopped.
        read: u64,
        /// The memory that may be used.
        budget: Budget,
    },
    /// There is no memory for the content beyond these bytes.
    NoMemory {
        /// The bytes after which reading stopped.
        read: u64,
    },
    /// Another process uses the file; its number, if it is known.
    InUse(Option<u32>),
    /// The user may not do this.
    Denied(Attempt),
    /// Anything else, with the reason in the system's words.
    Failed(Attempt, String),
}

impl fmt::Display for AccessFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => f.write_str("no such file"),
            Self::NoDirectory(directory) => {
                write!(f, "{}: there is no directory '{}'", Attempt::Write, directory.display())
            }
            Self::IsDirectory => f.write_str("is a directory, expected a file"),
            Self::Truncated => write!(f, "{}: the file is truncated", Attempt::Decompress),
            Self::TooLarge { unpacked, read, budget } => {
                let what = if *unpacked { "unpacked, it has" } else { "has" };
                let read = Budget::bytes(u128::from(*read));
                write!(f, "{what} more than {read}, and the budget is {budget}")
            }
            Self::NoMemory { read } => {
                write!(f, "there is no memory for more than {} of it", Budget::bytes(u128::from(*read)))
            }
            Self::InUse(Some(process)) => write!(f, "is in use by process {process}"),
            Self::InUse(None) => f.write_str("is in use by another process"),
            Self::Denied(attempt) => write!(f, "{attempt}: permission denied"),
            Self::Failed(attempt, error) => {
                write!(f, "{attempt}: ")?;
                OneLine::write(f, error)
            }
        }
    }
}

/// What was tried with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// To open it.
    Open,
    /// To read it.
    Read,
    /// To read and decompress it.
    Decompress,
    /// To write it.
    Write,
    /// To wait until it is on the disk, once it is written.
    Sync,
    /// To keep others from using it.
    Lock,
    /// To create it, a directory.
    Create,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "cannot be opened",
            Self::Read => "cannot be read",
            Self::Decompress => "cannot be decompressed",
            Self::Write => "cannot be written",
            Self::Sync => "is written, but not for sure on the disk",
            Self::Lock => "cannot be locked",
            Self::Create => "cannot be created",
        })
    }
}

/// The endings of file names that are supported for a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endings {
    /// Model files.
    Model,
    /// Tables to be read.
    Table,
    /// Tables to be written.
    WrittenTable,
    /// Pictures to be read.
    Picture,
    /// Pictures to be written.
    WrittenPicture,
}

impl fmt::Display for Endings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "not the ending of a model file, expected .json, .uai, .json.gz, .uai.gz or .npz",
            Self::Table => {
                "not the ending of a table, expected .csv, .tsv, .npy (each also with .gz) or .parquet"
            }
            Self::WrittenTable => {
                "not the ending of a table that can be written, expected .csv, .tsv or .npy"
            }
            Self::Picture => {
                "not the ending of a picture, expected .png, .pgm, .pbm, .ppm, .pnm, .bmp, .jpg or .jpeg"
            }
            Self::WrittenPicture => "pictures are written as PNG, expected the ending .png",
        })
    }
}

impl Error {
    /// A failure of the operating system.
    pub(crate) fn access(path: &Path, attempt: Attempt, error: &io::Error) -> Self {
        let failure = match error.kind() {
            io::ErrorKind::NotFound => AccessFailure::NoFile,
            io::ErrorKind::IsADirectory => AccessFailure::IsDirectory,
            io::ErrorKind::PermissionDenied => AccessFailure::Denied(attempt),
            _ => AccessFailure::Failed(attempt, error.to_string()),
        };
        Self::Access { path: path.to_owned(), failure, kind: error.kind() }
    }

    /// A content that does not fit into the budget.
    pub(crate) fn too_large(path: &Path, read: u64, budget: Budget) -> Self {
        Self::Access {
            path: path.to_owned(),
            failure: AccessFailure::TooLarge { unpacked: Ending::of(path).gzip, read, budget },
            kind: io::ErrorKind::OutOfMemory,
        }
    }

    /// A content that there is no memory for.
    pub(crate) fn no_memory(path: &Path, read: u64) -> Self {
        Self::Access {
            path: path.to_owned(),
            failure: AccessFailure::NoMemory { read },
            kind: io::ErrorKind::OutOfMemory,
        }
    }

    /// An ending that is not supported.
    pub(crate) fn ending(path: &Path, expected: Endings) -> Self {
        Self::Ending { path: path.to_owned(), expected }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Access { path, .. }
            | Self::Ending { path, .. }
            | Self::NoParquet { path }
            | Self::Content { path, .. }
            | Self::Unwritable { path, .. } => path,
        }
    }
}

impl Message for Error {
    fn render(&self, out: &mut dyn fmt::Write, style: Style) -> fmt::Result {
        write!(out, "{}: ", self.path().display())?;
        match self {
            Self::Access { failure, .. } => {
                write!(out, "{failure}")?;
                match failure {
                    AccessFailure::TooLarge { .. } => Hint::Budget.render(out, style),
                    AccessFailure::InUse(_) => Hint::Wait.render(out, style),
                    _ => Ok(()),
                }
            }
            Self::Ending { expected, .. } => write!(out, "{expected}"),
            Self::NoParquet { .. } => {
                out.write_str("this build does not read Parquet")?;
                Hint::BuildWithParquet.render(out, style)
            }
            Self::Content { fault, .. } | Self::Unwritable { fault, .. } => fault.render(out, style),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.render(f, Style::Flags)
    }
}

impl std::error::Error for Error {}
