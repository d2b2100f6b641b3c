//! Backwards through the order, one value after another: exact draws, and the most probable state.
//!
//! When its turn comes, every neighbour that a unit had at its elimination has a value; so the
//! field on it is known. It takes the sign of the field where the forward pass took the larger
//! value, or is drawn by the field where it summed.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::Solver;
use super::digits::guarantee;
use super::memory::Segments;
use super::plan::{Bucket, Form, NONE, Plan, Star, Step};
use super::single::load;
use super::star::{Max, One, Rows, Rule, Sum};
use super::tape::{Keep, Tape};
use crate::cancel;
use crate::engine::Mode;
use crate::engine::exact::pinned::clamp_pinned;
use crate::engine::fields::Fields;
use crate::engine::{Diagnostics, Draws};
use crate::numeric::streams::{Purpose, stream};
use crate::{Evidence, Machine, Result};

/// Draws that share a stream of random numbers and a pass through the steps.
const DRAWS_AT_ONCE: usize = 256;

impl Solver<'_> {
    /// The most probable state; where a field is 0, the unit is up.
    pub(super) fn mode(self, machine: &Machine, evidence: &Evidence) -> Result<Mode> {
        self.check(machine, evidence)?;
        let evidence = clamp_pinned(machine, evidence, &[]);
        let up = |field: f64, (): &mut ()| field >= 0.0;
        let mut states = vec![evidence.cells().to_vec()];
        self.walk::<Max, ()>(machine, &evidence, &mut states, |_| (), up)?;
        let state = states.remove(0);
        let free = evidence.free();
        Ok(Mode {
            energy: -machine.negative_energy(&state),
            guarantee: guarantee(machine, free),
            diagnostics: Diagnostics::direct(),
            state,
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
        let evidence = clamp_pinned(machine, evidence, &[]);
        let mut states = vec![evidence.cells().to_vec(); count];
        let random = |part: usize| stream(seed, Purpose::Draws, part as u64);
        self.walk::<Sum, _>(machine, &evidence, &mut states, random, drawn_up)?;
        Ok(Draws {
            units: n,
            cells: states.concat(),
            guarantee: guarantee(machine, evidence.free()),
            diagnostics: Diagnostics::direct(),
        })
    }

    /// Give every free unit a value in every state.
    fn walk<J: Rule, G: Send>(
        self,
        machine: &Machine,
        evidence: &Evidence,
        states: &mut [Vec<i8>],
        random: impl Fn(usize) -> G + Sync,
        up: impl Fn(f64, &mut G) -> bool + Sync,
    ) -> Result<()> {
        let free: Vec<usize> = evidence.free().collect();
        let plan = &*self.network(machine, &free, Form::Weights)?;
        let segments = self.segments::<One>(plan)?;
        let fields = Fields::<1>::new(machine, &plan.free, &[evidence.cells()]);
        let mut tape = Tape::<One>::new(plan);
        load(&mut tape, machine, &fields);
        tape.forward::<J>(Keep::For(&segments));
        let mut randoms: Vec<G> = (0..states.len().div_ceil(DRAWS_AT_ONCE)).map(random).collect();
        for range in Segments::ranges(&segments).rev() {
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
        Ok(())
    }
}

/// The unit that a step removed and the field on it in a row, where all units that were removed
/// after it have values in the state.
pub(super) fn unit_and_field<R: Rows>(
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

/// Whether a unit is up, drawn by its field: P(+) is the logistic function of twice the field.
pub(super) fn drawn_up(field: f64, random: &mut ChaCha8Rng) -> bool {
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
