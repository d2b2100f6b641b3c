//! The one error type of this crate: file, place, what was found, what would be right.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong with a file.
///
/// The message is one line, `<path>: <place>: <problem>`, and at most one more that begins with `hint:`.
///
/// # Example
/// ```
/// use isinglass_files::{TableOptions, parse_csv};
/// let error = parse_csv(b"a,b\n1,0\n1,maybe\n", "t.csv", b',', &TableOptions::default()).unwrap_err();
/// assert!(error.to_string().starts_with("t.csv: row 2 (line 3), column 'b': found 'maybe', expected "));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be opened, read or written.
    #[error("{}: {problem}", .path.display())]
    Access {
        /// The file.
        path: PathBuf,
        /// What was tried, and why it failed.
        problem: String,
        /// The kind of failure, for callers who treat some of them specially.
        kind: io::ErrorKind,
    },
    /// The ending of a file name is not one that is known for the purpose.
    #[error("{}: {problem}{}", .path.display(), Hint(.hint.as_deref()))]
    Ending {
        /// The file.
        path: PathBuf,
        /// The endings that are known.
        problem: String,
        /// What would help.
        hint: Option<String>,
    },
    /// The content of a file breaks the rules of its format.
    #[error("{}: {}{problem}{}", .path.display(), Place(.place), Hint(.hint.as_deref()))]
    Content {
        /// The file.
        path: PathBuf,
        /// The line, row, column, unit or edge; empty if the whole file is meant.
        place: String,
        /// What was found there, and what would be right.
        problem: String,
        /// What would help.
        hint: Option<String>,
    },
    /// A machine or a table holds something that the format of the output cannot hold.
    #[error("{}: {place}: {problem}{}", .path.display(), Hint(.hint.as_deref()))]
    Unwritable {
        /// The file that was to be written.
        path: PathBuf,
        /// The unit, edge or number.
        place: String,
        /// What cannot be written, and why.
        problem: String,
        /// What would help.
        hint: Option<String>,
    },
}

/// Results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

struct Place<'a>(&'a str);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{}: ", self.0) }
    }
}

struct Hint<'a>(Option<&'a str>);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl Error {
    /// A failure of the operating system, in words.
    pub(crate) fn access(path: &Path, attempt: &str, error: &io::Error) -> Self {
        let problem = match error.kind() {
            io::ErrorKind::NotFound => "no such file".to_owned(),
            io::ErrorKind::IsADirectory => "is a directory, expected a file".to_owned(),
            io::ErrorKind::PermissionDenied => format!("{attempt}: permission denied"),
            _ => format!("{attempt}: {}", one_line(&error.to_string())),
        };
        Self::Access { path: path.to_owned(), problem, kind: error.kind() }
    }
}

/// A problem inside a file, before the file's name is put to it.
#[derive(Debug)]
pub(crate) struct Fault {
    place: String,
    problem: String,
    hint: Option<String>,
}

/// Results of the parsers, which do not know the name of their file.
pub(crate) type Parsed<T> = std::result::Result<T, Fault>;

impl Fault {
    /// A problem at a place.
    pub(crate) fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into(), hint: None }
    }

    /// A problem of the file as a whole.
    pub(crate) fn whole(problem: impl Into<String>) -> Self {
        Self::new("", problem)
    }

    /// The same problem with a line of advice.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same problem, its place found inside another.
    pub(crate) fn inside(mut self, outer: &str) -> Self {
        self.place =
            if self.place.is_empty() { outer.to_owned() } else { format!("{outer}, {}", self.place) };
        self
    }

    /// The error of reading a file with this problem.
    pub(crate) fn reading(self, path: &Path) -> Error {
        Error::Content { path: path.to_owned(), place: self.place, problem: self.problem, hint: self.hint }
    }

    /// The error of writing a machine with this problem to a file.
    pub(crate) fn writing(self, path: &Path) -> Error {
        Error::Unwritable { path: path.to_owned(), place: self.place, problem: self.problem, hint: self.hint }
    }
}

/// The core names places too.
impl From<isinglass::Error> for Fault {
    fn from(error: isinglass::Error) -> Self {
        match error {
            isinglass::Error::Invalid { place, problem } => Self::new(one_line(&place), one_line(&problem)),
            other => Self::whole(one_line(&other.to_string())),
        }
    }
}

/// The longest piece of a file that is repeated in a message, in characters.
const SHOWN: usize = 60;

/// A piece of a file as it stands in a message: in quotes, on one line, and not too long.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown = String::from("'");
    for (k, c) in text.chars().enumerate() {
        if k == SHOWN {
            shown.push('…');
            break;
        }
        push_visible(&mut shown, c);
    }
    shown.push('\'');
    shown
}

/// The same text with nothing in it that would break the line.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    text.chars().for_each(|c| push_visible(&mut line, c));
    line
}

fn push_visible(text: &mut String, c: char) {
    if c.is_control() {
        text.extend(c.escape_default());
    } else {
        text.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_repeated_stays_on_one_line_and_short() {
        assert_eq!(quoted(b"a\nb"), r"'a\nb'");
        assert_eq!(quoted("ä,\"".as_bytes()), "'ä,\"'");
        assert_eq!(quoted(&[b'x'; 1000]).chars().count(), SHOWN + 3);
        assert_eq!(one_line("a\r\nb\u{7f}"), r"a\r\nb\u{7f}");
    }

    #[test]
    fn messages_have_file_place_problem_and_hint() {
        let fault = Fault::new("row 1", "found 'x'").with_hint("write 1");
        assert_eq!(fault.reading(Path::new("t.csv")).to_string(), "t.csv: row 1: found 'x'\nhint: write 1");
        let fault = Fault::whole("is empty").inside("array 'bias'");
        assert_eq!(fault.reading(Path::new("m.npz")).to_string(), "m.npz: array 'bias': is empty");
        assert_eq!(Fault::whole("is empty").reading(Path::new("t")).to_string(), "t: is empty");
    }
}
