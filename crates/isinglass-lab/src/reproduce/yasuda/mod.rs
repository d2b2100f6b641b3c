//! Yasuda, Tannai & Tanaka 2012, "Learning algorithm for Boltzmann machines using max-product
//! algorithm and pseudo-likelihood".

mod learning;
mod mean_field;
mod problem;
mod sampling;
mod timing;

use isinglass::topology::{self, Links, Numbers};
use isinglass::{Machine, Result};

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "yasuda-2",
        title: "A few draws of the hidden units per data point are enough",
        source: "Yasuda, Tannai & Tanaka 2012, figure 2 and section 4.1",
        claim: "Gibbs draws of the hidden units given each of M data points, started at the most probable state, reproduce \
                the means of the hidden units. The error hardly depends on the number K of draws per data point, but \
                strongly on M.",
        run: sampling::run,
    },
    Experiment {
        name: "yasuda-3",
        title: "Pseudo-likelihood EM converges within about 100 steps",
        source: "Yasuda, Tannai & Tanaka 2012, figure 3 and section 4.2",
        claim: "The log-likelihood of the data rises and levels off, and the change of the parameters per step falls. On \
                average learning has converged after about 100 steps.",
        run: learning::convergence,
    },
    Experiment {
        name: "yasuda-4",
        title: "The numbers of draws and of sweeps between them hardly matter",
        source: "Yasuda, Tannai & Tanaka 2012, figure 4 and section 4.2",
        claim: "The log-likelihood reached is nearly the same for different numbers K of draws per data point and λ of Monte \
                Carlo sweeps between draws. Small values are sufficient.",
        run: learning::dependence,
    },
    Experiment {
        name: "yasuda-5",
        title: "More draws make learning more stable",
        source: "Yasuda, Tannai & Tanaka 2012, figure 5 and section 4.2",
        claim: "A larger number K of draws makes convergence more stable: parameters change less per step with K = 9 than \
                with K = 3.",
        run: learning::stability,
    },
    Experiment {
        name: "yasuda-6",
        title: "Pseudo-likelihood EM beats mean-field contrastive divergence, most at large couplings",
        source: "Yasuda, Tannai & Tanaka 2012, figure 6 and section 4.2",
        claim: "Pseudo-likelihood EM reaches higher log-likelihoods than the mean-field learning of Welling and Hinton. The \
                latter degrades significantly where the couplings of the generating machine, drawn from (−J, J), are large.",
        run: mean_field::run,
    },
    Experiment {
        name: "yasuda-7",
        title: "Time grows linearly with the number of hidden units",
        source: "Yasuda, Tannai & Tanaka 2012, figure 7 and section 4.2",
        claim: "The computing time of learning grows linearly with the number of hidden units.",
        run: timing::run,
    },
];

/// Visible units in all experiments of the source.
const VISIBLE: usize = 17;
/// Draws K per data point, unless an experiment varies it.
const DRAWS: usize = 3;
/// Sweeps λ between draws, unless an experiment varies it.
const SWEEPS: usize = 2;

/// Returns the machine of the source's figure 1: visible units fully connected, hidden units in a
/// chain, each hidden unit coupled to every visible one; couplings uniform on (−j, j), biases on
/// (−0.1, 0.1).
fn generating_machine(hidden: usize, j: f64, seed: u64) -> Result<Machine> {
    let uniform = |reach: f64| Numbers::Uniform { low: -reach, high: reach };
    topology::two_layer(VISIBLE, &Links::Full, hidden, &Links::Chain)?.with_numbers(
        &uniform(j),
        &uniform(0.1),
        seed,
    )
}
