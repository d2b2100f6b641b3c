//! Any graph: fields along the edges, rows in lanes, in single precision.
//!
//! Sixteen rows lie side by side, or four times sixteen where there are as many. Hidden units without couplings among them come last in a sweep: given all others
//! their means are known, and stand for them in moments, which are then less noisy.

use fearless_simd::{Simd, f32x16, prelude::*, u32x16};

use super::job::Job;
use super::slots::Slots;
use crate::engine::sampling::kernel::{Spins, add_pull};
use crate::numeric::chance::{Generators, Sixteen, WIDTH, ln_logistic, spin_and_mean};
use crate::{Machine, Role};

/// Groups of sixteen rows that share the walk along the neighbours.
const GROUPS: usize = 4;

/// Couplings and biases of a machine, divided by T/2.
pub(super) struct Wires {
    /// For each unit its role, and whether it is hidden without hidden neighbours: its mean stands for it in moments.
    roles: Vec<Role>,
    smooth: Vec<bool>,
    /// Units that are not hidden, and hidden ones, each in the machine's order.
    observed: Vec<usize>,
    hidden: Vec<usize>,
    /// All units in the order of a sweep: those that are not hidden, hidden ones, last the smooth.
    order: Vec<usize>,
    /// For each unit the first of its slots; for each slot the neighbour with the coupling, and the number of the edge.
    offsets: Vec<usize>,
    neighbours: Vec<(u32, f32)>,
    edge_of: Vec<u32>,
    ends: Vec<(usize, usize)>,
    biases: Vec<f32>,
    temperature: f64,
}

/// States of rows side by side, unit after unit.
struct Side<const G: usize> {
    /// What is clamped; 0 where nothing is.
    given: Vec<Spins<G>>,
    spins: Vec<Spins<G>>,
    means: Vec<Spins<G>>,
}

/// Room for states.
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

/// What is left of a piece after its jobs: rows or chains one after another in chunks.
#[derive(Clone, Copy)]
struct Chunk {
    first: usize,
    count: usize,
}

fn chunks(count: usize) -> impl Iterator<Item = Chunk> {
    let size = if count > WIDTH { GROUPS * WIDTH } else { WIDTH };
    (0..count).step_by(size).map(move |first| Chunk { first, count: size.min(count - first) })
}

impl Wires {
    pub(super) fn new(machine: &Machine) -> Self {
        let graph = machine.graph();
        let roles = machine.roles().to_vec();
        let is_hidden = |unit: usize| roles[unit] == Role::Hidden;
        let units = machine.unit_count();
        let is_smooth =
            |unit: usize| is_hidden(unit) && graph.neighbours(unit).all(|(other, _)| !is_hidden(other));
        let smooth: Vec<bool> = (0..units).map(is_smooth).collect();
        let (hidden, observed): (Vec<usize>, Vec<usize>) = (0..units).partition(|&unit| is_hidden(unit));
        let mut order = observed.clone();
        order.extend(hidden.iter().filter(|&&unit| !smooth[unit]));
        order.extend(hidden.iter().filter(|&&unit| smooth[unit]));
        let (mut offsets, mut neighbours, mut edge_of) = (vec![0], Vec::new(), Vec::new());
        for unit in 0..units {
            for (other, edge) in graph.neighbours(unit) {
                neighbours.push((other as u32, 0.0));
                edge_of.push(edge as u32);
            }
            offsets.push(neighbours.len());
        }
        Self {
            smooth,
            observed,
            hidden,
            order,
            offsets,
            neighbours,
            edge_of,
            ends: graph.edges().to_vec(),
            biases: vec![0.0; units],
            temperature: machine.temperature(),
            roles,
        }
    }

    /// The places of parameters, the bytes of the couplings, and those of a piece's states.
    pub(super) fn sizes(machine: &Machine) -> (u128, u128, u128) {
        let (edges, units) = (machine.graph().edges().len() as u128, machine.unit_count() as u128);
        let states = 3 * (size_of::<Spins<1>>() + size_of::<Spins<GROUPS>>()) as u128;
        (edges + units + WIDTH as u128, 44 * edges + 64 * units, states * units)
    }

    pub(super) fn rows(&self) -> Rows {
        Rows { few: Side::new(self.biases.len()), many: Side::new(self.biases.len()) }
    }

    /// Couplings in the order of edges, then biases.
    pub(super) fn slots(&self) -> Slots {
        let (edges, units) = (self.ends.len(), self.biases.len());
        Slots {
            edges: (0..edges).collect(),
            units: (edges..edges + units).collect(),
            count: (edges + units).next_multiple_of(WIDTH),
        }
    }

    /// Take over new parameters.
    pub(super) fn load(&mut self, parameters: &[f64]) {
        let scale = 2.0 / self.temperature;
        for ((_, coupling), &edge) in self.neighbours.iter_mut().zip(&self.edge_of) {
            *coupling = (scale * parameters[edge as usize]) as f32;
        }
        for (bias, number) in self.biases.iter_mut().zip(&parameters[self.ends.len()..]) {
            *bias = (scale * number) as f32;
        }
    }

    /// The gradient of a piece: moments of the rows less those after some steps, each divided by how many there are in the batch, and by T.
    #[inline(always)]
    pub(super) fn contrast<S: Simd>(
        &self,
        simd: S,
        job: &Job<'_>,
        rows: &mut Rows,
        chains: &mut [i8],
        generators: &mut Generators,
        sums: &mut [Sixteen],
    ) {
        let mut random = generators.load(simd);
        sums.fill(Sixteen::ZERO);
        let near = job.part.len();
        if near > WIDTH {
            self.near(simd, job, &mut rows.many, &mut random, sums);
        } else {
            self.near(simd, job, &mut rows.few, &mut random, sums);
        }
        if job.all_chains > 0 {
            if job.chains.len() > WIDTH {
                self.far(simd, job, &mut rows.many, chains, &mut random, sums);
            } else {
                self.far(simd, job, &mut rows.few, chains, &mut random, sums);
            }
        }
        generators.store(random);
    }

    /// The moments of the rows of a piece, and without persistent chains those after steps away from them.
    #[inline(always)]
    fn near<S: Simd, const G: usize>(
        &self,
        simd: S,
        job: &Job<'_>,
        side: &mut Side<G>,
        random: &mut [u32x16<S>; 4],
        sums: &mut [Sixteen],
    ) {
        let share = 1.0 / (self.temperature * job.rows.len() as f64) as f32;
        for chunk in chunks(job.part.len()) {
            let row = |k: usize| job.rows[job.part.start + chunk.first + k];
            self.infer(simd, job, chunk, row, side, random);
            self.add_moments(simd, side, &live(chunk, |_| share), sums);
            if job.all_chains == 0 {
                self.release(side);
                for _ in 0..job.steps {
                    self.sweep(simd, side, random);
                }
                self.add_moments(simd, side, &live(chunk, |_| -share), sums);
            }
        }
    }

    /// The moments of the persistent chains of a piece, after steps.
    #[inline(always)]
    fn far<S: Simd, const G: usize>(
        &self,
        simd: S,
        job: &Job<'_>,
        side: &mut Side<G>,
        chains: &mut [i8],
        random: &mut [u32x16<S>; 4],
        sums: &mut [Sixteen],
    ) {
        let share = 1.0 / (self.temperature * job.all_chains as f64) as f32;
        for chunk in chunks(job.chains.len()) {
            self.clamp(job, chunk, |k| job.row_of_chain(chunk.first + k), side);
            self.release(side);
            self.put_chains(chunk, chains, side);
            for _ in 0..job.steps {
                self.sweep(simd, side, random);
            }
            self.add_moments(simd, side, &live(chunk, |_| -share), sums);
            self.take_chains(chunk, chains, side);
        }
    }

    /// Clamp rows; lanes without a row are clamped nowhere, and count for nothing.
    fn clamp<const G: usize>(
        &self,
        job: &Job<'_>,
        chunk: Chunk,
        row: impl Fn(usize) -> u32,
        side: &mut Side<G>,
    ) {
        for &unit in &self.observed {
            side.given[unit] = Spins([[0.0; WIDTH]; G]);
        }
        for k in 0..chunk.count {
            for (&unit, &cell) in self.observed.iter().zip(job.data.row(row(k))) {
                side.given[unit].0[k / WIDTH][k % WIDTH] = f32::from(cell);
            }
        }
    }

    /// Let go of all but the inputs.
    fn release<const G: usize>(&self, side: &mut Side<G>) {
        for &unit in self.observed.iter().filter(|&&unit| self.roles[unit] == Role::Visible) {
            side.given[unit] = Spins([[0.0; WIDTH]; G]);
        }
    }

    /// States of rows: hidden units and missing cells drawn given all others. They begin at 0, which pulls at nobody.
    #[inline(always)]
    fn infer<S: Simd, const G: usize>(
        &self,
        simd: S,
        job: &Job<'_>,
        chunk: Chunk,
        row: impl Fn(usize) -> u32,
        side: &mut Side<G>,
        random: &mut [u32x16<S>; 4],
    ) {
        self.clamp(job, chunk, row, side);
        side.spins.copy_from_slice(&side.given);
        for &unit in &self.hidden {
            side.spins[unit] = Spins([[0.0; WIDTH]; G]);
        }
        let is_direct = !job.data.has_gaps && self.hidden.iter().all(|&unit| self.smooth[unit]);
        for _ in 0..if is_direct { 1 } else { job.clamped_sweeps } {
            for &unit in &self.order {
                if self.roles[unit] == Role::Hidden || job.data.has_gaps {
                    self.update(simd, unit, side, random);
                }
            }
        }
    }

    /// Draw every unit that is not clamped.
    #[inline(always)]
    fn sweep<S: Simd, const G: usize>(&self, simd: S, side: &mut Side<G>, random: &mut [u32x16<S>; 4]) {
        for &unit in &self.order {
            self.update(simd, unit, side, random);
        }
    }

    #[inline(always)]
    fn field<S: Simd, const G: usize>(&self, simd: S, unit: usize, spins: &[Spins<G>]) -> [f32x16<S>; G] {
        let around = &self.neighbours[self.offsets[unit]..self.offsets[unit + 1]];
        add_pull(simd, [f32x16::splat(simd, self.biases[unit]); G], around, spins)
    }

    #[inline(always)]
    fn update<S: Simd, const G: usize>(
        &self,
        simd: S,
        unit: usize,
        side: &mut Side<G>,
        random: &mut [u32x16<S>; 4],
    ) {
        let zero = f32x16::splat(simd, 0.0);
        let field = self.field(simd, unit, &side.spins);
        for group in 0..G {
            let (spin, mean) = spin_and_mean(simd, field[group], random);
            let given = f32x16::load_array_ref(simd, &side.given[unit].0[group]);
            given.simd_eq(zero).select(spin, given).store_array(&mut side.spins[unit].0[group]);
            mean.store_array(&mut side.means[unit].0[group]);
        }
    }

    /// Add the weighted moments of all edges and units.
    #[inline(always)]
    fn add_moments<S: Simd, const G: usize>(
        &self,
        simd: S,
        side: &Side<G>,
        live: &[[f32; WIDTH]; G],
        sums: &mut [Sixteen],
    ) {
        let state = |unit: usize| if self.smooth[unit] { &side.means[unit].0 } else { &side.spins[unit].0 };
        let mut edge = 0;
        for unit in 0..self.biases.len() {
            let mut own = [f32x16::splat(simd, 0.0); G];
            let mut total = f32x16::splat(simd, 0.0);
            for group in 0..G {
                own[group] = f32x16::load_array_ref(simd, &state(unit)[group])
                    * f32x16::load_array_ref(simd, &live[group]);
                total += own[group];
            }
            add_at(sums, self.ends.len() + unit, sum_of(total));
            // Edges are in lexicographic order: those to higher units follow upon each other.
            while edge < self.ends.len() && self.ends[edge].0 == unit {
                let other = state(self.ends[edge].1);
                let mut product = f32x16::splat(simd, 0.0);
                for group in 0..G {
                    product = f32x16::load_array_ref(simd, &other[group]).mul_add(own[group], product);
                }
                add_at(sums, edge, sum_of(product));
                edge += 1;
            }
        }
    }

    /// Σ over rows, with their weights, of ln P(s_i | all other units) of the visible cells, hidden units and missing cells drawn given the row.
    #[inline(always)]
    pub(super) fn objective<S: Simd>(
        &self,
        simd: S,
        job: &Job<'_>,
        weights: &[f64],
        rows: &mut Rows,
        generators: &mut Generators,
    ) -> f64 {
        let mut random = generators.load(simd);
        if job.part.len() > WIDTH {
            self.objective_of(simd, job, weights, &mut rows.many, &mut random)
        } else {
            self.objective_of(simd, job, weights, &mut rows.few, &mut random)
        }
    }

    #[inline(always)]
    fn objective_of<S: Simd, const G: usize>(
        &self,
        simd: S,
        job: &Job<'_>,
        weights: &[f64],
        side: &mut Side<G>,
        random: &mut [u32x16<S>; 4],
    ) -> f64 {
        let mut total = 0.0;
        for chunk in chunks(job.part.len()) {
            let place = job.part.start + chunk.first;
            self.infer(simd, job, chunk, |k| job.rows[place + k], side, random);
            let live: [[f32; WIDTH]; G] = live(chunk, |k| weights[place + k] as f32);
            for &unit in self.observed.iter().filter(|&&unit| self.roles[unit] == Role::Visible) {
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

    /// The states that chains begin with: those of rows of the table, all else drawn given them.
    #[inline(always)]
    pub(super) fn begin<S: Simd>(
        &self,
        simd: S,
        job: &Job<'_>,
        rows: &mut Rows,
        chains: &mut [i8],
        generators: &mut Generators,
    ) {
        let mut random = generators.load(simd);
        let side = &mut rows.many;
        let count = job.chains.len();
        let size = GROUPS * WIDTH;
        for first in (0..count).step_by(size) {
            let chunk = Chunk { first, count: size.min(count - first) };
            let row = |k: usize| job.rows[(job.chains.start + first + k) % job.rows.len()];
            self.infer(simd, job, chunk, row, side, &mut random);
            self.take_chains(chunk, chains, side);
        }
        generators.store(random);
    }

    /// Chains are kept with observed units first, then hidden ones.
    fn put_chains<const G: usize>(&self, chunk: Chunk, chains: &[i8], side: &mut Side<G>) {
        let width = self.biases.len().max(1);
        for (k, chain) in chains[chunk.first * width..].chunks_exact(width).take(chunk.count).enumerate() {
            for (&unit, &cell) in self.observed.iter().chain(&self.hidden).zip(chain) {
                let (group, lane) = (k / WIDTH, k % WIDTH);
                let given = side.given[unit].0[group][lane];
                side.spins[unit].0[group][lane] = if given == 0.0 { f32::from(cell) } else { given };
            }
        }
    }

    fn take_chains<const G: usize>(&self, chunk: Chunk, chains: &mut [i8], side: &Side<G>) {
        let width = self.biases.len().max(1);
        for (k, chain) in chains[chunk.first * width..].chunks_exact_mut(width).take(chunk.count).enumerate()
        {
            for (&unit, cell) in self.observed.iter().chain(&self.hidden).zip(chain) {
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

/// The sum of all lanes.
#[inline(always)]
fn sum_of<S: Simd>(x: f32x16<S>) -> f32 {
    let (low, high) = x.split();
    let (low, high) = (low + high).split();
    let four = (low + high).to_array();
    (four[0] + four[1]) + (four[2] + four[3])
}
