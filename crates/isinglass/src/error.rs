//! The error type of the core: a message names the place, what was found and what is expected.

use std::fmt;

use crate::budget::{Budget, Work};
use crate::message::{Message, Setting, Style};

/// What can go wrong in the core.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A graph, machine or table breaks a rule of its construction.
    Invalid {
        /// Which unit, edge, row or option.
        place: String,
        /// What is wrong there.
        problem: String,
    },
    /// A setting has a value that is not accepted.
    Setting {
        /// The setting.
        setting: Setting,
        /// What is wrong with its value.
        problem: String,
    },
    /// A setting requires another one.
    Requires {
        /// The setting that was given.
        setting: Setting,
        /// The setting that it belongs to, and the values of that one with which it is accepted.
        owner: (Setting, &'static str),
    },
    /// A unit name that the machine does not have.
    UnknownUnit {
        /// The name.
        name: String,
        /// A unit with a similar name, if there is one.
        hint: Option<String>,
    },
    /// Two things that must have the same length do not.
    Length {
        /// What was measured.
        what: &'static str,
        /// The length found.
        found: usize,
        /// The length expected.
        expected: usize,
    },
    /// The work needs more memory than the budget allows.
    OverBudget {
        /// The engine or command that refused.
        who: &'static str,
        /// What would need the memory.
        what: String,
        /// The bytes needed.
        needed: u128,
        /// The bytes allowed.
        budget: Budget,
        /// The work that would be done with enough of them, where it was counted.
        work: Option<Work>,
    },
    /// The system has no more memory, whatever the budget.
    OutOfMemory {
        /// What needs it.
        what: &'static str,
        /// The bytes that it has already.
        held: u128,
    },
    /// An engine or learner does not support a request.
    CannotDo {
        /// The engine or learner.
        who: &'static str,
        /// The request.
        what: String,
        /// The reason, and what supports it.
        why: String,
    },
    /// A checkpoint cannot be resumed here.
    Checkpoint {
        /// Why not.
        problem: String,
    },
    /// The log Z of an approximation is beyond what it can be.
    ImpossibleLogZ {
        /// The engine.
        engine: &'static str,
        /// Its log Z.
        found: f64,
        /// The most that log Z can be, or the least: `Σ ln 2cosh h_i + Σ |w_ij|/T`, or
        /// `Σ ln 2cosh h_i + Σ w_ij m_i m_j/T`, with the fields h (divided by T) and the means
        /// m = tanh h of the units without their couplings.
        bound: f64,
        /// Whether it is above the most.
        is_above: bool,
    },
    /// A numerical method broke down.
    Numerical {
        /// The method.
        method: &'static str,
        /// What happened.
        problem: String,
    },
}

impl Message for Error {
    fn render(&self, out: &mut dyn fmt::Write, style: Style) -> fmt::Result {
        match self {
            Self::Invalid { place, problem } => write!(out, "{place}: {problem}"),
            Self::Setting { setting, problem } => {
                setting.render(out, style)?;
                write!(out, ": {problem}")
            }
            Self::Requires { setting, owner: (owner, values) } => {
                setting.render(out, style)?;
                write!(out, " belongs to ")?;
                owner.render(out, style)?;
                write!(out, "{}{values}", if values.is_empty() { "" } else { " " })
            }
            Self::UnknownUnit { name, hint } => {
                write!(out, "there is no unit named '{name}'")?;
                hint.iter().try_for_each(|hint| write!(out, " (did you mean '{hint}'?)"))
            }
            Self::Length { what, found, expected } => {
                write!(out, "{what}: found {found}, expected {expected}")
            }
            Self::OverBudget { who, what, needed, budget, work: _ } => {
                write!(out, "{who}: {what} needs {}, and the budget is {budget}", Budget::bytes(*needed))
            }
            Self::OutOfMemory { what, held } => {
                write!(out, "{what} has {}, and there is no memory for more", Budget::bytes(*held))
            }
            Self::CannotDo { who, what, why } => write!(out, "{who} cannot {what}: {why}"),
            Self::Checkpoint { problem } => write!(out, "checkpoint: {problem}"),
            Self::ImpossibleLogZ { engine, found, bound, is_above } => {
                let (side, why) = if *is_above {
                    ("most", "independent units and the sizes of all couplings added")
                } else {
                    ("least", "independent units and their average energy in the couplings")
                };
                write!(
                    out,
                    "{engine}: found log Z = {}, but it is at {side} {} ({why}); the couplings are too strong for this approximation",
                    Plain(*found),
                    Plain(*bound)
                )
            }
            Self::Numerical { method, problem } => write!(out, "{method}: {problem}"),
        }
    }
}

/// Settings are written as fields.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.render(f, Style::Keywords)
    }
}

impl std::error::Error for Error {}

/// Results of the core.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A number with as many digits as a reader wants.
struct Plain(f64);

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.abs() < 1e9 { write!(f, "{:.4}", self.0) } else { write!(f, "{:.6e}", self.0) }
    }
}

impl Error {
    /// Whether numbers broke down that may be sound for another machine, such as the one of a shorter step.
    pub fn is_breakdown(&self) -> bool {
        matches!(self, Self::Numerical { .. } | Self::ImpossibleLogZ { .. })
    }

    /// An [`Error::Invalid`] at a place.
    pub fn invalid(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { place: place.into(), problem: problem.into() }
    }

    /// An [`Error::Setting`].
    pub fn setting(setting: &'static str, problem: impl Into<String>) -> Self {
        Self::Setting { setting: Setting(setting), problem: problem.into() }
    }

    /// An [`Error::Requires`]: a setting that is accepted only with some values of another one.
    pub fn requires(setting: &'static str, owner: &'static str, values: &'static str) -> Self {
        Self::Requires { setting: Setting(setting), owner: (Setting(owner), values) }
    }

    /// An [`Error::Checkpoint`].
    pub(crate) fn checkpoint(problem: impl Into<String>) -> Self {
        Self::Checkpoint { problem: problem.into() }
    }

    /// With the work that an engine over its budget would do.
    pub(crate) fn with_work(mut self, counted: Work) -> Self {
        if let Self::OverBudget { work, .. } = &mut self {
            *work = Some(counted);
        }
        self
    }

    /// The work that an engine over its budget would do, where it was counted.
    pub fn work(&self) -> Option<Work> {
        match self {
            Self::OverBudget { work, .. } => *work,
            _ => None,
        }
    }

    /// Checks that two lengths agree.
    pub fn check_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
        if found == expected { Ok(()) } else { Err(Self::Length { what, found, expected }) }
    }
}

impl Budget {
    /// Refuses work that needs more bytes than this.
    ///
    /// # Errors
    /// [`Error::OverBudget`], with the figure.
    pub fn check(self, who: &'static str, needed: u128, what: impl FnOnce() -> String) -> Result<()> {
        if needed <= u128::from(self.0) {
            Ok(())
        } else {
            Err(Error::OverBudget { who, what: what(), needed, budget: self, work: None })
        }
    }
}
