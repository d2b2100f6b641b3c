//! The two kernels behind one interface, and the pieces into which a mini-batch is cut.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch, u32x16};
use rayon::prelude::*;

use super::data::Data;
use super::layers::{self, Layers};
use super::slots::Slots;
use super::wires::{self, Wires};
use crate::Machine;
use crate::cancel;
use crate::numeric::chance::{Generators, Sixteen, WIDTH};
use crate::numeric::streams::{Purpose, stream};

/// Largest number of pieces of a mini-batch; each has its own sums.
const PIECES: usize = 16;

/// Least work of a piece, in products of states; below, threads cost more than they save.
const PIECE: usize = 1 << 20;

/// Least rows of a piece, a multiple of what a kernel processes at once, and most.
const LEAST_ROWS: usize = 64;
const MOST_ROWS: usize = 4096;

pub(super) enum Kernel {
    Layers(Layers),
    Wires(Wires),
}

enum Rows {
    Layers(layers::Rows),
    Wires(wires::Rows),
}

impl Kernel {
    /// Dense products for two layers without couplings within them, otherwise sums along the edges.
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

    /// The number of parameter slots, and the bytes of couplings and states, before allocation.
    ///
    /// *Arguments*: pairs of a number of pieces and the rows of each.
    pub(super) fn sizes(machine: &Machine, pieces: &[(usize, usize)]) -> (u128, u128) {
        let shape = Layers::shape(machine);
        let (slots, couplings, states) = shape.map_or_else(|| Wires::sizes(machine), Layers::sizes);
        // Layers keep states per row, with rows filled up to whole tiles.
        let rows = |rows: usize| if shape.is_some() { rows as u128 + 4 } else { 1 };
        let states = pieces.iter().map(|&(count, most)| states * count as u128 * rows(most));
        (slots, couplings + states.sum::<u128>())
    }

    pub(super) fn load(&mut self, level: Level, parameters: &[f64]) {
        match self {
            Self::Layers(layers) => dispatch!(level, simd => layers.load(simd, parameters)),
            Self::Wires(wires) => wires.load(parameters),
        }
    }
}

pub(super) struct Plan {
    pub(super) level: Level,
    pub(super) seed: u64,
    /// Gibbs sweeps away from the rows, or of the chains.
    pub(super) steps: usize,
    /// Gibbs sweeps of hidden units and missing cells that depend on each other.
    pub(super) clamped_sweeps: usize,
}

#[derive(Clone, Copy)]
pub(super) enum Use {
    Epoch(usize),
    Judging,
    Start,
    Chains,
}

impl Plan {
    /// Streams are split by purpose and piece: the same states on any number of threads.
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

pub(super) struct Job<'a> {
    pub(super) plan: &'a Plan,
    pub(super) data: &'a Data,
    pub(super) rows: &'a [u32],
    /// Those of the piece.
    pub(super) part: Range<usize>,
    pub(super) chains: Range<usize>,
    /// The number of persistent chains of all pieces; 0 if sweeps begin at the rows.
    pub(super) all_chains: usize,
}

impl Job<'_> {
    #[inline(always)]
    pub(super) fn own_rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows[self.part.clone()].iter().copied()
    }

    /// The row whose inputs state k of the piece has during its sweeps.
    #[inline(always)]
    pub(super) fn row_of_chain(&self, k: usize) -> u32 {
        let first = if self.all_chains > 0 { self.chains.start } else { self.part.start };
        self.rows[(first + k) % self.rows.len()]
    }
}

/// A job in the lanes of an instruction set, with its random numbers.
pub(super) struct Pass<'a, S: Simd> {
    pub(super) simd: S,
    pub(super) job: &'a Job<'a>,
    pub(super) random: [u32x16<S>; 4],
}

#[derive(Clone, Copy)]
enum Task<'a> {
    Contrast,
    Objective(&'a [f64]),
    BeginChains,
}

/// What the jobs of a piece leave behind.
pub(super) struct Work {
    pub(super) chains: Vec<i8>,
    pub(super) sums: Vec<Sixteen>,
    value: f64,
}

struct Piece {
    rows: Rows,
    generators: Generators,
    chains: Range<usize>,
    work: Work,
}

/// Pieces of mini-batches up to some size, with the memory for their states.
pub(super) struct Pieces {
    pieces: Vec<Piece>,
    chains: usize,
}

/// The number of pieces for a number of rows, and the most rows of each; depends on the work alone.
pub(super) fn cut(machine: &Machine, rows: usize) -> (usize, usize) {
    let products = machine.graph().edges().len() + machine.unit_count();
    let least = (PIECE / products.max(1)).clamp(LEAST_ROWS, MOST_ROWS);
    let count = rows.div_ceil(least.next_multiple_of(LEAST_ROWS)).clamp(1, PIECES);
    (count, rows.div_ceil(count))
}

impl Pieces {
    /// For mini-batches of up to `rows` rows and a number of persistent chains, which may be 0.
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
            let states = vec![0; chains.len() * machine.unit_count()];
            Piece {
                rows: kernel.rows(most),
                generators: plan.generators(Use::Start, number),
                chains,
                work: Work { chains: states, sums: vec![Sixteen::ZERO; slots / WIDTH], value: 0.0 },
            }
        };
        Self { pieces: (0..count).map(piece).collect(), chains }
    }

    pub(super) fn begin(&mut self, plan: &Plan, which: Use) {
        for (number, piece) in self.pieces.iter_mut().enumerate() {
            piece.generators = plan.generators(which, number);
        }
    }

    fn run(&mut self, kernel: &Kernel, plan: &Plan, data: &Data, rows: &[u32], task: Task<'_>) {
        let (count, all_chains) = (self.pieces.len(), self.chains);
        let run = |(number, piece): (usize, &mut Piece)| {
            cancel::point();
            let part = number * rows.len() / count..(number + 1) * rows.len() / count;
            let job = Job { plan, data, rows, part, chains: piece.chains.clone(), all_chains };
            let Piece { rows, generators, work, .. } = piece;
            dispatch!(plan.level, simd => {
                let mut pass = Pass { simd, job: &job, random: generators.load(simd) };
                let pass = &mut pass;
                match (kernel, rows) {
                    (Kernel::Layers(layers), Rows::Layers(rows)) => match task {
                        Task::Contrast => layers.contrast(pass, rows, work),
                        Task::Objective(weights) => work.value = layers.objective(pass, weights, rows),
                        Task::BeginChains => layers.begin(pass, rows, &mut work.chains),
                    },
                    (Kernel::Wires(wires), Rows::Wires(rows)) => match task {
                        Task::Contrast => wires.contrast(pass, rows, work),
                        Task::Objective(weights) => work.value = wires.objective(pass, weights, rows),
                        Task::BeginChains => wires.begin(pass, rows, &mut work.chains),
                    },
                    // Rows are made by the kernel that uses them.
                    _ => {}
                }
                generators.store(pass.random);
            });
        };
        match &mut self.pieces[..] {
            [one] => run((0, one)),
            several => several.par_iter_mut().enumerate().for_each(run),
        }
    }

    /// The gradient of a mini-batch; persistent chains are advanced.
    pub(super) fn contrast(&mut self, kernel: &Kernel, plan: &Plan, data: &Data, rows: &[u32]) -> &[Sixteen] {
        self.run(kernel, plan, data, rows, Task::Contrast);
        // Added in order: the same sums on any number of threads.
        let (first, others) = self.pieces.split_at_mut(1);
        for other in others {
            for (sum, x) in first[0].work.sums.iter_mut().zip(&other.work.sums) {
                sum.0.iter_mut().zip(x.0).for_each(|(sum, x)| *sum += x);
            }
        }
        &first[0].work.sums
    }

    /// Σ over weighted rows of ln P(s_i | all other units) of the visible cells.
    pub(super) fn objective(
        &mut self,
        kernel: &Kernel,
        plan: &Plan,
        data: &Data,
        (rows, weights): (&[u32], &[f64]),
    ) -> f64 {
        self.begin(plan, Use::Judging);
        self.run(kernel, plan, data, rows, Task::Objective(weights));
        self.pieces.iter().map(|piece| piece.work.value).sum()
    }

    pub(super) fn begin_chains(&mut self, kernel: &Kernel, plan: &Plan, data: &Data, rows: &[u32]) {
        self.begin(plan, Use::Chains);
        self.run(kernel, plan, data, rows, Task::BeginChains);
    }

    pub(super) fn chains(&self) -> Vec<i8> {
        self.pieces.iter().flat_map(|piece| piece.work.chains.iter().copied()).collect()
    }

    pub(super) fn set_chains(&mut self, states: &[i8]) {
        let mut states = states.iter();
        for piece in &mut self.pieces {
            piece.work.chains.iter_mut().zip(&mut states).for_each(|(own, &state)| *own = state);
        }
    }
}
