//! Messages that name settings as the reader types them.
//!
//! A message is data until it is shown. It renders itself in the [`Style`] of a front end, so that
//! a [`Setting`] is `--max-sweeps` on the command line and `max_sweeps` in Python. Finished text is
//! never rewritten: names and paths that users chose appear as they are.
//!
//! # Example
//! ```
//! use std::fmt::{self, Write};
//! use isinglass::message::{Message, Setting, Style};
//!
//! struct MoreSweeps<'a> {
//!     unit: &'a str,
//! }
//!
//! impl Message for MoreSweeps<'_> {
//!     fn render(&self, out: &mut dyn Write, style: Style) -> fmt::Result {
//!         write!(out, "the mean of '{}' still changes: raise ", self.unit)?;
//!         Setting("max-sweeps").render(out, style)
//!     }
//! }
//!
//! let note = MoreSweeps { unit: "--pain-left" };
//! assert_eq!(note.text(Style::Flags), "the mean of '--pain-left' still changes: raise --max-sweeps");
//! assert_eq!(note.text(Style::Keywords), "the mean of '--pain-left' still changes: raise max_sweeps");
//! ```

use std::fmt;

/// How a front end writes the names of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As flags of the command line: `--max-sweeps`. `Display` uses this style.
    Flags,
    /// As keyword arguments of Python: `max_sweeps`.
    Keywords,
}

/// Something to be shown to users.
pub trait Message {
    /// Writes the message in a style.
    ///
    /// # Errors
    /// The output fails.
    fn render(&self, out: &mut dyn fmt::Write, style: Style) -> fmt::Result;

    /// Returns the message in a style.
    fn text(&self, style: Style) -> String {
        let mut text = String::new();
        self.render(&mut text, style).expect("a string accepts all text");
        text
    }
}

/// The name of a setting, as a message refers to it: `--max-sweeps` on the command line,
/// `max_sweeps` in Python and Rust. Holds either spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting(pub &'static str);

impl Message for Setting {
    fn render(&self, out: &mut dyn fmt::Write, style: Style) -> fmt::Result {
        let (old, new) = match style {
            Style::Flags => ('_', '-'),
            Style::Keywords => ('-', '_'),
        };
        if style == Style::Flags {
            out.write_str("--")?;
        }
        self.0.chars().try_for_each(|c| out.write_char(if c == old { new } else { c }))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.render(f, Style::Flags)
    }
}

/// Writes a text in which `{name}` stands for the setting of that name.
///
/// # Errors
/// The output fails.
pub fn render_settings(out: &mut dyn fmt::Write, style: Style, text: &'static str) -> fmt::Result {
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        out.write_str(before)?;
        let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
        Setting(name).render(out, style)?;
        rest = after;
    }
    out.write_str(rest)
}
