//! The header of an NPY file: a Python dictionary of three entries, read strictly.

use super::{Element, Expected, Kind, NpyProblem};
use crate::error::{Fault, Hint, Parsed, Place, Quoted};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The entries of the header.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) element: Element,
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
}

impl Header {
    /// Reads the header, and returns it with the bytes that follow it.
    pub(super) fn parse(bytes: &[u8]) -> Parsed<(Self, &[u8])> {
        let fault = |problem| Fault::at(Place::NpyHeader, problem);
        let short = || fault(NpyProblem::ShortHeader);
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| fault(NpyProblem::NotNpy))?;
        let [major, minor, rest @ ..] = rest else {
            return Err(short());
        };
        let (length, rest) = match (major, rest) {
            (1, [a, b, rest @ ..]) => (usize::from(u16::from_le_bytes([*a, *b])), rest),
            (2 | 3, [a, b, c, d, rest @ ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
            (1..=3, _) => return Err(short()),
            _ => return Err(fault(NpyProblem::Version(*major, *minor))),
        };
        let (text, data) = rest.split_at_checked(length).ok_or_else(short)?;
        let text = str::from_utf8(text).map_err(|_| fault(NpyProblem::NotText))?;
        let header = Scanner { rest: text }.header().map_err(|fault| fault.inside(Place::NpyHeader))?;
        Ok((header, data))
    }
}

/// The part of the header that is still to be read.
struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn header(&mut self) -> Parsed<Header> {
        let (mut element, mut fortran, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.take("}") {
            let key = self.string()?;
            self.expect(":")?;
            let repeated = match key {
                "descr" => element.replace(self.element()?).is_some(),
                "fortran_order" => fortran.replace(self.truth()?).is_some(),
                "shape" => shape.replace(self.shape()?).is_some(),
                other => return Err(NpyProblem::UnknownEntry(Quoted::from(other)).into()),
            };
            if repeated {
                return Err(NpyProblem::RepeatedEntry(Quoted::from(key)).into());
            }
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        if !self.rest.trim().is_empty() {
            return Err(self.wrong(Expected::End));
        }
        let missing = |entry| Fault::from(NpyProblem::MissingEntry(entry));
        Ok(Header {
            element: element.ok_or_else(|| missing("descr"))?,
            fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }

    /// Takes a symbol if it comes next, spaces aside.
    fn take(&mut self, symbol: &str) -> bool {
        match self.rest.trim_start().strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, symbol: &'static str) -> Parsed<()> {
        if self.take(symbol) { Ok(()) } else { Err(self.wrong(Expected::Symbol(symbol))) }
    }

    fn wrong(&self, expected: Expected) -> Fault {
        NpyProblem::Found(Quoted::from(self.rest.trim()), expected).into()
    }

    fn string(&mut self) -> Parsed<&'a str> {
        for mark in ["'", "\""] {
            if self.take(mark) {
                let (text, rest) =
                    self.rest.split_once(mark).ok_or_else(|| self.wrong(Expected::ClosingMark))?;
                self.rest = rest;
                return Ok(text);
            }
        }
        Err(self.wrong(Expected::String))
    }

    fn truth(&mut self) -> Parsed<bool> {
        if self.take("True") {
            Ok(true)
        } else if self.take("False") {
            Ok(false)
        } else {
            Err(self.wrong(Expected::Truth))
        }
    }

    fn shape(&mut self) -> Parsed<Vec<usize>> {
        self.expect("(")?;
        let mut shape = Vec::new();
        while !self.take(")") {
            self.rest = self.rest.trim_start();
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = self.rest.split_at(digits);
            shape.push(number.parse().map_err(|_| self.wrong(Expected::Length))?);
            self.rest = rest;
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }

    fn element(&mut self) -> Parsed<Element> {
        if self.rest.trim_start().starts_with('[') {
            return Err(NpyProblem::Structured.into());
        }
        let descr = self.string()?;
        let problem = || {
            let fault = Fault::from(NpyProblem::Element(Quoted::from(descr)));
            match descr.get(1..2) {
                Some("O" | "S") => fault.with_hint(Hint::TextArray),
                _ => fault,
            }
        };
        let (Some(order @ ("<" | ">" | "|" | "=")), Some(letter), Some(size)) =
            (descr.get(..1), descr.get(1..2), descr.get(2..))
        else {
            return Err(problem());
        };
        let size: usize = size.parse().map_err(|_| problem())?;
        let (kind, size) = match (letter, size) {
            ("b", 1) => (Kind::Bool, 1),
            ("i", 1 | 2 | 4 | 8) => (Kind::Int, size),
            ("u", 1 | 2 | 4 | 8) => (Kind::Unsigned, size),
            ("f", 4 | 8) => (Kind::Float, size),
            ("U", _) => (Kind::Text, size.checked_mul(4).ok_or_else(problem)?),
            _ => return Err(problem()),
        };
        if size > 1 && !matches!(order, "<" | ">") {
            return Err(problem());
        }
        Ok(Element { kind, size, big_endian: order == ">" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_whatever_the_order_and_spacing() {
        for text in [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }      \n",
            "{\"shape\":(3,4,),'fortran_order':False,'descr':'<f8'}",
        ] {
            let header = Scanner { rest: text }.header().unwrap();
            assert_eq!((header.shape, header.fortran, header.element.size), (vec![3, 4], false, 8));
        }
        assert!(Scanner { rest: "()" }.shape().unwrap().is_empty());
        assert_eq!(Scanner { rest: "(7,)" }.shape().unwrap(), [7]);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "{",
            "{'descr': '<f8'",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': False}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} x",
            "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1}",
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}",
        ] {
            assert!(Scanner { rest: text }.header().is_err(), "{text}");
        }
        for descr in [
            "'<f2'",
            "'|O'",
            "'|S3'",
            "'<c16'",
            "'|f8'",
            "'=i4'",
            "'f8'",
            "''",
            "'<'",
            "'ää'",
            "'<U99999999999999999999'",
        ] {
            assert!(Scanner { rest: descr }.element().is_err(), "{descr}");
        }
    }
}
