//! The diagonal of Fisher's information in centred units, as the first curvature of a fit.
//!
//! Rare events make the coordinates of ±1 units badly conditioned: if a column is nearly always −1,
//! its couplings act like biases of their other units, and the optimiser sees a long valley. In
//! centred, scaled units
//!
//! ```text
//! x_i = (s_i − m_i) / σ_i        σ_i² = 1 − m_i²
//! Σ w_ij s_i s_j + Σ θ_i s_i = Σ u_ij x_i x_j + Σ b_i x_i + const
//! u_ij = w_ij σ_i σ_j            b_i = σ_i (θ_i + Σ_j w_ij m_j)
//! ```
//!
//! the information of independent units is the identity (the *centred* machines of Montavon and
//! Müller 2012). The map is linear, so that optimising in u and b is the same as multiplying
//! gradients by `J Jᵀ`, with J the derivative of (w, θ) by (u, b): parameters, tolerances,
//! penalties and checkpoints stay those of w and θ.

use super::trained::Trained;

/// `J D⁻¹ Jᵀ` for the trained parameters of a machine, where J undoes the centring and D is the
/// curvature of centred parameters.
pub(super) struct Conditioning {
    /// For each trained coupling its units.
    ends: Vec<(usize, usize)>,
    /// For each unit the place of its bias among the trained ones.
    places: Vec<Option<usize>>,
    /// The unit of each trained bias.
    units: Vec<usize>,
    means: Vec<f64>,
}

impl Conditioning {
    /// *Arguments*: the mean of each unit, 0 where it is unknown; the weight of the rows that it
    /// comes from.
    pub(super) fn new(trained: &Trained, means: &[f64], rows: f64) -> Self {
        // As if one row had mean 0: a constant column has a variance, too.
        let shrink = rows.max(0.0) / (rows.max(0.0) + 1.0);
        let mut places = vec![None; means.len()];
        for (place, &unit) in trained.biases.iter().enumerate() {
            places[unit] = Some(place);
        }
        Self {
            ends: trained.ends().collect(),
            places,
            units: trained.biases.clone(),
            means: means.iter().map(|mean| shrink * mean.clamp(-1.0, 1.0)).collect(),
        }
    }

    /// σ² of a unit.
    pub(super) fn variance(&self, unit: usize) -> f64 {
        1.0 - self.means[unit] * self.means[unit]
    }

    /// The curvature of the log-likelihood for independent units: `σ_i² σ_j² / T²` for couplings,
    /// to which the penalty `λ/2 Σ w²` adds λ, and `σ_i² / T²` for biases.
    pub(super) fn information(&self, l2: f64, temperature: f64) -> Vec<f64> {
        let factor = temperature.powi(-2);
        let couplings = self.ends.iter().map(|&(a, b)| factor * self.variance(a) * self.variance(b) + l2);
        couplings.chain(self.units.iter().map(|&unit| factor * self.variance(unit))).collect()
    }

    /// The curvature of the pseudo-log-likelihood, `(β_i σ_j² + β_j σ_i²) / T² + λ` for couplings and
    /// `β_i / T²` for biases, with the ⟨1 − tanh²⟩ β of each modelled unit's conditional.
    pub(super) fn pseudo_information(&self, bends: &[f64], l2: f64, temperature: f64) -> Vec<f64> {
        let factor = temperature.powi(-2);
        let of = |unit: usize, other: usize| {
            self.places[unit].map_or(0.0, |place| factor * bends[place] * self.variance(other))
        };
        let couplings = self.ends.iter().map(|&(a, b)| of(a, b) + of(b, a) + l2);
        couplings.chain(bends.iter().map(|bend| factor * bend)).collect()
    }

    /// Multiplies a gradient by `J D⁻¹ Jᵀ`, for the diagonal D. Couplings that are not free do not
    /// move.
    pub(super) fn divide(&self, gradient: &mut [f64], diagonal: &[f64], is_free: impl Fn(usize) -> bool) {
        let (couplings, biases) = gradient.split_at_mut(self.ends.len());
        let means = &self.means;
        for (k, (slot, &(a, b))) in couplings.iter_mut().zip(&self.ends).enumerate() {
            if is_free(k) {
                let pull = |unit: usize, other: usize| {
                    self.places[unit].map_or(0.0, |place| means[other] * biases[place])
                };
                *slot = (*slot - pull(a, b) - pull(b, a)) / diagonal[k];
            } else {
                *slot = 0.0;
            }
        }
        for (slot, curvature) in biases.iter_mut().zip(&diagonal[self.ends.len()..]) {
            *slot /= curvature;
        }
        for (step, &(a, b)) in couplings.iter().zip(&self.ends) {
            for (unit, other) in [(a, b), (b, a)] {
                if let Some(place) = self.places[unit] {
                    biases[place] -= step * means[other];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, Machine, Role};

    /// The covariances of the trained statistics of independent units, by enumeration.
    fn information(trained: &Trained, machine: &Machine, means: &[f64]) -> Vec<Vec<f64>> {
        let n = means.len();
        let ends: Vec<(usize, usize)> = trained.ends().collect();
        let size = ends.len() + trained.biases.len();
        let (mut first, mut second) = (vec![0.0; size], vec![vec![0.0; size]; size]);
        for state in 0..1u32 << n {
            let spin = |unit: usize| if state >> unit & 1 == 1 { 1.0 } else { -1.0 };
            let p: f64 = (0..n).map(|unit| 0.5 * (1.0 + spin(unit) * means[unit])).product();
            let couplings = ends.iter().map(|&(a, b)| spin(a) * spin(b));
            let all: Vec<f64> = couplings.chain(trained.biases.iter().map(|&unit| spin(unit))).collect();
            for (i, x) in all.iter().enumerate() {
                first[i] += p * x;
                all.iter().zip(&mut second[i]).for_each(|(y, slot)| *slot += p * x * y);
            }
        }
        let factor = machine.temperature().powi(-2);
        let covariance = |i: usize, j: usize| factor * (second[i][j] - first[i] * first[j]);
        (0..size).map(|i| (0..size).map(|j| covariance(i, j)).collect()).collect()
    }

    #[test]
    fn it_is_the_inverse_information_of_independent_units() {
        let means = [-0.98, 0.3, 0.0, 0.9, -0.5];
        let graph = Graph::new(5, [(0, 1), (0, 3), (1, 2), (1, 4), (2, 3), (3, 4)]).unwrap();
        let machine = Machine::from_graph(graph).with_temperature(1.7).unwrap();
        let trained = Trained::of(&machine);
        let exact = information(&trained, &machine, &means);
        let conditioning = Conditioning::new(&trained, &means, 1e18);
        let diagonal = conditioning.information(0.0, machine.temperature());
        for column in 0..exact.len() {
            let mut found: Vec<f64> = exact.iter().map(|row| row[column]).collect();
            conditioning.divide(&mut found, &diagonal, |_| true);
            for (k, x) in found.into_iter().enumerate() {
                let expected = if k == column { 1.0 } else { 0.0 };
                assert!((x - expected).abs() < 1e-12, "{k}, {column}: {x}");
            }
        }
    }

    #[test]
    fn it_is_symmetric_and_positive_with_inputs_penalties_and_constant_columns() {
        let roles = vec![Role::Input, Role::Visible, Role::Visible, Role::Input];
        let graph = Graph::new(4, [(0, 1), (0, 2), (1, 2), (1, 3)]).unwrap();
        let machine = Machine::from_graph(graph).with_roles(roles).unwrap();
        let trained = Trained::of(&machine);
        let conditioning = Conditioning::new(&trained, &[0.5, 1.0, -0.9, -1.0], 10.0);
        let diagonal = conditioning.pseudo_information(&[0.1, 0.2], 0.3, 1.0);
        let size = diagonal.len();
        let column = |k: usize| {
            let mut unit = vec![0.0; size];
            unit[k] = 1.0;
            conditioning.divide(&mut unit, &diagonal, |k| k != 1);
            unit
        };
        let columns: Vec<Vec<f64>> = (0..size).map(column).collect();
        for i in 0..size {
            assert!(columns[i][i] > 0.0 || i == 1);
            for (j, other) in columns.iter().enumerate() {
                assert!((columns[i][j] - other[i]).abs() < 1e-12);
            }
        }
        assert!(columns.iter().all(|column| column[1] == 0.0), "what is not free does not move");
    }
}
