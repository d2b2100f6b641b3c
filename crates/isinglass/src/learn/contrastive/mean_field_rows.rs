//! Mean field of rows side by side: clamped to the table, and a few sweeps away from it.

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};
use rayon::prelude::*;

use super::data::{Data, Structure};
use crate::cancel;
use crate::numeric::lanes::{LANES, Lane, exp_nonpositive, ln_1p_of_share, tanh};
use crate::{Machine, Role};

/// Vectors of rows that share a walk along the neighbours.
const GROUPS: usize = 4;

const CHUNK: usize = GROUPS * LANES;

/// Largest number of pieces of work; each has its own sums.
const PIECES: usize = 16;

/// Least work of a piece, in products of states; below, threads cost more than they save.
const PIECE: usize = 1 << 17;

/// Hidden units and missing cells have converged when no mean changes by more than this in a sweep.
const SETTLED: f64 = 1e-13;

/// Most sweeps to that end.
const MOST_SWEEPS: usize = 500;

/// The means of one unit in all rows of a chunk.
type Means = [Lane; GROUPS];

#[derive(Clone, Copy)]
pub(super) struct Away {
    pub(super) steps: usize,
    /// The share of the old mean that a unit keeps.
    pub(super) damping: f64,
}

pub(super) struct Wiring {
    structure: Structure,
    has_hidden_links: bool,
    level: Level,
}

pub(super) struct Sums {
    /// Σ over visible cells of ln P(s_i | all others at their means).
    pub(super) value: f64,
    /// Clamped moments less those some sweeps away: of edges, then of units.
    pub(super) moments: Vec<f64>,
    /// The largest change of a mean in the last sweep of the clamped phase, and the number of
    /// sweeps.
    pub(super) residual: f64,
    pub(super) sweeps: usize,
}

impl Sums {
    fn merge(&mut self, other: &Self) {
        self.value += other.value;
        self.moments.iter_mut().zip(&other.moments).for_each(|(sum, x)| *sum += x);
        self.residual = self.residual.max(other.residual);
        self.sweeps = self.sweeps.max(other.sweeps);
    }

    /// Whether the clamped phase converged in every row.
    pub(super) fn settled(&self) -> bool {
        self.residual <= SETTLED
    }
}

/// The parameters of a machine divided by T, with one coupling for each slot.
struct Numbers {
    couplings: Vec<f64>,
    biases: Vec<f64>,
}

impl Wiring {
    pub(super) fn new(machine: &Machine) -> Self {
        let is_hidden = |unit: usize| machine.roles()[unit] == Role::Hidden;
        let edges = machine.graph().edges();
        Self {
            structure: Structure::new(machine),
            has_hidden_links: edges.iter().any(|&(a, b)| is_hidden(a) && is_hidden(b)),
            level: Level::new(),
        }
    }

    /// The bytes of the sums and states of all pieces, and of parameters, velocities, sums and
    /// machines before and after an iteration.
    pub(super) fn bytes(machine: &Machine) -> u128 {
        let (units, edges) = (machine.unit_count() as u128, machine.graph().edges().len() as u128);
        let pieces = PIECES as u128 + 1;
        8 * pieces * (edges + units)
            + pieces * units * 2 * size_of::<Means>() as u128
            + 40 * edges
            + 64 * (edges + units)
    }

    /// Sums over rows, each with its share of the total weight.
    pub(super) fn sums(&self, machine: &Machine, data: &Data, rows: &[u32], away: Away) -> Sums {
        let (weights, temperature) = (machine.weights(), machine.temperature());
        let around = self.structure.around.iter();
        let numbers = Numbers {
            couplings: around.map(|&(_, edge)| weights[edge as usize] / temperature).collect(),
            biases: machine.biases().iter().map(|bias| bias / temperature).collect(),
        };
        // Cut by the work alone, and added in order: the same sums on any number of threads.
        let chunks = rows.len().div_ceil(CHUNK);
        let work = rows.len() * self.structure.around.len().max(1) * (away.steps + 2);
        let pieces = (work / PIECE).clamp(1, PIECES).min(chunks.max(1));
        let bound = |piece: usize| (piece * chunks / pieces * CHUNK).min(rows.len());
        let of_piece = |piece: usize| {
            let rows = &rows[bound(piece)..bound(piece + 1)];
            dispatch!(self.level, simd => self.sums_of(simd, &numbers, data, rows, away))
        };
        let parts: Vec<Sums> = match pieces {
            1 => vec![of_piece(0)],
            _ => (0..pieces).into_par_iter().map(of_piece).collect(),
        };
        let mut sums = self.zero();
        for part in &parts {
            sums.merge(part);
        }
        sums
    }

    fn zero(&self) -> Sums {
        let moments = vec![0.0; self.structure.ends.len() + self.structure.unit_count()];
        Sums { value: 0.0, moments, residual: 0.0, sweeps: 0 }
    }

    #[inline(always)]
    fn sums_of<S: Simd>(&self, simd: S, numbers: &Numbers, data: &Data, rows: &[u32], away: Away) -> Sums {
        let structure = &self.structure;
        let mut sums = self.zero();
        let mut given = vec![[Lane::ZERO; GROUPS]; structure.unit_count()];
        let mut means = given.clone();
        for rows in rows.chunks(CHUNK) {
            cancel::point();
            let mut shares = [Lane::ZERO; GROUPS];
            for k in 0..CHUNK {
                // Left-over lanes repeat the first row, without weight.
                let row = rows.get(k).copied().unwrap_or(rows[0]);
                let (group, lane) = (k / LANES, k % LANES);
                shares[group].0[lane] = if k < rows.len() { data.shares[row as usize] } else { 0.0 };
                for (&unit, &cell) in structure.observed.iter().zip(data.row(row)) {
                    given[unit][group].0[lane] = f64::from(cell);
                }
            }
            means.copy_from_slice(&given);
            self.settle(simd, numbers, data.has_gaps, &given, &mut means, &mut sums);
            sums.value += self.value(simd, numbers, &given, &means, &shares);
            self.add_moments(simd, &means, &shares, 1.0, &mut sums.moments);
            for &unit in &structure.visible {
                given[unit] = [Lane::ZERO; GROUPS];
            }
            for _ in 0..away.steps {
                for &unit in structure.observed.iter().chain(&structure.hidden) {
                    self.update(simd, numbers, unit, &given, &mut means, away.damping);
                }
            }
            self.add_moments(simd, &means, &shares, -1.0, &mut sums.moments);
        }
        sums
    }

    /// Finds the fixed point of hidden units and missing cells given the rest, from means of 0.
    #[inline(always)]
    fn settle<S: Simd>(
        &self,
        simd: S,
        numbers: &Numbers,
        has_gaps: bool,
        given: &[Means],
        means: &mut [Means],
        sums: &mut Sums,
    ) {
        let observed: &[usize] = if has_gaps { &self.structure.observed } else { &[] };
        let is_direct = !has_gaps && !self.has_hidden_links;
        for sweep in 1..=if is_direct { 1 } else { MOST_SWEEPS } {
            let mut change = f64x8::splat(simd, 0.0);
            // Hidden units first: they carry what the row tells about missing cells.
            for &unit in self.structure.hidden.iter().chain(observed) {
                change = change.max(self.update(simd, numbers, unit, given, means, 0.0));
            }
            let change = change.to_array().into_iter().fold(0.0, f64::max);
            sums.sweeps = sums.sweeps.max(sweep);
            if change <= SETTLED || is_direct {
                return;
            }
            if sweep == MOST_SWEEPS {
                sums.residual = sums.residual.max(change);
            }
        }
    }

    #[inline(always)]
    fn field<S: Simd>(&self, simd: S, numbers: &Numbers, unit: usize, means: &[Means]) -> [f64x8<S>; GROUPS] {
        let mut field = [f64x8::splat(simd, numbers.biases[unit]); GROUPS];
        let slots = self.structure.slots(unit);
        let around = self.structure.around[slots.clone()].iter();
        for (&(other, _), &coupling) in around.zip(&numbers.couplings[slots]) {
            let coupling = f64x8::splat(simd, coupling);
            for group in 0..GROUPS {
                field[group] = means[other as usize][group].load(simd).mul_add(coupling, field[group]);
            }
        }
        field
    }

    /// Moves a unit to the mean in its field where it is not clamped; returns the change.
    #[inline(always)]
    fn update<S: Simd>(
        &self,
        simd: S,
        numbers: &Numbers,
        unit: usize,
        given: &[Means],
        means: &mut [Means],
        damping: f64,
    ) -> f64x8<S> {
        let zero = f64x8::splat(simd, 0.0);
        let damping = f64x8::splat(simd, damping);
        let field = self.field(simd, numbers, unit, means);
        let mut change = zero;
        for group in 0..GROUPS {
            let clamped = given[unit][group].load(simd);
            let (old, new) = (means[unit][group].load(simd), tanh(simd, field[group]));
            let mean = clamped.simd_eq(zero).select(damping.mul_add(old - new, new), clamped);
            change = change.max((mean - old).abs());
            means[unit][group].store(mean);
        }
        change
    }

    #[inline(always)]
    fn value<S: Simd>(
        &self,
        simd: S,
        numbers: &Numbers,
        given: &[Means],
        means: &[Means],
        shares: &Means,
    ) -> f64 {
        let zero = f64x8::splat(simd, 0.0);
        let mut sum = zero;
        for &unit in &self.structure.visible {
            let field = self.field(simd, numbers, unit, means);
            for group in 0..GROUPS {
                let cell = given[unit][group].load(simd);
                let twice = (field[group] + field[group]) * cell;
                let ln = twice.min(zero) - ln_1p_of_share(simd, exp_nonpositive(simd, -twice.abs()));
                sum = (shares[group].load(simd) * cell.abs()).mul_add(ln, sum);
            }
        }
        sum.to_array().iter().sum()
    }

    /// Adds the weighted moments of all edges, then of all units.
    #[inline(always)]
    fn add_moments<S: Simd>(&self, simd: S, means: &[Means], shares: &Means, sign: f64, moments: &mut [f64]) {
        let ends = &self.structure.ends;
        let (pairs, singles) = moments.split_at_mut(ends.len());
        let sign = f64x8::splat(simd, sign);
        let mut edge = 0;
        for unit in 0..singles.len() {
            let mut own = [sign; GROUPS];
            let mut total = f64x8::splat(simd, 0.0);
            for group in 0..GROUPS {
                own[group] = sign * shares[group].load(simd) * means[unit][group].load(simd);
                total += own[group];
            }
            singles[unit] += total.to_array().iter().sum::<f64>();
            // Edges are in lexicographic order: those to higher units are consecutive.
            while edge < ends.len() && ends[edge].0 == unit {
                let other = &means[ends[edge].1];
                let mut product = f64x8::splat(simd, 0.0);
                for group in 0..GROUPS {
                    product = other[group].load(simd).mul_add(own[group], product);
                }
                pairs[edge] += product.to_array().iter().sum::<f64>();
                edge += 1;
            }
        }
    }
}
