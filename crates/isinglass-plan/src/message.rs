//! Errors, hints, notes and warnings of a request: data, rendered in the style of a front end.

use std::fmt::{self, Write};

use isinglass::engine::auto::Reason;
use isinglass::learn::{Check, Chosen, Need, Stop};
use isinglass::message::{Message, Setting, Style, render_settings};
use isinglass::progress::duration;
use isinglass::{Diagnostics, Expectations, Gibbs, Guarantee, Temper};

use crate::{EngineName, Growth, LearnerName, Penalty, count};

/// A request that is invalid as it stands.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Usage {
    /// A setting that the chosen engine or learner does not accept.
    Belongs {
        /// The setting.
        setting: Setting,
        /// `engine` or `learner`.
        to: Setting,
        /// The names of those that accept it.
        owners: Vec<&'static str>,
        /// The one that was chosen, if it was named.
        chosen: Option<&'static str>,
    },
    /// There is no setting of that name.
    Unknown {
        /// The name.
        name: String,
    },
    /// A setting with a value of the wrong type.
    Type {
        /// The setting.
        setting: String,
        /// What is expected.
        expected: String,
    },
    /// A value, or a combination of values, that is not accepted.
    Value(isinglass::Error),
    /// Brackets need bounds, and the engine gives none.
    NoBound(&'static str),
    /// The engine finds most probable states and nothing else.
    OnlyModes,
    /// A start was given, and restarts require others.
    OneStart,
    /// Components can be recorded for machines without inputs only.
    ComponentsWithInputs,
    /// Rows to validate with, where penalties are given.
    NothingToChoose,
}

impl Message for Usage {
    fn render(&self, out: &mut dyn Write, style: Style) -> fmt::Result {
        match self {
            Self::Belongs { setting, to, owners, chosen } => {
                setting.render(out, style)?;
                out.write_str(" belongs to ")?;
                to.render(out, style)?;
                write!(out, " {}", owners.join(", "))?;
                chosen.iter().try_for_each(|chosen| write!(out, "; {chosen} does not accept it"))
            }
            Self::Unknown { name } => write!(out, "unexpected keyword argument '{name}'"),
            Self::Type { setting, expected } => write!(out, "{setting}: expected {expected}"),
            Self::Value(error) => error.render(out, style),
            Self::NoBound(engine) => {
                Setting("bracket").render(out, style)?;
                write!(out, ": the engine {engine} gives no bound on log Z")
            }
            Self::OnlyModes => render_settings(
                out,
                style,
                "{engine} max-product finds most probable states and nothing else: it is for isinglass map",
            ),
            Self::OneStart => {
                render_settings(out, style, "{init} gives the only start, and {restarts} requires more")
            }
            Self::ComponentsWithInputs => {
                render_settings(out, style, "{component-history} is for machines without inputs")
            }
            Self::NothingToChoose => render_settings(
                out,
                style,
                "{validate} gives rows that choose a penalty: it requires {l2} auto or {l1} auto",
            ),
        }
    }
}

/// What would help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// A larger budget.
    Budget,
    /// Fewer kept states.
    GibbsBudget,
    /// Fewer chains or levels.
    TemperBudget,
    /// Fewer rows.
    RowsBudget,
    /// Fewer free units, or another engine.
    AnswerBudget,
    /// Another engine for likelihoods.
    Ais,
    /// A smaller problem, or another engine or learner.
    LikelihoodBudget,
    /// A learner for any size.
    Factorized,
    /// Fewer resamples.
    Bootstrap,
    /// To fill the gaps first.
    FillGaps,
    /// An engine for strong couplings.
    StrongCouplings,
    /// A penalty that is a number.
    GivePenalty,
}

impl Message for Hint {
    fn render(&self, out: &mut dyn Write, style: Style) -> fmt::Result {
        let text = match self {
            Self::Budget => "give more {budget}",
            Self::GibbsBudget => "give more {budget}, or fewer {samples} or {chains}",
            Self::TemperBudget => "give more {budget}, or fewer {replicas}, {levels} or {sweeps}",
            Self::RowsBudget => "give more {budget}, or some of the rows at a time",
            Self::AnswerBudget => {
                "give more {budget}, clamp units with {given}, or use an approximate engine such as {engine} bethe or temper"
            }
            Self::Ais => "give more {budget}, or use {engine} ais, which gives estimates",
            Self::LikelihoodBudget => {
                "give more {budget}, sparser {visible-links}, or fewer units or missing cells; or use an approximate engine \
                 ({engine} bethe, tap, linear-response) or a learner that needs none ({learner} pl-em or, without hidden units, \
                 pseudo-likelihood and closed-form)"
            }
            Self::Factorized => "give more {budget}; {learner} factorized fits any size",
            Self::Bootstrap => "give more {budget}, or a smaller {bootstrap}",
            Self::StrongCouplings => {
                "use an exact engine or a bound ({engine} auto, structured, mixture, trw), or estimates ({engine} ais)"
            }
            Self::GivePenalty => "give a number, such as {l2} 0.01",
            Self::FillGaps => {
                "fit without {l1}, fill the gaps with isinglass complete, and fit the filled table with {l1}"
            }
        };
        render_settings(out, style, text)
    }
}

impl Hint {
    /// What would help where an engine refused a question, for lack of memory or since it fails here.
    pub fn of(error: &isinglass::Error) -> Option<Self> {
        match error {
            isinglass::Error::OverBudget { who, .. } if *who == Gibbs::NAME => Some(Self::GibbsBudget),
            isinglass::Error::OverBudget { who, .. } if *who == Temper::NAME => Some(Self::TemperBudget),
            isinglass::Error::OverBudget { who: "complete", .. } => Some(Self::RowsBudget),
            isinglass::Error::OverBudget { .. } => Some(Self::AnswerBudget),
            isinglass::Error::ImpossibleLogZ { .. } => Some(Self::StrongCouplings),
            _ => None,
        }
    }
}

/// Seconds that are worth a word.
pub const LONG: f64 = 2.0;

/// What went wrong on the way from a request to an answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The request is invalid.
    Usage(Usage),
    /// The work failed.
    Core(isinglass::Error),
    /// The work failed, and something would help.
    Hinted {
        /// What is wrong.
        error: isinglass::Error,
        /// What would help.
        hint: Hint,
    },
}

/// Results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The same error, with a hint if it is one of too little memory.
    #[must_use]
    pub fn with_hint(self, hint: Hint) -> Self {
        match self {
            Self::Core(error @ isinglass::Error::OverBudget { .. }) => Self::Hinted { error, hint },
            other => other,
        }
    }

    /// The same error, with the hint for a question to an engine.
    #[must_use]
    pub fn with_advice(self) -> Self {
        match self {
            Self::Core(error) => match Hint::of(&error) {
                Some(hint) => Self::Hinted { error, hint },
                None => Self::Core(error),
            },
            other => other,
        }
    }
}

impl From<Usage> for Error {
    fn from(usage: Usage) -> Self {
        Self::Usage(usage)
    }
}

impl From<isinglass::Error> for Error {
    fn from(error: isinglass::Error) -> Self {
        match error {
            isinglass::Error::Setting { .. } | isinglass::Error::Requires { .. } => {
                Self::Usage(Usage::Value(error))
            }
            other => Self::Core(other),
        }
    }
}

impl Message for Error {
    fn render(&self, out: &mut dyn Write, style: Style) -> fmt::Result {
        match self {
            Self::Usage(usage) => usage.render(out, style),
            Self::Core(error) => error.render(out, style),
            Self::Hinted { error, hint } => {
                error.render(out, style)?;
                out.write_str("\nhint: ")?;
                hint.render(out, style)?;
                // Where memory is not all that is missing.
                let seconds = error.work().map_or(0.0, isinglass::Work::seconds);
                if seconds >= LONG {
                    write!(out, "; with enough memory it would take about {}", duration(seconds))?;
                }
                Ok(())
            }
        }
    }
}

/// Settings are written as flags.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.render(f, Style::Flags)
    }
}

impl std::error::Error for Error {}

/// What was decided for the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// The engine that `auto` chose.
    Engine(Reason),
    /// The learner that `auto` chose, since no exact engine is within the budget.
    Learner {
        /// The learner.
        learner: LearnerName,
        /// The error of the exact engine that came nearest.
        refusal: isinglass::Error,
    },
    /// pl-em in place of pseudo-likelihood, since the table has missing cells.
    MissingCells,
    /// The fit was not checked.
    NotChecked {
        /// Why.
        why: isinglass::Error,
    },
    /// The fit was not checked, since it was cancelled.
    CheckCancelled,
    /// The penalty that held-out rows chose.
    Penalty(Penalty),
    /// The number of hidden units that held-out rows chose.
    Growth(Growth),
    /// Rows with missing cells were left out.
    DroppedRows {
        /// Their number.
        rows: usize,
    },
    /// Missing cells were filled by draws.
    Imputed {
        /// How often each.
        versions: usize,
        /// Their number.
        cells: usize,
    },
    /// Which posterior is sampled.
    Posterior {
        /// The exact engine of the likelihood; without one, it is that of the pseudo-likelihood.
        engine: Option<&'static str>,
    },
}

/// So many columns are named; of others, the number.
const NAMED: usize = 8;

/// Why there is a penalty though none was requested.
fn render_need(out: &mut dyn Write, need: &Need) -> fmt::Result {
    match need {
        Need::Determined(names) => {
            let named: Vec<String> = names.iter().take(NAMED).map(|name| format!("'{name}'")).collect();
            let (word, are) = if names.len() == 1 { ("column", "is") } else { ("columns", "are") };
            write!(out, "{word} {}", named.join(", "))?;
            if names.len() > NAMED {
                write!(out, " and {} more", names.len() - NAMED)?;
            }
            write!(out, " {are} determined by others, so that couplings have no finite optimum")
        }
        Need::FewRows { rows, parameters } => {
            write!(out, "{rows} rows are few for {parameters:.0} parameters of each unit")
        }
    }
}

impl Message for Penalty {
    fn render(&self, out: &mut dyn Write, style: Style) -> fmt::Result {
        let Chosen { penalty, path, rows } = &self.chosen;
        if let Some(need) = &self.need {
            render_need(out, need)?;
            out.write_str("; ")?;
        }
        let setting = Setting(self.setting);
        setting.render(out, style)?;
        write!(out, " auto chose {penalty}")?;
        if let (Some(best), Some(first), Some(last)) = (self.chosen.best(), path.first(), path.last()) {
            write!(
                out,
                " of {} penalties from {} to {}, by the {} of {rows} held-out rows: {:.4} ± {:.4} per row",
                path.len(),
                first.penalty,
                last.penalty,
                self.criterion,
                best.held_out,
                best.error
            )?;
        }
        if self.need.is_some() {
            out.write_str("; ")?;
            setting.render(out, style)?;
            out.write_str(" 0 fits without a penalty")?;
        }
        Ok(())
    }
}

impl Message for Growth {
    fn render(&self, out: &mut dyn Write, style: Style) -> fmt::Result {
        Setting("hidden").render(out, style)?;
        write!(out, " auto keeps {}, by the log-likelihood of {} held-out rows:", self.hidden, self.rows)?;
        for (number, size) in self.path.iter().enumerate() {
            let separator = if number == 0 { " " } else { ", " };
            write!(out, "{separator}{} units {:.4}", size.hidden, size.held_out)?;
            match size.rise {
                Some((rise, error)) => write!(out, " ({rise:+.4} ± {error:.4})")?,
                None => write!(out, " ± {:.4}", size.error)?,
            }
        }
        if self.path.len() > 1 {
            out.write_str("; ")?;
            Setting("l2").render(out, style)?;
            write!(out, " {}", self.l2)?;
            if self.l1 > 0.0 {
                out.write_str(", ")?;
                Setting("l1").render(out, style)?;
                write!(out, " {}", self.l1)?;
            }
        }
        Ok(())
    }
}

impl Message for Note {
    fn render(&self, out: &mut dyn Write, style: Style) -> fmt::Result {
        match self {
            Self::Engine(reason) => write!(out, "engine: {reason}"),
            Self::Learner { learner, refusal } => {
                // With samples where exact moments are out of reach.
                let engine = if *learner == LearnerName::Likelihood { " with engine temper" } else { "" };
                write!(out, "learner: {learner}{engine}, since no exact engine is within the budget (")?;
                refusal.render(out, style)?;
                out.write_char(')')
            }
            Self::DroppedRows { rows } => {
                write!(out, "{} with missing cells left out", count(*rows, "row"))
            }
            Self::Imputed { versions, cells } => write!(
                out,
                "{} filled by {} each, given the rest of their row, from a machine of all rows",
                count(*cells, "missing cell"),
                count(*versions, "draw")
            ),
            Self::MissingCells => out.write_str("learner: pl-em, since the table has missing cells"),
            Self::Penalty(penalty) => penalty.render(out, style),
            Self::Growth(growth) => growth.render(out, style),
            Self::CheckCancelled => out.write_str("the fit is not checked: it was ended before"),
            Self::Posterior { engine: Some(engine) } => {
                write!(out, "posterior of the likelihood, by engine {engine}")
            }
            Self::Posterior { engine: None } => render_settings(
                out,
                style,
                "posterior of the pseudo-likelihood; {engine} eliminate or enumerate samples that of the likelihood, \
                 with one evaluation for each step",
            ),
            Self::NotChecked { why } => {
                out.write_str("the fit is not checked: ")?;
                why.render(out, style)
            }
        }
    }
}

/// What makes an answer worth less than it seems.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// An iteration did not reach its fixed point.
    NoFixedPoint {
        /// The engine.
        engine: &'static str,
        /// Sweeps made.
        sweeps: usize,
        /// By how much its equations are violated.
        residual: f64,
        /// Whether the answer is a bound all the same.
        is_bound: bool,
    },
    /// Annealed runs from the two ends do not give the same log Z.
    EndsDisagree {
        /// The engine.
        engine: &'static str,
        /// log Z from runs to the machine.
        forward: f64,
        /// log Z from runs back.
        reverse: f64,
    },
    /// Annealed runs go back from draws of chains that did not mix.
    StartsNotMixed {
        /// The engine.
        engine: &'static str,
    },
    /// Few runs of annealed importance sampling carry the weight.
    FewRuns {
        /// The engine.
        engine: &'static str,
        /// Effective runs.
        effective: f64,
        /// All runs.
        runs: usize,
    },
    /// Chains did not mix.
    NotMixed,
    /// Correlations beyond −1 and +1.
    Impossible {
        /// The engine.
        engine: &'static str,
        /// How many there are.
        count: usize,
    },
    /// A Kullback divergence below 0.
    NegativeDivergence {
        /// The engine.
        engine: &'static str,
        /// By how much its log Z is too small, at least.
        deficit: f64,
    },
    /// Fits of groups that did not converge.
    GroupsNotConverged {
        /// The groups.
        groups: Vec<String>,
    },
    /// A fit that did not converge.
    NotConverged {
        /// Why it stopped.
        stopped: Stop,
    },
    /// Couplings without bounds after steps that were too long.
    Diverged {
        /// The largest, divided by T.
        largest: f64,
        /// The rate of the steps.
        rate: f64,
    },
    /// Starts that were compared by the pseudo-likelihood of completed rows.
    ComparedByCompletions,
    /// A machine that is further from its table than independent units.
    Unusable {
        /// The check.
        check: Box<Check>,
        /// The log-likelihood of a row under independent units.
        independent: f64,
        /// Whether its likelihood was maximised by sampling.
        is_sampled: bool,
    },
    /// A machine whose moments are not those of its table.
    Deviates {
        /// The largest deviation, in standard errors.
        largest: f64,
        /// The root of the mean square.
        rms: f64,
    },
    /// The check of a fit rests on chains that did not mix.
    CheckNotMixed,
}

impl Warning {
    /// The warning about an answer that did not converge.
    pub fn of(engine: &'static str, guarantee: Guarantee, diagnostics: &Diagnostics) -> Option<Self> {
        if diagnostics.converged {
            return None;
        }
        Some(match (diagnostics.iteration, diagnostics.importance) {
            (Some(iteration), _) => Self::NoFixedPoint {
                engine,
                sweeps: iteration.sweeps,
                residual: iteration.residual,
                is_bound: matches!(guarantee, Guarantee::LowerBound | Guarantee::UpperBound),
            },
            (None, Some(importance)) if !importance.has_many_runs() => {
                Self::FewRuns { engine, effective: importance.effective_samples, runs: importance.runs }
            }
            (None, Some(importance)) if !importance.ends_agree() => Self::EndsDisagree {
                engine,
                forward: importance.forward_log_z,
                reverse: importance.reverse_log_z,
            },
            (None, Some(_)) => Self::StartsNotMixed { engine },
            (None, None) => Self::NotMixed,
        })
    }

    /// The warning about correlations that no machine can have.
    pub fn of_correlations(engine: &'static str, answer: &Expectations) -> Option<Self> {
        /// A correlation of 1, with a little room for rounding.
        const LARGEST: f64 = 1.0 + 1e-9;
        let count = answer.correlations.values.iter().filter(|x| x.abs() > LARGEST).count();
        (count > 0).then_some(Self::Impossible { engine, count })
    }
}

impl Message for Warning {
    fn render(&self, out: &mut dyn Write, style: Style) -> fmt::Result {
        match self {
            Self::GroupsNotConverged { groups } => {
                let text = "have not converged: differences may be those of unfinished fits; a little {l2} or more {iterations} may help";
                let s = if groups.len() == 1 { "" } else { "s" };
                write!(out, "the fits of group{s} {} ", groups.join(", "))?;
                render_settings(out, style, text)
            }
            Self::NoFixedPoint { engine, sweeps, residual, is_bound } => {
                let sweeps = count(*sweeps, "sweep");
                write!(
                    out,
                    "{engine}: no fixed point was reached in {sweeps} (its equations are violated by up to {residual:.1e}); "
                )?;
                let has = |setting| engine.parse().is_ok_and(|engine: EngineName| engine.accepts(setting));
                let advice = match (is_bound, has("starts"), has("anneal")) {
                    (true, true, true) => {
                        "the bound holds all the same; more {max-sweeps}, {starts} or {anneal} may improve it"
                    }
                    (true, true, false) => {
                        "the bound holds all the same; more {max-sweeps} or {starts} may improve it"
                    }
                    (true, false, _) => "the bound holds all the same; more {max-sweeps} may improve it",
                    (false, ..) => "try more {max-sweeps}, other {starts}, {anneal}, or another engine",
                };
                render_settings(out, style, advice)
            }
            Self::EndsDisagree { engine, forward, reverse } => {
                write!(
                    out,
                    "{engine}: runs to the machine give a log Z of {forward:.3}, runs back from it {reverse:.3}; half the difference is in the standard error of log Z, but other standard errors are too small; "
                )?;
                render_settings(out, style, "try more {temperatures} and {chains}")
            }
            Self::StartsNotMixed { engine } => {
                write!(
                    out,
                    "{engine}: the tempered chains from which runs go back did not mix, so log Z and its standard error may be off; "
                )?;
                render_settings(out, style, "try more {temperatures} and {chains}, or {engine} temper")
            }
            Self::FewRuns { engine, effective, runs } => {
                write!(
                    out,
                    "{engine}: few runs carry the weight ({effective:.0} of {runs}), so the standard errors are too small; "
                )?;
                render_settings(out, style, "try more {temperatures} and {chains}")
            }
            Self::NotMixed => render_settings(
                out,
                style,
                "the chains did not mix well (see R-hat and effective samples); try more {samples} and {burn-in}, or an exact engine",
            ),
            Self::Impossible { engine, count: number } => {
                let found = count(*number, "correlation");
                write!(out, "{found} beyond -1 or +1: the engine {engine} fails for couplings as strong as these")
            }
            Self::NegativeDivergence { engine, deficit } => write!(
                out,
                "the divergence is below 0: the log Z of engine {engine} is too small by at least {deficit:.3} and cannot be trusted here"
            ),
            Self::NotConverged { stopped } => write!(out, "not converged: {stopped}"),
            Self::Diverged { largest, rate } => {
                write!(out, "the fit diverged: couplings of up to {largest:.1e}, as steps with ")?;
                Setting("rate").render(out, style)?;
                write!(out, " {rate} are too long; use a smaller one")
            }
            Self::ComparedByCompletions => out.write_str(
                "starts were compared by the pseudo-likelihood of rows completed by draws, which favours hidden units that copy visible ones",
            ),
            Self::Unusable { check, independent, is_sampled } => {
                write!(
                    out,
                    "the machine is unusable: draws from it are unlike the table (moments are off by up to {:.0} standard errors, {:.1} on average)",
                    check.largest, check.rms
                )?;
                if let Some(found) = &check.log_likelihood {
                    let error = found.error.map_or_else(String::new, |error| format!(" ± {error:.3}"));
                    write!(
                        out,
                        "; its log-likelihood per row is {:.3}{error}, that of independent units {independent:.3}",
                        found.value
                    )?;
                }
                let advice = if *is_sampled {
                    "; try {l2} auto, or more {iterations} and {replicas}"
                } else {
                    "; use {learner} likelihood {engine} temper"
                };
                render_settings(out, style, advice)
            }
            Self::Deviates { largest, rms } => write!(
                out,
                "draws from the machine deviate from the table: moments are off by up to {largest:.1} standard errors, {rms:.1} on average"
            ),
            Self::CheckNotMixed => out.write_str(
                "the chains of the check did not mix: its figures and the log-likelihood are uncertain",
            ),
        }
    }
}
