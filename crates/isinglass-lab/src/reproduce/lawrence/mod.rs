//! Lawrence, Bishop & Jordan 1998, "Mixture representations for inference and learning in Boltzmann
//! machines".

mod digits;
mod inference;
mod two_modes;

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "lawrence-1",
        title: "Errors of expectations fall with the number of mixture components",
        source: "Lawrence, Bishop & Jordan 1998, figure 1 and section 4",
        claim: "The accuracy of mixtures of mean fields, for the expectations of fully connected machines of ten units, \
                improves clearly and systematically with the number of components. One component is mean field.",
        run: inference::run,
    },
    Experiment {
        name: "lawrence-2",
        title: "Mean-field learning of two modes is unstable, a mixture of two is not",
        source: "Lawrence, Bishop & Jordan 1998, figure 2 and section 5.1",
        claim: "Two units learn (1, 1) twice and (−1, −1) once: mean-field learning is wildly unstable, and its biases \
                oscillate. With a mixture of two components, learning is well behaved and almost indistinguishable from exact \
                learning.",
        run: two_modes::learning,
    },
    Experiment {
        name: "lawrence-3",
        title: "Mean field jumps between the two modes",
        source: "Lawrence, Bishop & Jordan 1998, figure 3 and section 5.1",
        claim: "The biases oscillate under mean-field learning because the unimodal approximation of the free phase jumps \
                between the two modes of the joint distribution. Mean field has one solution while the weight is small, and two \
                beyond a critical weight.",
        run: two_modes::jumps,
    },
    Experiment {
        name: "lawrence-5",
        title: "Learning digits: the cost of a mixture is more stable than that of mean field",
        source: "Lawrence, Bishop & Jordan 1998, figure 5 and section 5.2",
        claim: "On 8×8 digits with ten hidden units, the cost function of mean-field learning is unstable compared with that \
                of a mixture of ten components in the free phase.",
        run: digits::costs,
    },
    Experiment {
        name: "lawrence-6",
        title: "Learning digits: mixture components are more stable than mean field",
        source: "Lawrence, Bishop & Jordan 1998, figure 6 and section 5.2",
        claim: "While digits are learned, the mean-field solution of the free phase jumps from mode to mode. The components of \
                the mixture are much more stable, though some still jump.",
        run: digits::components,
    },
];
