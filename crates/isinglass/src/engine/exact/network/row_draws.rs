//! Exact draws for every row of a batch: rows with the same free units share a network, eight of
//! them a pass.

use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::room::Gate;
use super::rows::Prepared;
use super::star::{Rows, Sum};
use super::tape::{Keep, Tape};
use super::walk::{drawn_up, unit_and_field};
use super::{Eliminate, SCALE, Solver};
use crate::cancel;
use crate::engine::fields::{free_fields, values};
use crate::numeric::lanes::LANES;
use crate::table::Batch;
use crate::{Error, Machine, Result};

/// Rows that share a stream of random numbers.
const ROWS: usize = 64;

impl Eliminate {
    /// Independent draws given each row: for each row of a batch, in grouped order, `count` states
    /// of all units one after another. `out` holds them, with the clamped units in place already.
    ///
    /// *Arguments*: the random numbers of each piece of the batch, the pieces being the same on any
    /// number of threads.
    ///
    /// *Complexity*: a forward pass for each row, and a step for each free unit of each draw.
    pub(crate) fn draw_rows(
        &self,
        machine: &Machine,
        batch: &Batch,
        count: usize,
        random: &(dyn Fn(u64) -> ChaCha8Rng + Sync),
        out: &mut [i8],
    ) -> Result<()> {
        machine.check_scale(Self::NAME, SCALE)?;
        self.solver().draw_rows(machine, batch, count, random, out)
    }

    /// The largest number of neighbours that a free unit has at its elimination, over all rows of a
    /// batch. The networks are kept for the first draws.
    ///
    /// # Errors
    /// Those of [`Eliminate::draw_rows`]: networks that do not fit the budget.
    pub(crate) fn width_of_rows(&self, machine: &Machine, batch: &Batch) -> Result<usize> {
        let prepared = self.solver().prepared_groups(machine, batch, true, true)?;
        Ok(prepared.iter().map(|prepared| prepared.plan.width).max().unwrap_or(0))
    }
}

/// Some rows of a group, and the room for their draws.
struct Piece<'o> {
    number: u64,
    group: usize,
    rows: Range<usize>,
    out: &'o mut [i8],
}

impl Solver<'_> {
    fn draw_rows(
        self,
        machine: &Machine,
        batch: &Batch,
        count: usize,
        random: &(dyn Fn(u64) -> ChaCha8Rng + Sync),
        out: &mut [i8],
    ) -> Result<()> {
        let cells = count * machine.unit_count();
        Error::check_length("cells of the draws", out.len(), batch.row_count() * cells)?;
        let prepared = self.prepared_groups(machine, batch, true, true)?;
        // Cut by the rows alone: the same streams on any number of threads.
        let mut pieces = Vec::new();
        let mut rest = out;
        for (group, rows) in batch.groups().iter().map(|group| group.rows.clone()).enumerate() {
            for first in rows.clone().step_by(ROWS) {
                let rows = first..rows.end.min(first + ROWS);
                let (own, others) = std::mem::take(&mut rest).split_at_mut(rows.len() * cells);
                pieces.push(Piece { number: pieces.len() as u64, group, rows, out: own });
                rest = others;
            }
        }
        let gate = Gate::default();
        pieces.par_iter_mut().for_each(|piece| {
            cancel::point();
            let prepared = &prepared[piece.group];
            let draws = Drawing { machine, batch, prepared, count };
            let mut random = random(piece.number);
            let _turn = gate.pass(prepared.turn);
            if prepared.in_lanes {
                draws.of::<LANES>(piece, &mut random);
            } else {
                draws.of::<1>(piece, &mut random);
            }
        });
        Ok(())
    }
}

/// What the rows of a piece are drawn with.
struct Drawing<'a> {
    machine: &'a Machine,
    batch: &'a Batch,
    prepared: &'a Prepared,
    count: usize,
}

impl Drawing<'_> {
    fn of<const N: usize>(&self, piece: &mut Piece<'_>, random: &mut ChaCha8Rng)
    where
        [f64; N]: Rows,
    {
        let plan = &*self.prepared.plan;
        let Some(segments) = &self.prepared.segments else { return };
        let mut tape = Tape::<[f64; N]>::new(plan);
        let cells = self.count * self.machine.unit_count();
        let temperature = self.machine.temperature();
        // Units without neighbours are drawn by their own fields: there is nothing to sum out.
        let are_joined = plan.edge_slots().next().is_some();
        for (rows, out) in piece.rows.clone().step_by(N).zip(piece.out.chunks_mut(N * cells)) {
            let rows = rows..piece.rows.end.min(rows + N);
            let given: Vec<&[i8]> = rows.map(|place| self.batch.row(place)).collect();
            let fields = free_fields::<N>(self.machine, &plan.free, &values(self.machine, &given));
            tape.load(|edge| self.machine.weights()[edge] / temperature, |local| fields[local]);
            if are_joined {
                tape.forward::<Sum>(Keep::For(segments));
            }
            for range in segments.ranges().rev() {
                if are_joined {
                    tape.restore::<Sum>(range.clone(), segments);
                }
                for &step in plan.steps[range.clone()].iter().rev() {
                    for (row, draws) in out.chunks_exact_mut(cells).enumerate() {
                        for state in draws.chunks_exact_mut(self.machine.unit_count()) {
                            let (unit, field) = unit_and_field(plan, step, &tape, row, state);
                            state[unit] = if drawn_up(field, random) { 1 } else { -1 };
                        }
                    }
                }
                tape.release(range);
            }
        }
    }
}
