//! From a solution of the equations to weights and biases (Kappen & Rodríguez 1997, eqs. 34–35).

use super::moments::Moments;
use crate::numeric::dense::Matrix;
use crate::{Machine, Result};

/// The machine whose linear response has the inverse `P` (of correlations): with `σ_i = √(1 − m_i²)`,
///
/// ```text
/// w_ij = T (δ_ij − P_ij) / (σ_i σ_j)        θ_i = T artanh m_i − Σ_j w_ij m_j
/// ```
///
/// The sum over j has the self-coupling `w_ii` in it; the machine itself has none. Units that cannot be coupled keep to themselves.
pub(super) fn machine_of(start: &Machine, moments: &Moments, precision: &Matrix) -> Result<Machine> {
    let temperature = start.temperature();
    let mut place = vec![usize::MAX; start.unit_count()];
    let mut biases: Vec<f64> = moments.alone.iter().map(|field| field * temperature).collect();
    let scaled: Vec<f64> =
        moments.means.iter().zip(&moments.deviations).map(|(m, deviation)| m / deviation).collect();
    for (k, &unit) in moments.units.iter().enumerate() {
        place[unit] = k;
        // Σ_j w_ij m_j = Σ_j (δ_ij − P_ij) m_j / (σ_i σ_j)
        let response: f64 = precision.column(k).iter().zip(&scaled).map(|(p, m)| p * m).sum();
        let pull = (scaled[k] - response) / moments.deviations[k];
        biases[unit] = temperature * (moments.fields[k] - pull);
    }
    let weight = |&(a, b): &(usize, usize)| match (place[a], place[b]) {
        (usize::MAX, _) | (_, usize::MAX) => 0.0,
        (a, b) => -temperature * precision[(a, b)] / (moments.deviations[a] * moments.deviations[b]),
    };
    let weights = start.graph().edges().iter().map(weight).collect();
    start.clone().with_parameters(weights, biases)
}
