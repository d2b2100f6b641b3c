//! Requests for a fit: the learner, its settings, and which of them go together.

use std::collections::BTreeSet;
use std::sync::Arc;

use isinglass::Table;
use isinglass::learn::{L1, L2, PseudoLikelihoodSettings};
use isinglass::message::Setting;
use isinglass::settings::Common;
use serde::Deserializer;

use crate::groups::LearnerGroup;
use crate::{EngineName, EngineSettings, LearnerName, Usage};

/// How to fit. The core's defaults hold where nothing was given.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct FitSettings {
    /// The learner.
    pub learner: LearnerName,
    /// The number of random starts, of which the best result is kept.
    pub restarts: usize,
    /// Whether the fit starts with the numbers of the given machine, and not only its structure.
    pub keeps_start: bool,
    /// likelihood: the engine of the free phase; budget and seed of everything.
    pub engine: EngineSettings,
    /// likelihood: the engine of the clamped phase.
    pub clamped_engine: Option<EngineName>,
    /// likelihood: whether the components of a mixture are recorded.
    pub component_history: bool,
    /// Whether hidden units are added while held-out rows get more probable.
    pub grows: bool,
    /// Whether a fit whose free phase is not exact is checked by fresh draws.
    pub check: bool,
    /// Rows that choose the penalty, in place of some of the table's.
    pub validate: Option<Arc<Table>>,
    pub(crate) group: LearnerGroup,
    /// The settings of learners that were given.
    pub(crate) given: BTreeSet<&'static str>,
}

impl Default for FitSettings {
    fn default() -> Self {
        Self {
            learner: LearnerName::default(),
            restarts: 1,
            keeps_start: false,
            engine: EngineSettings::default(),
            clamped_engine: None,
            component_history: false,
            grows: false,
            check: true,
            validate: None,
            group: LearnerGroup::default(),
            given: BTreeSet::new(),
        }
    }
}

impl LearnerName {
    /// Whether it accepts a setting.
    #[must_use]
    pub fn accepts(self, setting: &str) -> bool {
        LearnerGroup::owners(setting).contains(&self)
    }
}

impl FitSettings {
    /// With the seed and the budget of everything.
    #[must_use]
    pub fn with_common(mut self, common: Common) -> Self {
        self.engine = self.engine.with_common(common);
        self.group.set_common(common);
        self
    }

    /// Sets a setting of learners or engines by its name.
    ///
    /// # Errors
    /// An unknown name; a value of the wrong type.
    pub fn set<'de, D: Deserializer<'de>>(
        &mut self,
        setting: &str,
        value: impl Fn() -> D,
    ) -> Result<(), Usage> {
        let wrong = |expected| Usage::Type { setting: setting.to_owned(), expected };
        match LearnerGroup::known(setting) {
            Some(name) => {
                self.group.set(setting, &value).map_err(wrong)?;
                // A default is no request: any learner accepts it. A penalty of 0 is none, too.
                let mut alone = LearnerGroup::default();
                alone.set(setting, &value).map_err(wrong)?;
                let is_no_penalty = setting == "l2" && alone.likelihood.l2 == L2::Weight(0.0);
                if alone != LearnerGroup::default() && !is_no_penalty {
                    self.given.insert(name);
                }
                // Some settings, such as the number of chains, are those of an engine, too.
                match self.engine.set(setting, value) {
                    Ok(()) | Err(Usage::Unknown { .. }) => Ok(()),
                    Err(other) => Err(other),
                }
            }
            None => self.engine.set(setting, value),
        }
    }

    /// The settings of pseudo-likelihood.
    pub fn pseudo_likelihood(&self) -> &PseudoLikelihoodSettings {
        &self.group.pseudo_likelihood
    }

    /// The engine of the clamped phase.
    pub fn clamped_name(&self) -> EngineName {
        self.clamped_engine.unwrap_or(self.engine.engine.for_rows())
    }

    /// Whether couplings may become exactly 0.
    pub(super) fn is_sparse(&self) -> bool {
        self.group.pseudo_likelihood.is_sparse()
    }

    /// Whether the penalty on absolute values is one for all columns.
    pub(super) fn has_one_l1(&self) -> bool {
        self.group.pseudo_likelihood.l1 != Some(L1::Ebic)
    }

    /// Refuses settings that do not go together, for a machine with a number of hidden units and
    /// with or without rows to validate with.
    pub fn check(&self, hidden: usize, validates: bool) -> Result<(), Usage> {
        let learners = self.learner.possible();
        self.check_options((hidden, validates), learners)?;
        self.check_learners(learners, Some(self.learner))?;
        if self.restarts == 0 {
            let error =
                isinglass::Error::setting("restarts", "found 0, expected a whole number of at least 1");
            return Err(Usage::Value(error));
        }
        if self.grows {
            self.check_growth()?;
        }
        if validates && !self.grows && !self.has_open_penalty() {
            return Err(Usage::NothingToChoose);
        }
        if self.keeps_start && self.restarts > 1 {
            return Err(Usage::OneStart);
        }
        let by_learner = |setting: &str| learners.iter().any(|learner| learner.accepts(setting));
        let engines = [self.engine.engine, self.clamped_name()];
        let engines: &[EngineName] =
            if learners.iter().any(|learner| learner.takes_engine()) { &engines } else { &[] };
        self.engine.check_for(engines, &by_learner)?;
        if self.component_history && self.engine.engine != EngineName::Mixture {
            let error = isinglass::Error::requires("component-history", "engine", "mixture");
            return Err(Usage::Value(error));
        }
        Ok(())
    }

    /// Refuses what does not go with a number of hidden units that is found on the way.
    fn check_growth(&self) -> Result<(), Usage> {
        let refuse = |option, why: &str| {
            let error =
                isinglass::Error::setting(option, format!("is not supported with hidden auto: {why}"));
            Err(Usage::Value(error))
        };
        if !matches!(self.learner, LearnerName::Auto | LearnerName::Likelihood) {
            return refuse("learner", "steps are compared by likelihood");
        }
        let engine = self.engine.engine;
        let is_exact_or_sampled = matches!(
            engine,
            EngineName::Auto
                | EngineName::Enumerate
                | EngineName::Decimate
                | EngineName::Eliminate
                | EngineName::Temper
        );
        if !is_exact_or_sampled || self.clamped_engine.is_some() {
            let option = if is_exact_or_sampled { "clamped-engine" } else { "engine" };
            return refuse(option, "steps are compared by exact or sampled likelihoods");
        }
        if self.restarts > 1 {
            return refuse("restarts", "units begin where the machine before misses something");
        }
        if self.group.pseudo_likelihood.l1 == Some(L1::Ebic) {
            return refuse("l1", "ebic is for pseudo-likelihood without hidden units");
        }
        Ok(())
    }

    /// Refuses options of a fit that none of the learners accepts.
    fn check_options(
        &self,
        (hidden, validates): (usize, bool),
        learners: &[LearnerName],
    ) -> Result<(), Usage> {
        type Accepts = fn(LearnerName) -> bool;
        let likelihood: Accepts = |learner| learner == LearnerName::Likelihood;
        let chooses: Accepts =
            |learner| matches!(learner, LearnerName::Likelihood | LearnerName::PseudoLikelihood);
        let options: [(&'static str, bool, Accepts); 6] = [
            ("validate", validates, chooses),
            ("hidden", hidden > 0 || self.grows, LearnerName::learns_hidden),
            ("restarts", self.restarts > 1, LearnerName::restarts),
            ("engine", self.engine.engine != EngineName::Auto, LearnerName::takes_engine),
            ("clamped-engine", self.clamped_engine.is_some(), likelihood),
            ("component-history", self.component_history, likelihood),
        ];
        for (option, is_given, accepts) in options {
            if is_given && !learners.iter().any(|&learner| accepts(learner)) {
                let owners = LearnerName::ALL.iter().copied().filter(|&learner| accepts(learner));
                return Err(Self::belongs(option, owners.collect(), Some(self.learner)));
            }
        }
        Ok(())
    }

    /// Refuses settings that none of the learners accepts, and values out of range.
    pub(super) fn check_learners(
        &self,
        learners: &[LearnerName],
        chosen: Option<LearnerName>,
    ) -> Result<(), Usage> {
        for &setting in &self.given {
            let by_engine =
                learners.iter().any(|learner| learner.takes_engine()) && self.engine.engine.accepts(setting);
            if !learners.iter().any(|learner| learner.accepts(setting)) && !by_engine {
                return Err(Self::belongs(setting, LearnerGroup::owners(setting), chosen));
            }
        }
        // Of several possible learners, the one that runs is checked once it is known; here it is enough
        // that one of those that accept every setting accepts the values.
        let accepts_all = |learner: &&LearnerName| self.given.iter().all(|setting| learner.accepts(setting));
        let mut checked = learners.iter().filter(accepts_all).map(|&learner| self.group.validate(learner));
        let first = checked.next().unwrap_or(Ok(()));
        if first.is_ok() || checked.any(|other| other.is_ok()) { Ok(()) } else { first.map_err(Usage::Value) }
    }

    fn belongs(setting: &'static str, owners: Vec<LearnerName>, chosen: Option<LearnerName>) -> Usage {
        let owners = owners.into_iter().map(LearnerName::word).collect();
        let chosen = chosen.filter(|learner| *learner != LearnerName::Auto).map(LearnerName::word);
        Usage::Belongs { setting: Setting(setting), to: Setting("learner"), owners, chosen }
    }
}
