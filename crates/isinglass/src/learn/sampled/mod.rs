//! Maximum likelihood by sampling: `likelihood` where the free phase is beyond exact engines.

mod conditionals;
mod conjugate;
mod coordinates;
mod curvature;
mod evaluation;
mod finish;
mod penalties;
mod run;

use self::penalties::Penalties;
use self::run::Run;
use super::journal::{Limits, iterate};
use super::likelihood::LikelihoodSettings;
use super::origin::Origin;
use super::{Checkpoint, Fit, Learner, Observer};
use crate::engine::{Engine, Temper};
use crate::optimize::{Optimizer, Period};
use crate::settings::Settings;
use crate::{Error, Machine, Result, Role, Table};

/// The name by which users choose the learner.
const NAME: &str = "likelihood";

/// Learns by maximum likelihood with the moments of persistent tempered chains.
///
/// ```text
/// u ← u + η (C + D)⁻¹ g,    g = ⟨x x⟩_rows − ⟨x x⟩_chains − λ₂ w − λ₁ sgn w
/// ```
///
/// in the coordinates of centred units `x = (s − m)/σ`, in which rare events are as well
/// conditioned as others. C is the covariance of the statistics over the chains' states, so that a
/// step is one of the natural gradient (Amari 1998), damped by D where covariances are known badly.
/// With `l1`, steps keep to one orthant at a time (Andrew and Gao 2007), and couplings that were 0 in
/// most of the averaged steps leave the graph.
/// Steps are held short enough for the chains to follow, and taken back where the likelihood
/// falls. A fit without couplings to start from begins at the pseudo-likelihood's, unless its
/// sampled moments are further from the table's. When g is no larger than its sampling error the number of states is
/// doubled; at the end parameters are averaged over several steps. Where rows are complete and there
/// is no `l1`, what the pseudo-likelihood of the chains' own states shows of their sampling error is
/// then taken off.
///
/// *Accuracy*: with T states in the average, the sampling error adds rows / T to the variance of an
/// exact fit, of which the correction leaves about `1 − e`, with e the efficiency of
/// pseudo-likelihood at this machine; T is forty times the rows, up to a million, of which correlated
/// states leave about a half. *Complexity*: linear in units + couplings for sweeps, plus
/// tens of products of the states with a matrix of the couplings per iteration. *When it fails*:
/// where chains do not mix; the check of the fit on fresh chains shows it.
///
/// # Example
/// ```
/// use isinglass::{Temper, prelude::*};
/// use isinglass::learn::{Learner, SampledLikelihood, start};
/// let truth = topology::sherrington_kirkpatrick(12, 0.7, 1)?;
/// let rows = Enumerate::default().draw(&truth, &Evidence::none(12), 4000, 1)?;
/// let table = Table::from_rows(truth.names(), rows.cells.chunks(12))?;
/// let begin = start(&topology::full(12).with_names(truth.names())?, &table, 0, 0)?;
/// let exact = Enumerate::default();
/// let sampled = SampledLikelihood::new(Temper::new(), &exact).fit(&begin, &table)?;
/// let best = isinglass::learn::Likelihood::new(&exact).fit(&begin, &table)?;
/// assert!(sampled.converged);
/// for (a, b) in sampled.machine.weights().iter().zip(best.machine.weights()) {
///     assert!((a - b).abs() < 0.02);
/// }
/// # Ok::<(), isinglass::Error>(())
/// ```
pub struct SampledLikelihood<'a> {
    engine: Temper,
    clamped: &'a dyn Engine,
    settings: LikelihoodSettings,
}

impl<'a> SampledLikelihood<'a> {
    /// With the engine of the free phase, and one for rows with hidden units or missing cells.
    pub fn new(engine: Temper, clamped: &'a dyn Engine) -> Self {
        Self { engine, clamped, settings: LikelihoodSettings::default() }
    }

    /// With other settings: the penalty and the number of iterations.
    #[must_use]
    pub fn with_settings(self, settings: LikelihoodSettings) -> Self {
        Self { settings, ..self }
    }

    /// Refuses settings of optimisers that need exact gradients.
    fn check(&self, start: &Machine) -> Result<()> {
        self.settings.validate()?;
        self.settings.check_penalties()?;
        let given = LikelihoodSettings::default();
        let LikelihoodSettings { optimizer, rate, momentum, tolerance, .. } = self.settings;
        let refused = [
            ("optimizer", optimizer != Optimizer::default()),
            ("rate", rate.is_some()),
            ("momentum", momentum.is_some()),
            ("tolerance", tolerance != given.tolerance),
        ];
        if let Some((setting, _)) = refused.into_iter().find(|(_, is_given)| *is_given) {
            let why =
                format!("is not supported with the moments of engine {}, which are samples", Temper::NAME);
            return Err(Error::setting(setting, why));
        }
        if start.with_role(Role::Input).next().is_some() {
            return Err(Error::CannotDo {
                who: NAME,
                what: "learn given input units by sampling".into(),
                why:
                    "every row has a free phase of its own; pseudo-likelihood and contrastive-divergence can"
                        .into(),
            });
        }
        Ok(())
    }

    fn origin<'o>(&self, start: &'o Machine, table: &'o Table) -> Origin<'o> {
        let settings = [
            ("l2", format!("{:?}", self.settings.l2.weight())),
            ("l1", format!("{:?}", self.settings.l1_weight())),
            ("engine", self.engine.fingerprint()),
            ("clamped engine", self.clamped.fingerprint()),
        ];
        Origin::new(NAME, start, table, settings)
    }
}

impl Learner for SampledLikelihood<'_> {
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
        self.check(start)?;
        let penalties = Penalties { l2: self.settings.l2.weight(), l1: self.settings.l1_weight() };
        let mut run = Run::new(&self.engine, self.clamped, penalties, start, table)?;
        let limits =
            Limits { iterations: self.settings.iterations, tolerance: 0.0, period: Period::Iteration };
        let ended = iterate(NAME, &mut run, (self.origin(start, table), limits), from, observer)?;
        run.fit(ended, table)
    }
}
