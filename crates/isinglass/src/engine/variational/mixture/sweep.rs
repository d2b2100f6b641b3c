//! One sweep over the units: of each, first the smoothing distributions and then the means, in all components at once.
//!
//! Given λ and r, no component's means stand in another's equations; and r of one component stands in no other's. So all components of a unit may change at once, and the bound does not
//! fall. The shares ω are divided by a unit's factors before its turn and multiplied by the new ones after it.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::bound::{Task, Terms};
use super::state::{MOST_FIELD, MOST_TILT, State, chances, within};
use crate::numeric::lanes::{LANES, ln, tanh};

/// What happens to a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    /// Whether smoothing distributions are renewed,
    pub(super) smooth: bool,
    /// and means.
    pub(super) means: bool,
    /// The share of the old field that is kept.
    pub(super) damping: f64,
}

/// Room for one unit.
pub(super) struct Scratch {
    /// ω without the unit's factors.
    cavity: Vec<f64>,
    pulls: Vec<f64>,
    /// `α_l (r_l(+) − r_l(−)) / S_l` of the unit, and `1 / S_l`.
    pushes: Vec<f64>,
    inverses: Vec<f64>,
    /// `Σ_k λ_k π_kl (r_k(+) − r_k(−))`, without the unit's factors.
    repulsions: Vec<f64>,
}

impl Scratch {
    pub(super) fn new(state: &State) -> Self {
        let each = || vec![0.0; state.width];
        Self {
            cavity: vec![0.0; state.components * state.width],
            pulls: each(),
            pushes: each(),
            inverses: each(),
            repulsions: each(),
        }
    }

    /// The bytes of the room.
    pub(super) fn bytes(components: usize) -> u128 {
        8 * components.next_multiple_of(LANES) as u128 * (components as u128 + 4)
    }
}

/// Renew every unit once. *Result*: the largest change of a mean, as in [`renew_unit`].
#[inline(always)]
pub(super) fn sweep<S: Simd>(
    simd: S,
    task: &Task<'_>,
    (state, terms): (&mut State, &mut Terms),
    scratch: &mut Scratch,
    step: Step,
    least: f64,
) -> f64 {
    let mut most = f64x8::splat(simd, 0.0);
    for unit in 0..state.units {
        most = most.max(renew_unit(simd, task, (state, terms), scratch, (unit, step), least));
    }
    most.reduce_max()
}

/// By how much the equations are violated, each unit by itself from the same state, which is left as it was.
#[inline(always)]
pub(super) fn violation<S: Simd>(
    simd: S,
    task: &Task<'_>,
    (state, terms): (&mut State, &mut Terms),
    scratch: &mut Scratch,
    step: Step,
    least: f64,
) -> f64 {
    let (kept, shares) = (state.clone(), terms.shares.clone());
    let mut most = f64x8::splat(simd, 0.0);
    for unit in 0..state.units {
        most = most.max(renew_unit(simd, task, (state, terms), scratch, (unit, step), least));
        state.copy_unit(&kept, unit);
        terms.shares.copy_from_slice(&shares);
    }
    most.reduce_max()
}

/// Renew one unit in all components.
///
/// *Result*: the largest change of a mean in each lane, of the components and of the smoothing distributions, where the mixing coefficient is at least `least`.
#[inline(always)]
pub(super) fn renew_unit<S: Simd>(
    simd: S,
    task: &Task<'_>,
    (state, terms): (&mut State, &mut Terms),
    scratch: &mut Scratch,
    (unit, step): (usize, Step),
    least: f64,
) -> f64x8<S> {
    let (width, components) = (state.width, state.components);
    let number = |x: f64| f64x8::splat(simd, x);
    let load = |from: &[f64], at: usize| f64x8::from_slice(simd, &from[at..at + LANES]);
    let first = unit * width;
    let [q_up, q_down] = &mut state.chances.q;
    let [r_up, r_down] = &mut state.chances.r;
    let mut most = number(0.0);

    // r(s) = q(s) / g(s) with g(s) = Σ_k ω_lk q_k(s) / f_lk, and f_lk = r_l(+) q_k(+) + r_l(−) q_k(−).
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
            [up, down] = chances(simd, tilt);
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
        let [q_up, q_down] = &mut state.chances.q;
        for lane in (0..width).step_by(LANES) {
            let at = first + lane;
            let here = at..at + LANES;
            let wanted = load(&scratch.pulls, lane) + load(&state.tilts, at)
                - number(0.5) * load(&scratch.repulsions, lane);
            let (old, mean) = (load(&state.fields, at), load(&state.chances.means, at));
            let wanted = within(wanted, number(MOST_FIELD));
            let x = (old - wanted).mul_add(number(step.damping), wanted);
            let new = tanh(simd, x);
            let counts = load(&state.weights, lane).simd_ge(number(least));
            most = most.max(counts.select((new - mean).abs(), number(0.0)));
            x.store_slice(&mut state.fields[here.clone()]);
            new.store_slice(&mut state.chances.means[here.clone()]);
            let [up, down] = chances(simd, x);
            up.store_slice(&mut q_up[here.clone()]);
            down.store_slice(&mut q_down[here]);
        }
    }

    let ([q_up, q_down], [r_up, r_down]) = (&state.chances.q, &state.chances.r);
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
