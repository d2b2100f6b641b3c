//! The names by which users choose engines and learners.

use isinglass::choices;

choices! {
    /// Engines that users can name.
    pub enum EngineName = Auto {
        /// An exact engine if its cost is within the budget; otherwise tempering, or, where that cannot
        /// do the job, an error that names what can.
        Auto = "auto",
        /// Every state of the free units: exact.
        Enumerate = "enumerate",
        /// Unit by unit, by decimation: exact and linear in the units, for treewidth up to 3 (unit
        /// 0 counted).
        Decimate = "decimate",
        /// Unit by unit, with tables where decimation ends: exact for any treewidth within the
        /// budget.
        Eliminate = "eliminate",
        /// Independent units: a lower bound on log Z, means, no correlations beyond theirs.
        MeanField = "mean-field",
        /// Several mean fields mixed: a lower bound on log Z for machines with more than one mode.
        Mixture = "mixture",
        /// Mean field that keeps a tractable subgraph of the strongest couplings: a lower bound on
        /// log Z, at least mean field's.
        Structured = "structured",
        /// Tractable subgraphs that share the couplings: an upper bound on log Z.
        Trw = "trw",
        /// The entropy of a Gaussian with the units' covariances: an upper bound on log Z for many
        /// weak or dense couplings.
        LogDet = "logdet",
        /// Mean field with the Onsager reaction term: an approximation for many weak couplings.
        Tap = "tap",
        /// The means of a mean-field theory, correlations from their response to fields: an
        /// approximation.
        LinearResponse = "linear-response",
        /// Belief propagation: exact without cycles, the Bethe approximation with them.
        Bethe = "bethe",
        /// Parallel tempering: estimates with standard errors, of log Z too, where plain chains stick.
        Temper = "temper",
        /// Gibbs sampling: estimates with standard errors, without log Z.
        Gibbs = "gibbs",
        /// Annealed importance sampling: estimates with standard errors, of log Z too.
        Ais = "ais",
        /// Max-product messages, for `map` alone: the most probable state, exact without cycles;
        /// with them a good one.
        MaxProduct = "max-product",
    }
}

/// What may be requested of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Means and moments.
    Expectations,
    /// log Z, or a bound or an estimate of it.
    Likelihood,
    /// Random states.
    Draws,
    /// The most probable state.
    Mode,
    /// Thermodynamics over temperature.
    Scan,
}

impl EngineName {
    /// Whether the engine can give something, for some machines at least.
    #[must_use]
    pub fn gives(self, asked: Asked) -> bool {
        let is_exact = matches!(self, Self::Auto | Self::Enumerate | Self::Decimate | Self::Eliminate);
        match asked {
            Asked::Expectations => self != Self::MaxProduct,
            Asked::Likelihood => !matches!(self, Self::Gibbs | Self::MaxProduct),
            Asked::Draws => is_exact || matches!(self, Self::Gibbs | Self::Temper),
            Asked::Mode => is_exact || matches!(self, Self::Temper | Self::MaxProduct),
            Asked::Scan => is_exact || self == Self::Temper,
        }
    }

    /// Whether its answers are estimates from samples.
    #[must_use]
    pub fn samples(self) -> bool {
        matches!(self, Self::Temper | Self::Gibbs | Self::Ais)
    }

    /// The engine for the rows of a table, where this one is for the whole machine: each row is
    /// likely to have one mode even where the machine has many (Lawrence, Bishop and Jordan 1998,
    /// section 3), and there are many rows.
    #[must_use]
    pub fn for_rows(self) -> Self {
        match self {
            Self::Mixture => Self::MeanField,
            other => other,
        }
    }
}

choices! {
    /// Learners that users can name.
    pub enum LearnerName = Auto {
        /// likelihood if an engine is named or an exact engine is within the budget; otherwise
        /// likelihood by tempered chains for up to 300 units without hidden and input units, beyond
        /// that pseudo-likelihood, or pl-em with hidden units or missing cells.
        Auto = "auto",
        /// Maximum likelihood with the expectations of an engine.
        Likelihood = "likelihood",
        /// Every column given all others, for hundreds of columns; no hidden units; missing cells
        /// are drawn, as by pl-em.
        PseudoLikelihood = "pseudo-likelihood",
        /// Interaction screening: which columns are coupled, from as few rows as possible; no hidden
        /// units, no missing cells.
        Rise = "rise",
        /// The posterior distribution: which couplings there are, with what probability and how
        /// strong, by chains over machines; no hidden units.
        Bayes = "bayes",
        /// Pseudo-likelihood EM: hidden and missing units are drawn at every iteration.
        PlEm = "pl-em",
        /// Contrastive divergence: mini-batches, and a few sweeps from the rows or of persistent
        /// chains.
        ContrastiveDivergence = "contrastive-divergence",
        /// Contrastive divergence with mean field in place of sampling.
        MeanFieldCd = "mean-field-cd",
        /// From means and covariances by linear response, for any number of columns; no hidden
        /// units, no inputs.
        ClosedForm = "closed-form",
        /// Independent units, in closed form.
        Factorized = "factorized",
    }
}

impl LearnerName {
    /// The learners that may run in the end.
    #[must_use]
    pub fn possible(self) -> &'static [Self] {
        match self {
            Self::Auto => &[Self::Likelihood, Self::PseudoLikelihood, Self::PlEm],
            Self::PseudoLikelihood => &[Self::PseudoLikelihood, Self::PlEm],
            Self::Likelihood => &[Self::Likelihood],
            Self::Rise => &[Self::Rise],
            Self::Bayes => &[Self::Bayes],
            Self::PlEm => &[Self::PlEm],
            Self::ContrastiveDivergence => &[Self::ContrastiveDivergence],
            Self::MeanFieldCd => &[Self::MeanFieldCd],
            Self::ClosedForm => &[Self::ClosedForm],
            Self::Factorized => &[Self::Factorized],
        }
    }

    /// Whether it can learn hidden units.
    #[must_use]
    pub fn learns_hidden(self) -> bool {
        matches!(self, Self::Likelihood | Self::PlEm | Self::ContrastiveDivergence | Self::MeanFieldCd)
    }

    /// Whether it uses an engine that is named.
    #[must_use]
    pub fn takes_engine(self) -> bool {
        matches!(self, Self::Likelihood | Self::Bayes)
    }

    /// Whether fits from several starts can be compared.
    #[must_use]
    pub fn restarts(self) -> bool {
        // The objectives of contrastive learners do not order machines with hidden units.
        matches!(self, Self::Likelihood | Self::PlEm)
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
            assert_eq!(name.gives(Asked::Scan), engine.scanner().is_some(), "{name}");
        }
    }

    #[test]
    fn words_lead_back_to_what_they_name() {
        for &name in EngineName::ALL {
            assert_eq!(name.word().parse(), Ok(name));
            assert!(!name.about().is_empty());
        }
        let error = "fast".parse::<LearnerName>().unwrap_err().to_string();
        assert_eq!(&error[..37], "found 'fast', expected auto, likeliho");
    }
}
