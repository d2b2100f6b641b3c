//! The one error type of the core: every message names the place, what was found and what would be right.

use crate::engine::Budget;

/// What can go wrong in the core.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A graph or machine breaks a rule of its construction.
    #[error("{place}: {problem}")]
    Invalid {
        /// Which unit, edge, row or option.
        place: String,
        /// What is wrong there.
        problem: String,
    },
    /// A unit name that the machine does not have.
    #[error("there is no unit named '{name}'{}", hint_of(.hint.as_ref()))]
    UnknownUnit {
        /// The name asked for.
        name: String,
        /// A unit with a similar name, if there is one.
        hint: Option<String>,
    },
    /// Two things that must have the same length do not.
    #[error("{what}: found {found}, expected {expected}")]
    Length {
        /// What was measured.
        what: &'static str,
        /// The length found.
        found: usize,
        /// The length that would be right.
        expected: usize,
    },
    /// The work needs more memory than the budget allows.
    #[error("{who}: {what} needs {}, and the budget is {budget}", Budget::bytes(*.needed))]
    OverBudget {
        /// The engine or command that refused.
        who: &'static str,
        /// What would need the memory.
        what: String,
        /// The bytes needed.
        needed: u128,
        /// The bytes allowed.
        budget: Budget,
    },
    /// An engine or learner was asked for something that it cannot give.
    #[error("{who} cannot {what}: {why}")]
    CannotDo {
        /// The engine or learner.
        who: &'static str,
        /// What was asked for.
        what: String,
        /// The reason, and what can do it.
        why: String,
    },
    /// A numerical method broke down.
    #[error("{method}: {problem}")]
    Numerical {
        /// The method.
        method: &'static str,
        /// What happened.
        problem: String,
    },
}

/// Results of the core.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An [`Error::Invalid`] at a place.
    pub fn invalid(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { place: place.into(), problem: problem.into() }
    }

    /// Check that a setting is a finite number of at least 0.
    pub fn check_not_negative(place: &str, number: f64) -> Result<()> {
        if number.is_finite() && number >= 0.0 {
            return Ok(());
        }
        Err(Self::invalid(place, format!("found {number}, expected a finite number of at least 0")))
    }

    /// Check that two lengths agree.
    pub fn check_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
        if found == expected { Ok(()) } else { Err(Self::Length { what, found, expected }) }
    }
}

fn hint_of(hint: Option<&String>) -> String {
    hint.map(|name| format!(" (did you mean '{name}'?)")).unwrap_or_default()
}
