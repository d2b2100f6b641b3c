//! Posterior distributions for Python.

use isinglass::learn::{Marginal, Posterior};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A posterior distribution as arrays.
pub(crate) fn of_posterior<'py>(py: Python<'py>, posterior: &Posterior) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let mixing = posterior.fit.diagnostics.mixing.as_ref();
    let couplings = &posterior.couplings;
    out.set_item("likelihood", if posterior.engine.is_some() { "exact" } else { "pseudo" })?;
    out.set_item("chains", posterior.chains)?;
    out.set_item("samples", posterior.samples)?;
    out.set_item("level", posterior.level)?;
    out.set_item("r_hat", mixing.map(|mixing| mixing.r_hat))?;
    out.set_item("effective_samples", mixing.map(|mixing| mixing.effective_samples))?;
    let units = couplings.iter().map(|coupling| [coupling.units.0 as i64, coupling.units.1 as i64]);
    out.set_item("edges", PyArray2::from_vec2(py, &units.map(Vec::from).collect::<Vec<_>>())?)?;
    out.set_item("inclusion", PyArray1::from_iter(py, couplings.iter().map(|coupling| coupling.inclusion)))?;
    let factors = couplings.iter().map(|coupling| coupling.log_bayes_factor);
    out.set_item("log_bayes_factor", PyArray1::from_iter(py, factors))?;
    let nothing = Marginal {
        mean: f64::NAN,
        deviation: f64::NAN,
        low: f64::NAN,
        high: f64::NAN,
        r_hat: f64::NAN,
        effective_samples: f64::NAN,
    };
    let couplings: Vec<Marginal> = couplings.iter().map(|coupling| coupling.weight).collect();
    let biases: Vec<Marginal> = posterior.biases.iter().map(|bias| bias.unwrap_or(nothing)).collect();
    for (name, all) in [("couplings", couplings), ("biases", biases)] {
        let found = PyDict::new(py);
        let array = |measure: fn(&Marginal) -> f64| PyArray1::from_iter(py, all.iter().map(measure));
        found.set_item("mean", array(|of| of.mean))?;
        found.set_item("deviation", array(|of| of.deviation))?;
        found.set_item("lower", array(|of| of.low))?;
        found.set_item("upper", array(|of| of.high))?;
        found.set_item("r_hat", array(|of| of.r_hat))?;
        found.set_item("effective_samples", array(|of| of.effective_samples))?;
        out.set_item(name, found)?;
    }
    Ok(out)
}
