//! log Z, and the log-likelihood of a table, between two rigorous bounds.
//!
//! [`Bounds`] holds engines that bound log Z from below or above, and takes the best on each side.

use std::sync::Arc;

use crate::engine::{Ask, BatchExpectations, Diagnostics, Engine, Expectations, Guarantee, Pairs};
use crate::likelihood::{LogLikelihood, Phases, log_likelihood};
use crate::table::Batch;
use crate::{Error, Evidence, LogDet, Machine, Mixture, Result, Structured, Table, Trw};

/// Engines that bound log Z from below and from above; an exact one does both.
///
/// The best bound of each side is kept, so more engines cost time and never widen the bracket. An
/// engine that cannot do the job, or not within its budget, is skipped if another can.
///
/// # Example
/// ```
/// use isinglass::bracket::Bounds;
/// use isinglass::{Engine, Enumerate, Evidence, Machine, Pairs, topology};
/// let ring = topology::full(6).with_parameters(vec![0.4; 15], vec![0.1; 6])?;
/// let nothing = Evidence::none(6);
/// let bracket = Bounds::default().log_z(&ring, &nothing, Pairs::None)?;
/// let truth = Enumerate::default().expectations(&ring, &nothing, Pairs::None)?.log_z.unwrap();
/// assert!(bracket.lower() <= truth && truth <= bracket.upper());
/// # Ok::<(), isinglass::Error>(())
/// ```
pub struct Bounds {
    /// Engines whose log Z is at most the true one.
    pub below: Vec<Arc<dyn Engine>>,
    /// Engines whose log Z is at least the true one.
    pub above: Vec<Arc<dyn Engine>>,
}

/// One side of a bracket.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The engine whose bound was best.
    pub engine: &'static str,
    /// The bound.
    pub log_z: f64,
    /// The engine's whole answer.
    pub answer: Expectations,
}

/// log Z between two bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Bracket {
    /// The largest lower bound.
    pub below: Bound,
    /// The smallest upper bound.
    pub above: Bound,
}

impl Bracket {
    /// At most log Z.
    pub fn lower(&self) -> f64 {
        self.below.log_z
    }

    /// At least log Z.
    pub fn upper(&self) -> f64 {
        self.above.log_z
    }

    /// Returns the distance of the two.
    pub fn width(&self) -> f64 {
        self.upper() - self.lower()
    }
}

/// The average log-likelihood of a row, visible given input units, between two bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct LikelihoodBracket {
    /// At most the log-likelihood: clamped sums from below less free sums from above.
    pub lower: f64,
    /// At least the log-likelihood: clamped sums from above less free sums from below.
    pub upper: f64,
    /// Exact, and then `upper` is the same; otherwise a lower bound.
    pub guarantee: Guarantee,
    /// How the computations went, all together.
    pub diagnostics: Diagnostics,
}

impl Default for Bounds {
    fn default() -> Self {
        Self::best(Mixture::default(), Structured::default(), Trw::default(), LogDet::default())
    }
}

impl Bounds {
    /// Returns a bracket of width 0 from one exact engine.
    pub fn exact(engine: Box<dyn Engine>) -> Self {
        Self { below: Vec::new(), above: Vec::new() }.with_exact(engine)
    }

    /// Adds an exact engine, which is tried first; the others serve where energies are too large
    /// for it.
    #[must_use]
    pub fn with_exact(mut self, engine: Box<dyn Engine>) -> Self {
        let engine: Arc<dyn Engine> = engine.into();
        self.below.insert(0, engine.clone());
        self.above.insert(0, engine);
        self
    }

    /// Returns all available bounds.
    pub fn best(
        mixture: impl Into<Mixture>,
        structured: impl Into<Structured>,
        trw: impl Into<Trw>,
        logdet: impl Into<LogDet>,
    ) -> Self {
        Self {
            below: vec![Arc::new(structured.into()), Arc::new(mixture.into())],
            above: vec![Arc::new(trw.into()), Arc::new(logdet.into())],
        }
    }

    /// Returns bounds of log Z given the evidence, with the moments of each side's engine.
    ///
    /// # Errors
    /// An engine that gives no bound; the first error of a side where no engine can do the job.
    pub fn log_z(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Bracket> {
        let below = self.largest_lower().bound(machine, evidence, pairs)?;
        if below.answer.guarantee == Guarantee::Exact {
            return Ok(Bracket { above: below.clone(), below });
        }
        let above = self.smallest_upper().bound(machine, evidence, pairs)?;
        if above.answer.guarantee == Guarantee::Exact && above.log_z < below.log_z {
            // The lower bound is above it by rounding alone.
            return Ok(Bracket { below: above.clone(), above });
        }
        Ok(Bracket { below, above })
    }

    /// Returns bounds of the log-likelihood of a table.
    ///
    /// `clamped` is for rows with hidden or missing cells, `free` for the machine given its inputs.
    ///
    /// # Errors
    /// As [`Bounds::log_z`]; a table that does not fit the machine.
    pub fn log_likelihood(
        machine: &Machine,
        table: &Table,
        clamped: &Self,
        free: &Self,
    ) -> Result<LikelihoodBracket> {
        let gain =
            |clamped: &Best<'_>, free: &Best<'_>| log_likelihood(machine, table, Phases { clamped, free });
        let lower = gain(&clamped.largest_lower(), &free.smallest_upper())?;
        if lower.guarantee == Guarantee::Exact {
            let LogLikelihood { value, guarantee, diagnostics, .. } = lower;
            return Ok(LikelihoodBracket { lower: value, upper: value, guarantee, diagnostics });
        }
        let upper = gain(&clamped.smallest_upper(), &free.largest_lower())?;
        Ok(LikelihoodBracket {
            lower: lower.value,
            upper: upper.value,
            guarantee: Guarantee::LowerBound,
            diagnostics: lower.diagnostics.and(upper.diagnostics),
        })
    }

    fn largest_lower(&self) -> Best<'_> {
        Best { side: Side::Below, engines: &self.below }
    }

    fn smallest_upper(&self) -> Best<'_> {
        Best { side: Side::Above, engines: &self.above }
    }
}

/// The side from which log Z is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Above,
}

impl Side {
    fn word(self) -> &'static str {
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
    fn check(self, engine: &dyn Engine, guarantee: Guarantee) -> Result<()> {
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
struct Best<'a> {
    side: Side,
    engines: &'a [Arc<dyn Engine>],
}

impl Best<'_> {
    /// Returns the best bound for one evidence.
    fn bound(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Bound> {
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

    fn fingerprint(&self) -> String {
        let engines: Vec<String> = self.engines.iter().map(|engine| engine.fingerprint()).collect();
        format!("bracket {} of {}", self.side.word(), engines.join("; "))
    }

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        Ok(self.bound(machine, evidence, pairs)?.answer)
    }

    /// Returns the best bound of each row. Moments would come from different engines: there are
    /// none.
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
