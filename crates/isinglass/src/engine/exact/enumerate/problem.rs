//! From a machine and rows of evidence to the couplings and fields that the walk works on.

use super::blocks::{Couplings, LaneFields, sign};
use crate::engine::exact::pinned::clamp_pinned;
use crate::engine::fields::Fields;
use crate::numeric::lanes::{LANES, Lane};
use crate::{Evidence, Machine};

/// Units whose states are the lanes of a single row.
const LANE_UNITS: usize = 3;

/// What rows with the same free units share.
pub(super) fn group_couplings(machine: &Machine, free: &[usize]) -> Couplings {
    Couplings::new(free.len(), shared_couplings(machine, free))
}

/// Up to eight rows of evidence with the same free units as lanes, and the shifts of their
/// log-sums.
pub(super) fn rows_in_lanes(machine: &Machine, free: &[usize], rows: &[&[i8]]) -> (LaneFields, [f64; LANES]) {
    let fields = Fields::new(machine, free, rows);
    (LaneFields::new(fields.free.into_iter().map(Lane).collect(), rows.len(), |_| 0.0), fields.shifts)
}

/// A single evidence, its first free units spread over the lanes; pinned units count as clamped.
pub(super) struct SingleRow {
    pub(super) evidence: Evidence,
    /// The free units whose states are lanes; unit k is bit k of the lane.
    pub(super) across: Vec<usize>,
    /// The free units that the walk sums over.
    pub(super) along: Vec<usize>,
    pub(super) couplings: Couplings,
    pub(super) lanes: LaneFields,
    /// The shift of the log-sum.
    pub(super) shift: f64,
}

impl SingleRow {
    pub(super) fn new(machine: &Machine, evidence: &Evidence) -> Self {
        let evidence = clamp_pinned(machine, evidence, &[]);
        let free: Vec<usize> = evidence.free().collect();
        let Fields { free: alone, shifts, .. } = Fields::<1>::new(machine, &free, &[evidence.cells()]);
        let all = shared_couplings(machine, &free);
        let n = free.len();
        let wide = n.min(LANE_UNITS);
        let coupling = |a: usize, b: usize| all[a * n + b];
        let matrix = (wide..n).flat_map(|a| all[a * n + wide..(a + 1) * n].iter().copied()).collect();
        // In each lane, the units across are clamped to a state, which shifts the other fields.
        let field = |a: usize| {
            let pull = |lane| (0..wide).map(|u| coupling(a, u) * sign(lane, u)).sum::<f64>();
            Lane(std::array::from_fn(|lane| alone[a][0] + pull(lane)))
        };
        let own = |lane: usize| {
            let terms = (0..wide).map(|u| {
                let pairs: f64 = (0..u).map(|v| coupling(u, v) * sign(lane, v)).sum();
                sign(lane, u) * (alone[u][0] + pairs)
            });
            terms.sum::<f64>()
        };
        Self {
            couplings: Couplings::new(n - wide, matrix),
            lanes: LaneFields::new((wide..n).map(field).collect(), 1 << wide, own),
            across: free[..wide].to_vec(),
            along: free[wide..].to_vec(),
            shift: shifts[0],
            evidence,
        }
    }

    /// A bound on |E|/T of the free units, which decides how many digits their moments keep.
    pub(super) fn scale(&self) -> f64 {
        self.couplings.scale() + self.lanes.scale()
    }

    /// Writes the complete state of a lane and a state of the units along.
    pub(super) fn write_state(&self, lane: usize, along: usize, state: &mut [i8]) {
        state.copy_from_slice(self.evidence.cells());
        let mut set = |units: &[usize], bits: usize| {
            for (bit, &unit) in units.iter().enumerate() {
                state[unit] = if bits >> bit & 1 == 1 { 1 } else { -1 };
            }
        };
        set(&self.across, lane);
        set(&self.along, along);
    }
}

/// The couplings among some units, dense, divided by T.
fn shared_couplings(machine: &Machine, units: &[usize]) -> Vec<f64> {
    let n = units.len();
    let mut matrix = vec![0.0; n * n];
    for (a, &unit) in units.iter().enumerate() {
        for (other, edge) in machine.graph().neighbours(unit) {
            if let Ok(b) = units.binary_search(&other) {
                matrix[a * n + b] = machine.weights()[edge] / machine.temperature();
            }
        }
    }
    matrix
}
