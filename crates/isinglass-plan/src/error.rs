//! What can be wrong with a wish: the settings themselves, or what came of them.

use std::fmt;

/// Settings that do not go together, or that nothing has a use for. Settings are written as on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

impl Usage {
    /// The same, with settings written as keywords.
    pub fn in_keywords(&self) -> String {
        in_keywords(&self.0)
    }
}

/// What can go wrong on the way from a wish to an answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The wish makes no sense.
    #[error(transparent)]
    Usage(#[from] Usage),
    /// It does, but cannot be fulfilled.
    #[error(transparent)]
    Core(#[from] isinglass::Error),
    /// The same, and what would help.
    #[error("{error}\nhint: {hint}")]
    Hinted {
        /// What is wrong.
        error: isinglass::Error,
        /// What would help.
        hint: &'static str,
    },
}

impl Error {
    /// An error, and what would help.
    pub fn hinted(error: isinglass::Error, hint: &'static str) -> Self {
        Self::Hinted { error, hint }
    }

    /// The same error, with what would help if it is one of too little memory.
    #[must_use]
    pub fn with_hint(self, hint: &'static str) -> Self {
        match self {
            Self::Core(error @ isinglass::Error::OverBudget { .. }) => Self::Hinted { error, hint },
            other => other,
        }
    }
}

/// Results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A message in which settings are written as on the command line (`--max-sweeps`), with keywords in their place (`max_sweeps`).
///
/// # Example
/// ```
/// use isinglass_plan::in_keywords;
/// assert_eq!(in_keywords("take more --max-sweeps, or --engine mean-field"), "take more max_sweeps, or engine mean-field");
/// assert_eq!(in_keywords("a -- b --2"), "a -- b --2");
/// ```
pub fn in_keywords(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("--") {
        let behind = &rest[at + 2..];
        let is_start = rest[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric());
        let name: &str =
            match behind.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')) {
                Some(end) => &behind[..end],
                None => behind,
            };
        let name = name.trim_end_matches('-');
        if is_start && name.starts_with(|c: char| c.is_ascii_lowercase()) {
            out += &rest[..at];
            out += &name.replace('-', "_");
            rest = &behind[name.len()..];
        } else {
            out += &rest[..at + 2];
            rest = behind;
        }
    }
    out + rest
}
