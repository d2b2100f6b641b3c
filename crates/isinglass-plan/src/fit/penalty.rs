//! The penalty of a fit, where held-out rows choose it.

use isinglass::learn::{
    Chosen, L1, L2, Need, PenalisedLikelihood, PenalisedPseudoLikelihood, PseudoLikelihoodSettings,
    Selection, complete_rows,
};
use isinglass::likelihood::{Phases, TwoPhase};
use isinglass::{Error as CoreError, Machine, Role, Table};

use super::FitSettings;
use super::plan::{Plan, Way};
use crate::groups::LearnerGroup;
use crate::{Error, Hint, LearnerName, Note, Result};

/// A penalty of likelihood that shrinks couplings as much as one of pseudo-likelihood does, as a
/// share of it: every coupling is in the conditionals of both its units, so that rows bound it
/// about twice as sharply there.
const OF_PSEUDO_LIKELIHOOD: f64 = 0.5;

/// The least share of complete rows by which a penalty can be chosen.
const LEAST_COMPLETE: f64 = 0.5;

/// What a penalty is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Absolute values.
    L1,
    /// Squares.
    L2,
}

impl Kind {
    /// Its setting.
    fn setting(self) -> &'static str {
        match self {
            Self::L1 => "l1",
            Self::L2 => "l2",
        }
    }
}

/// Which penalty held-out rows choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// None: all are given.
    None,
    Of(Kind),
    /// One of either kind, whichever is better.
    Any,
    /// The same, if a fit without any would be bad.
    AnyIfNeeded,
}

/// A penalty that held-out rows chose.
#[derive(Debug, Clone, PartialEq)]
pub struct Penalty {
    /// Which: `l1` or `l2`.
    pub setting: &'static str,
    /// The penalty of the fit, and what was tried.
    pub chosen: Chosen,
    /// By what held-out rows were judged: `log-likelihood` or `pseudo-log-likelihood`.
    pub criterion: &'static str,
    /// Why there is a penalty though none was requested.
    pub need: Option<Need>,
}

impl FitSettings {
    /// Which penalty is to be chosen for a learner, which may be by samples.
    pub(super) fn wanted(&self, learner: LearnerName, is_exact: bool) -> Wanted {
        let group = &self.group;
        let (l2, l1) = match learner {
            LearnerName::PseudoLikelihood => (group.pseudo_likelihood.l2, group.pseudo_likelihood.l1),
            LearnerName::Auto | LearnerName::Likelihood => (group.likelihood.l2, group.likelihood.l1),
            _ => return Wanted::None,
        };
        match (l1, l2) {
            (Some(L1::Auto), _) => Wanted::Of(Kind::L1),
            (_, L2::Auto) => Wanted::Of(Kind::L2),
            (None, L2::Unset) if self.validate.is_some() => Wanted::Any,
            (None, L2::Unset) if self.learner == LearnerName::Auto && !is_exact => Wanted::AnyIfNeeded,
            _ => Wanted::None,
        }
    }

    /// Whether rows to validate with can choose anything.
    pub(super) fn has_open_penalty(&self) -> bool {
        let settings = &self.group.pseudo_likelihood;
        let is_free = settings.l2 == L2::Unset && settings.l1.is_none();
        settings.l1 == Some(L1::Auto) || settings.l2 == L2::Auto || is_free
    }

    /// Refuses rows to validate with that do not fit a machine.
    ///
    /// # Errors
    /// Those of [`TwoPhase::new`].
    pub fn check_validation(start: &Machine, rows: &Table) -> isinglass::Result<()> {
        TwoPhase::new(start, rows).map(|_| ())
    }
}

impl Plan {
    /// Chooses the penalty, if that is wanted, and says so.
    pub(crate) fn choose(
        &self,
        start: &Machine,
        table: &Table,
        note: &dyn Fn(Note),
    ) -> Result<Option<Penalty>> {
        let mut need = None;
        let kinds: &[Kind] = match self.wanted {
            Wanted::None => return Ok(None),
            Wanted::AnyIfNeeded => {
                if start.with_role(Role::Hidden).next().is_some() {
                    return Ok(None);
                }
                need = match Need::of(start, table, self.settings.engine.budget()) {
                    // Nobody asked for it.
                    Err(CoreError::OverBudget { .. }) | Ok(None) => return Ok(None),
                    found => found?,
                };
                &[Kind::L2, Kind::L1]
            }
            Wanted::Any => &[Kind::L2, Kind::L1],
            Wanted::Of(Kind::L1) => &[Kind::L1],
            Wanted::Of(Kind::L2) => &[Kind::L2],
        };
        let begin =
            if self.settings.keeps_start { start.clone() } else { self.settings.start(start, table)? };
        let mut best: Option<Penalty> = None;
        for &kind in kinds {
            let (criterion, chosen) = match self.select(kind, &begin, table) {
                // Nobody asked for it.
                Err(Error::Core(CoreError::Invalid { .. }) | Error::Hinted { .. }) if need.is_some() => {
                    continue;
                }
                // Approximate engines do not support a penalty with a kink.
                Err(Error::Core(CoreError::CannotDo { .. })) if best.is_some() => continue,
                found => found?,
            };
            let found = Penalty { setting: kind.setting(), chosen, criterion, need: need.clone() };
            if best.as_ref().is_none_or(|best| found.held_out() > best.held_out()) {
                best = Some(found);
            }
        }
        if let Some(penalty) = &best {
            note(Note::Penalty(penalty.clone()));
        }
        Ok(best)
    }

    /// The penalty on absolute values that held-out rows choose for pseudo-likelihood, if it is not
    /// known.
    pub(super) fn l1_of_conditionals(
        &self,
        start: &Machine,
        table: &Table,
        known: Option<&Penalty>,
    ) -> Result<f64> {
        if let Some(known) = known.filter(|known| known.setting == Kind::L1.setting()) {
            return Ok(known.of_conditionals().chosen.penalty);
        }
        let begin = self.settings.start(start, table)?;
        let (criterion, chosen) = self.select(Kind::L1, &begin, table)?;
        let found = Penalty { setting: Kind::L1.setting(), chosen, criterion, need: None };
        Ok(found.of_conditionals().chosen.penalty)
    }

    /// The penalty of a kind that held-out rows choose, and by what.
    fn select(&self, kind: Kind, begin: &Machine, table: &Table) -> Result<(&'static str, Chosen)> {
        const PSEUDO: &str = "pseudo-log-likelihood";
        let selection = Selection { seed: self.settings.engine.seed() };
        let group = &self.settings.group;
        let validate = self.settings.validate.as_deref();
        let by_conditionals = |settings: PseudoLikelihoodSettings| match kind {
            Kind::L1 => PenalisedPseudoLikelihood::l1(settings),
            Kind::L2 => PenalisedPseudoLikelihood::l2(settings),
        };
        match &self.way {
            Way::Likelihood { engine, clamped, .. } => {
                let phases = Phases { clamped: clamped.as_deref().unwrap_or(&**engine), free: &**engine };
                let way = match kind {
                    Kind::L1 => PenalisedLikelihood::l1(phases, group.likelihood),
                    Kind::L2 => PenalisedLikelihood::l2(phases, group.likelihood),
                };
                let found = selection.run(&way, begin, table, validate);
                let found = found.map_err(|error| Error::from(error).with_hint(Hint::LikelihoodBudget))?;
                let is_exact = phases.free.is_exact() && phases.clamped.is_exact();
                Ok((if is_exact { "log-likelihood" } else { PSEUDO }, found))
            }
            Way::Sampled { .. } => {
                let complete = mostly_complete(kind, begin, table)?;
                let rows = validate.map(|rows| mostly_complete(kind, begin, rows)).transpose()?;
                let settings = PseudoLikelihoodSettings::default().budget(self.settings.engine.budget());
                let way = by_conditionals(settings);
                let mut found = selection
                    .run(&way, begin, &complete, rows.as_ref())
                    .map_err(|error| Error::from(error).with_hint(Hint::Budget))?;
                found.penalty *= OF_PSEUDO_LIKELIHOOD;
                found.path.iter_mut().for_each(|tried| tried.penalty *= OF_PSEUDO_LIKELIHOOD);
                Ok((PSEUDO, found))
            }
            Way::PseudoLikelihood(_) | Way::Other(..) | Way::ClosedForm(_) | Way::Bayes(..) => {
                let way = by_conditionals(group.pseudo_likelihood);
                let found = selection.run(&way, begin, table, validate);
                Ok((PSEUDO, found.map_err(|error| Error::from(error).with_hint(Hint::Budget))?))
            }
        }
    }
}

/// The complete rows of a table, if most are, for a machine without hidden units.
fn mostly_complete(kind: Kind, machine: &Machine, table: &Table) -> Result<Table> {
    let complete = complete_rows(table)?;
    let has_hidden = machine.with_role(Role::Hidden).next().is_some();
    if !has_hidden && complete.total_weight() >= LEAST_COMPLETE * table.total_weight() {
        return Ok(complete);
    }
    let what = if has_hidden { "a machine without hidden units" } else { "rows most of which are complete" };
    let error =
        CoreError::setting(kind.setting(), format!("auto requires {what}, where moments are sampled"));
    Err(Error::Hinted { error, hint: Hint::GivePenalty })
}

impl Penalty {
    /// The average of the criterion over held-out rows.
    fn held_out(&self) -> f64 {
        self.chosen.best().map_or(f64::NEG_INFINITY, |best| best.held_out)
    }

    /// The penalty of the pseudo-likelihood from which that of a sampled fit was taken.
    pub(super) fn of_conditionals(&self) -> Self {
        let mut all = self.clone();
        all.chosen.penalty /= OF_PSEUDO_LIKELIHOOD;
        all
    }

    /// The settings of learners with this penalty.
    pub(super) fn applied(&self, mut group: LearnerGroup) -> LearnerGroup {
        let weight = self.chosen.penalty;
        if self.setting == Kind::L1.setting() {
            group.pseudo_likelihood.l1 = Some(L1::Weight(weight));
            group.likelihood.l1 = Some(L1::Weight(weight));
        } else {
            group.pseudo_likelihood.l2 = L2::Weight(weight);
            group.likelihood.l2 = L2::Weight(weight);
        }
        group
    }
}
