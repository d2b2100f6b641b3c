//! Writing rows of −1 and +1 as text.

use std::borrow::Cow;
use std::io::{self, Write};

use isinglass::Spin;

/// The words for −1 and +1.
///
/// # Example
/// ```
/// use isinglass::Spin;
/// use isinglass_files::Values;
/// assert_eq!(Values::ZeroOne.word(-1), "0");
/// assert_eq!(Values::ZeroOne.spin("0"), Some(Spin::Down));
/// assert_eq!(Values::PlusMinus.spin("0"), None);
/// assert_eq!(Values::PlusMinus.spin("+1"), Some(Spin::Up));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Values {
    /// `-1` and `1`.
    #[default]
    PlusMinus,
    /// `0` and `1`.
    ZeroOne,
}

impl Values {
    /// The word for a cell of −1 or +1; nothing for a missing cell, 0.
    pub fn word(self, cell: i8) -> &'static str {
        match (self, cell) {
            (_, 0) => "",
            (_, 1..) => "1",
            (Self::PlusMinus, _) => "-1",
            (Self::ZeroOne, _) => "0",
        }
    }

    /// The value of a word; `None` if it is not one of these words.
    pub fn spin(self, word: &str) -> Option<Spin> {
        match (self, word) {
            (_, "1" | "+1") => Some(Spin::Up),
            (Self::PlusMinus, "-1") | (Self::ZeroOne, "0") => Some(Spin::Down),
            _ => None,
        }
    }
}

/// Writes a table: a header, and rows of −1, +1 and 0 for missing cells, which are left empty.
///
/// [`read_table`](crate::read_table) returns the same table, whatever the names of its columns.
///
/// # Errors
/// The output fails.
///
/// # Example
/// ```
/// use isinglass_files::{Values, write_table};
/// let mut text = Vec::new();
/// let columns = ["a".to_owned(), "b, c".to_owned()];
/// write_table(&columns, [[1, -1], [0, 1]].iter(), Values::ZeroOne, &mut text, b',')?;
/// assert_eq!(String::from_utf8(text)?, "a,\"b, c\"\n1,0\n,1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_table<R: AsRef<[i8]>>(
    columns: &[String],
    rows: impl Iterator<Item = R>,
    values: Values,
    output: &mut (impl Write + ?Sized),
    separator: u8,
) -> io::Result<()> {
    let mut line = Vec::new();
    for name in columns {
        push_text(&mut line, name.as_bytes(), separator);
        line.push(separator);
    }
    end_line(&mut line);
    output.write_all(&line)?;
    for row in rows {
        line.clear();
        let row = row.as_ref();
        for &cell in row {
            line.extend_from_slice(values.word(cell).as_bytes());
            line.push(separator);
        }
        if row == [0] {
            // A blank line would not be a row.
            line.splice(..0, *b"\"\"");
        }
        end_line(&mut line);
        output.write_all(&line)?;
    }
    Ok(())
}

/// Writes a table of numbers, such as a history, as CSV. Each number has all of its digits.
///
/// # Example
/// ```
/// let mut bytes = Vec::new();
/// isinglass_files::write_numbers(["iteration", "a,b"], [[0.0, 0.25], [1.0, -1e-9]], &mut bytes)?;
/// assert_eq!(bytes, b"iteration,\"a,b\"\n0,0.25\n1,-0.000000001\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The output cannot be written to.
pub fn write_numbers<'a, R: AsRef<[f64]>>(
    header: impl IntoIterator<Item = &'a str>,
    rows: impl IntoIterator<Item = R>,
    output: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let mut line = Vec::new();
    for name in header {
        push_text(&mut line, name.as_bytes(), b',');
        line.push(b',');
    }
    end_line(&mut line);
    output.write_all(&line)?;
    for row in rows {
        line.clear();
        for number in row.as_ref() {
            write!(line, "{number},")?;
        }
        end_line(&mut line);
        output.write_all(&line)?;
    }
    Ok(())
}

/// A text as a spreadsheet shows it, and does not compute it: with an apostrophe before it if it
/// begins with `=`, `+`, `-`, `@`, a tab or a carriage return and is not a number. It is another name
/// then, for people and not to be read again.
///
/// # Example
/// ```
/// use isinglass_files::spreadsheet_safe;
/// assert_eq!(spreadsheet_safe("=1+1"), "'=1+1");
/// assert_eq!(spreadsheet_safe("@sum"), "'@sum");
/// assert_eq!(spreadsheet_safe("-1.5"), "-1.5");
/// assert_eq!(spreadsheet_safe("a=b"), "a=b");
/// ```
pub fn spreadsheet_safe(text: &str) -> Cow<'_, str> {
    if is_formula(text.as_bytes()) { format!("'{text}").into() } else { text.into() }
}

/// Whether a spreadsheet may take a text for a formula.
pub(super) fn is_formula(text: &[u8]) -> bool {
    let begins = matches!(text.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r'));
    begins && !str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// Puts a line end in place of the separator after the last cell.
pub(crate) fn end_line(line: &mut Vec<u8>) {
    line.pop();
    line.push(b'\n');
}

/// Adds a text, in quotation marks if it would be read as something else without them.
pub(crate) fn push_text(line: &mut Vec<u8>, text: &[u8], separator: u8) {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    let special = |&byte: &u8| byte == separator || matches!(byte, b'"' | b'\n' | b'\r');
    let bare = str::from_utf8(text).map_or(text.trim_ascii(), |text| text.trim().as_bytes());
    // A # at the beginning of a line would make it a comment.
    let misread = text.starts_with(MARK) || text.starts_with(b"#");
    if !text.iter().any(special) && bare == text && !misread {
        line.extend_from_slice(text);
        return;
    }
    line.push(b'"');
    for &byte in text {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}
