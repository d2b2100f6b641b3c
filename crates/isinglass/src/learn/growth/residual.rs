//! What a machine misses in a table: couplings of a further hidden unit that would make the rows more
//! probable, against draws from the machine.

use std::ops::ControlFlow;

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::check_rows;
use crate::numeric::stable::{log_cosh, shares};
use crate::optimize::{Method, Objective, OptimizerSettings, Start, maximize};
use crate::{Machine, Result, Table, cancel};

/// Random directions from which the best unit is looked for, and iterations from each.
const DIRECTIONS: usize = 8;
const ITERATIONS: usize = 30;

/// Deviations below this are taken for it: couplings to a column that hardly varies stay finite.
const LEAST_DEVIATION: f64 = 0.05;

/// The effective number of draws, as a share, with which they tell enough of another unit.
const LEAST_EFFECTIVE: f64 = 0.25;

/// Where a unit begins.
pub(super) struct UnitBegin {
    /// With each end, in their order.
    pub(super) couplings: Vec<f64>,
    pub(super) bias: f64,
}

/// Rows of a table and draws from a machine, in centred and scaled units `x = (s − m) / σ`; missing
/// cells are 0.
pub(super) struct Residual {
    means: Vec<f64>,
    deviations: Vec<f64>,
    temperature: f64,
    rows: States,
    draws: States,
    /// Of the normal prior on couplings, per row: with it `b + u·x` has a variance of about 1.
    ridge: f64,
}

/// States with weights that add up to 1, one after another.
struct States {
    cells: Vec<f64>,
    weights: Vec<f64>,
}

/// The value of a unit as a function of its couplings u, then its bias.
struct Gain<'a> {
    residual: &'a Residual,
    log_draws: Vec<f64>,
}

impl Residual {
    /// Compares rows with draws, at some units.
    pub(super) fn new(machine: &Machine, ends: &[usize], table: &Table, draws: &[i8]) -> Result<Self> {
        let units = machine.unit_count();
        let (cells, weights) = table.cells_for(machine)?;
        let total: f64 = weights.iter().sum();
        check_rows(total)?;
        let mut means = vec![0.0; ends.len()];
        let mut present = vec![0.0; ends.len()];
        for (row, weight) in cells.chunks_exact(units).zip(&weights) {
            for (k, &end) in ends.iter().enumerate() {
                means[k] += weight * f64::from(row[end]);
                present[k] += weight * f64::from(row[end].abs());
            }
        }
        for (mean, present) in means.iter_mut().zip(present) {
            *mean = if present > 0.0 { *mean / present } else { 0.0 };
        }
        let deviations: Vec<f64> =
            means.iter().map(|m: &f64| (1.0 - m * m).max(0.0).sqrt().max(LEAST_DEVIATION)).collect();
        let centred = |cells: &[i8]| -> Vec<f64> {
            let state = |row: &[i8]| -> Vec<f64> {
                let value = |(k, &end): (usize, &usize)| match row[end] {
                    0 => 0.0,
                    s => (f64::from(s) - means[k]) / deviations[k],
                };
                ends.iter().enumerate().map(value).collect()
            };
            cells.chunks_exact(units).flat_map(state).collect()
        };
        let count = draws.len() / units;
        let rows =
            States { cells: centred(&cells), weights: weights.iter().map(|weight| weight / total).collect() };
        let draws = States { cells: centred(draws), weights: vec![1.0 / count as f64; count] };
        let ridge = ends.len() as f64 / total.min(count as f64);
        Ok(Self { means, deviations, temperature: machine.temperature(), rows, draws, ridge })
    }

    /// The next unit, after which draws count by it; none where they no longer stand for the machine.
    pub(super) fn next(&mut self, random: &mut impl Rng) -> Result<Option<UnitBegin>> {
        let effective = 1.0 / self.draws.weights.iter().map(|w| w * w).sum::<f64>();
        if effective < LEAST_EFFECTIVE * self.draws.weights.len() as f64 {
            return Ok(None);
        }
        let units = self.means.len();
        let starts: Vec<Vec<f64>> = (0..DIRECTIONS)
            .map(|number| {
                let mut start: Vec<f64> = (0..units).map(|_| StandardNormal.sample(random)).collect();
                let length = start.iter().map(|x: &f64| x * x).sum::<f64>().sqrt().max(1e-9);
                for x in &mut start {
                    *x /= length;
                }
                // Without a bias a unit sees even moments alone.
                start.push([0.0, 1.0][number % 2]);
                start
            })
            .collect();
        let gain = Gain { residual: self, log_draws: self.draws.weights.iter().map(|w| w.ln()).collect() };
        let settings = OptimizerSettings { method: Method::Lbfgs, iterations: ITERATIONS, tolerance: 1e-4 };
        let found: Vec<Result<(f64, Vec<f64>)>> = starts
            .into_par_iter()
            .map(|parameters| {
                let start = Start { parameters, from: None };
                let found = maximize(&gain, start, &settings, &mut |_| Ok(ControlFlow::Continue(())))?;
                Ok((gain.value(&found.parameters)?, found.parameters))
            })
            .collect();
        let found: Result<Vec<(f64, Vec<f64>)>> = found.into_iter().collect();
        let best = found?.into_iter().reduce(|best, other| if other.0 > best.0 { other } else { best });
        let Some((_, parameters)) = best else { return Ok(None) };
        let (u, bias) = (&parameters[..units], parameters[units]);
        let logs: Vec<f64> = self
            .draws
            .fields(u, bias)
            .iter()
            .zip(&self.draws.weights)
            .map(|(z, w)| log_cosh(*z) + w.ln())
            .collect();
        self.draws.weights = shares(&logs).1;
        let scaled = u.iter().zip(&self.deviations).map(|(u, deviation)| u / deviation);
        let couplings: Vec<f64> = scaled.map(|w| self.temperature * w).collect();
        let shift: f64 = couplings.iter().zip(&self.means).map(|(w, mean)| w * mean).sum();
        Ok(Some(UnitBegin { couplings, bias: self.temperature * bias - shift }))
    }
}

impl States {
    /// `b + u·x` of each state.
    fn fields(&self, u: &[f64], bias: f64) -> Vec<f64> {
        let field = |state: &[f64]| bias + state.iter().zip(u).map(|(x, u)| x * u).sum::<f64>();
        self.cells.chunks_exact(u.len()).map(field).collect()
    }

    /// Adds `Σ f x` and `Σ f`, with a factor for each state.
    fn add(&self, factors: &[f64], gradient: &mut [f64]) {
        let (pulls, bias) = gradient.split_at_mut(gradient.len() - 1);
        for (state, factor) in self.cells.chunks_exact(pulls.len()).zip(factors) {
            bias[0] += factor;
            pulls.iter_mut().zip(state).for_each(|(pull, x)| *pull += factor * x);
        }
    }
}

impl Objective for Gain<'_> {
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        cancel::point();
        let Residual { rows, draws, ridge, .. } = self.residual;
        let (u, bias) = parameters.split_at(parameters.len() - 1);
        let of_rows = rows.fields(u, bias[0]);
        let of_draws = draws.fields(u, bias[0]);
        let logs: Vec<f64> =
            of_draws.iter().zip(&self.log_draws).map(|(z, log)| log_cosh(*z) + log).collect();
        let (log_sum, weights) = shares(&logs);
        let value = of_rows.iter().zip(&rows.weights).map(|(z, w)| w * log_cosh(*z)).sum::<f64>() - log_sum;
        gradient.fill(0.0);
        let up: Vec<f64> = of_rows.iter().zip(&rows.weights).map(|(z, w)| w * z.tanh()).collect();
        rows.add(&up, gradient);
        let down: Vec<f64> = of_draws.iter().zip(&weights).map(|(z, w)| -w * z.tanh()).collect();
        draws.add(&down, gradient);
        for (slot, x) in gradient.iter_mut().zip(parameters) {
            *slot -= ridge * x;
        }
        Ok(value - 0.5 * ridge * parameters.iter().map(|x| x * x).sum::<f64>())
    }
}
