//! Figure 7: time against the number of hidden units.

use std::time::Instant;

use isinglass::learn::{Learner, NoObserver};
use isinglass::{Error, Result};

use super::course::{Problem, STEPS};
use super::{DRAWS, SWEEPS};
use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::{correlation, slope};

const J: f64 = 0.3;
const NUMBERS: [usize; 8] = [1, 3, 5, 8, 11, 14, 17, 20];

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    let steps = settings.size(STEPS, 100);
    let runs = settings.size(5, 3);
    settings.watch.expect(NUMBERS.len() * runs);
    // One thread, so that what others do on the machine matters less.
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .map_err(|error| Error::Numerical { method: "threads", problem: error.to_string() })?;
    let problems: Vec<Problem> = NUMBERS
        .iter()
        .map(|&hidden| Problem::with_hidden(hidden, J, settings.seed))
        .collect::<Result<_>>()?;
    let mut seconds = vec![f64::INFINITY; NUMBERS.len()];
    // All numbers in turn, so that a busy minute of the machine does not fall on one of them.
    for _ in 0..runs {
        for (problem, least) in problems.iter().zip(&mut seconds) {
            let learner = problem.learner(DRAWS, SWEEPS, steps);
            let began = Instant::now();
            alone.install(|| learner.fit(&problem.start, &problem.table, &mut NoObserver))?;
            *least = least.min(began.elapsed().as_secs_f64());
            settings.watch.done();
        }
    }
    let hidden: Vec<f64> = NUMBERS.iter().map(|&k| k as f64).collect();
    let points: Vec<(f64, f64)> = hidden.iter().copied().zip(seconds.iter().copied()).collect();
    let straight = correlation(&hidden, &seconds);
    let each = slope(&points);
    let checks = vec![check(
        straight > 0.95 && each > 0.0,
        format!(
            "the time grows linearly with the number of hidden units: by {:.1} ms for each, correlation {straight:.3} with a straight line.",
            1e3 * each
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
        set_up: format!(
            "17 visible and 1 to 20 hidden units, 100 data points, K = {DRAWS}, λ = {SWEEPS}; seconds for {steps} update steps, the least of {runs} runs, on one core."
        ),
        columns: vec![
            Column::new("hidden", "number of hidden units", hidden.clone()),
            Column::times("seconds", "time of all update steps, seconds", seconds),
        ],
        figure,
        checks,
        remarks: String::new(),
    })
}
