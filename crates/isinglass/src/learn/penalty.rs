//! Penalties on couplings as users give them: a number, or a word for a way to choose it.

use std::str::FromStr;

use crate::settings::range::{self, Checked};
use crate::settings::{UnknownWord, Value};
use crate::{Error, Result};

/// A penalty on the squares of couplings, `λ/2 Σ w²`.
///
/// Learners fit for a number. [`Selection`](super::Selection) finds one where it is to be chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum L2 {
    /// Not given: 0 for a learner. A front end may choose where an unpenalised fit is bad.
    #[default]
    Unset,
    /// This much.
    Weight(f64),
    /// As much as is best for rows that were held out.
    Auto,
}

/// A penalty on the absolute values of couplings, `λ Σ |w|`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum L1 {
    /// This much.
    Weight(f64),
    /// As much as the extended BIC selects, for each column.
    Ebic,
    /// As much as is best for rows that were held out.
    Auto,
}

/// The word for a penalty that held-out rows choose.
const AUTO: &str = "auto";

impl L2 {
    /// λ, where it is a number; 0 if it was not given or is yet to be chosen.
    #[must_use]
    pub fn weight(self) -> f64 {
        match self {
            Self::Weight(weight) => weight,
            Self::Unset | Self::Auto => 0.0,
        }
    }

    /// Refuses a penalty that is yet to be chosen.
    ///
    /// # Errors
    /// [`Error::Setting`] for [`L2::Auto`].
    pub(super) fn check_number(self) -> Result<()> {
        if self == Self::Auto { Err(not_chosen("l2")) } else { Ok(()) }
    }
}

impl L1 {
    /// λ, where it is a number.
    #[must_use]
    pub fn weight(self) -> f64 {
        match self {
            Self::Weight(weight) => weight,
            Self::Ebic | Self::Auto => 0.0,
        }
    }

    /// Refuses a penalty that is yet to be chosen.
    ///
    /// # Errors
    /// [`Error::Setting`] for [`L1::Auto`].
    pub(super) fn check_number(self) -> Result<()> {
        if self == Self::Auto { Err(not_chosen("l1")) } else { Ok(()) }
    }
}

fn not_chosen(setting: &'static str) -> Error {
    Error::setting(setting, "is auto, expected a number here: held-out rows choose it before a fit")
}

impl From<f64> for L2 {
    fn from(weight: f64) -> Self {
        Self::Weight(weight)
    }
}

/// The range of a penalty that held-out rows may choose.
pub(super) fn chosen_or_number(l2: L2) -> Checked {
    let is_inside = |l2: L2| l2.weight().is_finite() && l2.weight() >= 0.0;
    range::check(Some(l2), is_inside, "a finite number of at least 0, or auto")
}

/// The range of a penalty that is a number.
pub(super) fn number(l2: L2) -> Checked {
    let is_inside = |l2: L2| l2 != L2::Auto && l2.weight().is_finite() && l2.weight() >= 0.0;
    range::check(Some(l2), is_inside, "a finite number of at least 0")
}

/// The range of a penalty on absolute values that is one for all columns.
pub(super) fn not_by_columns(l1: Option<L1>) -> Checked {
    let expected = "a finite number of at least 0, or auto (ebic: learner pseudo-likelihood)";
    range::check(l1, |l1| l1 != L1::Ebic && l1.weight().is_finite() && l1.weight() >= 0.0, expected)
}

/// Held-out rows choose one number.
pub(super) fn one_of_them() -> Error {
    Error::setting("l2", "is not accepted with l1 auto: held-out rows choose one of them")
}

/// Other optimisers know smooth objectives alone.
pub(super) fn needs_lbfgs(optimizer: &'static str) -> Error {
    Error::CannotDo {
        who: optimizer,
        what: "make couplings exactly 0".into(),
        why: "it does not support a penalty with a kink; with l1, use lbfgs".into(),
    }
}

impl Value for L2 {
    const PYTHON: &'static str = "float | str";

    fn expected() -> String {
        "a finite number of at least 0, or auto".into()
    }

    fn shown(&self) -> Option<String> {
        match self {
            Self::Unset => None,
            Self::Weight(weight) => weight.shown(),
            Self::Auto => Some(AUTO.into()),
        }
    }
}

impl Value for L1 {
    const PYTHON: &'static str = "float | str";

    fn expected() -> String {
        "a finite number of at least 0, ebic or auto".into()
    }

    fn shown(&self) -> Option<String> {
        match self {
            Self::Weight(weight) => Some(weight.to_string()),
            Self::Ebic => Some("ebic".into()),
            Self::Auto => Some(AUTO.into()),
        }
    }
}

impl FromStr for L2 {
    type Err = UnknownWord;

    /// Any number is read: settings check its range.
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match (text, text.parse::<f64>()) {
            (AUTO, _) => Ok(Self::Auto),
            (_, Ok(weight)) => Ok(Self::Weight(weight)),
            _ => Err(UnknownWord { found: text.to_owned(), expected: Self::expected() }),
        }
    }
}

impl FromStr for L1 {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match (text, text.parse::<f64>()) {
            ("ebic", _) => Ok(Self::Ebic),
            (AUTO, _) => Ok(Self::Auto),
            (_, Ok(weight)) if weight.is_finite() && weight >= 0.0 => Ok(Self::Weight(weight)),
            _ => Err(UnknownWord { found: text.to_owned(), expected: Self::expected() }),
        }
    }
}

/// Reads a number or a word.
pub(super) fn number_or_word<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: FromStr<Err = UnknownWord>,
{
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Form {
        Number(f64),
        Text(String),
    }
    let text = match serde::Deserialize::deserialize(deserializer)? {
        Form::Number(number) => number.to_string(),
        Form::Text(text) => text,
    };
    text.parse().map_err(serde::de::Error::custom)
}

impl<'de> serde::Deserialize<'de> for L2 {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number_or_word(deserializer)
    }
}

impl<'de> serde::Deserialize<'de> for L1 {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number_or_word(deserializer)
    }
}
