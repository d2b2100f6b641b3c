//! Mean field of rows side by side: clamped to the table, and a few sweeps away from it.

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};
use rayon::prelude::*;

use super::job::Data;
use crate::cancel;
use crate::numeric::lanes::{LANES, Lane, exp_nonpositive, ln_1p_of_share, tanh};
use crate::{Machine, Role};

/// Vectors of rows that share the walk along the neighbours.
const GROUPS: usize = 4;

/// Rows that are computed together.
const CHUNK: usize = GROUPS * LANES;

/// Pieces of work at most: each has sums of its own.
pub(super) const PIECES: usize = 16;

/// Products of states in a piece at least: below, threads cost more than they give.
const PIECE: usize = 1 << 17;

/// Hidden units and missing cells have settled when no mean changes by more than this in a sweep.
const SETTLED: f64 = 1e-13;

/// Sweeps at most until they have.
const MOST_SWEEPS: usize = 500;

/// A mean of each row of a chunk.
type Means = [Lane; GROUPS];

/// How means are led away from the rows.
#[derive(Clone, Copy)]
pub(super) struct Away {
    /// Sweeps.
    pub(super) steps: usize,
    /// The share of the old mean that a unit keeps.
    pub(super) damping: f64,
}

/// A structure, prepared for sweeps.
pub(super) struct Wiring {
    roles: Vec<Role>,
    /// Units that are not hidden, and hidden ones.
    observed: Vec<usize>,
    hidden: Vec<usize>,
    has_hidden_links: bool,
    /// For each unit the first of its slots; for each slot the neighbour and the number of the edge.
    offsets: Vec<usize>,
    around: Vec<(u32, u32)>,
    ends: Vec<(usize, usize)>,
    level: Level,
}

/// What is summed up over rows, with their weights.
pub(super) struct Sums {
    /// Σ over visible cells of ln P(s_i | all others at their means).
    pub(super) value: f64,
    /// Clamped moments less those some sweeps away: of edges, then of units.
    pub(super) moments: Vec<f64>,
    /// By how much a mean still changed in the last sweep of the clamped phase, at most, and how many sweeps there were.
    pub(super) residual: f64,
    pub(super) sweeps: usize,
}

impl Sums {
    fn zero(moments: usize) -> Self {
        Self { value: 0.0, moments: vec![0.0; moments], residual: 0.0, sweeps: 0 }
    }

    fn merge(&mut self, other: &Self) {
        self.value += other.value;
        self.moments.iter_mut().zip(&other.moments).for_each(|(sum, x)| *sum += x);
        self.residual = self.residual.max(other.residual);
        self.sweeps = self.sweeps.max(other.sweeps);
    }

    /// Whether the clamped phase came to its fixed point in every row.
    pub(super) fn settled(&self) -> bool {
        self.residual <= SETTLED
    }
}

/// The parameters of a machine divided by T, one coupling for each slot.
struct Numbers {
    couplings: Vec<f64>,
    biases: Vec<f64>,
}

impl Wiring {
    pub(super) fn new(machine: &Machine) -> Self {
        let graph = machine.graph();
        let roles = machine.roles().to_vec();
        let is_hidden = |unit: usize| roles[unit] == Role::Hidden;
        let (hidden, observed) = (0..machine.unit_count()).partition(|&unit| is_hidden(unit));
        let (mut offsets, mut around) = (vec![0], Vec::new());
        for unit in 0..machine.unit_count() {
            around.extend(graph.neighbours(unit).map(|(other, edge)| (other as u32, edge as u32)));
            offsets.push(around.len());
        }
        Self {
            has_hidden_links: graph.edges().iter().any(|&(a, b)| is_hidden(a) && is_hidden(b)),
            ends: graph.edges().to_vec(),
            level: Level::new(),
            roles,
            observed,
            hidden,
            offsets,
            around,
        }
    }

    /// The bytes of the sums and states of all pieces, and of parameters, velocities, sums and machines before and after an iteration.
    pub(super) fn bytes(machine: &Machine) -> u128 {
        let (units, edges) = (machine.unit_count() as u128, machine.graph().edges().len() as u128);
        let pieces = PIECES as u128 + 1;
        8 * pieces * (edges + units)
            + pieces * units * 2 * size_of::<Means>() as u128
            + 40 * edges
            + 64 * (edges + units)
    }

    /// Sums over some rows, each with its share of the weight of all rows.
    pub(super) fn sums(&self, machine: &Machine, data: &Data, rows: &[u32], away: Away) -> Sums {
        let temperature = machine.temperature();
        let numbers = Numbers {
            couplings: self
                .around
                .iter()
                .map(|&(_, edge)| machine.weights()[edge as usize] / temperature)
                .collect(),
            biases: machine.biases().iter().map(|bias| bias / temperature).collect(),
        };
        // Cut by the work alone, and added up in order: the same sums on any number of threads.
        let chunks = rows.len().div_ceil(CHUNK);
        let work = rows.len() * self.around.len().max(1) * (away.steps + 2);
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
        let mut sums = Sums::zero(self.ends.len() + self.roles.len());
        for part in &parts {
            sums.merge(part);
        }
        sums
    }

    #[inline(always)]
    fn sums_of<S: Simd>(&self, simd: S, numbers: &Numbers, data: &Data, rows: &[u32], away: Away) -> Sums {
        let mut sums = Sums::zero(self.ends.len() + self.roles.len());
        let mut given = vec![[Lane::ZERO; GROUPS]; self.roles.len()];
        let mut means = given.clone();
        for rows in rows.chunks(CHUNK) {
            cancel::point();
            let mut shares = [Lane::ZERO; GROUPS];
            for k in 0..CHUNK {
                // Lanes that are left over repeat the first row, without weight.
                let row = rows.get(k).copied().unwrap_or(rows[0]);
                let (group, lane) = (k / LANES, k % LANES);
                shares[group].0[lane] = if k < rows.len() { data.shares[row as usize] } else { 0.0 };
                for (&unit, &cell) in self.observed.iter().zip(data.row(row)) {
                    given[unit][group].0[lane] = f64::from(cell);
                }
            }
            means.copy_from_slice(&given);
            self.settle(simd, numbers, data.has_gaps, &given, &mut means, &mut sums);
            sums.value += self.value(simd, numbers, &given, &means, &shares);
            self.add_moments(simd, &means, &shares, 1.0, &mut sums.moments);
            for &unit in self.observed.iter().filter(|&&unit| self.roles[unit] == Role::Visible) {
                given[unit] = [Lane::ZERO; GROUPS];
            }
            for _ in 0..away.steps {
                for &unit in self.observed.iter().chain(&self.hidden) {
                    self.update(simd, numbers, unit, &given, &mut means, away.damping);
                }
            }
            self.add_moments(simd, &means, &shares, -1.0, &mut sums.moments);
        }
        sums
    }

    /// The fixed point of hidden units and missing cells given the rest, from means of 0 on.
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
        let observed: &[usize] = if has_gaps { &self.observed } else { &[] };
        let is_direct = !has_gaps && !self.has_hidden_links;
        for sweep in 1..=if is_direct { 1 } else { MOST_SWEEPS } {
            let mut change = f64x8::splat(simd, 0.0);
            // Hidden units first: missing cells learn from them what they know of the row.
            for &unit in self.hidden.iter().chain(observed) {
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
        let slots = self.offsets[unit]..self.offsets[unit + 1];
        for (&(other, _), &coupling) in self.around[slots.clone()].iter().zip(&numbers.couplings[slots]) {
            let coupling = f64x8::splat(simd, coupling);
            for group in 0..GROUPS {
                field[group] = means[other as usize][group].load(simd).mul_add(coupling, field[group]);
            }
        }
        field
    }

    /// Move a unit to the mean in its field where it is not clamped; by how much it changed.
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
        for &unit in self.observed.iter().filter(|&&unit| self.roles[unit] == Role::Visible) {
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

    /// Add the weighted moments of all edges, then of all units.
    #[inline(always)]
    fn add_moments<S: Simd>(&self, simd: S, means: &[Means], shares: &Means, sign: f64, moments: &mut [f64]) {
        let (pairs, singles) = moments.split_at_mut(self.ends.len());
        let sign = f64x8::splat(simd, sign);
        let mut edge = 0;
        for unit in 0..self.roles.len() {
            let mut own = [sign; GROUPS];
            let mut total = f64x8::splat(simd, 0.0);
            for group in 0..GROUPS {
                own[group] = sign * shares[group].load(simd) * means[unit][group].load(simd);
                total += own[group];
            }
            singles[unit] += total.to_array().iter().sum::<f64>();
            // Edges are in lexicographic order: those to higher units follow upon each other.
            while edge < self.ends.len() && self.ends[edge].0 == unit {
                let other = &means[self.ends[edge].1];
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
