//! Figures 3 to 5: convergence of learning, and its dependence on the number of draws.

use isinglass::{Machine, Result};
use rayon::prelude::*;

use super::problem::{HIDDEN, Problem, STEPS, changes, distance};
use super::{DRAWS, SWEEPS, VISIBLE};
use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::{Check, Column, Outcome, Settings};
use crate::statistics::{mean, standard_error};

const J: f64 = 0.3;
const SETS: usize = 20;
const FEW_SETS: usize = 4;

/// Returns the averages over data sets, element by element.
fn average(sets: &[Vec<f64>]) -> Vec<f64> {
    let at = |k: usize| mean(&sets.iter().map(|numbers| numbers[k]).collect::<Vec<_>>());
    (0..sets.first().map_or(0, Vec::len)).map(at).collect()
}

fn method(sets: usize) -> String {
    format!(
        "{sets} data sets of 100 points each, from machines of 17 visible and {HIDDEN} hidden units, biases uniform on \
         (−0.1, 0.1), couplings on (−{J}, {J}). The source's learner: Gibbs draws started at the max-product state, 20 gradient \
         steps of 0.01 per update. Averages over the sets."
    )
}

/// Figure 3: the likelihood is computed at every n-th step.
const EVERY: usize = 10;
/// The step by which the source says that learning has converged.
const CONVERGED: usize = 100;
/// The share of the gain that may still come after convergence.
const LATER: f64 = 0.02;

/// One data set of figure 3.
struct Trajectory {
    /// The log-likelihood at every tenth step.
    likelihoods: Vec<f64>,
    /// The change of the parameters at each step.
    changes: Vec<f64>,
    /// The distance that parameters move in the last 400 and in the last 100 steps.
    moved: [f64; 2],
    /// The mean size of the couplings of hidden units at step 100 and at the end.
    hidden: [f64; 2],
}

impl Trajectory {
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
            changes: changes(&path),
            moved: [distance(&path[CONVERGED], last), distance(&path[STEPS - 100], last)],
            hidden: [size(&path[CONVERGED]), size(last)],
        })
    }
}

pub(super) fn convergence(settings: &Settings<'_>) -> Result<Outcome> {
    let sets = settings.size(SETS, FEW_SETS);
    settings.progress.expect(sets);
    let found: Vec<Trajectory> = (0..sets as u64)
        .into_par_iter()
        .map(|index| {
            let trajectory = Trajectory::of(&Problem::new(HIDDEN, J, settings.seed, index)?)?;
            settings.progress.done();
            Ok(trajectory)
        })
        .collect::<Result<_>>()?;
    let over = |of: &dyn Fn(&Trajectory) -> f64| mean(&found.iter().map(of).collect::<Vec<_>>());
    let all = |of: &dyn Fn(&Trajectory) -> Vec<f64>| average(&found.iter().map(of).collect::<Vec<_>>());
    let (likelihood, change) = (all(&|path| path.likelihoods.clone()), all(&|path| path.changes.clone()));
    let (first, last) = (likelihood[0], likelihood[likelihood.len() - 1]);
    let at_hundred = likelihood[CONVERGED / EVERY];
    let later = (last - at_hundred) / (last - first);
    let [long, short] = [0, 1].map(|which| over(&|path| path.moved[which]));
    let [weak, strong] = [0, 1].map(|which| over(&|path| path.hidden[which]));
    let checks = vec![
        Check::new(
            format!("the log-likelihood has converged after about {CONVERGED} steps"),
            later.abs() < LATER,
            format!(
                "{first:.4} at the start, {at_hundred:.4} at step {CONVERGED}, {last:.4} at step {STEPS}; {:.1} % of the gain comes \
                 after step {CONVERGED}",
                100.0 * later
            ),
        ),
        Check::new(
            "the change of the parameters per step falls and levels off",
            change[CONVERGED] < 0.2 * change[0],
            format!(
                "{:.1e} in the first step, {:.1e} at step {CONVERGED}, {:.1e} at step {STEPS}",
                change[0],
                change[CONVERGED],
                change[STEPS - 1]
            ),
        ),
        Check::new(
            "the remaining change is sampling noise",
            long < 2.0 * short,
            format!(
                "distance moved in the last 400 steps: {:.1} times that in the last 100 (pure noise about 1, steady drift 4)",
                long / short
            ),
        ),
    ];
    let steps: Vec<f64> = (0..likelihood.len()).map(|k| (k * EVERY) as f64).collect();
    let in_steps: Vec<f64> =
        steps.iter().map(|&step| if step == 0.0 { f64::NAN } else { change[step as usize - 1] }).collect();
    let chart = |label: Axis, series: Series| {
        Chart::new(Axis::new("update step t").within(0.0, STEPS as f64), label).with(series).boxed()
    };
    let likelihoods = steps.iter().copied().zip(likelihood.iter().copied()).collect();
    let changes = change.iter().enumerate().map(|(k, &y)| ((k + 1) as f64, y)).collect();
    let figure = Sheet::new("Learning with hidden units by pseudo-likelihood")
        .row(
            360.0,
            [
                chart(
                    Axis::new("log-likelihood (nats per visible unit)"),
                    Series::line("", PALETTE[0], likelihoods),
                ),
                chart(Axis::log("mean change of a parameter"), Series::line("", PALETTE[1], changes).thin()),
            ],
        )
        .to_svg();
    Ok(Outcome {
        method: format!(
            "{} K = {DRAWS}, λ = {SWEEPS}; {STEPS} steps, after which the source stops in any case. Log-likelihoods are exact, per \
             row and visible unit.",
            method(sets)
        ),
        columns: vec![
            Column::new("step", "update step t", steps),
            Column::new("log_likelihood", "log-likelihood, nats per row and visible unit", likelihood),
            Column::new("change", "mean change of a parameter in this step, eq. 4.2", in_steps),
        ],
        figure,
        checks,
        remarks: format!(
            "Couplings among visible units are learned within the first steps. Those of hidden units start small and grow slowly, \
             from a mean size of {weak:.2} at step {CONVERGED} to {strong:.2} at step {STEPS}; in the change per step, sampling \
             noise hides this drift."
        ),
    })
}

/// Figure 4.
const NUMBERS: [usize; 7] = [1, 2, 3, 4, 6, 8, 10];
const FEW_NUMBERS: [usize; 3] = [1, 3, 10];
const DRAWS_FOR_SWEEPS: usize = 4;
/// Averages within this share of the gain by learning count as nearly the same.
const NEARLY: f64 = 0.05;

/// Mean likelihoods reached for each number, and standard errors of their deviations from the mean
/// of the same data set.
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
    settings.progress.expect(jobs.len());
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
        settings.progress.done();
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
        Check::new(
            format!("nearly the same log-likelihood for every {name}"),
            found.range() < NEARLY * gained,
            format!(
                "means for {name} = 1 to 10 within {:.4} nats, {:.1} % of the gain by learning ({gained:.3}); standard errors up to \
                 {error:.4}",
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
        Chart::new(Axis::new(label).within(0.0, 10.5), Axis::new("log-likelihood (nats per visible unit)"))
            .with(series.with_errors(found.errors.clone()))
            .boxed()
    };
    let figure = Sheet::new(format!("Log-likelihood after {STEPS} steps"))
        .row(
            340.0,
            [
                chart("draws per data point, K (λ = 2)", 0, &draws),
                chart("sweeps between draws, λ (K = 4)", 1, &sweeps),
            ],
        )
        .to_svg();
    Ok(Outcome {
        method: format!(
            "{} The machine after {STEPS} steps; K = 1…10 with λ = {SWEEPS}, and λ = 1…10 with K = {DRAWS_FOR_SWEEPS}. \
             Log-likelihoods are exact, per row and visible unit; error bars are standard errors of the difference from the mean \
             over K or λ on the same data set.",
            method(sets)
        ),
        columns: vec![
            Column::new("number", "K or λ", numbers.clone()),
            Column::new(
                "by_k",
                "log-likelihood with K draws and λ = 2, nats per row and visible unit",
                draws.means,
            ),
            Column::new("by_k_error", "its standard error, from differences within data sets", draws.errors),
            Column::new("by_lambda", "log-likelihood with λ sweeps between draws and K = 4", sweeps.means),
            Column::new(
                "by_lambda_error",
                "its standard error, from differences within data sets",
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
    settings.progress.expect(2 * sets);
    let moved = |draws: usize| -> Result<Vec<f64>> {
        let found: Vec<Vec<f64>> = (0..sets as u64)
            .into_par_iter()
            .map(|index| {
                let problem = Problem::new(HIDDEN, J, settings.seed, index)?;
                let path = problem.path(&problem.learner(draws, SWEEPS, SHOWN))?;
                settings.progress.done();
                Ok(changes(&path))
            })
            .collect::<Result<_>>()?;
        Ok(average(&found))
    };
    let (few, many) = (moved(FEW_AND_MANY[0])?, moved(FEW_AND_MANY[1])?);
    let (late_few, late_many) = (mean(&few[100..]), mean(&many[100..]));
    let checks = vec![Check::new(
        "more draws make convergence more stable",
        late_many < 0.85 * late_few,
        format!(
            "mean change per step after step 100: {late_few:.2e} with K = 3, {late_many:.2e} with K = 9; ratio {:.2} (independent \
             draws: {:.2})",
            late_many / late_few,
            (3f64 / 9.0).sqrt()
        ),
    )];
    let steps: Vec<f64> = (1..=few.len()).map(|k| k as f64).collect();
    let points = |y: &[f64]| steps.iter().copied().zip(y.iter().copied()).collect();
    let figure = Sheet::new("Change of the parameters per update step")
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
        method: format!("{} λ = {SWEEPS}.", method(sets)),
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
