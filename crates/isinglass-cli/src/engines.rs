//! From `--engine` and its options to an engine.

use isinglass::complete::Open;
use isinglass::engine::GibbsSettings;
use isinglass::engine::auto::{self, Choice};
use isinglass::{
    Bethe, Decimate, Eliminate, Engine, Enumerate, Evidence, Gibbs, LinearResponse, Machine, MeanField, Tap,
};

use crate::options::{Common, EngineName, EngineOptions};
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
                Ok(self.gibbs(common.seed))
            }
        }
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
