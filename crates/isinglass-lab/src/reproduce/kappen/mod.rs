//! Kappen & Rodríguez 1997, "Efficient learning in Boltzmann machines using linear response theory".

mod completion;
mod divergence;
mod patterns;
mod swing;
mod two_units;

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "kappen-1",
        title: "Exact learning settles, naive mean field does not",
        source: "Kappen & Rodríguez 1997, figure 1 and section 2.3",
        claim: "Two units learn the patterns (1, 1) and (−1, −1). With the exact gradient the Kullback divergence K falls to 0. With naive mean field, whose \
                fixed points have no correlations, learning never settles: it sometimes comes close to the best solution and does not stay there.",
        run: swing::run,
    },
    Experiment {
        name: "kappen-2",
        title: "Divergence of four methods against the number of patterns",
        source: "Kappen & Rodríguez 1997, figure 2",
        claim: "On 6 units, exact learning reaches K = 0 for few patterns and for all 64. Independent units (mf) do as well for one pattern only, and come near again towards \
                64. Linear response improves on them significantly, more so with a self-coupling (lr) than without (lr0).",
        run: divergence::against_patterns,
    },
    Experiment {
        name: "kappen-3",
        title: "Divergence above that of exact learning, against the number of units",
        source: "Kappen & Rodríguez 1997, figure 3",
        claim: "For 2n random patterns on n units, correlations matter more and more as n grows (K of independent units above K of exact learning); linear response is often \
                quite close to exact learning, and does not become worse with n.",
        run: divergence::against_units,
    },
    Experiment {
        name: "kappen-4",
        title: "Completion quality tells what the divergence would",
        source: "Kappen & Rodríguez 1997, figure 4",
        claim: "Over 200 data sets, the quality Q of completing patterns is more or less a linear function of K, for linear response and for independent units. If one method has the lower Q on a data \
                set, it has the lower K as well.",
        run: completion::against_divergence,
    },
    Experiment {
        name: "kappen-5",
        title: "Completion quality up to 100 units",
        source: "Kappen & Rodríguez 1997, figure 5",
        claim: "With 2n patterns, Q of linear response is very close to that of exact learning (known to n = 10) and stays there up to n = 100. Independent units are much worse and \
                approach ln 2.",
        run: completion::against_units,
    },
    Experiment {
        name: "kappen-6",
        title: "Two units: weight and threshold, exact and by linear response",
        source: "Kappen & Rodríguez 1997, figure 6 and appendix",
        claim: "For two units with ⟨s⟩ = m and P(+,−) = P(−,+) = a, linear response gives nearly the exact weight where weights are small. Where they are large the two differ, but \
                there the difference hardly changes the distribution. The same is more or less true of thresholds.",
        run: two_units::run,
    },
];
