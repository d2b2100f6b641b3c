//! The search for a fixed point, for a panel of rows: sweeps, annealing, several starts.

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};

use super::couplings::{BLOCK, Couplings};
use super::panel::Panel;
use super::update::{finish, solve};
use super::{Schedule, Theory, VariationalSettings};
use crate::engine::Iteration;
use crate::numeric::lanes::LANES;

/// The fixed points of the rows of a panel.
pub(super) struct Found {
    /// The mean of each free unit, unit after unit, as wide as the panel.
    pub(super) means: Vec<f64>,
    /// −F of the free units of each row.
    pub(super) log_z: Vec<f64>,
    pub(super) converged: Vec<bool>,
    pub(super) iterations: Vec<Iteration>,
}

/// Look for the fixed point of each row, from each start, and keep the best.
///
/// *Arguments*: `free` names the units for the starts; `temperature` is the machine's own, at which couplings and fields are given.
pub(super) fn search(
    theory: Theory,
    couplings: &Couplings,
    panel: &Panel,
    free: &[usize],
    settings: &VariationalSettings,
    temperature: f64,
) -> Found {
    let width = panel.width;
    let mut best: Option<Found> = None;
    for number in 0..settings.starts {
        let units = free.last().map_or(0, |last| last + 1);
        let start = settings.start(number, units);
        let mut rows = Rows {
            theory,
            couplings,
            schedule: settings.schedule,
            width,
            used: panel.rows,
            fields: panel.fields.clone(),
            means: vec![0.0; panel.fields.len()],
            logs: vec![Log::new(settings.damping); width],
            level: Level::new(),
        };
        for (place, &unit) in free.iter().enumerate() {
            for k in place * width..(place + 1) * width {
                rows.means[k] = start.mean(unit, panel.fields[k]);
            }
        }
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
        let found = rows.to_the_end(settings);
        best = Some(match best {
            Some(best) => best.or_better(found, width),
            None => found,
        });
    }
    // `VariationalSettings::check` has seen to it that there is a start.
    best.expect("at least one start")
}

impl Found {
    /// Row by row the better of two: a fixed point before none, then the larger −F.
    fn or_better(mut self, other: Self, width: usize) -> Self {
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

/// What is known of the search for one row.
#[derive(Debug, Clone, Copy)]
struct Log {
    sweeps: usize,
    /// The largest change in the last sweep.
    change: f64,
    damping: f64,
    oscillated: bool,
    /// Sweeps in a row that undid the sweep before.
    undone: u32,
}

impl Log {
    fn new(damping: f64) -> Self {
        Self { sweeps: 0, change: f64::INFINITY, damping, oscillated: false, undone: 0 }
    }
}

/// This many sweeps in a row that undo the one before are an oscillation,
const UNDONE: u32 = 6;
/// a sweep does that if its changes are opposite to those before (cosine below this)
const OPPOSITE: f64 = -0.9;
/// and hardly smaller.
const HARDLY_SMALLER: f64 = 0.95;
/// Up to this violation, what −F lacks to a strict bound is below rounding.
const NEARLY_HOLDS: f64 = 1e-8;
/// Damping is not raised beyond this.
const MOST_DAMPING: f64 = 0.98;

/// Rows in search of their fixed points. All numbers stand unit after unit, `width` rows each.
struct Rows<'a> {
    theory: Theory,
    couplings: &'a Couplings,
    schedule: Schedule,
    width: usize,
    /// Rows that count; those beyond fill the lanes.
    used: usize,
    fields: Vec<f64>,
    means: Vec<f64>,
    logs: Vec<Log>,
    level: Level,
}

impl Rows<'_> {
    /// Sweep until the equations hold, and say how well they do.
    fn to_the_end(mut self, settings: &VariationalSettings) -> Found {
        let warm: Vec<usize> = self.logs.iter().map(|log| log.sweeps).collect();
        let mut change = settings.tolerance;
        loop {
            let done = self.logs.iter().zip(&warm).map(|(log, warm)| log.sweeps - warm).max().unwrap_or(0);
            self.run(1.0, change, settings.sweeps.saturating_sub(done));
            let level = self.level;
            let (residual, mut log_z) = dispatch!(level, simd => self.finish(simd, false));
            let holds = |row: usize| residual[row] <= settings.tolerance;
            let exhausted = |row: usize| self.logs[row].sweeps - warm[row] >= settings.sweeps;
            // The equations may be violated by more than the last change. Changes cannot be made smaller than rounding allows.
            if (0..self.used).all(|row| holds(row) || exhausted(row)) || change < f64::EPSILON / 8.0 {
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
                    converged: (0..self.width).map(holds).collect(),
                    iterations: self.logs.iter().zip(&residual).map(iteration).collect(),
                    log_z,
                    means: self.means,
                };
            }
            change /= 8.0;
        }
    }

    /// Sweep, at an inverse temperature relative to the machine's own, until no value changes by more than the tolerance.
    fn run(&mut self, beta: f64, tolerance: f64, sweeps: usize) {
        let mut scratch = Scratch::new(self);
        let level = self.level;
        for sweep in 0..sweeps {
            dispatch!(level, simd => self.sweep(simd, beta, sweep % 2 == 1, &mut scratch));
            let open: Vec<usize> = (0..self.used).filter(|&row| self.logs[row].change > tolerance).collect();
            if open.is_empty() {
                return;
            }
            // The rows that take longer go on by themselves.
            if self.width > LANES && open.len() <= self.width / 2 {
                let mut few = self.only(&open);
                few.run(beta, tolerance, sweeps - sweep - 1);
                self.take_back(&open, &few);
                return;
            }
        }
    }

    /// Some of the rows.
    fn only(&self, rows: &[usize]) -> Self {
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

    fn take_back(&mut self, rows: &[usize], few: &Self) {
        for (to, from) in self.means.chunks_exact_mut(self.width).zip(few.means.chunks_exact(few.width)) {
            for (&row, &mean) in rows.iter().zip(from) {
                to[row] = mean;
            }
        }
        for (&row, log) in rows.iter().zip(&few.logs) {
            self.logs[row] = *log;
        }
    }

    /// Move every value a little, so that a point which only symmetry holds is left when the temperature has fallen.
    fn nudge(&mut self, shifts: &[f64], free: &[usize]) {
        const SHARE: f64 = 1e-3;
        let largest = shifts.iter().fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
        for (means, &unit) in self.means.chunks_exact_mut(self.width).zip(free) {
            let shift = SHARE * shifts[unit] / largest;
            means.iter_mut().for_each(|m| *m += shift * (1.0 - *m * *m));
        }
    }

    #[inline(always)]
    fn sweep<S: Simd>(&mut self, simd: S, beta: f64, backwards: bool, scratch: &mut Scratch) {
        scratch.change.fill(0.0);
        match self.schedule {
            Schedule::Sequential => self.sequential(simd, beta, backwards, scratch),
            Schedule::Parallel => self.parallel(simd, beta, scratch),
        }
        for (log, &change) in self.logs[..self.used].iter_mut().zip(&scratch.change) {
            log.sweeps += 1;
            log.change = change;
        }
    }

    /// One unit after the other. Fields of a block of units come from one product; within it, each change is added to the fields of the units behind.
    #[inline(always)]
    fn sequential<S: Simd>(&mut self, simd: S, beta: f64, backwards: bool, scratch: &mut Scratch) {
        let (width, units, size) = (self.width, self.couplings.units, self.couplings.block());
        let tap = self.theory == Theory::Tap;
        for number in 0..units.div_ceil(size) {
            // Where a block is a unit, every other sweep goes backwards: what one end of a chain says reaches the other at once.
            let number = if backwards && size == 1 { units - 1 - number } else { number };
            let block = number * size..units.min((number + 1) * size);
            self.couplings.pull(block.clone(), false, &self.means, width, &mut scratch.pulls);
            if tap {
                self.couplings.pull(block.clone(), true, &scratch.variances, width, &mut scratch.reactions);
            }
            for (place, unit) in block.clone().enumerate() {
                let all = unit * width..(unit + 1) * width;
                let here = place * width..(place + 1) * width;
                let reactions = if tap { &scratch.reactions[here.clone()] } else { &scratch.zeros };
                update_unit(
                    simd,
                    (self.theory, Schedule::Sequential, beta),
                    &self.fields[all.clone()],
                    (&scratch.pulls[here], reactions),
                    &mut self.means[all.clone()],
                    &scratch.shares,
                    &mut scratch.delta,
                );
                note_changes(&scratch.delta, &mut scratch.change);
                if tap {
                    let variances = &mut scratch.variances[all.clone()];
                    for ((variance, delta), m) in
                        variances.iter_mut().zip(&mut scratch.variance_delta).zip(&self.means[all])
                    {
                        let new = 1.0 - m * m;
                        *delta = new - *variance;
                        *variance = new;
                    }
                }
                for (behind, other) in (place + 1..block.len()).zip(unit + 1..block.end) {
                    let v = self.couplings.between(unit, other);
                    let here = behind * width..(behind + 1) * width;
                    for (sum, delta) in scratch.pulls[here.clone()].iter_mut().zip(&scratch.delta) {
                        *sum += v * delta;
                    }
                    if tap {
                        for (sum, delta) in scratch.reactions[here].iter_mut().zip(&scratch.variance_delta) {
                            *sum += v * v * delta;
                        }
                    }
                }
            }
        }
    }

    /// All units from the values of the sweep before; swings are noticed, and damped.
    #[inline(always)]
    fn parallel<S: Simd>(&mut self, simd: S, beta: f64, scratch: &mut Scratch) {
        let (width, units, size) = (self.width, self.couplings.units, self.couplings.block());
        let tap = self.theory == Theory::Tap;
        let old = self.means.clone();
        let mut products = vec![[0.0; 3]; width];
        for number in 0..units.div_ceil(size) {
            let block = number * size..units.min((number + 1) * size);
            self.couplings.pull(block.clone(), false, &old, width, &mut scratch.pulls);
            if tap {
                self.couplings.pull(block.clone(), true, &scratch.variances, width, &mut scratch.reactions);
            }
            for (place, unit) in block.enumerate() {
                let all = unit * width..(unit + 1) * width;
                let here = place * width..(place + 1) * width;
                let reactions = if tap { &scratch.reactions[here.clone()] } else { &scratch.zeros };
                update_unit(
                    simd,
                    (self.theory, Schedule::Parallel, beta),
                    &self.fields[all.clone()],
                    (&scratch.pulls[here], reactions),
                    &mut self.means[all.clone()],
                    &scratch.shares,
                    &mut scratch.delta,
                );
                note_changes(&scratch.delta, &mut scratch.change);
                let before = &mut scratch.before[all];
                for ((sums, now), before) in products.iter_mut().zip(&scratch.delta).zip(before) {
                    sums[0] += now * *before;
                    sums[1] += now * now;
                    sums[2] += *before * *before;
                    *before = *now;
                }
            }
        }
        if tap {
            scratch.variances.iter_mut().zip(&self.means).for_each(|(variance, m)| *variance = 1.0 - m * m);
        }
        for ((log, share), [both, now, before]) in self.logs.iter_mut().zip(&mut scratch.shares).zip(products)
        {
            let undoes =
                both < OPPOSITE * (now * before).sqrt() && now > HARDLY_SMALLER * HARDLY_SMALLER * before;
            log.undone = if undoes { log.undone + 1 } else { 0 };
            if log.undone >= UNDONE && log.damping < MOST_DAMPING {
                *log = Log {
                    damping: f64::midpoint(1.0, log.damping).min(MOST_DAMPING),
                    oscillated: true,
                    undone: 0,
                    ..*log
                };
                *share = 1.0 - log.damping;
            }
        }
    }

    /// By how much the worst equation of each row is violated, and −F.
    #[inline(always)]
    fn finish<S: Simd>(&self, simd: S, strict: bool) -> (Vec<f64>, Vec<f64>) {
        let (width, units, size) = (self.width, self.couplings.units, self.couplings.block());
        let mut scratch = Scratch::new(self);
        let mut worst = vec![0.0f64; width];
        let mut log_z = vec![0.0; width];
        for number in 0..units.div_ceil(size) {
            let block = number * size..units.min((number + 1) * size);
            self.couplings.pull(block.clone(), false, &self.means, width, &mut scratch.pulls);
            if self.theory == Theory::Tap {
                self.couplings.pull(block.clone(), true, &scratch.variances, width, &mut scratch.reactions);
            }
            for (place, unit) in block.enumerate() {
                let all = unit * width..(unit + 1) * width;
                let here = place * width..(place + 1) * width;
                let reactions = if self.theory == Theory::Tap {
                    &scratch.reactions[here.clone()]
                } else {
                    &scratch.zeros
                };
                let rows = Lanes::of(width);
                for lanes in rows {
                    let field = lanes.load(simd, &self.fields[all.clone()]);
                    let h = field + lanes.load(simd, &scratch.pulls[here.clone()]);
                    let d = lanes.load(simd, reactions);
                    let m = lanes.load(simd, &self.means[all.clone()]);
                    let (violation, share) = finish(simd, self.theory, (h, d), field, m, strict);
                    lanes.store(lanes.load(simd, &worst).max(violation), &mut worst);
                    lanes.store(lanes.load(simd, &log_z) + share, &mut log_z);
                }
            }
        }
        (worst, log_z)
    }
}

/// Room for one sweep.
struct Scratch {
    pulls: Vec<f64>,
    reactions: Vec<f64>,
    zeros: Vec<f64>,
    delta: Vec<f64>,
    variance_delta: Vec<f64>,
    change: Vec<f64>,
    /// How far each row goes towards the value wanted: 1 less its damping.
    shares: Vec<f64>,
    /// 1 − m² of every unit, for TAP.
    variances: Vec<f64>,
    /// The changes of the sweep before, for sweeps in parallel.
    before: Vec<f64>,
}

impl Scratch {
    fn new(rows: &Rows<'_>) -> Self {
        let width = rows.width;
        let tap = rows.theory == Theory::Tap;
        let block = if rows.couplings.block() == 1 { 1 } else { BLOCK };
        let numbers = |wanted: bool, count: usize| vec![0.0; if wanted { count * width } else { 0 }];
        Self {
            pulls: numbers(true, block),
            reactions: numbers(tap, block),
            zeros: numbers(true, 1),
            delta: numbers(true, 1),
            variance_delta: numbers(tap, 1),
            change: numbers(true, 1),
            shares: rows.logs.iter().map(|log| 1.0 - log.damping).collect(),
            variances: rows.means.iter().filter(|_| tap).map(|m| 1.0 - m * m).collect(),
            before: numbers(rows.schedule == Schedule::Parallel, rows.couplings.units),
        }
    }
}

/// Eight rows of a panel, or its only one.
#[derive(Clone, Copy)]
struct Lanes {
    start: usize,
    single: bool,
}

impl Lanes {
    /// All lanes of a panel.
    #[inline(always)]
    fn of(width: usize) -> impl Iterator<Item = Self> {
        (0..width).step_by(LANES).map(move |start| Self { start, single: width == 1 })
    }

    #[inline(always)]
    fn load<S: Simd>(self, simd: S, from: &[f64]) -> f64x8<S> {
        if self.single {
            f64x8::splat(simd, from[0])
        } else {
            f64x8::from_slice(simd, &from[self.start..self.start + LANES])
        }
    }

    #[inline(always)]
    fn store<S: Simd>(self, value: f64x8<S>, to: &mut [f64]) {
        let mut numbers = [0.0; LANES];
        value.store_array(&mut numbers);
        if self.single {
            to[0] = numbers[0];
        } else {
            to[self.start..self.start + LANES].copy_from_slice(&numbers);
        }
    }
}

/// Move the means of one unit in all rows to what solves its equation (all at once: to the right-hand side), as far as damping lets them.
#[inline(always)]
fn update_unit<S: Simd>(
    simd: S,
    (theory, schedule, beta): (Theory, Schedule, f64),
    fields: &[f64],
    (pulls, reactions): (&[f64], &[f64]),
    means: &mut [f64],
    shares: &[f64],
    delta: &mut [f64],
) {
    let scale = f64x8::splat(simd, beta);
    for lanes in Lanes::of(means.len()) {
        let old = lanes.load(simd, means);
        let h = (lanes.load(simd, fields) + lanes.load(simd, pulls)) * scale;
        let d = lanes.load(simd, reactions) * scale * scale;
        let wanted = match schedule {
            Schedule::Sequential => solve(simd, theory, h, d, old),
            Schedule::Parallel => solve(simd, Theory::MeanField, h - old * d, d, old),
        };
        let step = (wanted - old) * lanes.load(simd, shares);
        lanes.store(step, delta);
        lanes.store(old + step, means);
    }
}

#[inline(always)]
fn note_changes(delta: &[f64], change: &mut [f64]) {
    for (most, x) in change.iter_mut().zip(delta) {
        *most = most.max(x.abs());
    }
}
