//! Rows of a table in their original order, and with missing cells filled in.

use isinglass::complete::complete;
use isinglass::{Budget, Engine, Guarantee, Machine, Result, Spin, Table};

/// Returns the rows of a table in their original order.
pub(crate) fn rows(table: &Table) -> impl Iterator<Item = &[i8]> {
    table.distinct_of().iter().map(|&row| table.row(row as usize))
}

/// The rows of a table in their original order, each missing cell filled in given the rest of its
/// row.
pub(crate) struct Filled {
    /// The cells, missing ones with their more probable value.
    pub(crate) cells: Vec<Vec<i8>>,
    /// P(+1); 0 or 1 for known cells.
    pub(crate) probabilities: Vec<Vec<f64>>,
    /// The guarantee of the probabilities.
    pub(crate) guarantee: Guarantee,
}

impl Filled {
    pub(crate) fn of(machine: &Machine, table: &Table, engine: &dyn Engine) -> Result<Self> {
        let found = complete(machine, table, engine, Budget::default())?;
        let cell = |spin| if spin == Spin::Up { 1 } else { -1 };
        let order = || table.distinct_of().iter().map(|&row| row as usize);
        Ok(Self {
            cells: order().map(|row| found.state(row).map(cell).collect()).collect(),
            probabilities: order().map(|row| found.probabilities(row).collect()).collect(),
            guarantee: found.guarantee,
        })
    }
}

#[cfg(test)]
mod tests {
    use isinglass::{Eliminate, topology};

    use super::*;

    #[test]
    fn filled_rows_match_a_sum_over_states() {
        let (weights, biases) = ([0.7, -0.4, 0.3], [0.2, -0.1, 0.5]);
        let machine = topology::full(3).with_parameters(weights.into(), biases.into());
        let machine = machine.unwrap();
        // The second and the fourth row are equal.
        let given = [[1, 0, -1], [0, 0, 1], [1, 1, 1], [0, 0, 1]];
        let table = Table::from_rows(["x0", "x1", "x2"], given).unwrap();
        let filled = Filled::of(&machine, &table, &Eliminate::default()).unwrap();
        assert_eq!(filled.guarantee, Guarantee::Exact);
        for (row, cells) in given.iter().enumerate() {
            let (mut total, mut up) = (0.0, [0.0; 3]);
            for state in 0..8 {
                let s = [0, 1, 2].map(|k| if state >> k & 1 == 1 { 1.0 } else { -1.0 });
                if (0..3).any(|k| cells[k] != 0 && f64::from(cells[k]) != s[k]) {
                    continue;
                }
                let pairs = weights[0] * s[0] * s[1] + weights[1] * s[0] * s[2] + weights[2] * s[1] * s[2];
                let p = (pairs + biases.iter().zip(s).map(|(b, s)| b * s).sum::<f64>()).exp();
                total += p;
                for k in 0..3 {
                    up[k] += if s[k] > 0.0 { p } else { 0.0 };
                }
            }
            for k in 0..3 {
                let expected = up[k] / total;
                assert!((filled.probabilities[row][k] - expected).abs() < 1e-12);
                assert_eq!(filled.cells[row][k], if expected >= 0.5 { 1 } else { -1 });
            }
        }
        assert_eq!(rows(&table).collect::<Vec<_>>(), given);
    }
}
