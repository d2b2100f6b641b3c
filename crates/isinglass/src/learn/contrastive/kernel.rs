//! The two kernels behind one face, and the pieces into which a mini-batch is cut.

use std::ops::Range;

use fearless_simd::{Level, dispatch};
use rayon::prelude::*;

use super::job::{Data, Job};
use super::layers::{self, Layers};
use super::slots::Slots;
use super::wires::{self, Wires};
use crate::Machine;
use crate::cancel;
use crate::numeric::chance::{Generators, Sixteen, WIDTH};
use crate::numeric::streams::{Purpose, stream};

/// Pieces of a mini-batch at most: each has sums of its own.
const PIECES: usize = 16;

/// Products of states in a piece at least: below, threads cost more than they give.
const PIECE: usize = 1 << 20;

/// Rows of a piece at least, a multiple of what a kernel takes at once, and at most.
const LEAST_ROWS: usize = 64;
const MOST_ROWS: usize = 4096;

/// How states are drawn and their moments summed up.
pub(super) enum Kernel {
    Layers(Layers),
    Wires(Wires),
}

enum Rows {
    Layers(layers::Rows),
    Wires(wires::Rows),
}

impl Kernel {
    /// Products of layers where there are two without couplings within, otherwise along the edges.
    pub(super) fn new(machine: &Machine) -> Self {
        match Layers::shape(machine) {
            Some(shape) => Self::Layers(Layers::new(machine, shape)),
            None => Self::Wires(Wires::new(machine)),
        }
    }

    pub(super) fn slots(&self, machine: &Machine) -> Slots {
        match self {
            Self::Layers(layers) => layers.slots(machine),
            Self::Wires(wires) => wires.slots(),
        }
    }

    fn rows(&self, count: usize) -> Rows {
        match self {
            Self::Layers(layers) => Rows::Layers(layers.rows(count)),
            Self::Wires(wires) => Rows::Wires(wires.rows()),
        }
    }

    /// The places of parameters, and the bytes of couplings and of the states of some pieces of so many rows each, before any of it is taken.
    pub(super) fn sizes(machine: &Machine, pieces: &[(usize, usize)]) -> (u128, u128) {
        let (places, couplings, states, per_row) = match Layers::shape(machine) {
            Some(shape) => {
                let (places, couplings, row) = Layers::sizes(shape);
                (places, couplings, row, true)
            }
            None => {
                let (places, couplings, piece) = Wires::sizes(machine);
                (places, couplings, piece, false)
            }
        };
        let states = pieces.iter().map(|&(count, rows)| {
            // Rows are filled up to whole tiles.
            states * count as u128 * if per_row { rows as u128 + 4 } else { 1 }
        });
        (places, couplings + states.sum::<u128>())
    }

    /// Take over new parameters.
    pub(super) fn load(&mut self, level: Level, parameters: &[f64]) {
        match self {
            Self::Layers(layers) => dispatch!(level, simd => layers.load(simd, parameters)),
            Self::Wires(wires) => wires.load(parameters),
        }
    }
}

/// What every job of a fit has in common.
pub(super) struct Plan {
    pub(super) level: Level,
    pub(super) seed: u64,
    /// Gibbs sweeps away from the rows, or of the chains.
    pub(super) steps: usize,
    /// Gibbs sweeps of hidden units and missing cells that depend on each other.
    pub(super) clamped_sweeps: usize,
}

/// What a stream is for; with the number of a piece, and for each epoch.
#[derive(Clone, Copy)]
pub(super) enum Use {
    Epoch(usize),
    Judging,
    Start,
    Chains,
}

impl Plan {
    /// Pieces have streams of their own, by number: the same states on any number of threads.
    fn generators(&self, which: Use, piece: usize) -> Generators {
        let number = match which {
            Use::Judging => 0,
            Use::Start => 1,
            Use::Chains => 2,
            Use::Epoch(epoch) => epoch + 3,
        };
        Generators::new(stream(self.seed, Purpose::Contrast, (number * PIECES + piece) as u64))
    }
}

/// Pieces of mini-batches of up to some size, with room for their states.
pub(super) struct Pieces {
    pieces: Vec<Piece>,
    chains: usize,
}

struct Piece {
    rows: Rows,
    generators: Generators,
    chains: Range<usize>,
    /// The states of its persistent chains.
    states: Vec<i8>,
    sums: Vec<Sixteen>,
    value: f64,
}

/// In how many pieces so many rows are cut, and how many rows each has at most: by the work alone.
pub(super) fn cut(machine: &Machine, rows: usize) -> (usize, usize) {
    let products = machine.graph().edges().len() + machine.unit_count();
    let least = (PIECE / products.max(1)).clamp(LEAST_ROWS, MOST_ROWS);
    let count = rows.div_ceil(least.next_multiple_of(LEAST_ROWS)).clamp(1, PIECES);
    (count, rows.div_ceil(count))
}

impl Pieces {
    /// For mini-batches of up to `rows` rows, with persistent chains or none.
    pub(super) fn new(
        kernel: &Kernel,
        machine: &Machine,
        plan: &Plan,
        (rows, chains): (usize, usize),
        slots: usize,
    ) -> Self {
        let (count, most) = cut(machine, rows.max(chains));
        let piece = |number: usize| {
            let chains = number * chains / count..(number + 1) * chains / count;
            Piece {
                rows: kernel.rows(most),
                generators: plan.generators(Use::Start, number),
                states: vec![0; chains.len() * machine.unit_count()],
                chains,
                sums: vec![Sixteen::ZERO; slots / WIDTH],
                value: 0.0,
            }
        };
        Self { pieces: (0..count).map(piece).collect(), chains }
    }

    /// Begin the streams of a use.
    pub(super) fn begin(&mut self, plan: &Plan, which: Use) {
        for (number, piece) in self.pieces.iter_mut().enumerate() {
            piece.generators = plan.generators(which, number);
        }
    }

    fn each(&mut self, plan: &Plan, data: &Data, rows: &[u32], work: impl Fn(&Job<'_>, &mut Piece) + Sync) {
        let (count, all_chains) = (self.pieces.len(), self.chains);
        let run = |(number, piece): (usize, &mut Piece)| {
            let job = Job {
                data,
                rows,
                part: number * rows.len() / count..(number + 1) * rows.len() / count,
                chains: piece.chains.clone(),
                all_chains,
                steps: plan.steps,
                clamped_sweeps: plan.clamped_sweeps,
            };
            cancel::point();
            work(&job, piece);
        };
        match &mut self.pieces[..] {
            [one] => run((0, one)),
            several => several.par_iter_mut().enumerate().for_each(run),
        }
    }

    /// The gradient of some rows; with persistent chains, these go their steps.
    pub(super) fn contrast(&mut self, kernel: &Kernel, plan: &Plan, data: &Data, rows: &[u32]) -> &[Sixteen] {
        self.each(plan, data, rows, |job, piece| {
            let Piece { rows, states, generators, sums, .. } = piece;
            dispatch!(plan.level, simd => match (kernel, rows) {
                (Kernel::Layers(layers), Rows::Layers(rows)) => layers.contrast(simd, job, rows, states, generators, sums),
                (Kernel::Wires(wires), Rows::Wires(rows)) => wires.contrast(simd, job, rows, states, generators, sums),
                // Rooms are made by the kernel that uses them.
                _ => {}
            });
        });
        // Added up in order: the same sums on any number of threads.
        let (first, others) = self.pieces.split_at_mut(1);
        for other in others {
            for (sum, x) in first[0].sums.iter_mut().zip(&other.sums) {
                sum.0.iter_mut().zip(x.0).for_each(|(sum, x)| *sum += x);
            }
        }
        &first[0].sums
    }

    /// Σ over rows, with their weights, of ln P(s_i | all other units) of the visible cells.
    pub(super) fn objective(
        &mut self,
        kernel: &Kernel,
        plan: &Plan,
        data: &Data,
        rows: &[u32],
        weights: &[f64],
    ) -> f64 {
        self.each(plan, data, rows, |job, piece| {
            let Piece { rows, generators, value, .. } = piece;
            *value = dispatch!(plan.level, simd => match (kernel, rows) {
                (Kernel::Layers(layers), Rows::Layers(rows)) => layers.objective(simd, job, weights, rows, generators),
                (Kernel::Wires(wires), Rows::Wires(rows)) => wires.objective(simd, job, weights, rows, generators),
                _ => 0.0,
            });
        });
        self.pieces.iter().map(|piece| piece.value).sum()
    }

    /// Let the chains begin with some rows.
    pub(super) fn begin_chains(&mut self, kernel: &Kernel, plan: &Plan, data: &Data, rows: &[u32]) {
        self.begin(plan, Use::Chains);
        self.each(plan, data, rows, |job, piece| {
            let Piece { rows, states, generators, .. } = piece;
            dispatch!(plan.level, simd => match (kernel, rows) {
                (Kernel::Layers(layers), Rows::Layers(rows)) => layers.begin(simd, job, rows, states, generators),
                (Kernel::Wires(wires), Rows::Wires(rows)) => wires.begin(simd, job, rows, states, generators),
                _ => {}
            });
        });
    }

    /// The states of all chains, one after another.
    pub(super) fn chains(&self) -> Vec<i8> {
        self.pieces.iter().flat_map(|piece| piece.states.iter().copied()).collect()
    }

    /// Let the chains go on from states.
    pub(super) fn set_chains(&mut self, states: &[i8]) {
        let mut states = states.iter();
        for piece in &mut self.pieces {
            piece.states.iter_mut().zip(&mut states).for_each(|(own, &state)| *own = state);
        }
    }
}
