//! A batch of rows: eight lanes of rows with the same free units.

use rayon::prelude::*;

use super::solver::{Solver, check_room};
use super::{MaxProduct, States};
use crate::engine::Guarantee;
use crate::engine::parts::{PARTS, Piece, cut};
use crate::numeric::lanes::LANES;
use crate::table::{Batch, Group};
use crate::{Machine, Result};

/// The cost of an end of a coupling in eight rows, in about nanoseconds: on a tree,
const END_COST: f64 = 8.0;

/// and over all sweeps, with cycles.
const LOOPY_END_COST: f64 = 2000.0;

/// Up to so many rows are faster one by one.
const FEW_ROWS: usize = 2;

/// Solves all rows of a batch.
pub(super) fn solve(settings: &MaxProduct, machine: &Machine, batch: &Batch) -> Result<States> {
    let units = machine.unit_count();
    let cells = (batch.row_count() as u128).saturating_mul(2 * units as u128);
    let what = || format!("the states of {units} units in {} rows", batch.row_count());
    settings.budget.check(MaxProduct::NAME, cells, what)?;
    let threads = rayon::current_num_threads();
    // Where eight rows do not fit on every thread, one may.
    let fits_lanes = |group: &Group| check_room(machine, &group.free, settings, LANES, threads).is_ok();
    let in_lanes: Vec<bool> = batch.groups().iter().map(fits_lanes).collect();
    for (group, in_lanes) in batch.groups().iter().zip(&in_lanes) {
        if !in_lanes {
            check_room(machine, &group.free, settings, 1, threads)?;
        }
    }
    let cost = |_: usize, group: &Group| {
        let ends = |&unit: &usize| machine.graph().degree(unit);
        let all: usize = group.free.iter().map(ends).sum();
        let among_free: usize = group.free.iter().map(|unit| ends(unit).min(group.free.len())).sum();
        // A forest has fewer couplings than units; more may have cycles.
        let has_cycles = among_free >= 2 * group.free.len();
        let loopy = if has_cycles { among_free as f64 * LOOPY_END_COST } else { 0.0 };
        (all + units) as f64 * END_COST + loopy
    };
    let solve_part = |pieces: &Vec<Piece>| {
        let mut part = Part { cells: Vec::new(), converged: 0, guarantee: Guarantee::Exact };
        for piece in pieces {
            let solver = Solver::new(machine, &batch.groups()[piece.group].free, settings)?;
            part.guarantee = part.guarantee.and(solver.guarantee(solver.free().iter().copied()));
            let lanes = if in_lanes[piece.group] { LANES } else { 1 };
            for first in piece.rows.clone().step_by(lanes) {
                let places = first..piece.rows.end.min(first + lanes);
                let rows: Vec<&[i8]> = places.map(|place| batch.row(place)).collect();
                if rows.len() <= FEW_ROWS {
                    for row in rows.chunks(1) {
                        part.add::<1>(&solver, row);
                    }
                } else {
                    part.add::<LANES>(&solver, &rows);
                }
            }
        }
        Ok(part)
    };
    let parts: Vec<Part> = cut(batch, PARTS, cost).par_iter().map(solve_part).collect::<Result<_>>()?;

    let mut states = States {
        units,
        cells: vec![0; batch.row_count() * units],
        converged: 0,
        guarantee: Guarantee::Exact,
    };
    let mut given = batch.given_order().iter();
    for part in parts {
        states.converged += part.converged;
        states.guarantee = states.guarantee.and(part.guarantee);
        for (row, &given) in part.cells.chunks(units.max(1)).zip(&mut given) {
            states.cells[given * units..(given + 1) * units].copy_from_slice(row);
        }
    }
    Ok(states)
}

/// The states of some rows, in grouped order.
struct Part {
    cells: Vec<i8>,
    converged: usize,
    guarantee: Guarantee,
}

impl Part {
    /// Solves some rows, at most `N`, and records their states.
    fn add<const N: usize>(&mut self, solver: &Solver<'_>, rows: &[&[i8]]) {
        let solved = solver.solve::<N>(rows);
        for row in 0..rows.len() {
            self.cells.extend(solved.states.iter().map(|state| state[row] as i8));
            self.converged += usize::from(solved.diagnostics[row].converged);
        }
    }
}
