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

/// Mean-field contrastive divergence: as it was proposed, with plain sweeps away from the data, by short steps and by long ones; and with sweeps that are damped, which makes up for the correlations that means lack.
fn mean_field_learners() -> [MeanFieldCd; 3] {
    let learner = |damping: f64, rate: f64, steps: usize| MeanFieldCd {
        damping,
        rate,
        steps,
        iterations: STEPS,
        ..MeanFieldCd::default()
    };
    [learner(0.0, 0.05, 1), learner(0.0, 0.5, 3), learner(0.9, 0.05, 1)]
}

pub(super) fn against_mean_field(settings: &Settings<'_>) -> Result<Outcome> {
    let sets = settings.size(SETS, 3);
    settings.watch.expect(STRENGTHS.len() * sets);
    let jobs: Vec<(f64, u64)> =
        STRENGTHS.iter().flat_map(|&j| (0..sets as u64).map(move |index| (j, index))).collect();
    let learn = |&(j, index): &(f64, u64)| -> Result<[f64; 4]> {
        let problem = Problem::new(HIDDEN, j, settings.seed, index)?;
        let by_draws = problem.learner(DRAWS, SWEEPS, STEPS);
        let end = |learner: &dyn Learner| -> Result<f64> {
            let path = problem.path(learner)?;
            path.last().map_or(Ok(f64::NAN), |machine| problem.log_likelihood(machine))
        };
        let [plain, long, damped] = mean_field_learners().map(|learner| end(&learner));
        let ends = [end(&by_draws)?, plain?, long?, damped?];
        settings.watch.done();
        Ok(ends)
    };
    let found: Vec<[f64; 4]> = jobs.par_iter().map(learn).collect::<Result<_>>()?;
    let column = |which: usize, of: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
        found.chunks(sets).map(|sets| of(&sets.iter().map(|set| set[which]).collect::<Vec<_>>())).collect()
    };
    let error = |numbers: &[f64]| (variance(numbers) / numbers.len() as f64).sqrt();
    let [draws, plain, long, damped] = [0, 1, 2, 3].map(|which| column(which, &mean));
    let [draws_error, plain_error, long_error, damped_error] =
        [0, 1, 2, 3].map(|which| column(which, &error));
    let below = |other: &[f64]| -> Vec<f64> { draws.iter().zip(other).map(|(a, b)| a - b).collect() };
    let (gap, long_gap) = (below(&plain), below(&long));
    let above = gap.iter().zip(&long_gap).filter(|(plain, long)| **plain > 0.0 && **long > 0.0).count();
    // The weaker and the stronger half of the couplings.
    let half = STRENGTHS.len() / 2;
    let halves = |gap: &[f64]| (mean(&gap[..half]), mean(&gap[half..]));
    let ((weak, strong), (long_weak, long_strong)) = (halves(&gap), halves(&long_gap));
    let checks = vec![
        check(
            above >= STRENGTHS.len() - 1,
            format!(
                "pseudo-likelihood EM is above mean-field contrastive divergence: for {above} of {} strengths J, whether its steps are short or long.",
                STRENGTHS.len()
            ),
        ),
        check(
            long_strong > 1.2 * long_weak,
            format!(
                "mean field degrades at large J if its steps are long (rate 0.5, three sweeps): the gap is {long_weak:.3} nats on average for J up to {}, and {long_strong:.3} beyond.",
                STRENGTHS[half - 1]
            ),
        ),
        check(
            strong > 1.2 * weak,
            format!(
                "it degrades at large J also if its steps are short (rate 0.05, one sweep): the gap is {weak:.3} nats for J up to {}, and {strong:.3} beyond.",
                STRENGTHS[half - 1]
            ),
        ),
    ];
    let points = |y: &[f64]| STRENGTHS.iter().copied().zip(y.iter().copied()).collect();
    let series = |name: &str, colour: usize, marker: Marker, y: &[f64], errors: Vec<f64>| {
        Series::line(name, PALETTE[colour], points(y)).thin().marked(marker).with_errors(errors)
    };
    let figure = Sheet::new("Final log-likelihood against the strength of couplings")
        .row(
            420.0,
            [Chart::new(
                Axis::new("largest coupling J of the generating machine").within(0.0, 1.05),
                Axis::new("log-likelihood (nats a visible unit)"),
            )
            .with(series("pseudo-likelihood EM", 0, Marker::Ring, &draws, draws_error))
            .with(series("mean-field CD, rate 0.05", 1, Marker::Square, &plain, plain_error))
            .with(series("the same, rate 0.5 and 3 sweeps", 2, Marker::Disc, &long, long_error))
            .with(series("mean-field CD, damped", 3, Marker::Plus, &damped, damped_error))
            .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!(
            "17 visible and {HIDDEN} hidden units, biases uniform on (−0.1, 0.1), couplings on (−J, J), 100 data points, {sets} data sets for each J; all learners from the same start for {STEPS} steps. Exact log-likelihood of the last machine per row and \
             visible unit, mean over the sets; error bars are standard errors. The source does not tell the rate or the number of sweeps of its mean-field learner."
        ),
        columns: vec![
            Column::new("j", "largest coupling J of the generating machine", STRENGTHS.to_vec()),
            Column::new("pl_em", "log-likelihood of pseudo-likelihood EM, nats a row and visible unit", draws),
            Column::new("mean_field_cd", "log-likelihood of mean-field contrastive divergence: one sweep, rate 0.05", plain),
            Column::new("mean_field_cd_long_steps", "the same with three sweeps and rate 0.5", long),
            Column::new("mean_field_cd_damped", "the same with one damped sweep (0.9) and rate 0.05", damped),
        ],
        figure,
        checks,
        remarks: "Likelihoods are those of the data that were learned, as in the source. Plain mean-field reconstruction makes couplings too large whatever their strength, since products of means lack what is left of a correlation; with 100 data points, whose \
                  correlations are half noise where J is small, that costs as much there as at large J. That it fails at large J in particular, as the source finds, we see with long steps only, where learning does not settle. With damped sweeps most of the gap is gone."
            .into(),
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
