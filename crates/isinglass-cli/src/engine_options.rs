//! Options that choose an engine and tell it what to do.

use clap::{Args, ValueEnum};
use isinglass::engine::{
    AisSettings, Annealing, Around, GibbsSettings, Schedule, StructuredSettings, TrwSettings,
    VariationalSettings,
};
use isinglass::search::MaxProduct;
use isinglass::{Budget, Mixture, Structured, Trw};

use crate::options::{Usage, at_least, below_one};

/// Engines that users can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum EngineName {
    /// An exact engine if its cost is within the budget; otherwise sampling, or, where sampling cannot do the job, a refusal that names what can
    Auto,
    /// Every state of the free units: exact
    Enumerate,
    /// Unit by unit, by decimation: exact and linear in the units, for treewidth up to 3 (unit 0 counted)
    Decimate,
    /// Unit by unit, with tables where decimation ends: exact for any treewidth within the budget
    Eliminate,
    /// Independent units: a lower bound on log Z, means, no correlations beyond theirs
    MeanField,
    /// Several mean fields mixed: a lower bound on log Z for machines with more than one mode
    Mixture,
    /// Mean field that keeps a tractable subgraph of the strongest couplings whole: a lower bound on log Z, at least mean field's
    Structured,
    /// Tractable subgraphs that share out the couplings: an upper bound on log Z
    Trw,
    /// Mean field with the reaction of a unit's neighbours taken off: an approximation for many weak couplings
    Tap,
    /// The means of --around, correlations from how they answer to fields: an approximation
    LinearResponse,
    /// Belief propagation: exact without cycles, the Bethe approximation with them
    Bethe,
    /// Gibbs sampling: estimates with standard errors, without log Z
    Gibbs,
    /// Annealed importance sampling: estimates with standard errors, of log Z too
    Ais,
    /// Max-product messages, for `map` alone: the most probable state, exact without cycles; with them a good one
    MaxProduct,
}

impl EngineName {
    /// The engine for rows of a table, where this one is for the whole machine: each row is likely to have one mode even where the machine has many (Lawrence,
    /// Bishop and Jordan 1998, section 3), and there are many rows.
    pub(crate) fn for_rows(self) -> Self {
        match self {
            Self::Mixture => Self::MeanField,
            other => other,
        }
    }
}

/// The theory around which `linear-response` is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum AroundName {
    /// Mean field
    MeanField,
    /// The equations of Thouless, Anderson and Palmer
    Tap,
    /// Belief propagation
    Bethe,
}

/// In which order variational engines update units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ScheduleName {
    /// One after the other
    Sequential,
    /// All at once: may oscillate, which is noticed and damped
    Parallel,
}

/// Which engine, and how much it may take.
#[derive(Args)]
pub(crate) struct EngineOptions {
    /// The engine that computes expectations
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = "Engine")]
    pub(crate) engine: EngineName,
    /// Memory that an engine may take (enumerate: at 8 bytes a state), such as 512MiB or 6GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", help_heading = "Engine")]
    pub(crate) budget: Budget,
    /// mixture: components [default: 5]
    #[arg(long, value_name = "L", help_heading = "Engine", value_parser = at_least::<1>)]
    components: Option<usize>,
    /// trw, structured: treewidth of the subgraphs, 1 (trees) to 3 [default: 3]
    #[arg(long, value_name = "K", help_heading = "Engine", value_parser = width)]
    width: Option<usize>,
    /// linear-response: around which fixed point [default: mean-field]
    #[arg(long, value_name = "THEORY", help_heading = "Engine")]
    around: Option<AroundName>,
    /// variational: begin at temperature T0 and cool down to the machine's own in so many geometric steps, such as 60:8
    #[arg(long, value_name = "T0:STEPS", help_heading = "Engine")]
    anneal: Option<Annealing>,
    /// variational: points from which the search begins (structured: subgraphs that are tried); the best end is kept [default: 1]
    #[arg(long, value_name = "N", help_heading = "Engine", value_parser = at_least::<1>)]
    starts: Option<usize>,
    /// variational, max-product: the share of the old value kept in each update, below 1; raised where a variational iteration oscillates [default: 0, max-product 0.5]
    #[arg(long, value_name = "X", help_heading = "Engine", value_parser = below_one, allow_hyphen_values = true)]
    damping: Option<f64>,
    /// variational: in which order units are updated [default: sequential]
    #[arg(long, value_name = "ORDER", help_heading = "Engine")]
    schedule: Option<ScheduleName>,
    /// variational, max-product: sweeps at most [default: 10000, max-product 300; steps of structured and trw: 1000]
    #[arg(long, value_name = "N", help_heading = "Engine", value_parser = at_least::<1>)]
    max_sweeps: Option<usize>,
    /// gibbs: kept states of each chain [default: 1000]; fit by pl-em: draws for each row [default: 3]
    #[arg(long, value_name = "N", help_heading = "Engine", value_parser = at_least::<1>)]
    samples: Option<usize>,
    /// gibbs: sweeps before the first kept state [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Engine")]
    burn_in: Option<usize>,
    /// gibbs: sweeps from one kept state to the next [default: 1]
    #[arg(long, value_name = "N", help_heading = "Engine", value_parser = at_least::<1>)]
    thin: Option<usize>,
    /// gibbs, ais: chains [default: 32, ais 1024]
    #[arg(long, value_name = "N", help_heading = "Engine", value_parser = at_least::<1>)]
    chains: Option<usize>,
    /// ais: temperatures on the way from independent units to the machine [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Engine", value_parser = at_least::<1>)]
    temperatures: Option<usize>,
}

/// Engines that look for a fixed point by sweeps over the units.
const FIXED_POINTS: [EngineName; 4] =
    [EngineName::MeanField, EngineName::Tap, EngineName::LinearResponse, EngineName::Bethe];

impl EngineOptions {
    /// Refuse options that the engine named has no use for.
    pub(crate) fn check(&self, engine: EngineName) -> Result<(), Usage> {
        self.check_for(&[engine], &[])
    }

    /// Refuse options for which none of the engines that will run has a use, but for those that something else takes.
    pub(crate) fn check_for(&self, engines: &[EngineName], taken: &[&str]) -> Result<(), Usage> {
        use EngineName::{Ais, Auto, Gibbs, LinearResponse, MaxProduct, Mixture, Structured, Trw};
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

    /// How many chains the user asked for.
    pub(crate) fn chains(&self) -> Option<usize> {
        self.chains
    }

    /// How many draws the user asked for.
    pub(crate) fn samples(&self) -> Option<usize> {
        self.samples
    }

    /// How variational engines look for their fixed points.
    pub(crate) fn variational(&self, seed: u64) -> VariationalSettings {
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
            seed,
            budget: self.budget,
            ..usual
        }
    }

    /// The theory to take a linear response around.
    pub(crate) fn around(&self) -> Around {
        match self.around {
            None | Some(AroundName::MeanField) => Around::MeanField,
            Some(AroundName::Tap) => Around::Tap,
            Some(AroundName::Bethe) => Around::Bethe,
        }
    }

    /// The engine `mixture`.
    pub(crate) fn mixture(&self, seed: u64) -> Mixture {
        let usual = Mixture::default();
        let settings = VariationalSettings {
            sweeps: self.max_sweeps.unwrap_or(usual.settings.sweeps),
            starts: self.starts.unwrap_or(usual.settings.starts),
            anneal: self.anneal,
            seed,
            budget: self.budget,
            ..usual.settings
        };
        Mixture { components: self.components.unwrap_or(usual.components), settings }
    }

    /// The engine `structured`.
    pub(crate) fn structured(&self, seed: u64) -> Structured {
        let usual = Structured::default();
        let settings = StructuredSettings {
            iterations: self.max_sweeps.unwrap_or(usual.settings.iterations),
            starts: self.starts.unwrap_or(usual.settings.starts),
            seed,
            budget: self.budget,
            ..usual.settings
        };
        Structured { width: self.width.unwrap_or(usual.width), settings }
    }

    /// The engine `trw`.
    pub(crate) fn trw(&self, seed: u64) -> Trw {
        let usual = Trw::default();
        let iterations = self.max_sweeps.unwrap_or(usual.settings.iterations);
        let settings = TrwSettings { iterations, seed, budget: self.budget, ..usual.settings };
        Trw { width: self.width.unwrap_or(usual.width), settings, ..usual }
    }

    /// The search `max-product`.
    pub(crate) fn max_product(&self) -> MaxProduct {
        let usual = MaxProduct::default();
        MaxProduct {
            damping: self.damping.unwrap_or(usual.damping),
            sweeps: self.max_sweeps.unwrap_or(usual.sweeps),
            budget: self.budget,
            ..usual
        }
    }

    /// How importance sampling is annealed.
    pub(crate) fn ais(&self, seed: u64) -> AisSettings {
        let usual = AisSettings::default();
        AisSettings {
            chains: self.chains.unwrap_or(usual.chains),
            temperatures: self.temperatures.unwrap_or(usual.temperatures),
            seed,
            budget: self.budget,
            ..usual
        }
    }

    /// How Gibbs chains are run.
    pub(crate) fn gibbs(&self, seed: u64) -> GibbsSettings {
        let usual = GibbsSettings::default();
        GibbsSettings {
            chains: self.chains.unwrap_or(usual.chains),
            burn_in: self.burn_in.unwrap_or(usual.burn_in),
            samples: self.samples.unwrap_or(usual.samples),
            thin: self.thin.unwrap_or(usual.thin),
            seed,
            budget: self.budget,
        }
    }
}

/// A treewidth that `trw` and `structured` can work with.
fn width(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|width| (1..=3).contains(width));
    number.ok_or_else(|| "expected 1, 2 or 3".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_tells_the_library_s_defaults() {
        let gibbs = GibbsSettings::default();
        assert_eq!((gibbs.chains, gibbs.burn_in, gibbs.samples, gibbs.thin), (32, 1000, 1000, 1));
        let variational = VariationalSettings::default();
        assert_eq!((variational.starts, variational.sweeps, variational.damping), (1, 10_000, 0.0));
        assert_eq!(Mixture::default().components, 5);
        let (structured, trw) = (Structured::default(), Trw::default());
        assert_eq!((structured.width, structured.settings.starts, trw.width), (3, 1, 3));
        assert_eq!((structured.settings.iterations, trw.settings.iterations), (1000, 1000));
        let max_product = MaxProduct::default();
        assert_eq!((max_product.damping, max_product.sweeps), (0.5, 300));
        let ais = AisSettings::default();
        assert_eq!((ais.chains, ais.temperatures), (1024, 1000));
    }
}
