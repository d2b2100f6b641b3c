//! From `--engine` and its options to an engine.

use isinglass::engine::GibbsSettings;
use isinglass::engine::auto::{self, Choice};
use isinglass::{
    Bethe, Decimate, Eliminate, Engine, Enumerate, Evidence, Gibbs, LinearResponse, Machine, MeanField, Tap,
};

use crate::options::{Common, EngineName, EngineOptions};

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
        self.variational.check(self.engine)?;
        let budget = self.budget;
        let settings = self.variational.settings(common.seed, budget);
        Ok(match self.engine {
            EngineName::Enumerate => Box::new(Enumerate { budget }),
            EngineName::Decimate => Box::new(Decimate::new(budget)),
            EngineName::Eliminate => Box::new(Eliminate::new(budget)),
            EngineName::MeanField => Box::new(MeanField { settings }),
            EngineName::Tap => Box::new(Tap { settings }),
            EngineName::LinearResponse => {
                Box::new(LinearResponse { around: self.variational.around(), settings })
            }
            EngineName::Bethe => Box::new(Bethe { settings }),
            EngineName::Gibbs => self.gibbs(common.seed),
            EngineName::Auto => match auto::choose(machine, evidence, budget)? {
                Choice::Exact { engine, reason } => {
                    common.note(&format!("engine: {reason}"));
                    engine
                }
                Choice::Sampling { refusal, .. } if task == Task::Exact => return Err(refusal.into()),
                Choice::Sampling { reason, .. } => {
                    common.note(&format!("engine: {reason}"));
                    self.gibbs(common.seed)
                }
            },
        })
    }

    fn gibbs(&self, seed: u64) -> Box<dyn Engine> {
        Box::new(Gibbs {
            settings: GibbsSettings {
                chains: self.chains,
                burn_in: self.burn_in,
                samples: self.samples,
                thin: self.thin,
                seed,
                budget: self.budget,
            },
        })
    }
}
