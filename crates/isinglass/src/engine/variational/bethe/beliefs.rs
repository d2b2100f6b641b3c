//! Beliefs: log Z, means, moments of couplings, and the residual, computed from messages.
//!
//! With `H` the total field of a unit and `c_i = H_i − u_{j→i}` its cavity field without neighbour
//! j, the Bethe free energy (Yedidia, Freeman & Weiss 2005, here in messages) is
//!
//! ```text
//! ln Z = Σ_i ln 2cosh H_i + Σ_(ij) [ln Z_ij − ln 2cosh H_i − ln 2cosh H_j]
//! Z_ij = Σ_{s,s'} exp(v s s' + c_i s + c_j s')
//! ```
//!
//! It is stationary at fixed points: an error ε in the messages gives ε² in log Z.
//!
//! `1 − ρ²`, with the correlation coefficient `ρ = c_ij / √((1 − m_i²)(1 − m_j²))`, would cancel
//! where couplings are strong. In the four probabilities of the pair, the determinant of its
//! covariances is a sum of products,
//!
//! ```text
//! (1 − m_i²)(1 − m_j²) − c_ij² = 16 [p₊₋ p₋₊ (p₊₊ + p₋₋) + p₊₊ p₋₋ (p₊₋ + p₋₊)] = 16 Z_ij(−v) / Z_ij(v)³
//! ```
//!
//! since `p₊₊ p₋₋ = e^(2v) / Z_ij²` and `p₊₋ p₋₊ = e^(−2v) / Z_ij²`. Over the variances `4 / (2cosh
//! H)²` this is `ln(1 − ρ²) = ln Z_ij(−v) − 3 ln Z_ij(v) + 2 ln 2cosh H_i + 2 ln 2cosh H_j`.

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};

use super::messages::{Messages, at_once, distance, gather, lanes_of, largest, message, spread};
use super::wiring::Wiring;
use crate::numeric::lanes::{exp_nonpositive, ln_two_cosh, tanh};

/// What follows from messages, for each row.
pub(super) struct Beliefs<const N: usize> {
    /// Without constants.
    pub(super) log_z: [f64; N],
    /// The largest difference between a message and its equation.
    pub(super) residual: [f64; N],
    /// ⟨s_i⟩ at each place.
    pub(super) means: Vec<[f64; N]>,
    /// `1 − ⟨s_i⟩²` at each place, without cancellation.
    pub(super) variances: Vec<[f64; N]>,
    /// ⟨s_i s_j⟩ of each link ahead.
    pub(super) moments: Vec<[f64; N]>,
    /// ⟨s_i s_j⟩ − ⟨s_i⟩⟨s_j⟩ of each link ahead, without cancellation.
    pub(super) covariances: Vec<[f64; N]>,
    /// `1 − ρ²` of each link ahead, without cancellation.
    pub(super) unexplained: Vec<[f64; N]>,
}

impl<const N: usize> Beliefs<N> {
    pub(super) fn bytes(free: usize, links: usize) -> u128 {
        8 * N as u128 * 3 * (free as u128 + links as u128)
    }

    /// Reads the beliefs at the machine's own temperature.
    pub(super) fn of(messages: &mut Messages<'_, N>) -> Self {
        messages.add_up(0..messages.totals.len(), 1.0);
        let Wiring { locals, edges, .. } = messages.wiring;
        let mut beliefs = Self {
            log_z: [0.0; N],
            residual: [0.0; N],
            means: vec![[0.0; N]; locals.len()],
            variances: vec![[0.0; N]; locals.len()],
            moments: vec![[0.0; N]; edges.len()],
            covariances: vec![[0.0; N]; edges.len()],
            unexplained: vec![[1.0; N]; edges.len()],
        };
        dispatch!(Level::new(), simd => beliefs.read(simd, messages));
        beliefs
    }

    #[inline(always)]
    fn read<S: Simd>(&mut self, simd: S, messages: &Messages<'_, N>) {
        let Messages { wiring, totals, ahead, back, .. } = messages;
        // ln 2cosh H of each unit, which every link needs.
        let mut logs = vec![[0.0; N]; totals.len()];
        let step = at_once(N);
        for first in (0..totals.len()).step_by(step) {
            let total = gather(simd, totals, |lane| (first + lane).min(totals.len() - 1));
            let log = ln_two_cosh(simd, total);
            put(&mut logs, first, log);
            put(&mut self.means, first, tanh(simd, total));
            put(&mut self.variances, first, four_over_square(simd, log));
        }
        for log in &logs {
            for (sum, x) in self.log_z.iter_mut().zip(log) {
                *sum += x;
            }
        }

        let links = ahead.len();
        let half = f64x8::splat(simd, 0.5);
        let mut residual = f64x8::splat(simd, 0.0);
        for first in (0..links).step_by(step) {
            let link = |lane: usize| (first + lane).min(links - 1);
            let mirror = |lane: usize| wiring.ahead.mirrors[link(lane)] as usize;
            let sender = |lane: usize| wiring.ahead.senders[link(lane)] as usize;
            let receiver = |lane: usize| wiring.back.senders[mirror(lane)] as usize;
            let v = spread::<S, N>(simd, &wiring.ahead.couplings, link);
            let (out, incoming) = (gather(simd, ahead, link), gather(simd, back, mirror));
            let a = gather(simd, totals, sender) - incoming;
            let b = gather(simd, totals, receiver) - out;
            residual = residual.max(distance(simd, message(simd, v, a), out));
            residual = residual.max(distance(simd, message(simd, v, b), incoming));
            // Half the log-odds of equal over unequal spins.
            let alike = message(simd, a, b);
            let tie = v + alike;
            let uncoupled = (ln_two_cosh(simd, a + b) + ln_two_cosh(simd, a - b)) * half;
            let log = uncoupled + ln_two_cosh(simd, tie);
            put(&mut self.moments, first, tanh(simd, tie));
            put(&mut self.covariances, first, covariance(simd, v, log));
            let apart = log - gather(simd, &logs, sender) - gather(simd, &logs, receiver);
            let turned = uncoupled + ln_two_cosh(simd, alike - v);
            put(&mut self.unexplained, first, one_minus_rho_squared(simd, turned - log, apart));
            for terms in lanes_of(apart).chunks(N).take(links - first) {
                for (sum, x) in self.log_z.iter_mut().zip(terms) {
                    *sum += x;
                }
            }
        }
        self.residual = largest(residual);
    }
}

/// `1/cosh² = 4 / (2cosh)²`, given `ln 2cosh`.
#[inline(always)]
fn four_over_square<S: Simd>(simd: S, log: f64x8<S>) -> f64x8<S> {
    let exponent = log.mul_add(f64x8::splat(simd, -2.0), f64x8::splat(simd, 4f64.ln()));
    exp_nonpositive(simd, exponent.min(f64x8::splat(simd, 0.0)))
}

/// `4 (p₊₊ p₋₋ − p₊₋ p₋₊) = 8 sinh 2v / Z_ij²`, given `ln Z_ij`.
#[inline(always)]
fn covariance<S: Simd>(simd: S, v: f64x8<S>, log_z: f64x8<S>) -> f64x8<S> {
    let size = v.abs();
    let one = f64x8::splat(simd, 1.0);
    // 1 − e^(−4|v|) from a tanh, so that small couplings keep their digits.
    let slope = tanh(simd, size + size);
    let sinh = (slope + slope) / (one + slope);
    let exponent = (size - log_z) * f64x8::splat(simd, 2.0);
    (sinh * exp_nonpositive(simd, exponent) * f64x8::splat(simd, 4.0)).copysign(v)
}

/// `1 − ρ²`, given `ln Z_ij(−v)/Z_ij(v)` and `ln Z_ij(v) / (2cosh H_i 2cosh H_j)`.
#[inline(always)]
fn one_minus_rho_squared<S: Simd>(simd: S, turned: f64x8<S>, apart: f64x8<S>) -> f64x8<S> {
    let exponent = apart.mul_add(f64x8::splat(simd, -2.0), turned);
    // Before convergence it may exceed 1.
    exp_nonpositive(simd, exponent.min(f64x8::splat(simd, 0.0)))
}

/// Stores a vector as the numbers from a place on.
#[inline(always)]
fn put<S: Simd, const N: usize>(to: &mut [[f64; N]], first: usize, vector: f64x8<S>) {
    for (numbers, lanes) in to[first..].iter_mut().zip(lanes_of(vector).chunks(N)) {
        numbers.copy_from_slice(lanes);
    }
}
