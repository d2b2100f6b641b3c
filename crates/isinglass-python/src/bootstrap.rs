//! Resamples of a fit: the request, and the intervals.

use isinglass::learn::{Bootstrap, Bootstrapped, Interval};
use isinglass::network::{CaseDropping, UnitMeasure};
use isinglass_plan::{Diagnostic, EngineSettings};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use serde_json::json;

use crate::errors::bad;
use crate::settings::{number, shown, whole};

/// The keywords of a bootstrap.
#[derive(Default)]
pub(crate) struct Resampling {
    resamples: Option<usize>,
    level: Option<f64>,
    subsets: Option<usize>,
}

impl Resampling {
    /// Set one; `false` if there is none of that name.
    pub(crate) fn set(&mut self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        match key {
            "bootstrap" | "level" | "case_dropping" if value.is_none() => {}
            // True would be one.
            "bootstrap" | "case_dropping" if value.is_instance_of::<PyBool>() => {
                return Err(bad(
                    key,
                    &format!("found {}, expected a whole number of at least 1", shown(value)),
                ));
            }
            "bootstrap" => self.resamples = Some(whole(key, value)?),
            "case_dropping" => self.subsets = Some(whole(key, value)?),
            "level" => self.level = Some(number(key, value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Checks the values.
    pub(crate) fn check(&self) -> PyResult<()> {
        match *self {
            Self { resamples: None, level: Some(_), .. } => Err(bad("level", "belongs to bootstrap")),
            Self { resamples: Some(0), .. } => Err(bad("bootstrap", "found 0, expected at least 1")),
            Self { subsets: Some(subsets), .. } if subsets < 10 => {
                Err(bad("case_dropping", &format!("found {subsets}, expected at least 10")))
            }
            Self { level: Some(level), .. } if !(level > 0.0 && level < 1.0) => {
                Err(bad("level", &format!("found {level}, expected a number above 0 and below 1")))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.resamples.is_some() || self.subsets.is_some()
    }

    /// With the seed and the budget of the fit, if subsets are requested.
    pub(crate) fn dropping(&self, engine: &EngineSettings) -> Option<CaseDropping> {
        let (seed, budget) = (engine.seed(), engine.budget());
        Some(CaseDropping { subsets: self.subsets?, seed, budget, ..CaseDropping::default() })
    }

    /// With the seed and the budget of the fit, if resamples are requested.
    pub(crate) fn bootstrap(&self, engine: &EngineSettings) -> Option<Bootstrap> {
        let usual = Bootstrap::default();
        let level = self.level.unwrap_or(usual.level);
        Some(Bootstrap { resamples: self.resamples?, level, seed: engine.seed(), budget: engine.budget() })
    }
}

/// The result of resamples, or why there are no intervals. The fit is complete either way.
pub(crate) struct Intervals {
    level: f64,
    requested: usize,
    found: Result<Bootstrapped, String>,
}

impl Intervals {
    pub(crate) fn new(bootstrap: &Bootstrap, found: isinglass::Result<Bootstrapped>) -> Self {
        let found = match found {
            Ok(found) if bootstrap.is_enough(&found) => Ok(found),
            Ok(found) => Err(format!(
                "{} of {} resamples are too few: there are no intervals",
                found.resamples, bootstrap.resamples
            )),
            Err(error) => Err(format!("the resamples failed, and there are no intervals: {error}")),
        };
        Self { level: bootstrap.level, requested: bootstrap.resamples, found }
    }

    /// Of a table that was filled several times: all resamples are there, or none.
    pub(crate) fn of_filled(bootstrap: &Bootstrap, found: isinglass::Result<Bootstrapped>) -> Self {
        let why = |error| format!("the resamples failed, and there are no intervals: {error}");
        Self { level: bootstrap.level, requested: bootstrap.resamples, found: found.map_err(why) }
    }

    /// Of a fit that was stopped.
    pub(crate) fn of_stopped(bootstrap: &Bootstrap) -> Self {
        let why = "the fit was stopped: no resamples are fitted, and there are no intervals".to_owned();
        Self { level: bootstrap.level, requested: bootstrap.resamples, found: Err(why) }
    }

    /// What the user should know.
    pub(crate) fn notes(&self) -> impl Iterator<Item = &isinglass::Note> {
        self.found.iter().flat_map(|found| &found.notes)
    }

    /// Why there are no intervals.
    pub(crate) fn warning(&self) -> Option<Diagnostic> {
        let why = self.found.as_ref().err()?;
        Some(Diagnostic::new("no-intervals", why.as_str(), json!({ "requested": self.requested })))
    }

    /// The intervals as a dictionary, if there are any.
    pub(crate) fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Ok(found) = &self.found else { return Ok(None) };
        let out = PyDict::new(py);
        out.set_item("level", self.level)?;
        out.set_item("resamples", found.resamples)?;
        out.set_item("unconverged", found.unconverged)?;
        out.set_item("failed", found.failed)?;
        out.set_item("couplings", columns(py, &found.couplings)?)?;
        out.set_item("biases", columns(py, &found.biases)?)?;
        let measures = PyDict::new(py);
        let units = found.biases.len().max(1);
        for (measure, intervals) in UnitMeasure::ALL.into_iter().zip(found.measures.chunks(units)) {
            if intervals.iter().any(|interval| !interval.fitted.is_nan()) {
                measures.set_item(measure.word(), columns(py, intervals)?)?;
            }
        }
        out.set_item("centrality", measures)?;
        Ok(Some(out))
    }
}

fn columns<'py>(py: Python<'py>, intervals: &[Interval]) -> PyResult<Bound<'py, PyDict>> {
    let column = |measure: fn(&Interval) -> f64| PyArray1::from_iter(py, intervals.iter().map(measure));
    let out = PyDict::new(py);
    out.set_item("lower", column(|interval| interval.low))?;
    out.set_item("upper", column(|interval| interval.high))?;
    out.set_item("not_zero", column(|interval| interval.not_zero))?;
    out.set_item("same_sign", column(|interval| interval.same_sign))?;
    Ok(out)
}
