//! Maximum pseudo-likelihood: every unit given all others, without a partition sum.

mod curvature;
mod ebic;
mod gain;
mod layout;
mod logistic;
mod panels;
mod path;
mod responses;

pub use ebic::{EbicFit, EbicPaths, Rule};
pub use gain::PseudoGain;

use self::curvature::Curvature;
use super::journal::Journal;
use super::likelihood::kept_iteration;
use super::notes::about_likelihood;
use super::origin::Origin;
use super::{Fit, Learner, Observer, State};
use crate::engine::{Diagnostics, Guarantee};
use crate::optimize::{self, Method, OptimizerSettings, Start, Visit};
use crate::{Budget, Error, Machine, Result, Table};

/// The name by which users choose the learner.
const NAME: &str = "pseudo-likelihood";

/// Maximises the pseudo-likelihood of complete rows: the sum over visible units of
/// `ln P(s_i | all other units)` (Besag 1975), see [`PseudoGain`].
///
/// It needs no partition sum, so that machines of hundreds of units and any structure are learned
/// in seconds, and it is concave: the optimum is unique. The penalty is `λ/2 Σ w²` for `l2` and `λ
/// Σ |w|` for `l1`, which makes couplings exactly 0; biases are not penalised. With
/// `l1`, only [`Method::Lbfgs`] is supported, and steps keep to one orthant at a time (Andrew and
/// Gao 2007). [`EbicPaths`] chooses `l1` for each unit by the data.
///
/// [`Method::Lbfgs`] stands here for a quasi-Newton method with more than limited memory: the
/// curvature of each unit's term is initialised with second moments of the table and corrected by
/// each step (Griewank and Toint 1982).
///
/// # Complexity
/// About ten evaluations of [`PseudoGain`], more for strong couplings. *Memory*: in addition to its
/// own, a bit per cell, and up to 40 numbers per coupling.
///
/// # Accuracy, and when it fails
/// Consistent: for ever more rows drawn from a machine the optimum approaches its weights, with a
/// somewhat larger variance than maximum likelihood. For few rows, or rows that no machine of this
/// structure describes, the two differ. Hidden units and missing cells are refused. A constant
/// column, or one that others determine, has its optimum at infinity: weights grow until the
/// gradient is below the tolerance, and a note says so.
///
/// [`Fit::log_likelihood`] is `None`;
/// [`Fit::pseudo_log_likelihood`] is exact, without penalties, while the objective of [`Fit::history`]
/// includes them. With `l1` the gradient there is the one-sided one, which vanishes at an optimum.
///
/// # Example
/// ```
/// use isinglass::{Machine, Table, topology};
/// use isinglass::learn::{Learner, NoObserver, PseudoLikelihood};
/// let table = Table::from_rows(["a", "b"], [[1, 1], [1, 1], [-1, -1], [1, -1], [-1, 1], [-1, -1]])?;
/// let start = topology::full(2).with_names(["a", "b"])?;
/// let fit = PseudoLikelihood::default().fit(&start, &table, &mut NoObserver)?;
/// assert!(fit.converged);
/// assert!((fit.machine.weights()[0] - (1.0f64 / 3.0).atanh()).abs() < 1e-9);
/// let sparse = PseudoLikelihood { l1: 0.7, ..PseudoLikelihood::default() };
/// assert_eq!(sparse.fit(&start, &table, &mut NoObserver)?.machine.weights(), [0.0]);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PseudoLikelihood {
    /// λ of `λ/2 Σ w²`.
    pub l2: f64,
    /// λ of `λ Σ |w|`.
    pub l1: f64,
    /// How to optimise, and when to stop.
    pub settings: OptimizerSettings,
    /// Memory that may be taken.
    pub budget: Budget,
}

impl Default for PseudoLikelihood {
    fn default() -> Self {
        let settings = OptimizerSettings { tolerance: 1e-9, ..OptimizerSettings::default() };
        Self { l2: 0.0, l1: 0.0, settings, budget: Budget::default() }
    }
}

impl Learner for PseudoLikelihood {
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
        self.check()?;
        let gain = PseudoGain::new(start, table, self.l2, self.budget)?;
        let (mut journal, resumed) = Journal::open::<()>(self.origin(start, table), &self.settings, from)?;
        let mut watch =
            |visit: &Visit<'_>| journal.tell(visit, &gain.machine_of(visit.parameters)?, &(), observer);
        let from = resumed.as_ref().map(|resumed| &resumed.climb);
        let begin = Start { parameters: gain.parameters_of(start), from };
        let found = if self.settings.method == Method::Lbfgs {
            let mut lambdas = vec![0.0; begin.parameters.len()];
            lambdas[..gain.couplings()].fill(self.l1);
            let model = Curvature::new(&gain, start, table, self.budget)?;
            optimize::maximize_sparse(&model, &lambdas, begin, &self.settings, &mut watch)?
        } else {
            optimize::maximize(&gain, begin, &self.settings, &mut watch)?
        };
        let history = journal.history;
        let machine = gain.machine_of(&found.parameters)?;
        let kept = kept_iteration(&history, found.converged);
        let size: f64 = found.parameters[..gain.couplings()].iter().map(|w| w.abs()).sum();
        let taken_off = gain.penalty(&found.parameters) + self.l1 * size;
        let mut notes = about_likelihood(&machine, table);
        if self.l1 > 0.0 {
            notes.push(about_zeros(&found.parameters[..gain.couplings()]));
        }
        Ok(Fit {
            pseudo_log_likelihood: history.get(kept).map(|step| step.objective + taken_off),
            kept,
            history,
            converged: found.converged,
            stopped: found.stopped,
            log_likelihood: None,
            guarantee: Guarantee::Approximation,
            diagnostics: Diagnostics::direct(),
            notes,
            machine,
        })
    }
}

impl PseudoLikelihood {
    fn origin<'o>(&self, start: &'o Machine, table: &'o Table) -> Origin<'o> {
        let settings = [
            ("l2", format!("{:?}", self.l2)),
            ("l1", format!("{:?}", self.l1)),
            ("optimizer", format!("{:?}", self.settings.method)),
        ];
        Origin::new(NAME, start, table, settings)
    }

    fn check(&self) -> Result<()> {
        Error::check_not_negative("l2", self.l2)?;
        Error::check_not_negative("l1", self.l1)?;
        if self.l1 > 0.0 && self.settings.method != Method::Lbfgs {
            return Err(Error::CannotDo {
                who: self.settings.method.name(),
                what: "make couplings exactly 0".into(),
                why: "it knows no penalty with a kink; with l1, take L-BFGS".into(),
            });
        }
        Ok(())
    }
}

/// How many couplings are not 0.
fn about_zeros(couplings: &[f64]) -> String {
    let count = couplings.iter().filter(|&&w| w != 0.0).count();
    format!("{count} of {} couplings are not 0", couplings.len())
}
