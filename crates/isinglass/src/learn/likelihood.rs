//! Maximum likelihood with the expectations of any engine.
//!
//! The information gain (Rüger 1997, eq. 2) of visible units given input units, averaged over rows with weights:
//!
//! ```text
//! L = Σ_r w_r [ log Z(visible_r, input_r) − log Z(input_r) ] / Σ_r w_r  −  λ/2 Σ w_ij²
//! ```
//!
//! Hidden units and missing cells are free in both terms. Its gradient is clamped minus free correlations (eq. 3), divided by T.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::journal::{Journal, Resumed};
use super::judge::{Candidate, Judge};
use super::notes::{about_likelihood, about_swings};
use super::origin::Origin;
use super::trained::Trained;
use super::{Fit, Learner, Observer, State, Step};
use crate::engine::{Ask, Batch, Diagnostics, Engine, Group, Guarantee, Open, Statistics, WITH_LOG_Z};
use crate::optimize::{self, Method, Objective, OptimizerSettings, Start};
use crate::{Error, Machine, Result, Role, Table};

/// The name by which users choose the learner.
const NAME: &str = "likelihood";

/// Which engine computes which phase of the gradient.
#[derive(Clone, Copy)]
pub struct Phases<'a> {
    /// With the rows of the table clamped: hidden and missing units are free.
    pub clamped: &'a dyn Engine,
    /// With the input units clamped alone.
    pub free: &'a dyn Engine,
}

/// Learns by following the gradient of the information gain, with an engine for both phases.
///
/// With an engine that is not exact, the objective is as approximate as the engine. A fit that does not converge then keeps the machine of largest
/// pseudo-likelihood among those it has seen, and says if it only swung to and fro, as naive mean field does on data with correlations
/// (Kappen & Rodríguez 1997, section 2.3).
///
/// *Accuracy*: that of the engine; with an exact one it is exact maximum likelihood. Without hidden units the objective is concave, and the
/// optimum found is the only one. *When it fails*: data in which a combination of units never varies has its maximum at infinity; weights then
/// grow until the gradient is below the tolerance. A little `l2` keeps them small.
///
/// # Example
/// ```
/// use isinglass::{Enumerate, Machine, Table, topology};
/// use isinglass::learn::{Learner, Likelihood, NoObserver};
/// let table = Table::from_rows(["a", "b"], [[1, 1], [1, 1], [-1, -1], [1, -1], [-1, 1], [-1, -1]])?;
/// let start = Machine::from_graph(topology::full(2)).with_names(["a", "b"])?;
/// let engine = Enumerate::default();
/// let fit = Likelihood::new(&engine).fit(&start, &table, &mut NoObserver)?;
/// assert!(fit.converged);
/// assert!((fit.machine.weights()[0] - (1.0f64 / 3.0).atanh()).abs() < 1e-6);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub struct Likelihood<'a> {
    phases: Phases<'a>,
    l2: f64,
    settings: OptimizerSettings,
}

impl<'a> Likelihood<'a> {
    /// With one engine for both phases, no penalty and default settings.
    pub fn new(engine: &'a dyn Engine) -> Self {
        Self::with_phases(Phases { clamped: engine, free: engine })
    }

    /// With an engine for each phase.
    pub fn with_phases(phases: Phases<'a>) -> Self {
        Self { phases, l2: 0.0, settings: OptimizerSettings::default() }
    }

    /// Penalise couplings (not biases) with `λ/2 Σ w²`.
    #[must_use]
    pub fn l2(mut self, lambda: f64) -> Self {
        self.l2 = lambda;
        self
    }

    /// How to optimise, and when to stop.
    #[must_use]
    pub fn optimizer(mut self, settings: OptimizerSettings) -> Self {
        self.settings = settings;
        self
    }

    fn origin<'o>(&self, start: &'o Machine, table: &'o Table) -> Origin<'o> {
        let settings = [
            ("l2", format!("{:?}", self.l2)),
            ("optimizer", format!("{:?}", self.settings.method)),
            ("engine", format!("{:?}", self.phases.free)),
            ("clamped engine", format!("{:?}", self.phases.clamped)),
        ];
        Origin::new(NAME, start, table, settings)
    }
}

impl Learner for Likelihood<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn fit_from(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&State>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        Error::check_not_negative("l2", self.l2)?;
        let gain = InformationGain::new(self.phases, start, table, self.l2)?;
        let mut judge = Judge::new(self.phases, start, table)?;
        let parameters = gain.parameters_of(start);
        let (mut journal, resumed) = Journal::open(self.origin(start, table), &self.settings, from)?;
        let resumed: Option<Resumed<Option<Candidate>>> = resumed;
        if let (Some(judge), Some(Resumed { more: Some(best), .. })) = (&mut judge, &resumed) {
            judge.remember(best, parameters.len())?;
        }
        let begin = Start { parameters, from: resumed.as_ref().map(|resumed| &resumed.climb) };
        let mut hopeless = false;
        let mut found = optimize::maximize(&gain, begin, &self.settings, &mut |visit| {
            let machine = gain.machine_of(visit.parameters)?;
            if let Some(judge) = &mut judge {
                if !visit.again {
                    judge.hear(visit.iteration, visit.parameters, &machine)?;
                }
                // Steps of a fixed rate are made to be watched: whoever asks for them gets all of them.
                let watched = matches!(self.settings.method, Method::Momentum { .. });
                hopeless = !watched && judge.has_lost_hope(visit.iteration);
            }
            let best = judge.as_ref().and_then(Judge::best);
            let flow = journal.tell(visit, &machine, &best, observer)?;
            Ok(if hopeless { ControlFlow::Break(()) } else { flow })
        })?;
        let history = journal.history;
        if hopeless && !found.converged {
            found.stopped = "the pseudo-likelihood has stopped rising, and the gradient is not small".into();
        }
        let mut kept = kept_iteration(&history, found.converged);
        let mut machine = gain.machine_of(&found.parameters)?;
        let mut notes = Vec::new();
        let mut quality = None;
        if let Some(judge) = judge {
            let best = judge.verdict(found.converged, (kept, &found.parameters, &machine))?;
            quality = Some(best.quality);
            if !found.converged {
                kept = best.iteration;
                machine = gain.machine_of(&best.parameters)?;
                notes.extend(about_swings(&history, kept, &found.stopped, self.phases.free.name()));
            }
        }
        let last = gain.evaluate(&machine)?;
        notes.extend(about_likelihood(&machine, table));
        // Whatever the gradient says: it is the engine's, and is worth what the engine's answer is.
        let (converged, stopped) = match (found.converged, last.diagnostics.converged) {
            (true, false) => (false, found.stopped + ", but the engine had not reached what it aims at"),
            (converged, _) => (converged, found.stopped),
        };
        Ok(Fit {
            log_likelihood: Some(last.gain),
            guarantee: last.guarantee,
            pseudo_log_likelihood: quality,
            diagnostics: last.diagnostics,
            notes,
            machine,
            history,
            kept,
            converged,
            stopped,
        })
    }
}

/// The iteration whose point an optimiser keeps: the last where it converged, otherwise the one with the largest objective.
pub(super) fn kept_iteration(history: &[Step], converged: bool) -> usize {
    let highest = history.iter().max_by(|a, b| a.objective.total_cmp(&b.objective));
    let kept = if converged { history.last() } else { highest };
    kept.map_or(0, |step| step.iteration)
}

/// The information gain of a table as a function of a machine's trainable parameters, value and gradient in one call.
///
/// Trainable are all weights but those between input units, then all biases but those of input units.
/// Rows without free units are summed up once; only rows with hidden or missing units go to the engine at every step.
pub struct InformationGain<'a> {
    phases: Phases<'a>,
    trained: Trained,
    l2: f64,
    complete: Statistics,
    incomplete: Batch,
    /// The distinct states of the input units; without input units, one row in which nothing is clamped.
    free: Batch,
    total_weight: f64,
}

impl<'a> InformationGain<'a> {
    /// Prepare a table for a machine's structure, names, roles and temperature.
    ///
    /// # Errors
    /// A table that does not fit the machine, or whose rows have no weight.
    pub fn new(phases: Phases<'a>, start: &Machine, table: &Table, l2: f64) -> Result<Self> {
        let n = start.units();
        let roles = start.roles();
        let (cells, weights) = table.cells_for(start)?;
        let mut complete = Statistics::zero(start.graph());
        let mut incomplete = (Vec::new(), Vec::new());
        let mut inputs: HashMap<Vec<i8>, usize> = HashMap::new();
        let mut input_rows = (Vec::new(), Vec::new());
        for (row, &weight) in cells.chunks_exact(n.max(1)).zip(&weights) {
            if weight <= 0.0 {
                continue;
            }
            if row.contains(&0) {
                incomplete.0.extend_from_slice(row);
                incomplete.1.push(weight);
            } else {
                complete.add_state(start.graph(), row, weight);
            }
            let given = |(&cell, &role): (&i8, &Role)| if role == Role::Input { cell } else { 0 };
            let input: Vec<i8> = row.iter().zip(roles).map(given).collect();
            let place = *inputs.entry(input).or_insert_with_key(|input| {
                input_rows.0.extend_from_slice(input);
                input_rows.1.push(0.0);
                input_rows.1.len() - 1
            });
            input_rows.1[place] += weight;
        }
        let total_weight = complete.weight + incomplete.1.iter().sum::<f64>();
        if total_weight <= 0.0 {
            return Err(Error::invalid("table", "the rows have no weight"));
        }
        Ok(Self {
            phases,
            l2,
            trained: Trained::of(start),
            complete,
            incomplete: Batch::new(n, &incomplete.0, &incomplete.1)?,
            free: Batch::new(n, &input_rows.0, &input_rows.1)?,
            total_weight,
        })
    }

    /// The trainable parameters of a machine with this structure.
    pub fn parameters_of(&self, machine: &Machine) -> Vec<f64> {
        self.trained.parameters_of(machine)
    }

    /// The machine with other trainable parameters.
    pub fn machine_of(&self, parameters: &[f64]) -> Result<Machine> {
        self.trained.machine_of(parameters)
    }

    fn penalty(&self, machine: &Machine) -> f64 {
        let squares = self.trained.edges.iter().map(|&edge| machine.weights()[edge].powi(2));
        0.5 * self.l2 * squares.sum::<f64>()
    }

    /// The gain of a machine with this structure, and what its gradient consists of; without the penalty.
    ///
    /// # Errors
    /// [`Error::CannotDo`] for an engine without log Z, before any work is done.
    pub fn evaluate(&self, machine: &Machine) -> Result<Evaluation> {
        let machine = &self.prepared(machine)?;
        let mut evaluation = Evaluation {
            gain: self.complete.log_weight(machine),
            gain_error: None,
            clamped: self.complete.clone(),
            free: Statistics::zero(machine.graph()),
            guarantee: Guarantee::Exact,
            diagnostics: Diagnostics::direct(),
        };
        if self.incomplete.rows() > 0 {
            let rows = Phase::of_rows(self.phases.clamped, machine, &self.incomplete, true)?;
            evaluation.gain += rows.value;
            evaluation.gain_error = rows.error;
            evaluation.clamped.merge(&required(self.phases.clamped, rows.statistics)?)?;
            evaluation.guarantee = rows.guarantee;
            evaluation.diagnostics = rows.diagnostics;
        }
        let free = Phase::of_rows(self.phases.free, machine, &self.free, true)?;
        evaluation.gain = (evaluation.gain - free.value) / self.total_weight;
        evaluation.gain_error = of_both(evaluation.gain_error, free.error).map(|x| x / self.total_weight);
        evaluation.free = required(self.phases.free, free.statistics)?;
        evaluation.guarantee = evaluation.guarantee.and(free.guarantee.negated());
        evaluation.diagnostics = evaluation.diagnostics.and(free.diagnostics);
        Ok(evaluation)
    }

    /// The gain alone: engines that have log Z without moments are spared these.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn gain(&self, machine: &Machine) -> Result<Gain> {
        let machine = &self.prepared(machine)?;
        let mut gain = Gain {
            value: self.complete.log_weight(machine),
            error: None,
            guarantee: Guarantee::Exact,
            diagnostics: Diagnostics::direct(),
        };
        if self.incomplete.rows() > 0 {
            let rows = Phase::of_rows(self.phases.clamped, machine, &self.incomplete, false)?;
            gain.value += rows.value;
            gain.error = rows.error;
            gain.guarantee = rows.guarantee;
            gain.diagnostics = rows.diagnostics;
        }
        let free = Phase::of_rows(self.phases.free, machine, &self.free, false)?;
        gain.value = (gain.value - free.value) / self.total_weight;
        gain.error = of_both(gain.error, free.error).map(|x| x / self.total_weight);
        gain.guarantee = gain.guarantee.and(free.guarantee.negated());
        gain.diagnostics = gain.diagnostics.and(free.diagnostics);
        Ok(gain)
    }

    /// The machine without its offset, once it is known that both engines have log Z.
    fn prepared(&self, machine: &Machine) -> Result<Machine> {
        let clamped = (self.incomplete.rows() > 0).then_some(self.phases.clamped);
        if let Some(engine) = clamped.into_iter().chain([self.phases.free]).find(|engine| !engine.has_log_z())
        {
            return Err(without_log_z(engine));
        }
        // The offset cancels; left out, it cannot take digits from the difference.
        machine.clone().with_offset(0.0)
    }
}

/// The gain of a machine and what its gradient consists of.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The average log-likelihood of a row, visible given input units.
    pub gain: f64,
    /// Its standard error, where it is an estimate with one.
    pub gain_error: Option<f64>,
    /// Sums over the rows with the table's cells clamped.
    pub clamped: Statistics,
    /// Sums over the rows with the input units clamped alone.
    pub free: Statistics,
    /// What kind of number the gain is.
    pub guarantee: Guarantee,
    /// How the engines fared, both phases together.
    pub diagnostics: Diagnostics,
}

/// The gain of a machine alone; as in [`Evaluation`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// The average log-likelihood of a row, visible given input units.
    pub value: f64,
    /// Its standard error, where it is an estimate with one.
    pub error: Option<f64>,
    /// What kind of number it is.
    pub guarantee: Guarantee,
    /// How the engines fared, both phases together.
    pub diagnostics: Diagnostics,
}

/// One phase: Σ w log Z over rows, and the sums of their moments if they were asked for.
struct Phase {
    value: f64,
    /// The standard error of the value, where it is an estimate with one.
    error: Option<f64>,
    statistics: Option<Statistics>,
    guarantee: Guarantee,
    diagnostics: Diagnostics,
}

impl Phase {
    fn of_rows(engine: &dyn Engine, machine: &Machine, rows: &Batch, statistics: bool) -> Result<Self> {
        let answer = engine.batch(machine, rows, Ask { statistics, means: false })?;
        let log_z = required(engine, answer.log_z)?;
        // Rows are drawn independently of each other.
        let square = |(&row, weight): (&usize, &f64), errors: &[f64]| (weight * errors[row]).powi(2);
        let error = answer.log_z_errors.map(|errors| {
            let rows = rows.given_order().iter().zip(rows.weights());
            rows.map(|row| square(row, &errors)).sum::<f64>().sqrt()
        });
        let weighted = rows.given_order().iter().zip(rows.weights());
        Ok(Self {
            value: weighted.map(|(&row, weight)| weight * log_z[row]).sum(),
            error,
            statistics: answer.statistics,
            guarantee: answer.guarantee,
            diagnostics: answer.diagnostics,
        })
    }
}

/// The standard error of a sum of two independent numbers.
fn of_both(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.hypot(b)),
        (a, b) => a.or(b),
    }
}

/// What the likelihood cannot do without.
fn required<T>(engine: &dyn Engine, part: Option<T>) -> Result<T> {
    part.ok_or_else(|| without_log_z(engine))
}

fn without_log_z(engine: &dyn Engine) -> Error {
    Error::CannotDo {
        who: engine.name(),
        what: "give a likelihood".into(),
        why: format!("it has no log Z; {WITH_LOG_Z}"),
    }
}

impl Objective for InformationGain<'_> {
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let machine = self.machine_of(parameters)?;
        let Evaluation { gain, clamped, free, .. } = self.evaluate(&machine)?;
        let scale = 1.0 / (machine.temperature() * self.total_weight);
        let (edge_part, bias_part) = gradient.split_at_mut(self.trained.edges.len());
        for (slot, &edge) in edge_part.iter_mut().zip(&self.trained.edges) {
            *slot = (clamped.edges[edge] - free.edges[edge]) * scale - self.l2 * machine.weights()[edge];
        }
        for (slot, &unit) in bias_part.iter_mut().zip(&self.trained.biases) {
            *slot = (clamped.means[unit] - free.means[unit]) * scale;
        }
        Ok(gain - self.penalty(&machine))
    }

    fn value(&self, parameters: &[f64]) -> Result<f64> {
        let machine = self.machine_of(parameters)?;
        Ok(self.gain(&machine)?.value - self.penalty(&machine))
    }

    fn gradient_is_of_value(&self) -> bool {
        let clamped = self.incomplete.rows() == 0 || self.phases.clamped.moments_are_derivatives();
        clamped && self.phases.free.moments_are_derivatives()
    }
}

/// Which units an engine must be able to sum out in either phase: with a row of the table clamped, and with its input units clamped alone.
///
/// # Errors
/// A table that does not fit the machine.
///
/// # Example
/// ```
/// use isinglass::{Table, learn, topology};
/// let table = Table::from_rows(["v0", "v1", "v2"], [[1, -1, 1], [1, 0, -1]])?;
/// let (clamped, free) = learn::open(&topology::rbm(3, 2)?, &table)?;
/// assert_eq!(clamped.in_one_row.cells(), [1, 0, 1, 0, 0]);
/// assert_eq!(free.in_one_row.free_count(), 5);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn open(machine: &Machine, table: &Table) -> Result<(Open, Open)> {
    let rows = table.evidence_for(machine)?;
    let is_given = |unit: usize, group: &Group| {
        machine.roles()[unit] == Role::Input && group.free.binary_search(&unit).is_err()
    };
    let clamped = rows.groups().iter().map(|group| group.free.clone());
    let free = rows
        .groups()
        .iter()
        .map(|group| (0..machine.units()).filter(|&unit| !is_given(unit, group)).collect());
    Ok((Open::of(machine.units(), clamped), Open::of(machine.units(), free)))
}
