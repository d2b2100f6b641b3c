//! The best of several bounds, row by row.

use std::sync::Arc;

use super::Bound;
use crate::engine::{Ask, BatchExpectations, Diagnostics, Engine, Expectations, Guarantee, Pairs};
use crate::table::Batch;
use crate::{Error, Evidence, Machine, Result};

/// The side from which log Z is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Below,
    Above,
}

impl Side {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Below => "from below",
            Self::Above => "from above",
        }
    }

    /// Returns whether a bound is tighter than another.
    fn prefers(self, new: f64, old: f64) -> bool {
        match self {
            Self::Below => new > old,
            Self::Above => new < old,
        }
    }

    /// Checks that an answer bounds this side.
    pub(super) fn check(self, engine: &dyn Engine, guarantee: Guarantee) -> Result<()> {
        match (self, guarantee) {
            (_, Guarantee::Exact)
            | (Self::Below, Guarantee::LowerBound)
            | (Self::Above, Guarantee::UpperBound) => Ok(()),
            _ => Err(Error::CannotDo {
                who: engine.name(),
                what: format!("bound log Z {}", self.word()),
                why: format!("its answer for this machine is of the kind '{guarantee}'"),
            }),
        }
    }
}

/// The engines of a side as one engine; for a batch it has log Z only.
#[derive(Debug)]
pub(super) struct Best<'a> {
    pub(super) side: Side,
    pub(super) engines: &'a [Arc<dyn Engine>],
}

impl Best<'_> {
    /// Returns the best bound for one evidence.
    pub(super) fn bound(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Bound> {
        let ask = |engine: &dyn Engine| {
            let answer = engine.expectations(machine, evidence, pairs)?;
            self.side.check(engine, answer.guarantee)?;
            Ok(answer.log_z.map(|log_z| Bound { engine: engine.name(), log_z, answer }))
        };
        let mut bounds = self.answers(ask, |bound| bound.answer.guarantee == Guarantee::Exact)?;
        // An exact answer needs no comparison.
        if let Some(exact) = bounds.pop_if(|bound| bound.answer.guarantee == Guarantee::Exact) {
            return Ok(exact);
        }
        let better =
            |best: Bound, new: Bound| if self.side.prefers(new.log_z, best.log_z) { new } else { best };
        bounds.into_iter().reduce(better).ok_or_else(|| self.no_engine())
    }

    /// Collects the engines' answers in order, up to the first that is exact. Engines that cannot
    /// do the job are skipped; if none can, returns the first error.
    fn answers<T>(
        &self,
        ask: impl Fn(&dyn Engine) -> Result<Option<T>>,
        is_exact: impl Fn(&T) -> bool,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        let mut refusal = None;
        for engine in self.engines {
            match ask(&**engine) {
                Ok(answer) => {
                    let ends = answer.as_ref().is_some_and(&is_exact);
                    found.extend(answer);
                    if ends {
                        break;
                    }
                }
                Err(error @ (Error::CannotDo { .. } | Error::OverBudget { .. })) => {
                    refusal.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        if found.is_empty() { Err(refusal.unwrap_or_else(|| self.no_engine())) } else { Ok(found) }
    }

    fn no_engine(&self) -> Error {
        let (who, what) = ("bracket", format!("bound log Z {}", self.side.word()));
        Error::CannotDo { who, what, why: "no engine for that side was given".into() }
    }
}

impl Engine for Best<'_> {
    fn name(&self) -> &'static str {
        "bracket"
    }

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        Ok(self.bound(machine, evidence, pairs)?.answer)
    }

    /// Returns the best bound of each row. There are no moments, since they would come from
    /// different engines.
    fn batch(&self, machine: &Machine, batch: &Batch, _: Ask) -> Result<BatchExpectations> {
        let ask = |engine: &dyn Engine| {
            let answer = engine.batch(machine, batch, Ask::default())?;
            self.side.check(engine, answer.guarantee)?;
            Ok(Some(answer))
        };
        let mut answers = self.answers(ask, |answer| answer.guarantee == Guarantee::Exact)?;
        if let Some(exact) = answers.pop_if(|answer| answer.guarantee == Guarantee::Exact) {
            return Ok(exact);
        }
        let mut guarantee = Guarantee::Exact;
        let mut diagnostics = Diagnostics::direct();
        let mut best: Option<Vec<f64>> = None;
        for answer in answers {
            guarantee = guarantee.and(answer.guarantee);
            diagnostics = diagnostics.and(answer.diagnostics);
            let Some(new) = answer.log_z else { continue };
            best = Some(match best {
                None => new,
                Some(mut best) => {
                    best.iter_mut()
                        .zip(new)
                        .filter(|(old, new)| self.side.prefers(*new, **old))
                        .for_each(|(old, new)| *old = new);
                    best
                }
            });
        }
        Ok(BatchExpectations {
            log_z: best,
            log_z_errors: None,
            statistics: None,
            means: None,
            guarantee,
            diagnostics,
        })
    }
}
