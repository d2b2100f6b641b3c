//! The search for messages that satisfy their equations: starts, temperatures, sweeps.

use super::beliefs::Beliefs;
use super::messages::{Messages, Step};
use super::monitor::{Course, Monitor};
use crate::Machine;
use crate::cancel;
use crate::engine::variational::VariationalSettings;
use crate::engine::{Diagnostics, Iteration, Schedule};

/// Messages change after others were computed from them: to satisfy all equations, changes must be
/// below the tolerance over the degree; they need not be below this share of it.
const LEAST_SHARE: f64 = 0.1;

/// Random starts lie within this field; beyond, tanh is ±1.
const FARTHEST_START: f64 = 18.0;

/// The search for the messages of a machine's free units.
pub(super) struct Search<'a> {
    pub(super) machine: &'a Machine,
    pub(super) free: &'a [usize],
    pub(super) settings: &'a VariationalSettings,
}

/// The end of each row's search.
pub(super) struct Found<const N: usize> {
    pub(super) beliefs: Beliefs<N>,
    pub(super) diagnostics: [Diagnostics; N],
}

impl Search<'_> {
    /// Searches from every start and keeps each row's best messages. Rows from `rows` on are empty.
    pub(super) fn run<const N: usize>(&self, messages: &mut Messages<'_, N>, rows: usize) -> Found<N> {
        if messages.wiring.is_forest {
            // One undamped sweep, whatever the settings; more if rounding exceeds the tolerance.
            messages.sweep(Step { schedule: Schedule::Sequential, scale: 1.0, keep: [0.0; N] });
            let course = Course::after_one_sweep(self.settings.tolerance);
            return self.settle(messages, [course; N], rows, Schedule::Sequential);
        }
        let mut found = self.search_from(messages, 0, rows);
        let mut best = (self.settings.starts > 1).then(|| (messages.ahead.clone(), messages.back.clone()));
        for start in 1..self.settings.starts {
            let other = self.search_from(messages, start, rows);
            let Some((ahead, back)) = &mut best else { break };
            for row in 0..rows {
                if is_better(&other, &found, row) {
                    found.diagnostics[row] = other.diagnostics[row].clone();
                    found.beliefs.log_z[row] = other.beliefs.log_z[row];
                    found.beliefs.residual[row] = other.beliefs.residual[row];
                    for (kept, new) in [(&mut *ahead, &messages.ahead), (&mut *back, &messages.back)] {
                        kept.iter_mut().zip(new).for_each(|(kept, new)| kept[row] = new[row]);
                    }
                }
            }
        }
        if let Some((ahead, back)) = best {
            (messages.ahead, messages.back) = (ahead, back);
            found.beliefs = Beliefs::of(messages);
        }
        found
    }

    fn search_from<const N: usize>(
        &self,
        messages: &mut Messages<'_, N>,
        start: usize,
        rows: usize,
    ) -> Found<N> {
        let Self { settings, machine, free } = *self;
        let temperature = machine.temperature();
        let unit = |&local: &u32| free[local as usize];
        let units: Vec<usize> = messages.wiring.locals.iter().map(unit).collect();
        let warm = settings.anneal.iter().flat_map(|anneal| anneal.temperatures(temperature));
        let scales: Vec<f64> = warm.map(|warm| temperature / warm).collect();

        let shifts = settings.start(start, machine.unit_count()).shifts;
        messages.begin(scales.first().copied().unwrap_or(1.0), |place, field| {
            let shift = shifts[units[place]];
            if start == 0 {
                field.map(|h| h + shift)
            } else {
                [shift.atanh().clamp(-FARTHEST_START, FARTHEST_START); N]
            }
        });

        let mut before = [Course::new(false, 0.0, 0.0); N];
        if !scales.is_empty() {
            let nudges = settings.start(0, machine.unit_count()).shifts;
            let most = VariationalSettings::WARM_SWEEPS.min(settings.max_sweeps);
            for scale in scales {
                let courses = self.courses(rows, VariationalSettings::WARM_TOLERANCE);
                let mut monitor = Monitor::new(courses, &messages.totals);
                sweep_until_rest(messages, &mut monitor, scale, most, settings.schedule);
                for (sum, course) in before.iter_mut().zip(monitor.courses) {
                    sum.sweeps += course.sweeps;
                    sum.oscillated |= course.oscillated;
                }
                // A point held by symmetry alone may become unstable at the next temperature.
                messages.nudge(scale, |place| nudges[units[place]]);
            }
        }
        let share = (1.0 / messages.wiring.degree.max(1) as f64).max(LEAST_SHARE);
        let courses = self.courses(rows, settings.tolerance * share);
        let mut found = self.settle(messages, courses, rows, settings.schedule);
        for (diagnostics, before) in found.diagnostics.iter_mut().zip(before) {
            if let Some(iteration) = &mut diagnostics.iteration {
                iteration.sweeps += before.sweeps;
                iteration.oscillated |= before.oscillated;
            }
        }
        found
    }

    fn courses<const N: usize>(&self, rows: usize, target: f64) -> [Course; N] {
        std::array::from_fn(|row| Course::new(row < rows, target, self.settings.damping))
    }

    /// Sweeps at the machine's own temperature until the equations hold or no sweeps are left.
    fn settle<const N: usize>(
        &self,
        messages: &mut Messages<'_, N>,
        courses: [Course; N],
        rows: usize,
        schedule: Schedule,
    ) -> Found<N> {
        let VariationalSettings { tolerance, max_sweeps: sweeps, .. } = *self.settings;
        let mut monitor = Monitor::new(courses, &messages.totals);
        loop {
            sweep_until_rest(messages, &mut monitor, 1.0, sweeps, schedule);
            let beliefs = Beliefs::of(messages);
            for (course, residual) in monitor.courses.iter_mut().zip(beliefs.residual).take(rows) {
                course.is_active = residual > tolerance && course.sweeps < sweeps;
                course.target *= 0.1;
            }
            if monitor.is_active() {
                continue;
            }
            let diagnostics = std::array::from_fn(|row| {
                let Course { sweeps, damping, oscillated, .. } = monitor.courses[row];
                let residual = beliefs.residual[row];
                let iteration = Iteration { sweeps, residual, damping, oscillated };
                Diagnostics::iterated(residual <= tolerance, iteration)
            });
            return Found { beliefs, diagnostics };
        }
    }
}

fn sweep_until_rest<const N: usize>(
    messages: &mut Messages<'_, N>,
    monitor: &mut Monitor<N>,
    scale: f64,
    most: usize,
    schedule: Schedule,
) {
    while monitor.is_active() {
        cancel::point();
        let change = messages.sweep(Step { schedule, scale, keep: monitor.keep() });
        monitor.note(change, &messages.totals, most);
    }
}

/// Prefers converged rows, then the larger log Z, or without convergence the smaller residual.
fn is_better<const N: usize>(new: &Found<N>, old: &Found<N>, row: usize) -> bool {
    match (new.diagnostics[row].converged, old.diagnostics[row].converged) {
        (true, true) => new.beliefs.log_z[row] > old.beliefs.log_z[row],
        (false, false) => new.beliefs.residual[row] < old.beliefs.residual[row],
        (converged, _) => converged,
    }
}
