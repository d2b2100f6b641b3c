//! Figures 6 and 7: against mean-field contrastive divergence, and against the number of hidden units.

use std::time::Instant;

use isinglass::learn::{Learner, MeanFieldCd, NoObserver};
use isinglass::{Error, Result};
use rayon::prelude::*;

use super::course::{HIDDEN, Problem, STEPS};
use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::{correlation, mean, slope, variance};

const DRAWS: usize = 3;
const SWEEPS: usize = 2;

/// Figure 6.
const STRENGTHS: [f64; 8] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0];
const SETS: usize = 10;

pub(super) fn against_mean_field(settings: &Settings<'_>) -> Result<Outcome> {
    let sets = settings.size(SETS, 2);
    settings.watch.expect(STRENGTHS.len() * sets);
    let jobs: Vec<(f64, u64)> =
        STRENGTHS.iter().flat_map(|&j| (0..sets as u64).map(move |index| (j, index))).collect();
    let learn = |&(j, index): &(f64, u64)| -> Result<[f64; 2]> {
        let problem = Problem::new(HIDDEN, j, settings.seed, index)?;
        let by_draws = problem.learner(DRAWS, SWEEPS, STEPS);
        let by_means = MeanFieldCd { iterations: STEPS, ..MeanFieldCd::default() };
        let end = |learner: &dyn Learner| -> Result<f64> {
            let path = problem.path(learner)?;
            path.last().map_or(Ok(f64::NAN), |machine| problem.log_likelihood(machine))
        };
        let both = [end(&by_draws)?, end(&by_means)?];
        settings.watch.done();
        Ok(both)
    };
    let found: Vec<[f64; 2]> = jobs.par_iter().map(learn).collect::<Result<_>>()?;
    let column = |which: usize, of: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
        found.chunks(sets).map(|sets| of(&sets.iter().map(|set| set[which]).collect::<Vec<_>>())).collect()
    };
    let (draws, means) = (column(0, &mean), column(1, &mean));
    let error = |numbers: &[f64]| (variance(numbers) / numbers.len() as f64).sqrt();
    let (draws_error, means_error) = (column(0, &error), column(1, &error));
    let gap: Vec<f64> = draws.iter().zip(&means).map(|(a, b)| a - b).collect();
    let above = gap.iter().filter(|gap| **gap > 0.0).count();
    let grows = correlation(&STRENGTHS, &gap);
    let (first, last) = (gap[0], gap[gap.len() - 1]);
    let checks = vec![
        check(
            above >= STRENGTHS.len() - 1,
            format!(
                "pseudo-likelihood EM is above mean-field contrastive divergence: for {above} of {} strengths J.",
                STRENGTHS.len()
            ),
        ),
        check(
            grows > 0.7 && last > 3.0 * first.max(0.0),
            format!(
                "mean field degrades at large J: the gap is {first:.4} nats at J = {} and {last:.3} at J = {} (correlation with J {grows:.2}).",
                STRENGTHS[0],
                STRENGTHS[STRENGTHS.len() - 1]
            ),
        ),
    ];
    let points = |y: &[f64]| STRENGTHS.iter().copied().zip(y.iter().copied()).collect();
    let figure = Sheet::new("Final log-likelihood against the strength of couplings")
        .row(
            400.0,
            [Chart::new(
                Axis::new("largest coupling J of the generating machine").within(0.0, 1.05),
                Axis::new("log-likelihood (nats a visible unit)"),
            )
            .with(
                Series::line("pseudo-likelihood EM", PALETTE[0], points(&draws))
                    .marked(Marker::Ring)
                    .with_errors(draws_error),
            )
            .with(
                Series::line("mean-field contrastive divergence", PALETTE[1], points(&means))
                    .marked(Marker::Square)
                    .with_errors(means_error),
            )
            .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!(
            "17 visible and {HIDDEN} hidden units, biases uniform on (−0.1, 0.1), couplings on (−J, J), 100 data points, {sets} data sets for each J; both learners from the same start for at most {STEPS} steps. Exact log-likelihood of the last machine per row and \
             visible unit, mean over the sets; error bars are standard errors."
        ),
        columns: vec![
            Column::new("j", "largest coupling J of the generating machine", STRENGTHS.to_vec()),
            Column::new(
                "pl_em",
                "log-likelihood of pseudo-likelihood EM, nats a row and visible unit",
                draws,
            ),
            Column::new("mean_field_cd", "log-likelihood of mean-field contrastive divergence", means),
        ],
        figure,
        checks,
        remarks: String::new(),
    })
}

/// Figure 7.
const J: f64 = 0.3;
const NUMBERS: [usize; 8] = [1, 3, 5, 8, 11, 14, 17, 20];

pub(super) fn times(settings: &Settings<'_>) -> Result<Outcome> {
    let steps = settings.size(STEPS, 100);
    let runs = settings.size(5, 3);
    settings.watch.expect(NUMBERS.len());
    // One thread, so that what others do on the machine matters less.
    let alone = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .map_err(|error| Error::Numerical { method: "threads", problem: error.to_string() })?;
    let mut seconds = Vec::new();
    for hidden in NUMBERS {
        let problem = Problem::with_hidden(hidden, J, settings.seed)?;
        let learner = problem.learner(DRAWS, SWEEPS, steps);
        let mut least = f64::INFINITY;
        for _ in 0..runs {
            let began = Instant::now();
            alone.install(|| learner.fit(&problem.start, &problem.table, &mut NoObserver))?;
            least = least.min(began.elapsed().as_secs_f64());
        }
        seconds.push(least);
        settings.watch.done();
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
                Axis::new("time (s)").from_zero(),
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
