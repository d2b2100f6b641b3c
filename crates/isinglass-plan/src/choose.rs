//! From the name of an engine to the engine: what `auto` takes, and what stands on each side of a bracket.

use isinglass::bracket::Bounds;
use isinglass::engine::Open;
use isinglass::engine::auto::{self, Choice};
use isinglass::engine::{Mode, ModeFinder};
use isinglass::search::MaxProduct;
use isinglass::{Engine, Evidence, Gibbs, Machine, Sampler};

use crate::{EngineName, EngineSettings, Result, Usage};

/// What the engine is for: not every engine can do everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Expectations, probabilities or draws, which sampling can give too.
    Answer,
    /// What needs log Z or all states: `auto` does not turn to sampling.
    Exact,
}

impl EngineSettings {
    /// The engine for a machine under evidence; what `auto` took and why is noted.
    pub fn choose(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        task: Task,
        note: &dyn Fn(&str),
    ) -> Result<Box<dyn Engine>> {
        self.check()?;
        self.pick_for_rows(self.engine, (machine, &Open::alike(evidence.clone())), task, note)
    }

    /// The engine of a name that serves every row of a table, whether or not it has a use for all settings; what `auto` took and why is noted.
    pub fn pick_for_rows(
        &self,
        name: EngineName,
        (machine, open): (&Machine, &Open),
        task: Task,
        note: &dyn Fn(&str),
    ) -> Result<Box<dyn Engine>> {
        if name == EngineName::MaxProduct {
            return Err(no_expectations().into());
        }
        if let Some(engine) = self.named(name) {
            return Ok(engine);
        }
        match self.auto(machine, open)? {
            Choice::Exact { engine, reason } => {
                note(&format!("engine: {reason}"));
                Ok(engine)
            }
            Choice::Sampling { refusal, .. } if task == Task::Exact => Err(refusal.into()),
            Choice::Sampling { reason, .. } => {
                note(&format!("engine: {reason}"));
                Ok(Box::new(Gibbs { settings: self.gibbs() }))
            }
        }
    }

    /// What `auto` stands for.
    pub(crate) fn auto(&self, machine: &Machine, open: &Open) -> isinglass::Result<Choice> {
        auto::choose_for_rows(machine, open, self.budget)
    }

    /// Engines that bound log Z from both sides: the one named on its side, and elsewhere an exact one if that is within the budget, otherwise all that there are.
    pub fn bounds(&self, machine: &Machine, open: &Open, note: &dyn Fn(&str)) -> Result<Bounds> {
        let best = || {
            let best = Bounds::best(self.mixture(), self.structured(), self.trw());
            Ok::<_, isinglass::Error>(match self.auto(machine, open)? {
                Choice::Exact { engine, reason } => {
                    note(&format!("engine: {reason}"));
                    best.with_exact(engine)
                }
                Choice::Sampling { .. } => best,
            })
        };
        match (self.engine, self.named(self.engine)) {
            (EngineName::MaxProduct, _) => Err(no_expectations().into()),
            (_, None) => Ok(best()?),
            (EngineName::Enumerate | EngineName::Decimate | EngineName::Eliminate, Some(engine)) => {
                Ok(Bounds::exact(engine))
            }
            (EngineName::MeanField | EngineName::Mixture | EngineName::Structured, Some(engine)) => {
                Ok(Bounds { below: vec![engine.into()], ..best()? })
            }
            (EngineName::Trw, Some(engine)) => Ok(Bounds { above: vec![engine.into()], ..best()? }),
            (_, Some(engine)) => {
                let problem = format!("--bracket: the engine {} bounds log Z from no side", engine.name());
                Err(Usage(problem).into())
            }
        }
    }

    /// The most probable state, and the name of what found it.
    pub fn mode(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        note: &dyn Fn(&str),
    ) -> Result<(&'static str, Mode)> {
        if self.engine == EngineName::MaxProduct {
            self.check()?;
            return Ok((MaxProduct::NAME, self.max_product().mode(machine, evidence)?));
        }
        let engine = self.choose(machine, evidence, Task::Exact, note)?;
        let finder = engine.mode_finder().ok_or_else(|| isinglass::Error::CannotDo {
            who: engine.name(),
            what: "find a most probable state".into(),
            why: "it gives means and moments, not states; --engine decimate, eliminate, enumerate and max-product can"
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
        why: "--engine decimate, eliminate, enumerate and gibbs can".into(),
    };
    Ok(engine.sampler().ok_or_else(cannot)?)
}

/// What to say where a search for states stands for an engine.
fn no_expectations() -> Usage {
    Usage("--engine max-product finds most probable states, and nothing else: it is for isinglass map".into())
}
