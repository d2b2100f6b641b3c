//! From the couplings that a lasso selected to those that an extended BIC selects without
//! shrinkage.
//!
//! A lasso needs more couplings than the truth has to make up for those it shrinks. Here the
//! conditional of a unit is fitted without penalty to the selected couplings, and single couplings
//! leave, or enter, as long as that lowers the criterion.

use super::path::Path;

/// How many of the weakest couplings are tried before the strongest of a set is taken as needed.
const TRIED: usize = 3;

/// A conditional fitted without penalty, and what a coupling must be worth.
pub(super) struct Relaxed<'a> {
    pub(super) path: Path<'a>,
    /// The gain of the average of `ln P` below which a coupling is not worth its price.
    least: f64,
}

impl<'a> Relaxed<'a> {
    /// From the couplings of a path that are not 0. *Arguments*: the price of a coupling, for twice
    /// the sum of `ln P` over rows; the number of rows.
    pub(super) fn of(path: &Path<'a>, price: f64, rows: f64) -> Self {
        let set = path.support();
        Self { path: path.clone().on_the_way().free(&set), least: 0.5 * price / rows }
    }

    /// Removes and adds couplings until neither helps; returns whether the last fit converged.
    pub(super) fn settle(&mut self) -> bool {
        // Every move lowers the criterion, so no set occurs twice; the bound is for rounding.
        for _ in 0..2 * self.path.others.len() + 2 {
            if !self.remove() && !self.add() {
                break;
            }
        }
        self.path.finish()
    }

    /// Removes the coupling that is worth least, if that is less than its price.
    fn remove(&mut self) -> bool {
        let mut set = self.path.support();
        let strength = |k: &usize| self.path.couplings[*k].abs() * self.path.deviations[*k];
        set.sort_by(|a, b| strength(a).total_cmp(&strength(b)).then(a.cmp(b)));
        let without = |&k: &usize| {
            let mut rest: Vec<usize> = set.iter().copied().filter(|&other| other != k).collect();
            rest.sort_unstable();
            self.path.free(&rest)
        };
        let best = set.iter().take(TRIED).map(without).max_by(|a, b| a.value.total_cmp(&b.value));
        match best {
            Some(next) if self.path.value - next.value < self.least => {
                self.path = next;
                true
            }
            _ => false,
        }
    }

    /// Adds the coupling with the largest score, if it is worth its price.
    fn add(&mut self) -> bool {
        let bend = self.path.bend();
        let score = |k: usize| {
            let variance = bend * self.path.deviations[k] * self.path.deviations[k];
            0.5 * self.path.gradient[k].powi(2) / variance.max(f64::MIN_POSITIVE)
        };
        let absent = (0..self.path.others.len()).filter(|&k| self.path.couplings[k] == 0.0);
        let Some(k) = absent.max_by(|&a, &b| score(a).total_cmp(&score(b))) else { return false };
        if score(k) < self.least {
            return false;
        }
        let mut set = self.path.support();
        set.push(k);
        set.sort_unstable();
        let next = self.path.free(&set);
        let is_better = next.value - self.path.value >= self.least;
        if is_better {
            self.path = next;
        }
        is_better
    }
}
