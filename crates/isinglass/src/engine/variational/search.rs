//! The search for the fixed points of a panel of rows: sweeps, annealing, several starts.

use fearless_simd::{Level, dispatch};

use super::couplings::Couplings;
use super::limits::Limits;
use super::panel::Panel;
use super::settings::StartingMeans;
use super::sweep::Scratch;
use super::update::tanh_in_place;
use super::{Schedule, Theory, VariationalSettings};
use crate::cancel;
use crate::engine::Iteration;
use crate::numeric::lanes::LANES;

/// The fixed points of the rows of a panel.
pub(super) struct Found {
    /// The mean of each free unit, stored by unit, as wide as the panel.
    pub(super) means: Vec<f64>,
    /// −F of the free units of each row.
    pub(super) log_z: Vec<f64>,
    pub(super) converged: Vec<bool>,
    pub(super) iterations: Vec<Iteration>,
}

/// A search for fixed points.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) theory: Theory,
    pub(super) couplings: &'a Couplings,
    pub(super) panel: &'a Panel,
    /// The free units: random starts are numbered by unit.
    pub(super) free: &'a [usize],
    pub(super) settings: &'a VariationalSettings,
    /// The machine's temperature, by which couplings and fields are divided.
    pub(super) temperature: f64,
}

impl Search<'_> {
    /// Returns the best fixed point of each row over all starts.
    pub(super) fn best(&self) -> Found {
        // Without couplings all starts give the same answer.
        let others = if self.couplings.are_none() { 1..1 } else { 1..self.settings.starts };
        let found = others.map(|number| self.one(number));
        found.fold(self.one(0), |best, found| best.or_better(&found, self.panel.width))
    }

    /// Returns what the log Z of each row can be, constants left out.
    pub(super) fn limits(&self) -> Vec<Limits> {
        let Self { couplings, panel, settings, .. } = *self;
        let mut rows = Rows {
            theory: Theory::MeanField,
            couplings,
            schedule: settings.schedule,
            width: panel.width,
            used: panel.rows,
            fields: panel.fields.clone(),
            means: panel.fields.clone(),
            logs: Vec::new(),
            level: Level::new(),
        };
        let level = rows.level;
        dispatch!(level, simd => tanh_in_place(simd, &mut rows.means));
        let (independent, means) = dispatch!(level, simd => rows.independent(simd));
        let strength = couplings.pairs.iter().map(|pair| pair.coupling.abs()).sum();
        let limits = independent.iter().zip(&means).take(panel.rows);
        limits.map(|(&alone, &mean)| Limits::new(alone, mean, strength)).collect()
    }

    /// Returns the fixed point of each row from one start.
    pub(super) fn one(&self, number: usize) -> Found {
        let Self { theory, couplings, panel, free, settings, temperature } = *self;
        let width = panel.width;
        let rows_with = |means: Vec<f64>| Rows {
            theory,
            couplings,
            schedule: settings.schedule,
            width,
            used: panel.rows,
            fields: panel.fields.clone(),
            means,
            logs: vec![Log::new(settings.damping); width],
            level: Level::new(),
        };
        if couplings.are_none() {
            return rows_with(panel.fields.clone()).at_their_fields();
        }
        let units = free.last().map_or(0, |last| last + 1);
        let start = settings.start(number, units);
        let mut rows = rows_with(vec![0.0; panel.fields.len()]);
        rows.begin(&start, free);
        if let Some(anneal) = settings.anneal {
            for warm in anneal.temperatures(temperature) {
                rows.run(
                    temperature / warm,
                    VariationalSettings::WARM_TOLERANCE,
                    VariationalSettings::WARM_SWEEPS,
                );
                rows.nudge(&start.shifts, free);
            }
        }
        rows.settle(settings)
    }
}

impl Found {
    /// Returns the better of two for each row: converged first, then the larger −F.
    fn or_better(mut self, other: &Self, width: usize) -> Self {
        for row in 0..width {
            let better = (other.converged[row], other.log_z[row]) > (self.converged[row], self.log_z[row]);
            if better {
                for k in (row..self.means.len()).step_by(width) {
                    self.means[k] = other.means[k];
                }
                self.log_z[row] = other.log_z[row];
                self.converged[row] = other.converged[row];
                self.iterations[row] = other.iterations[row];
            }
        }
        self
    }
}

/// The state of the search for one row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Log {
    pub(super) sweeps: usize,
    pub(super) change: f64,
    pub(super) damping: f64,
    pub(super) oscillated: bool,
    /// Consecutive sweeps that reversed the previous one.
    reversals: u32,
}

impl Log {
    fn new(damping: f64) -> Self {
        Self { sweeps: 0, change: f64::INFINITY, damping, oscillated: false, reversals: 0 }
    }

    /// Compares the changes of two sweeps by their inner products; damps oscillation.
    pub(super) fn compare(&mut self, [both, now, before]: [f64; 3]) {
        let hardly_smaller = now > HARDLY_SMALLER * HARDLY_SMALLER * before;
        let reverses = hardly_smaller && both < OPPOSITE * (now * before).sqrt();
        self.reversals = if reverses { self.reversals + 1 } else { 0 };
        if self.reversals >= REVERSALS && self.damping < MOST_DAMPING {
            self.damping = f64::midpoint(1.0, self.damping).min(MOST_DAMPING);
            self.oscillated = true;
            self.reversals = 0;
        }
    }
}

/// So many consecutive reversals are an oscillation.
const REVERSALS: u32 = 6;
/// A sweep reverses the previous one if the cosine of their changes is below this,
const OPPOSITE: f64 = -0.9;
/// and the change shrinks by less than this factor.
const HARDLY_SMALLER: f64 = 0.95;
/// The largest damping that oscillation leads to.
const MOST_DAMPING: f64 = 0.98;

/// Up to this violation, −F differs from a strict bound by less than rounding.
const NEARLY_HOLDS: f64 = 1e-8;

/// Rows on the way to their fixed points. Numbers are stored by unit, `width` rows each.
pub(super) struct Rows<'a> {
    pub(super) theory: Theory,
    pub(super) couplings: &'a Couplings,
    pub(super) schedule: Schedule,
    pub(super) width: usize,
    /// The number of rows; lanes from there to `width` are padding.
    pub(super) used: usize,
    pub(super) fields: Vec<f64>,
    pub(super) means: Vec<f64>,
    pub(super) logs: Vec<Log>,
    level: Level,
}

impl Rows<'_> {
    fn begin(&mut self, start: &StartingMeans, free: &[usize]) {
        for (place, &unit) in free.iter().enumerate() {
            let here = place * self.width..(place + 1) * self.width;
            for (mean, field) in self.means[here.clone()].iter_mut().zip(&self.fields[here]) {
                *mean = start.shifts[unit] + if start.at_field { *field } else { 0.0 };
            }
        }
        if start.at_field {
            let level = self.level;
            dispatch!(level, simd => tanh_in_place(simd, &mut self.means));
        }
    }

    /// Returns the answer for units without couplings.
    fn at_their_fields(mut self) -> Found {
        let level = self.level;
        dispatch!(level, simd => tanh_in_place(simd, &mut self.means));
        let (residual, log_z) = dispatch!(level, simd => self.finish(simd, false));
        let iteration = |residual| Iteration { sweeps: 0, residual, damping: 0.0, oscillated: false };
        Found {
            converged: vec![true; self.width],
            iterations: residual.into_iter().map(iteration).collect(),
            log_z,
            means: self.means,
        }
    }

    /// Sweeps until the equations hold or sweeps run out, and evaluates the result.
    fn settle(mut self, settings: &VariationalSettings) -> Found {
        let warm: Vec<usize> = self.logs.iter().map(|log| log.sweeps).collect();
        let mut change = settings.tolerance;
        self.run(1.0, change, settings.max_sweeps);
        loop {
            let level = self.level;
            let (residual, mut log_z) = dispatch!(level, simd => self.finish(simd, false));
            // Equations may be violated by more than the last change, which rounding limits.
            change /= 8.0;
            let left = |row: usize| settings.max_sweeps - (self.logs[row].sweeps - warm[row]);
            let is_open = |row: usize| residual[row] > settings.tolerance && left(row) > 0;
            let open: Vec<usize> = (0..self.used).filter(|&row| is_open(row)).collect();
            if let (Some(sweeps), true) =
                (open.iter().map(|&row| left(row)).min(), change > f64::EPSILON / 64.0)
            {
                self.run_only(&open, 1.0, change, sweeps);
                continue;
            }
            if (0..self.used).any(|row| residual[row] > NEARLY_HOLDS) {
                let (_, strict) = dispatch!(level, simd => self.finish(simd, true));
                let rows = log_z.iter_mut().zip(strict).zip(&residual);
                rows.filter(|(_, residual)| **residual > NEARLY_HOLDS)
                    .for_each(|((x, strict), _)| *x = strict);
            }
            let iteration = |(log, &residual): (&Log, &f64)| Iteration {
                sweeps: log.sweeps,
                residual,
                damping: log.damping,
                oscillated: log.oscillated,
            };
            return Found {
                converged: residual.iter().map(|residual| *residual <= settings.tolerance).collect(),
                iterations: self.logs.iter().zip(&residual).map(iteration).collect(),
                log_z,
                means: self.means,
            };
        }
    }

    fn run_only(&mut self, rows: &[usize], beta: f64, tolerance: f64, sweeps: usize) {
        if rows.len() == self.used {
            return self.run(beta, tolerance, sweeps);
        }
        let mut few = self.select(rows);
        few.run(beta, tolerance, sweeps);
        self.merge(rows, &few);
    }

    /// Sweeps until no mean changes by more than the tolerance; `beta` is relative to the
    /// machine's.
    fn run(&mut self, beta: f64, tolerance: f64, sweeps: usize) {
        let mut scratch = Scratch::new(self);
        let level = self.level;
        for sweep in 0..sweeps {
            cancel::point();
            dispatch!(level, simd => self.sweep(simd, beta, sweep % 2 == 1, &mut scratch));
            let open: Vec<usize> = (0..self.used).filter(|&row| self.logs[row].change > tolerance).collect();
            if open.is_empty() {
                return;
            }
            // Rows that take longer continue in a smaller panel.
            if self.width > LANES && open.len() <= self.width / 2 {
                return self.run_only(&open, beta, tolerance, sweeps - sweep - 1);
            }
        }
    }

    /// Copies some of the rows.
    fn select(&self, rows: &[usize]) -> Self {
        let width = rows.len().next_multiple_of(LANES);
        let pick = |from: &[f64]| {
            let mut picked = vec![0.0; self.couplings.units * width];
            for (to, from) in picked.chunks_exact_mut(width).zip(from.chunks_exact(self.width)) {
                for (to, &row) in to.iter_mut().zip(rows) {
                    *to = from[row];
                }
            }
            picked
        };
        let mut logs: Vec<Log> = rows.iter().map(|&row| self.logs[row]).collect();
        logs.resize(width, Log::new(0.0));
        Self { fields: pick(&self.fields), means: pick(&self.means), logs, width, used: rows.len(), ..*self }
    }

    fn merge(&mut self, rows: &[usize], few: &Self) {
        for (to, from) in self.means.chunks_exact_mut(self.width).zip(few.means.chunks_exact(few.width)) {
            for (&row, &mean) in rows.iter().zip(from) {
                to[row] = mean;
            }
        }
        for (&row, log) in rows.iter().zip(&few.logs) {
            self.logs[row] = *log;
        }
    }

    /// Shifts every mean a little, so that fixed points held by symmetry alone are left as T falls.
    fn nudge(&mut self, shifts: &[f64], free: &[usize]) {
        const SHARE: f64 = 1e-3;
        let largest = shifts.iter().fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
        for (means, &unit) in self.means.chunks_exact_mut(self.width).zip(free) {
            let shift = SHARE * shifts[unit] / largest;
            for m in means {
                *m += shift * (1.0 - *m * *m);
            }
        }
    }
}
