//! Couplings and biases that depend linearly on covariates, by pseudo-likelihood.

mod errors;
mod joint;
mod newton;
mod selection;

use self::joint::Joint;
use self::newton::{Penalty, maximize};
use super::pseudo_likelihood::PseudoLikelihood;
use super::{L1, Rule};
use crate::machine::{Moderated, Moderator};
use crate::optimize::Optimizer;
use crate::settings::Settings;
use crate::{Error, Machine, Note, Result, Role, Table};

const NAME: &str = "pseudo-likelihood";

/// Parameters beyond this exceed what rows can determine: two units coupled so strongly differ about
/// once in ten million rows.
const UNBOUNDED: f64 = 8.0;

/// A table whose rows have covariates.
#[derive(Debug, Clone, Copy)]
pub struct CovariateRows<'a> {
    /// The cells, with the rows in the order in which they were pushed.
    pub table: &'a Table,
    /// For each covariate its name and the value in each row; NaN where it is missing.
    pub covariates: &'a [(String, Vec<f64>)],
}

/// What [`PseudoLikelihood::fit_moderated`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeratedFit {
    /// The machine and how it changes.
    pub machine: Moderated,
    /// Standard errors of the base's couplings, then its biases, then in the same way those of each
    /// moderator; NaN for parameters that were not selected. `None` with a penalty that shrinks
    /// couplings towards 0 (`l1` without `refit`), or beyond the budget.
    pub errors: Option<Vec<f64>>,
    /// The average pseudo-log-likelihood of a row, without penalties.
    pub pseudo_log_likelihood: f64,
    /// Whether the gradient fell below the tolerance.
    pub converged: bool,
    /// Steps of Newton's method.
    pub iterations: usize,
    /// Rows that were used.
    pub rows: usize,
    /// What the user should know.
    pub notes: Vec<Note>,
}

impl PseudoLikelihood {
    /// Fits couplings and biases that depend linearly on covariates, which are standardised to mean 0
    /// and variance 1 over the rows that are used:
    ///
    /// ```text
    /// ln P(s_i | others, x) = −ln(1 + exp(−2 s_i h_i))        h_i = Σ_k z_k (u_ik + Σ_j v_ijk s_j),  z_0 = 1
    /// ```
    ///
    /// All couplings, moderated ones as well, have the penalties of the settings; biases have none.
    /// With `l1 ebic`, each unit's regression chooses its penalty by the extended BIC, a coupling or
    /// its change with a covariate is kept where `rule` says so, the coupling itself wherever any of
    /// its changes is kept, and all that was kept is fitted again without penalty unless `refit` is
    /// false.
    ///
    /// Standard errors are those of the composite likelihood (Godambe 1960; Varin, Reid and Firth
    /// 2011): `H⁻¹ J H⁻¹ / N` with H the curvature and J the variance of the rows' gradients. They
    /// take a selection as given.
    ///
    /// # Complexity
    /// With p parameters in all and q of a unit, `O(rows · units · q² + p³)` for each of about ten
    /// steps. *Memory*: the features of all regressions, and some p × p matrices.
    ///
    /// # Errors
    /// Hidden units; covariates that are constant or do not fit the rows; `l1` or `l2 auto`; other
    /// optimizers than the default; too few complete rows; more memory than the budget has.
    ///
    /// # Example
    /// ```
    /// use isinglass::learn::{CovariateRows, PseudoLikelihood};
    /// use isinglass::{Table, topology};
    /// // Two columns agree where x is large, and differ where it is small.
    /// let mut table = Table::new(["a", "b"])?;
    /// let mut x = Vec::new();
    /// for k in 0..400i32 {
    ///     let up = if k % 2 == 0 { 1 } else { -1 };
    ///     let high = k % 8 < 4;
    ///     let agrees = high != (k % 5 == 0);
    ///     table.push(&[up, if agrees { up } else { -up }], 1.0)?;
    ///     x.push(if high { 1.0 } else { -1.0 });
    /// }
    /// let rows = CovariateRows { table: &table, covariates: &[("x".to_owned(), x)] };
    /// let start = topology::full(2).with_names(["a", "b"])?;
    /// let fit = PseudoLikelihood::default().fit_moderated(&start, &rows)?;
    /// assert!(fit.converged);
    /// assert!(fit.machine.at(&[("x", 1.0)])?.weights()[0] > 0.5);
    /// assert!(fit.machine.at(&[("x", -1.0)])?.weights()[0] < -0.5);
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn fit_moderated(&self, start: &Machine, rows: &CovariateRows<'_>) -> Result<ModeratedFit> {
        let settings = &self.settings;
        settings.validate()?;
        settings.l2.check_number()?;
        settings.l1.map_or(Ok(()), L1::check_number)?;
        if settings.optimizer != Optimizer::Lbfgs {
            return Err(Error::setting(
                "optimizer",
                "is not supported with covariates: Newton's method is used",
            ));
        }
        let prepared = Prepared::of(start, rows)?;
        let joint = Joint::new(start, &prepared, settings.budget)?;
        let count = joint.parameters();
        let is_coupling: Vec<bool> = (0..count).map(|place| joint.is_coupling(place)).collect();
        let mut notes = Vec::new();
        if prepared.left_out > 0 {
            notes.push(Note::RowsLeftOut { rows: prepared.left_out });
        }
        let l2: Vec<f64> =
            is_coupling.iter().map(|&is| if is { settings.l2.weight() } else { 0.0 }).collect();
        let mut penalty = Penalty { l1: vec![0.0; count], l2, free: vec![true; count] };
        let is_ebic = settings.l1 == Some(L1::Ebic);
        if is_ebic {
            let rule = settings.rule.unwrap_or(Rule::And);
            let gamma = settings.gamma.unwrap_or(super::EbicSettings::default().gamma);
            penalty.free = selection::selected(&joint, gamma, rule, settings.iterations);
        } else {
            let l1 = settings.l1.map_or(0.0, L1::weight);
            penalty.l1 = is_coupling.iter().map(|&is| if is { l1 } else { 0.0 }).collect();
        }
        let evaluate = |parameters: &[f64], curved: bool| joint.evaluate(parameters, curved);
        let limits = (settings.iterations, settings.tolerance);
        let mut found = maximize(&evaluate, vec![0.0; count], &penalty, limits);
        let refits = settings.refit.unwrap_or(is_ebic);
        let is_shrunk = !is_ebic && penalty.l1.iter().any(|&l1| l1 > 0.0);
        if is_shrunk && refits {
            penalty.free = is_coupling
                .iter()
                .zip(&found.parameters)
                .map(|(is_coupling, x)| !is_coupling || *x != 0.0)
                .collect();
            penalty.l1 = vec![0.0; count];
            found = maximize(&evaluate, found.parameters, &penalty, limits);
        }
        let kept = |place: &usize| is_coupling[*place] && found.parameters[*place] != 0.0;
        if is_ebic || is_shrunk {
            let couplings = is_coupling.iter().filter(|is| **is).count();
            notes.push(Note::NotZero { count: (0..count).filter(kept).count(), couplings });
        }
        let largest = found.parameters.iter().map(|x| x.abs()).fold(0.0, f64::max);
        if largest > UNBOUNDED {
            notes.push(Note::Unbounded { largest });
        }
        let errors = if is_shrunk && !refits {
            None
        } else {
            errors::standard_errors(&joint, &found.parameters, &penalty, settings.budget)
        };
        let (value, ..) = joint.evaluate(&found.parameters, false);
        Ok(ModeratedFit {
            machine: prepared.machine(start, &found.parameters)?,
            errors,
            pseudo_log_likelihood: value,
            converged: found.converged,
            iterations: found.iterations,
            rows: prepared.weights.len(),
            notes,
        })
    }
}

/// Complete rows with standardised covariates.
struct Prepared {
    /// The cells of each unit, one after another.
    cells: Vec<f64>,
    /// For each covariate the values of all rows, standardised.
    z: Vec<Vec<f64>>,
    /// The weights of the rows, which add up to 1.
    weights: Vec<f64>,
    /// What they added up to.
    total: f64,
    /// Names, means and deviations of the covariates.
    scales: Vec<(String, f64, f64)>,
    left_out: usize,
}

impl Prepared {
    fn of(start: &Machine, rows: &CovariateRows<'_>) -> Result<Self> {
        if start.with_role(Role::Hidden).next().is_some() {
            return Err(Error::CannotDo {
                who: NAME,
                what: "moderate couplings of hidden units".into(),
                why: "conditionals are those of observed units".into(),
            });
        }
        let (table, n) = (rows.table, start.unit_count());
        let mut columns = vec![0; n];
        for (column, unit) in table.positions_in(start)?.into_iter().enumerate() {
            columns[unit] = column;
        }
        let count = table.row_count();
        for (name, values) in rows.covariates {
            Error::check_length("values of a covariate", values.len(), count)?;
            if let Some(row) = values.iter().position(|value| value.is_infinite()) {
                let place = format!("row {}, covariate '{name}'", row + 1);
                return Err(Error::invalid(place, "found an infinite number"));
            }
        }
        if table.total_weight() != count as f64 {
            return Err(Error::setting("moderate", "is not supported for rows with weights"));
        }
        let is_complete = |&row: &usize| {
            let cells = table.row(table.distinct_of()[row] as usize);
            columns.iter().all(|&column| cells[column] != 0)
                && rows.covariates.iter().all(|(_, values)| !values[row].is_nan())
        };
        let kept: Vec<usize> = (0..count).filter(is_complete).collect();
        if kept.len() < 2 {
            return Err(Error::invalid("table", "fewer than two rows have all cells and covariates"));
        }
        let size = kept.len() as f64;
        let (mut z, mut scales) = (Vec::new(), Vec::new());
        for (name, values) in rows.covariates {
            let mean = kept.iter().map(|&row| values[row]).sum::<f64>() / size;
            let deviation = (kept.iter().map(|&row| (values[row] - mean).powi(2)).sum::<f64>() / size).sqrt();
            if deviation <= 1e-12 * mean.abs() || deviation == 0.0 {
                return Err(Error::invalid(format!("covariate '{name}'"), format!("is {mean} in all rows")));
            }
            z.push(kept.iter().map(|&row| (values[row] - mean) / deviation).collect());
            scales.push((name.clone(), mean, deviation));
        }
        let mut cells = Vec::with_capacity(n * kept.len());
        for &column in &columns {
            cells.extend(
                kept.iter().map(|&row| f64::from(table.row(table.distinct_of()[row] as usize)[column])),
            );
        }
        Ok(Self {
            cells,
            z,
            weights: vec![1.0 / size; kept.len()],
            total: size,
            scales,
            left_out: count - kept.len(),
        })
    }
}

impl Prepared {
    /// The machine with its parameters, in the order of [`Joint`].
    fn machine(&self, start: &Machine, parameters: &[f64]) -> Result<Moderated> {
        let edges = start.weights().len();
        let part = |k: usize| {
            let own = &parameters[k * (edges + start.unit_count())..(k + 1) * (edges + start.unit_count())];
            (own[..edges].to_vec(), own[edges..].to_vec())
        };
        let (weights, biases) = part(0);
        let base = start.clone().with_parameters(weights, biases)?;
        let moderators = self.scales.iter().enumerate().map(|(k, (name, mean, deviation))| {
            let (weights, biases) = part(k + 1);
            Moderator { name: name.clone(), mean: *mean, deviation: *deviation, weights, biases }
        });
        Moderated::new(base, moderators.collect())
    }
}
