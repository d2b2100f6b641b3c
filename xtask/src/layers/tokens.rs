//! Rust text cut into tokens, without comments and literals.

/// A word or a mark of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// An identifier, a number, `::` or a single other character.
    pub(super) text: &'a str,
    /// The line, counted from 1.
    pub(super) line: usize,
}

/// Returns the tokens of a file. Comments, strings and characters are left out; so are the marks of
/// lifetimes.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while let Some(c) = rest.chars().next() {
        let (length, is_token) = if let Some(length) = blank(rest) {
            (length, false)
        } else if let Some(length) = literal(rest) {
            (length, false)
        } else if is_word(c) {
            (rest.find(|c| !is_word(c)).unwrap_or(rest.len()), true)
        } else if rest.starts_with("::") {
            (2, true)
        } else {
            (c.len_utf8(), c != '\'')
        };
        let (text, behind) = rest.split_at(length);
        if is_token {
            found.push(Token { text, line });
        }
        line += text.matches('\n').count();
        rest = behind;
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the space or comment at the start of a text.
fn blank(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        let mut depth = 0_usize;
        let mut at = 0;
        while at < text.len() {
            let rest = &text.as_bytes()[at..];
            if rest.starts_with(b"/*") {
                depth += 1;
                at += 2;
            } else if rest.starts_with(b"*/") {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            } else {
                at += 1;
            }
        }
        return Some(text.len());
    }
    let length = text.len() - text.trim_start().len();
    (length > 0).then_some(length)
}

/// The length of the string or character at the start of a text, its prefix included.
fn literal(text: &str) -> Option<usize> {
    for prefix in ["r", "br", "cr"] {
        let Some(behind) = text.strip_prefix(prefix) else { continue };
        let marks = behind.len() - behind.trim_start_matches('#').len();
        if behind[marks..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(marks));
            let start = prefix.len() + marks + 1;
            return Some(text[start..].find(&end).map_or(text.len(), |at| start + at + end.len()));
        }
    }
    let prefix = usize::from(text.starts_with("b\"") || text.starts_with("b'") || text.starts_with("c\""));
    let mut letters = text[prefix..].char_indices();
    match letters.next()? {
        (_, '"') => {
            let mut is_escaped = false;
            for (at, c) in letters {
                match c {
                    '"' if !is_escaped => return Some(prefix + at + 1),
                    _ => is_escaped = c == '\\' && !is_escaped,
                }
            }
            Some(text.len())
        }
        (_, '\'') => match letters.next()? {
            // The escaped character may itself be a quotation mark.
            (_, '\\') => {
                letters.next()?;
                letters.find(|&(_, c)| c == '\'').map(|(at, _)| prefix + at + 1)
            }
            // Anything else is a lifetime.
            _ => letters.next().filter(|&(_, c)| c == '\'').map(|(at, _)| prefix + at + 1),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_literals_are_left_out() {
        assert_eq!(words("a // crate::x\n/* b /* c */ crate::y */ d"), ["a", "d"]);
        assert_eq!(words("//! crate::x\n/// crate::y\nmod a;"), ["mod", "a", ";"]);
        assert_eq!(words(r#"f("crate::x \" crate::y", b"z")"#), ["f", "(", ",", ")"]);
        assert_eq!(words(r##"g(r#"a " crate::x"#, br"\", c"x") h"##), ["g", "(", ",", ",", ")", "h"]);
        assert_eq!(words(r"k('\'', '\\', 'x', b'\n', '\u{7f}')"), ["k", "(", ",", ",", ",", ",", ")"]);
    }

    #[test]
    fn lifetimes_are_no_characters() {
        assert_eq!(
            words("fn f<'a>(x: &'a str) -> crate::X<'a> {}").join(" "),
            "fn f < a > ( x : & a str ) - > crate :: X < a > { }"
        );
    }

    #[test]
    fn lines_are_counted_across_what_is_left_out() {
        let lines: Vec<_> = tokens("a\n/*\n\n*/ b \"\n\" c\n::").iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 4, 5, 6]);
    }
}
