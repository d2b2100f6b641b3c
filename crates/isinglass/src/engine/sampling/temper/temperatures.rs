//! The setting `temperatures`: a number of them, or the temperatures themselves, or a range of them.

use std::fmt;
use std::str::FromStr;

use crate::settings::{UnknownWord, Value};

/// The most temperatures that can be given.
const MOST: usize = 128;

/// A number of temperatures, the temperatures themselves, or a range of them.
///
/// # Example
/// ```
/// use isinglass::engine::Temperatures;
/// assert_eq!("500".parse::<Temperatures>()?.count(), Some(500));
/// assert_eq!("4,2,1".parse::<Temperatures>()?.list(), Some(&[4.0, 2.0, 1.0][..]));
/// assert_eq!("1:3:5".parse::<Temperatures>()?.values(), Some(vec![1.0, 1.5, 2.0, 2.5, 3.0]));
/// # Ok::<(), isinglass::settings::UnknownWord>(())
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct Temperatures(Kind);

#[derive(Clone, Copy, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "settings are copied whole, and rarely")]
enum Kind {
    Count(usize),
    List { values: [f64; MOST], len: usize },
    Range { low: f64, high: f64, count: usize },
}

impl Temperatures {
    /// The number, if only that was given.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        match self.0 {
            Kind::Count(count) => Some(count),
            Kind::List { .. } | Kind::Range { .. } => None,
        }
    }

    /// The temperatures of a list or a range, in which they are evenly spaced.
    #[must_use]
    pub fn values(&self) -> Option<Vec<f64>> {
        match self.0 {
            Kind::Count(_) => None,
            Kind::List { values, len } => Some(values[..len].to_vec()),
            Kind::Range { low, high, count } => {
                let last = (count - 1).max(1) as f64;
                let step = |k: usize| {
                    if k + 1 == count && k > 0 { high } else { low + (high - low) * (k as f64 / last) }
                };
                Some((0..count).map(step).collect())
            }
        }
    }

    /// The temperatures of a list.
    #[must_use]
    pub fn list(&self) -> Option<&[f64]> {
        match &self.0 {
            Kind::Count(_) | Kind::Range { .. } => None,
            Kind::List { values, len } => Some(&values[..*len]),
        }
    }

    /// The temperatures of a ladder, in any order.
    ///
    /// # Errors
    /// What is expected, for none, too many, and numbers that are not finite and above 0.
    pub fn of(temperatures: &[f64]) -> Result<Self, UnknownWord> {
        let len = temperatures.len();
        if !(1..=MOST).contains(&len) || temperatures.iter().any(|t| !(t.is_finite() && *t > 0.0)) {
            let found: Vec<String> = temperatures.iter().map(f64::to_string).collect();
            return Err(UnknownWord { found: found.join(","), expected: Self::expected() });
        }
        let mut values = [0.0; MOST];
        values[..len].copy_from_slice(temperatures);
        Ok(Self(Kind::List { values, len }))
    }
}

impl Temperatures {
    /// The most temperatures of a range.
    const MOST_OF_RANGE: usize = 10_000;

    fn range(low: &str, high: &str, count: &str) -> Option<Self> {
        let (low, high, count) = (low.parse::<f64>().ok()?, high.parse::<f64>().ok()?, count.parse().ok()?);
        let is_range = low > 0.0 && low.is_finite() && high.is_finite() && low <= high;
        let is_count = (1..=Self::MOST_OF_RANGE).contains(&count) && (count > 1) == (low < high);
        (is_range && is_count).then_some(Self(Kind::Range { low, high, count }))
    }
}

impl From<usize> for Temperatures {
    fn from(count: usize) -> Self {
        Self(Kind::Count(count))
    }
}

impl FromStr for Temperatures {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        if let Ok(count) = text.parse::<usize>() {
            return Ok(count.into());
        }
        if let [low, high, count] = text.split(':').map(str::trim).collect::<Vec<_>>()[..] {
            return Self::range(low, high, count)
                .ok_or_else(|| UnknownWord { found: text.to_owned(), expected: Self::expected() });
        }
        let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        let unknown = |_| UnknownWord { found: text.to_owned(), expected: Self::expected() };
        Self::of(&numbers.map_err(unknown)?)
    }
}

impl Value for Temperatures {
    fn expected() -> String {
        format!("a whole number, or up to {MOST} temperatures above 0 such as 4,2,1.4,1, or LOW:HIGH:COUNT")
    }

    fn shown(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl fmt::Display for Temperatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Count(count) => write!(f, "{count}"),
            Kind::Range { low, high, count } => write!(f, "{low}:{high}:{count}"),
            Kind::List { values, len } => {
                let words: Vec<String> = values[..len].iter().map(f64::to_string).collect();
                f.write_str(&words.join(","))
            }
        }
    }
}

impl fmt::Debug for Temperatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A number, numbers, or text as on the command line.
impl<'de> serde::Deserialize<'de> for Temperatures {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Form {
            Count(usize),
            List(Vec<f64>),
            Text(String),
        }
        match serde::Deserialize::deserialize(deserializer)? {
            Form::Count(count) => Ok(count.into()),
            Form::List(list) => Self::of(&list).map_err(serde::de::Error::custom),
            Form::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}
