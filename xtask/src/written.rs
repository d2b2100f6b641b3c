//! Files and parts of files that are written by commands, and checked by `cargo xtask ci`.

use std::fs;

use crate::say;

/// What is done about a file that is out of date.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is written.
    Write,
    /// It is an error.
    Check,
}

/// Writes or checks a file.
pub(crate) fn file(mode: Mode, path: &str, text: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|found| found == text) {
        say(&format!("{path} is up to date"));
        return Ok(());
    }
    if mode == Mode::Check {
        return Err(format!("{path} is out of date: run the same command without --check"));
    }
    fs::write(path, text).map_err(|error| format!("{path}: {error}"))?;
    say(&format!("wrote {path}"));
    Ok(())
}

/// Writes or checks the part of a file between two comments.
pub(crate) fn section(mode: Mode, path: &str, comments: (&str, &str), section: &str) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let text = with_section(&text, comments, section).map_err(|problem| format!("{path}: {problem}"))?;
    file(mode, path, &text)
}

fn with_section(text: &str, (begin, end): (&str, &str), section: &str) -> Result<String, String> {
    let missing = || format!("expected the lines\n{begin}\n{end}");
    let (head, rest) = text.split_once(begin).ok_or_else(missing)?;
    let (_, tail) = rest.split_once(end).ok_or_else(missing)?;
    Ok(format!("{head}{begin}\n{section}{end}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMENTS: (&str, &str) = ("<b>", "<e>");

    #[test]
    fn a_section_is_replaced_between_its_comments() {
        let written = with_section("# A\n\n<b>\nold\n<e>\n\n# B\n", COMMENTS, "new\n").unwrap();
        assert_eq!(written, "# A\n\n<b>\nnew\n<e>\n\n# B\n");
        assert_eq!(with_section(&written, COMMENTS, "new\n").unwrap(), written);
        assert!(with_section("# A\n", COMMENTS, "new\n").is_err());
    }
}
