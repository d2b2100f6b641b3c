//! What the draws of all chains say of each coupling and each bias.

use super::convergence::{Mixed, mixed};
use super::line::Frame;
use super::prior::Inclusion;
use crate::learn::Fit;

/// The posterior distribution of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marginal {
    /// The mean, over machines with and without the coupling.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// The lower limit of the central credible interval.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
    /// The split-R̂ of its chains, or that of being included, whichever is larger.
    pub r_hat: f64,
    /// The effective number of draws, of the number or of being included, whichever is smaller.
    pub effective_samples: f64,
}

/// The posterior distribution of a coupling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CouplingPosterior {
    /// Its units.
    pub units: (usize, usize),
    /// The probability that it is included.
    pub inclusion: f64,
    /// The logarithm of the Bayes factor for the coupling against its absence: the posterior odds
    /// divided by those of the prior. A coupling that was included in all draws, or in none, counts
    /// as if half a draw had been otherwise: its factor is at least, or at most, this.
    pub log_bayes_factor: f64,
    /// Its value; 0 where it is not included.
    pub weight: Marginal,
}

/// The result of [`Bayes`](super::Bayes).
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// The machine of posterior means, and how the chains went.
    pub fit: Fit,
    /// Couplings, in the order of the start's graph, without those between input units.
    pub couplings: Vec<CouplingPosterior>,
    /// Biases of all units; `None` for input units.
    pub biases: Vec<Option<Marginal>>,
    /// The probability that intervals cover.
    pub level: f64,
    /// The number of chains.
    pub chains: usize,
    /// The number of draws of each.
    pub samples: usize,
    /// The name of the exact engine, if the posterior is that of the likelihood; without one it is
    /// that of the pseudo-likelihood.
    pub engine: Option<&'static str>,
}

/// Draws of all chains: for each its draws one after another.
pub(super) struct Draws<'a> {
    pub(super) chains: Vec<&'a [f32]>,
    /// Numbers of a draw: couplings, then biases of modelled units.
    pub(super) width: usize,
    /// The temperature by which they are to be multiplied.
    pub(super) temperature: f64,
    pub(super) level: f64,
}

/// Everything that draws say.
pub(super) struct Summary {
    pub(super) couplings: Vec<CouplingPosterior>,
    pub(super) biases: Vec<Option<Marginal>>,
    pub(super) r_hat: f64,
    pub(super) effective_samples: f64,
}

impl Draws<'_> {
    pub(super) fn samples(&self) -> usize {
        self.chains.first().map_or(0, |draws| draws.len() / self.width.max(1))
    }

    fn column(&self, place: usize) -> Vec<Vec<f64>> {
        let of = |draws: &&[f32]| {
            let own = draws[place..].iter().step_by(self.width);
            own.map(|&x| f64::from(x) * self.temperature).collect()
        };
        self.chains.iter().map(of).collect()
    }

    pub(super) fn summary(&self, frame: &Frame, inclusion: Inclusion) -> Summary {
        let count = self.samples() * self.chains.len();
        let couplings: Vec<CouplingPosterior> = frame
            .ends
            .iter()
            .enumerate()
            .map(|(k, &units)| {
                let chains = self.column(k);
                let states: Vec<Vec<f64>> = chains
                    .iter()
                    .map(|chain| chain.iter().map(|w| f64::from(u8::from(*w != 0.0))).collect())
                    .collect();
                let included = states.iter().flatten().sum::<f64>();
                let odds = (included + 0.5) / (count as f64 - included + 0.5);
                CouplingPosterior {
                    units,
                    inclusion: included / count as f64,
                    log_bayes_factor: (odds / inclusion.odds()).ln(),
                    weight: self.marginal(&chains, mixed(&chains).or_worse(mixed(&states))),
                }
            })
            .collect();
        let mut biases = vec![None; frame.is_modelled.len()];
        for (k, &unit) in frame.modelled.iter().enumerate() {
            let chains = self.column(frame.ends.len() + k);
            biases[unit] = Some(self.marginal(&chains, mixed(&chains)));
        }
        let all = couplings.iter().map(|found| &found.weight).chain(biases.iter().flatten());
        let (mut r_hat, mut effective_samples) = (1.0, count as f64);
        for found in all {
            r_hat = f64::max(r_hat, found.r_hat);
            effective_samples = effective_samples.min(found.effective_samples);
        }
        Summary { couplings, biases, r_hat, effective_samples }
    }

    fn marginal(&self, chains: &[Vec<f64>], mixed: Mixed) -> Marginal {
        let mut all: Vec<f64> = chains.iter().flatten().copied().collect();
        let count = all.len() as f64;
        let mean = all.iter().sum::<f64>() / count;
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        all.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let place = share * (all.len() - 1) as f64;
            let (low, rest) = (place.floor() as usize, place.fract());
            all[low] + rest * (all[(low + 1).min(all.len() - 1)] - all[low])
        };
        let tail = 0.5 * (1.0 - self.level);
        Marginal {
            mean,
            deviation: variance.sqrt(),
            low: quantile(tail),
            high: quantile(1.0 - tail),
            r_hat: mixed.r_hat,
            effective_samples: mixed.effective_samples,
        }
    }
}

impl Mixed {
    fn or_worse(self, other: Self) -> Self {
        Self {
            r_hat: self.r_hat.max(other.r_hat),
            effective_samples: self.effective_samples.min(other.effective_samples),
        }
    }
}
