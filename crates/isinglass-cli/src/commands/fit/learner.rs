//! The learners that users can name, and which options are whose.

use clap::ValueEnum;

use self::LearnerName::{
    ClosedForm, ContrastiveDivergence, Factorized, Likelihood, MeanFieldCd, PlEm, PseudoLikelihood,
};
use super::Args;
use crate::engine_options::EngineName;
use crate::options::Usage;

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum LearnerName {
    /// likelihood if --engine is given or an exact engine is within the budget; otherwise pseudo-likelihood, or pl-em with hidden units or missing cells
    Auto,
    /// Maximum likelihood with the expectations of --engine
    Likelihood,
    /// Every column given all others, for hundreds of columns; no hidden units; missing cells are drawn, as by pl-em
    PseudoLikelihood,
    /// Pseudo-likelihood of rows whose hidden and missing units are drawn, again and again
    PlEm,
    /// Contrastive divergence: mini-batches, and a few sweeps from the rows or of persistent chains
    ContrastiveDivergence,
    /// Contrastive divergence with mean field in place of sampling
    MeanFieldCd,
    /// From means and covariances by linear response, for any number of columns; no hidden units, no inputs
    ClosedForm,
    /// Independent units, in closed form
    Factorized,
}

impl LearnerName {
    /// The word by which users name it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Likelihood => "likelihood",
            PseudoLikelihood => "pseudo-likelihood",
            PlEm => "pl-em",
            ContrastiveDivergence => "contrastive-divergence",
            MeanFieldCd => "mean-field-cd",
            ClosedForm => "closed-form",
            Factorized => "factorized",
        }
    }

    /// Those by which the fit may turn out to be made.
    fn possible(self) -> Vec<Self> {
        match self {
            Self::Auto => vec![Likelihood, PseudoLikelihood, PlEm],
            PseudoLikelihood => vec![PseudoLikelihood, PlEm],
            other => vec![other],
        }
    }
}

/// An option, whether it was given, and the learners that have a use for it.
pub(super) type Owned = (&'static str, bool, &'static [LearnerName]);

/// Learners that go from a start to better machines, step by step.
pub(super) const STEPWISE: &[LearnerName] =
    &[Likelihood, PseudoLikelihood, PlEm, ContrastiveDivergence, MeanFieldCd];

/// Learners that can do with hidden units.
const WITH_HIDDEN: &[LearnerName] = &[Likelihood, PlEm, ContrastiveDivergence, MeanFieldCd];

impl Args {
    /// Refuse options that do not go together, before any file is read.
    pub(super) fn check(&self) -> Result<(), Usage> {
        let learners = self.learner.possible();
        self.refuse_idle(&learners, self.learner)?;
        if self.init.is_some() && self.restarts > 1 {
            return Err(Usage("--init gives the one start there is, and --restarts asks for more".into()));
        }
        let shared = shared_with_engines(&learners);
        if learners.contains(&Likelihood) {
            self.engine.check_for(&[self.engine.engine, self.clamped_name()], shared)?;
        } else {
            self.engine.check_for(&[], shared)?;
        }
        if self.component_history.is_some() && self.engine.engine != EngineName::Mixture {
            return Err(Usage("--component-history belongs to --engine mixture".into()));
        }
        self.sparse.check()?;
        if self.sparse.is_ebic() {
            let idle = self.optimizer.owned().into_iter().chain([("--l2", self.l2 != 0.0, STEPWISE)]);
            if let Some((option, ..)) = idle.into_iter().find(|(_, is_given, _)| *is_given) {
                return Err(Usage(format!(
                    "{option} has no use with --l1 ebic, which follows paths of its own"
                )));
            }
        }
        self.draws.check()?;
        self.closed_form.check()?;
        self.check_contrastive()?;
        self.optimizer.check(self.learner, self.draws.steps_are_asked())
    }

    /// Refuse options for which a learner that was chosen by the data has no use.
    pub(super) fn check_for(&self, learner: LearnerName) -> Result<(), Usage> {
        self.refuse_idle(&[learner], learner)
    }

    fn refuse_idle(&self, learners: &[LearnerName], named: LearnerName) -> Result<(), Usage> {
        let is_idle = |owners: &[LearnerName]| !learners.iter().any(|learner| owners.contains(learner));
        let owned = self.owned();
        match owned.iter().find(|(_, given, owners)| *given && is_idle(owners)) {
            None => Ok(()),
            Some((option, _, owners)) => {
                let words: Vec<&str> = owners.iter().map(|owner| owner.word()).collect();
                let (owners, learner) = (words.join(", "), named.word());
                Err(Usage(format!(
                    "{option} belongs to --learner {owners}; the {learner} learner has no use for it"
                )))
            }
        }
    }

    /// Every option that not all learners take.
    fn owned(&self) -> Vec<Owned> {
        let likelihood: &[LearnerName] = &[Likelihood];
        let mut owned: Vec<Owned> = vec![
            ("--hidden", self.structure.hidden > 0, WITH_HIDDEN),
            // What contrastive learners climb orders machines with hidden units badly.
            ("--restarts", self.restarts > 1, &[Likelihood, PlEm]),
            ("--engine", self.engine.engine != EngineName::Auto, likelihood),
            ("--clamped-engine", self.clamped_engine.is_some(), likelihood),
            ("--component-history", self.component_history.is_some(), likelihood),
            ("--l2", self.l2 != 0.0, STEPWISE),
        ];
        owned.extend(self.optimizer.owned());
        owned.extend(self.sparse.owned());
        owned.extend(self.draws.owned());
        owned.extend(self.contrastive.owned());
        owned.extend(self.closed_form.owned());
        owned
    }
}

/// Options of engines that a learner has a use for too.
fn shared_with_engines(learners: &[LearnerName]) -> &'static [&'static str] {
    if learners.contains(&PlEm) {
        &["--samples"]
    } else if learners == [ContrastiveDivergence] {
        &["--chains"]
    } else {
        &[]
    }
}
