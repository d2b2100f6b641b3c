//! Settings of engines, and engines from them.

use isinglass::engine::{
    AisSettings, Annealing, Around, GibbsSettings, Schedule, StructuredSettings, TrwSettings,
    VariationalSettings,
};
use isinglass::search::MaxProduct;
use isinglass::{
    Ais, Bethe, Budget, Decimate, Eliminate, Engine, Enumerate, Gibbs, LinearResponse, MeanField, Mixture,
    Structured, Tap, Trw,
};

use crate::{AroundName, EngineName, ScheduleName, Usage};

/// Which engine, how much it may take, and what it is to do; the core's defaults where nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EngineSettings {
    /// The engine.
    pub engine: EngineName,
    /// Memory that it may take.
    pub budget: Budget,
    /// The seed of everything random.
    pub seed: u64,
    /// mixture: components.
    pub components: Option<usize>,
    /// trw, structured: treewidth of the subgraphs.
    pub width: Option<usize>,
    /// linear-response: around which fixed point.
    pub around: Option<AroundName>,
    /// Variational: where to begin cooling, and in how many steps.
    pub anneal: Option<Annealing>,
    /// Variational: points from which the search begins.
    pub starts: Option<usize>,
    /// Variational, max-product: the share of the old value kept in each update.
    pub damping: Option<f64>,
    /// Variational: in which order units are updated.
    pub schedule: Option<ScheduleName>,
    /// Variational, max-product: sweeps at most.
    pub max_sweeps: Option<usize>,
    /// gibbs: kept states of each chain.
    pub samples: Option<usize>,
    /// gibbs: sweeps before the first kept state.
    pub burn_in: Option<usize>,
    /// gibbs: sweeps from one kept state to the next.
    pub thin: Option<usize>,
    /// gibbs, ais: chains.
    pub chains: Option<usize>,
    /// ais: temperatures on the way.
    pub temperatures: Option<usize>,
}

/// Engines that look for a fixed point by sweeps over the units.
const FIXED_POINTS: [EngineName; 4] =
    [EngineName::MeanField, EngineName::Tap, EngineName::LinearResponse, EngineName::Bethe];

impl EngineSettings {
    /// An engine as usual.
    pub fn for_engine(engine: EngineName) -> Self {
        Self { engine, ..Self::default() }
    }

    /// Refuse settings that the engine has no use for, and numbers that no engine can work with.
    pub fn check(&self) -> Result<(), Usage> {
        self.check_for(&[self.engine], &[])
    }

    /// Refuse settings for which none of the engines that will run has a use, but for those that something else takes.
    pub fn check_for(&self, engines: &[EngineName], taken: &[&str]) -> Result<(), Usage> {
        use EngineName::{Ais, Auto, Gibbs, LinearResponse, MaxProduct, Mixture, Structured, Trw};
        self.check_numbers()?;
        let damped = [&FIXED_POINTS[..], &[MaxProduct]].concat();
        let cooled = [&FIXED_POINTS[..], &[Mixture]].concat();
        let started = [&cooled[..], &[Structured]].concat();
        let iterated = [&started[..], &[Trw, MaxProduct]].concat();
        let variational = "variational engines such as --engine mean-field";
        // `auto` may turn to sampling.
        let table: [(&str, bool, &[EngineName], &str); 13] = [
            ("--components", self.components.is_some(), &[Mixture], "--engine mixture"),
            ("--width", self.width.is_some(), &[Trw, Structured], "--engine trw and structured"),
            ("--around", self.around.is_some(), &[LinearResponse], "--engine linear-response"),
            ("--anneal", self.anneal.is_some(), &cooled, variational),
            ("--starts", self.starts.is_some(), &started, variational),
            ("--damping", self.damping.is_some(), &damped, variational),
            ("--schedule", self.schedule.is_some(), &FIXED_POINTS, variational),
            ("--max-sweeps", self.max_sweeps.is_some(), &iterated, variational),
            ("--samples", self.samples.is_some(), &[Gibbs, Auto], "--engine gibbs"),
            ("--burn-in", self.burn_in.is_some(), &[Gibbs, Auto], "--engine gibbs"),
            ("--thin", self.thin.is_some(), &[Gibbs, Auto], "--engine gibbs"),
            ("--chains", self.chains.is_some(), &[Gibbs, Ais, Auto], "--engine gibbs and ais"),
            ("--temperatures", self.temperatures.is_some(), &[Ais], "--engine ais"),
        ];
        let idle = |owners: &[EngineName]| !engines.iter().any(|engine| owners.contains(engine));
        let mut given =
            table.into_iter().filter(|(option, is_given, ..)| *is_given && !taken.contains(option));
        if let Some((option, _, _, owner)) = given.find(|(_, _, owners, _)| idle(owners)) {
            return Err(Usage(format!("{option} belongs to {owner}")));
        }
        match self.samples.filter(|&samples| samples < 4 && !taken.contains(&"--samples")) {
            Some(samples) => Err(Usage(format!("--samples: found {samples}, and chains need at least 4"))),
            None => Ok(()),
        }
    }

    /// Refuse settings that a bracket has no use for.
    pub fn check_bracket(&self) -> Result<(), Usage> {
        use EngineName::{Mixture, Structured, Trw};
        match self.engine {
            EngineName::Auto | Trw => self.check_for(&[Mixture, Structured, Trw], &[]),
            EngineName::MeanField => self.check_for(&[EngineName::MeanField, Trw], &[]),
            Mixture => self.check_for(&[Mixture, Trw], &[]),
            Structured => self.check_for(&[Structured, Trw], &[]),
            _ => self.check(),
        }
    }

    /// Refuse numbers that no engine can work with.
    fn check_numbers(&self) -> Result<(), Usage> {
        let counts = [
            ("--components", self.components),
            ("--starts", self.starts),
            ("--max-sweeps", self.max_sweeps),
            ("--samples", self.samples),
            ("--thin", self.thin),
            ("--chains", self.chains),
            ("--temperatures", self.temperatures),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == Some(0)) {
            return Err(Usage(format!("{name}: found 0, expected a whole number of at least 1")));
        }
        if let Some(width) = self.width.filter(|width| !(1..=3).contains(width)) {
            return Err(Usage(format!("--width: found {width}, expected 1, 2 or 3")));
        }
        match self.damping.filter(|damping| !(0.0..1.0).contains(damping)) {
            Some(damping) => {
                Err(Usage(format!("--damping: found {damping}, expected a number of at least 0 and below 1")))
            }
            None => Ok(()),
        }
    }

    /// The engine of a name; `auto` is none, and what finds states only is none.
    pub(crate) fn named(&self, name: EngineName) -> Option<Box<dyn Engine>> {
        let budget = self.budget;
        let settings = self.variational();
        Some(match name {
            EngineName::Auto | EngineName::MaxProduct => return None,
            EngineName::Enumerate => Box::new(Enumerate { budget }),
            EngineName::Decimate => Box::new(Decimate::new().budget(budget)),
            EngineName::Eliminate => Box::new(Eliminate::new().budget(budget)),
            EngineName::MeanField => Box::new(MeanField { settings }),
            EngineName::Mixture => Box::new(self.mixture()),
            EngineName::Structured => Box::new(self.structured()),
            EngineName::Trw => Box::new(self.trw()),
            EngineName::Tap => Box::new(Tap { settings }),
            EngineName::LinearResponse => Box::new(LinearResponse { around: self.around(), settings }),
            EngineName::Bethe => Box::new(Bethe { settings }),
            EngineName::Gibbs => Box::new(Gibbs { settings: self.gibbs() }),
            EngineName::Ais => Box::new(Ais { settings: self.ais() }),
        })
    }

    /// How variational engines look for their fixed points.
    pub fn variational(&self) -> VariationalSettings {
        let usual = VariationalSettings::default();
        VariationalSettings {
            sweeps: self.max_sweeps.unwrap_or(usual.sweeps),
            damping: self.damping.unwrap_or(usual.damping),
            schedule: match self.schedule {
                None | Some(ScheduleName::Sequential) => Schedule::Sequential,
                Some(ScheduleName::Parallel) => Schedule::Parallel,
            },
            starts: self.starts.unwrap_or(usual.starts),
            anneal: self.anneal,
            seed: self.seed,
            budget: self.budget,
            ..usual
        }
    }

    /// The theory to take a linear response around.
    fn around(&self) -> Around {
        match self.around {
            None | Some(AroundName::MeanField) => Around::MeanField,
            Some(AroundName::Tap) => Around::Tap,
            Some(AroundName::Bethe) => Around::Bethe,
        }
    }

    /// The engine `mixture`.
    pub fn mixture(&self) -> Mixture {
        let usual = Mixture::default();
        let settings = VariationalSettings {
            sweeps: self.max_sweeps.unwrap_or(usual.settings.sweeps),
            starts: self.starts.unwrap_or(usual.settings.starts),
            anneal: self.anneal,
            seed: self.seed,
            budget: self.budget,
            ..usual.settings
        };
        Mixture { components: self.components.unwrap_or(usual.components), settings }
    }

    /// The engine `structured`.
    pub fn structured(&self) -> Structured {
        let usual = Structured::default();
        let settings = StructuredSettings {
            iterations: self.max_sweeps.unwrap_or(usual.settings.iterations),
            starts: self.starts.unwrap_or(usual.settings.starts),
            seed: self.seed,
            budget: self.budget,
            ..usual.settings
        };
        Structured { width: self.width.unwrap_or(usual.width), settings }
    }

    /// The engine `trw`.
    pub fn trw(&self) -> Trw {
        let usual = Trw::default();
        let iterations = self.max_sweeps.unwrap_or(usual.settings.iterations);
        let settings = TrwSettings { iterations, seed: self.seed, budget: self.budget, ..usual.settings };
        Trw { width: self.width.unwrap_or(usual.width), settings, ..usual }
    }

    /// The search `max-product`.
    pub fn max_product(&self) -> MaxProduct {
        let usual = MaxProduct::default();
        MaxProduct {
            damping: self.damping.unwrap_or(usual.damping),
            sweeps: self.max_sweeps.unwrap_or(usual.sweeps),
            budget: self.budget,
            ..usual
        }
    }

    /// How importance sampling is annealed.
    fn ais(&self) -> AisSettings {
        let usual = AisSettings::default();
        AisSettings {
            chains: self.chains.unwrap_or(usual.chains),
            temperatures: self.temperatures.unwrap_or(usual.temperatures),
            seed: self.seed,
            budget: self.budget,
            ..usual
        }
    }

    /// How Gibbs chains are run.
    pub fn gibbs(&self) -> GibbsSettings {
        let usual = GibbsSettings::default();
        GibbsSettings {
            chains: self.chains.unwrap_or(usual.chains),
            burn_in: self.burn_in.unwrap_or(usual.burn_in),
            samples: self.samples.unwrap_or(usual.samples),
            thin: self.thin.unwrap_or(usual.thin),
            seed: self.seed,
            budget: self.budget,
        }
    }
}
