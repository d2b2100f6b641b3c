//! A batch of rows: eight rows with the same free units are the lanes.

use rayon::prelude::*;

use super::moments::Order;
use super::problem::{group_couplings, rows_in_lanes};
use super::single::{RowMoments, sum_in_parts};
use crate::engine::{Ask, Batch, BatchExpectations, Diagnostics, Group, Guarantee, Statistics};
use crate::numeric::lanes::LANES;
use crate::{Evidence, Machine, Result};

/// Few rows with many free units are each spread over lanes and cores of their own.
const SINGLE_ROW_UNITS: usize = 12;

/// Parts into which a batch is cut, whatever the number of threads.
const PARTS: usize = 64;

/// Solve all rows of a batch.
pub(super) fn solve(
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
    guarantee: Guarantee,
) -> Result<BatchExpectations> {
    let solved: Vec<Part> = work_parts(batch)
        .par_iter()
        .map(|pieces| {
            let mut part = Part {
                machine,
                ask,
                log_z: Vec::new(),
                means: Vec::new(),
                statistics: ask.statistics.then(|| Statistics::zero(machine.graph())),
            };
            for piece in pieces {
                part.add(batch, piece);
            }
            part
        })
        .collect();

    let n = machine.units();
    let mut log_z = vec![0.0; batch.rows()];
    let mut means = ask.means.then(|| vec![0.0; batch.rows() * n]);
    let mut statistics = ask.statistics.then(|| Statistics::zero(machine.graph()));
    let mut given = batch.given_order().iter();
    for part in solved {
        for ((k, &value), &given) in part.log_z.iter().enumerate().zip(&mut given) {
            log_z[given] = value;
            if let Some(means) = &mut means {
                means[given * n..(given + 1) * n].copy_from_slice(&part.means[k * n..(k + 1) * n]);
            }
        }
        if let (Some(sum), Some(statistics)) = (&mut statistics, &part.statistics) {
            sum.merge(statistics)?;
        }
    }
    Ok(BatchExpectations {
        log_z: Some(log_z),
        statistics,
        means,
        guarantee,
        diagnostics: Diagnostics::direct(),
    })
}

/// Results of some rows of a batch, in grouped order.
struct Part<'a> {
    machine: &'a Machine,
    ask: Ask,
    log_z: Vec<f64>,
    means: Vec<f64>,
    statistics: Option<Statistics>,
}

impl Part<'_> {
    /// Add the rows of a group, or a piece of one.
    fn add(&mut self, batch: &Batch, group: &Group) {
        let machine = self.machine;
        let free = &group.free;
        let moments = self.ask.means || self.ask.statistics;
        let order = if moments { Order::Second } else { Order::Zeroth };
        let couplings = group_couplings(machine, free);
        for first in group.rows.clone().step_by(LANES) {
            let places = first..group.rows.end.min(first + LANES);
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
                // Only units that the row leaves free are looked up, and those are the group's.
                let rank = |unit| free.binary_search(&unit).expect("a unit without value is free");
                let mean = |unit| sums.mean(rank(unit), lane);
                let pair = |a, b| sums.pair(rank(a), rank(b), lane);
                self.record(row, weight, sums.log_sum(lane) + shifts[lane], mean, pair);
            }
        }
    }

    /// Note the results of one row, given the moments of its free units.
    fn record(
        &mut self,
        row: &[i8],
        weight: f64,
        log_z: f64,
        free_mean: impl Fn(usize) -> f64,
        free_pair: impl Fn(usize, usize) -> f64,
    ) {
        self.log_z.push(log_z);
        if !self.ask.means && !self.ask.statistics {
            return;
        }
        let mean = |(unit, &s): (usize, &i8)| if s == 0 { free_mean(unit) } else { f64::from(s) };
        let means: Vec<f64> = row.iter().enumerate().map(mean).collect();
        if let Some(statistics) = &mut self.statistics {
            let edge = |&(a, b): &(usize, usize)| {
                if row[a] == 0 && row[b] == 0 { free_pair(a, b) } else { means[a] * means[b] }
            };
            let edges: Vec<f64> = self.machine.graph().edges().iter().map(edge).collect();
            statistics.add(&means, &edges, weight);
        }
        if self.ask.means {
            self.means.extend(means);
        }
    }
}

/// Cut a batch into parts of about equal work, in order and whatever the number of threads: pieces of groups, whole lanes each.
fn work_parts(batch: &Batch) -> Vec<Vec<Group>> {
    let cost = |group: &Group| (group.free.len() as f64).exp2().max(32.0);
    let total: f64 =
        batch.groups().iter().map(|group| cost(group) * group.rows.len().div_ceil(LANES) as f64).sum();
    let share = (total / PARTS as f64).max(1024.0);
    let mut parts = Vec::new();
    let mut part = Vec::new();
    let mut filled = 0.0;
    for group in batch.groups() {
        let mut start = group.rows.start;
        while start < group.rows.end {
            let lanes = (((share - filled) / cost(group)).ceil() as usize).max(1);
            let end = group.rows.end.min(start + lanes * LANES);
            filled += cost(group) * (end - start).div_ceil(LANES) as f64;
            part.push(Group { free: group.free.clone(), rows: start..end });
            start = end;
            if filled >= share {
                parts.push(std::mem::take(&mut part));
                filled = 0.0;
            }
        }
    }
    parts.push(part);
    parts
}
