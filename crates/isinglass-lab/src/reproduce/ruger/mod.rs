//! Rüger 1997, "Efficient inference and learning in decimatable Boltzmann machines".

mod scaling;
mod steps;

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "ruger-3",
        title: "A machine decimated step by step",
        source: "Rüger 1997, figure 3 and section 4",
        claim: "One unit after the other can be taken out of a decimatable machine, each replaced by corrections of the weights among its neighbours; the factors by which the partition sum changes multiply to the \
                partition sum. It takes as many such steps as there are units.",
        run: steps::run,
    },
    Experiment {
        name: "ruger-scaling",
        title: "Decimation takes time in proportion to the units, and less than Gibbs sampling",
        source: "Rüger 1997, sections 4 to 6",
        claim: "Once the adjoint network is built, the partition sum and all moments of a decimatable machine are computed exactly in time linear in the number of units, where the traditional Gibbs sampling is \
                comparatively slow.",
        run: scaling::run,
    },
];
