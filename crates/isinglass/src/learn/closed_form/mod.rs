//! Learning without a gradient: mean field with linear response, solved for the weights.

mod moments;
mod outcome;
mod precision;
mod remedies;
mod selection;
mod singular;

use self::moments::Moments;
use self::outcome::{Outcome, Record};
use self::precision::Free;
use super::judge::some_rows;
use super::origin::Origin;
use super::{Checkpoint, Factorized, Fit, Learner, Observer};
use crate::engine::{Diagnostics, Guarantee};
use crate::likelihood::filled_pseudo_log_likelihood;
use crate::numeric::dense::Matrix;
use crate::settings::{Settings, choices, constructors, range, settings};
use crate::{Error, Graph, Machine, Note, Result, Role, Table};

/// Computes weights and biases from means and covariances: Kappen & Rodríguez 1997, sections 3.4
/// and 4.1.
///
/// Linear response gives the covariances of a machine in mean field theory as a matrix A with the
/// inverse `δ_ij/(1 − m_i²) − w_ij` (eq. 23). Equated to those of the table, `m_i = ⟨s_i⟩` and
/// `C_ij = ⟨s_i s_j⟩ − m_i m_j`, it can be solved (eqs. 34–35; here with a temperature):
///
/// ```text
/// w_ij = T [ δ_ij/(1 − m_i²) − (C⁻¹)_ij ]        θ_i = T artanh m_i − Σ_j w_ij m_j
/// ```
///
/// The self-couplings `w_ii` stand for the reaction of the units to themselves, which mean field
/// theory leaves out; they enter the biases only.
///
/// # Three cases
/// * *All units joined, self-couplings*: the formula. If C is singular, see [`Singular`]: if the
///   others explain all but a millionth of some unit's variance, linearly, or if C is not positive
///   definite (pairwise estimates from rows with missing cells need not be).
/// * *Without self-couplings*, "lr0" in the source: eq. 33 for i ≠ j, `w_ii = 0`. There is always
///   one solution with a positive definite A, the maximum of a concave function; Newton's method
///   finds it, in place of the source's least squares.
/// * *A structure that is not full*: eq. 33 for its edges and the diagonal, weights of 0 elsewhere.
///   That is covariance selection (Dempster 1972), by the same method. The formula for all pairs
///   with weights outside the structure dropped would solve nothing.
///
/// A constant or empty column has no couplings, and the bias that [`Factorized`](super::Factorized)
/// gives it. With missing cells each correlation is that of the rows that have both.
///
/// # Complexity
/// O(n² r / 64) for counting r distinct rows, and O(n³); if singular or without a formula, O(n³)
/// per iteration. *Memory*: at most a dozen n × n matrices.
///
/// # Accuracy, and when it fails
/// An approximation for weak couplings or few rows, worse the stronger the couplings are: those of
/// two units alone are `O(w³)` too large. For random rows, twice as many as units, the divergence
/// from the best machine is about a tenth of that of independent units (3 to 9 units). Hidden and
/// input units are refused: there is no closed form for them.
///
/// Least squares for a structure that is not full are refused, too.
///
/// [`Fit::history`] has one step for a formula, otherwise one per iteration. The objective is, for
/// least squares and shrinkage, minus half the squares of `A − C` as correlations; for Newton's
/// method, the log-likelihood of a Gaussian on the standardised columns, up to a constant.
/// [`Fit::remedy`] says how singular covariances were treated.
///
/// # Example
/// ```
/// use isinglass::{Machine, Table, topology};
/// use isinglass::learn::{ClosedForm, Learner};
/// let table = Table::from_rows(["a", "b"], [[1, 1], [1, 1], [-1, -1], [1, -1], [-1, 1], [-1, -1]])?;
/// let start = topology::full(2).with_names(["a", "b"])?;
/// let fit = ClosedForm::default().fit(&start, &table)?;
/// // C = [[1, r], [r, 1]] with r = 1/3: the weight is r / (1 − r²), and the exact one would be artanh r = 0.347.
/// assert!((fit.machine.weights()[0] - 0.375).abs() < 1e-12);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClosedForm {
    pub(crate) settings: ClosedFormSettings,
}

settings! {
    /// Settings of [`ClosedForm`].
    pub struct ClosedFormSettings for ClosedForm {
        /// What to do if the covariances have no inverse
        singular: Singular = Singular::Better,
        /// Solve without self-couplings, as if units did not react to themselves; always has a
        /// solution, mostly a worse one
        no_self_coupling: bool = false,
    }
    rust {
        /// Largest number of iterations, where there are any.
        iterations: usize = 200,
        /// Least squares end when no element of `A − C`, as correlations, is larger. Where C is
        /// singular, they reach 0 with infinite weights only: the weights found are about
        /// 1/tolerance.
        tolerance: f64 = 1e-3 => range::positive,
    }
    common { budget }
    also ClosedFormSettings::check_together;
}

constructors!(ClosedForm(ClosedFormSettings));

impl ClosedFormSettings {
    fn check_together(&self) -> Result<()> {
        if self.no_self_coupling && self.singular != Singular::Better {
            let problem = "is not accepted without self-couplings: these equations always have a solution";
            return Err(Error::setting("singular", problem));
        }
        Ok(())
    }
}

choices! {
    /// What [`ClosedForm`] does if the covariances have no inverse.
    pub enum Singular = Better {
        /// Whichever of the other two gives the rows the larger pseudo-likelihood (missing cells at
        /// their columns' means); shrinkage for a structure that is not full.
        Better = "better",
        /// Least squares by Levenberg–Marquardt, as in the source: large couplings, what the rows
        /// never do becomes impossible. For a full structure only.
        LevenbergMarquardt = "lm",
        /// Shrink the covariances towards independence (Ledoit and Wolf 2003), as far as the number
        /// of rows requires: moderate couplings, better for rows not seen.
        Shrinkage = "shrink",
    }
}

/// How singular covariances were treated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Remedy {
    /// Nothing: the equations had a solution.
    None,
    /// Least squares.
    LevenbergMarquardt,
    /// Shrinkage, by this λ.
    Shrinkage(f64),
}

impl Fit {
    /// How [`ClosedForm`] treated singular covariances, as the notes say.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        let remedy = |note: &Note| match note {
            Note::LeastSquares { .. } => Some(Remedy::LevenbergMarquardt),
            Note::Shrunk { share, .. } => Some(Remedy::Shrinkage(*share)),
            _ => None,
        };
        self.notes.iter().find_map(remedy).unwrap_or(Remedy::None)
    }
}

impl Remedy {
    /// `none`, `lm` or `shrink`.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::LevenbergMarquardt => "lm",
            Self::Shrinkage(_) => "shrink",
        }
    }
}

/// The name by which users choose the learner.
const NAME: &str = "closed-form";

/// Rows on which the machine is compared with one without couplings: few, to be cheap.
const JUDGED_ROWS: usize = 200;

/// Most n × n matrices in memory at once.
const MATRICES: u128 = 14;

/// Covariances are singular if the inverse of their correlations has a larger diagonal element: 1
/// over the share of a unit's variance that the others do not explain.
const LARGEST_INFLATION: f64 = 1e6;

impl Learner for ClosedForm {
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
        self.check(start, table)?;
        let moments = Moments::of(start, table)?;
        let settings = [
            ("singular", format!("{:?}", self.singular)),
            ("self-coupling", (!self.no_self_coupling).to_string()),
            ("tolerance", format!("{:?}", self.tolerance)),
        ];
        let origin = Origin::new(NAME, start, table, settings);
        let mut record = Record::new((start, &moments), origin, from, self.iterations, observer)?;
        let coupled = among(start.graph(), &moments.units)?;
        let pairs = moments.size() * moments.size().saturating_sub(1) / 2;
        let outcome = match (coupled.edges().len() == pairs, !self.no_self_coupling) {
            (true, true) => match inverse(&moments.correlations) {
                Some(precision) => Outcome::formula(&mut record, precision, 0.0)?,
                None => self.remedied(table, &mut record)?,
            },
            (true, false) => self.by_newton(&Free::Pairs, &mut record)?,
            (false, diagonal) => self.by_newton(&Free::Edges { graph: &coupled, diagonal }, &mut record)?,
        };
        let gaps = moments.has_gaps.then_some(Note::PairwiseCorrelations);
        let machine = moments.machine(start, &outcome.precision)?;
        let [coupled, alone] = qualities(&machine, start, table, &moments.fill)?;
        let is_whole = table.distinct_count() <= JUDGED_ROWS;
        let useless = (coupled < alone).then_some(Note::WorseThanIndependent {
            coupled,
            independent: alone,
            rows: (!is_whole).then_some(JUDGED_ROWS),
        });
        Ok(Fit {
            machine,
            kept: outcome.history.len().saturating_sub(1),
            history: outcome.history,
            converged: outcome.converged,
            stopped: outcome.stopped,
            log_likelihood: None,
            guarantee: Guarantee::Approximation,
            // Of some rows, or with gaps filled, it would not be the table's.
            pseudo_log_likelihood: (is_whole && !moments.has_gaps).then_some(coupled),
            diagnostics: Diagnostics::direct(),
            notes: moments.notes.iter().cloned().chain(gaps).chain(outcome.notes).chain(useless).collect(),
        })
    }
}

impl ClosedForm {
    fn check(&self, start: &Machine, table: &Table) -> Result<()> {
        self.validate()?;
        let has = |role: Role| start.with_role(role).next().is_some();
        if has(Role::Hidden) {
            let why = "its equations take the moments of every unit from the table; the learner likelihood can do it";
            return Err(Error::CannotDo {
                who: self.name(),
                what: "learn hidden units".into(),
                why: why.into(),
            });
        }
        if has(Role::Input) {
            let what = "learn visible units given input units".into();
            let why = "its equations are those of all units together; make the inputs visible and clamp them when asking, or take \
                       the learner likelihood";
            return Err(Error::CannotDo { who: self.name(), what, why: why.into() });
        }
        if table.total_weight() <= 0.0 {
            return Err(Error::invalid("table", "the rows have no weight"));
        }
        let n = start.unit_count() as u128;
        let cells = table.distinct_count() as u128 * n;
        // Cells are also stored as bits, and in the machine's order.
        self.budget.check(self.name(), 8 * MATRICES * n * n + 2 * cells, || {
            format!("{MATRICES} matrices of {n} × {n} units, with {cells} cells to count,")
        })
    }
}

/// The pseudo-log-likelihood of the machine, and of one without couplings, on some of the rows.
fn qualities(machine: &Machine, start: &Machine, table: &Table, fill: &[f64]) -> Result<[f64; 2]> {
    let table = some_rows(table, JUDGED_ROWS)?;
    let alone = Factorized.fit(start, &table)?.machine;
    Ok([
        filled_pseudo_log_likelihood(machine, &table, fill)?,
        filled_pseudo_log_likelihood(&alone, &table, fill)?,
    ])
}

/// The graph among some units, given in ascending order and renumbered.
fn among(graph: &Graph, units: &[usize]) -> Result<Graph> {
    let mut place = vec![usize::MAX; graph.unit_count()];
    for (k, &unit) in units.iter().enumerate() {
        place[unit] = k;
    }
    let edges = graph.edges().iter().map(|&(a, b)| (place[a], place[b]));
    Graph::from_sorted(units.len(), edges.filter(|&(a, b)| a.max(b) < usize::MAX).collect())
}

/// The inverse of the correlations, unless they are singular.
fn inverse(correlations: &Matrix) -> Option<Matrix> {
    let inverse = correlations.cholesky()?.inverse();
    // The comparison also fails for NaN.
    let is_small = |k: usize| inverse[(k, k)] <= LARGEST_INFLATION;
    (0..inverse.size()).all(is_small).then_some(inverse)
}
