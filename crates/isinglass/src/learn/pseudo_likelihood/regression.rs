//! The conditional of one unit given others: a regression, with gradient and curvature.

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};

use super::panels::Panels;
use super::responses::{lane, product, respond_alone, total};
use crate::numeric::dense::add_transposed_times;
use crate::numeric::lanes::{LANES, exp_nonpositive};

/// What a regression makes large, on average over rows, for the field h of its unit divided by T.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    /// `ln P(s_i | others) = −ln(1 + e^(−2 s_i h))`.
    Logistic,
    /// `−e^(−s_i h)`: interaction screening.
    Screening,
    /// `−ln` of the average of `e^(−s_i h)`.
    LogScreening,
}

/// One unit, explained by others.
#[derive(Clone, Copy)]
pub(super) struct Regression<'a> {
    pub(super) panels: &'a Panels,
    pub(super) unit: usize,
    pub(super) loss: Loss,
    pub(super) level: Level,
}

/// The objective at some couplings, and its derivatives. The last element of each is that of the
/// bias.
pub(super) struct Slopes {
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    /// Minus the second derivatives, a square matrix; empty if not requested.
    pub(super) curvature: Vec<f64>,
}

impl Regression<'_> {
    /// At couplings with some units, divided by T, last the bias.
    pub(super) fn slopes(&self, others: &[usize], couplings: &[f64], curvature: bool) -> Slopes {
        let mut slopes = dispatch!(self.level, simd => self.sum(simd, others, couplings, curvature));
        if self.loss == Loss::LogScreening {
            slopes.take_logarithm();
        }
        slopes
    }

    #[inline(always)]
    fn sum<S: Simd>(&self, simd: S, others: &[usize], couplings: &[f64], curvature: bool) -> Slopes {
        let (rows, size) = (self.panels.rows, couplings.len());
        let mut slopes = Slopes {
            value: 0.0,
            gradient: vec![0.0; size],
            curvature: vec![0.0; if curvature { size * size } else { 0 }],
        };
        let mut buffer = Vec::new();
        let (mut packed, mut bent) = (Vec::new(), Vec::new());
        if curvature {
            packed = vec![1.0; rows * size];
            bent = vec![0.0; rows * size];
        }
        let (mut fields, mut spread) = (vec![0.0; rows], vec![0.0; rows]);
        let bias = couplings.last().copied().unwrap_or(0.0);
        for panel in 0..self.panels.count() {
            let shares = self.panels.get(panel).shares;
            let cells = self.panels.numbers(simd, panel, others.iter().chain([&self.unit]), &mut buffer);
            let of = |unit: usize| &cells[unit * rows..(unit + 1) * rows];
            let own = of(self.unit);
            fields.fill(bias);
            // Couplings of 0 cost nothing.
            for (&other, &coupling) in others.iter().zip(couplings).filter(|(_, coupling)| **coupling != 0.0)
            {
                let coupling = f64x8::splat(simd, coupling);
                for at in (0..rows).step_by(LANES) {
                    let sum = lane(simd, of(other), at).mul_add(coupling, lane(simd, &fields, at));
                    sum.store_slice(&mut fields[at..at + LANES]);
                }
            }
            slopes.value += match self.loss {
                Loss::Logistic => respond_alone(simd, shares, own, &mut fields),
                Loss::Screening | Loss::LogScreening => screen(simd, shares, own, &mut fields),
            };
            for (slot, &other) in slopes.gradient.iter_mut().zip(others) {
                *slot += product(simd, of(other), &fields);
            }
            slopes.gradient[size - 1] += sum_of(simd, &fields);
            if curvature {
                match self.loss {
                    Loss::Logistic => spreads(simd, shares, own, &fields, &mut spread),
                    Loss::Screening | Loss::LogScreening => {
                        for at in (0..rows).step_by(LANES) {
                            let share = lane(simd, own, at) * lane(simd, &fields, at);
                            share.store_slice(&mut spread[at..at + LANES]);
                        }
                    }
                }
                for (k, (bent, packed)) in
                    bent.chunks_exact_mut(rows).zip(packed.chunks_exact_mut(rows)).enumerate()
                {
                    if let Some(&other) = others.get(k) {
                        packed.copy_from_slice(of(other));
                    }
                    for at in (0..rows).step_by(LANES) {
                        let product = lane(simd, packed, at) * lane(simd, &spread, at);
                        product.store_slice(&mut bent[at..at + LANES]);
                    }
                }
                add_transposed_times(&mut slopes.curvature, &packed, &bent, size, rows);
            }
        }
        slopes
    }
}

impl Slopes {
    /// Adds the penalty `ρ/2 Σ w²`, at some couplings and a bias, which it leaves alone.
    pub(super) fn bend_by(&mut self, couplings: &[f64], ridge: f64) {
        let size = couplings.len();
        for (k, w) in couplings[..size - 1].iter().enumerate() {
            self.value -= 0.5 * ridge * w * w;
            self.gradient[k] -= ridge * w;
            if let Some(slot) = self.curvature.get_mut(k * size + k) {
                *slot += ridge;
            }
        }
    }

    /// From `−S` with its derivatives to those of `−ln S`.
    fn take_logarithm(&mut self) {
        let sum = -self.value;
        self.value = -sum.ln();
        self.gradient.iter_mut().for_each(|x| *x /= sum);
        if !self.curvature.is_empty() {
            let size = self.gradient.len();
            for (k, x) in self.curvature.iter_mut().enumerate() {
                *x = *x / sum - self.gradient[k / size] * self.gradient[k % size];
            }
        }
    }
}

/// The sum over rows.
#[inline(always)]
fn sum_of<S: Simd>(simd: S, x: &[f64]) -> f64 {
    let mut sum = f64x8::splat(simd, 0.0);
    for at in (0..x.len()).step_by(LANES) {
        sum += lane(simd, x, at);
    }
    total(sum)
}

/// Exponents above this count as this: such fields are far from any optimum.
const MOST: f64 = 256.0;

/// `−Σ over rows of share e^(−s h)`; each field is replaced by `share s e^(−s h)`.
#[inline(always)]
fn screen<S: Simd>(simd: S, shares: &[f64], own: &[f64], fields: &mut [f64]) -> f64 {
    let (zero, most) = (f64x8::splat(simd, 0.0), f64x8::splat(simd, MOST));
    let scale = f64x8::splat(simd, MOST.exp());
    let mut sum = zero;
    for at in (0..fields.len()).step_by(LANES) {
        let spin = lane(simd, own, at);
        let exponent = (zero - spin * lane(simd, fields, at)).min(most) - most;
        let term = lane(simd, shares, at) * (exp_nonpositive(simd, exponent) * scale);
        sum += term;
        (spin * term).store_slice(&mut fields[at..at + LANES]);
    }
    -total(sum)
}

/// `share (1 − tanh²)` from residuals `r = share (s − tanh)`: with `1 − s tanh = s r / share` it is
/// `s r (2 − s r / share)`.
#[inline(always)]
fn spreads<S: Simd>(simd: S, shares: &[f64], own: &[f64], residuals: &[f64], out: &mut [f64]) {
    let two = f64x8::splat(simd, 2.0);
    let least = f64x8::splat(simd, f64::MIN_POSITIVE);
    for at in (0..out.len()).step_by(LANES) {
        let missed = lane(simd, own, at) * lane(simd, residuals, at);
        // Rows of no weight have residuals of 0.
        let ratio = missed / lane(simd, shares, at).max(least);
        (missed * (two - ratio)).store_slice(&mut out[at..at + LANES]);
    }
}
