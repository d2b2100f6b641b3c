//! Elimination with numbers of any kind: derivatives, complex weights.
//!
//! A plan of tables only is run forward, number by number. The entries of tables are logarithms of
//! sums, in the form that [`Number`] defines.

use super::plan::{NONE, Output, Plan, Step};
use crate::cancel;

/// The logarithm of a weight, of some kind.
pub(super) trait Number: Clone {
    /// The logarithm of 1.
    fn one() -> Self;
    /// Multiplies by a weight.
    fn times(&mut self, other: &Self);
    /// Multiplies by `e^x`, a constant.
    fn shift(&mut self, x: f64);
    /// Multiplies by `e^x` with x a sum of couplings.
    fn couple(&mut self, x: f64) {
        self.shift(x);
    }
    /// The logarithm of the weight's size.
    fn log_size(&self) -> f64;
    /// The sum of two weights.
    fn sum(a: Self, b: Self) -> Self;
}

/// States of a table between two checks for cancellation.
const STATES_BETWEEN: u64 = 1 << 12;

/// The partition sum of a plan of tables, as a number and x of a factor `e^x`.
///
/// *Arguments*: the effective weight of an edge of the machine; the weights of a local unit's
/// values −1 and +1 by its bias.
pub(super) fn partition_sum<N: Number>(
    plan: &Plan,
    weight: impl Fn(usize) -> f64,
    bias: impl Fn(usize) -> [N; 2],
) -> (N, f64) {
    let mut tables: Vec<Vec<N>> = vec![Vec::new(); plan.table_bits.len()];
    let mut whole = N::one();
    let mut factor = 0.0;
    for step in &plan.steps {
        // A plan of tables has no other steps.
        let Step::Bucket(bucket) = step else { continue };
        let bucket = &plan.buckets[*bucket as usize];
        let (_, slots) = plan.scope(bucket);
        let bits = slots.len();
        let start = |&slot: &u32| match plan.edges[slot as usize] {
            NONE => 0.0,
            edge => weight(edge as usize),
        };
        let weights: Vec<f64> = slots.iter().map(start).collect();
        let own = bias(bucket.unit as usize);
        let mut out: Vec<N> = (0..1u64 << bits)
            .map(|state| {
                if state % STATES_BETWEEN == 0 {
                    cancel::point();
                }
                let pull =
                    |(place, w): (usize, &f64)| if state >> (bits - 1 - place) & 1 == 1 { *w } else { -w };
                let field: f64 = weights.iter().enumerate().map(pull).sum();
                let [mut down, mut up] = own.clone();
                down.couple(-field);
                up.couple(field);
                for child in plan.children(bucket) {
                    let table = &tables[child.table as usize];
                    let place = child.index(state);
                    down.times(&table[place]);
                    up.times(&table[place + child.up()]);
                }
                N::sum(down, up)
            })
            .collect();
        for child in plan.children(bucket) {
            tables[child.table as usize] = Vec::new();
        }
        // Large factors are kept apart: they would take digits from differences between entries.
        let size = out.iter().map(N::log_size).fold(f64::NEG_INFINITY, f64::max);
        if size.is_finite() {
            factor += size;
            for entry in &mut out {
                entry.shift(-size);
            }
        }
        match bucket.output {
            Output::Table(table) => tables[table as usize] = out,
            Output::Weights { .. } => whole.times(&out[0]),
        }
    }
    (whole, factor)
}
