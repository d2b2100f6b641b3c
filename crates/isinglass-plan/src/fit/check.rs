//! Which settings of a fit are whose, and which do not go together.

use super::LearnerName::{
    self, Auto, ClosedForm, ContrastiveDivergence, Factorized, Likelihood, MeanFieldCd, PlEm,
    PseudoLikelihood,
};
use super::{DrawsName, FitSettings, L1, MStepName, OptimizerName};
use crate::{EngineName, Named, Usage};

/// A setting, whether it was given, and the learners that have a use for it.
type Owned = (&'static str, bool, &'static [LearnerName]);

/// Learners that go from a start to better machines, step by step.
const STEPWISE: &[LearnerName] = &[Likelihood, PseudoLikelihood, PlEm, ContrastiveDivergence, MeanFieldCd];

/// Learners that can do with hidden units.
const WITH_HIDDEN: &[LearnerName] = &[Likelihood, PlEm, ContrastiveDivergence, MeanFieldCd];

impl LearnerName {
    /// Those by which the fit may turn out to be made.
    fn possible(self) -> Vec<Self> {
        match self {
            Auto => vec![Likelihood, PseudoLikelihood, PlEm],
            PseudoLikelihood => vec![PseudoLikelihood, PlEm],
            other @ (Likelihood | PlEm | ContrastiveDivergence | MeanFieldCd | ClosedForm | Factorized) => {
                vec![other]
            }
        }
    }
}

impl FitSettings {
    /// Refuse settings that do not go together, for a machine that is to have so many hidden units.
    pub fn check(&self, hidden: usize) -> Result<(), Usage> {
        self.check_numbers()?;
        let learners = self.learner.possible();
        self.refuse_idle(hidden, &learners, self.learner)?;
        if self.begins_at_start && self.restarts > 1 {
            return Err(Usage("--init gives the one start there is, and --restarts asks for more".into()));
        }
        let shared = shared_with_engines(&learners);
        if learners.contains(&Likelihood) {
            self.engine.check_for(&[self.engine.engine, self.clamped_name()], shared)?;
        } else {
            self.engine.check_for(&[], shared)?;
        }
        if self.component_history && self.engine.engine != EngineName::Mixture {
            return Err(Usage("--component-history belongs to --engine mixture".into()));
        }
        self.check_sparse()?;
        if self.sweeps.is_some() && self.draws.is_some_and(|draws| draws != DrawsName::Gibbs) {
            return Err(Usage("--sweeps belongs to --draws gibbs".into()));
        }
        if self.no_self_coupling && self.singular.is_some() {
            let problem =
                "--singular has no use with --no-self-coupling: these equations always have a solution";
            return Err(Usage(problem.into()));
        }
        if self.learner == ContrastiveDivergence && self.engine.chains.is_some() && !self.persistent {
            return Err(Usage("--chains belongs to --persistent".into()));
        }
        self.check_optimizer()
    }

    /// Refuse settings for which a learner that was chosen by the data has no use.
    pub(super) fn check_for(&self, learner: LearnerName) -> Result<(), Usage> {
        // Whether it can do with hidden units was part of the choice.
        self.refuse_idle(0, &[learner], learner)
    }

    fn check_sparse(&self) -> Result<(), Usage> {
        let is_ebic = self.l1 == Some(L1::Ebic);
        let given = [(self.gamma.is_some(), "--gamma"), (self.rule.is_some(), "--rule")];
        if let Some((_, option)) = given.into_iter().find(|(is_given, _)| *is_given && !is_ebic) {
            return Err(Usage(format!("{option} belongs to --l1 ebic")));
        }
        let idle = self.of_optimizers().into_iter().chain([("--l2", self.l2 != 0.0, STEPWISE)]);
        match idle.into_iter().find(|(_, is_given, _)| *is_given && is_ebic) {
            Some((option, ..)) => {
                Err(Usage(format!("{option} has no use with --l1 ebic, which follows paths of its own")))
            }
            None => Ok(()),
        }
    }

    /// Refuse settings that do not belong to the optimiser, for learners that have one.
    fn check_optimizer(&self) -> Result<(), Usage> {
        if self.learner == PlEm && self.rate.is_some() && self.m_step != Some(MStepName::Gradient) {
            return Err(Usage("--rate belongs to --m-step gradient".into()));
        }
        if !matches!(self.learner, Auto | Likelihood | PseudoLikelihood) {
            return Ok(());
        }
        let name = self.optimizer.unwrap_or(OptimizerName::Lbfgs);
        if self.rate.is_some() && !matches!(name, OptimizerName::Momentum | OptimizerName::Adaptive) {
            return Err(Usage(format!("--rate belongs to --optimizer momentum and adaptive, not to {name}")));
        }
        if self.momentum.is_some() && name != OptimizerName::Momentum {
            return Err(Usage(format!("--momentum belongs to --optimizer momentum, not to {name}")));
        }
        Ok(())
    }

    fn refuse_idle(&self, hidden: usize, learners: &[LearnerName], named: LearnerName) -> Result<(), Usage> {
        let is_idle = |owners: &[LearnerName]| !learners.iter().any(|learner| owners.contains(learner));
        match self.owned(hidden).iter().find(|(_, given, owners)| *given && is_idle(owners)) {
            None => Ok(()),
            Some((option, _, owners)) => {
                let words: Vec<&str> = owners.iter().map(|owner| owner.word()).collect();
                let owners = words.join(", ");
                Err(Usage(format!(
                    "{option} belongs to --learner {owners}; the {named} learner has no use for it"
                )))
            }
        }
    }

    /// Every setting that not all learners take.
    fn owned(&self, hidden: usize) -> Vec<Owned> {
        let likelihood: &[LearnerName] = &[Likelihood];
        let sampled: &[LearnerName] = &[ContrastiveDivergence];
        let sparse: &[LearnerName] = &[PseudoLikelihood];
        let drawn: &[LearnerName] = &[PlEm];
        let closed: &[LearnerName] = &[ClosedForm];
        let mut owned: Vec<Owned> = vec![
            ("--hidden", hidden > 0, WITH_HIDDEN),
            // What contrastive learners climb orders machines with hidden units badly.
            ("--restarts", self.restarts > 1, &[Likelihood, PlEm]),
            ("--engine", self.engine.engine != EngineName::Auto, likelihood),
            ("--clamped-engine", self.clamped_engine.is_some(), likelihood),
            ("--component-history", self.component_history, likelihood),
            ("--l2", self.l2 != 0.0, STEPWISE),
        ];
        owned.extend(self.of_optimizers());
        owned.extend([
            ("--l1", self.l1.is_some(), sparse),
            ("--gamma", self.gamma.is_some(), sparse),
            ("--rule", self.rule.is_some(), sparse),
            ("--draws", self.draws.is_some(), drawn),
            ("--sweeps", self.sweeps.is_some(), drawn),
            ("--m-step", self.m_step.is_some(), drawn),
            ("--batch", self.batch.is_some(), sampled),
            ("--steps", self.steps.is_some(), &[ContrastiveDivergence, MeanFieldCd]),
            ("--rate-decay", self.rate_decay.is_some(), sampled),
            ("--persistent", self.persistent, sampled),
            ("--singular", self.singular.is_some(), closed),
            ("--no-self-coupling", self.no_self_coupling, closed),
        ]);
        owned
    }

    fn of_optimizers(&self) -> [Owned; 5] {
        let followed: &[LearnerName] = &[Likelihood, PseudoLikelihood];
        let swinging: &[LearnerName] = &[Likelihood, PseudoLikelihood, ContrastiveDivergence, MeanFieldCd];
        let settling: &[LearnerName] = &[Likelihood, PseudoLikelihood, PlEm, MeanFieldCd];
        [
            ("--optimizer", self.optimizer.is_some(), followed),
            ("--rate", self.rate.is_some(), STEPWISE),
            ("--momentum", self.momentum.is_some(), swinging),
            ("--iterations", self.iterations.is_some(), STEPWISE),
            ("--tolerance", self.tolerance.is_some(), settling),
        ]
    }
}

/// Settings of engines that a learner has a use for too.
fn shared_with_engines(learners: &[LearnerName]) -> &'static [&'static str] {
    if learners.contains(&PlEm) {
        &["--samples"]
    } else if learners == [ContrastiveDivergence] {
        &["--chains"]
    } else {
        &[]
    }
}
