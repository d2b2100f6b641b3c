//! The curvature of a pseudo-likelihood, unit by unit.
//!
//! The pseudo-likelihood is a sum over units. The term of unit i has the curvature
//! `A_i = ⟨(1 − tanh² h_i) s sᵀ⟩`, with s the other units and +1. It is initialised as
//! `⟨1 − tanh² h_i⟩ ⟨s sᵀ⟩`: the second moments are the same for all units and steps, and are
//! counted once. After a step each A_i is corrected to agree with the change of its term's gradient
//! (the BFGS formula for each term of a sum: Griewank and Toint 1982): one evaluation gives as many
//! corrections as there are units, and a fit needs few.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};
use serde::{Deserialize, Serialize};

use super::gain::{Parts, PseudoGain};
use super::gaussian::Regressions;
use super::responses::total;
use crate::cancel;
use crate::learn::pair_counts::{Counts, PairCounts};
use crate::numeric::dense::multiply;
use crate::numeric::lanes::LANES;
use crate::numeric::stable::log_cosh;
use crate::optimize::memory::add;
use crate::optimize::{Evaluated, Model};
use crate::{Budget, Machine, Result, Table};

/// Steps that are remembered before a restart.
const STEPS: usize = 16;

/// The equations for a step are solved until this share of the slope is left,
const LEFT: f64 = 0.05;

/// or for so many iterations.
const ITERATIONS: usize = 100;

/// A restart follows if ⟨1 − tanh²⟩ of the units changed by this factor, in the mean.
const CHANGE: f64 = 1.1;

/// Lower bound of ⟨1 − tanh²⟩: keeps steps finite where all rows are decided.
const LEAST_BEND: f64 = 1e-12;

/// Corrections with less curvature along the step than this share of the expected one are ignored.
const LEAST_RATIO: f64 = 1e-10;

/// The objective, with the initial curvature.
pub(super) struct Curvature<'a> {
    gain: &'a PseudoGain,
    moments: Moments,
    /// Whether the second moments are those of the rows without rounding.
    is_exact: bool,
    /// Whether the A_i are kept in full, or corrections to the initial ones.
    in_blocks: bool,
    /// Whether all pairs are joined, and there is no penalty.
    is_full: bool,
    level: Level,
}

/// ⟨s sᵀ⟩, last the constant unit +1.
enum Moments {
    Matrix { height: usize, numbers: Vec<f64> },
    Blocks(Vec<Vec<f64>>),
}

/// The current estimate of the curvature.
#[derive(Serialize, Deserialize)]
pub(super) struct Known {
    /// The initial ⟨1 − tanh²⟩ of each modelled unit.
    bends: Vec<f64>,
    terms: Terms,
    /// Where there are no couplings, a better step than that of the curvature.
    first: Option<Vec<f64>>,
}

#[derive(Serialize, Deserialize)]
enum Terms {
    /// In full, for conditionals of few numbers.
    Blocks(Vec<Vec<f64>>),
    /// As corrections to the initial ones.
    Corrections(Vec<Correction>),
}

/// For each unit a multiple of `v vᵀ`, v being the unit's part of a vector.
#[derive(Serialize, Deserialize)]
struct Correction {
    vector: Vec<f64>,
    factors: Vec<f64>,
}

impl<'a> Curvature<'a> {
    /// Counts the moments of a table.
    ///
    /// # Errors
    /// A table that does not fit the machine, more memory than the budget has.
    pub(super) fn new(gain: &'a PseudoGain, start: &Machine, table: &Table, budget: Budget) -> Result<Self> {
        let layout = &gain.layout;
        let (units, height) = (start.unit_count(), start.unit_count() + 1);
        let squares: u128 = layout.units.iter().map(|range| (range.len() as u128).pow(2)).sum();
        let of_moments = if gain.others.is_none() { (height as u128).pow(2) } else { squares };
        let of_steps = (2 * STEPS) as u128 * layout.size as u128;
        let numbers = of_moments + squares.min(of_steps) + 8 * layout.size as u128;
        let cells = units as u128 * table.distinct_count() as u128;
        budget.check(super::NAME, 8 * numbers + cells, || format!("{numbers} numbers for the curvature"))?;
        let mut columns = vec![0; units];
        for (column, unit) in table.positions_in(start)?.into_iter().enumerate() {
            columns[unit] = column;
        }
        let counts = PairCounts::new(table, &columns);
        let moments = match &gain.others {
            None => {
                let all: Vec<usize> = (0..height).collect();
                Moments::Matrix { height, numbers: second_moments(&counts, units, &all) }
            }
            Some(others) => {
                let block = |range: &Range<usize>| second_moments(&counts, units, &others[range.clone()]);
                Moments::Blocks(layout.units.iter().map(block).collect())
            }
        };
        let is_exact = counts.is_exact();
        let is_full = gain.l2 == 0.0 && start.graph().edges().len() == units * units.saturating_sub(1) / 2;
        Ok(Self { gain, moments, is_exact, in_blocks: squares <= of_steps, is_full, level: Level::new() })
    }

    /// A_i times the part of each modelled unit.
    #[inline(always)]
    fn times<S: Simd>(&self, simd: S, known: &Known, parts: &[f64]) -> Vec<f64> {
        let units = &self.gain.layout.units;
        let mut product = vec![0.0; parts.len()];
        match (&known.terms, &self.moments) {
            (Terms::Blocks(blocks), _) | (_, Moments::Blocks(blocks)) => {
                for (range, block) in units.iter().zip(blocks) {
                    multiply_small(block, &parts[range.clone()], &mut product[range.clone()]);
                }
            }
            (_, Moments::Matrix { height, numbers }) => {
                multiply(&mut product, numbers, parts, *height, *height, false);
            }
        }
        let Terms::Corrections(corrections) = &known.terms else { return product };
        for (range, &bend) in units.iter().zip(&known.bends) {
            product[range.clone()].iter_mut().for_each(|x| *x *= bend);
        }
        for Correction { vector, factors } in corrections {
            for (range, &factor) in units.iter().zip(factors) {
                let vector = &vector[range.clone()];
                let share = factor * inner(simd, vector, &parts[range.clone()]);
                add(&mut product[range.clone()], share, vector);
            }
        }
        product
    }

    /// The curvature of the whole times a vector of parameters.
    #[inline(always)]
    fn bend<S: Simd>(&self, simd: S, known: &Known, vector: &[f64]) -> Vec<f64> {
        let (layout, factor) = (&self.gain.layout, 1.0 / self.gain.temperature);
        let mut bent = layout.gather(&self.times(simd, known, &layout.spread(vector, factor)), factor);
        let couplings = self.gain.couplings();
        add(&mut bent[..couplings], self.gain.l2, &vector[..couplings]);
        bent
    }

    #[inline(always)]
    fn solve<S: Simd>(&self, simd: S, known: &Known, slope: &[f64], is_free: &[bool]) -> Vec<f64> {
        let gain = self.gain;
        let diagonal = gain.conditioning.pseudo_information(&known.bends, gain.l2, gain.temperature);
        // Iterations in centred coordinates, where few are needed also for rare events.
        let scaled = |rest: &[f64]| -> Vec<f64> {
            let mut scaled = rest.to_vec();
            gain.conditioning.divide(&mut scaled, &diagonal, |k| is_free[k]);
            scaled
        };
        let mut step = vec![0.0; slope.len()];
        let mut rest = slope.to_vec();
        keep(&mut rest, is_free);
        let mut direction = scaled(&rest);
        let mut height = inner(simd, &rest, &direction);
        let enough = LEFT * LEFT * height;
        for _ in 0..ITERATIONS {
            cancel::point();
            if height <= enough {
                break;
            }
            let mut bent = self.bend(simd, known, &direction);
            keep(&mut bent, is_free);
            let curvature = inner(simd, &direction, &bent);
            // Rounding may leave none in a direction that the rows do not determine.
            if curvature <= 0.0 {
                break;
            }
            let length = height / curvature;
            add(&mut step, length, &direction);
            add(&mut rest, -length, &bent);
            let next = scaled(&rest);
            let left = inner(simd, &rest, &next);
            let share = left / height;
            direction.iter_mut().zip(next).for_each(|(d, x)| *d = x + share * *d);
            height = left;
        }
        step
    }

    /// Corrects the estimate by a step.
    #[inline(always)]
    fn correct<S: Simd>(&self, simd: S, known: &mut Known, step: &[f64], before: &[f64], after: &[f64]) {
        let layout = &self.gain.layout;
        let moved = layout.spread(step, 1.0 / self.gain.temperature);
        let expected = self.times(simd, known, &moved);
        let found: Vec<f64> = before.iter().zip(after).map(|(x, y)| x - y).collect();
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for range in &layout.units {
            let moved = &moved[range.clone()];
            let of_old = inner(simd, moved, &expected[range.clone()]);
            let of_new = inner(simd, moved, &found[range.clone()]);
            let is_usable = of_old > 0.0 && of_new > LEAST_RATIO * of_old;
            old.push(if is_usable { -1.0 / of_old } else { 0.0 });
            new.push(if is_usable { 1.0 / of_new } else { 0.0 });
        }
        for (vector, factors) in [(expected, old), (found, new)] {
            match &mut known.terms {
                Terms::Blocks(blocks) => {
                    for ((range, block), factor) in layout.units.iter().zip(blocks).zip(factors) {
                        let vector = &vector[range.clone()];
                        for (column, x) in block.chunks_exact_mut(range.len()).zip(vector) {
                            add(column, factor * x, vector);
                        }
                    }
                }
                Terms::Corrections(corrections) => corrections.push(Correction { vector, factors }),
            }
        }
    }

    /// The objective without couplings, which the second moments determine.
    fn without_couplings(&self, parameters: &[f64]) -> Option<Evaluated<Parts>> {
        let couplings = self.gain.couplings();
        let Moments::Matrix { height, numbers } = &self.moments else { return None };
        if !self.is_exact || parameters[..couplings].iter().any(|&w| w != 0.0) {
            return None;
        }
        let factor = 1.0 / self.gain.temperature;
        let mean = |unit: usize| numbers[unit * height + height - 1];
        let mut value = 0.0;
        let layout = &self.gain.layout;
        let slopes = Vec::with_capacity(layout.size);
        let mut parts = Parts { slopes, bends: Vec::new(), alone: Some(parameters[couplings..].to_vec()) };
        for (&unit, bias) in self.gain.trained.biases.iter().zip(&parameters[couplings..]) {
            let (field, column) = (factor * bias, unit * height..(unit + 1) * height);
            value += field * mean(unit) - log_cosh(field) - std::f64::consts::LN_2;
            let tanh = field.tanh();
            let others = numbers[column].iter().zip(&numbers[height * (height - 1)..]);
            parts.slopes.extend(others.map(|(moment, mean)| moment - tanh * mean));
            parts.bends.push(1.0 - tanh * tanh);
        }
        Some(Evaluated { value, gradient: layout.gather(&parts.slopes, factor), parts })
    }
}

impl Curvature<'_> {
    /// From no couplings to those of normally distributed fields.
    fn first_step(&self, biases: &[f64]) -> Option<Vec<f64>> {
        let Moments::Matrix { height, numbers } = &self.moments else { return None };
        let found = Regressions::of(*height, numbers)?;
        let gain = self.gain;
        let means = &numbers[(height - 1) * height..];
        // Two estimates of a coupling count by their information.
        let mut shares = vec![0.0; *height];
        for &unit in &gain.trained.biases {
            shares[unit] = found.bends[unit] / gain.conditioning.variance(unit);
        }
        let mut fields: Vec<f64> = gain.trained.biases.iter().map(|&unit| found.field(unit)).collect();
        let mut places = vec![None; *height];
        for (place, &unit) in gain.trained.biases.iter().enumerate() {
            places[unit] = Some(place);
        }
        let mut step = Vec::with_capacity(gain.couplings() + fields.len());
        for (a, b) in gain.trained.ends() {
            let both = shares[a] * found.coupling(a, b) + shares[b] * found.coupling(b, a);
            let coupling = both / (shares[a] + shares[b]);
            for (unit, other) in [(a, b), (b, a)] {
                if let Some(place) = places[unit] {
                    fields[place] -= coupling * means[other];
                }
            }
            step.push(coupling * gain.temperature);
        }
        step.extend(fields.iter().zip(biases).map(|(field, bias)| field * gain.temperature - bias));
        step.iter().all(|x| x.is_finite()).then_some(step)
    }
}

impl Model for Curvature<'_> {
    type Parts = Parts;
    type Known = Known;

    fn evaluate(&self, parameters: &[f64]) -> Result<Evaluated<Parts>> {
        self.without_couplings(parameters).map_or_else(|| self.gain.evaluate(parameters), Ok)
    }

    fn begin(&self, here: &Evaluated<Parts>) -> Known {
        let bends: Vec<f64> = here.parts.bends.iter().map(|bend| bend.max(LEAST_BEND)).collect();
        let block = |(k, &bend): (usize, &f64)| {
            let moments = match &self.moments {
                Moments::Matrix { numbers, .. } => numbers,
                Moments::Blocks(all) => &all[k],
            };
            moments.iter().map(|moment| bend * moment).collect()
        };
        let terms = if self.in_blocks {
            Terms::Blocks(bends.iter().enumerate().map(block).collect())
        } else {
            Terms::Corrections(Vec::new())
        };
        let first = here.parts.alone.as_ref().filter(|_| self.is_full);
        Known { bends, terms, first: first.and_then(|biases| self.first_step(biases)) }
    }

    fn newton_step(&self, known: &Known, slope: &[f64], is_free: &[bool]) -> Vec<f64> {
        if let Some(step) = known.first.as_ref().filter(|_| is_free.iter().all(|&free| free)) {
            return step.clone();
        }
        dispatch!(self.level, simd => self.solve(simd, known, slope, is_free))
    }

    fn learn(&self, known: &mut Known, step: &[f64], before: &Evaluated<Parts>, after: &Evaluated<Parts>) {
        let is_full = matches!(&known.terms, Terms::Corrections(all) if all.len() >= 2 * STEPS);
        known.first = None;
        if is_full || known.change(&after.parts.bends) > CHANGE.ln() {
            *known = self.begin(after);
        }
        let (before, after) = (&before.parts.slopes, &after.parts.slopes);
        dispatch!(self.level, simd => self.correct(simd, known, step, before, after));
    }

    fn fits(&self, known: &Known, parts: &Parts) -> bool {
        let layout = &self.gain.layout;
        let modelled = layout.units.len();
        let fits = match &known.terms {
            Terms::Blocks(blocks) => {
                let sizes = layout.units.iter().map(|range| range.len() * range.len());
                self.in_blocks && blocks.iter().map(Vec::len).eq(sizes)
            }
            Terms::Corrections(all) => {
                let is_whole =
                    |one: &Correction| one.vector.len() == layout.size && one.factors.len() == modelled;
                !self.in_blocks && all.iter().all(is_whole)
            }
        };
        fits && parts.slopes.len() == layout.size
            && known.first.iter().all(|step| step.len() == self.gain.couplings() + modelled)
            && [&known.bends, &parts.bends].iter().all(|x| x.len() == modelled)
    }
}

impl Known {
    /// The mean absolute logarithm of the ratios of the bends to the initial ones.
    fn change(&self, bends: &[f64]) -> f64 {
        let logs = self.bends.iter().zip(bends).map(|(old, new)| (new.max(LEAST_BEND) / old).ln().abs());
        logs.sum::<f64>() / bends.len().max(1) as f64
    }
}

/// `Σ x y`, lanes first.
#[inline(always)]
fn inner<S: Simd>(simd: S, x: &[f64], y: &[f64]) -> f64 {
    let mut sum = f64x8::splat(simd, 0.0);
    let (many, rest) = x.split_at(x.len() / LANES * LANES);
    for (x, y) in many.chunks_exact(LANES).zip(y.chunks_exact(LANES)) {
        sum = f64x8::from_slice(simd, x).mul_add(f64x8::from_slice(simd, y), sum);
    }
    total(sum) + rest.iter().zip(&y[many.len()..]).map(|(x, y)| x * y).sum::<f64>()
}

/// `out ← out + matrix · x` for a square matrix in columns, too small for a packed product.
#[inline(always)]
fn multiply_small(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    for (column, &x) in matrix.chunks_exact(out.len().max(1)).zip(x) {
        out.iter_mut().zip(column).for_each(|(out, m)| *out += m * x);
    }
}

/// Sets parameters that do not move to 0.
#[inline(always)]
fn keep(vector: &mut [f64], is_free: &[bool]) {
    vector.iter_mut().zip(is_free).for_each(|(x, &free)| *x = if free { *x } else { 0.0 });
}

/// ⟨s_a s_b⟩ of some units, a column for each; the unit after the last is the constant +1.
fn second_moments(counts: &PairCounts, units: usize, members: &[usize]) -> Vec<f64> {
    let moment = |a: usize, b: usize| {
        if a == b {
            return 1.0;
        }
        let (a, b) = (a.min(b), a.max(b));
        let of = |Counts { total, first, second, both }: Counts, is_mean: bool| {
            let up = if is_mean { first } else { total + 2 * both - first - second };
            2.0 * (up as f64 / total as f64) - 1.0
        };
        if b == units { of(counts.of(a, a), true) } else { of(counts.of(a, b), false) }
    };
    let size = members.len();
    let mut moments = vec![1.0; size * size];
    for (i, &a) in members.iter().enumerate() {
        for (j, &b) in members.iter().enumerate().take(i) {
            let found = moment(a, b);
            moments[i * size + j] = found;
            moments[j * size + i] = found;
        }
    }
    moments
}
