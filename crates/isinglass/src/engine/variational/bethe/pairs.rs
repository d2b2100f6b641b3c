//! The moments of all pairs.

use super::solver::{Solved, Solver};
use crate::engine::expectations::packed_pair;
use crate::engine::{PairMoments, Pairs};

impl Solver<'_> {
    /// ⟨s_i s_j⟩ of all pairs of a solved row: (0,1), (0,2), …, (1,2), ….
    ///
    /// Coupled pairs have the moments that the messages give. Of others, those of a forest are exact too: a unit depends on all before it through its one neighbour r there, so that
    /// `cov(i, j) = cov(i, r) cov(r, j) / var(r)`. Elsewhere they count as independent.
    ///
    /// *Complexity*: quadratic in the units.
    pub(super) fn all_pairs(&self, solved: &Solved<1>) -> Vec<f64> {
        let graph = self.machine.graph();
        let n = self.machine.units();
        let product = |a: usize, b: usize| solved.means[a][0] * solved.means[b][0];
        let mut values = PairMoments::collect(Pairs::All, graph, product).values;
        let pair = |a: usize, b: usize| packed_pair(n, a.min(b), a.max(b));
        if self.is_forest() {
            let unit = |place: u32| self.free[self.wiring.locals[place as usize] as usize];
            let places = self.wiring.locals.len();
            let back = &self.wiring.back;
            // Covariances first: the products are added when no more are made from them.
            let mut covariances = vec![0.0; values.len()];
            for place in 0..places {
                let Some(link) = back.of(place..place + 1).next() else { continue };
                let mirror = back.mirrors[link] as usize;
                let (own, parent) = (unit(place as u32), unit(self.wiring.ahead.senders[mirror]));
                let [tied] = solved.covariances[self.wiring.edges[mirror] as usize];
                // A unit that is certain passes nothing on.
                let [spread] = solved.variances[parent];
                let slope = if spread > f64::MIN_POSITIVE { tied / spread } else { 0.0 };
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
}
