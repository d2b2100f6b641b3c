//! The pseudo-likelihood of rows along lines: every unit given all others.

use std::sync::Arc;

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};
use rand_chacha::ChaCha8Rng;

use super::line::{Frame, Line, Parameters, Slopes, Target};
use super::rows::Rows;
use crate::Result;
use crate::numeric::lanes::{LANES, exp_nonpositive, ln, ln_two_cosh};

/// The logarithm of the pseudo-likelihood (Besag 1975), `Σ_r c_r Σ_i ln P(s_ri | all others)`.
///
/// A step δ along a line changes the field of a unit in row r by `x_r = δ d_r`, and
///
/// ```text
/// ln P(s | h + x) − ln P(s | h) = s x − ln(P(+1 | h) e^x + P(−1 | h) e^(−x))
/// ```
///
/// so that with both probabilities at hand no field is needed. All terms are positive: nothing is
/// lost where a probability is small.
pub(super) struct Conditionals<'a> {
    frame: &'a Frame,
    level: Level,
    rows: Rows,
    /// `P(+1 | others)` and `P(−1 | others)`, unit after unit, for each its rows.
    up: Vec<f64>,
    down: Vec<f64>,
    /// For each trained coupling `Σ c s_a (s_b − m_b)` and `Σ c s_b (s_a − m_a)`.
    pulls: Arc<Vec<[f64; 2]>>,
    sums: Arc<Vec<f64>>,
    average: f64,
}

impl<'a> Conditionals<'a> {
    pub(super) fn new(frame: &'a Frame, rows: Rows) -> Self {
        let size = frame.is_modelled.len() * rows.count;
        let mut made = Self {
            frame,
            level: Level::new(),
            rows,
            up: vec![0.5; size],
            down: vec![0.5; size],
            pulls: Arc::default(),
            sums: Arc::default(),
            average: 0.0,
        };
        made.sum_up();
        made
    }

    fn sum_up(&mut self) {
        let (rows, frame) = (&self.rows, self.frame);
        let sums: Vec<f64> = (0..frame.is_modelled.len()).map(|unit| rows.sum(unit)).collect();
        let of_pair = |&(a, b): &(usize, usize)| {
            let both = rows.product(a, b);
            [both - frame.centre[b] * sums[a], both - frame.centre[a] * sums[b]]
        };
        self.pulls = Arc::new(frame.ends.iter().map(of_pair).collect());
        self.sums = Arc::new(sums);
    }

    /// The conditionals that change along a line: the unit, the column whose spins its field
    /// follows, that column's centre, and the sum of what data add per step.
    fn terms(&self, line: Line) -> impl Iterator<Item = Term> {
        let terms = match line {
            Line::Coupling(k) => {
                let (a, b) = self.frame.ends[k];
                let [pull_a, pull_b] = self.pulls[k];
                let of = |own: usize, other: usize, pull: f64| Term {
                    own,
                    other,
                    centre: self.frame.centre[other],
                    pull,
                };
                [Some(of(a, b, pull_a)), Some(of(b, a, pull_b))]
            }
            // The column behind all others is always +1.
            Line::Bias(own) => {
                let other = self.frame.is_modelled.len();
                [Some(Term { own, other, centre: 0.0, pull: self.sums[own] }), None]
            }
        };
        terms.into_iter().flatten().filter(|term| self.frame.is_modelled[term.own])
    }

    fn columns(&self, term: &Term) -> Columns<'_> {
        let (count, own) = (self.rows.count, term.own);
        Columns {
            up: &self.up[own * count..(own + 1) * count],
            down: &self.down[own * count..(own + 1) * count],
            other: self.rows.unit(term.other),
            weights: &self.rows.weights,
        }
    }

    /// Probabilities from fields.
    #[inline(always)]
    fn compute<S: Simd>(&mut self, simd: S, at: &Parameters) -> f64 {
        let (count, frame) = (self.rows.count, self.frame);
        let units = frame.is_modelled.len();
        let mut fields: Vec<f64> = at.biases.iter().flat_map(|&b| std::iter::repeat_n(b, count)).collect();
        for (&(a, b), &w) in frame.ends.iter().zip(&at.weights).filter(|(_, w)| **w != 0.0) {
            for (own, other) in [(a, b), (b, a)] {
                let spins = self.rows.unit(other);
                let weight = f64x8::splat(simd, w);
                for (field, spins) in fields[own * count..(own + 1) * count]
                    .chunks_exact_mut(LANES)
                    .zip(spins.chunks_exact(LANES))
                {
                    let sum = f64x8::from_slice(simd, spins).mul_add(weight, f64x8::from_slice(simd, field));
                    sum.store_slice(field);
                }
            }
        }
        let one = f64x8::splat(simd, 1.0);
        let zero = f64x8::splat(simd, 0.0);
        let mut value = zero;
        for unit in (0..units).filter(|&unit| frame.is_modelled[unit]) {
            for row in (0..count).step_by(LANES) {
                let place = unit * count + row;
                let field = f64x8::from_slice(simd, &fields[place..place + LANES]);
                let spins = f64x8::from_slice(simd, &self.rows.unit(unit)[row..row + LANES]);
                let weights = f64x8::from_slice(simd, &self.rows.weights[row..row + LANES]);
                let rare = exp_nonpositive(simd, field.abs() * f64x8::splat(simd, -2.0));
                let likely = one / (one + rare);
                let rare = rare * likely;
                let is_up = field.simd_ge(zero);
                is_up.select(likely, rare).store_slice(&mut self.up[place..place + LANES]);
                is_up.select(rare, likely).store_slice(&mut self.down[place..place + LANES]);
                value += weights * (spins * field - ln_two_cosh(simd, field));
            }
        }
        total(value) / self.rows.total_weight
    }
}

struct Term {
    own: usize,
    other: usize,
    centre: f64,
    pull: f64,
}

#[derive(Clone, Copy)]
struct Columns<'a> {
    up: &'a [f64],
    down: &'a [f64],
    other: &'a [f64],
    weights: &'a [f64],
}

/// `e^x` and `e^(−x)` of the two sizes that x has, as the other unit is +1 or −1; and `d = x/δ`.
struct Factors<S: Simd> {
    raised: [f64x8<S>; 2],
    lowered: [f64x8<S>; 2],
    distance: [f64x8<S>; 2],
}

impl<S: Simd> Factors<S> {
    #[inline(always)]
    fn new(simd: S, centre: f64, by: f64) -> Self {
        let distances = [1.0 - centre, -1.0 - centre];
        Self {
            raised: distances.map(|d| f64x8::splat(simd, (by * d).exp())),
            lowered: distances.map(|d| f64x8::splat(simd, (-by * d).exp())),
            distance: distances.map(|d| f64x8::splat(simd, d)),
        }
    }
}

/// `Σ c ln(P₊ e^x + P₋ e^(−x))`.
#[inline(always)]
fn value<S: Simd>(simd: S, columns: Columns<'_>, centre: f64, by: f64) -> f64 {
    let factors = Factors::new(simd, centre, by);
    let zero = f64x8::splat(simd, 0.0);
    let mut sum = zero;
    for row in (0..columns.weights.len()).step_by(LANES) {
        let load = |x: &[f64]| f64x8::from_slice(simd, &x[row..row + LANES]);
        let is_up = load(columns.other).simd_ge(zero);
        let raised = is_up.select(factors.raised[0], factors.raised[1]);
        let lowered = is_up.select(factors.lowered[0], factors.lowered[1]);
        let whole = load(columns.up).mul_add(raised, load(columns.down) * lowered);
        sum = load(columns.weights).mul_add(ln(simd, whole), sum);
    }
    total(sum)
}

/// The same, with its first and second derivatives by δ.
#[inline(always)]
fn slopes<S: Simd>(simd: S, columns: Columns<'_>, centre: f64, by: f64) -> [f64; 3] {
    let factors = Factors::new(simd, centre, by);
    let (zero, one) = (f64x8::splat(simd, 0.0), f64x8::splat(simd, 1.0));
    let (mut sum, mut first, mut second) = (zero, zero, zero);
    for row in (0..columns.weights.len()).step_by(LANES) {
        let load = |x: &[f64]| f64x8::from_slice(simd, &x[row..row + LANES]);
        let is_up = load(columns.other).simd_ge(zero);
        let raised = load(columns.up) * is_up.select(factors.raised[0], factors.raised[1]);
        let lowered = load(columns.down) * is_up.select(factors.lowered[0], factors.lowered[1]);
        let distance = is_up.select(factors.distance[0], factors.distance[1]);
        let weight = load(columns.weights);
        let whole = raised + lowered;
        let mean = (raised - lowered) / whole;
        sum = weight.mul_add(ln(simd, whole), sum);
        first = (weight * distance).mul_add(mean, first);
        second = (weight * distance * distance).mul_add(one - mean * mean, second);
    }
    [total(sum), total(first), total(second)]
}

/// Probabilities after a step.
#[inline(always)]
fn follow<S: Simd>(simd: S, (up, down): (&mut [f64], &mut [f64]), other: &[f64], centre: f64, by: f64) {
    let factors = Factors::new(simd, centre, by);
    let (zero, one) = (f64x8::splat(simd, 0.0), f64x8::splat(simd, 1.0));
    for row in (0..other.len()).step_by(LANES) {
        let place = row..row + LANES;
        let is_up = f64x8::from_slice(simd, &other[place.clone()]).simd_ge(zero);
        let raised =
            f64x8::from_slice(simd, &up[place.clone()]) * is_up.select(factors.raised[0], factors.raised[1]);
        let lowered = f64x8::from_slice(simd, &down[place.clone()])
            * is_up.select(factors.lowered[0], factors.lowered[1]);
        let inverse = one / (raised + lowered);
        (raised * inverse).store_slice(&mut up[place.clone()]);
        (lowered * inverse).store_slice(&mut down[place]);
    }
}

#[inline(always)]
fn total<S: Simd>(x: f64x8<S>) -> f64 {
    x.to_array().iter().sum()
}

impl Target for Conditionals<'_> {
    fn slopes(&self, line: Line, by: f64) -> Slopes {
        let of_term = |term: Term| {
            let columns = self.columns(&term);
            let [sum, first, second] = dispatch!(self.level, simd => slopes(simd, columns, term.centre, by));
            Slopes { value: by * term.pull - sum, first: term.pull - first, bend: second }
        };
        self.terms(line).map(of_term).fold(Slopes::default(), |sum, term| sum + term)
    }

    fn value(&self, line: Line, by: f64) -> f64 {
        let of_term = |term: Term| {
            let columns = self.columns(&term);
            by * term.pull - dispatch!(self.level, simd => value(simd, columns, term.centre, by))
        };
        self.terms(line).map(of_term).sum()
    }

    fn step(&mut self, line: Line, by: f64, _to: &Parameters) -> Result<()> {
        let terms: Vec<Term> = self.terms(line).collect();
        for Term { own, other, centre, .. } in terms {
            let count = self.rows.count;
            let (up, down) = (&mut self.up, &mut self.down);
            let own = own * count..(own + 1) * count;
            let columns = (&mut up[own.clone()], &mut down[own]);
            let other = self.rows.unit(other);
            dispatch!(self.level, simd => follow(simd, columns, other, centre, by));
        }
        Ok(())
    }

    fn renew(&mut self, at: &Parameters, random: &mut ChaCha8Rng) -> Result<()> {
        if self.rows.has_gaps() {
            self.rows.draw(self.frame, at, random);
            self.sum_up();
        }
        let level = self.level;
        self.average = dispatch!(level, simd => self.compute(simd, at));
        Ok(())
    }

    fn average(&self) -> f64 {
        self.average
    }

    fn drawn(&self) -> Vec<i8> {
        self.rows.drawn()
    }

    fn set_drawn(&mut self, cells: &[i8]) {
        self.rows.set_drawn(cells);
        self.sum_up();
    }
}
