//! Figure 7: computing time by number of hidden units.

use std::ops::ControlFlow;
use std::time::Instant;

use isinglass::learn::{Learner, Observer, Step};
use isinglass::{Error, Machine, Result};

use super::problem::{Problem, STEPS};
use super::{DRAWS, SWEEPS};
use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::{Check, Column, Outcome, Settings};
use crate::statistics::{median, slope};

const J: f64 = 0.3;
const NUMBERS: [usize; 8] = [1, 3, 5, 8, 11, 14, 17, 20];

/// The time of each step. A step that other work interrupts is an outlier among them, while a long
/// run is certain to be interrupted.
struct Clock {
    last: Instant,
    steps: Vec<f64>,
}

impl Observer for Clock {
    fn step(&mut self, step: &Step, _machine: &Machine) -> Result<ControlFlow<()>> {
        let now = Instant::now();
        // The time before the first step is preparation.
        if step.iteration > 0 {
            self.steps.push((now - self.last).as_secs_f64());
        }
        self.last = now;
        Ok(ControlFlow::Continue(()))
    }
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    let steps = settings.size(STEPS, 100);
    settings.progress.expect(NUMBERS.len());
    // One thread: less sensitive to other load.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .map_err(|error| Error::Numerical { method: "threads", problem: error.to_string() })?;
    let mut seconds = Vec::new();
    for hidden in NUMBERS {
        let problem = Problem::with_hidden(hidden, J, settings.seed)?;
        let learner = problem.learner(DRAWS, SWEEPS, steps);
        let mut clock = Clock { last: Instant::now(), steps: Vec::new() };
        pool.install(|| learner.fit_with(&problem.start, &problem.table, &mut clock))?;
        seconds.push(steps as f64 * median(&clock.steps));
        settings.progress.done();
    }
    let hidden: Vec<f64> = NUMBERS.iter().map(|&k| k as f64).collect();
    let points: Vec<(f64, f64)> = hidden.iter().copied().zip(seconds.iter().copied()).collect();
    // With another power than 1 the second half would be steeper or flatter: 3.5 times for a
    // square.
    let (first, second) = points.split_at(NUMBERS.len() / 2);
    let (early, late) = (slope(first), slope(second));
    let checks = vec![Check::new(
        "time grows linearly with the number of hidden units",
        early > 0.0 && (0.5..2.0).contains(&(late / early)),
        format!(
            "{:.1} ms more per hidden unit up to 8 units, {:.1} ms from 11 units on",
            1e3 * early,
            1e3 * late
        ),
    )];
    let figure = Sheet::new(format!("Time for {steps} update steps"))
        .row(
            380.0,
            [Chart::new(
                Axis::new("number of hidden units |H|").within(0.0, 21.0),
                Axis::new("time (s)").including(0.0),
            )
            .with(Series::line("", PALETTE[0], points).marked(Marker::Disc))
            .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        method: format!(
            "17 visible and 1 to 20 hidden units, 100 data points of a machine with three hidden units, K = {DRAWS}, \
             λ = {SWEEPS}; seconds for {steps} update steps, from the median step, on one thread."
        ),
        columns: vec![
            Column::new("hidden", "number of hidden units", hidden.clone()),
            Column::timed("seconds", "time of all update steps, seconds", seconds),
        ],
        figure,
        checks,
        remarks: String::new(),
    })
}
