//! Hidden units where moments would be sampled: fits by conditionals, judged by the likelihood of
//! held-out rows.

use isinglass::learn::{ByConditionals, Conditioned, Observer, Stop};
use isinglass::{Guarantee, Machine, Table};

use super::{Cancellable, Path, Penalties, Stage, Step};
use crate::fit::plan::{Fitted, Plan};
use crate::{LearnerName, Result};

/// Penalties on couplings of visible units that are tried first, times the one that held-out rows
/// chose without hidden units: it is weighted here, so that strong couplings bear less of it.
const FACTORS: [f64; 4] = [4.0, 2.5, 1.5, 1.0];

/// The first penalty on squares of the couplings of hidden units, times the rows: a normal prior with
/// standard deviation 0.1. Each next one is larger by a factor.
const FIRST_RIDGE: f64 = 100.0;
const LARGER: f64 = 3.0;
const RIDGES: usize = 3;

/// Hidden units of the first step; each next one has twice as many.
const FIRST: usize = 4;

/// A fit by conditionals, and its penalty on squares times the rows.
pub(super) struct Conditional {
    found: ByConditionals,
    ridge: f64,
}

impl Path<'_> {
    /// Fits couplings of all pairs and more hidden units than before by conditionals, from strong to
    /// weak penalties on couplings, then from weak to strong ones on those of hidden units, and judges
    /// the machine by the likelihood of held-out rows. None if nothing could be fitted.
    pub(super) fn conditional_step(
        &self,
        (visible, l1): (&Machine, f64),
        before: &Stage,
        observer: &mut Cancellable<'_>,
    ) -> Result<Option<Step>> {
        let hidden = (2 * before.hidden).max(FIRST);
        let known = before.conditional.as_ref();
        let engine = &self.settings.engine;
        let first: Vec<f64> = FACTORS.iter().map(|factor| factor * l1).collect();
        let mut best: Option<(ByConditionals, f64)> = None;
        let from = known.map_or(FIRST_RIDGE, |known| known.ridge);
        for number in 0..RIDGES {
            let ridge = from * LARGER.powi(number as i32);
            let penalties = match best.as_ref().map(|(best, _)| best).or(known.map(|known| &known.found)) {
                Some(found) => vec![found.l1],
                None => first.clone(),
            };
            let l2 = ridge / self.rows.total_weight();
            let fits = Conditioned::new(visible, self.rows, Some(self.held_out)).hidden(hidden, l2);
            let fits = fits.with(engine.seed(), engine.budget());
            let found = fits.best(&penalties, observer)?;
            let is_better =
                |found: &ByConditionals| best.as_ref().is_none_or(|(best, _)| found.held_out > best.held_out);
            match found.filter(is_better) {
                Some(found) => best = Some((found, ridge)),
                None => break,
            }
            if observer.is_cancelled {
                break;
            }
        }
        let Some((found, ridge)) = best else { return Ok(None) };
        let fitted = of_conditionals(&found, self.rows)?;
        let held_out = self.worth(&found.machine)?;
        let penalties = Penalties { l2: ridge / self.rows.total_weight(), l1: found.l1 };
        let conditional = Some(Conditional { found, ridge });
        let stage = Stage { fitted, hidden, held_out, penalties, conditional };
        Ok(Some(Step { stage, is_cancelled: observer.is_cancelled }))
    }

    /// The same fit of all rows.
    pub(super) fn again(
        &self,
        visible: &Machine,
        table: &Table,
        (Conditional { found, ridge }, hidden): (&Conditional, usize),
        observer: &mut dyn Observer,
    ) -> Result<Fitted> {
        let engine = &self.settings.engine;
        let fits = Conditioned::new(visible, table, None).hidden(hidden, ridge / table.total_weight());
        let found = fits.with(engine.seed(), engine.budget()).again(found, observer)?;
        of_conditionals(&found, table)
    }
}

/// A machine by conditionals as a fit that held-out rows have ended.
fn of_conditionals(found: &ByConditionals, rows: &Table) -> Result<Fitted> {
    let mut fitted = Plan::as_it_is(&found.machine, rows)?;
    fitted.fit.history = vec![found.last];
    fitted.learner = LearnerName::PseudoLikelihood.word();
    fitted.fit.stopped = Stop::HeldOutStalled;
    fitted.fit.guarantee = Guarantee::Approximation;
    Ok(fitted)
}
