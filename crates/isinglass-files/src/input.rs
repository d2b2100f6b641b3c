//! Opening files to read, and the endings of their names.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use isinglass::Budget;

use crate::error::{AccessFailure, Attempt};
use crate::{Error, Result};

/// The size of the buffers between file, decompression and parser.
const BUFFER: usize = 1 << 17;

/// Memory that reading may always take.
const LEAST: Budget = Budget(1 << 20);

/// The budget of reading a file. Budgets far below a megabyte limit the work of engines and are not
/// meant for the few kilobytes of a small file.
pub(crate) fn allowance(budget: Budget) -> Budget {
    budget.max(LEAST)
}

/// The ending of a file name, in lower case and without the dot.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The ending before any `.gz`.
    pub(crate) word: String,
    /// Whether `.gz` follows it.
    pub(crate) gzip: bool,
}

impl Ending {
    /// The ending of a path; the word is empty if there is none.
    pub(crate) fn of(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let (name, gzip) = match name.strip_suffix(".gz") {
            Some(inner) => (inner, true),
            None => (name.as_str(), false),
        };
        let word = name.rsplit_once('.').map_or("", |(_, word)| word);
        Self { word: word.to_owned(), gzip }
    }
}

/// Opens a file that is not a directory.
pub(crate) fn open(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|error| Error::access(path, Attempt::Open, &error))?;
    match file.metadata() {
        Ok(found) if found.is_dir() => {
            Err(Error::access(path, Attempt::Read, &io::ErrorKind::IsADirectory.into()))
        }
        _ => Ok(file),
    }
}

/// Opens a file to be read from start to end, decompressed if its ending is `.gz`.
pub(crate) fn reader(path: &Path) -> Result<Box<dyn BufRead>> {
    let file = BufReader::with_capacity(BUFFER, open(path)?);
    Ok(if Ending::of(path).gzip {
        Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    })
}

/// Reads the whole content of a file within a budget, decompressed if its ending is `.gz`.
pub(crate) fn bytes(path: &Path, budget: Budget) -> Result<Vec<u8>> {
    match bounded(reader(path)?, budget.0) {
        Ok(content) => Ok(content),
        Err(Unread::Failed(error)) => Err(unreadable(path, &error)),
        Err(Unread::TooLarge { read }) => Err(Error::too_large(path, read, budget)),
        Err(Unread::NoMemory { read }) => Err(Error::no_memory(path, read)),
    }
}

/// Why a content was not read as a whole.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The input failed.
    Failed(io::Error),
    /// It has more bytes than these, the limit.
    TooLarge { read: u64 },
    /// There is no memory for more bytes than these.
    NoMemory { read: u64 },
}

/// Reads an input to its end, unless it has more bytes than a limit. Memory grows with what is
/// there, and its lack is an error.
pub(crate) fn bounded(mut input: impl Read, limit: u64) -> Result<Vec<u8>, Unread> {
    let mut content: Vec<u8> = Vec::new();
    loop {
        let read = content.len() as u64;
        if !grow(&mut content, BUFFER) {
            return Err(Unread::NoMemory { read });
        }
        match input.by_ref().take(BUFFER as u64).read_to_end(&mut content) {
            Ok(0) => return Ok(content),
            Ok(_) if content.len() as u64 > limit => return Err(Unread::TooLarge { read }),
            Ok(_) => {}
            Err(error) => return Err(Unread::Failed(error)),
        }
    }
}

/// Makes room for more elements, by a quarter at least; `false` if there is not enough memory.
pub(crate) fn grow<T>(list: &mut Vec<T>, more: usize) -> bool {
    let room = list.capacity() - list.len();
    room >= more || list.try_reserve_exact(more.max(list.len() / 4)).is_ok()
}

/// The error of a file that failed while it was read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Error {
    match (Ending::of(path).gzip, error.kind()) {
        (true, kind @ io::ErrorKind::UnexpectedEof) => {
            Error::Access { path: path.to_owned(), failure: AccessFailure::Truncated, kind }
        }
        (true, _) => Error::access(path, Attempt::Decompress, error),
        (false, _) => Error::access(path, Attempt::Read, error),
    }
}

/// The text without the byte order mark that some programs put at the start of UTF-8 files.
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_found_before_gz_and_in_any_case() {
        let ending = |path: &str| {
            let ending = Ending::of(Path::new(path));
            (ending.word, ending.gzip)
        };
        assert_eq!(ending("a/b.c/t.CSV"), ("csv".into(), false));
        assert_eq!(ending("t.uai.gz"), ("uai".into(), true));
        assert_eq!(ending("t.gz"), (String::new(), true));
        assert_eq!(ending("csv"), (String::new(), false));
        assert_eq!(ending(""), (String::new(), false));
    }
}
