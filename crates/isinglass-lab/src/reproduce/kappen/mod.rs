//! Kappen & Rodríguez 1997, "Efficient learning in Boltzmann machines using linear response
//! theory".

mod completion;
mod divergence;
mod patterns;
mod two_patterns;
mod two_units;

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "kappen-1",
        title: "Exact learning converges, naive mean field does not",
        source: "Kappen & Rodríguez 1997, figure 1 and section 2.3",
        claim: "Two units learn the patterns (1, 1) and (−1, −1): with the exact gradient the Kullback–Leibler \
                divergence K falls to 0. With naive mean field, learning never settles: it sometimes comes close to \
                the optimum but does not stay there.",
        run: two_patterns::run,
    },
    Experiment {
        name: "kappen-2",
        title: "Linear response improves on independent units, most with self-coupling",
        source: "Kappen & Rodríguez 1997, figure 2",
        claim: "On 6 units, exact learning approaches K = 0 for very few patterns and for all 64; linear response \
                improves clearly on independent units (mf) and is best with self-coupling (lr; lr0 without). For 2 to 6 \
                patterns about 10 % of the linear-response equations could not be solved.",
        run: divergence::against_patterns,
    },
    Experiment {
        name: "kappen-3",
        title: "Linear response stays close to exact learning as the number of units grows",
        source: "Kappen & Rodríguez 1997, figure 3",
        claim: "With 2n random patterns on n units, correlations matter more as n grows: independent units (mf) lose \
                more and more to exact learning. Linear response (lr) is often close to exact learning and does not \
                become worse with n.",
        run: divergence::against_units,
    },
    Experiment {
        name: "kappen-4",
        title: "Completion quality follows the divergence",
        source: "Kappen & Rodríguez 1997, figure 4",
        claim: "Over 200 data sets the completion quality Q (mean −ln P of a cell given the others) is roughly linear \
                in the divergence K, for linear response (lr) and for independent units (mf). The method with the lower \
                Q on a data set also has the lower K.",
        run: completion::against_divergence,
    },
    Experiment {
        name: "kappen-5",
        title: "Linear response completes patterns almost as well as exact learning",
        source: "Kappen & Rodríguez 1997, figure 5",
        claim: "With 2n patterns on n units, the completion quality Q of linear response is very close to that of exact \
                learning, which is feasible up to n = 10. Independent units are much worse at all sizes up to n = 100 and \
                approach ln 2.",
        run: completion::against_units,
    },
    Experiment {
        name: "kappen-6",
        title: "Errors of linear response at large weights hardly affect the distribution",
        source: "Kappen & Rodríguez 1997, figure 6 and appendix",
        claim: "For two units with ⟨s⟩ = m and P(+,−) = P(−,+) = a, linear response gives nearly the exact weight and \
                threshold where the weight w is small. Where it is large they differ, but the effect on the distribution, \
                and so on K, vanishes exponentially.",
        run: two_units::run,
    },
];
