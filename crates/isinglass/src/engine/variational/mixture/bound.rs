//! The bound on log Z, its terms, and the update of the mixing coefficients.
//!
//! With the best λ, `λ_l = α_l / S_l` and `S_l = Σ_k α_k π_lk`, the bound is
//! `Σ_l α_l (B_l + Σ_i ⟨ln r_li⟩_l − ln S_l)`: the scale of r cancels, and pairs of components
//! enter through the shares `ω_lk = α_k π_lk / S_l`, which add up to 1 over k.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::super::couplings::Couplings;
use super::state::{LEAST_WEIGHT, State};
use crate::numeric::lanes::{LANES, exp_nonpositive, ln, ln_two_cosh};

/// The couplings and fields of one row's free units, divided by T.
pub(super) struct Task<'a> {
    pub(super) couplings: &'a Couplings,
    /// The field on each free unit.
    pub(super) fields: &'a [f64],
    /// The inverse temperature relative to the machine's own.
    pub(super) beta: f64,
}

impl Task<'_> {
    /// `out ← β (θ_i + Σ_j v_ij m_lj)` for a unit in all components.
    #[inline(always)]
    pub(super) fn pull<S: Simd>(&self, simd: S, state: &State, unit: usize, out: &mut [f64]) {
        let (width, means) = (state.width, &state.probabilities.means);
        let column = self.couplings.column(unit, 0..state.units);
        if column.is_empty() {
            self.couplings.pull(unit..unit + 1, false, means, width, out);
        }
        let (field, beta) = (f64x8::splat(simd, self.fields[unit]), f64x8::splat(simd, self.beta));
        for (lane, out) in out.chunks_exact_mut(LANES).enumerate() {
            // Four sums hide the latency of additions.
            let mut sums = [f64x8::splat(simd, 0.0); 4];
            if column.is_empty() {
                sums[0] = f64x8::from_slice(simd, out);
            }
            let mut others = means[lane * LANES..].chunks(width);
            for couplings in column.chunks(4) {
                for ((sum, &v), m) in sums.iter_mut().zip(couplings).zip(&mut others) {
                    *sum = f64x8::splat(simd, v).mul_add(f64x8::from_slice(simd, &m[..LANES]), *sum);
                }
            }
            let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            ((sum + field) * beta).store_slice(out);
        }
    }
}

/// The terms of the bound, and the shares of pairs of components.
pub(super) struct Terms {
    /// `B_l + Σ_i ⟨ln r_li⟩_l`.
    pub(super) values: Vec<f64>,
    /// `ln S_l`.
    pub(super) log_sums: Vec<f64>,
    /// `ln π_lk`, stored by k.
    pub(super) log_overlaps: Vec<f64>,
    /// `ω_lk`, stored by k.
    pub(super) shares: Vec<f64>,
    products: Vec<f64>,
    pulls: Vec<f64>,
}

/// Factors of an overlap that are multiplied before each logarithm.
const FACTORS: usize = 4;

impl Terms {
    pub(super) fn new(state: &State) -> Self {
        let pairs = || vec![0.0; state.components * state.width];
        let each = || vec![0.0; state.width];
        Self {
            values: each(),
            log_sums: each(),
            log_overlaps: pairs(),
            shares: pairs(),
            products: pairs(),
            pulls: each(),
        }
    }

    pub(super) fn bytes(components: usize) -> u128 {
        8 * components.next_multiple_of(LANES) as u128 * (3 * components as u128 + 3)
    }

    /// Computes all terms and the bound of a state.
    #[inline(always)]
    pub(super) fn evaluate<S: Simd>(&mut self, simd: S, task: &Task<'_>, state: &State) -> f64 {
        self.add_up_components(simd, task, state);
        self.overlap(simd, state);
        self.share(simd, state);
        let each = self.values.iter().zip(&self.log_sums).zip(&state.weights);
        each.take(state.components).map(|((value, log_sum), weight)| weight * (value - log_sum)).sum()
    }

    /// `B_l = ⟨−E⟩_l + H_l`, and `⟨ln r⟩`.
    #[inline(always)]
    fn add_up_components<S: Simd>(&mut self, simd: S, task: &Task<'_>, state: &State) {
        let width = state.width;
        let half = f64x8::splat(simd, 0.5);
        let load = |from: &[f64], at: usize| f64x8::from_slice(simd, &from[at..at + LANES]);
        self.values.fill(0.0);
        for unit in 0..state.units {
            task.pull(simd, state, unit, &mut self.pulls);
            let own = f64x8::splat(simd, task.beta * task.fields[unit]);
            for lane in (0..width).step_by(LANES) {
                let at = unit * width + lane;
                let (x, t) = (load(&state.fields, at), load(&state.tilts, at));
                let m = load(&state.probabilities.means, at);
                let energy = half * m * (load(&self.pulls, lane) + own);
                // ln q(±) = ±x − ln 2cosh x, and likewise for r.
                let entropy = ln_two_cosh(simd, x) - x * m;
                let smoothing = t * m - ln_two_cosh(simd, t);
                let sum = load(&self.values, lane) + (energy + (entropy + smoothing));
                sum.store_slice(&mut self.values[lane..lane + LANES]);
            }
        }
    }

    /// `ln π_lk = Σ_i ln(r_li(+) q_ki(+) + r_li(−) q_ki(−))`.
    #[inline(always)]
    fn overlap<S: Simd>(&mut self, simd: S, state: &State) {
        let width = state.width;
        let ([q_up, q_down], [r_up, r_down]) = (&state.probabilities.q, &state.probabilities.r);
        self.log_overlaps.fill(0.0);
        self.products.fill(1.0);
        for unit in 0..state.units {
            let is_last = unit % FACTORS == FACTORS - 1 || unit == state.units - 1;
            let of_unit = unit * width..(unit + 1) * width;
            let (q_up, q_down) = (&q_up[of_unit.clone()], &q_down[of_unit]);
            for lane in (0..width).step_by(LANES) {
                let at = unit * width + lane;
                let up = f64x8::from_slice(simd, &r_up[at..at + LANES]);
                let down = f64x8::from_slice(simd, &r_down[at..at + LANES]);
                for k in 0..state.components {
                    let here = k * width + lane..k * width + lane + LANES;
                    let factor =
                        up.mul_add(f64x8::splat(simd, q_up[k]), down * f64x8::splat(simd, q_down[k]));
                    let product = f64x8::from_slice(simd, &self.products[here.clone()]) * factor;
                    if is_last {
                        let sum = f64x8::from_slice(simd, &self.log_overlaps[here.clone()]);
                        (sum + ln(simd, product)).store_slice(&mut self.log_overlaps[here.clone()]);
                        f64x8::splat(simd, 1.0).store_slice(&mut self.products[here]);
                    } else {
                        product.store_slice(&mut self.products[here]);
                    }
                }
            }
        }
    }

    /// `ln S_l` and `ω_lk` from overlaps and mixing coefficients: the update of λ.
    #[inline(always)]
    pub(super) fn share<S: Simd>(&mut self, simd: S, state: &State) {
        let width = state.width;
        for lane in (0..width).step_by(LANES) {
            let mut most = f64x8::splat(simd, f64::MIN);
            for k in 0..state.components {
                let here = k * width + lane..k * width + lane + LANES;
                most = most.max(f64x8::from_slice(simd, &self.log_overlaps[here]));
            }
            let mut sum = f64x8::splat(simd, 0.0);
            for k in 0..state.components {
                let here = k * width + lane..k * width + lane + LANES;
                let overlap = f64x8::from_slice(simd, &self.log_overlaps[here.clone()]);
                let share = exp_nonpositive(simd, overlap - most) * f64x8::splat(simd, state.weights[k]);
                share.store_slice(&mut self.shares[here]);
                sum += share;
            }
            (most + ln(simd, sum)).store_slice(&mut self.log_sums[lane..lane + LANES]);
            let inverse = f64x8::splat(simd, 1.0) / sum;
            for k in 0..state.components {
                let here = k * width + lane..k * width + lane + LANES;
                let share = f64x8::from_slice(simd, &self.shares[here.clone()]) * inverse;
                share.store_slice(&mut self.shares[here]);
            }
        }
    }

    /// Updates α with λ fixed: `α_l ∝ λ_l exp(B_l + Σ_i ⟨ln r_li⟩ − Σ_k λ_k π_kl)`, where
    /// `λ_k π_kl = α_k ω_kl / α_l`. Returns the largest change of a coefficient.
    pub(super) fn mix(&self, state: &mut State) -> f64 {
        let (width, components) = (state.width, state.components);
        let mut logs = vec![0.0; components];
        for (l, log) in logs.iter_mut().enumerate() {
            let of_l = &self.shares[l * width..(l + 1) * width];
            let taken: f64 = state.weights.iter().zip(of_l).map(|(weight, share)| weight * share).sum();
            let weight = state.weights[l];
            *log = weight.ln() - self.log_sums[l] + self.values[l] - taken / weight;
        }
        let before = state.weights.clone();
        let (_, shares) = crate::numeric::stable::shares(&logs);
        for (weight, share) in state.weights.iter_mut().zip(shares) {
            *weight = share.max(LEAST_WEIGHT);
        }
        state.normalise();
        let changes = before.iter().zip(&state.weights).map(|(before, now)| (before - now).abs());
        changes.fold(0.0, f64::max)
    }
}
