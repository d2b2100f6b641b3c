//! From `--engine` and its options to an engine.

use isinglass::engine::{GibbsSettings, auto};
use isinglass::search::ModeFinder;
use isinglass::{Engine, Enumerate, Gibbs, Sampler};

use crate::options::{Common, EngineName, EngineOptions};

/// An engine that the user can choose, with its settings.
pub(crate) enum Chosen {
    Enumerate(Enumerate),
    Gibbs(Gibbs),
}

impl Chosen {
    pub(crate) fn engine(&self) -> &dyn Engine {
        match self {
            Self::Enumerate(engine) => engine,
            Self::Gibbs(engine) => engine,
        }
    }

    pub(crate) fn sampler(&self) -> &dyn Sampler {
        match self {
            Self::Enumerate(engine) => engine,
            Self::Gibbs(engine) => engine,
        }
    }

    /// The engine as one that finds most probable states, if it can.
    pub(crate) fn mode_finder(&self) -> Option<&dyn ModeFinder> {
        match self {
            Self::Enumerate(engine) => Some(engine),
            Self::Gibbs(_) => None,
        }
    }
}

impl EngineOptions {
    /// The engine for some number of free units; what `auto` took and why goes to standard error.
    pub(crate) fn choose(&self, free_units: usize, common: &Common) -> Chosen {
        let name = match self.engine {
            EngineName::Auto => {
                let choice = auto::choose(free_units, self.budget);
                common.note(&format!("engine: {}", choice.reason));
                choice.engine
            }
            EngineName::Enumerate => Enumerate::NAME,
            EngineName::Gibbs => Gibbs::NAME,
        };
        if name == Gibbs::NAME {
            Chosen::Gibbs(self.gibbs(common.seed))
        } else {
            Chosen::Enumerate(self.enumerate())
        }
    }

    /// The engine for work that only exact engines can do: `auto` does not fall back to sampling here.
    pub(crate) fn choose_exact(&self, common: &Common) -> Chosen {
        match self.engine {
            EngineName::Auto | EngineName::Enumerate => Chosen::Enumerate(self.enumerate()),
            EngineName::Gibbs => Chosen::Gibbs(self.gibbs(common.seed)),
        }
    }

    fn enumerate(&self) -> Enumerate {
        Enumerate { budget: self.budget }
    }

    fn gibbs(&self, seed: u64) -> Gibbs {
        Gibbs {
            settings: GibbsSettings {
                chains: self.chains,
                burn_in: self.burn_in,
                samples: self.samples,
                thin: self.thin,
                seed,
                budget: self.budget,
            },
        }
    }
}
