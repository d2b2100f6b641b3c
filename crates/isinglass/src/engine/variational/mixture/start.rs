//! Where the components of a mixture begin.

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

/// The point at which a search begins: the same for every row.
pub(super) struct Start {
    /// Whether units begin near what their fields alone would give them; otherwise they begin anywhere.
    at_field: bool,
    /// Numbers between −1 and 1 for each unit of the machine, for every other component; the next has them with the other sign, so that no value is preferred.
    shifts: Vec<f64>,
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
            at_field: number == 0,
            shifts: uniform.draw(units * components.div_ceil(2), random),
            units,
            spread: if settings.anneal.is_some() { WARM_SPREAD } else { SPREAD },
        }
    }

    /// The bytes of a start.
    pub(super) fn bytes(components: usize, units: usize) -> u128 {
        8 * components.div_ceil(2) as u128 * units as u128
    }

    fn shift(&self, component: usize, unit: usize) -> f64 {
        let sign = if component.is_multiple_of(2) { 1.0 } else { -1.0 };
        sign * self.shifts[component / 2 * self.units + unit]
    }

    /// Put every unit where it begins; probabilities have to be renewed.
    pub(super) fn begin(&self, state: &mut State, fields: &[f64], free: &[usize]) {
        for ((x, &field), &unit) in state.fields.chunks_exact_mut(state.width).zip(fields).zip(free) {
            for (component, x) in x[..state.components].iter_mut().enumerate() {
                let shift = self.shift(component, unit);
                *x = if self.at_field { field + self.spread * shift } else { shift.atanh() };
            }
        }
    }

    /// Move every component a little; probabilities have to be renewed.
    pub(super) fn nudge(&self, state: &mut State, free: &[usize]) {
        for (x, &unit) in state.fields.chunks_exact_mut(state.width).zip(free) {
            for (component, x) in x[..state.components].iter_mut().enumerate() {
                *x += NUDGE * self.shift(component, unit);
            }
        }
    }
}
