//! Lawrence, Bishop & Jordan 1998, "Mixture representations for inference and learning in Boltzmann machines".

mod digits;
mod inference;
mod toy;

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "lawrence-1",
        title: "Errors of expectations fall with the number of mixture components",
        source: "Lawrence, Bishop & Jordan 1998, figure 1 and section 4",
        claim: "The accuracy with which mixtures of mean fields approximate expectations of fully connected machines of ten units improves clearly and systematically with the number of components; one component is \
                mean field.",
        run: inference::run,
    },
    Experiment {
        name: "lawrence-2",
        title: "Learning two modes: exact, mean field, mixture of two",
        source: "Lawrence, Bishop & Jordan 1998, figure 2 and section 5.1",
        claim: "Two units learn (1, 1) twice and (−1, −1) once. Mean-field learning is wildly unstable, its biases oscillate. With a mixture of two components in the free phase, learning is well behaved and almost \
                indistinguishable from exact learning.",
        run: toy::learning,
    },
    Experiment {
        name: "lawrence-3",
        title: "Mean field jumps between the two modes",
        source: "Lawrence, Bishop & Jordan 1998, figure 3 and section 5.1",
        claim: "The oscillation of the biases under mean-field learning comes from the free phase: the unimodal approximation oscillates between the two modes of the joint distribution. While the weight is small, mean field has one solution; beyond a critical weight it has two.",
        run: toy::hopping,
    },
    Experiment {
        name: "lawrence-5",
        title: "Learning digits: the two cost functions",
        source: "Lawrence, Bishop & Jordan 1998, figure 5 and section 5.2",
        claim: "On 8×8 digits with ten hidden units, the cost function of mean-field learning is relatively unstable compared with that of a mixture of ten components in the free phase.",
        run: digits::costs,
    },
    Experiment {
        name: "lawrence-6",
        title: "Learning digits: what the free phase settles in",
        source: "Lawrence, Bishop & Jordan 1998, figure 6 and section 5.2",
        claim: "While digits are learned, the mean-field solution of the free phase hops from mode to mode; the components of the mixture are much more stable, though some still hop.",
        run: digits::components,
    },
];
