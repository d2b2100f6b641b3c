//! A batch of rows: eight lanes of rows with the same free units.

use std::sync::atomic::{AtomicBool, Ordering};

use super::solver::{Solved, Solver, check_room};
use super::{Bethe, VariationalSettings};
use crate::engine::exact::digits::guarantee;
use crate::engine::parts::{Part, solve_in_parts, statistics_bytes};
use crate::engine::{Ask, BatchExpectations, Guarantee};
use crate::numeric::lanes::LANES;
use crate::table::{Batch, Group};
use crate::{Machine, Result};

/// The cost of a message in eight rows, over all sweeps, in about nanoseconds.
pub(in crate::engine::variational) const MESSAGE_COST: f64 = 1000.0;

/// The cost of a unit or edge, clamped or free, in eight rows, in nanoseconds.
const ELEMENT_COST: f64 = 16.0;

/// Up to so many rows are faster one by one, with several messages of a row in a vector.
const FEW_ROWS: usize = 2;

/// Solves all rows of a batch.
pub(super) fn solve(
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
    settings: &VariationalSettings,
) -> Result<BatchExpectations> {
    settings.check(machine.temperature())?;
    if ask.statistics {
        let edges = machine.graph().edges().len();
        let what = || format!("the sums of {edges} edge moments");
        settings.budget.check(Bethe::NAME, statistics_bytes(machine), what)?;
    }
    let threads = rayon::current_num_threads();
    // Where eight rows do not fit on every thread, one may.
    let fits_lanes = |group: &Group| check_room(machine, &group.free, settings, LANES, threads).is_ok();
    let in_lanes: Vec<bool> = batch.groups().iter().map(fits_lanes).collect();
    for (group, in_lanes) in batch.groups().iter().zip(&in_lanes) {
        if !in_lanes {
            check_room(machine, &group.free, settings, 1, threads)?;
        }
    }
    let elements = (machine.unit_count() + machine.graph().edges().len()) as f64;
    let cost = |_: usize, group: &Group| {
        let messages: usize =
            group.free.iter().map(|&unit| machine.graph().degree(unit).min(group.free.len())).sum();
        messages as f64 * MESSAGE_COST + elements * ELEMENT_COST
    };
    let all_exact = AtomicBool::new(true);
    let mut answer = solve_in_parts(machine, batch, ask, cost, |pieces, part| {
        for piece in pieces {
            let solver = Solver::new(machine, &batch.groups()[piece.group].free, settings)?;
            let is_exact = if ask.statistics { solver.is_forest_of_edges() } else { solver.is_forest() };
            if !is_exact {
                all_exact.store(false, Ordering::Relaxed);
            }
            let lanes = if in_lanes[piece.group] { LANES } else { 1 };
            for first in piece.rows.clone().step_by(lanes) {
                let places = first..piece.rows.end.min(first + lanes);
                let rows: Vec<&[i8]> = places.clone().map(|place| batch.row(place)).collect();
                let weights = &batch.weights()[places];
                if rows.len() <= FEW_ROWS {
                    for (row, weight) in rows.chunks(1).zip(weights.chunks(1)) {
                        solver.solve::<1>(row).record(weight, ask, part);
                    }
                } else {
                    solver.solve::<LANES>(&rows).record(weights, ask, part);
                }
            }
        }
        Ok(())
    })?;
    let is_exact = all_exact.into_inner() && answer.diagnostics.converged;
    // Differences between rows matter, so the terms of clamped units count as well.
    answer.guarantee =
        if is_exact { guarantee(machine, 0..machine.unit_count()) } else { Guarantee::Approximation };
    Ok(answer)
}

impl<const N: usize> Solved<N> {
    /// Adds the results of the first rows to a part, one weight each.
    pub(in crate::engine::variational) fn record(&self, weights: &[f64], ask: Ask, part: &mut Part) {
        let rows = weights.len();
        part.log_z.extend(&self.log_z[..rows]);
        for diagnostics in &self.diagnostics[..rows] {
            part.diagnostics = part.diagnostics.and(*diagnostics);
        }
        if ask.means {
            for row in 0..rows {
                part.means.extend(self.means.iter().map(|mean| mean[row]));
            }
        }
        if let Some(statistics) = &mut part.statistics {
            let mut by_row = [0.0; N];
            by_row[..rows].copy_from_slice(weights);
            let sum = |x: &[f64; N]| x.iter().zip(&by_row).map(|(x, weight)| x * weight).sum::<f64>();
            statistics.weight += weights.iter().sum::<f64>();
            for (total, mean) in statistics.means.iter_mut().zip(&self.means) {
                *total += sum(mean);
            }
            for (total, moment) in statistics.edges.iter_mut().zip(&self.moments) {
                *total += sum(moment);
            }
        }
    }
}
