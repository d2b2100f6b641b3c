//! A batch of rows: eight rows with the same free units fill the lanes.

use super::moments::Order;
use super::problem::{group_couplings, rows_in_lanes};
use super::single::{RowMoments, sum_in_parts};
use crate::engine::parts::{Part, Piece, solve_in_parts};
use crate::engine::{Ask, BatchExpectations, Guarantee};
use crate::numeric::lanes::LANES;
use crate::table::{Batch, Group};
use crate::{Evidence, Machine, Result};

/// From this many free units on, few rows are solved one by one, each on all lanes and cores.
const SINGLE_ROW_UNITS: usize = 12;

/// Solves all rows of a batch.
pub(super) fn solve(
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
    guarantee: Guarantee,
) -> Result<BatchExpectations> {
    // A state in eight rows takes a few nanoseconds.
    let cost = |_, group: &Group| 4.0 * (group.free.len() as f64).exp2();
    let answer = solve_in_parts(machine, batch, ask, cost, |pieces, part| {
        let mut rows = Rows { machine, ask, part };
        for piece in pieces {
            rows.add(batch, piece);
        }
        Ok(())
    })?;
    Ok(BatchExpectations { guarantee, ..answer })
}

/// Rows being solved, and where their results go.
struct Rows<'a> {
    machine: &'a Machine,
    ask: Ask,
    part: &'a mut Part,
}

impl Rows<'_> {
    /// Adds the rows of a piece.
    fn add(&mut self, batch: &Batch, piece: &Piece) {
        let machine = self.machine;
        let free = &batch.groups()[piece.group].free;
        let moments = self.ask.means || self.ask.statistics;
        let order = if moments { Order::Second } else { Order::Zeroth };
        let couplings = group_couplings(machine, free);
        for first in piece.rows.clone().step_by(LANES) {
            let places = first..piece.rows.end.min(first + LANES);
            let rows: Vec<&[i8]> = places.clone().map(|place| batch.row(place)).collect();
            if free.len() >= SINGLE_ROW_UNITS && 2 * rows.len() <= LANES {
                for (place, row) in places.zip(rows) {
                    let weight = batch.weights()[place];
                    let moments = RowMoments::of(machine, &Evidence::from_row(row), order);
                    self.record(row, weight, moments.log_z, |a| moments.mean(a), |a, b| moments.pair(a, b));
                }
                continue;
            }
            let (lanes, shifts) = rows_in_lanes(machine, free, &rows);
            let sums = sum_in_parts(&couplings, &lanes, order);
            for (lane, (place, row)) in places.zip(rows).enumerate() {
                let weight = batch.weights()[place];
                // Only free units are looked up, and those are the group's.
                let rank = |unit| free.binary_search(&unit).expect("a unit without value is free");
                let mean = |unit| sums.mean(rank(unit), lane);
                let pair = |a, b| sums.pair(rank(a), rank(b), lane);
                self.record(row, weight, sums.log_sum(lane) + shifts[lane], mean, pair);
            }
        }
    }

    /// Records the results of one row, given the moments of its free units.
    fn record(
        &mut self,
        row: &[i8],
        weight: f64,
        log_z: f64,
        free_mean: impl Fn(usize) -> f64,
        free_pair: impl Fn(usize, usize) -> f64,
    ) {
        self.part.log_z.push(log_z);
        if !self.ask.means && !self.ask.statistics {
            return;
        }
        let mean = |(unit, &s): (usize, &i8)| if s == 0 { free_mean(unit) } else { f64::from(s) };
        let means: Vec<f64> = row.iter().enumerate().map(mean).collect();
        if let Some(statistics) = &mut self.part.statistics {
            let edge = |&(a, b): &(usize, usize)| {
                if row[a] == 0 && row[b] == 0 { free_pair(a, b) } else { means[a] * means[b] }
            };
            let edges: Vec<f64> = self.machine.graph().edges().iter().map(edge).collect();
            statistics.add(&means, &edges, weight);
        }
        if self.ask.means {
            self.part.means.extend(means);
        }
    }
}
