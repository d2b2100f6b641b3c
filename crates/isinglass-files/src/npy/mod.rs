//! Arrays in NumPy's NPY format: the plain types that tables and machines are made of.
//!
//! An [`Array`] borrows the bytes of the file and converts single elements on demand, so a large
//! matrix is in memory once. Nothing is allocated from what a header claims: the claim is checked
//! against the bytes that are there.

mod header;
mod write;

use std::fmt;

pub(crate) use write::{Head, write_head};

use crate::error::{Fault, Hint, Parsed, Place, Quoted};

/// What can be wrong with an NPY array.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NpyProblem {
    #[error("not found: this is not an NPY file")]
    NotNpy,
    #[error("the file ends inside it")]
    ShortHeader,
    #[error("found version {0}.{1}, expected 1.0, 2.0 or 3.0")]
    Version(u8, u8),
    #[error("is not text")]
    NotText,
    #[error("found the unknown entry {0}")]
    UnknownEntry(Quoted),
    #[error("the entry {0} appears twice")]
    RepeatedEntry(Quoted),
    #[error("the entry '{0}' is missing")]
    MissingEntry(&'static str),
    #[error("found {0}, expected {1}")]
    Found(Quoted, Expected),
    #[error("found a structured array, expected a plain one")]
    Structured,
    #[error(
        "found elements of type {0}, expected bool, a signed or unsigned integer of 8 to 64 bits, float32, \
         float64 or text (<U)"
    )]
    Element(Quoted),
    #[error(
        "shape {shape:?} needs {} of data, found {found}",
        .needed.map_or_else(|| "more bytes than there can be".into(), |needed| format!("{needed} bytes"))
    )]
    Size { shape: Vec<usize>, needed: Option<usize>, found: usize },
    #[error("found the code {0:#x}, expected a Unicode character")]
    Character(u32),
}

/// What should come next in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Symbol(&'static str),
    ClosingMark,
    String,
    Truth,
    Length,
    End,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Symbol(symbol) => write!(f, "'{symbol}'"),
            Self::ClosingMark => f.write_str("a closing quotation mark"),
            Self::String => f.write_str("a string"),
            Self::Truth => f.write_str("True or False"),
            Self::Length => f.write_str("a length"),
            Self::End => f.write_str("the end of the header"),
        }
    }
}

/// The kind of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Truth values of one byte.
    Bool,
    /// Signed integers.
    Int,
    /// Unsigned integers.
    Unsigned,
    /// Floating-point numbers.
    Float,
    /// Text of fixed length, four bytes a character.
    Text,
}

/// The type of an array's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) kind: Kind,
    /// Bytes of one element.
    pub(crate) size: usize,
    pub(crate) big_endian: bool,
}

/// An array of any shape.
#[derive(Debug)]
pub(crate) struct Array<'a> {
    element: Element,
    shape: Vec<usize>,
    fortran: bool,
    data: &'a [u8],
}

impl<'a> Array<'a> {
    /// Reads an array from the bytes of an NPY file.
    pub(crate) fn parse(bytes: &'a [u8]) -> Parsed<Self> {
        let (header, data) = header::Header::parse(bytes)?;
        let needed =
            header.shape.iter().try_fold(header.element.size, |product, &length| product.checked_mul(length));
        if needed != Some(data.len()) {
            let problem = NpyProblem::Size { shape: header.shape, needed, found: data.len() };
            return Err(Fault::from(problem).with_hint(Hint::Truncated));
        }
        Ok(Self { element: header.element, shape: header.shape, fortran: header.fortran, data })
    }

    /// The lengths of the dimensions.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the elements are text.
    pub(crate) fn is_text(&self) -> bool {
        self.element.kind == Kind::Text
    }

    /// The place of an element of a matrix among the elements.
    #[inline]
    pub(crate) fn at(&self, row: usize, column: usize) -> usize {
        if self.fortran { column * self.shape[0] + row } else { row * self.shape[1] + column }
    }

    /// An element as a number; 64-bit integers beyond 2⁵³ are rounded.
    #[inline]
    pub(crate) fn number(&self, k: usize) -> f64 {
        let Element { kind, size, big_endian } = self.element;
        let bytes = &self.data[k * size..(k + 1) * size];
        let mut little = [0; 8];
        // Elements of text have other sizes, but are not numbers; all others have 1, 2, 4 or 8
        // bytes.
        let used = size.min(8);
        for (to, from) in little[..used].iter_mut().enumerate() {
            *from = bytes[if big_endian { size - 1 - to } else { to }];
        }
        let raw = u64::from_le_bytes(little);
        match (kind, size) {
            (Kind::Float, 4) => f64::from(f32::from_bits(raw as u32)),
            (Kind::Float, _) => f64::from_bits(raw),
            (Kind::Int, 1) => f64::from(raw as u8 as i8),
            (Kind::Int, 2) => f64::from(raw as u16 as i16),
            (Kind::Int, 4) => f64::from(raw as u32 as i32),
            (Kind::Int, _) => raw as i64 as f64,
            (Kind::Bool | Kind::Unsigned, _) => raw as f64,
            (Kind::Text, _) => f64::NAN,
        }
    }

    /// An element of text, without the zeros that pad it.
    pub(crate) fn text(&self, k: usize) -> Parsed<String> {
        let Element { size, big_endian, .. } = self.element;
        let mut text = String::new();
        for bytes in self.data[k * size..(k + 1) * size].chunks_exact(4) {
            let mut little = [bytes[0], bytes[1], bytes[2], bytes[3]];
            if big_endian {
                little.reverse();
            }
            let code = u32::from_le_bytes(little);
            let Some(c) = char::from_u32(code) else {
                return Err(Fault::at(Place::Element(k), NpyProblem::Character(code)));
            };
            text.push(c);
        }
        text.truncate(text.trim_end_matches('\0').len());
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, shape: &str, fortran: &str, data: &[u8]) -> Vec<u8> {
        let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn all_types_are_numbers() {
        let number =
            |descr: &str, data: &[u8]| Array::parse(&file(descr, "(1,)", "False", data)).unwrap().number(0);
        assert_eq!(number("|b1", &[1]), 1.0);
        assert_eq!(number("|i1", &[0xff]), -1.0);
        assert_eq!(number("|u1", &[0xff]), 255.0);
        assert_eq!(number("<i2", &(-2i16).to_le_bytes()), -2.0);
        assert_eq!(number(">i2", &(-2i16).to_be_bytes()), -2.0);
        assert_eq!(number("<u2", &60000u16.to_le_bytes()), 60000.0);
        assert_eq!(number(">i4", &(-70000i32).to_be_bytes()), -70000.0);
        assert_eq!(number("<u4", &u32::MAX.to_le_bytes()), 4_294_967_295.0);
        assert_eq!(number("<i8", &(-5i64).to_le_bytes()), -5.0);
        assert_eq!(number(">u8", &5u64.to_be_bytes()), 5.0);
        assert_eq!(number("<f4", &0.5f32.to_le_bytes()), 0.5);
        assert_eq!(number(">f8", &0.1f64.to_be_bytes()), 0.1);
    }

    #[test]
    fn both_orders_of_a_matrix_are_the_same_matrix() {
        let rows = file("|i1", "(2, 3)", "False", &[1, 2, 3, 4, 5, 6]);
        let columns = file("|i1", "(2, 3)", "True", &[1, 4, 2, 5, 3, 6]);
        let (rows, columns) = (Array::parse(&rows).unwrap(), Array::parse(&columns).unwrap());
        for (i, j) in [(0, 0), (0, 2), (1, 0), (1, 1)] {
            assert_eq!(rows.number(rows.at(i, j)), columns.number(columns.at(i, j)));
        }
    }

    #[test]
    fn shapes_are_checked_against_the_data() {
        let problem = |shape: &str, data: &[u8]| {
            Array::parse(&file("<f8", shape, "False", data)).unwrap_err().to_string()
        };
        assert!(problem("(2,)", &[0; 15]).contains("needs 16 bytes of data, found 15"));
        assert!(problem("(2,)", &[0; 17]).contains("needs 16 bytes of data, found 17"));
        assert!(problem("(4294967296, 4294967296, 4)", &[]).contains("more bytes than there can be"));
        assert!(problem("(1000000000000,)", &[0; 8]).contains("needs 8000000000000 bytes"));
    }

    #[test]
    fn text_is_read_in_both_byte_orders() {
        let little = file("<U2", "(1,)", "False", &[0xe4, 0, 0, 0, 0, 0, 0, 0]);
        let big = file(">U2", "(1,)", "False", &[0, 0, 0, 0x61, 0, 1, 0xf6, 0x00]);
        assert_eq!(Array::parse(&little).unwrap().text(0).unwrap(), "ä");
        assert_eq!(Array::parse(&big).unwrap().text(0).unwrap(), "a\u{1f600}");
        let broken = file("<U1", "(1,)", "False", &[0, 0xd8, 0, 0]);
        assert!(Array::parse(&broken).unwrap().text(0).is_err());
    }
}
