//! The conditional of one unit given others: a logistic regression, with gradient and curvature.

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};

use super::panels::{Panel, Panels};
use super::responses::{lane, product, respond};
use crate::numeric::dense::add_transposed_times;
use crate::numeric::lanes::LANES;

/// One unit, explained by others.
#[derive(Clone, Copy)]
pub(super) struct Logistic<'a> {
    pub(super) panels: &'a Panels,
    pub(super) unit: usize,
    pub(super) level: Level,
}

/// The average over rows of `ln P(s_i | others)` at some couplings, and its derivatives. The last
/// element of each is that of the bias.
pub(super) struct Slopes {
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
    /// Minus the second derivatives, a square matrix; empty if not requested.
    pub(super) curvature: Vec<f64>,
}

impl Logistic<'_> {
    /// At couplings with some units, divided by T, last the bias.
    pub(super) fn slopes(&self, others: &[usize], couplings: &[f64], curvature: bool) -> Slopes {
        dispatch!(self.level, simd => self.sum(simd, others, couplings, curvature))
    }

    #[inline(always)]
    fn sum<S: Simd>(&self, simd: S, others: &[usize], couplings: &[f64], curvature: bool) -> Slopes {
        let (rows, size) = (self.panels.rows, couplings.len());
        let mut slopes = Slopes {
            value: 0.0,
            gradient: vec![0.0; size],
            curvature: vec![0.0; if curvature { size * size } else { 0 }],
        };
        let mut cells = vec![1.0; rows * size];
        let mut bent = vec![0.0; if curvature { rows * size } else { 0 }];
        let (mut own, mut fields, mut spread) = (vec![0.0; rows], vec![0.0; rows], vec![0.0; rows]);
        for panel in 0..self.panels.count() {
            let panel = self.panels.get(panel);
            for (out, &other) in cells.chunks_exact_mut(rows).zip(others) {
                panel.expand(simd, other, out);
            }
            panel.expand(simd, self.unit, &mut own);
            sum_fields(simd, &cells, couplings, &mut fields);
            slopes.value += respond(simd, panel.shares, &own, &mut fields, true, &mut []);
            for (slot, cells) in slopes.gradient.iter_mut().zip(cells.chunks_exact(rows)) {
                *slot += product(simd, cells, &fields);
            }
            if curvature {
                spreads(simd, panel, &own, &fields, &mut spread);
                for (bent, cells) in bent.chunks_exact_mut(rows).zip(cells.chunks_exact(rows)) {
                    for at in (0..rows).step_by(LANES) {
                        let product = lane(simd, cells, at) * lane(simd, &spread, at);
                        product.store_slice(&mut bent[at..at + LANES]);
                    }
                }
                add_transposed_times(&mut slopes.curvature, &cells, &bent, size, rows);
            }
        }
        slopes
    }
}

/// `Σ_j w_j s_j` for each row. Couplings of 0 cost nothing.
#[inline(always)]
fn sum_fields<S: Simd>(simd: S, cells: &[f64], couplings: &[f64], fields: &mut [f64]) {
    let rows = fields.len();
    fields.fill(0.0);
    for (cells, &coupling) in cells.chunks_exact(rows).zip(couplings) {
        if coupling != 0.0 {
            let coupling = f64x8::splat(simd, coupling);
            for at in (0..rows).step_by(LANES) {
                let sum = lane(simd, cells, at).mul_add(coupling, lane(simd, fields, at));
                sum.store_slice(&mut fields[at..at + LANES]);
            }
        }
    }
}

/// `share (1 − tanh²)` from residuals `r = share (s − tanh)`: with `1 − s tanh = s r / share` it is
/// `s r (2 − s r / share)`.
#[inline(always)]
fn spreads<S: Simd>(simd: S, panel: Panel<'_>, own: &[f64], residuals: &[f64], out: &mut [f64]) {
    let two = f64x8::splat(simd, 2.0);
    let least = f64x8::splat(simd, f64::MIN_POSITIVE);
    for at in (0..out.len()).step_by(LANES) {
        let missed = lane(simd, own, at) * lane(simd, residuals, at);
        // Rows of no weight have residuals of 0.
        let ratio = missed / lane(simd, panel.shares, at).max(least);
        (missed * (two - ratio)).store_slice(&mut out[at..at + LANES]);
    }
}
