//! Any graph: fields along the edges, rows in lanes, in single precision.
//!
//! Sixteen rows lie side by side, or 64 if there are as many. Hidden units without hidden
//! neighbours come last in a sweep: given all others their means are known, and replace the spins
//! in moments, which makes these less noisy.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::data::Structure;
use super::kernel::{Pass, Work};
use super::slots::Slots;
use crate::engine::sampling::kernel::{Spins, add_pull};
use crate::numeric::chance::{Sixteen, WIDTH, ln_logistic, spin_and_mean};
use crate::{Machine, Role};

/// Groups of sixteen rows that share a walk along the neighbours.
const GROUPS: usize = 4;

/// Couplings and biases of a machine, divided by T/2.
pub(super) struct Wires {
    structure: Structure,
    /// Whether a unit is hidden without hidden neighbours: its mean replaces its spin in moments.
    smooth: Vec<bool>,
    /// All units in the order of a sweep: observed, hidden, last the smooth ones.
    order: Vec<usize>,
    /// For each slot of the structure the neighbour with the coupling.
    neighbours: Vec<(u32, f32)>,
    biases: Vec<f32>,
    temperature: f64,
}

/// States of rows side by side, unit after unit.
struct Side<const G: usize> {
    /// Clamped values; 0 where nothing is clamped.
    given: Vec<Spins<G>>,
    spins: Vec<Spins<G>>,
    means: Vec<Spins<G>>,
}

pub(super) struct Rows {
    few: Side<1>,
    many: Side<GROUPS>,
}

impl<const G: usize> Side<G> {
    fn new(units: usize) -> Self {
        let states = || vec![Spins([[0.0; WIDTH]; G]); units];
        Self { given: states(), spins: states(), means: states() }
    }
}

/// Consecutive rows or chains of a piece that are computed together.
#[derive(Clone, Copy)]
struct Chunk {
    first: usize,
    count: usize,
}

fn chunks(count: usize, size: usize) -> impl Iterator<Item = Chunk> {
    (0..count).step_by(size).map(move |first| Chunk { first, count: size.min(count - first) })
}

impl Wires {
    pub(super) fn new(machine: &Machine) -> Self {
        let structure = Structure::new(machine);
        let is_hidden = |unit: usize| machine.roles()[unit] == Role::Hidden;
        let is_smooth = |unit: usize| {
            is_hidden(unit) && machine.graph().neighbours(unit).all(|(other, _)| !is_hidden(other))
        };
        let smooth: Vec<bool> = (0..machine.unit_count()).map(is_smooth).collect();
        let (last, first): (Vec<usize>, Vec<usize>) =
            structure.hidden.iter().copied().partition(|&unit| smooth[unit]);
        Self {
            order: [&structure.observed[..], &first, &last].concat(),
            neighbours: structure.around.iter().map(|&(other, _)| (other, 0.0)).collect(),
            biases: vec![0.0; machine.unit_count()],
            temperature: machine.temperature(),
            smooth,
            structure,
        }
    }

    /// The number of parameter slots, the bytes of the couplings, and those of a piece's states.
    pub(super) fn sizes(machine: &Machine) -> (u128, u128, u128) {
        let (edges, units) = (machine.graph().edges().len() as u128, machine.unit_count() as u128);
        let states = 3 * (size_of::<Spins<1>>() + size_of::<Spins<GROUPS>>()) as u128;
        (edges + units + WIDTH as u128, 44 * edges + 64 * units, states * units)
    }

    pub(super) fn rows(&self) -> Rows {
        Rows { few: Side::new(self.biases.len()), many: Side::new(self.biases.len()) }
    }

    pub(super) fn slots(&self) -> Slots {
        let (edges, units) = (self.structure.ends.len(), self.biases.len());
        Slots {
            edges: (0..edges).collect(),
            units: (edges..edges + units).collect(),
            count: (edges + units).next_multiple_of(WIDTH),
        }
    }

    pub(super) fn load(&mut self, parameters: &[f64]) {
        let scale = 2.0 / self.temperature;
        for ((_, coupling), &(_, edge)) in self.neighbours.iter_mut().zip(&self.structure.around) {
            *coupling = (scale * parameters[edge as usize]) as f32;
        }
        for (bias, number) in self.biases.iter_mut().zip(&parameters[self.structure.ends.len()..]) {
            *bias = (scale * number) as f32;
        }
    }

    /// The gradient of a piece: moments of the rows less those after the sweeps, each divided by
    /// their number in the mini-batch and by T.
    #[inline(always)]
    pub(super) fn contrast<S: Simd>(&self, pass: &mut Pass<'_, S>, rows: &mut Rows, work: &mut Work) {
        work.sums.fill(Sixteen::ZERO);
        if pass.job.part.len() > WIDTH {
            self.near(pass, &mut rows.many, work);
        } else {
            self.near(pass, &mut rows.few, work);
        }
        if pass.job.chains.len() > WIDTH {
            self.far(pass, &mut rows.many, work);
        } else {
            self.far(pass, &mut rows.few, work);
        }
    }

    /// Adds the moments of the rows of a piece; without persistent chains, also those after the
    /// sweeps.
    #[inline(always)]
    fn near<S: Simd, const G: usize>(&self, pass: &mut Pass<'_, S>, side: &mut Side<G>, work: &mut Work) {
        let job = pass.job;
        let share = 1.0 / (self.temperature * job.rows.len() as f64) as f32;
        for chunk in chunks(job.part.len(), G * WIDTH) {
            self.infer(pass, chunk, |k| job.rows[job.part.start + k], side);
            self.add_moments(pass.simd, side, &live(chunk, |_| share), &mut work.sums);
            if job.all_chains == 0 {
                self.release(side);
                self.sweep(pass, side);
                self.add_moments(pass.simd, side, &live(chunk, |_| -share), &mut work.sums);
            }
        }
    }

    /// Adds the moments of the persistent chains of a piece after their sweeps.
    #[inline(always)]
    fn far<S: Simd, const G: usize>(&self, pass: &mut Pass<'_, S>, side: &mut Side<G>, work: &mut Work) {
        let job = pass.job;
        let share = 1.0 / (self.temperature * job.all_chains as f64) as f32;
        for chunk in chunks(job.chains.len(), G * WIDTH) {
            self.clamp(pass, chunk, |k| job.row_of_chain(k), side);
            self.release(side);
            self.put_chains(chunk, &work.chains, side);
            self.sweep(pass, side);
            self.add_moments(pass.simd, side, &live(chunk, |_| -share), &mut work.sums);
            self.take_chains(chunk, &mut work.chains, side);
        }
    }

    /// Clamps rows; lanes without a row have nothing clamped and no weight.
    fn clamp<S: Simd, const G: usize>(
        &self,
        pass: &Pass<'_, S>,
        chunk: Chunk,
        row: impl Fn(usize) -> u32,
        side: &mut Side<G>,
    ) {
        for &unit in &self.structure.observed {
            side.given[unit] = Spins([[0.0; WIDTH]; G]);
        }
        for k in 0..chunk.count {
            let cells = pass.job.data.row(row(chunk.first + k));
            for (&unit, &cell) in self.structure.observed.iter().zip(cells) {
                side.given[unit].0[k / WIDTH][k % WIDTH] = f32::from(cell);
            }
        }
    }

    fn release<const G: usize>(&self, side: &mut Side<G>) {
        for &unit in &self.structure.visible {
            side.given[unit] = Spins([[0.0; WIDTH]; G]);
        }
    }

    /// Draws hidden units and missing cells of rows given all others. They begin at 0, which adds
    /// nothing to fields.
    #[inline(always)]
    fn infer<S: Simd, const G: usize>(
        &self,
        pass: &mut Pass<'_, S>,
        chunk: Chunk,
        row: impl Fn(usize) -> u32,
        side: &mut Side<G>,
    ) {
        self.clamp(pass, chunk, row, side);
        side.spins.copy_from_slice(&side.given);
        for &unit in &self.structure.hidden {
            side.spins[unit] = Spins([[0.0; WIDTH]; G]);
        }
        let has_gaps = pass.job.data.has_gaps;
        let is_direct = !has_gaps && self.structure.hidden.iter().all(|&unit| self.smooth[unit]);
        let first = if has_gaps { 0 } else { self.structure.observed.len() };
        for _ in 0..if is_direct { 1 } else { pass.job.plan.clamped_sweeps } {
            for &unit in &self.order[first..] {
                self.update(pass, unit, side);
            }
        }
    }

    /// The sweeps of all units that are not clamped.
    #[inline(always)]
    fn sweep<S: Simd, const G: usize>(&self, pass: &mut Pass<'_, S>, side: &mut Side<G>) {
        for _ in 0..pass.job.plan.steps {
            for &unit in &self.order {
                self.update(pass, unit, side);
            }
        }
    }

    #[inline(always)]
    fn field<S: Simd, const G: usize>(&self, simd: S, unit: usize, spins: &[Spins<G>]) -> [f32x16<S>; G] {
        let around = &self.neighbours[self.structure.slots(unit)];
        add_pull(simd, [f32x16::splat(simd, self.biases[unit]); G], around, spins)
    }

    #[inline(always)]
    fn update<S: Simd, const G: usize>(&self, pass: &mut Pass<'_, S>, unit: usize, side: &mut Side<G>) {
        let simd = pass.simd;
        let zero = f32x16::splat(simd, 0.0);
        let field = self.field(simd, unit, &side.spins);
        for group in 0..G {
            let (spin, mean) = spin_and_mean(simd, field[group], &mut pass.random);
            let given = f32x16::load_array_ref(simd, &side.given[unit].0[group]);
            given.simd_eq(zero).select(spin, given).store_array(&mut side.spins[unit].0[group]);
            mean.store_array(&mut side.means[unit].0[group]);
        }
    }

    /// Adds the weighted moments of all edges and units.
    #[inline(always)]
    fn add_moments<S: Simd, const G: usize>(
        &self,
        simd: S,
        side: &Side<G>,
        live: &[[f32; WIDTH]; G],
        sums: &mut [Sixteen],
    ) {
        let state = |unit: usize| if self.smooth[unit] { &side.means[unit].0 } else { &side.spins[unit].0 };
        let ends = &self.structure.ends;
        let mut edge = 0;
        for unit in 0..self.biases.len() {
            let mut own = [f32x16::splat(simd, 0.0); G];
            let mut total = f32x16::splat(simd, 0.0);
            for group in 0..G {
                own[group] = f32x16::load_array_ref(simd, &state(unit)[group])
                    * f32x16::load_array_ref(simd, &live[group]);
                total += own[group];
            }
            add_at(sums, ends.len() + unit, sum_of(total));
            // Edges are in lexicographic order: those to higher units are consecutive.
            while edge < ends.len() && ends[edge].0 == unit {
                let other = state(ends[edge].1);
                let mut product = f32x16::splat(simd, 0.0);
                for group in 0..G {
                    product = f32x16::load_array_ref(simd, &other[group]).mul_add(own[group], product);
                }
                add_at(sums, edge, sum_of(product));
                edge += 1;
            }
        }
    }

    /// Σ over weighted rows of ln P(s_i | all other units) of the visible cells, with hidden units
    /// and missing cells drawn given the row.
    #[inline(always)]
    pub(super) fn objective<S: Simd>(&self, pass: &mut Pass<'_, S>, weights: &[f64], rows: &mut Rows) -> f64 {
        if pass.job.part.len() > WIDTH {
            self.objective_of(pass, weights, &mut rows.many)
        } else {
            self.objective_of(pass, weights, &mut rows.few)
        }
    }

    #[inline(always)]
    fn objective_of<S: Simd, const G: usize>(
        &self,
        pass: &mut Pass<'_, S>,
        weights: &[f64],
        side: &mut Side<G>,
    ) -> f64 {
        let (simd, job) = (pass.simd, pass.job);
        let mut total = 0.0;
        for chunk in chunks(job.part.len(), G * WIDTH) {
            self.infer(pass, chunk, |k| job.rows[job.part.start + k], side);
            let weights = &weights[job.part.start + chunk.first..];
            let live: [[f32; WIDTH]; G] = live(chunk, |k| weights[k] as f32);
            for &unit in &self.structure.visible {
                let field = self.field(simd, unit, &side.spins);
                let mut sum = f32x16::splat(simd, 0.0);
                for group in 0..G {
                    let given = f32x16::load_array_ref(simd, &side.given[unit].0[group]);
                    let counts = f32x16::load_array_ref(simd, &live[group]) * given.abs();
                    sum = ln_logistic(simd, given * field[group]).mul_add(counts, sum);
                }
                total += f64::from(sum_of(sum));
            }
        }
        total
    }

    /// Starts chains at rows of the table, with all other units drawn given them.
    #[inline(always)]
    pub(super) fn begin<S: Simd>(&self, pass: &mut Pass<'_, S>, rows: &mut Rows, chains: &mut [i8]) {
        let job = pass.job;
        for chunk in chunks(job.chains.len(), GROUPS * WIDTH) {
            let row = |k: usize| job.rows[(job.chains.start + k) % job.rows.len()];
            self.infer(pass, chunk, row, &mut rows.many);
            self.take_chains(chunk, chains, &rows.many);
        }
    }

    /// Copies chains into the lanes: observed units first, then hidden ones.
    fn put_chains<const G: usize>(&self, chunk: Chunk, chains: &[i8], side: &mut Side<G>) {
        let width = self.biases.len().max(1);
        for (k, chain) in chains[chunk.first * width..].chunks_exact(width).take(chunk.count).enumerate() {
            for (&unit, &cell) in self.structure.observed.iter().chain(&self.structure.hidden).zip(chain) {
                let (group, lane) = (k / WIDTH, k % WIDTH);
                let given = side.given[unit].0[group][lane];
                side.spins[unit].0[group][lane] = if given == 0.0 { f32::from(cell) } else { given };
            }
        }
    }

    fn take_chains<const G: usize>(&self, chunk: Chunk, chains: &mut [i8], side: &Side<G>) {
        let width = self.biases.len().max(1);
        let chains = chains[chunk.first * width..].chunks_exact_mut(width);
        for (k, chain) in chains.take(chunk.count).enumerate() {
            for (&unit, cell) in self.structure.observed.iter().chain(&self.structure.hidden).zip(chain) {
                *cell = side.spins[unit].0[k / WIDTH][k % WIDTH] as i8;
            }
        }
    }
}

/// Weights of the lanes of a chunk; 0 where there is no row.
#[inline(always)]
fn live<const G: usize>(chunk: Chunk, weight: impl Fn(usize) -> f32) -> [[f32; WIDTH]; G] {
    let mut live = [[0.0; WIDTH]; G];
    for (k, x) in live.as_flattened_mut().iter_mut().enumerate().take(chunk.count) {
        *x = weight(k);
    }
    live
}

#[inline(always)]
fn add_at(sums: &mut [Sixteen], place: usize, x: f32) {
    sums[place / WIDTH].0[place % WIDTH] += x;
}

#[inline(always)]
fn sum_of<S: Simd>(x: f32x16<S>) -> f32 {
    let (low, high) = x.split();
    let (low, high) = (low + high).split();
    let four = (low + high).to_array();
    (four[0] + four[1]) + (four[2] + four[3])
}
