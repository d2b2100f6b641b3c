//! One row of evidence, on all cores: the states of its first free units are the lanes.

use rayon::prelude::*;

use super::blocks::{Couplings, LaneFields, sign};
use super::moments::{Order, Sums};
use super::problem::SingleRow;
use crate::numeric::stable::shares;
use crate::progress::Task;
use crate::{Evidence, Machine};

/// Parts into which the blocks of a single row are split, whatever the number of threads.
const PARTS: usize = 64;

/// Ranges of blocks, the same on any number of threads.
pub(super) fn parts(blocks: usize) -> impl IndexedParallelIterator<Item = std::ops::Range<usize>> {
    let parts = blocks.min(PARTS);
    (0..parts).into_par_iter().map(move |part| blocks * part / parts..blocks * (part + 1) / parts)
}

/// Sums over all blocks, on all cores, in fixed order.
pub(super) fn sum_in_parts(couplings: &Couplings, lanes: &LaneFields, order: Order) -> Sums {
    let task = Task::begin(couplings.blocks() as u64);
    let parts = parts(couplings.blocks()).map(|range| {
        let count = range.len() as u64;
        let sums = Sums::over(couplings, lanes, range, order);
        task.done(count);
        sums
    });
    let merge = |mut all: Sums, part: Sums| {
        all.merge(&part);
        all
    };
    // Without high units there is one block.
    parts.collect::<Vec<_>>().into_iter().reduce(merge).expect("a walk has a block")
}

/// Where a unit is found in the sums of a single row.
#[derive(Clone, Copy)]
enum Place {
    Clamped(f64),
    Across(usize),
    Along(usize),
}

/// Log Z and moments of a single row.
pub(super) struct RowMoments {
    pub(super) log_z: f64,
    /// A bound on |E|/T of the free units.
    pub(super) scale: f64,
    sums: Sums,
    places: Vec<Place>,
    /// The probability of each lane.
    lanes: Vec<f64>,
}

impl RowMoments {
    /// Log Z, and with [`Order::Second`] the moments too.
    pub(super) fn of(machine: &Machine, evidence: &Evidence, order: Order) -> Self {
        let row = SingleRow::new(machine, evidence);
        let sums = sum_in_parts(&row.couplings, &row.lanes, order);
        let logs: Vec<f64> = (0..1 << row.across.len()).map(|lane| sums.log_sum(lane)).collect();
        let (log_sum, lanes) = shares(&logs);
        let cells = row.evidence.cells().iter();
        let mut places: Vec<Place> = cells.map(|&s| Place::Clamped(f64::from(s))).collect();
        for (bit, &unit) in row.across.iter().enumerate() {
            places[unit] = Place::Across(bit);
        }
        for (k, &unit) in row.along.iter().enumerate() {
            places[unit] = Place::Along(k);
        }
        Self { log_z: log_sum + row.shift, scale: row.scale(), sums, places, lanes }
    }

    fn over_lanes(&self, term: impl Fn(usize) -> f64) -> f64 {
        self.lanes.iter().enumerate().map(|(lane, p)| p * term(lane)).sum::<f64>().clamp(-1.0, 1.0)
    }

    pub(super) fn mean(&self, unit: usize) -> f64 {
        match self.places[unit] {
            Place::Clamped(s) => s,
            Place::Across(bit) => self.over_lanes(|lane| sign(lane, bit)),
            Place::Along(a) => self.over_lanes(|lane| self.sums.mean(a, lane)),
        }
    }

    pub(super) fn pair(&self, a: usize, b: usize) -> f64 {
        match (self.places[a], self.places[b]) {
            (Place::Clamped(s), _) => s * self.mean(b),
            (_, Place::Clamped(s)) => s * self.mean(a),
            (Place::Across(p), Place::Across(q)) => self.over_lanes(|lane| sign(lane, p) * sign(lane, q)),
            (Place::Along(p), Place::Along(q)) => {
                self.over_lanes(|lane| self.sums.pair(p.min(q), p.max(q), lane))
            }
            (Place::Along(p), Place::Across(bit)) | (Place::Across(bit), Place::Along(p)) => {
                self.over_lanes(|lane| sign(lane, bit) * self.sums.mean(p, lane))
            }
        }
    }
}
