//! Keywords as the settings of an engine.

use isinglass::Budget;
use isinglass::engine::Annealing;
use isinglass_plan::{EngineSettings, Named};
use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{bad, of_core};

/// The settings of an engine, from its name, the budget, the seed, and a dictionary of what else it is told.
#[derive(Clone, Copy)]
pub(crate) struct Asked(pub(crate) EngineSettings);

impl<'py> FromPyObject<'_, 'py> for Asked {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        type Parts<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, u64, Option<Bound<'py, PyDict>>);
        let (engine, limit, seed, options): Parts<'py> = object.extract()?;
        let engine = word(&text("engine", &engine)?)?;
        let mut settings = EngineSettings { engine, seed, ..EngineSettings::default() };
        if let Some(limit) = limit {
            settings.budget = budget(&limit)?;
        }
        for (key, value) in options.iter().flatten() {
            let key: String = key.extract()?;
            let mut spare = settings;
            let into = if value.is_none() { &mut spare } else { &mut settings };
            check_name(&key, value.is_none(), set(into, &key, &value))?;
        }
        Ok(Self(settings))
    }
}

/// Refuse a keyword that means nothing, from what came of setting it. One that is `None` says nothing, and whatever became of it is put aside; but its name must be one.
pub(crate) fn check_name(key: &str, says_nothing: bool, is_known: PyResult<bool>) -> PyResult<()> {
    match is_known {
        Ok(false) => Err(PyTypeError::new_err(format!("unexpected keyword argument '{key}'"))),
        Err(error) if !says_nothing => Err(error),
        _ => Ok(()),
    }
}

/// Set one setting; `false` if there is none of that name.
pub(crate) fn set(settings: &mut EngineSettings, key: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match key {
        "components" => settings.components = Some(whole(key, value)?),
        "width" => settings.width = Some(whole(key, value)?),
        "around" => settings.around = Some(word(text(key, value)?.as_str())?),
        "anneal" => settings.anneal = Some(annealing(value)?),
        "starts" => settings.starts = Some(whole(key, value)?),
        "damping" => settings.damping = Some(number(key, value)?),
        "schedule" => settings.schedule = Some(word(text(key, value)?.as_str())?),
        "max_sweeps" => settings.max_sweeps = Some(whole(key, value)?),
        "samples" => settings.samples = Some(whole(key, value)?),
        "burn_in" => settings.burn_in = Some(whole(key, value)?),
        "thin" => settings.thin = Some(whole(key, value)?),
        "chains" => settings.chains = Some(whole(key, value)?),
        "temperatures" => settings.temperatures = Some(whole(key, value)?),
        _ => return Ok(false),
    }
    Ok(true)
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
pub(crate) fn word<N: Named>(word: &str) -> PyResult<N> {
    N::of(word).map_err(|usage| crate::errors::of_plan(usage.into()))
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

/// `"60:8"`, or a pair of temperature and steps.
fn annealing(value: &Bound<'_, PyAny>) -> PyResult<Annealing> {
    let text = match value.extract::<(f64, usize)>() {
        Ok((from, steps)) => format!("{from}:{steps}"),
        Err(_) => text("anneal", value)?,
    };
    text.parse().map_err(of_core)
}

/// A value as it stands in a message.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 60;
    let text = value.repr().map_or_else(|_| "something".to_owned(), |repr| repr.to_string());
    if text.chars().count() <= MOST { text } else { text.chars().take(MOST).chain(['…']).collect() }
}
