//! One row of evidence, on all cores: the states of its first free units are the lanes.

use rayon::prelude::*;

use super::blocks::{Couplings, LaneFields, sign};
use super::moments::Sums;
use super::problem::{lane_fields, shared_couplings};
use crate::numeric::stable::log_sum;
use crate::{Evidence, Machine};

/// Units whose states are the lanes of a single row.
const LANE_UNITS: usize = 3;

/// A single evidence, its first free units spread over the lanes.
pub(super) struct SingleRow {
    /// The free units whose states are lanes; unit k is bit k of the lane.
    pub(super) across: Vec<usize>,
    /// The free units that the walk sums over.
    pub(super) along: Vec<usize>,
    pub(super) couplings: Couplings,
    pub(super) lanes: LaneFields,
}

impl SingleRow {
    pub(super) fn new(machine: &Machine, evidence: &Evidence) -> Self {
        let free: Vec<usize> = evidence.free().collect();
        let (across, along) = free.split_at(free.len().min(LANE_UNITS));
        let couplings = shared_couplings(machine, along);
        // Each lane is the evidence with the units across clamped to one of their states.
        let rows: Vec<Vec<i8>> = (0..1 << across.len())
            .map(|state: usize| {
                let mut row = evidence.cells().to_vec();
                for (bit, &unit) in across.iter().enumerate() {
                    row[unit] = if state >> bit & 1 == 1 { 1 } else { -1 };
                }
                row
            })
            .collect();
        let rows: Vec<&[i8]> = rows.iter().map(Vec::as_slice).collect();
        let lanes = lane_fields(machine, along, &rows);
        Self { across: across.to_vec(), along: along.to_vec(), couplings, lanes }
    }

    /// The complete state of a lane and a state of the units along.
    pub(super) fn state(&self, evidence: &Evidence, lane: usize, along: usize) -> Vec<i8> {
        let mut state = evidence.cells().to_vec();
        let mut set = |units: &[usize], bits: usize| {
            for (bit, &unit) in units.iter().enumerate() {
                state[unit] = if bits >> bit & 1 == 1 { 1 } else { -1 };
            }
        };
        set(&self.across, lane);
        set(&self.along, along);
        state
    }
}

/// Parts into which the blocks of a single row are split, whatever the number of threads.
const PARTS: usize = 64;

/// Ranges of blocks, the same on any number of threads.
pub(super) fn parts(blocks: usize) -> impl IndexedParallelIterator<Item = std::ops::Range<usize>> {
    let parts = blocks.min(PARTS);
    (0..parts).into_par_iter().map(move |part| blocks * part / parts..blocks * (part + 1) / parts)
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
    sums: Sums,
    places: Vec<Place>,
    /// The probability of each lane.
    lanes: Vec<f64>,
}

impl RowMoments {
    pub(super) fn of(machine: &Machine, evidence: &Evidence) -> Self {
        let row = SingleRow::new(machine, evidence);
        let sums = parts(row.couplings.blocks())
            .map(|range| Sums::over(&row.couplings, &row.lanes, range))
            .collect::<Vec<_>>()
            .into_iter()
            .reduce(|mut all, part| {
                all.merge(&part);
                all
            })
            // There is at least one block: the empty product of no high units.
            .expect("a walk has a block");
        let logs: Vec<f64> = (0..1 << row.across.len()).map(|lane| sums.log_sum(lane)).collect();
        let log_z = log_sum(&logs);
        let mut places: Vec<Place> = evidence.cells().iter().map(|&s| Place::Clamped(f64::from(s))).collect();
        for (bit, &unit) in row.across.iter().enumerate() {
            places[unit] = Place::Across(bit);
        }
        for (k, &unit) in row.along.iter().enumerate() {
            places[unit] = Place::Along(k);
        }
        Self { log_z, sums, places, lanes: logs.iter().map(|x| (x - log_z).exp()).collect() }
    }

    fn over_lanes(&self, term: impl Fn(usize) -> f64) -> f64 {
        self.lanes.iter().enumerate().map(|(lane, p)| p * term(lane)).sum()
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
