//! Means and correlations of a table's columns, for the units that can be coupled.

use rayon::prelude::*;

use super::super::factorized::{Alone, about_alone};
use super::super::pair_counts::{Counts, PairCounts};
use crate::cancel;
use crate::numeric::dense::Matrix;
use crate::{Machine, Note, Result, Table};

/// The moments of a table that the equations need.
///
/// They are solved for correlations, `Ĉ_ij = C_ij / √(C_ii C_jj)` with `C_ii = 1 − m_i²`: the
/// solutions are the same, and where there are none, a column that hardly varies counts as much as
/// any other.
pub(super) struct Moments {
    /// The units whose columns vary, in the machine's order.
    pub(super) units: Vec<usize>,
    pub(super) means: Vec<f64>,
    /// artanh m_i of these units.
    pub(super) fields: Vec<f64>,
    /// √(1 − m_i²) of these units.
    pub(super) deviations: Vec<f64>,
    pub(super) correlations: Matrix,
    /// For each unit of the machine the field without couplings, divided by T.
    pub(super) alone: Vec<f64>,
    /// For each unit of the machine the mean of its column; 0 for an empty one.
    pub(super) fill: Vec<f64>,
    /// The number of rows: their total weight, but at least the number of distinct rows with
    /// weight.
    pub(super) rows: f64,
    /// Whether a cell of these units is missing in a row with weight.
    pub(super) has_gaps: bool,
    pub(super) notes: Vec<Note>,
}

impl Moments {
    /// Counts a table whose columns are all visible units of the machine.
    pub(super) fn of(start: &Machine, table: &Table) -> Result<Self> {
        let positions = table.positions_in(start)?;
        let mut column_of = vec![0; start.unit_count()];
        for (column, &unit) in positions.iter().enumerate() {
            column_of[unit] = column;
        }
        let sums = table.column_sums();
        let mut constant = Vec::new();
        let mut empty = Vec::new();
        let mut alone = vec![0.0; start.unit_count()];
        let mut fill = vec![0.0; start.unit_count()];
        let mut varied = Vec::new();
        for (unit, &column) in column_of.iter().enumerate() {
            let (weight, sum) = sums[column];
            alone[unit] = match Alone::of(weight, sum) {
                Alone::Empty => {
                    empty.push(start.name(unit));
                    continue;
                }
                Alone::Constant(field) => {
                    constant.push(start.name(unit));
                    field
                }
                Alone::Varied(field) => {
                    varied.push(unit);
                    field
                }
            };
            fill[unit] = sum / weight;
        }
        let columns: Vec<usize> = varied.iter().map(|&unit| column_of[unit]).collect();
        let counts = PairCounts::new(table, &columns);
        // The counts may round away rows of little weight, and with them a column's variation.
        let is_counted = |k: &usize| {
            let Counts { total, both: up, .. } = counts.of(*k, *k);
            up > 0 && up < total
        };
        let places: Vec<usize> = (0..varied.len()).filter(is_counted).collect();
        let own: Vec<Counts> = places.iter().map(|&k| counts.of(k, k)).collect();
        let ratio = |a: u64, b: u64| a as f64 / b as f64;
        let down = |c: &Counts| c.total - c.both;
        let variance = |c: &Counts| 4.0 * ratio(c.both, c.total) * ratio(down(c), c.total);
        let rows_with_weight = (0..table.distinct_count()).filter(|&row| table.weight(row) > 0.0);
        Ok(Self {
            units: places.iter().map(|&k| varied[k]).collect(),
            means: own.iter().map(|c| ratio(c.both, c.total) - ratio(down(c), c.total)).collect(),
            fields: own.iter().map(|c| 0.5 * ratio(c.both, down(c)).ln()).collect(),
            deviations: own.iter().map(|c| variance(c).sqrt()).collect(),
            correlations: correlations(&counts, &places),
            alone,
            fill,
            rows: table.total_weight().max(rows_with_weight.count() as f64),
            has_gaps: counts.has_gaps(),
            notes: about_alone(&constant, &empty).collect(),
        })
    }

    /// m_i / σ_i, with `σ_i = √(1 − m_i²)`.
    pub(super) fn scaled_means(&self) -> Vec<f64> {
        self.means.iter().zip(&self.deviations).map(|(m, deviation)| m / deviation).collect()
    }

    /// The machine whose linear response has the inverse `P` (of correlations; Kappen & Rodríguez
    /// 1997, eqs. 34–35):
    ///
    /// ```text
    /// w_ij = T (δ_ij − P_ij) / (σ_i σ_j)        θ_i = T artanh m_i − Σ_j w_ij m_j
    /// ```
    ///
    /// The sum over j includes the self-coupling `w_ii`; the machine has none. Units that cannot be
    /// coupled are independent.
    pub(super) fn machine(&self, start: &Machine, precision: &Matrix) -> Result<Machine> {
        let (temperature, deviations) = (start.temperature(), &self.deviations);
        let mut place = vec![usize::MAX; start.unit_count()];
        let mut biases: Vec<f64> = self.alone.iter().map(|field| field * temperature).collect();
        let scaled = self.scaled_means();
        for (k, &unit) in self.units.iter().enumerate() {
            place[unit] = k;
            // Σ_j w_ij m_j = Σ_j (δ_ij − P_ij) m_j / (σ_i σ_j)
            let response: f64 = precision.column(k).iter().zip(&scaled).map(|(p, m)| p * m).sum();
            biases[unit] = temperature * (self.fields[k] - (scaled[k] - response) / deviations[k]);
        }
        let weight = |&(a, b): &(usize, usize)| match (place[a], place[b]) {
            (usize::MAX, _) | (_, usize::MAX) => 0.0,
            (a, b) => -temperature * precision[(a, b)] / (deviations[a] * deviations[b]),
        };
        start.clone().with_parameters(start.graph().edges().iter().map(weight).collect(), biases)
    }

    pub(super) fn size(&self) -> usize {
        self.units.len()
    }
}

/// The correlations of all pairs, ones on the diagonal.
fn correlations(counts: &PairCounts, places: &[usize]) -> Matrix {
    let below: Vec<Vec<f64>> = (0..places.len())
        .into_par_iter()
        .map(|k| {
            cancel::point();
            (0..k).map(|other| correlation(counts.of(places[other], places[k]))).collect()
        })
        .collect();
    let mut correlations = Matrix::identity(places.len());
    for (k, row) in below.iter().enumerate() {
        for (other, &value) in row.iter().enumerate() {
            correlations.set_both(k, other, value);
        }
    }
    correlations
}

/// The correlation of two columns in the rows that have both; 0 if one is constant there, or
/// without such rows.
fn correlation(counts: Counts) -> f64 {
    let Counts { total, first, second, both } = counts;
    let product = |a: u64, b: u64| i128::from(a) * i128::from(b);
    // In integers, so that nearly equal products lose no digits.
    let covariance = (product(both, total) - product(first, second)) as f64;
    let variances = [first, second].map(|up| product(up, total - up) as f64);
    if variances.contains(&0.0) { 0.0 } else { covariance / variances[0].sqrt() / variances[1].sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    #[test]
    fn moments_of_a_small_table() {
        let rows = [[1i8, 1, 1, 0], [1, -1, 1, 0], [-1, -1, 1, 0], [1, 0, 1, 0]];
        let table = Table::from_rows(["a", "b", "c", "d"], rows).unwrap();
        let start = topology::full(4).with_names(["d", "c", "b", "a"]).unwrap();
        let moments = Moments::of(&start, &table).unwrap();
        assert_eq!(moments.units, [2, 3], "b and a vary");
        for (found, expected) in moments.means.iter().zip([-1.0 / 3.0, 0.5]) {
            assert!((found - expected).abs() < 1e-15);
        }
        for k in 0..2 {
            assert!((moments.fields[k] - moments.means[k].atanh()).abs() < 1e-15);
            assert!((moments.deviations[k].powi(2) - (1.0 - moments.means[k].powi(2))).abs() < 1e-15);
            assert_eq!(moments.correlations[(k, k)], 1.0);
        }
        // In the three rows with both, a is up twice, b once, and then both are: (1/3 − 2/9) /
        // √(2/9 · 2/9).
        assert!((moments.correlations[(0, 1)] - 0.5).abs() < 1e-15);
        assert!(moments.has_gaps);
        assert_eq!((moments.rows, moments.notes.len()), (4.0, 2));
    }
}
