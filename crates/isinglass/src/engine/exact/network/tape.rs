//! A plan with numbers: forward to log Z, backward to all moments (Rüger 1997, theorem 5.2).
//!
//! The adjoint of a slot is the moment of its pair, that of a table the probabilities of its
//! states. Each slot and each table is used by one step, and that step sets its adjoint.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch};

use super::bucket::{Numbers, Scratch, Spread};
use super::memory::Segments;
use super::plan::{Bucket, Child, NONE, Output, PAIRS_OF_THREE, Plan, Step};
use super::star::{Rows, Rule};
use crate::cancel;
use crate::numeric::lanes::LANES;
use crate::progress::Task;

/// The tables to keep for a backward pass.
#[derive(Clone, Copy)]
pub(super) enum Keep<'s> {
    /// None: log Z alone.
    Nothing,
    /// Those that the segments need.
    For(&'s Segments),
}

/// The numbers of one row, or of eight.
pub(super) struct Tape<'p, R> {
    plan: &'p Plan,
    level: Level,
    pub(super) values: Vec<R>,
    pub(super) moments: Vec<R>,
    pub(super) tables: Vec<Vec<f64>>,
    adjoints: Vec<Vec<f64>>,
    shifts: Vec<R>,
    /// The sum so far, and the rounding error of it.
    log_z: (R, R),
    scratch: Scratch,
    spread: Spread,
    /// Of a tape that has all threads: the entries of tables that were computed.
    task: Option<Task>,
    pool: Pool,
}

impl<'p, R: Rows> Tape<'p, R> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        let tables = plan.table_bits.len();
        Self {
            plan,
            level: Level::new(),
            values: Vec::new(),
            moments: Vec::new(),
            tables: vec![Vec::new(); tables],
            adjoints: vec![Vec::new(); tables],
            shifts: vec![R::all(0.0); tables],
            log_z: (R::all(0.0), R::all(0.0)),
            scratch: Scratch::default(),
            spread: Spread::Alone,
            task: None,
            pool: Pool { most: plan.pooled(R::ROWS), ..Pool::default() },
        }
    }

    /// A tape that does large buckets on all threads. No other work may wait for a lock that is held
    /// meanwhile, since a thread that waits for others takes any work.
    pub(super) fn on_threads(plan: &'p Plan) -> Self {
        // Once forward, and backward twice as long.
        let task = Task::begin(3 * plan.work() as u64);
        Self { spread: Spread::OnThreads, task: Some(task), ..Self::new(plan) }
    }

    /// A tape for many runs with small tables: it pools all of them between runs.
    pub(super) fn keeping_tables(plan: &'p Plan) -> Self {
        let mut tape = Self::new(plan);
        let numbers: usize = (0..plan.table_bits.len()).map(|table| plan.entries(table).max(LANES)).sum();
        tape.pool.most = 2 * R::ROWS * numbers;
        tape
    }

    /// Sets the weights of the edges, the same in all rows, and the fields of the units.
    pub(super) fn load(&mut self, weight: impl Fn(usize) -> f64, field: impl Fn(usize) -> R) {
        self.values.clear();
        let starts = |&edge: &u32| R::all(if edge == NONE { 0.0 } else { weight(edge as usize) });
        self.values.extend(self.plan.edges.iter().map(starts));
        self.values.resize(self.plan.slots, R::all(0.0));
        for (local, &slot) in self.plan.bias_slots.iter().enumerate() {
            if slot != NONE {
                self.values[slot as usize] = field(local);
            }
        }
        self.log_z = (R::all(0.0), R::all(0.0));
    }

    /// Eliminates every unit: log Z, or with [`Max`](super::star::Max) the largest −E/T.
    pub(super) fn forward<J: Rule>(&mut self, keep: Keep<'_>) -> R {
        let level = self.level;
        dispatch!(level, simd => self.forward_in::<_, J>(simd, keep));
        let mut total = self.log_z.0;
        total.add(self.log_z.1);
        total
    }

    #[inline(always)]
    fn forward_in<S: Simd, J: Rule>(&mut self, simd: S, keep: Keep<'_>) {
        cancel::point();
        let plan = self.plan;
        let last_start = match keep {
            Keep::Nothing => usize::MAX,
            Keep::For(segments) => segments.ranges().next_back().map_or(0, |range| range.start),
        };
        for (number, step) in plan.steps.iter().enumerate() {
            match *step {
                Step::Star(star) => {
                    let star = &plan.stars[star as usize];
                    let weights = star.inputs.map(|slot| self.value(slot));
                    let (constant, corrections) = R::decimate::<S, J>(simd, star.count, weights);
                    self.add_log_z(constant);
                    for (&slot, correction) in star.outputs.iter().zip(corrections) {
                        if slot != NONE {
                            self.values[slot as usize].add(correction);
                        }
                    }
                }
                Step::Bucket(bucket) => {
                    let bucket = &plan.buckets[bucket as usize];
                    self.eliminate::<S, J>(simd, bucket);
                    for child in plan.children(bucket) {
                        let table = child.table as usize;
                        self.add_log_z(self.shifts[table]);
                        let used = match keep {
                            Keep::Nothing => true,
                            Keep::For(segments) => number < last_start && segments.is_inner(table),
                        };
                        if used {
                            self.pool.give(&mut self.tables[table]);
                        }
                    }
                }
            }
        }
    }

    /// Eliminates every unit of a plan of tables: the probability that it is up in each state of its
    /// neighbours, by step.
    pub(super) fn conditionals(&mut self) -> Vec<Vec<f64>> {
        let level = self.level;
        dispatch!(level, simd => self.conditionals_in(simd))
    }

    #[inline(always)]
    fn conditionals_in<S: Simd>(&mut self, simd: S) -> Vec<Vec<f64>> {
        let plan = self.plan;
        let of_bucket = |bucket: &Bucket| {
            let mut ups = vec![0.0; (R::ROWS << bucket.scope.len()).max(LANES)];
            let (values, tables) = (&self.values, &self.tables);
            let numbers = Numbers::new(plan, bucket, values, tables, &self.shifts, &mut self.scratch);
            numbers.ups(simd, self.spread, &mut self.scratch, &mut ups);
            self.eliminate::<S, super::star::Sum>(simd, bucket);
            for child in plan.children(bucket) {
                self.pool.give(&mut self.tables[child.table as usize]);
            }
            ups
        };
        plan.buckets.iter().map(of_bucket).collect()
    }

    /// Computes all moments, after a forward pass that kept the tables for these segments.
    pub(super) fn backward(&mut self, segments: &Segments) {
        self.moments.clear();
        self.moments.resize(self.plan.slots, R::all(0.0));
        let level = self.level;
        dispatch!(level, simd => self.backward_in(simd, segments));
    }

    #[inline(always)]
    fn backward_in<S: Simd>(&mut self, simd: S, segments: &Segments) {
        let plan = self.plan;
        for range in segments.ranges().rev() {
            self.restore_in::<S, super::star::Sum>(simd, range.clone(), segments);
            for step in plan.steps[range].iter().rev() {
                match *step {
                    Step::Star(star) => {
                        let star = &plan.stars[star as usize];
                        let weights = star.inputs.map(|slot| self.value(slot));
                        let among = star.outputs.map(|slot| self.moment(slot));
                        let moments = R::moments(simd, star.count, weights, among);
                        for (&slot, moment) in star.inputs.iter().zip(moments) {
                            if slot != NONE {
                                self.moments[slot as usize] = moment;
                            }
                        }
                    }
                    Step::Bucket(bucket) => self.distribute(simd, &plan.buckets[bucket as usize]),
                }
            }
        }
    }

    /// Recomputes the tables of some steps that the forward pass dropped.
    pub(super) fn restore<J: Rule>(&mut self, steps: Range<usize>, segments: &Segments) {
        let level = self.level;
        dispatch!(level, simd => self.restore_in::<_, J>(simd, steps, segments));
    }

    #[inline(always)]
    fn restore_in<S: Simd, J: Rule>(&mut self, simd: S, steps: Range<usize>, segments: &Segments) {
        let plan = self.plan;
        for step in &plan.steps[steps] {
            if let Step::Bucket(bucket) = *step {
                let bucket = &plan.buckets[bucket as usize];
                if let Output::Table(table) = bucket.output
                    && self.tables[table as usize].is_empty()
                    && segments.is_inner(table as usize)
                {
                    self.eliminate::<S, J>(simd, bucket);
                }
            }
        }
    }

    /// Drops the tables that some steps used.
    pub(super) fn release(&mut self, steps: Range<usize>) {
        let plan = self.plan;
        for step in &plan.steps[steps] {
            if let Step::Bucket(bucket) = *step {
                for child in plan.children(&plan.buckets[bucket as usize]) {
                    self.pool.give(&mut self.tables[child.table as usize]);
                }
            }
        }
    }

    /// Sums out the unit of a bucket.
    #[inline(always)]
    fn eliminate<S: Simd, J: Rule>(&mut self, simd: S, bucket: &Bucket) {
        cancel::point();
        self.task.iter().for_each(|task| task.done(1 << bucket.scope.len()));
        let numbers =
            Numbers::new(self.plan, bucket, &self.values, &self.tables, &self.shifts, &mut self.scratch);
        match bucket.output {
            Output::Table(table) => {
                let table = table as usize;
                // A whole vector is written, also for tables of one or two units.
                let mut out = self.pool.take((self.plan.entries(table) * R::ROWS).max(LANES));
                numbers.forward::<S, J>(simd, self.spread, &mut self.scratch, &mut out);
                self.shifts[table].as_mut().copy_from_slice(&out[..R::ROWS]);
                self.tables[table] = out;
            }
            Output::Weights { biases, pairs } => {
                let units = bucket.scope.len();
                let mut out = self.pool.take((R::ROWS << units).max(LANES));
                numbers.forward::<S, J>(simd, self.spread, &mut self.scratch, &mut out);
                let coefficient = |set: usize| walsh::<R>(&out[..R::ROWS << units], set);
                let constant = coefficient(0);
                let bit = |place: usize| 1 << (units - 1 - place);
                for (place, &slot) in biases.iter().enumerate().take(units) {
                    if slot != NONE {
                        self.values[slot as usize].add(coefficient(bit(place)));
                    }
                }
                for (&slot, (a, b)) in pairs.iter().zip(PAIRS_OF_THREE) {
                    if slot != NONE {
                        self.values[slot as usize].add(coefficient(bit(a) | bit(b)));
                    }
                }
                self.pool.give(&mut out);
                self.add_log_z(constant);
            }
        }
    }

    /// From the probabilities of a bucket's scope to its unit's moments and its children's
    /// adjoints.
    #[inline(always)]
    fn distribute<S: Simd>(&mut self, simd: S, bucket: &Bucket) {
        cancel::point();
        self.task.iter().for_each(|task| task.done(2 << bucket.scope.len()));
        let plan = self.plan;
        let mut probabilities = match bucket.output {
            Output::Table(table) => std::mem::take(&mut self.adjoints[table as usize]),
            Output::Weights { biases, pairs } => {
                self.probabilities_from_moments(bucket.scope.len(), biases, pairs)
            }
        };
        let entries = |child: &Child| plan.entries(child.table as usize) * R::ROWS;
        let mut adjoints: Vec<Vec<f64>> =
            plan.children(bucket).iter().map(|child| self.pool.take(entries(child))).collect();
        let (_, slots) = plan.scope(bucket);
        let bits = slots.len();
        let moments = &mut self.moments;
        let mut set = |bit: usize, moment: R| moments[slots[bits - 1 - bit] as usize] = moment;
        let numbers = Numbers::new(plan, bucket, &self.values, &self.tables, &self.shifts, &mut self.scratch);
        numbers.backward(simd, self.spread, &mut self.scratch, &probabilities, &mut adjoints, &mut set);
        for (child, adjoint) in plan.children(bucket).iter().zip(adjoints) {
            self.adjoints[child.table as usize] = adjoint;
        }
        let mut mean = R::all(0.0);
        self.scratch.fold::<R>(bits, |bit, moment| match bit {
            Some(bit) => set(bit, moment),
            None => mean = moment,
        });
        if bucket.bias != NONE {
            self.moments[bucket.bias as usize] = mean;
        }
        self.pool.give(&mut probabilities);
        for child in plan.children(bucket) {
            self.pool.give(&mut self.tables[child.table as usize]);
        }
    }

    /// P(S) of at most three units from their moments; the third moment of three is 0, by symmetry.
    fn probabilities_from_moments(&mut self, units: usize, biases: [u32; 3], pairs: [u32; 3]) -> Vec<f64> {
        let means = biases.map(|slot| self.moment(slot));
        let among = pairs.map(|slot| self.moment(slot));
        let mut out = self.pool.take((R::ROWS << units).max(LANES));
        out.fill(0.0);
        let share = 1.0 / f64::from(1 << units);
        for (state, p) in out.chunks_exact_mut(R::ROWS).take(1 << units).enumerate() {
            let spin = |place: usize| if state >> (units - 1 - place) & 1 == 1 { 1.0 } else { -1.0 };
            for (row, p) in p.iter_mut().enumerate() {
                let singles: f64 = (0..units).map(|place| spin(place) * means[place].as_ref()[row]).sum();
                let pairs = PAIRS_OF_THREE.iter().zip(&among).filter(|((_, b), _)| *b < units);
                let pairs: f64 = pairs.map(|(&(a, b), m)| spin(a) * spin(b) * m.as_ref()[row]).sum();
                *p = (share * (1.0 + singles + pairs)).max(0.0);
            }
        }
        out
    }

    #[inline(always)]
    fn value(&self, slot: u32) -> R {
        if slot == NONE { R::all(0.0) } else { self.values[slot as usize] }
    }

    #[inline(always)]
    fn moment(&self, slot: u32) -> R {
        if slot == NONE { R::all(0.0) } else { self.moments[slot as usize] }
    }

    /// Adds to log Z by Neumaier's compensated sum.
    #[inline(always)]
    fn add_log_z(&mut self, term: R) {
        let sums = self.log_z.0.as_mut().iter_mut().zip(self.log_z.1.as_mut());
        for ((sum, lost), &x) in sums.zip(term.as_ref()) {
            let new = *sum + x;
            *lost += if sum.abs() >= x.abs() { (*sum - new) + x } else { (x - new) + *sum };
            *sum = new;
        }
    }
}

/// The coefficient of a product of spins in a function: the average of function times product.
fn walsh<R: Rows>(table: &[f64], set: usize) -> R {
    let mut sum = R::all(0.0);
    let states = table.len() / R::ROWS;
    for (state, numbers) in table.chunks_exact(R::ROWS).enumerate() {
        let negative = (set & !state).count_ones() % 2 == 1;
        for (sum, x) in sum.as_mut().iter_mut().zip(numbers) {
            *sum += if negative { -x } else { *x };
        }
    }
    for x in sum.as_mut() {
        *x /= states as f64;
    }
    sum
}

/// Freed tables by size, for reuse.
#[derive(Default)]
struct Pool {
    free: Vec<Vec<Vec<f64>>>,
    numbers: usize,
    /// The most numbers to keep.
    most: usize,
}

impl Pool {
    /// A table of some length, a power of two, with arbitrary contents.
    fn take(&mut self, length: usize) -> Vec<f64> {
        let Some(table) = self.free.get_mut(length.ilog2() as usize).and_then(Vec::pop) else {
            return vec![0.0; length];
        };
        self.numbers -= length;
        table
    }

    /// Takes a table back and leaves an empty one.
    fn give(&mut self, table: &mut Vec<f64>) {
        let table = std::mem::take(table);
        if table.is_empty() || self.numbers + table.len() > self.most {
            return;
        }
        let class = table.len().ilog2() as usize;
        if self.free.len() <= class {
            self.free.resize_with(class + 1, Vec::new);
        }
        self.numbers += table.len();
        self.free[class].push(table);
    }
}
