//! Pieces of files and of foreign messages, on one line.

use std::fmt::{self, Write};

/// The longest piece of a file that is repeated in a message, in characters.
const SHOWN: usize = 60;

/// A piece of a file as it appears in a message: in quotation marks, on one line, and not too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quoted(String);

impl Quoted {
    /// The beginning of some bytes.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Self(match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.into_owned(),
        })
    }
}

impl From<&str> for Quoted {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes())
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('\'')?;
        OneLine(f).write_str(&self.0)?;
        f.write_char('\'')
    }
}

/// A remark on a name that may have been meant, after an unknown one; empty if no name is near.
#[derive(Debug)]
pub(crate) struct Near(Option<Quoted>);

impl Near {
    /// The nearest of some names.
    pub(crate) fn to(name: &str, known: &[String]) -> Self {
        Self(isinglass::machine::nearest(name, known).as_deref().map(Quoted::from))
    }
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |name| write!(f, " (did you mean {name}?)"))
    }
}

/// An output that escapes what would break the line.
pub(super) struct OneLine<'a>(pub(super) &'a mut dyn Write);

impl OneLine<'_> {
    /// Writes something on one line.
    pub(super) fn write(out: &mut dyn Write, what: &dyn fmt::Display) -> fmt::Result {
        write!(OneLine(out), "{what}")
    }
}

impl Write for OneLine<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| {
            if c.is_control() { write!(self.0, "{}", c.escape_default()) } else { self.0.write_char(c) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_repeated_stays_on_one_line_and_short() {
        let quoted = |bytes: &[u8]| Quoted::new(bytes).to_string();
        assert_eq!(quoted(b"a\nb"), r"'a\nb'");
        assert_eq!(quoted("ä,\"".as_bytes()), "'ä,\"'");
        assert_eq!(quoted(&[b'x'; 1000]).chars().count(), SHOWN + 3);
        assert_eq!(quoted(&[b'x'; SHOWN]).chars().count(), SHOWN + 2);
        let mut text = String::new();
        OneLine::write(&mut text, &"a\r\nb\u{7f}").unwrap();
        assert_eq!(text, r"a\r\nb\u{7f}");
    }
}
