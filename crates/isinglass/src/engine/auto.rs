//! The choice `auto`: an exact engine whenever its cost is within the budget.

use super::{Budget, Enumerate, Gibbs};

/// What an engine would do for a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The engine.
    pub engine: &'static str,
    /// Whether it can run within the budget.
    pub available: bool,
    /// Whether its answers are exact.
    pub exact: bool,
    /// The bytes that count against the budget.
    pub bytes: u128,
    /// The cost, in words.
    pub cost: String,
}

/// What each engine would cost for some number of free units, best first.
///
/// # Example
/// ```
/// use isinglass::{Budget, engine::auto};
/// let offers = auto::offers(20, Budget::default());
/// assert!(offers[0].available && offers[0].exact);
/// assert_eq!(offers[0].engine, "enumerate");
/// assert!(!auto::offers(40, Budget::default())[0].available);
/// ```
pub fn offers(free_units: usize, budget: Budget) -> Vec<Offer> {
    let enumerate = Enumerate { budget };
    let mut gibbs = Gibbs::default();
    gibbs.settings.budget = budget;
    let gibbs_bytes = gibbs.bytes(free_units);
    vec![
        Offer {
            engine: Enumerate::NAME,
            available: enumerate.check(free_units).is_ok(),
            exact: true,
            bytes: Enumerate::cost(free_units),
            cost: format!(
                "2^{free_units} states, {} at 8 bytes each",
                Budget::bytes(Enumerate::cost(free_units))
            ),
        },
        Offer {
            engine: Gibbs::NAME,
            available: gibbs.check(free_units).is_ok(),
            exact: false,
            bytes: gibbs_bytes,
            cost: format!(
                "{} chains of {} states, {}",
                gibbs.settings.chains,
                gibbs.settings.samples,
                Budget::bytes(gibbs_bytes)
            ),
        },
    ]
}

/// The engine that `auto` takes, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The name of the engine.
    pub engine: &'static str,
    /// The reason, for the user.
    pub reason: String,
}

/// Choose an engine for some number of free units.
pub fn choose(free_units: usize, budget: Budget) -> Choice {
    let offers = offers(free_units, budget);
    let exact = &offers[0];
    if exact.available {
        Choice { engine: exact.engine, reason: format!("{} (exact: {})", exact.engine, exact.cost) }
    } else {
        Choice {
            engine: Gibbs::NAME,
            reason: format!(
                "{} (estimates: {free_units} free units are too many to enumerate within {budget}, which would take {})",
                Gibbs::NAME,
                Budget::bytes(exact.bytes)
            ),
        }
    }
}
