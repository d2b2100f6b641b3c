//! Centred and scaled units: the coordinates in which steps are computed.
//!
//! With `x_i = (s_i − m_i) / σ_i`, where m and σ are mean and deviation of the unit, the statistics
//! `x_i` and `x_i x_j` of weakly coupled units are uncorrelated with variance 1, whatever their
//! rates. The change of parameters that belongs to it is linear,
//!
//! ```text
//! w_ij = u_ij / (σ_i σ_j),    θ_i = u_i / σ_i − Σ_j w_ij m_j
//! ```

use crate::{Graph, engine::Statistics};

/// Variances below this are taken for it: a unit that never moves.
const LEAST_VARIANCE: f64 = 1e-6;

/// Means and deviations of units.
pub(super) struct Coordinates {
    pub(super) means: Vec<f64>,
    pub(super) deviations: Vec<f64>,
}

impl Coordinates {
    /// Those of averages of units that are −1 or +1.
    pub(super) fn of(means: &[f64]) -> Self {
        let deviation = |m: &f64| (1.0 - m * m).max(LEAST_VARIANCE).sqrt();
        Self { means: means.to_vec(), deviations: means.iter().map(deviation).collect() }
    }

    /// The value of a unit that is up, and of one that is down.
    pub(super) fn values(&self, unit: usize) -> [f64; 2] {
        [1.0, -1.0].map(|s| (s - self.means[unit]) / self.deviations[unit])
    }

    /// Averages of `x_i x_j` over edges, then of `x_i`, from those of the units.
    pub(super) fn centred(&self, graph: &Graph, sums: &Statistics) -> Vec<f64> {
        let mean = |unit: usize| sums.means[unit] / sums.weight;
        let pairs = graph.edges().iter().zip(&sums.edges).map(|(&(a, b), sum)| {
            let raw = sum / sums.weight - self.means[a] * mean(b) - self.means[b] * mean(a);
            (raw + self.means[a] * self.means[b]) / (self.deviations[a] * self.deviations[b])
        });
        let units = (0..graph.unit_count()).map(|a| (mean(a) - self.means[a]) / self.deviations[a]);
        pairs.chain(units).collect()
    }

    /// Adds a step to weights and biases.
    pub(super) fn add(&self, graph: &Graph, step: &[f64], weights: &mut [f64], biases: &mut [f64]) {
        let (pairs, units) = step.split_at(graph.edges().len());
        for (bias, (u, deviation)) in biases.iter_mut().zip(units.iter().zip(&self.deviations)) {
            *bias += u / deviation;
        }
        for ((&(a, b), u), weight) in graph.edges().iter().zip(pairs).zip(weights) {
            let change = u / (self.deviations[a] * self.deviations[b]);
            *weight += change;
            biases[a] -= change * self.means[b];
            biases[b] -= change * self.means[a];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    /// A step changes −E of every state by Σ u_ij x_i x_j + Σ u_i x_i, but for a constant.
    #[test]
    fn a_step_is_the_same_in_both_coordinates() {
        let machine = topology::full(4);
        let graph = machine.graph();
        let coordinates = Coordinates::of(&[0.3, -0.9, 0.0, 0.99]);
        let step: Vec<f64> = (0..10).map(|k| 0.1 * f64::from(k) - 0.4).collect();
        let (mut weights, mut biases) = (vec![0.0; 6], vec![0.0; 4]);
        coordinates.add(graph, &step, &mut weights, &mut biases);
        let difference = |state: usize| {
            let s: Vec<f64> = (0..4).map(|k| if state >> k & 1 == 1 { 1.0 } else { -1.0 }).collect();
            let x = |k: usize| coordinates.values(k)[usize::from(s[k] < 0.0)];
            let pairs = graph.edges().iter().enumerate();
            let there: f64 = pairs.map(|(e, &(a, b))| step[e] * x(a) * x(b) - weights[e] * s[a] * s[b]).sum();
            there + (0..4).map(|k| step[6 + k] * x(k) - biases[k] * s[k]).sum::<f64>()
        };
        for state in 1..16 {
            assert!((difference(state) - difference(0)).abs() < 1e-12);
        }
    }
}
