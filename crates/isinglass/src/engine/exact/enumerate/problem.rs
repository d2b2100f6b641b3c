//! From a machine and rows of evidence to the couplings and fields that the walk works on.

use super::blocks::{Couplings, LaneFields, constants};
use crate::Machine;
use crate::numeric::lanes::{LANES, Lane};

/// The couplings among some units, dense, divided by T.
pub(super) fn shared_couplings(machine: &Machine, units: &[usize]) -> Couplings {
    let n = units.len();
    let mut matrix = vec![0.0; n * n];
    for (a, &unit) in units.iter().enumerate() {
        for (other, edge) in machine.graph().neighbours(unit) {
            if let Ok(b) = units.binary_search(&other) {
                matrix[a * n + b] = machine.weights()[edge] / machine.temperature();
            }
        }
    }
    Couplings::new(n, matrix)
}

/// Fields on the free units and constants of up to eight rows that share their free units; all divided by T.
pub(super) fn lane_fields(machine: &Machine, free: &[usize], rows: &[&[i8]]) -> LaneFields {
    debug_assert!(rows.len() <= LANES);
    let graph = machine.graph();
    let temperature = machine.temperature();
    // Values unit by unit with rows in adjacent lanes; free units count as 0 and so drop out of every product.
    let values: Vec<[f64; LANES]> = (0..machine.units())
        .map(|unit| std::array::from_fn(|lane| rows.get(lane).map_or(0.0, |row| f64::from(row[unit]))))
        .collect();
    let mut constant = [0.0; LANES];
    for (unit, value) in values.iter().enumerate() {
        for lane in 0..LANES {
            constant[lane] += machine.biases()[unit] * value[lane];
        }
    }
    for (&(a, b), &w) in graph.edges().iter().zip(machine.weights()) {
        for lane in 0..LANES {
            constant[lane] += w * values[a][lane] * values[b][lane];
        }
    }
    let fields = free
        .iter()
        .map(|&unit| {
            let mut field = [machine.biases()[unit]; LANES];
            for (other, edge) in graph.neighbours(unit) {
                let w = machine.weights()[edge];
                for lane in 0..LANES {
                    field[lane] += w * values[other][lane];
                }
            }
            Lane(field.map(|x| x / temperature))
        })
        .collect();
    let scaled = constant.iter().map(|x| x / temperature + machine.offset());
    LaneFields { fields, constant: constants(scaled.take(rows.len())) }
}
