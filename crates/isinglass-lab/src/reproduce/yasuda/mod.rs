//! Yasuda, Tannai & Tanaka 2012, "Learning algorithm for Boltzmann machines using max-product algorithm and pseudo-likelihood".

mod course;
mod learning;
mod mean_field;
mod sampling;
mod times;

use isinglass::topology::{self, Links, Numbers};
use isinglass::{Machine, Result};

use super::Experiment;

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "yasuda-2",
        title: "A few draws of the hidden units are enough",
        source: "Yasuda, Tannai & Tanaka 2012, figure 2 and section 4.1",
        claim: "Hidden units drawn given each of M data points by Gibbs sampling from the most probable state reproduce the means of the hidden units; the error hardly depends on the number K of draws for a data point, and \
                strongly on M.",
        run: sampling::run,
    },
    Experiment {
        name: "yasuda-3",
        title: "Pseudo-likelihood EM converges by about 100 steps",
        source: "Yasuda, Tannai & Tanaka 2012, figure 3 and section 4.2",
        claim: "The log-likelihood of the data rises and levels off, and the change of the parameters from step to step falls; on average learning has converged by about 100 steps.",
        run: learning::course,
    },
    Experiment {
        name: "yasuda-4",
        title: "Neither the number of draws nor the sweeps between them matter",
        source: "Yasuda, Tannai & Tanaka 2012, figure 4 and section 4.2",
        claim: "The log-likelihood reached is nearly the same for different numbers K of draws and λ of Monte Carlo steps between them; small values are sufficient.",
        run: learning::dependence,
    },
    Experiment {
        name: "yasuda-5",
        title: "More draws make learning steadier",
        source: "Yasuda, Tannai & Tanaka 2012, figure 5 and section 4.2",
        claim: "A larger K makes convergence more stable: parameters change less from step to step with K = 9 than with K = 3.",
        run: learning::stability,
    },
    Experiment {
        name: "yasuda-6",
        title: "Pseudo-likelihood EM against mean-field contrastive divergence",
        source: "Yasuda, Tannai & Tanaka 2012, figure 6 and section 4.2",
        claim: "Pseudo-likelihood EM reaches higher log-likelihoods than the mean-field learning of Welling and Hinton, which degrades significantly where couplings J of the generating machine are large.",
        run: mean_field::run,
    },
    Experiment {
        name: "yasuda-7",
        title: "Time grows linearly with the number of hidden units",
        source: "Yasuda, Tannai & Tanaka 2012, figure 7 and section 4.2",
        claim: "The computational time of learning grows linearly with the number of hidden units.",
        run: times::run,
    },
];

/// Visible units of all experiments of the source.
const VISIBLE: usize = 17;
/// Draws K for a data point, unless an experiment is about their number.
const DRAWS: usize = 3;
/// Sweeps λ between draws, unless an experiment is about their number.
const SWEEPS: usize = 2;

/// The machine of the source's figure 1: visible units all joined, hidden units in a chain, each hidden unit joined to every visible one; couplings uniform on (−j, j), biases on (−0.1, 0.1).
fn generating_machine(hidden: usize, j: f64, seed: u64) -> Result<Machine> {
    let uniform = |reach: f64| Numbers::Uniform { low: -reach, high: reach };
    topology::two_layer(VISIBLE, &Links::Full, hidden, &Links::Chain)?.with_numbers(
        &uniform(j),
        &uniform(0.1),
        seed,
    )
}
