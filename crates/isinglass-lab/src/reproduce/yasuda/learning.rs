//! Figures 3 to 5: the course of learning, and what the number of draws does to it.

use isinglass::{Machine, Result};
use rayon::prelude::*;

use super::course::{HIDDEN, Problem, STEPS, changes, distance};
use super::{DRAWS, SWEEPS, VISIBLE};
use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::{mean, standard_error};

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
         an update). Averages over the sets."
    )
}

/// Figure 3. Every so many steps the likelihood is computed.
const EVERY: usize = 10;
/// By when the source says that learning has converged.
const CONVERGED: usize = 100;
/// The share of what is gained that may still come after convergence.
const LATER: f64 = 0.02;

/// What figure 3 takes from one data set.
struct Course {
    /// The log-likelihood at every tenth step.
    likelihoods: Vec<f64>,
    /// Changes of parameters from step to step.
    moves: Vec<f64>,
    /// How far parameters go in the last 400 and in the last 100 steps.
    far: [f64; 2],
    /// The mean size of a coupling of hidden units at step 100 and at the end.
    hidden: [f64; 2],
}

impl Course {
    fn of(problem: &Problem) -> Result<Self> {
        let path = problem.path(&problem.learner(DRAWS, SWEEPS, STEPS))?;
        let last = &path[path.len() - 1];
        let size = |machine: &Machine| {
            let edges = machine.graph().edges().iter().zip(machine.weights());
            let hidden = edges.filter(|((_, b), _)| *b >= VISIBLE).map(|(_, w)| w.abs());
            mean(&hidden.collect::<Vec<_>>())
        };
        Ok(Self {
            likelihoods: path
                .iter()
                .step_by(EVERY)
                .map(|machine| problem.log_likelihood(machine))
                .collect::<Result<_>>()?,
            moves: changes(&path),
            far: [distance(&path[CONVERGED], last), distance(&path[STEPS - 100], last)],
            hidden: [size(&path[CONVERGED]), size(last)],
        })
    }
}

pub(super) fn course(settings: &Settings<'_>) -> Result<Outcome> {
    let sets = settings.size(SETS, FEW_SETS);
    settings.watch.expect(sets);
    let found: Vec<Course> = (0..sets as u64)
        .into_par_iter()
        .map(|index| {
            let course = Course::of(&Problem::new(HIDDEN, J, settings.seed, index)?)?;
            settings.watch.done();
            Ok(course)
        })
        .collect::<Result<_>>()?;
    let over = |of: &dyn Fn(&Course) -> f64| mean(&found.iter().map(of).collect::<Vec<_>>());
    let all = |of: &dyn Fn(&Course) -> Vec<f64>| average(&found.iter().map(of).collect::<Vec<_>>());
    let (likelihood, moved) =
        (all(&|course| course.likelihoods.clone()), all(&|course| course.moves.clone()));
    let (first, last) = (likelihood[0], likelihood[likelihood.len() - 1]);
    let at_hundred = likelihood[CONVERGED / EVERY];
    let later = (last - at_hundred) / (last - first);
    let [far, near] = [0, 1].map(|which| over(&|course| course.far[which]));
    let [weak, strong] = [0, 1].map(|which| over(&|course| course.hidden[which]));
    let checks = vec![
        check(
            later.abs() < LATER,
            format!(
                "the log-likelihood has converged by about {CONVERGED} steps: {first:.4} at the start, {at_hundred:.4} at step {CONVERGED}, {last:.4} at step {STEPS}; {:.1} % of the gain comes after step {CONVERGED}.",
                100.0 * later
            ),
        ),
        check(
            moved[CONVERGED] < 0.2 * moved[0],
            format!(
                "the change of parameters from step to step falls and levels off: {:.1e} in the first step, {:.1e} at step {CONVERGED}, {:.1e} at the end.",
                moved[0],
                moved[CONVERGED],
                moved[STEPS - 1]
            ),
        ),
        check(
            far < 2.0 * near,
            format!(
                "what is left of it is the noise of the draws: in the last 400 steps parameters go {:.1} times as far as in the last 100 (noise alone would take them hardly further, drift four times as far).",
                far / near
            ),
        ),
    ];
    let steps: Vec<f64> = (0..likelihood.len()).map(|k| (k * EVERY) as f64).collect();
    let in_steps: Vec<f64> =
        steps.iter().map(|&step| if step == 0.0 { f64::NAN } else { moved[step as usize - 1] }).collect();
    let chart = |label: Axis, series: Series| {
        Chart::new(Axis::new("update step t").within(0.0, STEPS as f64), label).with(series).boxed()
    };
    let likelihoods = steps.iter().copied().zip(likelihood.iter().copied()).collect();
    let moves = moved.iter().enumerate().map(|(k, &y)| ((k + 1) as f64, y)).collect();
    let figure = Sheet::new("Learning with hidden units by pseudo-likelihood")
        .row(
            360.0,
            [
                chart(
                    Axis::new("log-likelihood (nats a visible unit)"),
                    Series::line("", PALETTE[0], likelihoods),
                ),
                chart(Axis::log("mean change of a parameter"), Series::line("", PALETTE[1], moves).thin()),
            ],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!(
            "{} K = {DRAWS}, λ = {SWEEPS}; {STEPS} steps, where the source stops what has not converged. Log-likelihoods are exact, per row and visible unit.",
            set_up(sets)
        ),
        columns: vec![
            Column::new("step", "update step t", steps),
            Column::new("log_likelihood", "log-likelihood, nats a row and visible unit", likelihood),
            Column::new("change", "mean change of a parameter in this step, eq. 4.2", in_steps),
        ],
        figure,
        checks,
        remarks: format!(
            "Couplings among visible units are learned within the first steps. What goes on is slow: hidden units begin with small couplings, draws of them say little at first, and their couplings grow from {weak:.2} in size on average at step {CONVERGED} to              {strong:.2} at step {STEPS}. In the change from step to step this is hidden by the noise of the draws."
        ),
    })
}

/// Figure 4.
const NUMBERS: [usize; 7] = [1, 2, 3, 4, 6, 8, 10];
const FEW_NUMBERS: [usize; 3] = [1, 3, 10];
const DRAWS_FOR_SWEEPS: usize = 4;
/// Averages that are within this share of what learning gains count as nearly the same.
const NEARLY: f64 = 0.05;

/// Likelihoods reached for each number, as averages over data sets, and how sure their differences from the middle of their own set are.
struct Dependence {
    means: Vec<f64>,
    errors: Vec<f64>,
}

impl Dependence {
    fn of(sets: &[Vec<f64>]) -> Self {
        let deviations = |k: usize| sets.iter().map(move |set| set[k] - mean(set)).collect::<Vec<_>>();
        let means = average(sets);
        Self { errors: (0..means.len()).map(|k| standard_error(&deviations(k))).collect(), means }
    }

    fn range(&self) -> f64 {
        let least = self.means.iter().copied().fold(f64::INFINITY, f64::min);
        self.means.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least
    }
}

pub(super) fn dependence(settings: &Settings<'_>) -> Result<Outcome> {
    let sets = settings.size(SETS, FEW_SETS);
    let numbers: &[usize] = if settings.quick { &FEW_NUMBERS } else { &NUMBERS };
    let jobs: Vec<(u64, usize)> =
        (0..sets as u64).flat_map(|index| (0..=2 * numbers.len()).map(move |which| (index, which))).collect();
    settings.watch.expect(jobs.len());
    // The start first, then every K, then every λ.
    let end = |&(index, which): &(u64, usize)| -> Result<f64> {
        let problem = Problem::new(HIDDEN, J, settings.seed, index)?;
        let learner = match which.checked_sub(1) {
            None => problem.learner(DRAWS, SWEEPS, 1),
            Some(k) if k < numbers.len() => problem.learner(numbers[k], SWEEPS, STEPS),
            Some(k) => problem.learner(DRAWS_FOR_SWEEPS, numbers[k - numbers.len()], STEPS),
        };
        let path = problem.path(&learner)?;
        let machine = if which == 0 { path.first() } else { path.last() };
        settings.watch.done();
        machine.map_or(Ok(f64::NAN), |machine| problem.log_likelihood(machine))
    };
    let ends: Vec<f64> = jobs.par_iter().map(end).collect::<Result<_>>()?;
    let of_sets = |from: usize, to: usize| -> Vec<Vec<f64>> {
        ends.chunks(2 * numbers.len() + 1).map(|set| set[from..to].to_vec()).collect()
    };
    let draws = Dependence::of(&of_sets(1, numbers.len() + 1));
    let sweeps = Dependence::of(&of_sets(numbers.len() + 1, 2 * numbers.len() + 1));
    let gained = mean(&draws.means) - average(&of_sets(0, 1))[0];
    let verdict = |name: &str, found: &Dependence| {
        let error = found.errors.iter().copied().fold(0.0, f64::max);
        check(
            found.range() < NEARLY * gained,
            format!(
                "nearly the same for every {name}: averages from {name} = 1 to 10 are within {:.4} nats, {:.1} % of the {gained:.3} that learning gains (standard errors of differences up to {error:.4}).",
                found.range(),
                100.0 * found.range() / gained
            ),
        )
    };
    let checks = vec![verdict("K", &draws), verdict("λ", &sweeps)];
    let numbers: Vec<f64> = numbers.iter().map(|&k| k as f64).collect();
    let chart = |label: &str, colour: usize, found: &Dependence| {
        let points = numbers.iter().copied().zip(found.means.iter().copied()).collect();
        let series = Series::line("", PALETTE[colour], points).marked(Marker::Disc);
        Chart::new(Axis::new(label).within(0.0, 10.5), Axis::new("log-likelihood (nats a visible unit)"))
            .with(series.with_errors(found.errors.clone()))
            .boxed()
    };
    let figure = Sheet::new(format!("Log-likelihood after {STEPS} steps"))
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
            "{} The machine after {STEPS} steps; K = 1…10 with λ = {SWEEPS}, and λ = 1…10 with K = {DRAWS_FOR_SWEEPS}. Log-likelihoods are exact, per row and visible unit; error bars are standard errors of the difference from the average over K or λ, data set by data set.",
            set_up(sets)
        ),
        columns: vec![
            Column::new("number", "K or λ", numbers.clone()),
            Column::new(
                "by_k",
                "log-likelihood with K draws and λ = 2, nats a row and visible unit",
                draws.means,
            ),
            Column::new("by_k_error", "its standard error, of differences within data sets", draws.errors),
            Column::new("by_lambda", "log-likelihood with λ sweeps between draws and K = 4", sweeps.means),
            Column::new(
                "by_lambda_error",
                "its standard error, of differences within data sets",
                sweeps.errors,
            ),
        ],
        figure,
        checks,
        remarks: String::new(),
    })
}

/// Figure 5.
const FEW_AND_MANY: [usize; 2] = [3, 9];
const SHOWN: usize = 200;

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
