//! A Gibbs chain for every row of a batch, sixty-four rows side by side.
//!
//! Rows differ in their fields, and may differ in which units are free. All units that are free in
//! any row of a block are updated; where a unit is clamped in a row, it keeps its value there.

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::kernel::{Couplings, Spins, add_pull, choose};
use crate::numeric::chance::{Generators, WIDTH};
use crate::table::Batch;
use crate::{Error, Machine, Result, cancel};

/// Lanes of sixteen rows in a block: they share the walk along the neighbours.
const GROUPS: usize = 4;

/// Rows of a block.
const ROWS: usize = GROUPS * WIDTH;

type Lanes = Spins<GROUPS>;

/// How each row of a batch is drawn.
#[derive(Clone, Copy)]
pub(crate) struct RowChains<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) batch: &'a Batch,
    /// The first state of each row's chain, in the order given.
    pub(crate) start: &'a [i8],
    /// States drawn from each chain.
    pub(crate) count: usize,
    /// Sweeps before each of them.
    pub(crate) sweeps: usize,
}

impl RowChains<'_> {
    /// Draws the states of each row, in grouped order, into `out`, which holds the values of clamped
    /// units already.
    ///
    /// *Arguments*: the random numbers of each block of rows; blocks are independent of the threads.
    /// *Complexity*: a step for each neighbour of a free unit, and in each sweep one for each free
    /// neighbour, for sixty-four rows together.
    pub(crate) fn draw(&self, random: &(dyn Fn(u64) -> ChaCha8Rng + Sync), out: &mut [i8]) -> Result<()> {
        let units = self.machine.unit_count();
        Error::check_length("cells of the starts", self.start.len(), self.batch.row_count() * units)?;
        Error::check_length("cells of the draws", out.len(), self.batch.row_count() * units * self.count)?;
        let level = Level::new();
        let blocks = out.par_chunks_mut((ROWS * units * self.count).max(1)).enumerate();
        blocks.for_each(|(number, out)| {
            let first = number * ROWS;
            let mut block = Block::new(self, first..self.batch.row_count().min(first + ROWS));
            let mut source = random(number as u64);
            let mut generators = std::array::from_fn(|_| Generators::new(&mut source));
            dispatch!(level, simd => block.pull_of_clamped(simd));
            for draw in 0..self.count {
                dispatch!(level, simd => block.sweep(simd, self.sweeps, &mut generators));
                block.write(draw, self.count, out);
            }
        });
        Ok(())
    }
}

/// Some rows side by side.
struct Block {
    /// The values of all units: clamped ones, and 0 where they are free.
    given: Vec<Lanes>,
    biases: Vec<f32>,
    /// Units that are free in any of the rows, in the order of sweeps.
    free: Vec<usize>,
    /// The neighbours of each that are clamped in all rows.
    outer: Vec<(u32, f32)>,
    ends: Vec<usize>,
    couplings: Couplings,
    /// The bias of each, and the pull of these neighbours.
    fields: Vec<Lanes>,
    states: Vec<Lanes>,
}

impl Block {
    fn new(chains: &RowChains<'_>, rows: std::ops::Range<usize>) -> Self {
        let RowChains { machine, batch, start, .. } = *chains;
        let units = machine.unit_count();
        let mut given = vec![Spins([[0.0; WIDTH]; GROUPS]); units];
        let mut first = given.clone();
        let mut is_free = vec![false; units];
        for (lane, place) in rows.enumerate() {
            let given_place = batch.given_order()[place] * units;
            let (row, begin) = (batch.row(place), &start[given_place..given_place + units]);
            for unit in 0..units {
                given[unit].0.as_flattened_mut()[lane] = f32::from(row[unit]);
                first[unit].0.as_flattened_mut()[lane] = f32::from(begin[unit]);
                is_free[unit] |= row[unit] == 0;
            }
        }
        let free: Vec<usize> = (0..units).filter(|&unit| is_free[unit]).collect();
        let couplings = Couplings::new(machine, &free);
        let free = couplings.order.clone();
        let scale = 2.0 / machine.temperature();
        let mut outer = Vec::new();
        let mut ends = Vec::with_capacity(free.len());
        for &unit in &free {
            let clamped = machine.graph().neighbours(unit).filter(|&(other, _)| !is_free[other]);
            let coupling = |edge: usize| (scale * machine.weights()[edge]) as f32;
            outer.extend(clamped.map(|(other, edge)| (other as u32, coupling(edge))));
            ends.push(outer.len());
        }
        Self {
            biases: free.iter().map(|&unit| (scale * machine.biases()[unit]) as f32).collect(),
            couplings,
            fields: Vec::with_capacity(free.len()),
            states: free.iter().map(|&unit| first[unit]).collect(),
            given,
            free,
            outer,
            ends,
        }
    }

    /// Computes the fields that do not change from sweep to sweep.
    #[inline(always)]
    fn pull_of_clamped<S: Simd>(&mut self, simd: S) {
        let mut begin = 0;
        for (&end, &bias) in self.ends.iter().zip(&self.biases) {
            let bias = [f32x16::splat(simd, bias); GROUPS];
            let field = add_pull(simd, bias, &self.outer[begin..end], &self.given);
            self.fields.push(Spins(field.map(f32x16::to_array)));
            begin = end;
        }
    }

    #[inline(always)]
    fn sweep<S: Simd>(&mut self, simd: S, sweeps: usize, generators: &mut [Generators; GROUPS]) {
        let half = f32x16::splat(simd, 0.5);
        let mut random = generators.map(|generators| generators.load(simd));
        for _ in 0..sweeps {
            cancel::point();
            for place in 0..self.free.len() {
                let own = self.fields[place].0.map(|lane| f32x16::load_array(simd, lane));
                let field = add_pull(simd, own, self.couplings.around(place), &self.states);
                for group in 0..GROUPS {
                    let chosen = choose(simd, field[group], &mut random[group]);
                    let given = f32x16::load_array_ref(simd, &self.given[self.free[place]].0[group]);
                    let spin = given.abs().simd_lt(half).select(chosen, given);
                    spin.store_array(&mut self.states[place].0[group]);
                }
            }
        }
        generators.iter_mut().zip(random).for_each(|(generators, words)| generators.store(words));
    }

    /// Writes the states to the places of a draw.
    fn write(&self, draw: usize, count: usize, out: &mut [i8]) {
        let units = self.given.len();
        for (lane, draws) in out.chunks_exact_mut(units * count).enumerate() {
            let state = &mut draws[draw * units..(draw + 1) * units];
            for (&unit, lanes) in self.free.iter().zip(&self.states) {
                state[unit] = if lanes.0.as_flattened()[lane] > 0.0 { 1 } else { -1 };
            }
        }
    }
}
