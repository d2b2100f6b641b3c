//! Options that choose an engine and tell it what to do.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use isinglass::Budget;
use isinglass::engine::Annealing;
use isinglass_plan::{AroundName, Asked, EngineSettings, Named, ScheduleName};

pub(crate) use isinglass_plan::EngineName;

use crate::options::{Usage, at_least, below_one};

/// Which engine, and how much it may take.
#[derive(Args)]
pub(crate) struct EngineOptions {
    /// The engine that computes expectations
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = "Engine", value_parser = engines_for(Asked::Expectations))]
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
    #[arg(long, value_name = "THEORY", help_heading = "Engine", value_parser = named::<AroundName>())]
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
    #[arg(long, value_name = "ORDER", help_heading = "Engine", value_parser = named::<ScheduleName>())]
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

impl EngineOptions {
    /// What the user asked for, without the command line.
    pub(crate) fn settings(&self, seed: u64) -> EngineSettings {
        EngineSettings {
            engine: self.engine,
            budget: self.budget,
            seed,
            components: self.components,
            width: self.width,
            around: self.around,
            anneal: self.anneal,
            starts: self.starts,
            damping: self.damping,
            schedule: self.schedule,
            max_sweeps: self.max_sweeps,
            samples: self.samples,
            burn_in: self.burn_in,
            thin: self.thin,
            chains: self.chains,
            temperatures: self.temperatures,
        }
    }

    /// Refuse options for which none of the engines that will run has a use, but for those that something else takes.
    pub(crate) fn check_for(&self, engines: &[EngineName], taken: &[&str]) -> Result<(), Usage> {
        // Nothing that is checked depends on the seed.
        self.settings(0).check_for(engines, taken)
    }

    /// Refuse options that a bracket has no use for.
    pub(crate) fn check_bracket(&self) -> Result<(), Usage> {
        self.settings(0).check_bracket()
    }
}

/// The words of a choice, each with what it means.
pub(crate) fn named<N: Named + Send + Sync>() -> impl TypedValueParser<Value = N> {
    let words = N::ALL.iter().map(|name| PossibleValue::new(name.word()).help(name.about()));
    PossibleValuesParser::new(words).try_map(|word| N::of(&word))
}

/// The names of engines; the help tells only of those that give what a command asks for. The others are refused in words that say what can.
pub(crate) fn engines_for(asked: Asked) -> impl TypedValueParser<Value = EngineName> {
    let word =
        move |name: &EngineName| PossibleValue::new(name.word()).help(name.about()).hide(!name.gives(asked));
    PossibleValuesParser::new(EngineName::ALL.iter().map(word)).try_map(|word| EngineName::of(&word))
}

/// A treewidth that `trw` and `structured` can work with.
fn width(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|width| (1..=3).contains(width));
    number.ok_or_else(|| "expected 1, 2 or 3".into())
}

#[cfg(test)]
mod tests {
    use isinglass::engine::{AisSettings, GibbsSettings, VariationalSettings};
    use isinglass::search::MaxProduct;
    use isinglass::{Mixture, Structured, Trw};

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
