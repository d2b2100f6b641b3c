//! The couplings among the free units, stored for fast products.

use std::ops::Range;

use crate::Machine;
use crate::numeric::dense::multiply;

/// Couplings among the free units, divided by T. Units are numbered among the free ones.
pub(super) struct Couplings {
    pub(super) units: usize,
    /// The coupled pairs in the order of their edges.
    pub(super) pairs: Vec<Pair>,
    form: Form,
}

/// Two free units joined by an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) edge: u32,
    pub(super) coupling: f64,
}

enum Form {
    /// The symmetric matrix, and its squared entries if required.
    Dense { couplings: Vec<f64>, squares: Vec<f64> },
    /// The neighbours of each unit in compressed rows.
    Sparse { offsets: Vec<usize>, others: Vec<(u32, f64)> },
}

/// Units of a block, whose fields come from one matrix product.
const BLOCK: usize = 32;

/// Fewer units than this are handled as sparse.
const LEAST_DENSE: usize = 24;

/// Speed of matrix products over compressed rows, in terms per time.
const DENSE_ADVANTAGE: usize = 6;

impl Couplings {
    /// Collects the couplings among some units, given in rising order.
    pub(super) fn new(machine: &Machine, free: &[usize], with_squares: bool) -> Self {
        let pairs = pairs_among(machine, free);
        let units = free.len();
        let form = if is_dense(units, pairs.len()) {
            let mut couplings = vec![0.0; units * units];
            for &Pair { a, b, coupling, .. } in &pairs {
                couplings[a as usize * units + b as usize] = coupling;
                couplings[b as usize * units + a as usize] = coupling;
            }
            let squares = if with_squares { couplings.iter().map(|v| v * v).collect() } else { Vec::new() };
            Form::Dense { couplings, squares }
        } else {
            let mut offsets = vec![0; units + 1];
            for pair in &pairs {
                offsets[pair.a as usize + 1] += 1;
                offsets[pair.b as usize + 1] += 1;
            }
            for unit in 0..units {
                offsets[unit + 1] += offsets[unit];
            }
            let mut next = offsets.clone();
            let mut others = vec![(0, 0.0); 2 * pairs.len()];
            for &Pair { a, b, coupling, .. } in &pairs {
                for (unit, other) in [(a, b), (b, a)] {
                    others[next[unit as usize]] = (other, coupling);
                    next[unit as usize] += 1;
                }
            }
            Form::Sparse { offsets, others }
        };
        Self { units, pairs, form }
    }

    /// Returns the most bytes that couplings take.
    pub(super) fn bytes(units: usize, edges: usize, with_squares: bool) -> u128 {
        let (units, edges) = (units as u128, edges as u128);
        let listed = edges * 24;
        if is_dense(units as usize, edges as usize) {
            listed + units * units * if with_squares { 16 } else { 8 }
        } else {
            listed + units * 16 + edges * 32
        }
    }

    /// Returns whether no two free units are coupled, so that independent units are exact.
    pub(super) fn are_none(&self) -> bool {
        self.pairs.iter().all(|pair| pair.coupling == 0.0)
    }

    /// Returns the number of units in a block.
    pub(super) fn block(&self) -> usize {
        match self.form {
            Form::Dense { .. } => BLOCK,
            Form::Sparse { .. } => 1,
        }
    }

    /// `out ← Σ_j v_ij x_j` for each unit of a block, or with `v_ij²`; stored by unit, `width`
    /// rows.
    #[inline(always)]
    pub(super) fn pull(&self, block: Range<usize>, squared: bool, x: &[f64], width: usize, out: &mut [f64]) {
        match &self.form {
            Form::Dense { couplings, squares } => {
                let matrix = if squared { squares } else { couplings };
                let columns = &matrix[block.start * self.units..block.end * self.units];
                multiply(&mut out[..block.len() * width], x, columns, width, self.units, false);
            }
            Form::Sparse { offsets, others } => {
                for (place, unit) in block.enumerate() {
                    let out = &mut out[place * width..(place + 1) * width];
                    let row = &others[offsets[unit]..offsets[unit + 1]];
                    if width == 1 {
                        let term =
                            |&(other, v): &(u32, f64)| if squared { v * v } else { v } * x[other as usize];
                        out[0] = row.iter().map(term).sum();
                        continue;
                    }
                    out.fill(0.0);
                    for &(other, v) in row {
                        let v = if squared { v * v } else { v };
                        let x = &x[other as usize * width..(other as usize + 1) * width];
                        for (sum, x) in out.iter_mut().zip(x) {
                            *sum += v * x;
                        }
                    }
                }
            }
        }
    }

    /// Returns the couplings of a unit with others of its block; empty for sparse machines.
    pub(super) fn column(&self, unit: usize, others: Range<usize>) -> &[f64] {
        match &self.form {
            Form::Dense { couplings, .. } => &couplings[unit * self.units..][others],
            Form::Sparse { .. } => &[],
        }
    }

    /// Returns the cost of a sweep over eight rows, in about nanoseconds.
    pub(super) fn sweep_cost(&self) -> f64 {
        let terms = match self.form {
            Form::Dense { .. } => (self.units * self.units) as f64 / DENSE_ADVANTAGE as f64,
            Form::Sparse { .. } => 2.0 * self.pairs.len() as f64,
        };
        2.0 * terms + 10.0 * self.units as f64
    }
}

fn is_dense(units: usize, edges: usize) -> bool {
    units >= LEAST_DENSE && 2 * edges * DENSE_ADVANTAGE >= units * units
}

/// Returns the joined pairs among some units (in rising order), in the order of their edges.
pub(super) fn pairs_among(machine: &Machine, free: &[usize]) -> Vec<Pair> {
    let place = places(machine, free);
    let edges = machine.graph().edges().iter().zip(machine.weights()).enumerate();
    edges
        .map(|(edge, (&(a, b), w))| Pair {
            a: place[a],
            b: place[b],
            edge: edge as u32,
            coupling: w / machine.temperature(),
        })
        .filter(|pair| pair.a != NONE && pair.b != NONE)
        .collect()
}

/// No place: the unit is clamped.
pub(super) const NONE: u32 = u32::MAX;

/// Returns the number of each unit among the free ones; [`NONE`] for clamped units.
pub(super) fn places(machine: &Machine, free: &[usize]) -> Vec<u32> {
    let mut places = vec![NONE; machine.unit_count()];
    for (place, &unit) in free.iter().enumerate() {
        places[unit] = place as u32;
    }
    places
}
