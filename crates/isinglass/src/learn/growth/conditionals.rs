//! Couplings and hidden units by conditionals: fits without a partition sum, stopped by held-out
//! rows.

use std::ops::ControlFlow;

use super::residual::UnitBegin;
use super::splits::splits;
use super::with_units;
use crate::learn::pseudo_likelihood::HiddenGain;
use crate::learn::refit::without_zeros;
use crate::learn::{Observer, Step, start};
use crate::optimize::{self, Method, OptimizerSettings, Remembered, Start, Visit};
use crate::{Budget, Graph, Machine, Result, Table};

/// Iterations of each fit, at most, and those by hidden units alone.
const ITERATIONS: usize = 200;
const ALONE: usize = 100;

/// The component of the gradient at which a fit ends: held-out rows decide long before.
const TOLERANCE: f64 = 1e-4;

/// Iterations from one look at held-out rows to the next, and without a rise until the end.
const SPACING: usize = 4;
const PATIENCE: usize = 24;

/// The coupling (divided by T) whose penalty is halved when penalties are weighted.
const HALVED: f64 = 0.1;

/// Fits of couplings with an L1 penalty and hidden units with an L2 penalty, by the pseudo-likelihood
/// with hidden units summed out.
///
/// Three fits follow one another. First the hidden units and biases alone, which begin by splitting
/// rows ([`splitting`](super::splitting)): classes of rows are found before couplings can take their
/// place. Then couplings between visible units, too, with the same penalty λ for all. Last with the
/// penalty
///
/// ```text
/// Σ_ij λ_ij |w_ij|,    λ_ij = λ c / (c + |w'_ij|),    c = 0.1
/// ```
///
/// of which w' are the couplings of the fit before: one step of the reweighted L1 penalty (Candès,
/// Wakin and Boyd 2008), which hardly shrinks strong couplings, such as those of columns that exclude
/// each other. Each ends where held-out rows get no more probable given all other cells, and keeps
/// the best.
///
/// *Complexity*: up to some hundred evaluations of the pseudo-likelihood for each penalty. *Accuracy,
/// and when it fails*: conditionals tell little of how often classes of rows occur; the likelihood of
/// held-out rows must judge the machines, and a check by draws the last.
pub struct Conditioned<'a> {
    visible: &'a Machine,
    table: &'a Table,
    held_out: Option<&'a Table>,
    hidden: usize,
    l2: f64,
    seed: u64,
    budget: Budget,
}

/// A machine of [`Conditioned`].
#[derive(Debug, Clone, PartialEq)]
pub struct ByConditionals {
    /// With its hidden units; couplings of 0 have left the graph.
    pub machine: Machine,
    /// The penalty λ.
    pub l1: f64,
    /// The average pseudo-log-likelihood of a held-out row, if there are any.
    pub held_out: Option<f64>,
    /// The objective of the last fit and its gradient, after all iterations.
    pub last: Step,
    made: Made,
}

/// The iterations of the fits that led to a machine.
#[derive(Debug, Clone, PartialEq)]
struct Made {
    /// Hidden units alone.
    alone: usize,
    /// Couplings, too: for each penalty.
    plain: Vec<(f64, usize)>,
    /// With weighted penalties.
    weighted: usize,
}

/// The objective, by the rows to fit and by those to stop by.
struct Gains {
    rows: HiddenGain,
    held_out: Option<HiddenGain>,
}

/// A fit: its parameters, where it was, and what held-out rows say.
struct Found {
    parameters: Vec<f64>,
    step: Step,
    held_out: Option<f64>,
    is_cancelled: bool,
}

impl<'a> Conditioned<'a> {
    /// For a machine without hidden units, of which the structure and the names count, complete rows
    /// to fit, and rows to stop by.
    pub fn new(visible: &'a Machine, table: &'a Table, held_out: Option<&'a Table>) -> Self {
        Self { visible, table, held_out, hidden: 0, l2: 0.0, seed: 0, budget: Budget::default() }
    }

    /// With so many hidden units, and a penalty `λ/2 Σ u²` on their couplings.
    #[must_use]
    pub fn hidden(self, hidden: usize, l2: f64) -> Self {
        Self { hidden, l2, ..self }
    }

    /// With a seed, and a budget.
    #[must_use]
    pub fn with(self, seed: u64, budget: Budget) -> Self {
        Self { seed, budget, ..self }
    }

    /// Fits for penalties from strong to weak, until held-out rows get less probable given all other
    /// cells, or the observer ends it: the best machine, none without any fit.
    ///
    /// # Errors
    /// Tables that do not fit the machine or have missing cells; input units; more memory than the
    /// budget has.
    pub fn best(&self, penalties: &[f64], observer: &mut dyn Observer) -> Result<Option<ByConditionals>> {
        let alone = self.alone(ALONE, observer)?;
        let (mut is_cancelled, alone_made) = (alone.is_cancelled, alone.step.iteration);
        let gains = self.gains(self.visible)?;
        let mut parameters = self.with_couplings(alone.parameters);
        let mut plain: Vec<(f64, usize)> = Vec::new();
        let mut best: Option<ByConditionals> = None;
        for &l1 in penalties {
            if is_cancelled {
                break;
            }
            let first = self.plain(&gains, l1, (parameters, ITERATIONS), observer)?;
            plain.push((l1, first.step.iteration));
            let found = self.weighted(&gains, l1, (&first.parameters, ITERATIONS), observer)?;
            is_cancelled = first.is_cancelled || found.is_cancelled;
            if best.as_ref().is_some_and(|best| found.held_out <= best.held_out) {
                break;
            }
            let weighted = found.step.iteration;
            best = Some(self.finished(&found, Made { alone: alone_made, plain: plain.clone(), weighted })?);
            parameters = first.parameters;
        }
        Ok(best)
    }

    /// Fits once more, as another fit went: for all rows, without any to stop by.
    ///
    /// # Errors
    /// Those of [`best`](Self::best).
    pub fn again(&self, before: &ByConditionals, observer: &mut dyn Observer) -> Result<ByConditionals> {
        let made = &before.made;
        let gains = self.gains(self.visible)?;
        let mut parameters = self.with_couplings(self.alone(made.alone, observer)?.parameters);
        for &(l1, iterations) in &made.plain {
            parameters = self.plain(&gains, l1, (parameters, iterations), observer)?.parameters;
        }
        let found = self.weighted(&gains, before.l1, (&parameters, made.weighted), observer)?;
        self.finished(&found, made.clone())
    }

    /// Parameters without couplings of visible units, with these: they are 0.
    fn with_couplings(&self, others: Vec<f64>) -> Vec<f64> {
        let mut parameters = vec![0.0; self.visible.graph().edges().len()];
        parameters.extend(others);
        parameters
    }

    /// Hidden units and couplings, which bear the same penalty.
    fn plain(
        &self,
        gains: &Gains,
        l1: f64,
        (parameters, iterations): (Vec<f64>, usize),
        observer: &mut dyn Observer,
    ) -> Result<Found> {
        self.climb(gains, &vec![l1; gains.rows.couplings()], parameters, iterations, observer)
    }

    /// The same from such a fit, by whose couplings penalties are weighted.
    fn weighted(
        &self,
        gains: &Gains,
        l1: f64,
        (parameters, iterations): (&[f64], usize),
        observer: &mut dyn Observer,
    ) -> Result<Found> {
        let halved = HALVED * self.visible.temperature();
        let lambda = |w: &f64| l1 * halved / (halved + w.abs());
        let lambdas: Vec<f64> = parameters[..gains.rows.couplings()].iter().map(lambda).collect();
        self.climb(gains, &lambdas, parameters.to_vec(), iterations, observer)
    }

    /// The result of the last fit.
    fn finished(&self, found: &Found, made: Made) -> Result<ByConditionals> {
        let plain: usize = made.plain.iter().map(|(_, iterations)| iterations).sum();
        let iteration = made.alone + plain + made.weighted;
        Ok(ByConditionals {
            machine: self.machine(&found.parameters)?,
            l1: made.plain.last().map_or(0.0, |(l1, _)| *l1),
            held_out: found.held_out,
            last: Step { iteration, ..found.step },
            made,
        })
    }

    /// The objective for couplings of a machine, by the rows to fit and by those to stop by.
    fn gains(&self, visible: &Machine) -> Result<Gains> {
        let of = |table| HiddenGain::new(visible, table, (self.hidden, self.l2), self.budget);
        Ok(Gains { rows: of(self.table)?, held_out: self.held_out.map(of).transpose()? })
    }

    /// Hidden units and biases, without couplings between visible units.
    fn alone(&self, iterations: usize, observer: &mut dyn Observer) -> Result<Found> {
        let units = self.visible.unit_count();
        let bare = Machine::from_graph(Graph::new(units, [])?)
            .with_names(self.visible.names().iter().cloned())?
            .with_roles(self.visible.roles().to_vec())?
            .with_temperature(self.visible.temperature())?;
        let bare = start(&bare, self.table, self.seed, 0)?;
        let ends: Vec<usize> = (0..units).collect();
        let mut parameters = bare.biases().to_vec();
        for unit in splits(&bare, &ends, self.table, (self.hidden, self.seed, 0))? {
            parameters.push(unit.bias);
            parameters.extend(unit.couplings);
        }
        if self.hidden == 0 {
            let step = Step { iteration: 0, objective: f64::NEG_INFINITY, gradient_norm: 0.0 };
            return Ok(Found { parameters, step, held_out: None, is_cancelled: false });
        }
        self.climb(&self.gains(&bare)?, &[], parameters, iterations, observer)
    }

    /// Follows the gradient from some parameters, and keeps those under which held-out rows are most
    /// probable given all other cells, or the last ones without such rows.
    fn climb(
        &self,
        Gains { rows, held_out }: &Gains,
        lambdas: &[f64],
        parameters: Vec<f64>,
        iterations: usize,
        observer: &mut dyn Observer,
    ) -> Result<Found> {
        let mut all = lambdas.to_vec();
        all.resize(rows.size(), 0.0);
        let mut best: Option<Found> = None;
        let mut is_cancelled = false;
        let settings = OptimizerSettings { method: Method::Lbfgs, iterations, tolerance: TOLERANCE };
        let begin = Start { parameters, from: None };
        let mut last = Step { iteration: 0, objective: f64::NEG_INFINITY, gradient_norm: 0.0 };
        let found = optimize::maximize_sparse(&Remembered(rows), &all, begin, &settings, &mut |visit| {
            let Visit { iteration, value, gradient_norm, .. } = *visit;
            last = Step { iteration, objective: value, gradient_norm };
            if !iteration.is_multiple_of(SPACING) {
                return Ok(ControlFlow::Continue(()));
            }
            is_cancelled |= observer.step(&last, self.visible)?.is_break();
            let mut is_over = is_cancelled;
            if let Some(held_out) = held_out {
                let value = held_out.average(visit.parameters);
                if best.as_ref().is_none_or(|best| Some(value) > best.held_out) {
                    let (parameters, held_out) = (visit.parameters.to_vec(), Some(value));
                    best = Some(Found { parameters, step: last, held_out, is_cancelled: false });
                }
                is_over |= best.as_ref().is_some_and(|best| iteration >= best.step.iteration + PATIENCE);
            }
            Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        let last = Found { parameters: found.parameters, step: last, held_out: None, is_cancelled };
        Ok(best.map_or(last, |best| Found { is_cancelled, ..best }))
    }

    /// The machine of some parameters.
    fn machine(&self, parameters: &[f64]) -> Result<Machine> {
        let (units, couplings) = (self.visible.unit_count(), self.visible.graph().edges().len());
        let (visible, hidden) = parameters.split_at(couplings + units);
        let (weights, biases) = visible.split_at(couplings);
        let machine = self.visible.clone().with_parameters(weights.to_vec(), biases.to_vec())?;
        let begins: Vec<UnitBegin> = hidden
            .chunks_exact(units + 1)
            .map(|unit| UnitBegin { bias: unit[0], couplings: unit[1..].to_vec() })
            .collect();
        let ends: Vec<usize> = (0..units).collect();
        without_zeros(&with_units(&machine, &ends, &begins)?)
    }
}
