//! Climbs the bound from one start: sweeps over the units, and extrapolations.
//!
//! Given λ and r, the means of a component do not enter the equations of another, nor does r. So
//! all components of a unit are updated at once, and the bound does not fall. The shares ω are
//! divided by a unit's old factors before its update and multiplied by the new ones after it.
//!
//! On plateaus, of which mixtures have many, consecutive sweeps make nearly the same step. After
//! two sweeps a long step along the last one is tried, and taken if it raises the bound.

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};

use super::bound::{Task, Terms};
use super::search::Found;
use super::state::{MOST_FIELD, MOST_TILT, State, probabilities, within};
use crate::cancel;
use crate::engine::{Iteration, VariationalSettings};
use crate::numeric::lanes::{LANES, ln, tanh};
use crate::numeric::stable::shares;

/// Sweeps at higher temperatures: components separate, and none dominates.
const WARM_SWEEPS: usize = 10;

/// Sweeps before each extrapolation.
const SWEEPS_BETWEEN: usize = 2;

/// The longest extrapolation, relative to the sweep before it.
const LONGEST: f64 = 1e5;

/// What an update of a unit changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    /// Whether smoothing distributions are updated,
    pub(super) smooth: bool,
    /// and means.
    pub(super) means: bool,
    /// The share of the old field that is kept.
    pub(super) damping: f64,
}

/// Buffers for one unit.
struct Scratch {
    /// ω without the unit's factors.
    cavity: Vec<f64>,
    pulls: Vec<f64>,
    /// `α_l (r_l(+) − r_l(−)) / S_l` of the unit, and `1 / S_l`.
    pushes: Vec<f64>,
    inverses: Vec<f64>,
    /// `Σ_k λ_k π_kl (r_k(+) − r_k(−))`, without the unit's factors.
    repulsions: Vec<f64>,
}

/// A mixture on its way from a start to a maximum of the bound.
pub(super) struct Climb<'a> {
    pub(super) task: Task<'a>,
    pub(super) state: State,
    pub(super) terms: Terms,
    scratch: Scratch,
    settings: &'a VariationalSettings,
    sweeps: usize,
    level: Level,
}

impl<'a> Climb<'a> {
    /// Starts from a state, whose probabilities have to be computed by [`renew`](Self::renew).
    pub(super) fn new(task: Task<'a>, state: State, settings: &'a VariationalSettings) -> Self {
        let each = || vec![0.0; state.width];
        let cavity = vec![0.0; state.components * state.width];
        let scratch = Scratch { cavity, pulls: each(), pushes: each(), inverses: each(), repulsions: each() };
        let terms = Terms::new(&state);
        Self { task, terms, scratch, settings, sweeps: 0, level: Level::new(), state }
    }

    /// Returns the bytes of a climb; during the check of the equations it has a copy of the state.
    pub(super) fn bytes(components: usize, units: usize) -> u128 {
        let scratch = 8 * components.next_multiple_of(LANES) as u128 * (components as u128 + 4);
        let point = State::bytes(components, units) / 3;
        2 * State::bytes(components, units) + Terms::bytes(components) + scratch + 3 * point
    }

    /// Computes the probabilities of the state.
    pub(super) fn renew(&mut self) {
        let level = self.level;
        dispatch!(level, simd => self.state.renew(simd));
    }

    /// Returns the bound and computes its terms.
    pub(super) fn evaluate(&mut self) -> f64 {
        let level = self.level;
        dispatch!(level, simd => self.terms.evaluate(simd, &self.task, &self.state))
    }

    /// Updates the mixing coefficients and every unit once; requires the terms of the state.
    /// Returns the largest change of a mixing coefficient or a mean.
    fn sweep(&mut self, least: f64) -> f64 {
        cancel::point();
        let level = self.level;
        let mixed = self.terms.mix(&mut self.state);
        dispatch!(level, simd => self.terms.share(simd, &self.state));
        self.sweeps += 1;
        let step = Step { smooth: true, means: true, damping: self.settings.damping };
        self.update_units(step, least).max(mixed)
    }

    /// Sweeps a few times at a higher temperature.
    pub(super) fn warm(&mut self) {
        for _ in 0..WARM_SWEEPS {
            self.evaluate();
            if self.sweep(VariationalSettings::WARM_TOLERANCE) <= VariationalSettings::WARM_TOLERANCE {
                return;
            }
        }
    }

    /// Sweeps and extrapolates until the equations hold or sweeps run out.
    pub(super) fn settle(mut self) -> Found {
        let mut left = self.settings.max_sweeps;
        let mut change = self.settings.tolerance;
        loop {
            self.rise(change, &mut left);
            let bound = self.evaluate();
            let residual = self.residual();
            // Equations may be violated by more than the last change, which rounding limits.
            change /= 8.0;
            let converged = residual <= self.settings.tolerance;
            if converged || left == 0 || change < f64::EPSILON / 64.0 {
                let damping = self.settings.damping;
                let iteration = Iteration { sweeps: self.sweeps, residual, damping, oscillated: false };
                return Found { state: self.state, bound, converged, iteration };
            }
        }
    }

    /// Sweeps until nothing changes by more than `least`, or no sweeps are left.
    fn rise(&mut self, least: f64, left: &mut usize) {
        // Extrapolations are longer after each success, shorter after each failure.
        let mut stride = 1.0;
        let mut since = 0;
        let mut has_terms = false;
        while *left > 0 {
            if !has_terms {
                self.evaluate();
            }
            let before = Point::of(&self.state);
            *left -= 1;
            if self.sweep(self.settings.tolerance) <= least {
                return;
            }
            since += 1;
            has_terms = since == SWEEPS_BETWEEN;
            if has_terms {
                since = 0;
                let bound = self.evaluate();
                let after = Point::of(&self.state);
                after.beyond(&before, stride).put(&mut self.state);
                self.renew();
                if self.evaluate() > bound {
                    stride = (2.0 * stride).min(LONGEST);
                } else {
                    stride = (0.25 * stride).max(1.0);
                    after.put(&mut self.state);
                    self.renew();
                    has_terms = false;
                }
            }
        }
    }

    /// Returns the largest violation of an equation; requires the terms of the state.
    pub(super) fn residual(&mut self) -> f64 {
        let mixed = self.terms.mix(&mut self.state.clone());
        mixed.max(self.violation(self.settings.tolerance))
    }

    /// Updates every unit once. Returns the largest change of a mean.
    pub(super) fn update_units(&mut self, step: Step, least: f64) -> f64 {
        let level = self.level;
        dispatch!(level, simd => {
            let mut most = f64x8::splat(simd, 0.0);
            for unit in 0..self.state.units {
                most = most.max(self.renew_unit(simd, unit, step, least));
            }
            most.reduce_max()
        })
    }

    /// Returns the largest change if each unit by itself were updated.
    pub(super) fn violation(&mut self, least: f64) -> f64 {
        let (kept, shares) = (self.state.clone(), self.terms.shares.clone());
        let step = Step { smooth: true, means: true, damping: 0.0 };
        let level = self.level;
        dispatch!(level, simd => {
            let mut most = f64x8::splat(simd, 0.0);
            for unit in 0..kept.units {
                most = most.max(self.renew_unit(simd, unit, step, least));
                self.state.copy_unit(&kept, unit);
                self.terms.shares.copy_from_slice(&shares);
            }
            most.reduce_max()
        })
    }

    /// Updates one unit in all components. Returns the largest change of a mean in each lane, of
    /// components and smoothing distributions with a mixing coefficient of at least `least`.
    #[inline(always)]
    pub(super) fn renew_unit<S: Simd>(&mut self, simd: S, unit: usize, step: Step, least: f64) -> f64x8<S> {
        let Self { task, state, terms, scratch, .. } = self;
        let (width, components) = (state.width, state.components);
        let number = |x: f64| f64x8::splat(simd, x);
        let load = |from: &[f64], at: usize| f64x8::from_slice(simd, &from[at..at + LANES]);
        let first = unit * width;
        let [q_up, q_down] = &mut state.probabilities.q;
        let [r_up, r_down] = &mut state.probabilities.r;
        let mut most = number(0.0);

        // r(s) = q(s) / g(s) with g(s) = Σ_k ω_lk q_k(s) / f_lk, and f_lk = r_l(+) q_k(+) + r_l(−)
        // q_k(−).
        for lane in (0..width).step_by(LANES) {
            let at = first + lane;
            let (mut up, mut down) = (load(r_up, at), load(r_down, at));
            let (mut g_up, mut g_down) = (number(0.0), number(0.0));
            for k in 0..components {
                let (q_up, q_down) = (number(q_up[first + k]), number(q_down[first + k]));
                let share = load(&terms.shares, k * width + lane);
                let cavity = share / up.mul_add(q_up, down * q_down);
                cavity.store_slice(&mut scratch.cavity[k * width + lane..][..LANES]);
                g_up = cavity.mul_add(q_up, g_up);
                g_down = cavity.mul_add(q_down, g_down);
            }
            if step.smooth {
                let (a, b) = (load(q_up, at) * g_down, load(q_down, at) * g_up);
                let tilt = within(number(0.5) * ln(simd, a / b), number(MOST_TILT));
                tilt.store_slice(&mut state.tilts[at..at + LANES]);
                let before = up - down;
                [up, down] = probabilities(simd, tilt);
                let counts = load(&state.weights, lane).simd_ge(number(least));
                most = most.max(counts.select((up - down - before).abs(), number(0.0)));
                up.store_slice(&mut r_up[at..at + LANES]);
                down.store_slice(&mut r_down[at..at + LANES]);
            }
            // λ follows: the shares add up to 1.
            let inverse = number(1.0) / up.mul_add(g_up, down * g_down);
            inverse.store_slice(&mut scratch.inverses[lane..lane + LANES]);
            let push = load(&state.weights, lane) * (up - down) * inverse;
            push.store_slice(&mut scratch.pushes[lane..lane + LANES]);
        }

        if step.means {
            for k in 0..components {
                let mut sum = number(0.0);
                for lane in (0..width).step_by(LANES) {
                    sum = load(&scratch.cavity, k * width + lane).mul_add(load(&scratch.pushes, lane), sum);
                }
                scratch.repulsions[k] = sum.reduce_sum() / state.weights[k];
            }
            task.pull(simd, state, unit, &mut scratch.pulls);
            let [q_up, q_down] = &mut state.probabilities.q;
            for lane in (0..width).step_by(LANES) {
                let at = first + lane;
                let here = at..at + LANES;
                let wanted = load(&scratch.pulls, lane) + load(&state.tilts, at)
                    - number(0.5) * load(&scratch.repulsions, lane);
                let (old, mean) = (load(&state.fields, at), load(&state.probabilities.means, at));
                let wanted = within(wanted, number(MOST_FIELD));
                let x = (old - wanted).mul_add(number(step.damping), wanted);
                let new = tanh(simd, x);
                let counts = load(&state.weights, lane).simd_ge(number(least));
                most = most.max(counts.select((new - mean).abs(), number(0.0)));
                x.store_slice(&mut state.fields[here.clone()]);
                new.store_slice(&mut state.probabilities.means[here.clone()]);
                let [up, down] = probabilities(simd, x);
                up.store_slice(&mut q_up[here.clone()]);
                down.store_slice(&mut q_down[here]);
            }
        }

        let ([q_up, q_down], [r_up, r_down]) = (&state.probabilities.q, &state.probabilities.r);
        for lane in (0..width).step_by(LANES) {
            let (up, down) = (load(r_up, first + lane), load(r_down, first + lane));
            let inverse = load(&scratch.inverses, lane);
            for k in 0..components {
                let factor = up.mul_add(number(q_up[first + k]), down * number(q_down[first + k])) * inverse;
                let share = load(&scratch.cavity, k * width + lane) * factor;
                share.store_slice(&mut terms.shares[k * width + lane..][..LANES]);
            }
        }
        most
    }
}

/// What is extrapolated: fields, tilts, and the logarithms of the mixing coefficients.
struct Point(Vec<f64>);

impl Point {
    fn of(state: &State) -> Self {
        let logs = state.weights[..state.components].iter().map(|weight| weight.ln());
        Self(state.fields.iter().chain(&state.tilts).copied().chain(logs).collect())
    }

    /// Writes the numbers into a state, whose probabilities then have to be renewed.
    fn put(&self, state: &mut State) {
        let (fields, rest) = self.0.split_at(state.fields.len());
        let (tilts, logs) = rest.split_at(state.fields.len());
        state.fields.copy_from_slice(fields);
        state.tilts.copy_from_slice(tilts);
        state.weights[..state.components].copy_from_slice(&shares(logs).1);
        state.normalise();
    }

    /// Extrapolates from another point through this one, by `stride` times their distance.
    fn beyond(&self, before: &Self, stride: f64) -> Self {
        Self(self.0.iter().zip(&before.0).map(|(now, before)| now + stride * (now - before)).collect())
    }
}
