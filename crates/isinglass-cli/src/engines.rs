//! From `--engine` and its options to an engine.

use isinglass::bracket::Bounds;
use isinglass::complete::Open;
use isinglass::engine::auto::{self, Choice};
use isinglass::{
    Ais, Bethe, Decimate, Eliminate, Engine, Enumerate, Evidence, Gibbs, LinearResponse, Machine, MeanField,
    Tap,
};

use crate::engine_options::{EngineName, EngineOptions};
use crate::options::{Common, Usage};
use crate::report::count;

/// What the engine is for: not every engine can do everything.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Expectations, probabilities or draws, which sampling can give too.
    Answer,
    /// What needs log Z or all states: `auto` does not turn to sampling.
    Exact,
}

impl EngineOptions {
    /// The engine for a machine under evidence; what `auto` took and why goes to standard error.
    pub(crate) fn choose(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        task: Task,
        common: &Common,
    ) -> anyhow::Result<Box<dyn Engine>> {
        self.check(self.engine)?;
        self.pick(self.engine, (machine, evidence), task, common)
    }

    /// The engine of a name for a machine under evidence, whether or not it has a use for all options.
    pub(crate) fn pick(
        &self,
        name: EngineName,
        (machine, evidence): (&Machine, &Evidence),
        task: Task,
        common: &Common,
    ) -> anyhow::Result<Box<dyn Engine>> {
        if name == EngineName::MaxProduct {
            return Err(no_expectations().into());
        }
        if let Some(engine) = self.named(name, common) {
            return Ok(engine);
        }
        match auto::choose(machine, evidence, self.budget)? {
            Choice::Exact { engine, reason } => {
                common.note(&format!("engine: {reason}"));
                Ok(engine)
            }
            Choice::Sampling { refusal, .. } if task == Task::Exact => Err(refusal.into()),
            Choice::Sampling { reason, .. } => {
                common.note(&format!("engine: {reason}"));
                Ok(Box::new(Gibbs { settings: self.gibbs(common.seed) }))
            }
        }
    }

    /// The engine of a name; `auto` is none, and what finds states only is none.
    fn named(&self, name: EngineName, common: &Common) -> Option<Box<dyn Engine>> {
        let budget = self.budget;
        let settings = self.variational(common.seed);
        Some(match name {
            EngineName::Auto | EngineName::MaxProduct => return None,
            EngineName::Enumerate => Box::new(Enumerate { budget }),
            EngineName::Decimate => Box::new(Decimate::new(budget)),
            EngineName::Eliminate => Box::new(Eliminate::new(budget)),
            EngineName::MeanField => Box::new(MeanField { settings }),
            EngineName::Mixture => Box::new(self.mixture(common.seed)),
            EngineName::Structured => Box::new(self.structured(common.seed)),
            EngineName::Trw => Box::new(self.trw(common.seed)),
            EngineName::Tap => Box::new(Tap { settings }),
            EngineName::LinearResponse => Box::new(LinearResponse { around: self.around(), settings }),
            EngineName::Bethe => Box::new(Bethe { settings }),
            EngineName::Gibbs => Box::new(Gibbs { settings: self.gibbs(common.seed) }),
            EngineName::Ais => Box::new(Ais { settings: self.ais(common.seed) }),
        })
    }

    /// Engines that bound log Z from both sides: the one named on its side, and elsewhere an exact one if that is within the budget, otherwise all that there are.
    pub(crate) fn bounds(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        common: &Common,
    ) -> anyhow::Result<Bounds> {
        let best = || {
            let best =
                Bounds::best(self.mixture(common.seed), self.structured(common.seed), self.trw(common.seed));
            Ok::<_, isinglass::Error>(match auto::choose(machine, evidence, self.budget)? {
                Choice::Exact { engine, reason } => {
                    common.note(&format!("engine: {reason}"));
                    best.with_exact(engine)
                }
                Choice::Sampling { .. } => best,
            })
        };
        match (self.engine, self.named(self.engine, common)) {
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

    /// Refuse options that a bracket has no use for.
    pub(crate) fn check_bracket(&self) -> Result<(), Usage> {
        use EngineName::{Mixture, Structured, Trw};
        match self.engine {
            EngineName::Auto | Trw => self.check_for(&[Mixture, Structured, Trw], &[]),
            EngineName::MeanField => self.check_for(&[EngineName::MeanField, Trw], &[]),
            Mixture => self.check_for(&[Mixture, Trw], &[]),
            Structured => self.check_for(&[Structured, Trw], &[]),
            other => self.check(other),
        }
    }

    /// The engine for rows that leave different units free; what `auto` took and why goes to standard error.
    pub(crate) fn choose_for_rows(
        &self,
        machine: &Machine,
        open: &Open,
        common: &Common,
    ) -> anyhow::Result<Box<dyn Engine>> {
        if self.engine != EngineName::Auto {
            return self.choose(machine, &open.in_one_row, Task::Answer, common);
        }
        // Clamped neighbours are biases, so any unit may have one: what can be done with all of them can be done in every row.
        let biases = machine.biases().iter().map(|&bias| if bias == 0.0 { 1.0 } else { bias }).collect();
        let biased = machine.clone().with_parameters(machine.weights().to_vec(), biases)?;
        if let Choice::Exact { engine, reason } = auto::choose(&biased, &open.in_any_row, self.budget)? {
            common.note(&format!("engine: {reason}"));
            return Ok(engine);
        }
        match auto::choose(&biased, &open.in_one_row, self.budget)? {
            // Other rows may be less sparse than the one with most free units.
            Choice::Exact { engine, .. } if engine.name() == Decimate::NAME => {
                let free = open.in_one_row.free_count();
                let most = count(free, "free unit");
                common.note(&format!("engine: eliminate (exact: up to {most} in a row)"));
                Ok(Box::new(Eliminate::new(self.budget)))
            }
            Choice::Exact { engine, reason } => {
                common.note(&format!("engine: {reason}"));
                Ok(engine)
            }
            Choice::Sampling { reason, .. } => {
                common.note(&format!("engine: {reason}"));
                Ok(Box::new(Gibbs { settings: self.gibbs(common.seed) }))
            }
        }
    }
}

/// What to say where a search for states stands for an engine.
fn no_expectations() -> Usage {
    Usage("--engine max-product finds most probable states, and nothing else: it is for isinglass map".into())
}
