//! The point of a lasso path with the smallest extended BIC.

use super::path::{Path, TOLERANCE};
use super::relax::Relaxed;

/// Values of λ along a path.
const LAMBDAS: usize = 100;

/// A path ends where this share of the deviance is explained,
const EXPLAINED: f64 = 0.999;

/// or where the last few λ gained no more than this share of it.
const GAINED: f64 = 1e-5;

/// The number of these λ.
const FEW: usize = 5;

/// or where its EBIC is behind the smallest by the price of so many couplings.
const BEHIND: f64 = 20.0;

/// What a path came to.
pub(super) struct Best<'a> {
    pub(super) path: Path<'a>,
    /// The λ of the lasso.
    pub(super) penalty: f64,
    /// Whether the optimality conditions held all along.
    pub(super) converged: bool,
}

impl<'a> Best<'a> {
    /// Follows a path from its beginning. *Arguments*: the price of a coupling, for twice the sum of
    /// `ln P` over rows; the ratio of the last λ to the first; whether couplings are then fitted
    /// without penalty, and single ones leave or enter.
    pub(super) fn of(mut path: Path<'a>, price: f64, ratio: f64, relax: bool) -> Self {
        let rows = path.regression.panels.total_weight;
        let ebic = |path: &Path<'_>| price * path.size() as f64 - 2.0 * rows * path.value;
        let nothing = path.value;
        let first = path.largest_penalty();
        let mut best = (ebic(&path), path.clone(), first);
        let mut values = vec![path.value];
        let mut converged = true;
        // Without correlations there is no path.
        let lambdas = if first > TOLERANCE { LAMBDAS } else { 1 };
        for k in 1..lambdas {
            let penalty = first * ratio.powf(k as f64 / (LAMBDAS - 1) as f64);
            converged &= path.advance(penalty);
            values.push(path.value);
            let found = ebic(&path);
            if found < best.0 {
                best = (found, path.clone(), penalty);
            }
            let gained = path.value - values[values.len().saturating_sub(FEW)];
            let is_at_rest = values.len() >= FEW && gained < GAINED * (path.value - nothing);
            if path.value > (1.0 - EXPLAINED) * nothing || is_at_rest {
                break;
            }
            // Each further coupling gains less than those before: a path that is so far behind, or
            // pays more for its couplings than a perfect fit would save, does not catch up.
            if found > best.0 + BEHIND * price || price * path.size() as f64 > best.0 {
                break;
            }
        }
        let (_, mut path, penalty) = best;
        converged &= path.settle(penalty);
        if relax {
            let mut relaxed = Relaxed::of(&path, price, rows);
            converged &= relaxed.settle();
            path = relaxed.path;
        }
        Self { path, penalty, converged }
    }
}
