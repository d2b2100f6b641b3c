//! The words by which users choose: engines, theories, orders.

use crate::Usage;

/// Something that users choose by a word.
pub trait Named: Copy + 'static {
    /// What is chosen, as a setting: `engine`.
    const SETTING: &'static str;
    /// All that can be chosen.
    const ALL: &'static [Self];

    /// The word.
    fn word(self) -> &'static str;

    /// What is chosen by it, in a line.
    fn about(self) -> &'static str;

    /// The one of a word.
    fn of(word: &str) -> Result<Self, Usage> {
        let found = Self::ALL.iter().copied().find(|name| name.word() == word);
        found.ok_or_else(|| {
            let words: Vec<&str> = Self::ALL.iter().map(|name| name.word()).collect();
            Usage(format!("--{}: found '{word}', expected {}", Self::SETTING, words.join(", ")))
        })
    }
}

/// An enum whose variants have a word; their documentation is what users are told about them.
macro_rules! named {
    ($(#[$outer:meta])* $setting:literal $name:ident { $(#[doc = $about:literal] $(#[$inner:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $(#[doc = $about] $(#[$inner])* $variant,)+
        }

        impl $crate::names::Named for $name {
            const SETTING: &'static str = $setting;
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            fn about(self) -> &'static str {
                match self { $(Self::$variant => $about.trim_ascii_start(),)+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Usage;

            fn from_str(word: &str) -> Result<Self, $crate::Usage> {
                $crate::names::Named::of(word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::names::Named::word(*self))
            }
        }
    };
}

pub(crate) use named;

named! {
    /// Engines that users can name.
    #[derive(Default)]
    "engine" EngineName {
        /// An exact engine if its cost is within the budget; otherwise sampling, or, where sampling cannot do the job, a refusal that names what can
        #[default]
        Auto = "auto",
        /// Every state of the free units: exact
        Enumerate = "enumerate",
        /// Unit by unit, by decimation: exact and linear in the units, for treewidth up to 3 (unit 0 counted)
        Decimate = "decimate",
        /// Unit by unit, with tables where decimation ends: exact for any treewidth within the budget
        Eliminate = "eliminate",
        /// Independent units: a lower bound on log Z, means, no correlations beyond theirs
        MeanField = "mean-field",
        /// Several mean fields mixed: a lower bound on log Z for machines with more than one mode
        Mixture = "mixture",
        /// Mean field that keeps a tractable subgraph of the strongest couplings whole: a lower bound on log Z, at least mean field's
        Structured = "structured",
        /// Tractable subgraphs that share out the couplings: an upper bound on log Z
        Trw = "trw",
        /// Mean field with the reaction of a unit's neighbours taken off: an approximation for many weak couplings
        Tap = "tap",
        /// The means of --around, correlations from how they answer to fields: an approximation
        LinearResponse = "linear-response",
        /// Belief propagation: exact without cycles, the Bethe approximation with them
        Bethe = "bethe",
        /// Gibbs sampling: estimates with standard errors, without log Z
        Gibbs = "gibbs",
        /// Annealed importance sampling: estimates with standard errors, of log Z too
        Ais = "ais",
        /// Max-product messages, for `map` alone: the most probable state, exact without cycles; with them a good one
        MaxProduct = "max-product",
    }
}

/// What an engine may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Means and moments.
    Expectations,
    /// log Z, or a bound or an estimate of it.
    Likelihood,
    /// States by chance.
    Draws,
    /// The most probable state.
    Mode,
}

impl EngineName {
    /// Whether the engine can give something, for some machines at least.
    #[must_use]
    pub fn gives(self, asked: Asked) -> bool {
        let is_exact = matches!(self, Self::Auto | Self::Enumerate | Self::Decimate | Self::Eliminate);
        match asked {
            Asked::Expectations => self != Self::MaxProduct,
            Asked::Likelihood => !matches!(self, Self::Gibbs | Self::MaxProduct),
            Asked::Draws => is_exact || self == Self::Gibbs,
            Asked::Mode => is_exact || self == Self::MaxProduct,
        }
    }

    /// The engine for rows of a table, where this one is for the whole machine: each row is likely to have one mode even where the machine has many (Lawrence,
    /// Bishop and Jordan 1998, section 3), and there are many rows.
    #[must_use]
    pub fn for_rows(self) -> Self {
        match self {
            Self::Mixture => Self::MeanField,
            other => other,
        }
    }
}

named! {
    /// The theory around which `linear-response` is taken.
    "around" AroundName {
        /// Mean field
        MeanField = "mean-field",
        /// The equations of Thouless, Anderson and Palmer
        Tap = "tap",
        /// Belief propagation
        Bethe = "bethe",
    }
}

named! {
    /// In which order variational engines update units.
    "schedule" ScheduleName {
        /// One after the other
        Sequential = "sequential",
        /// All at once: may oscillate, which is noticed and damped
        Parallel = "parallel",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineSettings;

    /// What is said of engines by name is what they say themselves.
    #[test]
    fn names_give_what_their_engines_give() {
        let settings = EngineSettings::default();
        for &name in EngineName::ALL {
            let Some(engine) = settings.named(name) else { continue };
            assert!(name.gives(Asked::Expectations));
            assert_eq!(name.gives(Asked::Likelihood), engine.has_log_z(), "{name}");
            assert_eq!(name.gives(Asked::Draws), engine.sampler().is_some(), "{name}");
            assert_eq!(name.gives(Asked::Mode), engine.mode_finder().is_some(), "{name}");
        }
    }

    #[test]
    fn words_lead_back_to_what_they_name() {
        for &name in EngineName::ALL {
            assert_eq!(name.word().parse(), Ok(name));
            assert!(!name.about().is_empty() && !name.about().starts_with(' '));
        }
        assert_eq!(
            "fast".parse::<ScheduleName>().unwrap_err().0,
            "--schedule: found 'fast', expected sequential, parallel"
        );
    }
}
