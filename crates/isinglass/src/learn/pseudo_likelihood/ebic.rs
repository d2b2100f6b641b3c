//! Sparse couplings by a lasso path for each unit, with the penalty chosen by the extended BIC.

use std::ops::ControlFlow;

use fearless_simd::Level;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::criterion::Best;
use super::panels::Panels;
use super::path::Path;
use super::regression::{Loss, Regression};
use crate::engine::{Diagnostics, Guarantee};
use crate::learn::factorized::{Alone, about_alone};
use crate::learn::notes::about_zeros;
use crate::learn::origin::Origin;
use crate::learn::{Checkpoint, Fit, Learner, Observer, Step, Stop};
use crate::likelihood::filled_pseudo_log_likelihood;
use crate::settings::{Settings, choices, constructors, range, settings};
use crate::{Error, Machine, Note, Result, Role, Table};

/// The ratio of the last λ to the first: with more rows than columns, and otherwise.
pub(super) const SMALLEST: [f64; 2] = [1e-4, 1e-2];

/// The observer is called after at least so many units, and at most so many times. Regressions of
/// units are independent of each other, so this does not change the result.
const OBSERVED: (usize, usize) = (32, 16);

choices! {
    /// Whether a coupling stays that its two columns disagree about.
    pub enum Rule = And {
        /// Both columns select it.
        And = "and",
        /// Either column selects it.
        Or = "or",
    }
}

/// Selects couplings as IsingFit does (van Borkulo et al. 2014): for each unit a logistic
/// regression on all others with the lasso, for falling λ, of which the one with the smallest
/// extended BIC is chosen (Chen and Chen 2008; Foygel and Drton 2010):
///
/// ```text
/// EBIC = −2 Σ_r ln P(s_i | others) + k ln N + 2 γ k ln p        k couplings of p that are possible, N rows
/// ```
///
/// With `relax`, each column's couplings are then fitted without penalty, and single ones leave or
/// enter as long as that lowers the criterion: a lasso takes more couplings than are true to make up
/// for those that it shrinks.
///
/// A coupling stays by the [`Rule`], and is the mean of its two estimates; biases are those of the
/// regressions. Candidates are the edges of the machine's structure, which is kept; couplings not
/// selected are exactly 0.
///
/// The λ are those of glmnet (Friedman, Hastie and Tibshirani 2010): 100 in geometric sequence,
/// from the smallest without couplings down to a ten-thousandth of it, or to a hundredth if there
/// are no more rows than columns. They belong to regressions on standardised columns,
/// `−⟨ln P⟩ + λ Σ_j σ_j |β_j|`, with coefficients `β_ij = 2 w_ij / T`. N is the total weight of the
/// rows. A path also ends where the fit is nearly perfect or no longer improves, as in glmnet, and
/// where it has more couplings than any model with a smaller EBIC could have, or an EBIC that is
/// behind the smallest by the price of twenty couplings.
///
/// Input units have no regressions: a coupling with one has a single estimate. A constant column
/// has no couplings, and the bias that [`Factorized`](crate::learn::Factorized) gives it.
///
/// # Complexity
/// About a hundred quadratic models per unit, `O(r k²)` each for r distinct rows; units run in
/// parallel. *Memory*: two bytes per cell, and some p × p matrices per thread.
///
/// An observer is called after every 32 units or more, with the machine in which the remaining
/// units are independent; a fit that is stopped returns that machine.
///
/// # Accuracy, and when it fails
/// Without `relax`, estimates are shrunk towards 0, as the lasso's are.
/// [`PseudoLikelihood`](super::PseudoLikelihood) with `l1` ebic fits the structure found again. Few selected couplings are
/// wrong, but with few rows many weak ones are missed. Hidden units and missing cells are refused.
///
/// # Example
/// ```
/// use isinglass::{Machine, Table, topology};
/// use isinglass::learn::{EbicPaths, Learner, NoObserver};
/// // a and b are equal in nine rows of ten; c is independent of both.
/// let mut table = Table::new(["a", "b", "c"])?;
/// for (row, weight) in [([1, 1, 1], 90.0), ([-1, -1, 1], 90.0), ([1, -1, 1], 10.0), ([-1, 1, 1], 10.0)] {
///     table.push(&row, weight)?;
///     table.push(&[row[0], row[1], -1], weight)?;
/// }
/// let start = topology::full(3).with_names(["a", "b", "c"])?;
/// let found = EbicPaths::default().solve(&start, &table, &mut NoObserver)?;
/// let weights = found.fit.machine.weights();
/// assert!((weights[0] - 3f64.ln()).abs() < 0.1);
/// assert_eq!(weights[1..], [0.0, 0.0]);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EbicPaths {
    pub(crate) settings: EbicSettings,
}

settings! {
    /// Settings of [`EbicPaths`].
    pub struct EbicSettings for EbicPaths {
        /// The larger, the fewer couplings; 0 is the plain BIC
        gamma: f64 = 0.25 => range::not_negative,
        /// Which couplings stay that one of their two columns selects
        rule: Rule = Rule::And,
        /// Fit the couplings that a column selects without penalty, and let single ones leave or
        /// enter where that lowers the criterion
        relax: bool = false,
    }
    common { budget }
}

constructors!(EbicPaths(EbicSettings));

/// What [`EbicPaths`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct EbicFit {
    /// The fit.
    pub fit: Fit,
    /// For each unit the λ chosen; `None` for input units and units without a regression.
    pub lambdas: Vec<Option<f64>>,
}

/// The regression chosen for a unit: couplings with others and the bias, all divided by T.
#[derive(Clone, Serialize, Deserialize)]
struct Chosen {
    couplings: Vec<(usize, f64)>,
    bias: f64,
    lambda: Option<f64>,
    converged: bool,
}

impl Chosen {
    /// The regression of a unit without couplings.
    fn alone(panels: &Panels, varied: &[bool], unit: usize) -> Self {
        let (weight, mean) = (panels.total_weight, panels.mean(unit));
        let mean = if varied[unit] { mean } else { mean.round() };
        let bias = match Alone::of(weight, weight * mean) {
            Alone::Empty => 0.0,
            Alone::Constant(field) | Alone::Varied(field) => field,
        };
        Self { couplings: Vec::new(), bias, lambda: None, converged: true }
    }
}

/// The numbers of the largest regression.
fn most_numbers(start: &Machine) -> usize {
    (0..start.unit_count()).map(|unit| start.graph().degree(unit)).max().unwrap_or(0) + 1
}

/// The bytes that paths need, with cells in their shortest form.
fn needed(start: &Machine, table: &Table) -> u128 {
    let cells = table.distinct_count() as u128 * start.unit_count() as u128;
    let most = most_numbers(start) as u128;
    2 * cells + 8 * rayon::current_num_threads() as u128 * (4 * most * most + 600 * most)
}

/// The regressions so far, with the remaining units uncoupled.
fn with_rest(
    chosen: &[Option<Chosen>],
    start: &Machine,
    panels: &Panels,
    varied: &[bool],
) -> Vec<Option<Chosen>> {
    let rest = chosen.len()..start.unit_count();
    let alone = |unit| (start.roles()[unit] == Role::Visible).then(|| Chosen::alone(panels, varied, unit));
    chosen.iter().cloned().chain(rest.map(alone)).collect()
}

/// Checks that a state belongs to this machine.
fn check_kept(start: &Machine, history: &[Step], chosen: &[Option<Chosen>]) -> Result<()> {
    let is_of = |(unit, found): (usize, &Option<Chosen>)| {
        let is_visible = start.roles()[unit] == Role::Visible;
        let mut known = found.iter().flat_map(|found| &found.couplings);
        found.is_some() == is_visible
            && known.all(|(other, _)| start.graph().edge_between(unit, *other).is_some())
    };
    if history.is_empty() || chosen.len() > start.unit_count() || !chosen.iter().enumerate().all(is_of) {
        return Err(Error::checkpoint("its regressions are those of another machine"));
    }
    Ok(())
}

impl Learner for EbicPaths {
    fn name(&self) -> &'static str {
        super::NAME
    }

    fn fit_from(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        self.solve_from(start, table, from, observer).map(|found| found.fit)
    }
}

impl EbicPaths {
    /// As [`Learner::fit`], with the λ chosen.
    ///
    /// # Errors
    /// A table that does not fit the machine or whose rows have no weight, hidden units, missing
    /// cells, more memory than the budget has.
    pub fn solve(&self, start: &Machine, table: &Table, observer: &mut dyn Observer) -> Result<EbicFit> {
        self.solve_from(start, table, None, observer)
    }

    /// As [`Learner::fit_from`], with the λ chosen.
    ///
    /// # Errors
    /// Those of [`solve`](Self::solve); a state of another start, table or learner.
    pub fn solve_from(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<EbicFit> {
        self.check(start, table)?;
        let mut panels = Panels::new(super::NAME, start, table)?;
        let cells = table.distinct_count() as u128 * start.unit_count() as u128;
        if self.budget.check(super::NAME, needed(start, table) + 8 * cells, String::new).is_ok() {
            panels.widen();
        }
        let means: Vec<f64> = (0..start.unit_count()).map(|unit| panels.mean(unit)).collect();
        let varied: Vec<bool> = (0..start.unit_count()).map(|unit| panels.is_varied(unit)).collect();
        let visible = |unit: usize| start.roles()[unit] == Role::Visible;
        let settings = [
            ("gamma", format!("{:?}", self.gamma)),
            ("rule", format!("{:?}", self.rule)),
            ("relax", self.relax.to_string()),
        ];
        let origin = Origin::new(super::NAME, start, table, settings);
        let mut chosen: Vec<Option<Chosen>> = Vec::new();
        let mut history: Vec<Step> = Vec::new();
        if let Some(state) = from {
            (history, chosen) = origin.read(state)?;
            check_kept(start, &history, &chosen)?;
        }
        let (least, times) = OBSERVED;
        let block = least.max(start.unit_count().div_ceil(times));
        let mut stopped = false;
        // Even without units, the observer is called once.
        while !stopped && (chosen.len() < start.unit_count() || history.is_empty()) {
            let next = (chosen.len() + block).min(start.unit_count());
            let units = (chosen.len()..next).into_par_iter();
            let choose = |unit| visible(unit).then(|| self.choose(start, &panels, (&varied, &means), unit));
            chosen.extend(units.map(choose).collect::<Vec<_>>());
            let machine = self.combine(start, &with_rest(&chosen, start, &panels, &varied))?;
            let objective = filled_pseudo_log_likelihood(&machine, table, &vec![0.0; start.unit_count()])?;
            let step = Step { iteration: history.len(), objective, gradient_norm: 0.0 };
            history.push(step);
            // Once the result is complete, a request to stop has no effect.
            let flow = observer.step(&step, &machine)?;
            observer.checkpoint(&step, &|| origin.state(&(&history, &chosen)))?;
            stopped = flow == ControlFlow::Break(()) && chosen.len() < start.unit_count();
        }
        let done = chosen.len();
        let chosen = with_rest(&chosen, start, &panels, &varied);
        let machine = self.combine(start, &chosen)?;
        let average = filled_pseudo_log_likelihood(&machine, table, &vec![0.0; start.unit_count()])?;
        let failed = |unit: &usize| chosen[*unit].as_ref().is_some_and(|found| !found.converged);
        let failed: Vec<&str> = (0..start.unit_count()).filter(failed).map(|unit| start.name(unit)).collect();
        let is_lost = |unit: &usize| visible(*unit) && !varied[*unit];
        let lost: Vec<&str> = (0..start.unit_count()).filter(is_lost).map(|unit| start.name(unit)).collect();
        let mut notes: Vec<Note> = about_alone(&lost, &[]).collect();
        notes.extend(Note::of_columns(&failed, Note::UnconvergedColumns));
        let left: Vec<&str> =
            (done..start.unit_count()).filter(|&unit| visible(unit)).map(|unit| start.name(unit)).collect();
        notes.extend(Note::of_columns(&left, Note::ColumnsLeft));
        notes.push(about_zeros(machine.weights()));
        let fit = Fit {
            kept: history.len() - 1,
            history,
            converged: failed.is_empty() && !stopped,
            stopped: if stopped { Stop::Requested } else { Stop::PathsComplete },
            log_likelihood: None,
            guarantee: Guarantee::Approximation,
            pseudo_log_likelihood: Some(average),
            diagnostics: Diagnostics::direct(),
            notes,
            machine,
        };
        let lambdas = chosen.iter().map(|found| found.as_ref().and_then(|found| found.lambda)).collect();
        Ok(EbicFit { fit, lambdas })
    }

    fn check(&self, start: &Machine, table: &Table) -> Result<()> {
        self.validate()?;
        let cells = table.distinct_count() as u128 * start.unit_count() as u128;
        let (most, threads) = (most_numbers(start), rayon::current_num_threads());
        self.budget.check(super::NAME, needed(start, table), || {
            format!("{cells} cells, with matrices of {most} × {most} on {threads} threads,")
        })
    }

    /// Chooses the regression of one unit along its path.
    fn choose(
        &self,
        start: &Machine,
        panels: &Panels,
        (varied, means): (&[bool], &[f64]),
        unit: usize,
    ) -> Chosen {
        let around = start.graph().neighbours(unit);
        let others: Vec<usize> = around.map(|(other, _)| other).filter(|&other| varied[other]).collect();
        if others.is_empty() || !varied[unit] {
            return Chosen::alone(panels, varied, unit);
        }
        let regression = Regression { panels, unit, loss: Loss::Logistic, level: Level::new() };
        let possible = others.len();
        let path = Path::new(regression, others.clone(), means);
        let rows = panels.total_weight;
        let price = rows.max(1.0).ln() + 2.0 * self.gamma * (possible as f64).ln();
        let ratio = if rows > varied.len() as f64 { SMALLEST[0] } else { SMALLEST[1] };
        let Best { path: best, penalty, converged } = Best::of(path, price, ratio, self.relax);
        let couplings = best.couplings;
        let bias = couplings[possible];
        Chosen {
            couplings: others.into_iter().zip(couplings).filter(|(_, w)| *w != 0.0).collect(),
            bias,
            // Couplings are half the coefficients of a logistic regression: the penalty is twice
            // its λ.
            lambda: Some(0.5 * penalty),
            converged,
        }
    }

    /// Combines the regressions.
    fn combine(&self, start: &Machine, chosen: &[Option<Chosen>]) -> Result<Machine> {
        let temperature = start.temperature();
        let coupling = |unit: usize, other: usize| {
            let found = chosen[unit].as_ref()?;
            let place = found.couplings.binary_search_by_key(&other, |(other, _)| *other);
            Some(place.map_or(0.0, |place| found.couplings[place].1))
        };
        let weigh = |((a, b), old): ((usize, usize), f64)| match (coupling(a, b), coupling(b, a)) {
            (Some(x), Some(y)) if self.rule == Rule::And && (x == 0.0 || y == 0.0) => 0.0,
            (Some(x), Some(y)) => 0.5 * (x + y) * temperature,
            (Some(x), None) | (None, Some(x)) => x * temperature,
            (None, None) => old,
        };
        let edges = start.graph().edges().iter().copied();
        let weights = edges.zip(start.weights().iter().copied()).map(weigh).collect();
        let own = chosen.iter().zip(start.biases());
        let biases =
            own.map(|(found, &old)| found.as_ref().map_or(old, |found| found.bias * temperature)).collect();
        start.clone().with_parameters(weights, biases)
    }
}
