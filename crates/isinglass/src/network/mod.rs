//! What the couplings of a machine say as a network: which units are central, how well each is
//! predicted by the others, and how stable both are.
//!
//! [`Centrality`] and [`Predictability`] are computed from a machine; [`measure`] reads both in every
//! resample of a [`Bootstrap`](crate::learn::Bootstrap), so that they get intervals and difference
//! tests; [`CaseDropping`] fits ever fewer rows. Calls learners and likelihoods; front ends call it.

mod centrality;
mod dropping;
mod paths;
mod predictability;

pub use centrality::Centrality;
pub use dropping::{CaseDropping, DropLevel, Kept, Stability};
pub use paths::distances;
pub use predictability::{Predictability, predictability};

use crate::engine::Engine;
use crate::learn::{Bootstrapped, Difference, Interval};
use crate::{Machine, Result, Table};

/// A number that each unit of a machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitMeasure {
    /// [`Centrality::strength`].
    Strength,
    /// [`Centrality::expected_influence`].
    ExpectedInfluence,
    /// [`Centrality::closeness`].
    Closeness,
    /// [`Centrality::betweenness`].
    Betweenness,
    /// [`Predictability::accuracy`].
    Accuracy,
    /// [`Predictability::normalised`].
    NormalisedAccuracy,
}

impl UnitMeasure {
    /// All, in the order of [`measure`].
    pub const ALL: [Self; 6] = [
        Self::Strength,
        Self::ExpectedInfluence,
        Self::Closeness,
        Self::Betweenness,
        Self::Accuracy,
        Self::NormalisedAccuracy,
    ];

    /// Its name in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Strength => "strength",
            Self::ExpectedInfluence => "expected_influence",
            Self::Closeness => "closeness",
            Self::Betweenness => "betweenness",
            Self::Accuracy => "accuracy",
            Self::NormalisedAccuracy => "normalised_accuracy",
        }
    }
}

/// The numbers of all units: for each of [`UnitMeasure::ALL`], one for each unit; NaN where one is
/// undefined, and where predictability was not requested.
///
/// An engine computes predictability in rows that have hidden units or missing cells; without one,
/// it is not computed.
///
/// # Errors
/// Those of [`predictability`].
pub fn measure(machine: &Machine, table: &Table, engine: Option<&dyn Engine>) -> Result<Vec<f64>> {
    let found = Centrality::of(machine);
    let mut numbers = [found.strength, found.expected_influence, found.closeness, found.betweenness].concat();
    let undefined = vec![None; machine.unit_count()];
    let (accuracy, normalised) = match engine {
        Some(engine) => {
            let found = predictability(machine, table, engine)?;
            (found.accuracy, found.normalised)
        }
        None => (undefined.clone(), undefined),
    };
    numbers.extend(accuracy.iter().chain(&normalised).map(|number| number.unwrap_or(f64::NAN)));
    Ok(numbers)
}

/// What is known of the network of a machine: its measures, and how sure they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    units: usize,
    values: Vec<f64>,
    /// Intervals of couplings, biases and measures; those of a bootstrap with [`measure`].
    pub bootstrap: Option<Bootstrapped>,
    /// What is left of the order of units with fewer rows.
    pub stability: Option<Stability>,
}

impl Study {
    /// Computes the measures of a machine; predictability needs a table and an engine.
    ///
    /// # Errors
    /// Those of [`predictability`].
    pub fn of(machine: &Machine, table: Option<(&Table, &dyn Engine)>) -> Result<Self> {
        let values = match table {
            Some((table, engine)) => measure(machine, table, Some(engine))?,
            None => measure(machine, &Table::new(Vec::<String>::new())?, None)?,
        };
        Ok(Self { units: machine.unit_count(), values, bootstrap: None, stability: None })
    }

    /// The values of a measure, for each unit; NaN where it is undefined.
    pub fn values(&self, measure: UnitMeasure) -> &[f64] {
        let first = measure as usize * self.units;
        &self.values[first..first + self.units]
    }

    /// The intervals of a measure, for each unit.
    pub fn intervals(&self, measure: UnitMeasure) -> Option<&[Interval]> {
        let first = measure as usize * self.units;
        Some(&self.bootstrap.as_ref()?.measures[first..first + self.units])
    }

    /// The difference of two units in a measure.
    pub fn difference(&self, measure: UnitMeasure, a: usize, b: usize) -> Option<Difference> {
        let first = measure as usize * self.units;
        Some(self.bootstrap.as_ref()?.measure_difference(first + a, first + b))
    }

    /// Whether any unit has a value of a measure.
    pub fn has(&self, measure: UnitMeasure) -> bool {
        self.values(measure).iter().any(|value| !value.is_nan())
    }
}
