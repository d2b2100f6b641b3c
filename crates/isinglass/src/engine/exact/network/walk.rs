//! Backwards through the elimination order: exact draws, and the most probable state.
//!
//! All neighbours that a unit had at its elimination have values when it is reached, so its field
//! is known. The unit takes the sign of the field after a forward pass with maxima, and is drawn by
//! the field after one with sums.

use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::digits::guarantee;
use super::memory::Gate;
use super::plan::{Bucket, Form, NONE, Plan, Star, Step};
use super::prepare::Given;
use super::rows::Prepared;
use super::single::load;
use super::star::{Max, One, Rows, Rule, Sum};
use super::tape::{Keep, Tape};
use super::{Eliminate, SCALE, Solver};
use crate::engine::fields::{free_fields, values};
use crate::engine::{Diagnostics, Draws, Mode};
use crate::numeric::lanes::LANES;
use crate::numeric::streams::{Purpose, stream};
use crate::table::Batch;
use crate::{Error, Evidence, Machine, Result, cancel};

/// Draws that share a stream of random numbers and a pass through the steps.
const DRAWS_AT_ONCE: usize = 256;

impl Solver<'_> {
    /// The most probable state; where a field is 0, the unit is up.
    pub(super) fn mode(self, machine: &Machine, evidence: &Evidence) -> Result<Mode> {
        self.check(machine, evidence)?;
        let up = |field: f64, (): &mut ()| field >= 0.0;
        let (mut states, free) = self.walk::<Max, ()>(machine, evidence, 1, |_| (), up)?;
        let state = states.remove(0);
        Ok(Mode {
            energy: machine.energy(&state),
            guarantee: guarantee(machine, free),
            diagnostics: Diagnostics::direct(),
            state,
            meetings: None,
        })
    }

    /// Independent draws from the machine's own distribution.
    pub(super) fn draw(
        self,
        machine: &Machine,
        evidence: &Evidence,
        count: usize,
        seed: u64,
    ) -> Result<Draws> {
        self.check(machine, evidence)?;
        let n = machine.unit_count();
        let bytes = count as u128 * (2 * n as u128 + 32);
        self.networks.budget.check(self.name, bytes, || format!("{count} draws of {n} units"))?;
        let random = |part: usize| stream(seed, Purpose::Draws, part as u64);
        let (states, free) = self.walk::<Sum, _>(machine, evidence, count, random, drawn_up)?;
        Ok(Draws {
            units: n,
            cells: states.concat(),
            guarantee: guarantee(machine, free),
            diagnostics: Diagnostics::direct(),
        })
    }

    /// A number of states with a value for every free unit, and the free units.
    fn walk<J: Rule, G: Send>(
        self,
        machine: &Machine,
        evidence: &Evidence,
        count: usize,
        random: impl Fn(usize) -> G + Sync,
        up: impl Fn(f64, &mut G) -> bool + Sync,
    ) -> Result<(Vec<Vec<i8>>, Vec<usize>)> {
        let Given { evidence, free, plan, fields } = self.given(machine, evidence, Form::Weights)?;
        let plan = &*plan;
        let mut states = vec![evidence.cells().to_vec(); count];
        let segments = self.segments::<One>(plan)?;
        let mut tape = Tape::<One>::on_threads(plan);
        load(&mut tape, machine, &fields);
        tape.forward::<J>(Keep::For(&segments));
        let mut randoms: Vec<G> = (0..count.div_ceil(DRAWS_AT_ONCE)).map(random).collect();
        for range in segments.ranges().rev() {
            tape.restore::<J>(range.clone(), &segments);
            let numbers = &tape;
            states.par_chunks_mut(DRAWS_AT_ONCE).zip(&mut randoms).for_each(|(states, random)| {
                cancel::point();
                for &step in plan.steps[range.clone()].iter().rev() {
                    for state in states.iter_mut() {
                        let (unit, field) = unit_and_field(plan, step, numbers, 0, state);
                        state[unit] = if up(field, random) { 1 } else { -1 };
                    }
                }
            });
            tape.release(range);
        }
        Ok((states, free))
    }
}

/// The unit that a step removed and its field in a row, given the values of units removed later.
fn unit_and_field<R: Rows>(
    plan: &Plan,
    step: Step,
    tape: &Tape<'_, R>,
    row: usize,
    state: &[i8],
) -> (usize, f64) {
    let (unit, field) = match step {
        Step::Star(star) => {
            let star = &plan.stars[star as usize];
            (star.unit, star_field(plan, star, tape, row, state))
        }
        Step::Bucket(bucket) => {
            let bucket = &plan.buckets[bucket as usize];
            (bucket.unit, bucket_field(plan, bucket, tape, row, state))
        }
    };
    (plan.free[unit as usize], field)
}

/// Draws whether a unit is up by its field: P(+) is the logistic function of twice the field.
fn drawn_up(field: f64, random: &mut ChaCha8Rng) -> bool {
    random.random::<f64>() * (1.0 + (-2.0 * field).exp()) < 1.0
}

/// The value of a local unit; unit 0 is up.
fn value(plan: &Plan, state: &[i8], local: u32) -> f64 {
    if local == NONE { 1.0 } else { f64::from(state[plan.free[local as usize]]) }
}

fn star_field<R: Rows>(plan: &Plan, star: &Star, tape: &Tape<'_, R>, row: usize, state: &[i8]) -> f64 {
    let joined = star.neighbours.iter().zip(star.inputs).take(usize::from(star.count));
    joined.map(|(&other, slot)| tape.values[slot as usize].as_ref()[row] * value(plan, state, other)).sum()
}

fn bucket_field<R: Rows>(plan: &Plan, bucket: &Bucket, tape: &Tape<'_, R>, row: usize, state: &[i8]) -> f64 {
    let (units, slots) = plan.scope(bucket);
    let number = |slot: u32| tape.values[slot as usize].as_ref()[row];
    let mut field = if bucket.bias == NONE { 0.0 } else { number(bucket.bias) };
    let mut index = 0u64;
    for (&unit, &slot) in units.iter().zip(slots) {
        let s = value(plan, state, unit);
        index = index << 1 | u64::from(s > 0.0);
        field += number(slot) * s;
    }
    for child in plan.children(bucket) {
        let table = &tape.tables[child.table as usize];
        let entry = |place: usize| table[place * R::ROWS + row];
        let place = child.index(index);
        field += 0.5 * (entry(place + child.up()) - entry(place));
    }
    field
}

/// Rows that share a stream of random numbers.
const ROWS: usize = 64;

impl Eliminate {
    /// Draws `count` independent states given each row of a batch, in grouped order, into `out`,
    /// which holds the values of clamped units already.
    ///
    /// *Arguments*: the random numbers of each piece; pieces are independent of the threads.
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

    /// The largest width of the networks of a batch, which are kept for the first draws.
    ///
    /// # Errors
    /// Networks that do not fit the budget.
    pub(crate) fn width_of_rows(&self, machine: &Machine, batch: &Batch) -> Result<usize> {
        let prepared = self.solver().prepared_groups(machine, batch, true, true)?;
        Ok(prepared.iter().map(|prepared| prepared.plan.width).max().unwrap_or(0))
    }
}

/// Some rows of a group, and where their draws go.
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
        // The cut depends on the rows alone: the same streams on any number of threads.
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
        // Units without neighbours are drawn by their own fields.
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
