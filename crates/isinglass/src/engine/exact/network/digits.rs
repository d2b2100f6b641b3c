//! The number of correct digits of an answer.
//!
//! Every step rounds weights of the size of those at its unit, and an effective weight passes on
//! the errors of its sources at most once. Where couplings are moderate, errors die out within a
//! few units; units tied together by strong couplings share theirs.

use crate::Machine;
use crate::engine::Guarantee;

/// Up to this sum of |v| over units tied together, nine decimals are right.
const NINE_DIGITS: f64 = 1e6;

/// Couplings beyond this (divided by T) tie units together: they damp errors by less than 1/1000.
const STRONG: f64 = 4.0;

/// Exact, if units tied together have numbers small enough for nine digits. Linear time.
pub(crate) fn guarantee(machine: &Machine, free: impl IntoIterator<Item = usize>) -> Guarantee {
    // The common case: everything together is small enough.
    if 2.0 * machine.scale() <= NINE_DIGITS {
        return Guarantee::Exact;
    }
    let temperature = machine.temperature();
    // Few strong couplings: no cluster has more units than these join.
    let largest = |numbers: &[f64]| numbers.iter().fold(0.0, |most: f64, x| most.max(x.abs())) / temperature;
    let degree = (0..machine.unit_count()).map(|unit| machine.graph().degree(unit)).max().unwrap_or(0);
    let at_unit = largest(machine.biases()) + degree as f64 * largest(machine.weights());
    let strong = machine.weights().iter().filter(|w| w.abs() > STRONG * temperature).count();
    if (strong + 1) as f64 * at_unit <= NINE_DIGITS {
        return Guarantee::Exact;
    }
    let mut tied = Clusters((0..machine.unit_count()).collect());
    for (&(a, b), w) in machine.graph().edges().iter().zip(machine.weights()) {
        if w.abs() > STRONG * temperature {
            tied.join(a, b);
        }
    }
    let mut sums = vec![0.0; machine.unit_count()];
    for unit in free {
        let around = machine.graph().neighbours(unit).map(|(_, edge)| machine.weights()[edge].abs());
        let size = (machine.biases()[unit].abs() + around.sum::<f64>()) / temperature;
        let cluster = tied.of(unit);
        sums[cluster] += size;
        if sums[cluster] > NINE_DIGITS {
            return Guarantee::Approximation;
        }
    }
    Guarantee::Exact
}

/// Disjoint sets of units, each represented by one of its members.
struct Clusters(Vec<usize>);

impl Clusters {
    fn of(&mut self, unit: usize) -> usize {
        let mut at = unit;
        while self.0[at] != at {
            // Path halving.
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    #[test]
    fn strong_chains_are_not_called_exact_for_being_long() {
        for (n, w, free, expected) in [
            (100, 4.9e5, 100, Guarantee::Approximation),
            (1000, 1e5, 1000, Guarantee::Approximation),
            (100, 20.0, 100, Guarantee::Exact),
            // With moderate couplings, errors do not spread.
            (400_000, 3.0, 400_000, Guarantee::Exact),
            // Clamped units do not count.
            (100, 4.9e5, 1, Guarantee::Exact),
        ] {
            let chain = topology::chain(n).with_parameters(vec![w; n - 1], vec![0.1; n]).unwrap();
            assert_eq!(guarantee(&chain, 0..free), expected);
        }
    }
}
