//! The UAI competition's format: networks of factors, and the evidence beside them.
//!
//! Variables are units `x0`, `x1`, …; state 0 is −1 and state 1 is +1. A factor over one or two
//! binary variables is, in the logarithm, a constant plus biases plus a weight, so a pairwise
//! network without zeros *is* a machine with an offset. Only names, roles and the temperature are
//! lost.

mod evidence;
mod problem;
mod read;
mod write;

pub(super) use evidence::read_evidence;
pub(crate) use problem::UaiProblem;
use problem::{Expected, Item};
pub(super) use read::read;
pub(super) use write::{not_kept, write};

use std::str::FromStr;

use crate::error::{Fault, Hint, Parsed, Place, Quoted};
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
            Fault::at(Place::Line(line as u64), UaiProblem::NotText)
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

    /// The next word as an item of some type.
    fn value<T: FromStr>(&mut self, item: Item, expected: Expected) -> Parsed<T> {
        let Some(word) = self.next() else {
            let fault = Fault::at(self.place(), UaiProblem::Ends { item, expected });
            return Err(fault.with_hint(Hint::Truncated));
        };
        word.parse().map_err(|_| self.wrong(item, word, expected))
    }

    /// The next word as a number that must fulfil a condition.
    fn number(&mut self, item: Item, expected: Expected, is_right: impl Fn(usize) -> bool) -> Parsed<usize> {
        let number = self.value(item, expected)?;
        if is_right(number) { Ok(number) } else { Err(self.wrong(item, &number.to_string(), expected)) }
    }

    /// The fault of the word that was read last.
    fn wrong(&self, item: Item, found: &str, expected: Expected) -> Fault {
        Fault::at(self.place(), UaiProblem::Found { item, found: Quoted::from(found), expected })
    }

    /// The place of the word that was read last.
    fn place(&self) -> Place {
        Place::Line(self.line as u64)
    }

    /// Checks that nothing follows.
    fn end(&mut self, after: Item) -> Parsed<()> {
        match self.next() {
            Some(word) => Err(self.wrong(after, word, Expected::End)),
            None => Ok(()),
        }
    }
}
