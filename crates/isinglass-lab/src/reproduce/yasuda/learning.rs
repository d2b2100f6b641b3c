//! Figures 3 to 5: the course of learning, and what the number of draws does to it.

use isinglass::{Machine, Result};
use rayon::prelude::*;

use super::course::{HIDDEN, Problem, changes};
use super::{DRAWS, SWEEPS};
use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::{mean, variance};

const J: f64 = 0.3;
const SETS: usize = 20;
const FEW_SETS: usize = 4;

/// Averages over data sets, place by place.
fn average(sets: &[Vec<f64>]) -> Vec<f64> {
    let at = |k: usize| mean(&sets.iter().map(|numbers| numbers[k]).collect::<Vec<_>>());
    (0..sets.first().map_or(0, Vec::len)).map(at).collect()
}

fn set_up(sets: usize) -> String {
    format!(
        "{sets} data sets of 100 points each, from machines of 17 visible and {HIDDEN} hidden units, biases uniform on (−0.1, 0.1), couplings on (−{J}, {J}); the source's learner (draws by Gibbs sampling from the max-product state, 20 gradient steps of 0.01 \
         an update). Log-likelihoods are exact, per row and visible unit; averages over the sets."
    )
}

/// Figure 3.
const SHOWN: usize = 200;
const EVERY: usize = 4;

pub(super) fn course(settings: &Settings<'_>) -> Result<Outcome> {
    let sets = settings.size(SETS, FEW_SETS);
    settings.watch.expect(sets);
    let found: Vec<(Vec<f64>, Vec<f64>)> = (0..sets as u64)
        .into_par_iter()
        .map(|index| {
            let problem = Problem::new(HIDDEN, J, settings.seed, index)?;
            let path = problem.path(&problem.learner(DRAWS, SWEEPS, SHOWN))?;
            let shown: Vec<&Machine> = path.iter().step_by(EVERY).collect();
            let likelihoods =
                shown.iter().map(|machine| problem.log_likelihood(machine)).collect::<Result<_>>()?;
            settings.watch.done();
            Ok((likelihoods, changes(&path)))
        })
        .collect::<Result<_>>()?;
    let (likelihoods, moves): (Vec<Vec<f64>>, Vec<Vec<f64>>) = found.into_iter().unzip();
    let (likelihood, moved) = (average(&likelihoods), average(&moves));
    let last = likelihood[likelihood.len() - 1];
    let at_hundred = likelihood[100 / EVERY];
    let gained = (at_hundred - likelihood[0]) / (last - likelihood[0]);
    let late = mean(&moved[100..]);
    let checks = vec![
        check(
            gained > 0.9,
            format!(
                "the log-likelihood has converged by about 100 steps: {:.0} % of what {SHOWN} steps gain is gained by then ({:.4} at the start, {at_hundred:.4}, {last:.4}).",
                100.0 * gained,
                likelihood[0]
            ),
        ),
        check(
            late < 0.2 * moved[0],
            format!(
                "parameters come to rest but for the noise of the draws: their mean change is {:.1e} in the first step and {late:.1e} on average after 100.",
                moved[0]
            ),
        ),
    ];
    let steps: Vec<f64> = (0..likelihood.len()).map(|k| (k * EVERY) as f64).collect();
    let in_steps: Vec<f64> =
        steps.iter().map(|&step| if step == 0.0 { f64::NAN } else { moved[step as usize - 1] }).collect();
    let figure = Sheet::new("Learning with hidden units by pseudo-likelihood")
        .row(
            360.0,
            [
                Chart::new(
                    Axis::new("update step t").within(0.0, SHOWN as f64),
                    Axis::new("log-likelihood (nats a visible unit)"),
                )
                .with(Series::line(
                    "",
                    PALETTE[0],
                    steps.iter().copied().zip(likelihood.iter().copied()).collect(),
                ))
                .boxed(),
                Chart::new(
                    Axis::new("update step t").within(0.0, SHOWN as f64),
                    Axis::log("mean change of a parameter"),
                )
                .with(
                    Series::line(
                        "",
                        PALETTE[1],
                        moved.iter().enumerate().map(|(k, &y)| ((k + 1) as f64, y)).collect(),
                    )
                    .thin(),
                )
                .boxed(),
            ],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!("{} K = {DRAWS}, λ = {SWEEPS}.", set_up(sets)),
        columns: vec![
            Column::new("step", "update step t", steps),
            Column::new("log_likelihood", "log-likelihood, nats a row and visible unit", likelihood),
            Column::new("change", "mean change of a parameter in this step, eq. 4.2", in_steps),
        ],
        figure,
        checks,
        remarks: String::new(),
    })
}

/// Figure 4.
const NUMBERS: [usize; 7] = [1, 2, 3, 4, 6, 8, 10];
const LAST: usize = 100;
const DRAWS_FOR_SWEEPS: usize = 4;

pub(super) fn dependence(settings: &Settings<'_>) -> Result<Outcome> {
    let sets = settings.size(SETS, FEW_SETS);
    settings.watch.expect(sets);
    let found: Vec<(Vec<f64>, Vec<f64>)> = (0..sets as u64)
        .into_par_iter()
        .map(|index| {
            let problem = Problem::new(HIDDEN, J, settings.seed, index)?;
            let end = |draws: usize, sweeps: usize| -> Result<f64> {
                let path = problem.path(&problem.learner(draws, sweeps, LAST))?;
                path.last().map_or(Ok(f64::NAN), |machine| problem.log_likelihood(machine))
            };
            let by_draws = NUMBERS.iter().map(|&draws| end(draws, SWEEPS)).collect::<Result<_>>()?;
            let by_sweeps =
                NUMBERS.iter().map(|&sweeps| end(DRAWS_FOR_SWEEPS, sweeps)).collect::<Result<_>>()?;
            settings.watch.done();
            Ok((by_draws, by_sweeps))
        })
        .collect::<Result<_>>()?;
    let (by_draws, by_sweeps): (Vec<Vec<f64>>, Vec<Vec<f64>>) = found.into_iter().unzip();
    let spread = variance(&by_draws.iter().map(|set| set[2]).collect::<Vec<_>>()).sqrt();
    let (draws, sweeps) = (average(&by_draws), average(&by_sweeps));
    let range = |numbers: &[f64]| {
        let (low, high) =
            numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
        high - low
    };
    let checks = vec![
        check(
            range(&draws) < 0.02,
            format!(
                "nearly the same for every K: averages from K = 1 to 10 are within {:.4} nats (data sets differ by {spread:.4}).",
                range(&draws)
            ),
        ),
        check(
            range(&sweeps) < 0.02,
            format!(
                "nearly the same for every λ: averages from λ = 1 to 10 are within {:.4} nats.",
                range(&sweeps)
            ),
        ),
    ];
    let numbers: Vec<f64> = NUMBERS.iter().map(|&k| k as f64).collect();
    let points = |y: &[f64]| numbers.iter().copied().zip(y.iter().copied()).collect();
    let middle = mean(&draws);
    let chart = |label: &str, colour: usize, y: &[f64]| {
        Chart::new(
            Axis::new(label).within(0.0, 10.5),
            Axis::new("log-likelihood (nats a visible unit)").within(middle - 0.05, middle + 0.05),
        )
        .with(Series::line("", PALETTE[colour], points(y)).marked(Marker::Disc))
        .boxed()
    };
    let figure = Sheet::new("Few draws and few sweeps are enough")
        .row(
            340.0,
            [
                chart("draws for a data point, K (λ = 2)", 0, &draws),
                chart("sweeps between draws, λ (K = 4)", 1, &sweeps),
            ],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!(
            "{} The machine after {LAST} steps; K = 1…10 with λ = {SWEEPS}, and λ = 1…10 with K = {DRAWS_FOR_SWEEPS}.",
            set_up(sets)
        ),
        columns: vec![
            Column::new("number", "K or λ", numbers.clone()),
            Column::new("by_k", "log-likelihood with K draws and λ = 2, nats a row and visible unit", draws),
            Column::new("by_lambda", "log-likelihood with λ sweeps between draws and K = 4", sweeps),
        ],
        figure,
        checks,
        remarks: String::new(),
    })
}

/// Figure 5.
const FEW_AND_MANY: [usize; 2] = [3, 9];

pub(super) fn stability(settings: &Settings<'_>) -> Result<Outcome> {
    let sets = settings.size(SETS, FEW_SETS);
    settings.watch.expect(2 * sets);
    let moved = |draws: usize| -> Result<Vec<f64>> {
        let found: Vec<Vec<f64>> = (0..sets as u64)
            .into_par_iter()
            .map(|index| {
                let problem = Problem::new(HIDDEN, J, settings.seed, index)?;
                let path = problem.path(&problem.learner(draws, SWEEPS, SHOWN))?;
                settings.watch.done();
                Ok(changes(&path))
            })
            .collect::<Result<_>>()?;
        Ok(average(&found))
    };
    let (few, many) = (moved(FEW_AND_MANY[0])?, moved(FEW_AND_MANY[1])?);
    let (late_few, late_many) = (mean(&few[100..]), mean(&many[100..]));
    let checks = vec![check(
        late_many < 0.85 * late_few,
        format!(
            "more draws make convergence more stable: after step 100 parameters change by {late_few:.2e} a step with K = 3 and {late_many:.2e} with K = 9 ({:.2} times as much; independent draws would give {:.2}).",
            late_many / late_few,
            (3f64 / 9.0).sqrt()
        ),
    )];
    let steps: Vec<f64> = (1..=few.len()).map(|k| k as f64).collect();
    let points = |y: &[f64]| steps.iter().copied().zip(y.iter().copied()).collect();
    let figure = Sheet::new("How far parameters still move")
        .row(
            400.0,
            [Chart::new(
                Axis::new("update step t").within(0.0, SHOWN as f64),
                Axis::log("mean change of a parameter"),
            )
            .with(Series::line("K = 3", PALETTE[1], points(&few)).thin())
            .with(Series::line("K = 9", PALETTE[0], points(&many)).thin())
            .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!("{} λ = {SWEEPS}.", set_up(sets)),
        columns: vec![
            Column::new("step", "update step t", steps.clone()),
            Column::new("k3", "mean change of a parameter in this step with K = 3, eq. 4.2", few),
            Column::new("k9", "the same with K = 9", many),
        ],
        figure,
        checks,
        remarks: String::new(),
    })
}
