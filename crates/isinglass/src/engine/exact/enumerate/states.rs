//! Single states: the most probable one, and exact independent draws.

use fearless_simd::{Simd, f64x8, prelude::*};
use rand::RngExt;
use rayon::prelude::*;

use super::Enumerate;
use super::blocks::{Block, Visitor, walk};
use super::problem::SingleRow;
use super::single::parts;
use crate::engine::{Diagnostics, Draws, Mode, ModeFinder, Sampler};
use crate::numeric::lanes::{LANES, exp_nonpositive};
use crate::numeric::streams::{Purpose, stream};
use crate::{Evidence, Machine, Result};

/// The best state so far: its −E/T, lane, block and place in the block.
#[derive(Clone, Copy)]
struct Best {
    value: f64,
    lane: usize,
    high: usize,
    state: usize,
}

impl Visitor for Best {
    #[inline(always)]
    fn visit<S: Simd>(&mut self, _simd: S, block: Block<'_>) {
        for lane in 0..LANES {
            let top = block.top.0[lane];
            if top > self.value {
                // The top is one of the energies.
                let state = block.energies.iter().position(|energy| energy.0[lane] == top);
                *self = Self { value: top, lane, high: block.high, state: state.unwrap_or_default() };
            }
        }
    }
}

impl ModeFinder for Enumerate {
    fn mode(&self, machine: &Machine, evidence: &Evidence) -> Result<Mode> {
        self.check_row(machine, evidence)?;
        let row = SingleRow::new(machine, evidence);
        let nothing = Best { value: f64::NEG_INFINITY, lane: 0, high: 0, state: 0 };
        let best = parts(row.couplings.blocks())
            .map(|range| {
                let mut best = nothing;
                walk(&row.couplings, &row.lanes, range, &mut best);
                best
            })
            .collect::<Vec<_>>()
            .into_iter()
            .fold(nothing, |best, next| if next.value > best.value { next } else { best });
        let mut state = vec![0; machine.unit_count()];
        row.write_state(best.lane, (best.high << row.couplings.block_units()) | best.state, &mut state);
        Ok(Mode {
            energy: machine.energy(&state),
            state,
            guarantee: Self::guarantee(row.scale()),
            diagnostics: Diagnostics::direct(),
            meetings: None,
        })
    }
}

/// The logarithm of the summed weight of each block, all lanes together.
struct BlockLogs(Vec<f64>);

impl Visitor for BlockLogs {
    #[inline(always)]
    fn visit<S: Simd>(&mut self, simd: S, block: Block<'_>) {
        let top = largest(&block.top.0);
        let shift = f64x8::splat(simd, top);
        let mut sum = f64x8::splat(simd, 0.0);
        for energy in block.energies.iter() {
            sum += exp_nonpositive(simd, energy.load(simd) - shift);
        }
        self.0.push(top + sum.to_array().iter().sum::<f64>().ln());
    }
}

/// Cumulated weights within one block, state after state with lanes fastest.
struct Cumulated(Vec<f64>);

impl Visitor for Cumulated {
    #[inline(always)]
    fn visit<S: Simd>(&mut self, simd: S, block: Block<'_>) {
        let shift = f64x8::splat(simd, largest(&block.top.0));
        let mut sum = 0.0;
        self.0.clear();
        for energy in block.energies.iter() {
            for weight in exp_nonpositive(simd, energy.load(simd) - shift).to_array() {
                sum += weight;
                self.0.push(sum);
            }
        }
    }
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The first place whose cumulated weight exceeds a share of the whole.
fn choose(cumulated: &[f64], share: f64) -> usize {
    let target = share * cumulated[cumulated.len() - 1];
    cumulated.partition_point(|&sum| sum <= target).min(cumulated.len() - 1)
}

impl Sampler for Enumerate {
    /// First draws a block by its share of Z, then a state within the block.
    fn draw(&self, machine: &Machine, evidence: &Evidence, count: usize, seed: u64) -> Result<Draws> {
        self.check_row(machine, evidence)?;
        let n = machine.unit_count();
        // The cells, and twice a block, a share and a number for each draw.
        let bytes = count as u128 * (n as u128 + 48);
        self.budget.check(Self::NAME, bytes, || format!("{count} draws of {n} units"))?;
        let row = SingleRow::new(machine, evidence);
        let logs: Vec<f64> = parts(row.couplings.blocks())
            .flat_map_iter(|range| {
                let mut logs = BlockLogs(Vec::with_capacity(range.len()));
                walk(&row.couplings, &row.lanes, range, &mut logs);
                logs.0
            })
            .collect();
        let (top, mut sum) = (largest(&logs), 0.0);
        let cumulate = |log: &f64| {
            sum += (log - top).exp();
            sum
        };
        let cumulated: Vec<f64> = logs.iter().map(cumulate).collect();

        let mut random = stream(seed, Purpose::Draws, 0);
        let draw = |draw| (choose(&cumulated, random.random()), random.random(), draw);
        let mut wanted: Vec<(usize, f64, usize)> = (0..count).map(draw).collect();
        // Draws from the same block share its table.
        wanted.sort_unstable_by_key(|&(block, _, draw)| (block, draw));
        let by_block: Vec<&[(usize, f64, usize)]> = wanted.chunk_by(|a, b| a.0 == b.0).collect();
        let chosen: Vec<Vec<(usize, usize, usize)>> = by_block
            .par_iter()
            .map(|wanted| {
                let block = wanted[0].0;
                let mut table = Cumulated(Vec::new());
                walk(&row.couplings, &row.lanes, block..block + 1, &mut table);
                let place = |&(_, share, draw): &(usize, f64, usize)| {
                    let place = choose(&table.0, share);
                    let along = (block << row.couplings.block_units()) | (place / LANES);
                    (draw, place % LANES, along)
                };
                wanted.iter().map(place).collect()
            })
            .collect();
        let mut cells = vec![0; count * n];
        for (draw, lane, along) in chosen.into_iter().flatten() {
            row.write_state(lane, along, &mut cells[draw * n..(draw + 1) * n]);
        }
        Ok(Draws {
            units: n,
            cells,
            guarantee: Self::guarantee(row.scale()),
            diagnostics: Diagnostics::direct(),
        })
    }
}
