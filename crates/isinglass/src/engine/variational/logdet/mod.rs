//! Engine `logdet`: an upper bound from the entropy of a Gaussian.
//!
//! `shape` is about the random sizes of units, `dual` computes bound and gradient as a function of
//! its parameters, `cuts` finds triangle inequalities that tighten it, and `solver` minimises the
//! bound for rows of evidence and batches.

mod cuts;
mod dual;
mod shape;
mod solver;

pub(super) use self::dual::Dual;
use self::solver::{Solver, solve_batch};
use crate::engine::exact::pinned::clamp_pinned;
use crate::engine::{Ask, BatchExpectations, Engine, Expectations, PairMoments, Pairs};
use crate::settings::{Settings, constructors, range, settings};
use crate::table::Batch;
use crate::{Error, Evidence, Machine, Result};

settings! {
    /// Settings of [`LogDet`].
    pub struct LogDetSettings for LogDet {
        /// Largest number of triangle inequalities that tighten the bound
        cuts: usize = 0,
        /// Largest number of iterations; the bound holds after any number of them
        max_sweeps: usize = 1000,
    }
    rust {
        /// Converged when no variance of a unit differs from 1 by more than twice this. The bound
        /// is then off its optimum by second order in this.
        tolerance: f64 = 1e-4 => range::positive,
    }
    common { budget }
}

/// An upper bound on log Z from the covariances alone, for many weak or dense couplings.
///
/// Every unit is given a random positive size, `z_i = s_i r_i` with `E r_i² = 1` and `E r_i = a_i`.
/// Its sign is the unit, so that `H(s) = h(z) − Σ_i h(r_i)`; and of all distributions with the
/// second moments `M_ij = a_i a_j ⟨s_i s_j⟩`, `M_ii = 1`, a Gaussian has the largest entropy:
///
/// ```text
/// ln Z ≤ max over X ⪰ 0, X_ii = 1 of  ½⟨J, X⟩ + ½ ln det M(X) + (n/2) ln(2πe) − Σ_i h(r_i)
/// ```
///
/// A bias is a coupling to one more unit, for which ln 2 is taken off. The dual of the maximum is
/// convex in n multipliers, and each of its values is a bound. With `A = diag(λ) − J`,
/// `c_i² = (1 − a_i²)/a_i²` and the eigenvalues `β_k` of `B_ij = c_i A_ij c_j`,
///
/// ```text
/// ln Z ≤ ½ Σ_i λ_i (1 + c_i²) + ½ Σ_k max over μ ≥ 1 of (ln μ − β_k μ)
///        + ½ Σ_i ln(1 − a_i²) + (n/2) ln(2πe) − Σ_i h(r_i)
/// ```
///
/// The sizes are normal numbers cut off at 0, which for their mean have the largest entropy; the
/// best shape of each unit is found with the multipliers. Half-normal sizes give the relaxation of
/// Wainwright and Jordan 2006 with another covariance of the quantisation noise. Triangle
/// inequalities of X (Barahona and Mahjoub 1986) tighten the bound further (`cuts`).
///
/// Means and pair moments are those of X, the derivatives of the bound.
///
/// *Complexity*: an eigendecomposition, cubic in the free units, for each iteration; some dozens of
/// iterations. *Memory*: about ten matrices of the free units, within the budget.
///
/// *Accuracy*: a bound after any number of iterations, the rounding of the eigenvalues included. On
/// Sherrington–Kirkpatrick glasses it is the tightest bound known here from β = 0.5 up; on ten
/// dense units it is looser than [`Trw`](crate::Trw), whose bound it complements. *When it fails*:
/// sparse graphs, strong biases and low temperatures, where it is loose, and never wrong.
///
/// # Example
/// ```
/// use isinglass::{Engine, Evidence, Guarantee, LogDet, Pairs, Trw, topology};
/// let glass = topology::sherrington_kirkpatrick(60, 1.0, 1)?;
/// let nothing = Evidence::none(60);
/// let bound = LogDet::default().expectations(&glass, &nothing, Pairs::None)?;
/// let trees = Trw::new().width(1).expectations(&glass, &nothing, Pairs::None)?;
/// assert_eq!(bound.guarantee, Guarantee::UpperBound);
/// assert!(bound.log_z < trees.log_z);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LogDet {
    pub(crate) settings: LogDetSettings,
}

constructors!(LogDet(LogDetSettings));

impl LogDet {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "logdet";
}

impl Engine for LogDet {
    identity!();

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        machine.check_evidence(evidence)?;
        PairMoments::check(Self::NAME, pairs, machine.graph(), 1, self.settings.budget)?;
        let evidence = clamp_pinned(machine, evidence, &[]);
        let free: Vec<usize> = evidence.free().collect();
        let solver = Solver::new(self, machine, &free, 1)?;
        let solved = solver.solve(evidence.cells())?;
        Ok(Expectations {
            log_z: Some(solved.log_z),
            correlations: PairMoments::collect(pairs, machine.graph(), |a, b| solver.moment(&solved, a, b)),
            means: solved.means,
            guarantee: solver.guarantee(free.iter().copied()),
            errors: None,
            diagnostics: solved.diagnostics,
        })
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
        solve_batch(self, machine, batch, ask)
    }
}
