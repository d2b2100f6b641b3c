//! Elementary bounds on log Z, which no approximation may leave.
//!
//! With the fields h and the couplings v of the free units, both divided by T, and `m_i = tanh h_i`,
//!
//! ```text
//! Σ_i ln 2cosh h_i + Σ v_ij m_i m_j  ≤  log Z  ≤  Σ_i ln 2cosh h_i + Σ |v_ij|
//! ```
//!
//! Without couplings log Z is `Σ ln 2cosh h_i`, and the units are independent with means m. Couplings
//! multiply Z by the average of `exp Σ v_ij s_i s_j` over these: at most the largest value of the
//! exponential, and at least that of its average exponent (Jensen).

use crate::{Error, Result};

/// Rounding, as a share of the terms that are summed.
const ROUNDING: f64 = 1e-9;

/// What log Z can be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    least: f64,
    most: f64,
    rounding: f64,
}

impl Limits {
    /// No limits, for answers that are exact.
    pub(super) const NONE: Self = Self { least: f64::NEG_INFINITY, most: f64::INFINITY, rounding: 0.0 };

    /// *Arguments*: `Σ ln 2cosh h`, `Σ v m m` and `Σ |v|`.
    pub(super) fn new(independent: f64, mean: f64, strength: f64) -> Self {
        Self {
            least: independent + mean,
            most: independent + strength,
            rounding: ROUNDING * (1.0 + independent + strength),
        }
    }

    /// The limits with a constant that is part of log Z.
    pub(super) fn shifted(self, by: f64) -> Self {
        let rounding = self.rounding + ROUNDING * by.abs();
        Self { least: self.least + by, most: self.most + by, rounding }
    }

    /// Refuses a log Z beyond the limits.
    ///
    /// # Errors
    /// [`Error::ImpossibleLogZ`].
    pub(super) fn check(&self, engine: &'static str, found: f64) -> Result<()> {
        let is_above = found > self.most + self.rounding;
        if !is_above && found >= self.least - self.rounding {
            return Ok(());
        }
        let bound = if is_above { self.most } else { self.least };
        Err(Error::ImpossibleLogZ { engine, found, bound, is_above })
    }
}
