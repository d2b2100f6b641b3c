//! Settings of a fit, and learners from them; the core's defaults where nothing is said.

use std::str::FromStr;

use isinglass::learn::{
    ClosedForm, ContrastiveDivergence, EStep, EbicPaths, MStep, MeanFieldCd, Method, OptimizerSettings,
    PseudoLikelihood, PseudoLikelihoodEm, Rule, Singular,
};

use super::{DrawsName, LearnerName, MStepName, OptimizerName, RuleName, SingularName};
use crate::{EngineName, EngineSettings, Usage};

/// A penalty on the absolute values of couplings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum L1 {
    /// So much.
    Weight(f64),
    /// As much as the extended BIC says, for each column.
    Ebic,
}

impl FromStr for L1 {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse::<f64>()) {
            ("ebic", _) => Ok(Self::Ebic),
            (_, Ok(weight)) if weight.is_finite() && weight >= 0.0 => Ok(Self::Weight(weight)),
            _ => Err("expected a finite number of at least 0, or ebic".into()),
        }
    }
}

/// How to fit.
#[expect(clippy::struct_excessive_bools, reason = "each answers a question of its own")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitSettings {
    /// How to learn.
    pub learner: LearnerName,
    /// The penalty on the squares of couplings.
    pub l2: f64,
    /// Fits from so many random starts, of which the best is kept.
    pub restarts: usize,
    /// Whether the start's numbers are where to begin, and not only its structure.
    pub begins_at_start: bool,
    /// likelihood: the engine of the free phase; budget and seed of everything.
    pub engine: EngineSettings,
    /// likelihood: the engine with the table's cells clamped.
    pub clamped_engine: Option<EngineName>,
    /// likelihood: whether the components of a mixture are recorded.
    pub component_history: bool,
    /// likelihood, pseudo-likelihood: how to follow the gradient.
    pub optimizer: Option<OptimizerName>,
    /// The rate of those that have one.
    pub rate: Option<f64>,
    /// The share of the last step that is kept.
    pub momentum: Option<f64>,
    /// Iterations at most; of contrastive divergence, passes over the table.
    pub iterations: Option<usize>,
    /// When to stop.
    pub tolerance: Option<f64>,
    /// pseudo-likelihood: the penalty that makes couplings exactly 0.
    pub l1: Option<L1>,
    /// With [`L1::Ebic`]: the larger, the fewer couplings.
    pub gamma: Option<f64>,
    /// With [`L1::Ebic`]: which couplings stay.
    pub rule: Option<RuleName>,
    /// pl-em: how hidden units and missing cells are drawn.
    pub draws: Option<DrawsName>,
    /// pl-em: sweeps from one draw to the next.
    pub sweeps: Option<usize>,
    /// pl-em: how far the pseudo-likelihood is climbed between draws.
    pub m_step: Option<MStepName>,
    /// contrastive-divergence: rows of a mini-batch.
    pub batch: Option<usize>,
    /// contrastive-divergence, mean-field-cd: sweeps from the rows to the machine's own states.
    pub steps: Option<usize>,
    /// contrastive-divergence: how fast the rate falls.
    pub rate_decay: Option<f64>,
    /// contrastive-divergence: whether the machine's own states go on from where they were.
    pub persistent: bool,
    /// closed-form: what to do if the covariances have no inverse.
    pub singular: Option<SingularName>,
    /// closed-form: whether units react to themselves.
    pub no_self_coupling: bool,
}

impl Default for FitSettings {
    fn default() -> Self {
        Self {
            learner: LearnerName::default(),
            l2: 0.0,
            restarts: 1,
            begins_at_start: false,
            engine: EngineSettings::default(),
            clamped_engine: None,
            component_history: false,
            optimizer: None,
            rate: None,
            momentum: None,
            iterations: None,
            tolerance: None,
            l1: None,
            gamma: None,
            rule: None,
            draws: None,
            sweeps: None,
            m_step: None,
            batch: None,
            steps: None,
            rate_decay: None,
            persistent: false,
            singular: None,
            no_self_coupling: false,
        }
    }
}

impl FitSettings {
    /// The engine with the table's cells clamped.
    pub fn clamped_name(&self) -> EngineName {
        self.clamped_engine.unwrap_or(self.engine.engine.for_rows())
    }

    /// Whether couplings are to be exactly 0.
    pub(super) fn is_sparse(&self) -> bool {
        self.l1.is_some_and(|l1| l1 != L1::Weight(0.0))
    }

    /// How to follow a gradient; where nothing is said, as usual.
    pub(super) fn optimizer(&self, usual: OptimizerSettings) -> OptimizerSettings {
        let method = match self.optimizer {
            None => usual.method,
            Some(OptimizerName::Lbfgs) => Method::Lbfgs,
            Some(OptimizerName::Cg) => Method::Cg,
            Some(OptimizerName::Momentum) => Method::Momentum {
                rate: self.rate.unwrap_or(Method::MOMENTUM_RATE),
                momentum: self.momentum.unwrap_or(Method::MOMENTUM),
            },
            Some(OptimizerName::Adaptive) => {
                Method::Adaptive { rate: self.rate.unwrap_or(Method::ADAPTIVE_RATE) }
            }
        };
        OptimizerSettings {
            method,
            iterations: self.iterations.unwrap_or(usual.iterations),
            tolerance: self.tolerance.unwrap_or(usual.tolerance),
        }
    }

    /// The learner pseudo-likelihood, with the same penalties for all couplings.
    pub(super) fn pseudo_likelihood(&self) -> PseudoLikelihood {
        let l1 = match self.l1 {
            Some(L1::Weight(weight)) => weight,
            None | Some(L1::Ebic) => 0.0,
        };
        let settings = self.optimizer(PseudoLikelihood::default().settings);
        PseudoLikelihood { l2: self.l2, l1, settings, budget: self.engine.budget }
    }

    /// The learner that chooses penalties by the extended BIC, if it is asked for.
    pub(super) fn paths(&self) -> Option<EbicPaths> {
        let usual = EbicPaths::default();
        (self.l1 == Some(L1::Ebic)).then(|| EbicPaths {
            gamma: self.gamma.unwrap_or(usual.gamma),
            rule: match self.rule {
                None | Some(RuleName::And) => Rule::And,
                Some(RuleName::Or) => Rule::Or,
            },
            budget: self.engine.budget,
        })
    }

    /// The learner pl-em.
    pub(super) fn pl_em(&self) -> PseudoLikelihoodEm {
        let usual = PseudoLikelihoodEm::default();
        let e_step = match (self.draws, self.sweeps) {
            (Some(DrawsName::Exact), _) => EStep::Exact,
            (Some(DrawsName::Gibbs), None) => EStep::SOURCE,
            // Sweeps are asked for, and exact draws have none.
            (_, Some(sweeps)) => EStep::Gibbs { sweeps },
            (None | Some(DrawsName::Auto), None) => EStep::Auto,
        };
        let m_step = match self.m_step {
            None | Some(MStepName::Damped) => usual.m_step,
            Some(MStepName::Lbfgs) => MStep::FULL,
            Some(MStepName::Gradient) => MStep::Steps { count: 20, rate: self.rate.unwrap_or(0.01) },
        };
        PseudoLikelihoodEm {
            e_step,
            draws: self.engine.samples.unwrap_or(usual.draws),
            m_step,
            iterations: self.iterations.unwrap_or(usual.iterations),
            tolerance: self.tolerance.unwrap_or(usual.tolerance),
            l2: self.l2,
            seed: self.engine.seed,
            budget: self.engine.budget,
        }
    }

    /// The learner contrastive-divergence.
    pub fn contrastive_divergence(&self) -> ContrastiveDivergence {
        let usual = ContrastiveDivergence::default();
        ContrastiveDivergence {
            steps: self.steps.unwrap_or(usual.steps),
            persistent: self.persistent,
            chains: self.engine.chains,
            batch: self.batch.unwrap_or(usual.batch),
            epochs: self.iterations.unwrap_or(usual.epochs),
            rate: self.rate.unwrap_or(usual.rate),
            rate_decay: self.rate_decay.unwrap_or(usual.rate_decay),
            momentum: self.momentum.unwrap_or(usual.momentum),
            l2: self.l2,
            seed: self.engine.seed,
            budget: self.engine.budget,
            ..usual
        }
    }

    /// The learner mean-field-cd.
    pub(super) fn mean_field_cd(&self) -> MeanFieldCd {
        let usual = MeanFieldCd::default();
        MeanFieldCd {
            steps: self.steps.unwrap_or(usual.steps),
            rate: self.rate.unwrap_or(usual.rate),
            momentum: self.momentum.unwrap_or(usual.momentum),
            l2: self.l2,
            iterations: self.iterations.unwrap_or(usual.iterations),
            tolerance: self.tolerance.unwrap_or(usual.tolerance),
            budget: self.engine.budget,
            ..usual
        }
    }

    /// The learner closed-form.
    pub(super) fn closed_form(&self) -> ClosedForm {
        ClosedForm {
            singular: match self.singular {
                None => Singular::Better,
                Some(SingularName::Lm) => Singular::LevenbergMarquardt,
                Some(SingularName::Shrink) => Singular::Shrinkage,
            },
            self_coupling: !self.no_self_coupling,
            budget: self.engine.budget,
            ..ClosedForm::default()
        }
    }

    /// Refuse numbers that no learner can work with.
    pub(super) fn check_numbers(&self) -> Result<(), Usage> {
        let at_least_0 = [
            ("--l2", Some(self.l2)),
            ("--tolerance", self.tolerance),
            ("--gamma", self.gamma),
            ("--rate-decay", self.rate_decay),
            ("--l1", if let Some(L1::Weight(weight)) = self.l1 { Some(weight) } else { None }),
        ];
        let is_good = |x: f64| x.is_finite() && x >= 0.0;
        if let Some((name, Some(found))) =
            at_least_0.into_iter().find(|(_, x)| x.is_some_and(|x| !is_good(x)))
        {
            return Err(Usage(format!("{name}: found {found}, expected a finite number of at least 0")));
        }
        if let Some(rate) = self.rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
            return Err(Usage(format!("--rate: found {rate}, expected a finite number above 0")));
        }
        if let Some(momentum) = self.momentum.filter(|momentum| !(0.0..1.0).contains(momentum)) {
            let problem =
                format!("--momentum: found {momentum}, expected a number of at least 0 and below 1");
            return Err(Usage(problem));
        }
        let counts = [
            ("--restarts", Some(self.restarts)),
            ("--sweeps", self.sweeps),
            ("--batch", self.batch),
            ("--steps", self.steps),
        ];
        match counts.into_iter().find(|(_, count)| *count == Some(0)) {
            Some((name, _)) => Err(Usage(format!("{name}: found 0, expected a whole number of at least 1"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_penalty_is_a_number_or_left_to_the_data() {
        assert_eq!("0.1".parse(), Ok(L1::Weight(0.1)));
        assert_eq!("ebic".parse(), Ok(L1::Ebic));
        assert!(["-1", "nan", "EBIC ", ""].iter().all(|text| text.parse::<L1>().is_err()));
    }
}
