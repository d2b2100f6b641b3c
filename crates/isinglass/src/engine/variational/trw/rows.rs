//! A batch of rows: those with the same free units share subgraphs and networks.

use super::Trw;
use super::solver::{Solved, Solver, check_room};
use super::split::Bound;
use crate::engine::parts::{Part, solve_in_parts, statistics_bytes};
use crate::engine::{Ask, BatchExpectations};
use crate::table::{Batch, Group};
use crate::{Machine, Result};

/// The cost of a unit in eight rows, over all iterations, in about nanoseconds.
const UNIT_COST: f64 = 1e7;

/// Solves all rows of a batch, each independent of the others.
pub(super) fn solve(engine: &Trw, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
    engine.check()?;
    if ask.statistics {
        let edges = machine.graph().edges().len();
        let what = || format!("the sums of {edges} edge moments");
        engine.settings.budget.check(Trw::NAME, statistics_bytes(machine), what)?;
    }
    let threads = rayon::current_num_threads();
    for group in batch.groups() {
        check_room(engine, machine, &group.free, threads)?;
    }
    let cost = |_: usize, group: &Group| group.free.len() as f64 * UNIT_COST;
    solve_in_parts(machine, batch, ask, cost, |pieces, part| {
        for piece in pieces {
            let solver = Solver::new(engine, machine, &batch.groups()[piece.group].free, threads)?;
            // Differences between rows matter, so the terms of clamped units count as well.
            part.guarantee = part.guarantee.and(solver.guarantee(0..machine.unit_count()));
            let mut bound = Bound::new(&solver.split);
            for row in piece.rows.clone() {
                let solved = solver.solve(&mut bound, batch.row(row))?;
                record(&solved, batch.weights()[row], ask, part);
            }
        }
        Ok(())
    })
}

fn record(solved: &Solved, weight: f64, ask: Ask, part: &mut Part) {
    part.log_z.push(solved.log_z);
    part.diagnostics = part.diagnostics.and(solved.diagnostics);
    if ask.means {
        part.means.extend_from_slice(&solved.means);
    }
    if let Some(statistics) = &mut part.statistics {
        statistics.add(&solved.means, &solved.moments, weight);
    }
}
