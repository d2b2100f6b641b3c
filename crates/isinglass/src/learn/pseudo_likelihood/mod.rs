//! Maximum pseudo-likelihood: every unit given all others, without a partition sum.

mod active_set;
mod criterion;
mod curvature;
mod ebic;
mod gain;
mod gaussian;
mod hidden;
mod joint;
mod layout;
mod panels;
mod path;
mod regression;
mod relax;
mod responses;
mod rise;

pub use ebic::{EbicFit, EbicPaths, EbicSettings, Rule};
pub use gain::PseudoGain;
pub(super) use hidden::HiddenGain;
pub use joint::{Joint, Shared, joint};
pub(super) use path::weakest_penalty;
pub use rise::{Rise, RiseSettings};

use self::curvature::Curvature;
use super::journal::Journal;
use super::likelihood::kept_iteration;
use super::notes::{about_likelihood, about_zeros};
use super::origin::Origin;
use super::refit::Selected;
use super::{Checkpoint, Fit, L1, L2, Learner, Observer, penalty};
use crate::engine::{Diagnostics, Guarantee};
use crate::optimize::{self, Method, Optimizer, OptimizerSettings, Start, Visit};
use crate::settings::{Settings, Value, constructors, range, settings};
use crate::{Error, Machine, Result, Table};

/// The name by which users choose the learner.
const NAME: &str = "pseudo-likelihood";

/// Maximises the pseudo-likelihood of complete rows: the sum over visible units of
/// `ln P(s_i | all other units)` (Besag 1975), see [`PseudoGain`].
///
/// It needs no partition sum, so that machines of hundreds of units and any structure are learned
/// in seconds, and it is concave: the optimum is unique. The penalty is `λ/2 Σ w²` for `l2` and `λ
/// Σ |w|` for `l1`, which makes couplings exactly 0: these leave the graph of the machine, as do
/// those below `least`. With `refit` the others are fitted again without penalty, which undoes
/// their shrinkage (the relaxed lasso: Meinshausen 2007). Biases are not penalised. With `l1`, only
/// [`Optimizer::Lbfgs`] is supported, and steps keep to one orthant at a time (Andrew and Gao
/// 2007). [`EbicPaths`] chooses `l1` for each unit by the data.
///
/// [`Optimizer::Lbfgs`] stands here for a quasi-Newton method with more than limited memory: the
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
/// [`Fit::log_likelihood`] is `None`; [`Fit::pseudo_log_likelihood`] is exact, without penalties,
/// while the objective of [`Fit::history`] includes them. With `l1` the gradient there is the
/// one-sided one, which vanishes at an optimum.
///
/// # Example
/// ```
/// use isinglass::{Machine, Table, topology};
/// use isinglass::learn::{L1, Learner, PseudoLikelihood};
/// let table = Table::from_rows(["a", "b"], [[1, 1], [1, 1], [-1, -1], [1, -1], [-1, 1], [-1, -1]])?;
/// let start = topology::full(2).with_names(["a", "b"])?;
/// let fit = PseudoLikelihood::default().fit(&start, &table)?;
/// assert!(fit.converged);
/// assert!((fit.machine.weights()[0] - (1.0f64 / 3.0).atanh()).abs() < 1e-9);
/// let sparse = PseudoLikelihood::new().l1(Some(L1::Weight(0.7)));
/// assert!(sparse.fit(&start, &table)?.machine.weights().is_empty(), "the coupling left the graph");
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PseudoLikelihood {
    pub(crate) settings: PseudoLikelihoodSettings,
}

settings! {
    /// Settings of [`PseudoLikelihood`].
    pub struct PseudoLikelihoodSettings for PseudoLikelihood {
        /// Penalise couplings with X/2 times the sum of their squares; or auto: choose X by
        /// held-out rows [default: 0; where couplings have no finite optimum or rows are few and the
        /// fit is not exact, l2 auto or l1 auto, whichever is better]
        l2 (into): L2 = L2::Unset => penalty::chosen_or_number,
        /// Penalise couplings with X times the sum of their absolute values, which makes many
        /// exactly 0; or auto: choose X by held-out rows; or ebic: choose the penalty of each
        /// column by the extended BIC
        l1: Option<L1> = None,
        /// with l1 ebic: the larger, the fewer couplings; 0 is the plain BIC [default: 0.25]
        gamma: Option<f64> = None => range::not_negative,
        /// with l1 ebic: a coupling stays if both of its columns select it, or if either does
        /// [default: and]
        rule: Option<Rule> = None,
        /// Drop couplings below X (and fit the others again, with refit)
        least: Option<f64> = None => range::not_negative,
        /// Fit the couplings that were not dropped again, without penalty: by exact likelihood where
        /// that is cheap, otherwise by pseudo-likelihood [default: with l1 ebic alone]
        refit: Option<bool> = None,
        /// How to follow the gradient
        optimizer: Optimizer = Optimizer::Lbfgs,
        /// momentum: the rate; adaptive: the length of the first step [default: 0.1]
        rate: Option<f64> = None => range::positive,
        /// momentum: share of the last step that is kept, below 1 [default: 0.9]
        momentum: Option<f64> = None => range::below_1,
        /// Largest number of iterations
        iterations: usize = 1000,
        /// Converged when no component of the gradient is larger
        tolerance: f64 = 1e-9 => range::not_negative,
    }
    common { budget }
    also PseudoLikelihoodSettings::check_together;
}

constructors!(PseudoLikelihood(PseudoLikelihoodSettings));

impl PseudoLikelihoodSettings {
    /// λ of `λ Σ |w|`, where it is a number.
    fn weight(&self) -> f64 {
        self.l1.map_or(0.0, L1::weight)
    }

    /// Whether couplings may become exactly 0.
    pub fn is_sparse(&self) -> bool {
        self.l1.is_some_and(|l1| l1 != L1::Weight(0.0))
    }

    /// What is done with the couplings that are left.
    fn selected(&self) -> Selected {
        let refit = self.refit.unwrap_or(self.l1 == Some(L1::Ebic));
        Selected { least: self.least.unwrap_or(0.0), refit, budget: self.budget }
    }

    fn optimizer_settings(&self) -> OptimizerSettings {
        let method = Method::new(self.optimizer, self.rate, self.momentum);
        OptimizerSettings { method, iterations: self.iterations, tolerance: self.tolerance }
    }

    /// The paths of the extended BIC, if it chooses the penalty.
    fn paths(&self) -> Option<EbicPaths> {
        let usual = EbicSettings::default();
        let (gamma, rule) = (self.gamma.unwrap_or(usual.gamma), self.rule.unwrap_or(usual.rule));
        let relax = self.selected().refit;
        let paths = EbicPaths::new().gamma(gamma).rule(rule).relax(relax).budget(self.budget);
        (self.l1 == Some(L1::Ebic)).then_some(paths)
    }

    fn check_together(&self) -> Result<()> {
        let weight = self.weight();
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(Error::setting("l1", format!("found {weight}, expected {}", L1::expected())));
        }
        let given = [("gamma", self.gamma.is_some()), ("rule", self.rule.is_some())];
        if let Some((setting, _)) = given.into_iter().find(|(_, given)| *given)
            && self.l1 != Some(L1::Ebic)
        {
            return Err(Error::requires(setting, "l1", "ebic"));
        }
        if self.refit == Some(true) && !self.is_sparse() && self.least.is_none() {
            return Err(Error::requires("refit", "l1", ""));
        }
        if self.l1 == Some(L1::Ebic) && (self.l2 == L2::Auto || self.l2.weight() != 0.0) {
            return Err(Error::setting(
                "l2",
                "is not accepted with l1 ebic, which selects its own penalties",
            ));
        }
        if self.l1 == Some(L1::Auto) && self.l2 == L2::Auto {
            return Err(penalty::one_of_them());
        }
        optimize::check_numbers(self.optimizer, self.rate, self.momentum)
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
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        self.check()?;
        let selected = self.selected();
        if let Some(paths) = self.paths() {
            return selected.finish(paths.fit_from(start, table, from, observer)?, table, observer);
        }
        let (optimizer, l1) = (self.optimizer_settings(), self.weight());
        let gain = PseudoGain::new(start, table, self.l2.weight(), self.budget)?;
        let (mut journal, resumed) = Journal::open::<()>(self.origin(start, table), &optimizer, from)?;
        let mut watch =
            |visit: &Visit<'_>| journal.report(visit, &gain.machine_of(visit.parameters)?, &(), observer);
        let from = resumed.as_ref().map(|resumed| &resumed.climb);
        let begin = Start { parameters: gain.parameters_of(start), from };
        let found = if optimizer.method == Method::Lbfgs {
            let mut lambdas = vec![0.0; begin.parameters.len()];
            lambdas[..gain.couplings()].fill(l1);
            let model = Curvature::new(&gain, start, table, self.budget)?;
            optimize::maximize_sparse(&model, &lambdas, begin, &optimizer, &mut watch)?
        } else {
            optimize::maximize(&gain, begin, &optimizer, &mut watch)?
        };
        let history = journal.history;
        let machine = gain.machine_of(&found.parameters)?;
        let kept = kept_iteration(&history, found.converged);
        let size: f64 = found.parameters[..gain.couplings()].iter().map(|w| w.abs()).sum();
        let taken_off = gain.penalty(&found.parameters) + l1 * size;
        let mut notes = about_likelihood(&machine, table);
        if l1 > 0.0 {
            notes.push(about_zeros(&found.parameters[..gain.couplings()]));
        }
        let fit = Fit {
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
        };
        let is_thinned = self.is_sparse() || self.least.is_some() || selected.refit;
        if is_thinned { selected.finish(fit, table, observer) } else { Ok(fit) }
    }
}

impl PseudoLikelihood {
    fn origin<'o>(&self, start: &'o Machine, table: &'o Table) -> Origin<'o> {
        let settings = [
            ("l2", format!("{:?}", self.l2.weight())),
            ("l1", format!("{:?}", self.weight())),
            ("optimizer", format!("{:?}", self.optimizer_settings().method)),
        ];
        Origin::new(NAME, start, table, settings)
    }

    fn check(&self) -> Result<()> {
        self.validate()?;
        self.l2.check_number()?;
        self.l1.map_or(Ok(()), L1::check_number)?;
        if self.weight() > 0.0 && self.optimizer != Optimizer::Lbfgs {
            return Err(penalty::needs_lbfgs(self.optimizer_settings().method.name()));
        }
        Ok(())
    }
}
