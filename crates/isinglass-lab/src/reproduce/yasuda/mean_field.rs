//! Figure 6: against mean-field contrastive divergence, over rates and numbers of sweeps, which the source does not tell.

use isinglass::Result;
use isinglass::learn::{Learner, MeanFieldCd};
use rayon::prelude::*;

use super::course::{HIDDEN, Problem, STEPS};
use super::{DRAWS, SWEEPS};
use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::canvas::Stroke;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::outcome::check;
use crate::reproduce::{Check, Column, Outcome, Settings};
use crate::statistics::{mean, standard_error};

const STRENGTHS: [f64; 8] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0];
const SETS: usize = 10;

/// Rates and sweeps of plain mean-field contrastive divergence that are compared; all are shown, whatever comes out.
const RATES: [f64; 4] = [0.01, 0.05, 0.2, 0.5];
const SWEEPS_AWAY: [usize; 3] = [1, 3, 10];
/// Among these, the one that stands for the method in the first panel and in `mean_field_cd`: one sweep, since Welling and Hinton (2002, abstract) take one-step reconstructions, at rate 0.05. It was chosen before the others were tried.
const SHOWN: usize = SWEEPS_AWAY.len();
/// Colours of the rates; that of the one shown is the same in both panels.
const COLOURS: [usize; RATES.len()] = [5, 1, 4, 3];

/// A gap must grow by so many standard errors to be said to grow.
const SURE: f64 = 2.0;

/// A learner of the comparison.
struct Rival {
    name: String,
    meaning: String,
    learner: MeanFieldCd,
}

/// The plain learner, rate after rate, and last the damped one as the program has it by default.
fn rivals() -> Vec<Rival> {
    let plain = RATES.iter().flat_map(|&rate| {
        SWEEPS_AWAY.map(|steps| Rival {
            name: format!("mean_field_cd_rate_{rate}_sweeps_{steps}"),
            meaning: format!("mean-field contrastive divergence with rate {rate}, sweeps {steps}"),
            learner: MeanFieldCd::new().damping(0.0).rate(rate).steps(steps).iterations(STEPS),
        })
    });
    let default = MeanFieldCd::new().iterations(STEPS);
    let damped = Rival {
        name: "mean_field_cd_damped".into(),
        meaning: format!(
            "the program's default: sweeps damped by {}, rate {}, sweeps {}",
            default.damping, default.rate, default.steps
        ),
        learner: default,
    };
    let mut all: Vec<Rival> = plain.chain([damped]).collect();
    all[SHOWN].name = "mean_field_cd".into();
    all
}

/// Averages over data sets at each strength, and their standard errors: of a learner's likelihoods, or of what it loses to pseudo-likelihood EM.
struct Averages {
    means: Vec<f64>,
    errors: Vec<f64>,
}

/// By how much a loss is larger for the stronger half of the couplings than for the weaker half.
struct Growth {
    weak: f64,
    strong: f64,
    /// The standard error of the difference, over data sets.
    error: f64,
}

impl Growth {
    /// From the losses of each data set, strength after strength.
    fn of(losses: &[Vec<f64>]) -> Self {
        let half = STRENGTHS.len() / 2;
        let halves: Vec<(f64, f64)> =
            losses.iter().map(|set| (mean(&set[..half]), mean(&set[half..]))).collect();
        let (weak, strong): (Vec<f64>, Vec<f64>) = halves.iter().copied().unzip();
        let differences: Vec<f64> = halves.iter().map(|(weak, strong)| strong - weak).collect();
        Self { weak: mean(&weak), strong: mean(&strong), error: standard_error(&differences) }
    }

    /// Standard errors by which the loss grows.
    fn sureness(&self) -> f64 {
        (self.strong - self.weak) / self.error
    }
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    let sets = settings.size(SETS, 3);
    let rivals = rivals();
    settings.watch.expect(STRENGTHS.len() * sets);
    let jobs: Vec<(f64, u64)> =
        STRENGTHS.iter().flat_map(|&j| (0..sets as u64).map(move |index| (j, index))).collect();
    // Pseudo-likelihood EM first, then its rivals.
    let learn = |&(j, index): &(f64, u64)| -> Result<Vec<f64>> {
        let problem = Problem::new(HIDDEN, j, settings.seed, index)?;
        let end = |learner: &dyn Learner| -> Result<f64> {
            let path = problem.path(learner)?;
            path.last().map_or(Ok(f64::NAN), |machine| problem.log_likelihood(machine))
        };
        let by_draws = problem.learner(DRAWS, SWEEPS, STEPS);
        let learners =
            std::iter::once(&by_draws as &dyn Learner).chain(rivals.iter().map(|rival| &rival.learner as _));
        let ends = learners.map(end).collect::<Result<_>>()?;
        settings.watch.done();
        Ok(ends)
    };
    let found: Vec<Vec<f64>> = jobs.par_iter().map(learn).collect::<Result<_>>()?;
    let over_sets = |of: &dyn Fn(&[f64]) -> f64| -> Averages {
        let numbers = found.chunks(sets).map(|sets| sets.iter().map(|ends| of(ends)).collect::<Vec<_>>());
        let (means, errors) = numbers.map(|all| (mean(&all), standard_error(&all))).unzip();
        Averages { means, errors }
    };
    let of_learner = |which: usize| over_sets(&|ends| ends[which]);
    // The same data for both, so that differences of data sets do not count.
    let gaps: Vec<Averages> =
        (1..=rivals.len()).map(|which| over_sets(&|ends| ends[0] - ends[which])).collect();
    let growths: Vec<Growth> = (1..=rivals.len())
        .map(|which| {
            let loss = |strength: usize, set: usize| {
                let ends = &found[strength * sets + set];
                ends[0] - ends[which]
            };
            let losses = (0..sets).map(|set| (0..STRENGTHS.len()).map(|j| loss(j, set)).collect());
            Growth::of(&losses.collect::<Vec<_>>())
        })
        .collect();
    let draws = of_learner(0);
    let mut columns = vec![
        Column::new("j", "largest coupling J of the generating machine", STRENGTHS.to_vec()),
        Column::new(
            "pl_em",
            "log-likelihood of pseudo-likelihood EM, nats a row and visible unit",
            draws.means.clone(),
        ),
    ];
    let of_rival = |which: usize| {
        let rival = &rivals[which];
        Column::new(&rival.name, format!("log-likelihood of {}", rival.meaning), of_learner(which + 1).means)
    };
    // The one that stands for the method comes first.
    let others = (0..rivals.len()).filter(|which| *which != SHOWN);
    columns.extend(std::iter::once(SHOWN).chain(others).map(of_rival));
    columns.push(Column::new(
        "gap_error",
        "standard error of pl_em − mean_field_cd over data sets",
        gaps[SHOWN].errors.clone(),
    ));

    let damped = rivals.len() - 1;
    let shown = [draws, of_learner(SHOWN + 1), of_learner(damped + 1)];
    Ok(Outcome {
        set_up: format!(
            "17 visible and {HIDDEN} hidden units, biases uniform on (−0.1, 0.1), couplings on (−J, J), 100 data points, {sets} data sets for each J; all learners from the same start for {STEPS} steps. Exact log-likelihood of the last machine per row and \
             visible unit, mean over the sets; error bars are standard errors. The source does not tell the rate or the number of sweeps of its mean-field learner: rates {} with {} sweeps are all shown, and so is the damped learner that is the program's default.",
            list(&RATES),
            list(&SWEEPS_AWAY)
        ),
        checks: checks(&gaps, &growths[..damped]),
        remarks: remarks(&growths),
        columns,
        figure: figure(&shown, &gaps[..damped]),
    })
}

fn list<T: std::fmt::Display>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// How many strengths pseudo-likelihood EM is above at.
fn above(gap: &Averages) -> usize {
    gap.means.iter().filter(|gap| **gap > 0.0).count()
}

fn checks(gaps: &[Averages], plain: &[Growth]) -> Vec<Check> {
    let strengths = STRENGTHS.len();
    let (damped, others) = (&gaps[plain.len()], &gaps[..plain.len()]);
    let everywhere = others.iter().filter(|gap| above(gap) == strengths).count();
    let growing = plain.iter().filter(|growth| growth.sureness() > SURE).count();
    let shrinking = plain.iter().filter(|growth| growth.sureness() < -SURE).count();
    vec![
        check(
            above(&gaps[SHOWN]) == strengths,
            format!(
                "pseudo-likelihood EM is above mean-field contrastive divergence: at {} of {strengths} strengths J with rate 0.05 and one sweep; at all of them with {everywhere} of the {} rates and sweeps.",
                above(&gaps[SHOWN]),
                plain.len(),
            ),
        ),
        check(
            above(damped) == strengths,
            format!("it is above the damped variant, too: at {} of {strengths} strengths.", above(damped)),
        ),
        check(
            2 * growing > plain.len(),
            format!(
                "mean field degrades at large J: by more than {SURE} standard errors its loss grows with {growing} of the {} rates and sweeps, and shrinks with {shrinking}; with rate 0.05 and one sweep it is {:.3} nats on average for J up to {}, and {:.3} beyond (standard error of the difference {:.3}).",
                plain.len(),
                plain[SHOWN].weak,
                STRENGTHS[strengths / 2 - 1],
                plain[SHOWN].strong,
                plain[SHOWN].error
            ),
        ),
    ]
}

/// Why it came out like this, as far as the numbers tell.
fn remarks(growths: &[Growth]) -> String {
    let grows = |k: &usize| growths[*k].sureness() > SURE;
    let settings: Vec<String> = (0..RATES.len() * SWEEPS_AWAY.len())
        .filter(grows)
        .map(|k| {
            let (rate, sweeps) = (RATES[k / SWEEPS_AWAY.len()], SWEEPS_AWAY[k % SWEEPS_AWAY.len()]);
            format!("rate {rate} with sweeps {sweeps}")
        })
        .collect();
    let where_it_grows = if settings.is_empty() { "none".to_owned() } else { settings.join(" and ") };
    let damped = &growths[growths.len() - 1];
    format!(
        "Likelihoods are those of the data that were learned, as in the source. Settings with which the loss grows: {where_it_grows}; Welling and Hinton (2002) themselves take one-step reconstructions, that is one sweep. Plain reconstruction makes couplings too large, since products of means lack what is left of a correlation; with 100 data points, whose \
         correlations are half noise where J is small, that costs most there. Damped sweeps make up for most of it: their loss is {:.3} nats for weak couplings and {:.3} for strong ones (standard error of the difference {:.3}). What the source's mean-field learner \
         did otherwise, its text does not tell.",
        damped.weak, damped.strong, damped.error
    )
}

/// Likelihoods of pseudo-likelihood EM, the plain and the damped rival; and what all plain ones lose.
fn figure(shown: &[Averages; 3], plain: &[Averages]) -> String {
    let points = |y: &[f64]| STRENGTHS.iter().copied().zip(y.iter().copied()).collect::<Vec<_>>();
    let strength = || Axis::new("largest coupling J").within(0.0, 1.05);
    let looks = [
        ("pseudo-likelihood EM", Marker::Ring),
        ("mean-field CD (rate 0.05, 1 sweep)", Marker::Square),
        ("mean-field CD, damped", Marker::Plus),
    ];
    let mut likelihoods = Chart::new(strength(), Axis::new("log-likelihood (nats a visible unit)"));
    for (k, (averages, (name, marker))) in shown.iter().zip(looks).enumerate() {
        let series = Series::line(name, PALETTE[k], points(&averages.means)).thin();
        likelihoods = likelihoods.with(series.marked(marker).with_errors(averages.errors.clone()));
    }
    let mut losses = Chart::new(strength(), Axis::new("loss to pseudo-likelihood EM (nats)"))
        .titled("1 sweep solid, 3 dashed, 10 dotted")
        .level(0.0, "");
    let strokes = [Stroke::Solid, Stroke::Dashed, Stroke::Dotted];
    for (k, gap) in plain.iter().enumerate() {
        let (rate, sweeps) = (k / SWEEPS_AWAY.len(), k % SWEEPS_AWAY.len());
        let name = if sweeps == 0 { format!("rate {}", RATES[rate]) } else { String::new() };
        let series = Series::line(name, PALETTE[COLOURS[rate]], points(&gap.means));
        losses = losses.with(series.stroke(strokes[sweeps]));
    }
    Sheet::new("Final log-likelihood against the strength of couplings")
        .row(380.0, [likelihoods.titled("likelihoods").boxed(), losses.boxed()])
        .to_svg()
}
