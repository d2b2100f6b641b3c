//! How much memory work may take.

use std::fmt;
use std::str::FromStr;

/// A limit in bytes, 1 GiB by default.
///
/// # Example
/// ```
/// use isinglass::Budget;
/// let budget: Budget = "1.5GiB".parse()?;
/// assert_eq!(budget, Budget(1_610_612_736));
/// assert_eq!(budget.to_string(), "1.5 GiB");
/// assert_eq!("512MiB".parse::<Budget>()?, Budget(512 << 20));
/// assert_eq!("2MB".parse::<Budget>()?, Budget(2_000_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Budget(pub u64);

/// The work of an exact engine, counted.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Work {
    /// Sums of two terms in a network, in one pass; an answer takes a pass forward and one backward.
    Sums(f64),
    /// States of an enumeration.
    States(f64),
}

impl Default for Budget {
    fn default() -> Self {
        Self(1 << 30)
    }
}

/// A text that is no size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found '{0}', expected a size such as 512MiB or 6GiB")]
pub struct ParseBudgetError(String);

const UNITS: [(&str, f64); 11] = [
    ("", 1.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

impl FromStr for Budget {
    type Err = ParseBudgetError;

    fn from_str(text: &str) -> Result<Self, ParseBudgetError> {
        let text = text.trim();
        let split = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let scale =
            UNITS.iter().find(|(word, _)| word.eq_ignore_ascii_case(unit.trim())).map(|&(_, scale)| scale);
        match (number.parse::<f64>(), scale) {
            (Ok(number), Some(scale)) if number * scale < u64::MAX as f64 => {
                Ok(Self((number * scale) as u64))
            }
            _ => Err(ParseBudgetError(text.to_owned())),
        }
    }
}

impl Budget {
    /// A number of bytes in words: `8 MiB`, `1.5 GiB`.
    pub fn bytes(count: u128) -> String {
        const WORDS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if count == u128::MAX {
            return format!("more than {}", Self::bytes(count - 1));
        }
        let mut size = count as f64;
        let mut word = 0;
        while size >= 1024.0 && word + 1 < WORDS.len() {
            size /= 1024.0;
            word += 1;
        }
        if size >= 1e6 {
            format!("{size:.1e} {}", WORDS[word])
        } else if size.fract() == 0.0 || word == 0 {
            format!("{size:.0} {}", WORDS[word])
        } else {
            format!("{size:.1} {}", WORDS[word])
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Self::bytes(u128::from(self.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_are_none_are_refused() {
        for text in ["", "GiB", "-1GiB", "1 parsec", "1e300", "9999999999999999999999TiB", "1.2.3MB"] {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
        assert_eq!("0".parse(), Ok(Budget(0)));
    }

    #[test]
    fn large_needs_are_readable() {
        assert_eq!(Budget::bytes(8 << 40), "8 TiB");
        assert_eq!(Budget::bytes(1000), "1000 bytes");
        assert_eq!(Budget::bytes(8 << 100), "8.8e12 EiB");
    }
}
