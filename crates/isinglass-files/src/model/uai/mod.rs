//! The UAI competition's format: networks of factors, and the evidence beside them.
//!
//! Variables are units `x0`, `x1`, …; state 0 is −1 and state 1 is +1. A factor over one or two binary variables
//! is, in the logarithm, a constant plus biases plus a weight, so a pairwise network without zeros *is* a machine
//! with an offset: nothing is lost either way but names, roles and the temperature.

mod evidence;
mod read;
mod write;

pub(super) use evidence::read_evidence;
pub(super) use read::read;
pub(super) use write::{not_kept, write};

use std::str::FromStr;

use crate::error::{Fault, Parsed, quoted};
use crate::input::without_mark;

/// The words of a file, each with its line.
struct Tokens<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    words: std::str::SplitAsciiWhitespace<'a>,
    line: usize,
}

impl<'a> Tokens<'a> {
    fn new(bytes: &'a [u8]) -> Parsed<Self> {
        let bytes = without_mark(bytes);
        let text = str::from_utf8(bytes).map_err(|error| {
            let line = bytes[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
            Fault::new(format!("line {line}"), "is not text, expected words and numbers")
        })?;
        Ok(Self { lines: text.lines().enumerate(), words: "".split_ascii_whitespace(), line: 1 })
    }

    /// The next word, if there is one.
    fn next(&mut self) -> Option<&'a str> {
        loop {
            if let Some(word) = self.words.next() {
                return Some(word);
            }
            let (k, line) = self.lines.next()?;
            self.line = k + 1;
            self.words = line.split_ascii_whitespace();
        }
    }

    /// The next word as a value of some type; `what` says which value of the file it is.
    fn value<T: FromStr>(&mut self, what: impl Fn() -> String, expected: &str) -> Parsed<T> {
        let Some(word) = self.next() else {
            let what = what();
            let problem = format!("the file ends where {what} should be, expected {expected}");
            return Err(Fault::new(self.place(), problem).with_hint("the file may be truncated"));
        };
        word.parse().map_err(|_| self.wrong(&what(), word, expected))
    }

    /// The fault of a word that was read just now.
    fn wrong(&self, what: &str, found: &str, expected: &str) -> Fault {
        Fault::new(self.place(), format!("{what}: found {}, expected {expected}", quoted(found.as_bytes())))
    }

    /// Where the word that was read just now stands.
    fn place(&self) -> String {
        format!("line {}", self.line)
    }

    /// Check that nothing follows.
    fn end(&mut self, after: &str) -> Parsed<()> {
        match self.next() {
            Some(word) => Err(self.wrong(after, word, "the end of the file")),
            None => Ok(()),
        }
    }
}
