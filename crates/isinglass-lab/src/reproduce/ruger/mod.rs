//! Rüger 1997, "Efficient inference and learning in decimatable Boltzmann machines".

mod scaling;
mod steps;

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "ruger-3",
        title: "Decimation, unit by unit, gives the exact partition sum",
        source: "Rüger 1997, figure 3 and section 4",
        claim: "The units of a decimatable machine can be removed one by one, each replaced by corrections of the weights \
                between its neighbours, in as many steps as there are units. The factors by which the partition sum changes \
                multiply to the partition sum.",
        run: steps::run,
    },
    Experiment {
        name: "ruger-scaling",
        title: "Decimation takes time linear in the number of units, and less than Gibbs sampling",
        source: "Rüger 1997, sections 4 to 6",
        claim: "Once the adjoint network is built, the partition sum and all moments of a decimatable machine are computed \
                exactly in time linear in the number of units. Traditional Gibbs sampling is comparatively slow.",
        run: scaling::run,
    },
];
