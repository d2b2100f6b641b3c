//! Two layers without couplings within them: fields are products of dense matrices, in single
//! precision.
//!
//! The units of a row lie in lanes, and four rows go through a product side by side. Couplings are
//! stored in both orientations, so that the fields of either layer are sums of whole vectors.

use fearless_simd::{Simd, f32x16, prelude::*, u32x16};

use super::kernel::{Pass, Work};
use super::slots::Slots;
use crate::numeric::chance::{Sixteen, WIDTH, ln_logistic, mean_of, spin_and_mean};
use crate::{Machine, Role};

/// Rows, or units, that share a walk along the other layer.
const TILE: usize = 4;

/// Dense products are used if at least one in so many couplings, both layers filled up to whole
/// vectors, is an edge of the machine, or if there are few couplings.
const DENSE: usize = 4;
const FEW: usize = 4096;

/// Visible and input units below, hidden units above. Couplings and biases are divided by T/2.
pub(super) struct Layers {
    below: Vec<usize>,
    above: Vec<usize>,
    inputs: Vec<Sixteen>,
    has_inputs: bool,
    /// For each unit below its couplings to those above.
    up: Vec<Sixteen>,
    /// For each unit above its couplings to those below.
    down: Vec<Sixteen>,
    bias_below: Vec<Sixteen>,
    bias_above: Vec<Sixteen>,
    temperature: f64,
}

/// States of the rows of a piece, row after row.
pub(super) struct Rows {
    /// The cells of the table; 0 where missing.
    given: Vec<Sixteen>,
    below: Vec<Sixteen>,
    /// Units above: their means given those below, and spins.
    means: Vec<Sixteen>,
    spins: Vec<Sixteen>,
    /// The inputs that stay clamped in the sweeps, and the states after them.
    held: Vec<Sixteen>,
    far_below: Vec<Sixteen>,
    far_means: Vec<Sixteen>,
    fields_below: Vec<Sixteen>,
    fields_above: Vec<Sixteen>,
}

impl Layers {
    /// The vectors that hold the units below and above; `None` if there are couplings within a
    /// layer or too few across.
    pub(super) fn shape(machine: &Machine) -> Option<(usize, usize)> {
        let is_hidden = |unit: usize| machine.roles()[unit] == Role::Hidden;
        let edges = machine.graph().edges();
        let above = machine.with_role(Role::Hidden).count();
        let (wide, high) = ((machine.unit_count() - above).div_ceil(WIDTH), above.div_ceil(WIDTH));
        let across = edges.iter().all(|&(a, b)| is_hidden(a) != is_hidden(b));
        let dense = wide * high * WIDTH * WIDTH <= FEW + DENSE * edges.len();
        (across && dense && !edges.is_empty()).then_some((wide, high))
    }

    pub(super) fn new(machine: &Machine, (wide, high): (usize, usize)) -> Self {
        let (above, below): (Vec<usize>, Vec<usize>) =
            (0..machine.unit_count()).partition(|&unit| machine.roles()[unit] == Role::Hidden);
        let mut inputs = vec![Sixteen::ZERO; wide];
        for (k, &unit) in below.iter().enumerate() {
            inputs[k / WIDTH].0[k % WIDTH] = f32::from(u8::from(machine.roles()[unit] == Role::Input));
        }
        Self {
            has_inputs: machine.with_role(Role::Input).next().is_some(),
            inputs,
            up: vec![Sixteen::ZERO; wide * WIDTH * high],
            down: vec![Sixteen::ZERO; above.len() * wide],
            bias_below: vec![Sixteen::ZERO; wide],
            bias_above: vec![Sixteen::ZERO; high],
            temperature: machine.temperature(),
            below,
            above,
        }
    }

    /// The number of parameter slots, the bytes of the couplings, and those of a row's states.
    pub(super) fn sizes((wide, high): (usize, usize)) -> (u128, u128, u128) {
        let (wide, high) = (wide as u128, high as u128);
        let lanes = WIDTH as u128;
        (
            lanes * (lanes * wide * high + wide + high),
            8 * lanes * lanes * wide * high,
            4 * lanes * (5 * wide + 4 * high),
        )
    }

    pub(super) fn rows(&self, count: usize) -> Rows {
        let rows = count.next_multiple_of(TILE);
        let below = || vec![Sixteen::ZERO; rows * self.bias_below.len()];
        let above = || vec![Sixteen::ZERO; rows * self.bias_above.len()];
        Rows {
            given: below(),
            below: below(),
            means: above(),
            spins: above(),
            held: below(),
            far_below: below(),
            far_means: above(),
            fields_below: below(),
            fields_above: above(),
        }
    }

    /// Couplings by units below, then above, filled up to whole vectors; then biases below and
    /// above.
    pub(super) fn slots(&self, machine: &Machine) -> Slots {
        let (wide, high) = (self.bias_below.len() * WIDTH, self.bias_above.len() * WIDTH);
        let mut place = vec![0; machine.unit_count()];
        let mut units = vec![0; machine.unit_count()];
        for (k, &unit) in self.below.iter().enumerate() {
            place[unit] = k * high;
            units[unit] = wide * high + k;
        }
        for (k, &unit) in self.above.iter().enumerate() {
            place[unit] = k;
            units[unit] = wide * high + wide + k;
        }
        let edges = machine.graph().edges().iter().map(|&(a, b)| place[a] + place[b]).collect();
        Slots { edges, units, count: wide * high + wide + high }
    }

    #[inline(always)]
    pub(super) fn load<S: Simd>(&mut self, _simd: S, parameters: &[f64]) {
        let scale = 2.0 / self.temperature;
        let blocks = self.up.iter_mut().chain(&mut self.bias_below).chain(&mut self.bias_above);
        for (block, numbers) in blocks.zip(parameters.as_chunks::<WIDTH>().0) {
            for (x, number) in block.0.iter_mut().zip(numbers) {
                *x = (scale * number) as f32;
            }
        }
        let (wide, high) = (self.bias_below.len(), self.bias_above.len());
        for block in 0..wide {
            for column in 0..high {
                let lanes = WIDTH.min(self.above.len() - column * WIDTH);
                let rows = &self.up[block * WIDTH * high + column..];
                for lane in 0..lanes {
                    let out = &mut self.down[(column * WIDTH + lane) * wide + block].0;
                    for (x, row) in out.iter_mut().zip(rows.iter().step_by(high)) {
                        *x = row.0[lane];
                    }
                }
            }
        }
    }

    /// The gradient of a piece: moments of the rows less those after the sweeps, each divided by
    /// their number in the mini-batch and by T.
    #[inline(always)]
    pub(super) fn contrast<S: Simd>(&self, pass: &mut Pass<'_, S>, rows: &mut Rows, work: &mut Work) {
        let (simd, job) = (pass.simd, pass.job);
        let near = job.part.len();
        self.infer(pass, job.own_rows(), rows);
        let persistent = job.all_chains > 0;
        let far = if persistent { job.chains.len() } else { near };
        if persistent {
            self.put_chains(&work.chains, rows);
        }
        if self.has_inputs {
            for (k, held) in rows.held.chunks_exact_mut(self.bias_below.len()).take(far).enumerate() {
                fill(job.data.row(job.row_of_chain(k)), held);
                for (x, input) in held.iter_mut().zip(&self.inputs) {
                    x.store(x.load(simd) * input.load(simd));
                }
            }
        }
        for step in 1..=job.plan.steps {
            self.reconstruct(pass, far, rows);
            let is_last = step == job.plan.steps && !persistent;
            self.respond(pass, far, if is_last { Side::Last } else { Side::Far }, rows);
        }
        if persistent {
            self.take_chains(&mut work.chains, rows);
        }
        let scale = 1.0 / self.temperature as f32;
        let share = scale / job.rows.len() as f32;
        let far_share = if persistent { scale / job.all_chains as f32 } else { share };
        self.sum(simd, rows, (near, share), (far, far_share), &mut work.sums);
    }

    /// Infers the states of rows of the table: means and spins above, missing cells as spins.
    #[inline(always)]
    fn infer<S: Simd>(&self, pass: &mut Pass<'_, S>, own: impl Iterator<Item = u32>, rows: &mut Rows) {
        let data = pass.job.data;
        let mut count = 0;
        for (row, given) in own.zip(rows.given.chunks_exact_mut(self.bias_below.len())) {
            fill(data.row(row), given);
            count += 1;
        }
        let used = count * self.bias_below.len();
        rows.below[..used].copy_from_slice(&rows.given[..used]);
        self.respond(pass, count, Side::Near, rows);
        if data.has_gaps {
            for _ in 0..pass.job.plan.clamped_sweeps {
                self.fields_below(pass.simd, count.next_multiple_of(TILE), rows);
                let fields = &rows.fields_below[..used];
                draw(pass.simd, fields, Some(&rows.given), &mut rows.below, &mut pass.random);
                self.respond(pass, count, Side::Near, rows);
            }
        }
    }

    #[inline(always)]
    fn fields_below<S: Simd>(&self, simd: S, padded: usize, rows: &mut Rows) {
        let spins = &rows.spins[..padded * self.bias_above.len()];
        fields(simd, spins, self.above.len(), &self.down, &self.bias_below, &mut rows.fields_below);
    }

    /// Draws the units below given the spins above; inputs stay.
    #[inline(always)]
    fn reconstruct<S: Simd>(&self, pass: &mut Pass<'_, S>, count: usize, rows: &mut Rows) {
        self.fields_below(pass.simd, count.next_multiple_of(TILE), rows);
        let used = count * self.bias_below.len();
        let held = self.has_inputs.then_some(&rows.held[..]);
        draw(pass.simd, &rows.fields_below[..used], held, &mut rows.far_below, &mut pass.random);
    }

    /// Computes the means of the units above given those below, and draws spins unless it is the
    /// last.
    #[inline(always)]
    fn respond<S: Simd>(&self, pass: &mut Pass<'_, S>, count: usize, side: Side, rows: &mut Rows) {
        let (simd, draws) = (pass.simd, side != Side::Last);
        let (below, means) = match side {
            Side::Near => (&rows.below, &mut rows.means),
            Side::Far | Side::Last => (&rows.far_below, &mut rows.far_means),
        };
        let below = &below[..count.next_multiple_of(TILE) * self.bias_below.len()];
        fields(simd, below, self.below.len(), &self.up, &self.bias_above, &mut rows.fields_above);
        let used = count * self.bias_above.len();
        for ((field, mean), spin) in rows.fields_above[..used].iter().zip(means).zip(&mut rows.spins) {
            if draws {
                let (s, m) = spin_and_mean(simd, field.load(simd), &mut pass.random);
                spin.store(s);
                mean.store(m);
            } else {
                mean.store(mean_of(simd, field.load(simd)));
            }
        }
    }

    /// `share Σ near moments − far_share Σ far moments`.
    #[inline(always)]
    fn sum<S: Simd>(
        &self,
        simd: S,
        rows: &Rows,
        (near, share): (usize, f32),
        (far, far_share): (usize, f32),
        sums: &mut [Sixteen],
    ) {
        let (wide, high) = (self.bias_below.len(), self.bias_above.len());
        let (plus, minus) = (f32x16::splat(simd, share), f32x16::splat(simd, -far_share));
        let (pairs, singles) = sums.split_at_mut(wide * WIDTH * high);
        for (number, out) in pairs.chunks_exact_mut(TILE * high).enumerate() {
            let first = number * TILE;
            let mut column = 0;
            while column + 2 <= high {
                let a = moments::<S, 2>(simd, &rows.below, &rows.means, near, (wide, high), first, column);
                let b =
                    moments::<S, 2>(simd, &rows.far_below, &rows.far_means, far, (wide, high), first, column);
                for unit in 0..TILE {
                    for n in 0..2 {
                        out[unit * high + column + n].store(a[unit][n] * plus + b[unit][n] * minus);
                    }
                }
                column += 2;
            }
            if column < high {
                let a = moments::<S, 1>(simd, &rows.below, &rows.means, near, (wide, high), first, column);
                let b =
                    moments::<S, 1>(simd, &rows.far_below, &rows.far_means, far, (wide, high), first, column);
                for unit in 0..TILE {
                    out[unit * high + column].store(a[unit][0] * plus + b[unit][0] * minus);
                }
            }
        }
        let (below, above) = singles.split_at_mut(wide);
        for (states, far_states, out) in
            [(&rows.below, &rows.far_below, below), (&rows.means, &rows.far_means, above)]
        {
            let width = out.len();
            for (column, out) in out.iter_mut().enumerate() {
                let mut sum = f32x16::splat(simd, 0.0);
                for row in 0..near {
                    sum = states[row * width + column].load(simd).mul_add(plus, sum);
                }
                for row in 0..far {
                    sum = far_states[row * width + column].load(simd).mul_add(minus, sum);
                }
                out.store(sum);
            }
        }
    }

    /// Σ over weighted rows of ln P of the visible cells, given spins above drawn given the row.
    #[inline(always)]
    pub(super) fn objective<S: Simd>(&self, pass: &mut Pass<'_, S>, weights: &[f64], rows: &mut Rows) -> f64 {
        let (simd, job) = (pass.simd, pass.job);
        self.infer(pass, job.own_rows(), rows);
        self.fields_below(simd, job.part.len().next_multiple_of(TILE), rows);
        let wide = self.bias_below.len();
        let one = f32x16::splat(simd, 1.0);
        let mut total = 0.0;
        for (row, weight) in weights[job.part.clone()].iter().enumerate() {
            let mut sum = f32x16::splat(simd, 0.0);
            for column in 0..wide {
                let place = row * wide + column;
                let given = rows.given[place].load(simd);
                let counts = given.abs() * (one - self.inputs[column].load(simd));
                sum = ln_logistic(simd, given * rows.fields_below[place].load(simd)).mul_add(counts, sum);
            }
            total += weight * f64::from(sum.to_array().iter().sum::<f32>());
        }
        total
    }

    /// Starts chains at rows of the table, with units above drawn given them.
    #[inline(always)]
    pub(super) fn begin<S: Simd>(&self, pass: &mut Pass<'_, S>, rows: &mut Rows, chains: &mut [i8]) {
        let job = pass.job;
        let first = job.chains.clone().map(|chain| job.rows[chain % job.rows.len()]);
        self.infer(pass, first, rows);
        rows.far_below.copy_from_slice(&rows.below);
        self.take_chains(chains, rows);
    }

    fn put_chains(&self, chains: &[i8], rows: &mut Rows) {
        let width = self.below.len() + self.above.len();
        let (wide, high) = (self.bias_below.len(), self.bias_above.len());
        let states = rows.far_below.chunks_exact_mut(wide).zip(rows.spins.chunks_exact_mut(high));
        for (chain, (below, spins)) in chains.chunks_exact(width).zip(states) {
            fill(&chain[..self.below.len()], below);
            fill(&chain[self.below.len()..], spins);
        }
    }

    fn take_chains(&self, chains: &mut [i8], rows: &Rows) {
        let width = self.below.len() + self.above.len();
        let (wide, high) = (self.bias_below.len(), self.bias_above.len());
        let states = rows.far_below.chunks_exact(wide).zip(rows.spins.chunks_exact(high));
        for (chain, (below, spins)) in chains.chunks_exact_mut(width).zip(states) {
            let (first, second) = chain.split_at_mut(self.below.len());
            for (cells, states) in [(first, below), (second, spins)] {
                for (k, cell) in cells.iter_mut().enumerate() {
                    *cell = states[k / WIDTH].0[k % WIDTH] as i8;
                }
            }
        }
    }
}

/// The states of the rows themselves, those some sweeps away, or the last of these: means alone.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Near,
    Far,
    Last,
}

/// Copies cells as numbers; the rest of the last vector is unchanged.
#[inline(always)]
fn fill(cells: &[i8], out: &mut [Sixteen]) {
    for (cells, out) in cells.chunks(WIDTH).zip(out) {
        for (x, &cell) in out.0.iter_mut().zip(cells) {
            *x = f32::from(cell);
        }
    }
}

/// Draws spins from their fields; held values stay.
#[inline(always)]
fn draw<S: Simd>(
    simd: S,
    fields: &[Sixteen],
    held: Option<&[Sixteen]>,
    out: &mut [Sixteen],
    random: &mut [u32x16<S>; 4],
) {
    let zero = f32x16::splat(simd, 0.0);
    for (place, (field, out)) in fields.iter().zip(out).enumerate() {
        let spin = spin_and_mean(simd, field.load(simd), random).0;
        out.store(match held {
            None => spin,
            Some(held) => {
                let held = held[place].load(simd);
                held.simd_eq(zero).select(spin, held)
            }
        });
    }
}

/// For each row `bias + Σ_k x_k w_k`, rows in tiles.
#[inline(always)]
fn fields<S: Simd>(
    simd: S,
    x: &[Sixteen],
    inner: usize,
    w: &[Sixteen],
    bias: &[Sixteen],
    out: &mut [Sixteen],
) {
    let (wide, high) = (inner.div_ceil(WIDTH), bias.len());
    for (x, out) in x.chunks_exact(TILE * wide).zip(out.chunks_exact_mut(TILE * high)) {
        let mut column = 0;
        while column + 2 <= high {
            tile::<S, 2>(simd, x, inner, w, bias, column, out);
            column += 2;
        }
        if column < high {
            tile::<S, 1>(simd, x, inner, w, bias, column, out);
        }
    }
}

/// Columns of four rows of a product.
#[inline(always)]
fn tile<S: Simd, const COLUMNS: usize>(
    simd: S,
    x: &[Sixteen],
    inner: usize,
    w: &[Sixteen],
    bias: &[Sixteen],
    column: usize,
    out: &mut [Sixteen],
) {
    let (wide, high) = (inner.div_ceil(WIDTH), bias.len());
    let mut sums = [[f32x16::splat(simd, 0.0); COLUMNS]; TILE];
    for row in &mut sums {
        for n in 0..COLUMNS {
            row[n] = bias[column + n].load(simd);
        }
    }
    for block in 0..wide {
        let lanes = WIDTH.min(inner - block * WIDTH);
        let cells: [&[f32; WIDTH]; TILE] =
            [&x[block].0, &x[wide + block].0, &x[2 * wide + block].0, &x[3 * wide + block].0];
        for lane in 0..lanes {
            let weights = &w[(block * WIDTH + lane) * high + column..][..COLUMNS];
            for row in 0..TILE {
                let cell = f32x16::splat(simd, cells[row][lane]);
                for n in 0..COLUMNS {
                    sums[row][n] = cell.mul_add(weights[n].load(simd), sums[row][n]);
                }
            }
        }
    }
    for row in 0..TILE {
        for n in 0..COLUMNS {
            out[row * high + column + n].store(sums[row][n]);
        }
    }
}

/// Σ over rows of the products of four units below with some columns above.
#[inline(always)]
fn moments<S: Simd, const COLUMNS: usize>(
    simd: S,
    below: &[Sixteen],
    above: &[Sixteen],
    rows: usize,
    (wide, high): (usize, usize),
    first: usize,
    column: usize,
) -> [[f32x16<S>; COLUMNS]; TILE] {
    let (block, lane) = (first / WIDTH, first % WIDTH);
    let mut sums = [[f32x16::splat(simd, 0.0); COLUMNS]; TILE];
    for row in 0..rows {
        let above = &above[row * high + column..][..COLUMNS];
        let below = &below[row * wide + block].0[lane..lane + TILE];
        for unit in 0..TILE {
            let x = f32x16::splat(simd, below[unit]);
            for n in 0..COLUMNS {
                sums[unit][n] = x.mul_add(above[n].load(simd), sums[unit][n]);
            }
        }
    }
    sums
}
