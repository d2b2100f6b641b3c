//! Triangle inequalities: what covariances of units must keep to beyond being positive.

use crate::cancel;
use crate::numeric::dense::Matrix;

/// `1 + σ_a σ_b X_ab + σ_a σ_c X_ac + σ_b σ_c X_bc ≥ 0` for three units and signs.
///
/// It holds for every state, since three signs cannot all differ in pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cut {
    units: [usize; 3],
    /// The signs of the pairs ab, ac and bc: their product is 1.
    signs: [f64; 3],
}

/// The signs of the pairs of three units.
const SIGNS: [[f64; 3]; 4] = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];

/// Inequalities that are violated by less tighten next to nothing.
const LEAST: f64 = 1e-3;

impl Cut {
    /// The parameter of a new inequality, which gives it a weight of about 0.05.
    pub(super) const FIRST: f64 = -3.0;

    /// An inequality of three units.
    #[cfg(test)]
    pub(super) fn new(units: [usize; 3], signs: [f64; 3]) -> Self {
        Self { units, signs }
    }

    /// Its pairs of units with their signs.
    pub(super) fn pairs(&self) -> [(usize, usize, f64); 3] {
        let ([a, b, c], [ab, ac, bc]) = (self.units, self.signs);
        [(a, b, ab), (a, c, ac), (b, c, bc)]
    }

    /// How far covariances are from violating it.
    pub(super) fn slack(&self, moments: &Matrix) -> f64 {
        1.0 + self.pairs().into_iter().map(|(a, b, sign)| sign * moments[(a, b)]).sum::<f64>()
    }

    /// The weight with a parameter, `ln(1 + e^x)`, and its derivative: no weight is below 0.
    pub(super) fn weight(parameter: f64) -> (f64, f64) {
        let weight = parameter.max(0.0) + (-parameter.abs()).exp().ln_1p();
        (weight, 1.0 / (1.0 + (-parameter).exp()))
    }
}

/// The inequalities that covariances violate most, except some, at most so many; the first of equals.
///
/// *Complexity*: cubic in the units.
pub(super) fn violated(moments: &Matrix, except: &[Cut], most: usize) -> Vec<Cut> {
    let units = moments.size();
    let mut found: Vec<(f64, Cut)> = Vec::new();
    // Of very many, only the worst are remembered.
    let prune = |found: &mut Vec<(f64, Cut)>| {
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.truncate(most);
    };
    for a in 0..units {
        cancel::point();
        for b in a + 1..units {
            for c in b + 1..units {
                for signs in SIGNS {
                    let cut = Cut { units: [a, b, c], signs };
                    let slack = cut.slack(moments);
                    if slack < -LEAST {
                        found.push((slack, cut));
                    }
                }
            }
        }
        if found.len() > 4 * most.max(1024) {
            prune(&mut found);
        }
    }
    found.retain(|(_, cut)| !except.contains(cut));
    prune(&mut found);
    found.into_iter().map(|(_, cut)| cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_violate_none_and_the_worst_come_first() {
        for state in 0..8 {
            let spin = |unit: usize| if state >> unit & 1 == 1 { 1.0 } else { -1.0 };
            for signs in SIGNS {
                let slack = 1.0
                    + signs[0] * spin(0) * spin(1)
                    + signs[1] * spin(0) * spin(2)
                    + signs[2] * spin(1) * spin(2);
                assert!(slack >= 0.0);
            }
        }
        let mut moments = Matrix::identity(4);
        for (a, b, x) in [(1, 0, -0.4), (2, 0, -0.4), (2, 1, -0.4), (3, 0, -0.5), (3, 1, -0.5)] {
            moments.set_both(a, b, x);
        }
        let found = violated(&moments, &[], 10);
        let units: Vec<[usize; 3]> = found.iter().map(|cut| cut.units).collect();
        assert_eq!(units, [[0, 1, 3], [0, 1, 2]]);
        assert_eq!(violated(&moments, &found[..1], 10), found[1..]);
    }
}
