//! The most probable state, by looking at all of them.

use fearless_simd::Simd;
use rayon::prelude::*;

use super::Enumerate;
use super::blocks::{Block, Visitor, walk};
use super::problem::SingleRow;
use super::single::parts;
use crate::engine::Diagnostics;
use crate::engine::{Mode, ModeFinder};
use crate::numeric::lanes::LANES;
use crate::{Evidence, Machine, Result};

/// The best state met so far: its −E/T, lane, block and place in the block.
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
                // The top is one of the energies, so the search finds it.
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
            energy: -machine.negative_energy(&state),
            state,
            guarantee: Self::guarantee(row.scale()),
            diagnostics: Diagnostics::direct(),
        })
    }
}
