//! Writing the head of an NPY file; the elements follow it as plain bytes.

use std::io::{self, Write};

/// What a written array holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Head {
    /// 64-bit floating-point numbers.
    Float,
    /// 64-bit signed integers.
    Int,
    /// Text of up to this many characters.
    Text(usize),
}

/// Writes everything before the elements, which are little-endian and in row-major order.
pub(crate) fn write_head(output: &mut impl Write, elements: Head, shape: &[usize]) -> io::Result<()> {
    let descr = match elements {
        Head::Float => "<f8".to_owned(),
        Head::Int => "<i8".to_owned(),
        Head::Text(length) => format!("<U{length}"),
    };
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let shape = lengths.join(", ") + comma;
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    // The data begin at a multiple of 64 bytes: 10 bytes precede the text, and a line end closes
    // it.
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    output.write_all(b"\x93NUMPY\x01\x00")?;
    // Three short entries with at most two dimensions: the text is shorter than 200 bytes.
    output.write_all(&(text.len() as u16).to_le_bytes())?;
    output.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::Array;
    use super::*;

    #[test]
    fn heads_are_read_back() {
        for (elements, shape, size) in [
            (Head::Float, vec![], 8),
            (Head::Float, vec![3], 24),
            (Head::Int, vec![2, 2], 32),
            (Head::Text(5), vec![2], 40),
            (Head::Text(1), vec![0], 0),
        ] {
            let mut bytes = Vec::new();
            write_head(&mut bytes, elements, &shape).unwrap();
            assert_eq!(bytes.len() % 64, 0);
            bytes.resize(bytes.len() + size, 0);
            assert_eq!(Array::parse(&bytes).unwrap().shape(), shape);
        }
    }
}
