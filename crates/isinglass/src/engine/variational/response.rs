//! The linear response of the means to the fields, `A_ij = ∂m_i/∂θ_j`: the covariances.
//!
//! Each theory gives the inverse of A (Kappen & Rodríguez 1997, eq. 23). Scaled on both sides by
//! `s_i = √(1 − m_i²)`, its diagonal is finite where a mean is ±1: `A = S B⁻¹ S`.

use fearless_simd::{Level, Simd, dispatch};

use super::Theory;
use super::couplings::{Couplings, Pair};
use crate::engine::expectations::packed_pair;
use crate::numeric::dense::Matrix;
use crate::numeric::lanes::LANES;
use crate::numeric::selected_inverse::SelectedInverse;
use crate::{Error, Graph, Result};

/// The matrices B of some rows. Numbers are stored by unit or pair, `width` rows each.
pub(super) struct Curvature {
    pub(super) width: usize,
    /// `s_i`.
    pub(super) scales: Vec<f64>,
    pub(super) diagonal: Vec<f64>,
    /// The entries of B for each coupled pair.
    pub(super) pairs: Vec<f64>,
}

impl Curvature {
    /// Around mean field, `B_ij = δ_ij − s_i s_j v_ij` (eq. 23); around TAP, from eq. 30,
    /// `B_ij = δ_ij (1 + s_i² D_i) − s_i s_j (v_ij + 2 v_ij² m_i m_j)`, with
    /// `D_i = Σ_j v_ij² s_j²`.
    pub(super) fn new(theory: Theory, couplings: &Couplings, means: &[f64], width: usize) -> Self {
        let variances: Vec<f64> = means.iter().map(|m| 1.0 - m * m).collect();
        let scales: Vec<f64> = variances.iter().map(|variance| variance.sqrt()).collect();
        let of = |unit: u32| unit as usize * width..(unit as usize + 1) * width;
        let mut diagonal = vec![1.0; means.len()];
        let mut pairs = Vec::with_capacity(couplings.pairs.len() * width);
        for &Pair { a, b, coupling: v, .. } in &couplings.pairs {
            for (x, y) in of(a).zip(of(b)) {
                let tap = if theory == Theory::Tap {
                    let both = v * v * variances[x] * variances[y];
                    diagonal[x] += both;
                    diagonal[y] += both;
                    2.0 * v * v * means[x] * means[y]
                } else {
                    0.0
                };
                pairs.push(-scales[x] * scales[y] * (v + tap));
            }
        }
        Self { width, scales, diagonal, pairs }
    }

    fn units(&self) -> usize {
        self.scales.len() / self.width.max(1)
    }
}

/// How the matrices of a structure are inverted; shared by rows with the same free units.
pub(super) enum Plan {
    /// No two units are coupled.
    Independent,
    Dense,
    Sparse(Box<SelectedInverse>),
}

/// Up to so many units, dense structures too are inverted eight rows at a time.
const FEW: usize = 64;

/// The largest width for which an elimination order is searched.
const MOST_WIDTH: usize = 4000;

/// Speed of dense over sparse factors, in terms per time.
const DENSE_ADVANTAGE: f64 = 8.0;

impl Plan {
    /// Chooses the method for some units and their coupled pairs.
    pub(super) fn new(units: usize, pairs: &[Pair]) -> Result<Self> {
        if pairs.is_empty() {
            return Ok(Self::Independent);
        }
        if units > FEW && pairs.len() * 8 > units * units {
            return Ok(Self::Dense);
        }
        let edges: Vec<(usize, usize)> =
            pairs.iter().map(|pair| (pair.a as usize, pair.b as usize)).collect();
        let graph = Graph::from_sorted(units, edges)?;
        let Some(order) = graph.elimination_order(units.min(MOST_WIDTH)) else { return Ok(Self::Dense) };
        let Some(symbolic) = graph.symbolic(&order.order, units) else { return Ok(Self::Dense) };
        let columns = (0..symbolic.steps()).map(|step| symbolic.neighbours(step));
        let sparse = SelectedInverse::new(&order.order, columns, graph.edges().iter().copied());
        if units > FEW && sparse.work() * DENSE_ADVANTAGE > (units as f64).powi(3) {
            return Ok(Self::Dense);
        }
        Ok(Self::Sparse(Box::new(sparse)))
    }

    pub(super) fn bytes(&self, units: usize, rows: usize) -> u128 {
        match self {
            Self::Independent => 0,
            Self::Dense => 32 * (units as u128).pow(2),
            Self::Sparse(plan) => 16 * plan.numbers() as u128 * if rows == 1 { 1 } else { LANES as u128 },
        }
    }

    /// Returns the cost of inverting eight rows, in about nanoseconds.
    pub(super) fn cost(&self, units: usize) -> f64 {
        match self {
            Self::Independent => 0.0,
            Self::Dense => LANES as f64 * (units as f64).powi(3) / 8.0,
            Self::Sparse(plan) => 2.0 * plan.work(),
        }
    }

    /// Returns `A_ij` of each coupled pair, by pair, `width` rows each; padding lanes are 0.
    ///
    /// # Errors
    /// [`Error::Numerical`] where −F of a row is not at a maximum.
    pub(super) fn responses(
        &self,
        engine: &'static str,
        couplings: &Couplings,
        curvature: &Curvature,
        rows: usize,
    ) -> Result<Vec<f64>> {
        let width = curvature.width;
        let mut found = vec![0.0; couplings.pairs.len() * width];
        match self {
            Self::Independent => {}
            Self::Dense => {
                for row in 0..rows {
                    let inverse = dense(engine, couplings, curvature, row)?;
                    for (k, pair) in couplings.pairs.iter().enumerate() {
                        found[k * width + row] = inverse[(pair.a as usize, pair.b as usize)];
                    }
                }
            }
            Self::Sparse(plan) if width == 1 => {
                sparse::<1>(engine, plan, couplings, curvature, 0..1, &mut found)?;
            }
            Self::Sparse(plan) => {
                for start in (0..rows).step_by(LANES) {
                    let lanes = start..rows.min(start + LANES);
                    sparse::<LANES>(engine, plan, couplings, curvature, lanes, &mut found)?;
                }
            }
        }
        Ok(found)
    }
}

/// Adds the covariances of one row to the moments of all pairs of the machine.
pub(super) fn add_to_all_pairs(
    engine: &'static str,
    (couplings, free): (&Couplings, &[usize]),
    curvature: &Curvature,
    units: usize,
    moments: &mut [f64],
) -> Result<()> {
    let inverse = dense(engine, couplings, curvature, 0)?;
    for (a, &unit) in free.iter().enumerate() {
        for (b, &other) in free.iter().enumerate().skip(a + 1) {
            moments[packed_pair(units, unit, other)] += inverse[(a, b)];
        }
    }
    Ok(())
}

/// Returns the whole `A` of one row.
fn dense(engine: &'static str, couplings: &Couplings, curvature: &Curvature, row: usize) -> Result<Matrix> {
    let (n, width) = (curvature.units(), curvature.width);
    let mut matrix = Matrix::zeros(n);
    for unit in 0..n {
        matrix[(unit, unit)] = curvature.diagonal[unit * width + row];
    }
    for (k, pair) in couplings.pairs.iter().enumerate() {
        matrix.set_both(pair.a as usize, pair.b as usize, curvature.pairs[k * width + row]);
    }
    let mut inverse = matrix.cholesky().ok_or_else(|| unstable(engine))?.inverse();
    let scale = |unit: usize| curvature.scales[unit * width + row];
    for b in 0..n {
        for (a, x) in inverse.column_mut(b).iter_mut().enumerate() {
            *x *= scale(a) * scale(b);
        }
    }
    Ok(inverse)
}

/// Computes `A_ij` of the pairs of up to `N` rows.
fn sparse<const N: usize>(
    engine: &'static str,
    plan: &SelectedInverse,
    couplings: &Couplings,
    curvature: &Curvature,
    rows: std::ops::Range<usize>,
    found: &mut [f64],
) -> Result<()> {
    let width = curvature.width;
    // Padding lanes hold the identity, which has a factor.
    let lanes = |numbers: &[f64], at: usize, fill: f64| -> [f64; N] {
        std::array::from_fn(
            |lane| if lane < rows.len() { numbers[at * width + rows.start + lane] } else { fill },
        )
    };
    let diagonal: Vec<[f64; N]> =
        (0..curvature.units()).map(|unit| lanes(&curvature.diagonal, unit, 1.0)).collect();
    let entries: Vec<[f64; N]> =
        (0..couplings.pairs.len()).map(|pair| lanes(&curvature.pairs, pair, 0.0)).collect();
    let inverse = dispatch!(Level::new(), simd => invert(simd, plan, &diagonal, &entries))
        .map_err(|_| unstable(engine))?;
    for (k, (pair, entry)) in couplings.pairs.iter().zip(&inverse).enumerate() {
        let scales = |unit: u32, lane: usize| curvature.scales[unit as usize * width + rows.start + lane];
        for lane in 0..rows.len() {
            found[k * width + rows.start + lane] = entry[lane] * scales(pair.a, lane) * scales(pair.b, lane);
        }
    }
    Ok(())
}

/// Compiled for each instruction set.
#[inline(always)]
fn invert<S: Simd, const N: usize>(
    _simd: S,
    plan: &SelectedInverse,
    diagonal: &[[f64; N]],
    entries: &[[f64; N]],
) -> std::result::Result<Vec<[f64; N]>, usize> {
    plan.invert(diagonal, entries).map(|inverse| inverse.entries)
}

fn unstable(engine: &'static str) -> Error {
    Error::Numerical {
        method: engine,
        problem: "the fixed point found is unstable (its curvature is not positive definite), and has no linear response; \
                  other starts, annealing, or another theory to respond around may help"
            .into(),
    }
}
