//! Hidden units that begin by splitting the rows of a table in two.

use rand::Rng;
use rand::distr::Uniform;
use rand_distr::{Distribution, StandardNormal};

use super::residual::UnitBegin;
use super::{check_rows, with_units};
use crate::numeric::streams::{Purpose, stream};
use crate::{Error, Machine, Result, Role, Table};

/// Standard deviation over rows of the field of a unit that splits them, divided by T: most rows are
/// clearly on one side.
const FIELD: f64 = 3.0;

/// Pairs of rows that are drawn until two differ.
const ATTEMPTS: usize = 16;

/// Rows of a table, at some units, and their means.
struct Rows {
    units: usize,
    cells: Vec<i8>,
    /// Cumulative weights.
    until: Vec<f64>,
    means: Vec<f64>,
}

impl Rows {
    fn new(machine: &Machine, ends: &[usize], table: &Table) -> Result<Self> {
        let (cells, weights) = table.cells_for(machine)?;
        let mut until = Vec::with_capacity(weights.len());
        let (mut means, mut present) = (vec![0.0; ends.len()], vec![0.0; ends.len()]);
        let mut total = 0.0;
        let mut kept = Vec::with_capacity(weights.len() * ends.len());
        for (row, weight) in cells.chunks_exact(machine.unit_count()).zip(&weights) {
            total += weight;
            until.push(total);
            for (k, &end) in ends.iter().enumerate() {
                kept.push(row[end]);
                means[k] += weight * f64::from(row[end]);
                present[k] += weight * f64::from(row[end].abs());
            }
        }
        check_rows(total)?;
        for (mean, present) in means.iter_mut().zip(present) {
            *mean /= if present > 0.0 { present } else { 1.0 };
        }
        Ok(Self { units: ends.len(), cells: kept, until, means })
    }

    fn total(&self) -> f64 {
        self.until.last().copied().unwrap_or(0.0)
    }

    /// A row, drawn by its weight.
    fn draw(&self, random: &mut impl Rng) -> Result<&[i8]> {
        let uniform = Uniform::new(0.0, self.total());
        let uniform = uniform.map_err(|error| Error::invalid("rows", error.to_string()))?;
        let place = uniform.sample(random);
        let row = self.until.partition_point(|until| *until <= place).min(self.until.len() - 1);
        Ok(&self.cells[row * self.units..(row + 1) * self.units])
    }

    /// The direction from a row to another one, or a random one if all drawn are the same.
    fn direction(&self, random: &mut impl Rng) -> Result<Vec<f64>> {
        for _ in 0..ATTEMPTS {
            let one = self.draw(random)?.to_vec();
            let other = self.draw(random)?;
            let differ = |(a, b): (&i8, &i8)| if a * b == -1 { f64::from(*a) } else { 0.0 };
            let direction: Vec<f64> = one.iter().zip(other).map(differ).collect();
            if direction.iter().any(|x| *x != 0.0) {
                return Ok(direction);
            }
        }
        Ok((0..self.units).map(|_| StandardNormal.sample(random)).collect())
    }

    /// The standard deviation over rows of the product with a direction.
    fn deviation(&self, direction: &[f64]) -> f64 {
        let mut before = 0.0;
        let mut sum = 0.0;
        for (row, until) in self.cells.chunks_exact(self.units).zip(&self.until) {
            let centred = row.iter().zip(&self.means).zip(direction);
            let field: f64 = centred
                .map(|((&cell, mean), x)| if cell == 0 { 0.0 } else { x * (f64::from(cell) - mean) })
                .sum();
            sum += (until - before) * field * field;
            before = *until;
        }
        (sum / self.total()).sqrt()
    }
}

/// Where so many units begin that split the rows of a table along the differences of two of them.
pub(super) fn splits(
    machine: &Machine,
    ends: &[usize],
    table: &Table,
    (count, seed, attempt): (usize, u64, u64),
) -> Result<Vec<UnitBegin>> {
    let rows = Rows::new(machine, ends, table)?;
    let mut random = stream(seed, Purpose::Splits, attempt);
    let unit = |_| {
        let direction = rows.direction(&mut random)?;
        let deviation = rows.deviation(&direction);
        let scale = machine.temperature() * FIELD / deviation.max(f64::MIN_POSITIVE.sqrt());
        let scale = if deviation > 1e-9 { scale } else { 0.0 };
        let couplings: Vec<f64> = direction.iter().map(|x| scale * x).collect();
        let bias = -couplings.iter().zip(&rows.means).map(|(u, mean)| u * mean).sum::<f64>();
        Ok(UnitBegin { couplings, bias })
    };
    (0..count).map(unit).collect()
}

/// Adds hidden units to a machine that split the rows of a table, each joined with all visible and
/// input units.
///
/// A unit's couplings are along the difference of two rows that are drawn by the seed and the number
/// of the attempt, with a field of standard deviation 3 over rows and mean 0: rows are clearly on one
/// side or the other, as with classes of rows. Where [`grown`](super::grown) looks for what a unit
/// would add to a fitted machine, which near an optimum of its pairs is little, this begins far from
/// it: fits change more, and reach other, often better optima. Several attempts are worth trying.
///
/// # Errors
/// A table that does not fit the machine.
///
/// # Example
/// ```
/// use isinglass::learn::splitting;
/// use isinglass::prelude::*;
/// let table = Table::from_rows(["a", "b", "c"], [[1, 1, 1], [-1, -1, -1], [1, 1, -1]])?;
/// let machine = topology::full(3).with_names(["a", "b", "c"])?;
/// let begin = splitting(&machine, 2, &table, 0, 0)?;
/// assert_eq!((begin.names()[3].as_str(), begin.unit_count()), ("h1", 5));
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn splitting(machine: &Machine, count: usize, table: &Table, seed: u64, attempt: u64) -> Result<Machine> {
    let ends: Vec<usize> =
        (0..machine.unit_count()).filter(|&unit| machine.roles()[unit] != Role::Hidden).collect();
    let units = splits(machine, &ends, table, (count, seed, attempt))?;
    with_units(machine, &ends, &units)
}
