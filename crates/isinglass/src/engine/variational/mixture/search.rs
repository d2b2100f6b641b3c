//! The search for the best mixture of one row: starts and temperatures.

use super::super::Theory;
use super::super::couplings::Couplings;
use super::super::panel::Panel;
use super::super::search::Search as Alone;
use super::bound::Task;
use super::climb::Climb;
use super::state::State;
use crate::engine::{Iteration, VariationalSettings};
use crate::numeric::streams::{Purpose, stream};
use crate::topology::Numbers;

/// The distance of components in the first start, if annealing lets them separate,
const WARM_SPREAD: f64 = 0.1;
/// and if the start decides where they end.
const SPREAD: f64 = 1.0;

/// The shift of components as the temperature falls: enough to separate those that have merged.
const NUDGE: f64 = 0.02;

/// Beyond this field a mean is ±1 except for rounding.
const FARTHEST: f64 = 20.0;

/// The best mixture found.
pub(super) struct Found {
    pub(super) state: State,
    /// The bound on the log Z of the free units.
    pub(super) bound: f64,
    pub(super) converged: bool,
    pub(super) iteration: Iteration,
}

/// The start of a search: the same for every row.
pub(super) struct Start {
    /// Whether units begin near their fields; otherwise anywhere.
    at_field: bool,
    /// Numbers between −1 and 1 for each unit of the machine and every other component; the next
    /// component has their negatives, so that neither spin is preferred.
    shifts: Vec<f64>,
    units: usize,
    spread: f64,
}

impl Start {
    /// Draws start `number` for some units and components.
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

    pub(super) fn bytes(components: usize, units: usize) -> u128 {
        8 * components.div_ceil(2) as u128 * units as u128
    }

    /// Sets each unit's field in each component, given the old value, the unit's number among the
    /// free ones and the shift; probabilities then have to be renewed.
    fn set(&self, state: &mut State, free: &[usize], new: impl Fn(f64, usize, f64) -> f64) {
        for (place, (x, &unit)) in state.fields.chunks_exact_mut(state.width).zip(free).enumerate() {
            for (component, x) in x[..state.components].iter_mut().enumerate() {
                let sign = if component.is_multiple_of(2) { 1.0 } else { -1.0 };
                *x = new(*x, place, sign * self.shifts[component / 2 * self.units + unit]);
            }
        }
    }

    fn begin(&self, state: &mut State, fields: &[f64], free: &[usize]) {
        self.set(state, free, |_, place, shift| {
            if self.at_field { fields[place] + self.spread * shift } else { shift.atanh() }
        });
    }

    fn nudge(&self, state: &mut State, free: &[usize]) {
        self.set(state, free, |x, _, shift| x + NUDGE * shift);
    }
}

/// The search for the mixtures of rows that share their free units.
pub(super) struct Search<'a> {
    pub(super) couplings: &'a Couplings,
    pub(super) free: &'a [usize],
    pub(super) components: usize,
    pub(super) starts: &'a [Start],
    pub(super) settings: VariationalSettings,
    /// The machine's own.
    pub(super) temperature: f64,
}

impl Search<'_> {
    /// Returns the bytes of the search for one row: a climb, and the best state of previous starts.
    pub(super) fn bytes(components: usize, units: usize) -> u128 {
        State::bytes(components, units) + Climb::bytes(components, units)
    }

    /// Returns the best mixture for the fields of a row, divided by T.
    pub(super) fn run(&self, fields: &[f64]) -> Found {
        if self.couplings.are_none() {
            // Equal components at the fields are exact.
            let mut climb = self.at(fields, fields.iter().copied());
            let bound = climb.evaluate();
            let iteration = Iteration { sweeps: 0, residual: 0.0, damping: 0.0, oscillated: false };
            return Found { state: climb.state, bound, converged: true, iteration };
        }
        let mut best: Option<Found> = None;
        for (number, start) in self.starts.iter().enumerate() {
            let mut climb = self.climb(fields);
            start.begin(&mut climb.state, fields, self.free);
            climb.renew();
            if let Some(anneal) = self.settings.anneal {
                for warm in anneal.temperatures(self.temperature) {
                    climb.task.beta = self.temperature / warm;
                    climb.warm();
                    start.nudge(&mut climb.state, self.free);
                    climb.renew();
                }
                climb.task.beta = 1.0;
            }
            let found = self.or_from_mean_field(number, climb.settle(), fields);
            if best.as_ref().is_none_or(|best| found.bound > best.bound) {
                best = Some(found);
            }
        }
        // `VariationalSettings::check` requires a start.
        best.expect("at least one start")
    }

    /// Restarts from mean field's result of the same start if the mixture's bound is below it, so
    /// that it never is. Starts are independent, so that more starts never lower the bound (one
    /// component, which is mean field, prefers starts that converge).
    fn or_from_mean_field(&self, number: usize, found: Found, fields: &[f64]) -> Found {
        let panel = Panel::of_fields(fields);
        let Self { couplings, free, settings, temperature, .. } = self;
        let theory = Theory::MeanField;
        let alone =
            Alone { theory, couplings, panel: &panel, free, settings, temperature: *temperature }.one(number);
        if found.bound >= alone.log_z[0] {
            return found;
        }
        // Frees the memory.
        drop(found);
        let gathered = || alone.means.iter().map(|mean| mean.atanh().clamp(-FARTHEST, FARTHEST));
        let mut parting = self.at(fields, gathered());
        self.starts[number].nudge(&mut parting.state, free);
        parting.renew();
        let parted = parting.settle();
        if parted.bound >= alone.log_z[0] {
            return parted;
        }
        drop(parted);
        let mut together = self.at(fields, gathered());
        let bound = together.evaluate();
        let residual = together.residual();
        let iteration = Iteration { residual, ..alone.iterations[0] };
        Found { state: together.state, bound, converged: residual <= settings.tolerance, iteration }
    }

    /// Returns a climb from equal components, with a field for each unit.
    fn at<'a>(&'a self, fields: &'a [f64], units: impl Iterator<Item = f64>) -> Climb<'a> {
        let mut climb = self.climb(fields);
        for (x, field) in climb.state.fields.chunks_exact_mut(climb.state.width).zip(units) {
            x.fill(field);
        }
        climb.renew();
        climb
    }

    fn climb<'a>(&'a self, fields: &'a [f64]) -> Climb<'a> {
        let task = Task { couplings: self.couplings, fields, beta: 1.0 };
        Climb::new(task, State::new(self.components, self.free.len()), &self.settings)
    }
}
