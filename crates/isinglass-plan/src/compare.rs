//! Groups against each other: missing cells, the learner of all fits, and the tests.

use isinglass::learn::{
    Compare, CompareSettings, Compared, EbicSettings, Groups, Joint, Learner, Progressed, joint,
};
use isinglass::{Error as CoreError, Machine, Table};

use crate::missing::{Filler, Missing};
use crate::{FitSettings, Note, Penalty, Result, Usage};

/// What is asked of a comparison, besides the learner of its fits.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CompareRequest {
    /// Permutations and resamples.
    pub tests: CompareSettings,
    /// Missing cells.
    pub missing: Missing,
    /// Whether groups are also fitted together, to say which couplings differ.
    pub joint: bool,
}

/// The result of a comparison, and what made it.
#[derive(Debug)]
pub struct Comparison {
    /// The differences and their tests.
    pub compared: Compared,
    /// The structure that all machines share.
    pub structure: Machine,
    /// The learner.
    pub learner: &'static str,
    /// The engine of the free phase, where there is one.
    pub engine: Option<&'static str>,
    /// The penalty, where held-out rows of all groups chose it.
    pub penalty: Option<Penalty>,
    /// The groups fitted together, if that was requested.
    pub joint: Option<Joint>,
    /// The rows of each group.
    pub rows: Vec<usize>,
    /// Whether the learner ever converges.
    pub(crate) converges: bool,
    /// The rows that were left out, as cells are missing.
    pub dropped: usize,
}

impl FitSettings {
    /// Compares groups on a structure, by the learner of these settings.
    ///
    /// Learner, engine and penalty are chosen for all rows together, so that the choice is
    /// independent of the labels.
    ///
    /// # Errors
    /// Settings that do not go together; those of [`Compare::run`].
    pub fn compare(
        &self,
        structure: &Machine,
        groups: &Groups,
        request: CompareRequest,
        progressed: &Progressed<'_>,
        note: &dyn Fn(Note),
    ) -> Result<Comparison> {
        self.check(0, false)?;
        if self.restarts > 1 {
            let error = CoreError::setting("restarts", "is not supported: all fits have the same start");
            return Err(Usage::Value(error).into());
        }
        let before = groups.sizes().iter().sum::<usize>();
        let groups = match request.missing {
            Missing::Em => groups.clone(),
            Missing::Drop => groups.complete_cases()?,
            Missing::Impute(versions) => self.imputed(structure, groups, versions, note)?,
        };
        let dropped = before - groups.sizes().iter().sum::<usize>();
        let table = groups.pooled()?;
        let plan = self.plan(structure, &table, note)?;
        let penalty = plan.choose(structure, &table, note)?;
        let compare = Compare::from(request.tests).seed(self.engine.seed()).budget(self.engine.budget());
        let run = |learner: &(dyn Learner + Sync)| {
            let compared = compare.run(learner, structure, &groups, progressed)?;
            Ok::<_, crate::Error>((learner.name(), learner.converges(), compared))
        };
        let (learner, converges, compared) = plan.with_learner(penalty.as_ref(), run)?;
        let engine = plan.engine_name();
        let joint = if request.joint { Some(self.jointly(structure, &groups)?) } else { None };
        let (structure, rows) = (structure.clone(), groups.sizes().to_vec());
        Ok(Comparison { compared, structure, learner, engine, penalty, joint, rows, converges, dropped })
    }

    /// The groups fitted together.
    fn jointly(&self, structure: &Machine, groups: &Groups) -> Result<Joint> {
        let tables: Vec<Table> =
            (0..groups.names().len()).map(|group| groups.table(group)).collect::<isinglass::Result<_>>()?;
        let given = &self.group.pseudo_likelihood;
        let mut settings = EbicSettings::default().budget(self.engine.budget());
        settings.gamma = given.gamma.unwrap_or(settings.gamma);
        settings.rule = given.rule.unwrap_or(settings.rule);
        Ok(joint(&tables, structure, &settings)?)
    }

    /// Groups with missing cells filled by draws from a machine that was fitted to all rows, so that
    /// what is filled in is independent of the labels.
    fn imputed(
        &self,
        structure: &Machine,
        groups: &Groups,
        versions: usize,
        note: &dyn Fn(Note),
    ) -> Result<Groups> {
        if groups.missing_count() == 0 {
            return Ok(groups.clone());
        }
        let filler = Filler::new(self, structure, &groups.pooled()?)?;
        let mut failure = None;
        let filled = groups.completed(versions, |row, count| {
            filler.draw(row, count).map_err(|error| {
                failure = Some(error);
                CoreError::invalid("missing cells", "no draws")
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
        note(Note::Imputed { versions, cells: groups.missing_count() });
        Ok(filled?)
    }
}
