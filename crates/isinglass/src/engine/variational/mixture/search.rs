//! The search for the best mixture of one row: starts, temperatures, sweeps.

use fearless_simd::{Level, dispatch};

use super::super::Theory;
use super::super::couplings::Couplings;
use super::super::panel::Panel;
use super::super::search::Search as Alone;
use super::bound::{Task, Terms};
use super::extrapolation::{Point, Stride};
use super::start::Start;
use super::state::State;
use super::sweep::{Scratch, Step, sweep, violation};
use crate::cancel;
use crate::engine::{Iteration, VariationalSettings};

/// The best mixture that was found.
pub(super) struct Found {
    pub(super) state: State,
    /// The bound on the log Z of the free units.
    pub(super) bound: f64,
    pub(super) converged: bool,
    pub(super) iteration: Iteration,
}

/// Sweeps at each temperature above the machine's own: enough for them to part, too few for one of them to take over.
const WARM_SWEEPS: usize = 10;

/// Beyond this field a mean is 1 but for rounding.
const FARTHEST: f64 = 20.0;

/// A step beyond the sweep is tried after so many.
const SWEEPS_BETWEEN: usize = 2;

/// Rows that share their free units, and how their mixtures are looked for.
pub(super) struct Search<'a> {
    pub(super) couplings: &'a Couplings,
    /// Which units of the machine are free.
    pub(super) free: &'a [usize],
    pub(super) components: usize,
    pub(super) starts: &'a [Start],
    pub(super) settings: VariationalSettings,
    /// The machine's own.
    pub(super) temperature: f64,
}

impl Search<'_> {
    /// The bytes of the search for one row.
    pub(super) fn bytes(components: usize, units: usize) -> u128 {
        // The best state of the starts before, the one at work, and a copy for the check of the equations.
        3 * State::bytes(components, units)
            + Terms::bytes(components)
            + Scratch::bytes(components)
            + 3 * Point::bytes(components, units)
    }

    /// The best mixture for the fields of a row, divided by T.
    pub(super) fn run(&self, fields: &[f64]) -> Found {
        if self.couplings.are_none() {
            return self.at_the_fields(fields);
        }
        let mut best: Option<Found> = None;
        for (number, start) in self.starts.iter().enumerate() {
            let mut climb = self.climb(fields, State::new(self.components, self.free.len()));
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
        // `VariationalSettings::check` has seen to it that there is a start.
        best.expect("at least one start")
    }

    /// Components that went their own ways may end in worse modes than the one that mean field finds from the start of the same number: then they begin there, so that the bound is never below mean
    /// field's. What comes of a start depends on no other, so that more starts never lower the bound (one component, which is mean field, prefers starts that converge).
    fn or_from_mean_field(&self, number: usize, found: Found, fields: &[f64]) -> Found {
        let panel = Panel::of_fields(fields);
        let Self { couplings, free, settings, temperature, .. } = self;
        let theory = Theory::MeanField;
        let alone =
            Alone { theory, couplings, panel: &panel, free, settings, temperature: *temperature }.one(number);
        if found.bound >= alone.log_z[0] {
            return found;
        }
        // Its room is needed.
        drop(found);
        let gathered = || {
            let mut state = State::new(self.components, self.free.len());
            for (x, mean) in state.fields.chunks_exact_mut(state.width).zip(&alone.means) {
                x.fill(mean.atanh().clamp(-FARTHEST, FARTHEST));
            }
            state
        };
        let mut parting = self.climb(fields, gathered());
        self.starts[number].nudge(&mut parting.state, self.free);
        parting.renew();
        let parted = parting.settle();
        if parted.bound >= alone.log_z[0] {
            return parted;
        }
        drop(parted);
        let mut together = self.climb(fields, gathered());
        together.renew();
        let bound = together.evaluate();
        let residual = together.residual();
        let iteration = Iteration { residual, ..alone.iterations[0] };
        let converged = residual <= self.settings.tolerance;
        Found { state: together.state, bound, converged, iteration }
    }

    /// The answer for units without couplings: each component alike, and exact.
    fn at_the_fields(&self, fields: &[f64]) -> Found {
        let mut state = State::new(self.components, self.free.len());
        for (x, field) in state.fields.chunks_exact_mut(state.width).zip(fields) {
            x.fill(*field);
        }
        let mut climb = self.climb(fields, state);
        climb.renew();
        let bound = climb.evaluate();
        let iteration = Iteration { sweeps: 0, residual: 0.0, damping: 0.0, oscillated: false };
        Found { state: climb.state, bound, converged: true, iteration }
    }

    fn climb<'a>(&'a self, fields: &'a [f64], state: State) -> Climb<'a> {
        Climb {
            task: Task { couplings: self.couplings, fields, beta: 1.0 },
            terms: Terms::new(&state),
            scratch: Scratch::new(&state),
            settings: &self.settings,
            sweeps: 0,
            level: Level::new(),
            state,
        }
    }
}

/// One start on its way up.
pub(super) struct Climb<'a> {
    pub(super) task: Task<'a>,
    pub(super) state: State,
    terms: Terms,
    scratch: Scratch,
    settings: &'a VariationalSettings,
    sweeps: usize,
    level: Level,
}

impl Climb<'_> {
    fn renew(&mut self) {
        let level = self.level;
        dispatch!(level, simd => self.state.renew(simd));
    }

    /// The bound; its terms are then those of the state.
    fn evaluate(&mut self) -> f64 {
        let level = self.level;
        dispatch!(level, simd => self.terms.evaluate(simd, &self.task, &self.state))
    }

    /// Renew the mixing coefficients and every unit once, the terms being those of the state.
    ///
    /// *Result*: the largest change of a mixing coefficient or a mean.
    fn sweep(&mut self, least: f64) -> f64 {
        cancel::point();
        let level = self.level;
        let mixed = self.terms.mix(&mut self.state);
        let step = Step { smooth: true, means: true, damping: self.settings.damping };
        self.sweeps += 1;
        let moved = dispatch!(level, simd => {
            self.terms.share(simd, &self.state);
            sweep(simd, &self.task, (&mut self.state, &mut self.terms), &mut self.scratch, step, least)
        });
        moved.max(mixed)
    }

    /// A few sweeps at a higher temperature.
    fn warm(&mut self) {
        for _ in 0..WARM_SWEEPS {
            self.evaluate();
            if self.sweep(VariationalSettings::WARM_TOLERANCE) <= VariationalSettings::WARM_TOLERANCE {
                return;
            }
        }
    }

    /// Sweep until the equations hold, with extrapolations where these raise the bound, and say how well they do.
    fn settle(mut self) -> Found {
        let mut left = self.settings.max_sweeps;
        let mut change = self.settings.tolerance;
        loop {
            self.rise(change, &mut left);
            let bound = self.evaluate();
            let residual = self.residual();
            // The equations may be violated by more than the last change. Changes cannot be made smaller than rounding allows.
            change /= 8.0;
            let converged = residual <= self.settings.tolerance;
            if converged || left == 0 || change < f64::EPSILON / 64.0 {
                let damping = self.settings.damping;
                let iteration = Iteration { sweeps: self.sweeps, residual, damping, oscillated: false };
                return Found { state: self.state, bound, converged, iteration };
            }
        }
    }

    /// Sweep until nothing changes by more than `least`, or no sweeps are left.
    fn rise(&mut self, least: f64, left: &mut usize) {
        let mut stride = Stride::new();
        let mut since = 0;
        let mut has_terms = false;
        while *left > 0 {
            if !has_terms {
                self.evaluate();
            }
            let before = Point::of(&self.state);
            *left -= 1;
            if self.sweep(self.settings.tolerance) <= least {
                return;
            }
            since += 1;
            has_terms = since == SWEEPS_BETWEEN;
            if has_terms {
                since = 0;
                let bound = self.evaluate();
                let after = Point::of(&self.state);
                stride.beyond(&before, &after).put(&mut self.state);
                self.renew();
                let has_risen = self.evaluate() > bound;
                stride.learn(has_risen);
                if !has_risen {
                    after.put(&mut self.state);
                    self.renew();
                    has_terms = false;
                }
            }
        }
    }

    /// By how much the worst equation is violated, the terms being those of the state.
    fn residual(&mut self) -> f64 {
        let level = self.level;
        let least = self.settings.tolerance;
        let mixed = self.terms.mix(&mut self.state.clone());
        let step = Step { smooth: true, means: true, damping: 0.0 };
        let of_units = dispatch!(level, simd => {
            violation(simd, &self.task, (&mut self.state, &mut self.terms), &mut self.scratch, step, least)
        });
        mixed.max(of_units)
    }
}
