//! Interaction screening: the sharpest known estimator of which units are coupled.

use fearless_simd::Level;
use rayon::prelude::*;

use super::panels::Panels;
use super::path::Path;
use super::regression::{Loss, Regression};
use crate::engine::{Diagnostics, Guarantee};
use crate::learn::factorized::about_alone;
use crate::learn::notes::about_zeros;
use crate::learn::origin::Origin;
use crate::learn::refit::Selected;
use crate::learn::{Checkpoint, Fit, Learner, Observer, Step, Stop};
use crate::likelihood::filled_pseudo_log_likelihood;
use crate::settings::{Settings, constructors, range, settings};
use crate::{Machine, Note, Result, Role, Table};

/// The name by which users choose the learner.
const NAME: &str = "rise";

/// Penalties from the largest down to the requested one.
const PENALTIES: usize = 8;

/// The factors of the penalty that Lokhov et al. (2018) found best, which their programs
/// (`lanl-ansi/GraphicalModelLearning.jl`) have as defaults: for the sum, and for its logarithm.
const FACTORS: [f64; 2] = [0.4, 0.8];

/// The chance with which any coupling may be wrong, in λ, where it is theirs, and in the threshold.
const RISK: f64 = 0.05;

/// Selects couplings by interaction screening (Vuffray, Misra, Lokhov and Chertkov 2016), for each
/// unit by itself:
///
/// ```text
/// minimise ⟨e^(−s_i h_i / T)⟩ + λ Σ_j |w_ij| / T        h_i = θ_i + Σ_j w_ij s_j
/// λ = c √(ln(n² / 0.05) / N)                             n units, N rows
/// ```
///
/// or, with `log`, the logarithm of the average. c is 0.4, and 0.8 with `log` (Lokhov, Vuffray,
/// Misra and Chertkov 2018, who found these best over many topologies). The two estimates of a
/// coupling are averaged. Couplings below `least` are dropped; without `least`, those without which
/// the conditionals of their two units, fitted without penalty, lose on average less than
/// `ln(n² / 0.05)` of the sum of `ln P` over rows: by chance, one of all pairs gains as much in one
/// of more than twenty tables. The rest is fitted again, unless `refit` says no.
///
/// # Complexity
/// Eight lassos per unit, `O(r k²)` each for r distinct rows and k couplings; units run in parallel.
/// *Memory*: ten bytes per cell, and some n × n matrices per thread.
///
/// # Accuracy, and when it fails
/// The number of rows that it needs grows with the strength of couplings nearly as slowly as is
/// possible. Columns of 0.1 % or less have few rows that speak of them: the exponential weighs these
/// by far more than the rest, and pseudo-likelihood is steadier. Hidden units and missing cells are
/// refused.
///
/// # Example
/// ```
/// use isinglass::{Table, topology};
/// use isinglass::learn::{Learner, Rise};
/// // a and b are equal in nine rows of ten; c is independent of both.
/// let mut table = Table::new(["a", "b", "c"])?;
/// for (row, weight) in [([1, 1, 1], 90.0), ([-1, -1, 1], 90.0), ([1, -1, 1], 10.0), ([-1, 1, 1], 10.0)] {
///     table.push(&row, weight)?;
///     table.push(&[row[0], row[1], -1], weight)?;
/// }
/// let start = topology::full(3).with_names(["a", "b", "c"])?;
/// let fit = Rise::new().fit(&start, &table)?;
/// assert_eq!(fit.machine.graph().edges(), [(0, 1)]);
/// assert!((fit.machine.weights()[0] - 3f64.ln()).abs() < 1e-3, "fitted again, all but without a penalty");
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rise {
    pub(crate) settings: RiseSettings,
}

settings! {
    /// Settings of [`Rise`].
    pub struct RiseSettings for Rise {
        /// Minimise the logarithm of the average
        log: bool = false,
        /// The penalty is X times √(ln(n² / 0.05) / rows) [default: 0.4, with log 0.8]
        penalty: Option<f64> = None => range::not_negative,
        /// Drop couplings below X (and fit the others again, with refit) [default: by what they are worth to the conditionals]
        least: Option<f64> = None => range::not_negative,
        /// Fit the couplings that were not dropped again, without penalty: by exact likelihood where
        /// that is cheap, otherwise by pseudo-likelihood [default: yes]
        refit: Option<bool> = None,
    }
    common { budget }
}

constructors!(Rise(RiseSettings));

/// The couplings and the bias of a unit, divided by T.
struct Screened {
    couplings: Vec<(usize, f64)>,
    bias: f64,
    converged: bool,
}

impl Screened {
    fn coupling(&self, other: usize) -> f64 {
        let place = self.couplings.binary_search_by_key(&other, |(other, _)| *other);
        place.map_or(0.0, |place| self.couplings[place].1)
    }
}

/// What all regressions share.
struct Rows<'a> {
    start: &'a Machine,
    panels: Panels,
    means: Vec<f64>,
    varied: Vec<bool>,
}

impl Learner for Rise {
    fn name(&self) -> &'static str {
        NAME
    }

    fn fit_from(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        self.validate()?;
        let origin = Origin::new(NAME, start, table, [("settings", self.settings.fingerprint())]);
        from.map(|state| origin.read::<()>(state)).transpose()?;
        self.check(start, table)?;
        let mut panels = Panels::new(NAME, start, table)?;
        panels.widen();
        let units = 0..start.unit_count();
        let means = units.clone().map(|unit| panels.mean(unit)).collect();
        let varied = units.clone().map(|unit| panels.is_varied(unit)).collect();
        let rows = Rows { start, panels, means, varied };
        let penalty = self.strength(start.unit_count(), rows.panels.total_weight);
        let screen = |unit| rows.screen(unit, self.loss(), penalty);
        let screened: Vec<Option<Screened>> = units.clone().into_par_iter().map(screen).collect();
        let mut machine = combined(start, &screened)?;
        if self.least.is_none() {
            machine = rows.thresholded(machine)?;
        }
        let objective = filled_pseudo_log_likelihood(&machine, table, &vec![0.0; start.unit_count()])?;
        let step = Step { iteration: 0, objective, gradient_norm: 0.0 };
        if from.is_none() {
            // The selection is complete: a request to stop leaves out the second fit alone.
            let _ = observer.step(&step, &machine)?;
            observer.checkpoint(&step, &|| origin.state(&()))?;
        }
        let failed = |unit: &usize| screened[*unit].as_ref().is_some_and(|found| !found.converged);
        let failed: Vec<&str> = units.clone().filter(failed).map(|unit| start.name(unit)).collect();
        let is_lost = |unit: &usize| start.roles()[*unit] == Role::Visible && !rows.varied[*unit];
        let lost: Vec<&str> = units.filter(is_lost).map(|unit| start.name(unit)).collect();
        let mut notes: Vec<Note> = about_alone(&lost, &[]).collect();
        notes.extend(Note::of_columns(&failed, Note::UnconvergedColumns));
        notes.push(about_zeros(machine.weights()));
        let fit = Fit {
            kept: 0,
            history: vec![step],
            converged: failed.is_empty(),
            stopped: Stop::PathsComplete,
            log_likelihood: None,
            guarantee: Guarantee::Approximation,
            pseudo_log_likelihood: Some(objective),
            diagnostics: Diagnostics::direct(),
            notes,
            machine,
        };
        let least = self.least.unwrap_or(0.0);
        let selected = Selected { least, refit: self.refit.unwrap_or(true), budget: self.budget };
        selected.finish(fit, table, observer)
    }
}

impl Rise {
    fn loss(&self) -> Loss {
        if self.log { Loss::LogScreening } else { Loss::Screening }
    }

    /// λ.
    fn strength(&self, units: usize, rows: f64) -> f64 {
        let factor = self.penalty.unwrap_or(FACTORS[usize::from(self.log)]);
        factor * (confidence(units) / rows).sqrt()
    }

    fn check(&self, start: &Machine, table: &Table) -> Result<()> {
        let cells = table.distinct_count() as u128 * start.unit_count() as u128;
        let degrees = (0..start.unit_count()).map(|unit| start.graph().degree(unit));
        let most = degrees.max().unwrap_or(0) as u128 + 1;
        let threads = rayon::current_num_threads() as u128;
        let needed = 10 * cells + 8 * threads * (6 * most * most + 600 * most);
        self.budget.check(NAME, needed, || {
            format!("{cells} cells, with matrices of {most} × {most} on {threads} threads,")
        })
    }
}

impl<'a> Rows<'a> {
    /// The beginning of a unit's path over some of its neighbours that vary.
    fn path(&'a self, unit: usize, loss: Loss, is_candidate: impl Fn(usize) -> bool) -> Option<Path<'a>> {
        let around = self.start.graph().neighbours(unit).map(|(other, _)| other);
        let others: Vec<usize> = around.filter(|&other| self.varied[other] && is_candidate(other)).collect();
        if self.start.roles()[unit] != Role::Visible || !self.varied[unit] {
            return None;
        }
        let regression = Regression { panels: &self.panels, unit, loss, level: Level::new() };
        Some(Path::new(regression, others, &self.means))
    }

    /// The regression of a unit; `None` for input units.
    fn screen(&self, unit: usize, loss: Loss, penalty: f64) -> Option<Screened> {
        if self.start.roles()[unit] != Role::Visible {
            return None;
        }
        let Some(mut path) = self.path(unit, loss, |_| true) else {
            // A constant column, as with half a row added of each value.
            let weight = self.panels.total_weight;
            let mean = self.means[unit].round() * weight / (weight + 1.0);
            return Some(Screened { couplings: Vec::new(), bias: mean.atanh(), converged: true });
        };
        let largest = path.largest_penalty();
        let mut converged = true;
        if largest > penalty {
            // The path begins where all couplings are 0, so that each step is short.
            let least = penalty.max(1e-6 * largest);
            for k in 1..PENALTIES {
                path.advance(largest * (least / largest).powf(k as f64 / PENALTIES as f64));
            }
            converged = path.settle(penalty);
        }
        let bias = path.couplings[path.others.len()];
        let couplings = path.others.iter().copied().zip(path.couplings).filter(|(_, w)| *w != 0.0).collect();
        Some(Screened { couplings, bias, converged })
    }

    /// The machine without couplings that are not worth their price to the conditionals of their two
    /// units together.
    ///
    /// Conditionals are fitted without penalty. In each round every unit offers the coupling that it
    /// can best do without, and those on which both units' gains are below the price leave.
    fn thresholded(&self, mut machine: Machine) -> Result<Machine> {
        let (units, rows) = (machine.unit_count(), self.panels.total_weight);
        // What a conditional must lose, on average over rows.
        let least = confidence(units) / rows;
        loop {
            let worth: Vec<Vec<(usize, f64)>> = (0..units)
                .into_par_iter()
                .map(|unit| {
                    let is_coupled = |other: usize| {
                        let edge = machine.graph().edge_between(unit, other);
                        edge.is_some_and(|edge| machine.weights()[edge] != 0.0)
                    };
                    self.path(unit, Loss::Logistic, is_coupled).map_or_else(Vec::new, |path| gains(&path))
                })
                .collect();
            let of = |unit: usize, other: usize| {
                worth[unit].iter().find(|(known, _)| *known == other).map(|x| x.1)
            };
            let mut weights = machine.weights().to_vec();
            let mut worst: Vec<Option<(f64, usize)>> = vec![None; units];
            let mut lacking = Vec::new();
            for (edge, &(a, b)) in machine.graph().edges().iter().enumerate() {
                if weights[edge] == 0.0 || of(a, b).is_none() && of(b, a).is_none() {
                    continue;
                }
                let price = least * [of(a, b), of(b, a)].iter().flatten().count() as f64;
                let lack = price - of(a, b).unwrap_or(0.0) - of(b, a).unwrap_or(0.0);
                if lack > 0.0 {
                    lacking.push((edge, a, b, lack));
                    for unit in [a, b] {
                        if worst[unit].is_none_or(|(most, _)| lack > most) {
                            worst[unit] = Some((lack, edge));
                        }
                    }
                }
            }
            if lacking.is_empty() {
                return Ok(machine);
            }
            // The worst of both its units: there is one at least, the worst of all.
            for (edge, a, b, _) in lacking {
                if [a, b].iter().all(|&unit| worst[unit].is_some_and(|(_, worst)| worst == edge)) {
                    weights[edge] = 0.0;
                }
            }
            machine = machine.clone().with_parameters(weights, machine.biases().to_vec())?;
        }
    }
}

/// `ln(n² / 0.05)`.
fn confidence(units: usize) -> f64 {
    ((units.max(1) as f64).powi(2) / RISK).ln()
}

/// For each unit of an unpenalised conditional, what it adds to the average of `ln P`.
fn gains(path: &Path<'_>) -> Vec<(usize, f64)> {
    let all: Vec<usize> = (0..path.others.len()).collect();
    let whole = path.free(&all);
    let without = |&k: &usize| {
        let rest: Vec<usize> = all.iter().copied().filter(|&other| other != k).collect();
        (path.others[k], whole.value - whole.free(&rest).value)
    };
    all.iter().map(without).collect()
}

/// The averages of the two estimates of each coupling.
fn combined(start: &Machine, screened: &[Option<Screened>]) -> Result<Machine> {
    let temperature = start.temperature();
    let estimate = |unit: usize, other: usize| screened[unit].as_ref().map(|found| found.coupling(other));
    let average = |((a, b), old): ((usize, usize), f64)| match (estimate(a, b), estimate(b, a)) {
        (Some(x), Some(y)) => 0.5 * (x + y) * temperature,
        (Some(x), None) | (None, Some(x)) => x * temperature,
        (None, None) => old,
    };
    let edges = start.graph().edges().iter().copied();
    let weights = edges.zip(start.weights().iter().copied()).map(average).collect();
    let own = screened.iter().zip(start.biases());
    let biases = own.map(|(found, &old)| found.as_ref().map_or(old, |found| found.bias * temperature));
    start.clone().with_parameters(weights, biases.collect())
}
