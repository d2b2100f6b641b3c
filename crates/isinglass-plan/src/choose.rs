//! From the name of an engine to the engine: what `auto` chooses, and the two sides of a bracket.

use isinglass::bracket::Bounds;
use isinglass::engine::Open;
use isinglass::engine::auto::{self, Choice, Reason};
use isinglass::engine::{Mode, ModeFinder};
use isinglass::search::MaxProduct;
use isinglass::{Engine, Evidence, Machine, Sampler};

use crate::{EngineName, EngineSettings, Note, Result, Usage};

/// What the engine is for: not every engine can do everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Expectations, probabilities or draws, which sampling can give too.
    Answer,
    /// What needs log Z or all states: `auto` does not fall back to sampling.
    Exact,
}

impl EngineSettings {
    /// The engine for a machine under evidence; the choice of `auto` is noted.
    pub fn choose(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        task: Task,
        note: &dyn Fn(Note),
    ) -> Result<Box<dyn Engine>> {
        self.check()?;
        self.pick_for_rows(self.engine, (machine, &Open::alike(evidence.clone())), task, note)
    }

    /// The engine of a name that serves every row of a table, whether or not it accepts all
    /// settings; the choice of `auto` is noted.
    pub fn pick_for_rows(
        &self,
        name: EngineName,
        (machine, open): (&Machine, &Open),
        task: Task,
        note: &dyn Fn(Note),
    ) -> Result<Box<dyn Engine>> {
        if name == EngineName::MaxProduct {
            return Err(Usage::OnlyModes.into());
        }
        if let Some(engine) = self.named(name) {
            return Ok(engine);
        }
        match self.auto(machine, open)? {
            Choice::Exact { engine, reason } => {
                note(Note::Engine(reason));
                Ok(engine)
            }
            Choice::Sampling { refusal } if task == Task::Exact => Err(refusal.into()),
            Choice::Sampling { refusal } => {
                let name = self.sampling();
                note(Note::Engine(Reason::Sampling { engine: name.word(), refusal }));
                self.named(name).ok_or_else(|| Usage::OnlyModes.into())
            }
        }
    }

    /// The engine for the rows of a table where none was named for them: in place of one that
    /// samples, an exact one if it serves every row within the budget.
    pub fn pick_clamped(&self, (machine, open): (&Machine, &Open), task: Task) -> Result<Box<dyn Engine>> {
        let name = self.engine.for_rows();
        if name.samples()
            && let Choice::Exact { engine, .. } = self.auto(machine, open)?
        {
            return Ok(engine);
        }
        self.pick_for_rows(name, (machine, open), task, &|_| ())
    }

    /// What `auto` chooses.
    pub(crate) fn auto(&self, machine: &Machine, open: &Open) -> isinglass::Result<Choice> {
        auto::choose_for_rows(machine, open, self.budget())
    }

    /// Engines that bound log Z from both sides: the one named on its side, and elsewhere an exact
    /// one if that is within the budget, otherwise all that there are.
    pub fn bounds(&self, machine: &Machine, open: &Open, note: &dyn Fn(Note)) -> Result<Bounds> {
        let best = || {
            let best =
                Bounds::best(self.group.mixture, self.group.structured, self.group.trw, self.group.logdet);
            Ok::<_, isinglass::Error>(match self.auto(machine, open)? {
                Choice::Exact { engine, reason } => {
                    note(Note::Engine(reason));
                    best.with_exact(engine)
                }
                Choice::Sampling { .. } => best,
            })
        };
        match (self.engine, self.named(self.engine)) {
            (EngineName::MaxProduct, _) => Err(Usage::OnlyModes.into()),
            (_, None) => Ok(best()?),
            (EngineName::Enumerate | EngineName::Decimate | EngineName::Eliminate, Some(engine)) => {
                Ok(Bounds::exact(engine))
            }
            (EngineName::MeanField | EngineName::Mixture | EngineName::Structured, Some(engine)) => {
                Ok(Bounds { below: vec![engine.into()], ..best()? })
            }
            (EngineName::Trw | EngineName::LogDet, Some(engine)) => {
                Ok(Bounds { above: vec![engine.into()], ..best()? })
            }
            (_, Some(engine)) => Err(Usage::NoBound(engine.name()).into()),
        }
    }

    /// The most probable state, and the name of what found it.
    pub fn mode(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        note: &dyn Fn(Note),
    ) -> Result<(&'static str, Mode)> {
        if self.engine == EngineName::MaxProduct {
            self.check()?;
            return Ok((MaxProduct::NAME, self.max_product().mode(machine, evidence)?));
        }
        let engine = self.choose(machine, evidence, Task::Answer, note)?;
        let finder = engine.mode_finder().ok_or_else(|| isinglass::Error::CannotDo {
            who: engine.name(),
            what: "find a most probable state".into(),
            why: "it gives means and moments, not states; decimate, eliminate, enumerate, temper and max-product can"
                .into(),
        })?;
        Ok((engine.name(), finder.mode(machine, evidence)?))
    }
}

/// The engine as one that draws, if it can.
pub fn sampler(engine: &dyn Engine) -> Result<&dyn Sampler> {
    let cannot = || isinglass::Error::CannotDo {
        who: engine.name(),
        what: "draw states".into(),
        why: "decimate, eliminate, enumerate, temper and gibbs can".into(),
    };
    Ok(engine.sampler().ok_or_else(cannot)?)
}
