//! Batches cut into parts: the same cut, and the same order of sums, on any number of threads.

use std::ops::Range;

use rayon::prelude::*;

use crate::engine::{Ask, BatchExpectations, Diagnostics, Guarantee, Statistics};
use crate::numeric::lanes::LANES;
use crate::progress::Task;
use crate::table::{Batch, Group};
use crate::{Machine, Result};

/// The most parts of a batch.
pub(crate) const PARTS: usize = 64;

/// The most numbers in the statistics of all parts: with many edges there are fewer parts.
const NUMBERS: usize = 1 << 24;

/// The most parts of a batch for a machine.
fn most_parts(machine: &Machine) -> usize {
    (NUMBERS / (machine.unit_count() + machine.graph().edges().len()).max(1)).clamp(2, PARTS)
}

/// The bytes of the statistics of all parts.
pub(in crate::engine) fn statistics_bytes(machine: &Machine) -> u128 {
    let numbers = machine.unit_count() + machine.graph().edges().len();
    8 * (numbers as u128) * (most_parts(machine) as u128 + 1)
}

/// The least cost of a part in nanoseconds: less is not worth a thread.
const LEAST_COST: f64 = 100_000.0;

/// Rows of one group that are solved one after another.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The number of the group.
    pub(crate) group: usize,
    /// The rows, in the batch's grouped order; whole lanes except at the end of the group.
    pub(crate) rows: Range<usize>,
}

/// Results of some rows of a batch, in grouped order.
pub(in crate::engine) struct Part {
    pub(in crate::engine) log_z: Vec<f64>,
    /// The standard error of log Z for each row; empty where it is not an estimate.
    pub(in crate::engine) log_z_errors: Vec<f64>,
    pub(in crate::engine) means: Vec<f64>,
    pub(in crate::engine) statistics: Option<Statistics>,
    pub(in crate::engine) guarantee: Guarantee,
    pub(in crate::engine) diagnostics: Diagnostics,
}

/// Solves all rows of a batch: pieces of about equal cost on all cores.
///
/// *Arguments*: the cost of eight rows of a group in nanoseconds; the solver of pieces.
pub(in crate::engine) fn solve_in_parts(
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
    cost: impl Fn(usize, &Group) -> f64,
    solve: impl Fn(&[Piece], &mut Part) -> Result<()> + Sync,
) -> Result<BatchExpectations> {
    let solve_part = |pieces: &Vec<Piece>| {
        let mut part = Part {
            log_z: Vec::new(),
            log_z_errors: Vec::new(),
            means: Vec::new(),
            statistics: ask.statistics.then(|| Statistics::zero(machine.graph())),
            guarantee: Guarantee::Exact,
            diagnostics: Diagnostics::direct(),
        };
        solve(pieces, &mut part).map(|()| part)
    };
    let parts = cut(batch, most_parts(machine), cost);
    let solved: Vec<Part> = match &parts[..] {
        [one] => vec![solve_part(one)?],
        several => {
            let task = Task::begin(several.len() as u64);
            let solve_part = |part| solve_part(part).inspect(|_| task.done(1));
            several.par_iter().map(solve_part).collect::<Result<_>>()?
        }
    };

    let n = machine.unit_count();
    let mut log_z = vec![0.0; batch.row_count()];
    let mut log_z_errors = vec![0.0; batch.row_count()];
    let have_errors = solved.iter().any(|part| !part.log_z_errors.is_empty());
    let mut means = ask.means.then(|| vec![0.0; batch.row_count() * n]);
    let mut statistics = ask.statistics.then(|| Statistics::zero(machine.graph()));
    let mut guarantee = Guarantee::Exact;
    let mut diagnostics = Diagnostics::direct();
    let mut given = batch.given_order().iter();
    for part in solved {
        guarantee = guarantee.and(part.guarantee);
        diagnostics = diagnostics.and(part.diagnostics);
        for ((k, &value), &given) in part.log_z.iter().enumerate().zip(&mut given) {
            log_z[given] = value;
            log_z_errors[given] = part.log_z_errors.get(k).copied().unwrap_or(0.0);
            if let Some(means) = &mut means {
                means[given * n..(given + 1) * n].copy_from_slice(&part.means[k * n..(k + 1) * n]);
            }
        }
        if let (Some(sum), Some(statistics)) = (&mut statistics, &part.statistics) {
            sum.merge(statistics)?;
        }
    }
    let log_z_errors = have_errors.then_some(log_z_errors);
    Ok(BatchExpectations { log_z: Some(log_z), log_z_errors, statistics, means, guarantee, diagnostics })
}

/// Cuts a batch into parts of about equal work, in order: pieces of groups, in whole lanes,
/// independent of the number of threads.
///
/// *Arguments*: the most parts; the cost of eight rows of a group in nanoseconds.
pub(crate) fn cut(batch: &Batch, most: usize, cost: impl Fn(usize, &Group) -> f64) -> Vec<Vec<Piece>> {
    let groups = batch.groups();
    let costs = groups.iter().enumerate().map(|(number, group)| cost(number, group).max(100.0));
    let costs: Vec<f64> = costs.collect();
    let lanes = |rows: usize| rows.div_ceil(LANES) as f64;
    let total: f64 = groups.iter().zip(&costs).map(|(group, cost)| cost * lanes(group.rows.len())).sum();
    let share = (total / most as f64).max(LEAST_COST);
    let (mut parts, mut part, mut filled) = (Vec::new(), Vec::new(), 0.0);
    for (number, (group, cost)) in groups.iter().zip(&costs).enumerate() {
        let mut start = group.rows.start;
        while start < group.rows.end {
            let count = (((share - filled) / cost).ceil() as usize).max(1);
            let end = group.rows.end.min(start + count * LANES);
            filled += cost * lanes(end - start);
            part.push(Piece { group: number, rows: start..end });
            start = end;
            if filled >= share {
                parts.push(std::mem::take(&mut part));
                filled = 0.0;
            }
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}
