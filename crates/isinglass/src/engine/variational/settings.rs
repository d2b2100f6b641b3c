//! How fixed points are looked for: what all variational engines share.

use std::str::FromStr;

use super::{Bethe, MeanField, Tap};
use crate::numeric::streams::{Purpose, stream};
use crate::settings::{Settings, UnknownWord, Value, choices, range, settings};
use crate::topology::Numbers;
use crate::{Error, Result};

settings! {
    /// Settings of the engines that iterate to a fixed point.
    ///
    /// # Example
    /// ```
    /// use isinglass::engine::VariationalSettings;
    /// use isinglass::settings::Settings;
    /// let patient = VariationalSettings::default().starts(10).anneal(Some("60:8".parse()?));
    /// patient.validate()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub struct VariationalSettings for MeanField, Tap, Bethe {
        /// Start at temperature T0 and cool to the machine's own in geometric steps: T0:STEPS, such
        /// as 60:8
        anneal: Option<Annealing> = None,
        /// Points at which the search starts; the result with the largest log Z is kept
        starts: usize = 1 => range::at_least_1,
        /// Share of the old value kept in each update, below 1; raised where an iteration
        /// oscillates
        damping: f64 = 0.0 => range::below_1,
        /// Order of updates
        schedule: Schedule = Schedule::Sequential,
        /// Largest number of sweeps, at each temperature
        max_sweeps: usize = 10_000 => range::at_least_1,
    }
    rust {
        /// Converged when no equation is violated by more than this.
        tolerance: f64 = 1e-10 => range::positive,
    }
    common { seed, budget }
}

choices! {
    /// The order in which units are updated.
    pub enum Schedule = Sequential {
        /// One unit after the other, each with the new values of those before it.
        Sequential = "sequential",
        /// All at once: may oscillate, which is detected and damped.
        Parallel = "parallel",
    }
}

/// Temperatures that fall geometrically.
///
/// # Example
/// ```
/// use isinglass::engine::Annealing;
/// let anneal: Annealing = "16:4".parse()?;
/// assert_eq!(anneal.temperatures(1.0).collect::<Vec<_>>(), [16.0, 8.0, 4.0, 2.0]);
/// # Ok::<(), isinglass::settings::UnknownWord>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Annealing {
    /// The temperature to begin with.
    pub from: f64,
    /// The steps down to the machine's own temperature.
    pub steps: usize,
}

/// Serialised as text, `60:8`; a pair of numbers is read too.
impl<'de> serde::Deserialize<'de> for Annealing {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Pair(f64, usize),
        }
        let text = match serde::Deserialize::deserialize(deserializer)? {
            Form::Text(text) => text,
            Form::Pair(from, steps) => format!("{from}:{steps}"),
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Value for Annealing {
    const PYTHON: &'static str = "str | tuple[float, int]";

    fn expected() -> String {
        "a temperature and a number of steps (1 to 10000) such as 60:8".into()
    }

    fn shown(&self) -> Option<String> {
        Some(format!("{}:{}", self.from, self.steps))
    }
}

impl FromStr for Annealing {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let parts = text.split_once(':');
        let numbers = parts.map(|(from, steps)| (from.trim().parse::<f64>(), steps.trim().parse::<usize>()));
        match numbers {
            Some((Ok(from), Ok(steps)))
                if from.is_finite() && from > 0.0 && (1..=10_000).contains(&steps) =>
            {
                Ok(Self { from, steps })
            }
            _ => Err(UnknownWord { found: text.to_owned(), expected: Self::expected() }),
        }
    }
}

impl Annealing {
    /// Returns the temperatures above the machine's own, the highest first.
    pub fn temperatures(self, last: f64) -> impl Iterator<Item = f64> {
        let ratio = last / self.from;
        (0..self.steps).map(move |k| self.from * ratio.powf(k as f64 / self.steps as f64))
    }
}

/// The largest shift of the first start: enough to leave a point held by symmetry alone.
const NUDGE: f64 = 1e-3;

impl VariationalSettings {
    /// Above the machine's own temperature, sweeps end at this change,
    pub(super) const WARM_TOLERANCE: f64 = 1e-4;
    /// or after so many sweeps.
    pub(super) const WARM_SWEEPS: usize = 100;

    /// Checks the settings for a machine of some temperature.
    ///
    /// # Errors
    /// [`Error::Setting`] that names the setting.
    pub fn check(&self, temperature: f64) -> Result<()> {
        self.validate()?;
        match self.anneal {
            Some(Annealing { from, .. }) if !(from.is_finite() && from > temperature) => {
                let problem = format!(
                    "starts at {from}, expected more than the machine's own temperature, {temperature}"
                );
                Err(Error::invalid("anneal", problem))
            }
            _ => Ok(()),
        }
    }

    /// Returns where a start puts each unit: near `tanh(field)` (start 0), or anywhere. It is the
    /// same for every row, so that answers are independent of the other rows of a batch.
    pub(super) fn start(&self, start: usize, units: usize) -> StartingMeans {
        let range = if start == 0 { NUDGE } else { 1.0 };
        let spread = Numbers::Uniform { low: -range, high: range };
        let random = &mut stream(self.seed, Purpose::VariationalStart, start as u64);
        StartingMeans { at_field: start == 0, shifts: spread.draw(units, random) }
    }
}

/// The point at which a search begins.
pub(super) struct StartingMeans {
    /// Whether units begin at `tanh(field + shift)`; otherwise at the shift itself.
    pub(super) at_field: bool,
    /// One for each unit of the machine.
    pub(super) shifts: Vec<f64>,
}
