//! Keywords as the settings of an engine.

use isinglass::Budget;
use isinglass::message::{Message, Style};
use isinglass::settings::Common;
use isinglass_plan::{EngineSettings, FitSettings, Usage};
use pyo3::Borrowed;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::bad;
use crate::value::Value;

/// The settings of an engine, from its name, the budget, the seed, and a dictionary of keywords.
#[derive(Clone)]
pub(crate) struct Asked(pub(crate) EngineSettings);

impl<'py> FromPyObject<'_, 'py> for Asked {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        type Parts<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, u64, Option<Bound<'py, PyDict>>);
        let (engine, limit, seed, options): Parts<'py> = object.extract()?;
        let mut settings = EngineSettings::for_engine(word("engine", &engine)?);
        for (key, value) in options.iter().flatten() {
            let key: String = key.extract()?;
            set(&key, &value, &mut settings)?;
        }
        let budget = limit.as_ref().map(budget).transpose()?.unwrap_or_default();
        Ok(Self(settings.with_common(Common { seed, budget })))
    }
}

/// Settings that keywords set by name.
pub(crate) trait Keywords: Clone {
    fn set(&mut self, key: &str, value: &Bound<'_, PyAny>) -> Result<(), Usage>;
}

impl Keywords for EngineSettings {
    fn set(&mut self, key: &str, value: &Bound<'_, PyAny>) -> Result<(), Usage> {
        self.set(key, || Value(value.clone()))
    }
}

impl Keywords for FitSettings {
    fn set(&mut self, key: &str, value: &Bound<'_, PyAny>) -> Result<(), Usage> {
        self.set(key, || Value(value.clone()))
    }
}

/// Sets a setting from a keyword. A keyword that is `None` leaves the default, but its name is
/// checked.
pub(crate) fn set(key: &str, value: &Bound<'_, PyAny>, settings: &mut impl Keywords) -> PyResult<()> {
    let mut changed = settings.clone();
    match Keywords::set(&mut changed, key, value) {
        Err(usage @ Usage::Unknown { .. }) => Err(PyTypeError::new_err(usage.text(Style::Keywords))),
        _ if value.is_none() => Ok(()),
        Err(Usage::Type { setting, expected }) => {
            Err(bad(&setting, &format!("found {}, expected {expected}", shown(value))))
        }
        Err(usage) => Err(PyValueError::new_err(usage.text(Style::Keywords))),
        Ok(()) => {
            *settings = changed;
            Ok(())
        }
    }
}

/// Memory: a number of bytes, or a size such as `512MiB`.
pub(crate) fn budget(value: &Bound<'_, PyAny>) -> PyResult<Budget> {
    match value.extract::<String>() {
        Ok(text) => {
            text.parse().map_err(|error: isinglass::ParseBudgetError| bad("budget", &error.to_string()))
        }
        Err(_) => value.extract().map(Budget).map_err(|_| {
            bad("budget", &format!("found {}, expected bytes or a size such as 512MiB", shown(value)))
        }),
    }
}

/// A word that names something.
pub(crate) fn word<N>(key: &str, value: &Bound<'_, PyAny>) -> PyResult<N>
where
    N: std::str::FromStr<Err = isinglass::settings::UnknownWord>,
{
    text(key, value)?.parse().map_err(|error: N::Err| bad(key, &error.to_string()))
}

/// A text.
pub(crate) fn text(key: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    value.extract().map_err(|_| bad(key, &format!("found {}, expected a word", shown(value))))
}

/// A whole number.
pub(crate) fn whole(key: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    value
        .extract()
        .map_err(|_| bad(key, &format!("found {}, expected a whole number of at least 0", shown(value))))
}

/// A number.
pub(crate) fn number(key: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|_| bad(key, &format!("found {}, expected a number", shown(value))))
}

/// A truth value, of Python or of numpy.
pub(crate) fn truth(key: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract().map_err(|_| bad(key, &format!("found {}, expected True or False", shown(value))))
}

/// A value as it stands in a message.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 60;
    let text = value.repr().map_or_else(|_| "something".to_owned(), |repr| repr.to_string());
    if text.chars().count() <= MOST { text } else { text.chars().take(MOST).chain(['…']).collect() }
}
