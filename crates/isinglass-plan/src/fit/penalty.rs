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

/// Which penalty held-out rows choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// None: all are given.
    None,
    L1,
    L2,
    /// That of `l2`, if a fit without any would be bad.
    L2IfNeeded,
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
            LearnerName::Auto | LearnerName::Likelihood => (group.likelihood.l2, None),
            _ => return Wanted::None,
        };
        match (l1, l2) {
            (Some(L1::Auto), _) => Wanted::L1,
            (_, L2::Auto) => Wanted::L2,
            (Some(L1::Ebic), _) => Wanted::None,
            (Some(L1::Weight(weight)), _) if weight > 0.0 => Wanted::None,
            (_, L2::Unset) if self.validate.is_some() => Wanted::L2,
            (_, L2::Unset) if self.learner == LearnerName::Auto && !is_exact => Wanted::L2IfNeeded,
            _ => Wanted::None,
        }
    }

    /// Whether rows to validate with can choose anything.
    pub(super) fn has_open_penalty(&self) -> bool {
        let settings = &self.group.pseudo_likelihood;
        let is_free = settings.l2 == L2::Unset && !settings.is_sparse();
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
    pub(super) fn choose(
        &self,
        start: &Machine,
        table: &Table,
        note: &dyn Fn(Note),
    ) -> Result<Option<Penalty>> {
        let mut need = None;
        match self.wanted {
            Wanted::None => return Ok(None),
            Wanted::L2IfNeeded => {
                if start.with_role(Role::Hidden).next().is_some() {
                    return Ok(None);
                }
                need = match Need::of(start, table, self.settings.engine.budget()) {
                    // Nobody asked for it.
                    Err(CoreError::OverBudget { .. }) | Ok(None) => return Ok(None),
                    found => found?,
                };
            }
            Wanted::L1 | Wanted::L2 => {}
        }
        let begin =
            if self.settings.keeps_start { start.clone() } else { self.settings.start(start, table)? };
        let (criterion, found) = match self.select(&begin, table) {
            // Nobody asked for it.
            Err(Error::Core(CoreError::Invalid { .. }) | Error::Hinted { .. }) if need.is_some() => {
                return Ok(None);
            }
            found => found?,
        };
        let setting = if self.wanted == Wanted::L1 { "l1" } else { "l2" };
        let penalty = Penalty { setting, chosen: found, criterion, need };
        note(Note::Penalty(penalty.clone()));
        Ok(Some(penalty))
    }

    /// The penalty that held-out rows choose, and by what.
    fn select(&self, begin: &Machine, table: &Table) -> Result<(&'static str, Chosen)> {
        const PSEUDO: &str = "pseudo-log-likelihood";
        let selection = Selection { seed: self.settings.engine.seed() };
        let group = &self.settings.group;
        let validate = self.settings.validate.as_deref();
        let is_l1 = self.wanted == Wanted::L1;
        match &self.way {
            Way::Likelihood { engine, clamped, .. } => {
                let phases = Phases { clamped: clamped.as_deref().unwrap_or(&**engine), free: &**engine };
                let way = PenalisedLikelihood::new(phases, group.likelihood);
                let found = selection.run(&way, begin, table, validate);
                let found = found.map_err(|error| Error::from(error).with_hint(Hint::LikelihoodBudget))?;
                let is_exact = phases.free.is_exact() && phases.clamped.is_exact();
                Ok((if is_exact { "log-likelihood" } else { PSEUDO }, found))
            }
            Way::Sampled { .. } => {
                let complete = mostly_complete(begin, table)?;
                let rows = validate.map(|rows| mostly_complete(begin, rows)).transpose()?;
                let settings = PseudoLikelihoodSettings::default().budget(self.settings.engine.budget());
                let way = PenalisedPseudoLikelihood::l2(settings);
                let mut found = selection
                    .run(&way, begin, &complete, rows.as_ref())
                    .map_err(|error| Error::from(error).with_hint(Hint::Budget))?;
                found.penalty *= OF_PSEUDO_LIKELIHOOD;
                found.path.iter_mut().for_each(|tried| tried.penalty *= OF_PSEUDO_LIKELIHOOD);
                Ok((PSEUDO, found))
            }
            Way::PseudoLikelihood(_) | Way::Other(..) | Way::ClosedForm(_) => {
                let settings = group.pseudo_likelihood;
                let way = if is_l1 {
                    PenalisedPseudoLikelihood::l1(settings)
                } else {
                    PenalisedPseudoLikelihood::l2(settings)
                };
                let found = selection.run(&way, begin, table, validate);
                Ok((PSEUDO, found.map_err(|error| Error::from(error).with_hint(Hint::Budget))?))
            }
        }
    }
}

/// The complete rows of a table, if most are, for a machine without hidden units.
fn mostly_complete(machine: &Machine, table: &Table) -> Result<Table> {
    let complete = complete_rows(table)?;
    let has_hidden = machine.with_role(Role::Hidden).next().is_some();
    if !has_hidden && complete.total_weight() >= LEAST_COMPLETE * table.total_weight() {
        return Ok(complete);
    }
    let what = if has_hidden { "a machine without hidden units" } else { "rows most of which are complete" };
    let error = CoreError::setting("l2", format!("auto requires {what}, where moments are sampled"));
    Err(Error::Hinted { error, hint: Hint::GivePenalty })
}

impl Penalty {
    /// The settings of learners with this penalty.
    pub(super) fn applied(&self, mut group: LearnerGroup) -> LearnerGroup {
        let weight = self.chosen.penalty;
        if self.setting == "l1" {
            group.pseudo_likelihood.l1 = Some(L1::Weight(weight));
        } else {
            group.pseudo_likelihood.l2 = L2::Weight(weight);
            group.likelihood.l2 = L2::Weight(weight);
        }
        group
    }
}
