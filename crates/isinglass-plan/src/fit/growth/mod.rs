//! `--hidden auto`: hidden units are added in steps to a fitted machine while rows that it has not seen
//! get more probable.
//!
//! With exact moments all couplings are fitted by likelihood. Where moments would be sampled, steps
//! are fitted by `conditionals`, unless rows have gaps or penalties are given: then by persistent
//! chains.

mod conditionals;

use std::borrow::Cow;

use isinglass::engine::Open;
use isinglass::engine::auto::Choice;
use isinglass::learn::{
    Fit, HeldOut, L1, L2, Observer, Stop, Validated, Validation, grown, hold_out, independent_log_likelihood,
    splitting,
};
use isinglass::likelihood::{Phases, TwoPhase};
use isinglass::{Engine, Error as CoreError, Evidence, Guarantee, Machine, Role, Table, Temper};

use self::conditionals::Conditional;
use super::FitSettings;
use super::check::{Checked, FRESH};
use super::penalty::Penalty;
use super::plan::{Fitted, Plan, Way, with_all_biases};
use crate::choose::sampler;
use crate::{EngineName, Error, Hint, LearnerName, Note, Result};

/// Penalties on squares that a step tries, times the rows: a normal prior on couplings with standard
/// deviations from 0.7 to 0.14.
const RIDGES: [f64; 3] = [2.0, 10.0, 50.0];

/// Where moments are sampled a fit takes long: this one alone is tried, and with a penalty that held-out
/// rows chose, which hidden units may leave too weak, so many times as much.
const USUAL_RIDGE: f64 = 10.0;
const STRONGER: f64 = 1.5;

/// Iterations without a rise after which a step ends, by exact and by sampled moments.
const PATIENCE: usize = 100;
const SAMPLED_PATIENCE: usize = 40;

/// Units that the first step adds; each next one adds as many as there are.
const FIRST: usize = 4;

/// Starts of a step that split the rows of the table, besides that by what the machine misses.
const SPLITS: u64 = 2;

/// Iterations from one look at held-out rows to the next; where values are sampled, all count, and
/// averages of so many are compared.
const SPACING: usize = 4;
const WINDOW: usize = 8;

/// Sweeps of the chains that judge a machine.
const SWEEPS: usize = 4096;

/// A number of hidden units that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// The hidden units.
    pub hidden: usize,
    /// The penalty on squares of couplings.
    pub l2: f64,
    /// The penalty on their absolute values.
    pub l1: f64,
    /// The average log-likelihood of a held-out row.
    pub held_out: f64,
    /// Its standard error: of rows, and of log Z where that is an estimate.
    pub error: f64,
    /// By how much it is above the best before, and the standard error of that, for the same rows.
    pub rise: Option<(f64, f64)>,
    /// What kind of number it is.
    pub guarantee: Guarantee,
}

/// How hidden units were added.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    /// What was tried, in order.
    pub path: Vec<Size>,
    /// The number that was kept.
    pub hidden: usize,
    /// The weight of the held-out rows.
    pub rows: f64,
    /// Its penalty on squares of couplings.
    pub l2: f64,
    /// Its penalty on their absolute values.
    pub l1: f64,
}

/// A machine of the path, the fit that led to it, and what it is worth.
struct Stage {
    fitted: Fitted,
    hidden: usize,
    held_out: HeldOut,
    penalties: Penalties,
    /// Where it was fitted by conditionals.
    conditional: Option<Conditional>,
}

/// λ of `λ/2 Σ w²`, and of `λ Σ |w|`.
#[derive(Clone, Copy)]
struct Penalties {
    l2: f64,
    l1: f64,
}

/// What all steps of a path need.
struct Path<'a> {
    settings: &'a FitSettings,
    rows: &'a Table,
    held_out: &'a Table,
    /// Whether penalties were given.
    has_l2: bool,
    has_l1: bool,
}

/// The result of a step.
struct Step {
    stage: Stage,
    is_cancelled: bool,
}

impl FitSettings {
    /// Adds hidden units to a machine, where it misses what a table shows; they are joined with all
    /// other units that are not hidden.
    ///
    /// # Errors
    /// A table that does not fit the machine; too little memory for draws from it.
    pub fn grown(&self, machine: &Machine, count: usize, table: &Table) -> Result<Machine> {
        let engine = self.free_engine(machine, 0)?;
        Ok(grown(machine, count, table, sampler(&*engine)?, self.engine.seed())?)
    }

    /// The engine for a machine without evidence: exact, if that is within the budget.
    fn free_engine(&self, machine: &Machine, fresh: u64) -> Result<Box<dyn Engine>> {
        let none = Evidence::none(machine.unit_count());
        Ok(match self.engine.auto(machine, &Open::alike(none))? {
            Choice::Exact { engine, .. } if self.engine.engine != EngineName::Temper => engine,
            _ => {
                let seed = self.engine.seed().wrapping_add(fresh);
                let temper = Temper::from(self.engine.group.temper).seed(seed);
                Box::new(if fresh == 0 { temper } else { temper.sweeps(Some(SWEEPS)) })
            }
        })
    }

    /// The settings of a step, by exact moments if that is within the budget.
    fn of_step(&self, begin: &Machine, table: &Table, penalties: Penalties) -> Result<Self> {
        let mut step = Self { keeps_start: true, ..Plan::alone(self) };
        step.learner = LearnerName::Likelihood;
        let Penalties { l2, l1 } = penalties;
        step.group.likelihood.l2 = L2::Weight(l2);
        step.group.likelihood.l1 = (l1 > 0.0).then_some(L1::Weight(l1));
        if step.engine.engine == EngineName::Auto {
            let (_, free) = TwoPhase::new(begin, table)?.open()?;
            if let Choice::Sampling { .. } = self.engine.auto(&with_all_biases(begin)?, &free)? {
                step.engine.engine = EngineName::Temper;
            }
        }
        Ok(step)
    }
}

impl Plan {
    /// Fits the machine without further hidden units, then adds some while held-out rows get more
    /// probable.
    pub(super) fn fit_growing(
        &self,
        start: &Machine,
        table: &Table,
        observer: &mut dyn Observer,
        note: &dyn Fn(Note),
    ) -> Result<Fitted> {
        if start.with_role(Role::Input).next().is_some() {
            return Err(CoreError::CannotDo {
                who: "hidden auto",
                what: "add hidden units to a machine with input units".into(),
                why: "what it misses is found by draws, and every row has a distribution of its own".into(),
            }
            .into());
        }
        let (rows, held_out) = match &self.settings.validate {
            Some(rows) => (Cow::Borrowed(table), Cow::Borrowed(&**rows)),
            None => {
                let (rows, held_out) = hold_out(table, self.settings.engine.seed())?;
                (Cow::Owned(rows), Cow::Owned(held_out))
            }
        };
        let mut watch = Cancellable { observer, is_cancelled: false };
        let mut base = if self.settings.keeps_start {
            Self::as_it_is(start, &rows)?
        } else {
            match self.by_conditionals(start, (&rows, &held_out), &mut watch, note)? {
                Some(found) => found,
                None => self.fit_once(start, &rows, None, &mut watch, note)?,
            }
        };
        base.checked.check = None;
        let mut settings = self.settings.clone();
        if let Some(penalty) = &base.penalty {
            settings.group = penalty.applied(settings.group);
        }
        let given = &self.settings.group.likelihood;
        let path = Path {
            settings: &settings,
            rows: &rows,
            held_out: &held_out,
            has_l2: matches!(given.l2, L2::Weight(_)),
            has_l1: matches!(given.l1, Some(L1::Weight(_))),
        };
        let hidden = start.with_role(Role::Hidden).count();
        let worth = path.worth(&base.fit.machine)?;
        let (penalty, is_cancelled) = (base.penalty.clone(), watch.is_cancelled);
        let likelihood = &settings.group.likelihood;
        let penalties = Penalties { l2: likelihood.l2.weight(), l1: likelihood.l1.map_or(0.0, L1::weight) };
        let mut best = Stage { fitted: base, hidden, held_out: worth, penalties, conditional: None };
        let mut growth = Growth {
            path: vec![Size::of(&best, None)],
            hidden,
            rows: held_out.total_weight(),
            l2: penalties.l2,
            l1: penalties.l1,
        };
        let mut is_over = is_cancelled;
        let l1 = if is_over { None } else { self.strength(start, (&rows, &held_out), penalty.as_ref())? };
        while !is_over {
            let step = match l1 {
                Some(l1) => path.conditional_step((start, l1), &best, &mut watch)?,
                None => Some(path.step(&best, &mut watch)?),
            };
            let Some(step) = step else { break };
            is_over = step.is_cancelled;
            let rise = step.stage.held_out.above(&best.held_out);
            growth.path.push(Size::of(&step.stage, Some(rise)));
            if rise.0 > 0.0 {
                best = step.stage;
                let Penalties { l2, l1 } = best.penalties;
                (growth.hidden, growth.l2, growth.l1) = (best.hidden, l2, l1);
            } else {
                is_over = true;
            }
        }
        note(Note::Growth(growth.clone()));
        let mut fitted = best.fitted;
        if self.settings.validate.is_none() && !watch.is_cancelled {
            match &best.conditional {
                Some(found) => fitted = path.again(start, table, (found, best.hidden), watch.observer)?,
                None => path.on_all_rows(&mut fitted, table, best.penalties, watch.observer)?,
            }
        }
        fitted.checked = self.settings.checked(&mut fitted.fit, table, false, self.cancel.as_ref(), note)?;
        (fitted.growth, fitted.penalty) = (Some(growth), penalty);
        Ok(fitted)
    }

    /// Where moments would be sampled, rows are complete and no penalty is given: the penalty on
    /// absolute values with which steps by conditionals begin.
    fn strength(
        &self,
        start: &Machine,
        (rows, held_out): (&Table, &Table),
        penalty: Option<&Penalty>,
    ) -> Result<Option<f64>> {
        let group = &self.settings.group.likelihood;
        let is_free = group.l1.is_none() && group.l2 == L2::Unset && !self.settings.keeps_start;
        let is_complete = rows.missing_count() + held_out.missing_count() == 0;
        let has_hidden = start.with_role(Role::Hidden).next().is_some();
        if !matches!(self.way, Way::Sampled { .. }) || !is_free || !is_complete || has_hidden {
            return Ok(None);
        }
        self.l1_of_conditionals(start, rows, penalty).map(Some)
    }

    /// Where moments would be sampled: the pseudo-likelihood's machine for the penalty that held-out
    /// rows chose, which all steps fit anew. None where that is no better than independent units.
    fn by_conditionals(
        &self,
        start: &Machine,
        (rows, held_out): (&Table, &Table),
        observer: &mut dyn Observer,
        note: &dyn Fn(Note),
    ) -> Result<Option<Fitted>> {
        if !matches!(self.way, Way::Sampled { .. }) || rows.missing_count() > 0 {
            return Ok(None);
        }
        let Some(penalty) = self.choose(start, rows, note)? else { return Ok(None) };
        let mut settings = Self::alone(&self.settings);
        settings.learner = LearnerName::PseudoLikelihood;
        settings.engine.engine = EngineName::Auto;
        settings.group = penalty.of_conditionals().applied(settings.group);
        let plan = settings.plan(start, rows, &|_| ())?;
        let mut found = plan.fit_once(start, rows, None, observer, &|_| ())?;
        let independent = independent_log_likelihood(start, held_out)?;
        let path = Path { settings: &self.settings, rows, held_out, has_l2: true, has_l1: true };
        let is_usable = path.worth(&found.fit.machine)?.mean > independent;
        found.penalty = Some(penalty);
        Ok(is_usable.then_some(found))
    }

    /// The settings of one fit of the path.
    fn alone(settings: &FitSettings) -> FitSettings {
        FitSettings { check: false, validate: None, grows: false, ..settings.clone() }
    }

    /// A machine that is not fitted, as the first of a path.
    fn as_it_is(machine: &Machine, rows: &Table) -> Result<Fitted> {
        let fit = Fit {
            machine: machine.clone(),
            history: Vec::new(),
            kept: 0,
            converged: false,
            stopped: Stop::Limit { iterations: 0 },
            log_likelihood: None,
            guarantee: Guarantee::Estimate,
            pseudo_log_likelihood: None,
            diagnostics: isinglass::Diagnostics::direct(),
            notes: Vec::new(),
        };
        Ok(Fitted {
            learner: LearnerName::Likelihood.word(),
            engine: None,
            clamped_engine: None,
            restart_objectives: vec![0.0],
            remedy: None,
            is_complete: true,
            checked: Checked { independent: independent_log_likelihood(machine, rows)?, check: None },
            penalty: None,
            growth: None,
            diverged: None,
            validation: Vec::new(),
            posterior: None,
            fit,
        })
    }
}

impl Path<'_> {
    /// What a machine is worth for held-out rows.
    fn worth(&self, machine: &Machine) -> Result<HeldOut> {
        let free = self.settings.free_engine(machine, FRESH)?;
        let clamped = self.settings.check_rows(machine, self.held_out)?;
        Ok(HeldOut::of(machine, self.held_out, Phases { clamped: &*clamped, free: &*free })?)
    }

    /// Adds units to the best machine so far, and fits all couplings, for the best of some penalties
    /// unless they are given.
    fn step(&self, best: &Stage, observer: &mut dyn Observer) -> Result<Step> {
        let machine = &best.fitted.fit.machine;
        let is_exact = self.free_is_exact(machine)?;
        let added = best.hidden.max(FIRST);
        let hidden = best.hidden + added;
        let begin = self.settings.grown(machine, added, self.rows)?;
        let mut found: Option<Step> = None;
        for penalties in self.penalties(best.penalties, is_exact) {
            self.try_start((&begin, hidden), penalties, &mut found, observer)?;
        }
        for attempt in 0..if is_exact { SPLITS } else { 0 } {
            let Some(penalties) = found.as_ref().map(|step| step.stage.penalties) else { break };
            let number = SPLITS * best.hidden as u64 + attempt;
            let begin = splitting(machine, added, self.rows, self.settings.engine.seed(), number)?;
            self.try_start((&begin, hidden), penalties, &mut found, observer)?;
        }
        // There is one penalty at least.
        found.ok_or_else(|| CoreError::invalid("hidden", "no penalty to try").into())
    }

    /// Fits from a start, unless the fits were cancelled, and keeps the result if it is the best.
    fn try_start(
        &self,
        (begin, hidden): (&Machine, usize),
        penalties: Penalties,
        found: &mut Option<Step>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if found.as_ref().is_some_and(|step| step.is_cancelled) {
            return Ok(());
        }
        let step = self.fit(begin, hidden, penalties, observer)?;
        let mean = |step: &Step| step.stage.held_out.mean;
        let is_cancelled = step.is_cancelled;
        if found.as_ref().is_none_or(|other| mean(&step) > mean(other)) {
            *found = Some(step);
        }
        if let Some(step) = found {
            step.is_cancelled = is_cancelled;
        }
        Ok(())
    }

    /// The penalties that a step tries: on squares where moments are exact, otherwise on absolute values
    /// where held-out rows chose one.
    fn penalties(&self, before: Penalties, is_exact: bool) -> Vec<Penalties> {
        let ridge = |ridge: f64| if self.has_l2 { before.l2 } else { ridge / self.rows.total_weight() };
        if is_exact && !self.has_l2 {
            return RIDGES.iter().map(|&each| Penalties { l2: ridge(each), ..before }).collect();
        }
        let usual = Penalties { l2: ridge(USUAL_RIDGE).max(before.l2), ..before };
        if is_exact || self.has_l1 || before.l1 == 0.0 {
            return vec![usual];
        }
        vec![usual, Penalties { l1: STRONGER * before.l1, ..usual }]
    }

    /// Whether moments of a machine are exact.
    fn free_is_exact(&self, machine: &Machine) -> Result<bool> {
        Ok(self.settings.free_engine(&with_all_biases(machine)?, 0)?.is_exact())
    }

    /// Fits from a start until held-out rows get no more probable.
    fn fit(
        &self,
        begin: &Machine,
        hidden: usize,
        penalties: Penalties,
        observer: &mut dyn Observer,
    ) -> Result<Step> {
        let settings = self.settings.of_step(begin, self.rows, penalties)?;
        let plan = settings.plan(begin, self.rows, &|_| ())?;
        let (mut fitted, is_cancelled) = plan.fit_validated((begin, self.rows), self.held_out, observer)?;
        fitted.is_complete = true;
        let held_out = self.worth(&fitted.fit.machine)?;
        Ok(Step { stage: Stage { fitted, hidden, held_out, penalties, conditional: None }, is_cancelled })
    }

    /// Continues the best fit on the rows that were held out, too, for as many iterations as it took.
    fn on_all_rows(
        &self,
        fitted: &mut Fitted,
        table: &Table,
        penalties: Penalties,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let begin = fitted.fit.machine.clone();
        let mut settings = self.settings.of_step(&begin, table, penalties)?;
        let most = &mut settings.group.likelihood.iterations;
        *most = (*most).min(fitted.fit.kept.max(1));
        let plan = settings.plan(&begin, table, &|_| ())?;
        let all = plan.fit_once(&begin, table, None, observer, &|_| ())?;
        *fitted = Fitted { is_complete: true, ..all };
        Ok(())
    }
}

impl Size {
    fn of(stage: &Stage, rise: Option<(f64, f64)>) -> Self {
        let HeldOut { mean, error, guarantee, .. } = stage.held_out;
        let Penalties { l2, l1 } = stage.penalties;
        Self { hidden: stage.hidden, l2, l1, held_out: mean, error, rise, guarantee }
    }
}

impl Plan {
    /// Fits by likelihood from the start given, and keeps the machine under which held-out rows are
    /// most probable. Returns whether the observer has ended it, too.
    pub(super) fn fit_validated(
        &self,
        (start, table): (&Machine, &Table),
        held_out: &Table,
        observer: &mut dyn Observer,
    ) -> Result<(Fitted, bool)> {
        let (free, clamped, is_open, is_sampled) = match &self.way {
            Way::Likelihood { engine, clamped, is_open } => {
                (&**engine, clamped.as_deref().unwrap_or(&**engine), *is_open, false)
            }
            Way::Sampled { engine, clamped, is_open } => {
                (&**engine as &dyn Engine, &**clamped, *is_open, true)
            }
            Way::PseudoLikelihood(_) | Way::Other(..) | Way::ClosedForm(_) | Way::Bayes(..) => {
                return Err(CoreError::invalid("validate", "requires the likelihood").into());
            }
        };
        let settings = &self.settings.group.likelihood;
        let penalties = (settings.l2.weight(), settings.l1.map_or(0.0, L1::weight));
        let mut watch = Validation::new(clamped, start, (table, held_out), penalties, observer)?;
        watch = if is_sampled {
            watch.spaced(1, WINDOW).patience(SAMPLED_PATIENCE)
        } else {
            watch.spaced(SPACING, 1).patience(PATIENCE)
        };
        let (mut fit, restart_objectives) = self
            .fit_starts((start, table), None, None, &mut watch)
            .map_err(|error| Error::from(error).with_hint(Hint::LikelihoodBudget))?;
        let is_cancelled = watch.is_cancelled();
        let (validation, best) = watch.finish();
        if let Some((seen, machine)) = best {
            keep(&mut fit, seen, machine, is_cancelled);
        }
        let independent = independent_log_likelihood(&fit.machine, table)?;
        let fitted = Fitted {
            learner: LearnerName::Likelihood.word(),
            engine: Some(free.name()),
            clamped_engine: is_open.then(|| clamped.name()),
            fit,
            restart_objectives,
            remedy: None,
            is_complete: !is_cancelled,
            checked: Checked { independent, check: None },
            penalty: None,
            growth: None,
            diverged: None,
            validation,
            posterior: None,
        };
        Ok((fitted, is_cancelled))
    }
}

/// Puts the machine that held-out rows chose into a fit.
fn keep(fit: &mut Fit, seen: Validated, machine: Machine, is_cancelled: bool) {
    if fit.stopped == Stop::Requested && !is_cancelled {
        fit.stopped = Stop::HeldOutStalled;
    }
    // The last machine of a fit that has converged is as good as any.
    fit.converged = fit.converged && seen.iteration == fit.iterations();
    (fit.machine, fit.kept, fit.log_likelihood) = (machine, seen.iteration, Some(seen.log_likelihood));
}

/// Passes everything on, and records whether the fit was to end.
struct Cancellable<'a> {
    observer: &'a mut dyn Observer,
    is_cancelled: bool,
}

impl Observer for Cancellable<'_> {
    fn step(
        &mut self,
        step: &isinglass::learn::Step,
        machine: &Machine,
    ) -> isinglass::Result<std::ops::ControlFlow<()>> {
        let flow = self.observer.step(step, machine)?;
        self.is_cancelled |= flow.is_break();
        Ok(flow)
    }
}
