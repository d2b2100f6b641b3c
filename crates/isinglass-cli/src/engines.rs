//! From `--engine` and its options to an engine.

use isinglass::engine::{GibbsSettings, auto};
use isinglass::{Engine, Enumerate, Gibbs};

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
    /// The engine for some number of free units; what `auto` took and why goes to standard error.
    pub(crate) fn choose(&self, free_units: usize, task: Task, common: &Common) -> Box<dyn Engine> {
        let choice = match self.engine {
            EngineName::Auto => auto::choose(free_units, self.budget),
            EngineName::Enumerate => return self.build(Enumerate::NAME, common.seed),
            EngineName::Gibbs => return self.build(Gibbs::NAME, common.seed),
        };
        if task == Task::Exact && choice.engine == Gibbs::NAME {
            // The engine itself refuses, with the figure.
            return self.build(Enumerate::NAME, common.seed);
        }
        common.note(&format!("engine: {}", choice.reason));
        self.build(choice.engine, common.seed)
    }

    fn build(&self, name: &str, seed: u64) -> Box<dyn Engine> {
        if name == Gibbs::NAME {
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
        } else {
            Box::new(Enumerate { budget: self.budget })
        }
    }
}
