//! The moments of uncoupled pairs.

use super::solver::{Solved, Solver};
use crate::engine::expectations::packed_pair;
use crate::engine::{PairMoments, Pairs};

impl Solver<'_> {
    /// Returns ⟨s_i s_j⟩ of all pairs of a solved row: (0,1), (0,2), …, (1,2), ….
    ///
    /// Coupled pairs have the moments of their beliefs. Other pairs are exact on a forest, where a
    /// unit depends on earlier ones through one neighbour r: `cov(i, j) = cov(i, r) cov(r, j) /
    /// var(r)`. Elsewhere they count as independent. *Complexity*: quadratic in the units.
    pub(in crate::engine::variational) fn all_pairs(&self, solved: &Solved<1>) -> Vec<f64> {
        let graph = self.machine.graph();
        let n = self.machine.unit_count();
        let product = |a: usize, b: usize| solved.means[a][0] * solved.means[b][0];
        let mut values = PairMoments::collect(Pairs::All, graph, product).values;
        let pair = |a: usize, b: usize| packed_pair(n, a.min(b), a.max(b));
        if self.is_forest() {
            let unit = |place: u32| self.free[self.wiring.locals[place as usize] as usize];
            let places = self.wiring.locals.len();
            // Products of means are added once all covariances are computed.
            let mut covariances = vec![0.0; values.len()];
            for place in 0..places {
                let Some((parent, edge)) = self.before(place) else { continue };
                let (own, parent) = (unit(place as u32), unit(parent as u32));
                let [spread] = solved.variances[parent];
                let [slope] = slopes(solved, parent, edge);
                for before in (0..place as u32).map(unit) {
                    let through = if before == parent { spread } else { covariances[pair(parent, before)] };
                    covariances[pair(own, before)] = slope * through;
                }
            }
            for (value, covariance) in values.iter_mut().zip(covariances) {
                *value = (*value + covariance).clamp(-1.0, 1.0);
            }
        }
        for &edge in &self.wiring.edges {
            let (a, b) = graph.edges()[edge as usize];
            [values[pair(a, b)]] = solved.moments[edge as usize];
        }
        values
    }

    /// Sets the exact moments of a forest's edges of weight 0, as [`all_pairs`](Self::all_pairs)
    /// has them.
    ///
    /// *Complexity*: for each such edge, the path between its ends.
    pub(in crate::engine::variational) fn follow_idle_edges<const N: usize>(&self, solved: &mut Solved<N>) {
        if !(self.wiring.is_forest && self.wiring.has_idle_edges) {
            return;
        }
        let mut place_of = vec![None; self.machine.unit_count()];
        for (place, &local) in self.wiring.locals.iter().enumerate() {
            place_of[self.free[local as usize]] = Some(place);
        }
        let unit = |place: usize| self.free[self.wiring.locals[place] as usize];
        for (edge, &(a, b)) in self.machine.graph().edges().iter().enumerate() {
            let (Some(mut from), Some(mut to)) = (place_of[a], place_of[b]) else { continue };
            if self.machine.weights()[edge] / self.machine.temperature() != 0.0 {
                continue;
            }
            // Back from the later end, until both ends are at the same unit.
            let mut covariance = [1.0; N];
            while from != to {
                let later = from.max(to);
                let Some((parent, link)) = self.before(later) else { break };
                let slope = slopes(solved, unit(parent), link);
                covariance = std::array::from_fn(|row| covariance[row] * slope[row]);
                (from, to) = (from.min(to), parent);
            }
            if from == to {
                let spread = &solved.variances[unit(from)];
                let add = |row: usize| solved.moments[edge][row] + covariance[row] * spread[row];
                solved.moments[edge] = std::array::from_fn(|row| add(row).clamp(-1.0, 1.0));
            }
        }
    }

    /// Returns, in a forest, the one earlier place coupled with a place, and their edge.
    fn before(&self, place: usize) -> Option<(usize, usize)> {
        let back = &self.wiring.back;
        let mirror = back.mirrors[back.of(place..place + 1).next()?] as usize;
        Some((self.wiring.ahead.senders[mirror] as usize, self.wiring.edges[mirror] as usize))
    }
}

/// Returns `cov(i, r) / var(r)`: the regression of a unit on its neighbour; 0 if that is certain.
fn slopes<const N: usize>(solved: &Solved<N>, unit: usize, edge: usize) -> [f64; N] {
    let (spread, tied) = (&solved.variances[unit], &solved.covariances[edge]);
    std::array::from_fn(|row| if spread[row] > f64::MIN_POSITIVE { tied[row] / spread[row] } else { 0.0 })
}
