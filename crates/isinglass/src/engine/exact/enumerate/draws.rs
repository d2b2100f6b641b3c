//! Exact independent draws: first a block by its share of Z, then a state within the block.

use fearless_simd::{Simd, f64x8, prelude::*};
use rand::RngExt;
use rayon::prelude::*;

use super::Enumerate;
use super::blocks::{Block, Visitor, walk};
use super::problem::SingleRow;
use super::single::parts;
use crate::engine::{Diagnostics, Draws, Sampler};
use crate::numeric::lanes::{LANES, Lane, exp_nonpositive};
use crate::numeric::streams::{Purpose, stream};
use crate::{Evidence, Machine, Result};

/// The logarithm of the summed weight of each block, all lanes together.
struct BlockLogs(Vec<f64>);

impl Visitor for BlockLogs {
    #[inline(always)]
    fn visit<S: Simd>(&mut self, simd: S, block: Block<'_>) {
        let top = block.top.0.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shift = f64x8::splat(simd, top);
        let mut sum = f64x8::splat(simd, 0.0);
        for energy in block.energies.iter() {
            sum += exp_nonpositive(simd, energy.load(simd) - shift);
        }
        let mut lanes = Lane::ZERO;
        lanes.store(sum);
        self.0.push(top + lanes.0.iter().sum::<f64>().ln());
    }
}

/// Cumulated weights within one block, state after state with lanes fastest.
struct Cumulated(Vec<f64>);

impl Visitor for Cumulated {
    #[inline(always)]
    fn visit<S: Simd>(&mut self, simd: S, block: Block<'_>) {
        let top = block.top.0.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shift = f64x8::splat(simd, top);
        let mut sum = 0.0;
        self.0.clear();
        for energy in block.energies.iter() {
            let mut weights = Lane::ZERO;
            weights.store(exp_nonpositive(simd, energy.load(simd) - shift));
            for weight in weights.0 {
                sum += weight;
                self.0.push(sum);
            }
        }
    }
}

/// The first place whose cumulated weight exceeds a share of the whole.
fn choose(cumulated: &[f64], share: f64) -> usize {
    let target = share * cumulated[cumulated.len() - 1];
    cumulated.partition_point(|&sum| sum <= target).min(cumulated.len() - 1)
}

/// The bytes of draws: their cells, and twice a block, a share and a number for each.
fn draw_bytes(units: usize, count: usize) -> u128 {
    count as u128 * (units as u128 + 48)
}

impl Sampler for Enumerate {
    fn draw(&self, machine: &Machine, evidence: &Evidence, count: usize, seed: u64) -> Result<Draws> {
        self.check_row(machine, evidence)?;
        self.budget.check(Self::NAME, draw_bytes(machine.unit_count(), count), || {
            format!("{count} draws of {} units", machine.unit_count())
        })?;
        let row = SingleRow::new(machine, evidence);
        let logs: Vec<f64> = parts(row.couplings.blocks())
            .flat_map_iter(|range| {
                let mut logs = BlockLogs(Vec::with_capacity(range.len()));
                walk(&row.couplings, &row.lanes, range, &mut logs);
                logs.0
            })
            .collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        let cumulated: Vec<f64> = logs
            .iter()
            .map(|log| {
                sum += (log - top).exp();
                sum
            })
            .collect();

        let mut random = stream(seed, Purpose::Draws, 0);
        let mut wanted: Vec<(usize, f64, usize)> = (0..count)
            .map(|draw| {
                let block = choose(&cumulated, random.random());
                (block, random.random(), draw)
            })
            .collect();
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
        let n = machine.unit_count();
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
