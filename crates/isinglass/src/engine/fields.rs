//! The fields and constants that clamped units give to free ones, for several rows of evidence.
//!
//! Constants (the clamped units' own terms, the machine's offset) are added to log Z at the end, so
//! that moments do not depend on their size.

use crate::Machine;

/// Fields and constants of up to `N` rows that share their free units, all divided by T.
pub(crate) struct Fields<const N: usize> {
    /// The field on each free unit, a number for each row.
    pub(crate) free: Vec<[f64; N]>,
    /// The shift of the log-sum over free units.
    pub(crate) shifts: [f64; N],
    /// The value of every unit in each row; 0 where it is free.
    pub(crate) values: Vec<[f64; N]>,
}

impl<const N: usize> Fields<N> {
    /// *Complexity*: linear in units and edges, for all rows together.
    pub(crate) fn new(machine: &Machine, free: &[usize], rows: &[&[i8]]) -> Self {
        let values = values(machine, rows);
        let mut constant = [0.0; N];
        for (value, bias) in values.iter().zip(machine.biases()) {
            for lane in 0..N {
                constant[lane] += bias * value[lane];
            }
        }
        if free.len() < machine.unit_count() {
            for (&(a, b), &w) in machine.graph().edges().iter().zip(machine.weights()) {
                for lane in 0..N {
                    constant[lane] += w * values[a][lane] * values[b][lane];
                }
            }
        }
        let temperature = machine.temperature();
        Self {
            free: free_fields(machine, free, &values),
            shifts: constant.map(|x| x / temperature + machine.offset()),
            values,
        }
    }
}

/// Values unit by unit with rows in adjacent lanes; 0 for free units, which drop out of products.
pub(crate) fn values<const N: usize>(machine: &Machine, rows: &[&[i8]]) -> Vec<[f64; N]> {
    debug_assert!(rows.len() <= N);
    (0..machine.unit_count())
        .map(|unit| std::array::from_fn(|lane| rows.get(lane).map_or(0.0, |row| f64::from(row[unit]))))
        .collect()
}

/// The field on each free unit, divided by T, given the values of all units.
///
/// *Complexity*: linear in the edges of the free units, for all rows together.
pub(crate) fn free_fields<const N: usize>(
    machine: &Machine,
    free: &[usize],
    values: &[[f64; N]],
) -> Vec<[f64; N]> {
    let temperature = machine.temperature();
    let field = |&unit: &usize| {
        let mut field = [machine.biases()[unit]; N];
        if free.len() < machine.unit_count() {
            for (other, edge) in machine.graph().neighbours(unit) {
                let w = machine.weights()[edge];
                for lane in 0..N {
                    field[lane] += w * values[other][lane];
                }
            }
        }
        field.map(|x| x / temperature)
    };
    free.iter().map(field).collect()
}
