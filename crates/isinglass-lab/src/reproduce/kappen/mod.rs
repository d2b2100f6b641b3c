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
        claim: "Two units learn the patterns (1, 1) and (−1, −1). With the exact gradient the Kullback divergence K falls to 0 (figure 1). With naive mean field, whose \
                fixed points have no correlations, learning never settles: it sometimes comes close to the best solution and does not stay there.",
        run: swing::run,
    },
    Experiment {
        name: "kappen-2",
        title: "Divergence of four methods against the number of patterns",
        source: "Kappen & Rodríguez 1997, figure 2",
        claim: "On 6 units, exact learning approaches K = 0 for a very small number of patterns and towards all 64. For one pattern all methods have K = 0; independent units (mf) approach exact learning again towards \
                64. Linear response improves on them significantly, and is best with a self-coupling (lr; lr0 without). For 2 to 6 patterns, about 10 % of the equations of lr0 and lr could not be solved.",
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
        claim: "With 2n patterns, Q of linear response is very close to that of exact learning, which is known to n = 10. Independent units are much worse, on up to 100 units, and \
                approach ln 2.",
        run: completion::against_units,
    },
    Experiment {
        name: "kappen-6",
        title: "Two units: weight and threshold, exact and by linear response",
        source: "Kappen & Rodríguez 1997, figure 6 and appendix",
        claim: "For two units with ⟨s⟩ = m and P(+,−) = P(−,+) = a, linear response gives nearly the exact weight where weights are small. Where they are large the two differ, but \
                there the difference has an exponentially vanishing influence on the distribution, and so on the Kullback divergence. The same is more or less true of thresholds.",
        run: two_units::run,
    },
];
