//! Where the components of a mixture begin.

use super::super::settings::StartingMeans;
use super::state::State;
use crate::engine::VariationalSettings;
use crate::numeric::streams::{Purpose, stream};
use crate::topology::Numbers;

/// How far components are apart in the first start: at a higher temperature they find their own ways,
const WARM_SPREAD: f64 = 0.1;
/// otherwise the start decides where they end.
const SPREAD: f64 = 1.0;

/// How far components are moved, each its own way, when the temperature has fallen: enough to part those that had become the same.
const NUDGE: f64 = 0.02;

/// The same for component 0, which goes the way of `mean-field`.
const FIRST_NUDGE: f64 = 1e-3;

/// The point at which a search begins: the same for every row.
pub(super) struct Start {
    /// Component 0, as `mean-field` would begin.
    first: StartingMeans,
    /// Numbers between −1 and 1 for each unit of the machine, component after component from the second.
    others: Vec<f64>,
    units: usize,
    spread: f64,
}

impl Start {
    /// *Arguments*: the start's number; the units and components for which numbers are wanted.
    pub(super) fn new(
        settings: &VariationalSettings,
        number: usize,
        units: usize,
        components: usize,
    ) -> Self {
        let uniform = Numbers::Uniform { low: -1.0, high: 1.0 };
        let random = &mut stream(settings.seed, Purpose::Mixture, number as u64);
        Self {
            first: settings.start(number, units),
            others: uniform.draw(units * (components - 1), random),
            units,
            spread: if settings.anneal.is_some() { WARM_SPREAD } else { SPREAD },
        }
    }

    /// The bytes of a start.
    pub(super) fn bytes(components: usize, units: usize) -> u128 {
        8 * components as u128 * units as u128
    }

    fn shift(&self, component: usize, unit: usize) -> f64 {
        self.others[(component - 1) * self.units + unit]
    }

    /// Put every unit near what its field alone would give, or anywhere; probabilities have to be renewed.
    pub(super) fn begin(&self, state: &mut State, fields: &[f64], free: &[usize]) {
        for ((x, &field), &unit) in state.fields.chunks_exact_mut(state.width).zip(fields).zip(free) {
            for (component, x) in x[..state.components].iter_mut().enumerate() {
                *x = match (component, self.first.at_field) {
                    (0, true) => field + self.first.shifts[unit],
                    (0, false) => self.first.shifts[unit].atanh(),
                    (_, true) => field + self.spread * self.shift(component, unit),
                    (_, false) => self.shift(component, unit).atanh(),
                };
            }
        }
    }

    /// Move every component a little; probabilities have to be renewed.
    pub(super) fn nudge(&self, state: &mut State, free: &[usize]) {
        let shifts = &self.first.shifts;
        let largest = shifts.iter().fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
        for (x, &unit) in state.fields.chunks_exact_mut(state.width).zip(free) {
            x[0] += FIRST_NUDGE * shifts[unit] / largest;
            for (component, x) in x[..state.components].iter_mut().enumerate().skip(1) {
                *x += NUDGE * self.shift(component, unit);
            }
        }
    }
}
