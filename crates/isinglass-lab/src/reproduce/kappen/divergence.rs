//! Figures 2 and 3: Kullback–Leibler divergences of the methods.

use isinglass::Result;
use isinglass::learn::Remedy;
use rayon::prelude::*;

use super::patterns::{Patterns, Quality};
use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::canvas::Stroke;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::{Check, Column, Outcome, Settings};
use crate::statistics::{mean, median, slope, slope_error, standard_error, variance};
use crate::streams::{Purpose, stream};

/// Figure 2.
const UNITS: usize = 6;
const STATES: usize = 1 << UNITS;
const SETS: usize = 5;
/// Repeats of the whole experiment, for the checks: five sets are too few to separate some methods.
/// Table and figure use the first.
const REPEATS: usize = 10;
/// Up to this, the number of patterns is "very small".
const FEW: usize = 3;
/// Numbers of patterns for which the source could not solve some equations.
const HARD: std::ops::RangeInclusive<usize> = 2..=6;
/// K below this counts as 0, in nats.
const ZERO: f64 = 0.01;

/// K of each method on one data set; of linear response only where its equations were solved.
struct Learned {
    patterns: usize,
    exact: f64,
    factorized: f64,
    without_self: Option<f64>,
    response: Option<f64>,
    /// Whether the covariances are singular, so that lr uses least squares.
    singular: bool,
}

pub(super) fn against_patterns(settings: &Settings<'_>) -> Result<Outcome> {
    let every = settings.size(1, 3);
    let repeats = settings.size(REPEATS, 4);
    let counts: Vec<usize> = (1..=STATES).filter(|&count| count <= FEW || (count - 1) % every == 0).collect();
    settings.progress.expect(counts.len() * SETS * repeats);
    let jobs: Vec<(usize, usize)> = (0..SETS * repeats)
        .step_by(SETS)
        .flat_map(|first| counts.iter().map(move |&count| (count, first)))
        .flat_map(|(count, first)| (first..first + SETS).map(move |set| (count, set)))
        .collect();
    let learn = |&(count, set): &(usize, usize)| -> Result<Learned> {
        let index = (count * SETS * REPEATS + set) as u64;
        let patterns =
            Patterns::weighted(UNITS, count, &mut stream(settings.seed, Purpose::Patterns, index))?;
        let k = |quality: Quality| quality.k;
        let response = patterns.linear_response_with_remedy()?;
        let learned = Learned {
            patterns: count,
            exact: k(patterns.exact()?),
            factorized: k(patterns.factorized()?),
            without_self: patterns.without_self_coupling()?.map(k),
            response: response.map(|(quality, _)| quality.k),
            singular: response.is_none_or(|(_, remedy)| remedy != Remedy::None),
        };
        settings.progress.done();
        Ok(learned)
    };
    let learned: Vec<Learned> = jobs.par_iter().map(learn).collect::<Result<_>>()?;
    let shown: Vec<&[Learned]> = learned.chunks(SETS).take(counts.len()).collect();
    let over_sets = |of: &dyn Fn(&Learned) -> Option<f64>, middle: fn(&[f64]) -> f64| -> Vec<f64> {
        shown.iter().map(|sets| middle(&sets.iter().filter_map(of).collect::<Vec<_>>())).collect()
    };
    let count = |of: &dyn Fn(&Learned) -> bool| -> Vec<f64> {
        shown.iter().map(|sets| sets.iter().filter(|set| of(set)).count() as f64).collect()
    };
    let patterns: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    let methods: [Method; 4] = [
        ("exact", "exact learning", |set| Some(set.exact)),
        ("mf", "independent units", |set| Some(set.factorized)),
        ("lr0", "linear response without self-coupling", |set| set.without_self),
        ("lr", "linear response with self-coupling", |set| set.response),
    ];
    let medians = methods.map(|(_, _, of)| over_sets(&of, median));
    let mut columns = vec![Column::new("patterns", "number of patterns p", patterns.clone())];
    for (name, words, of) in methods {
        let meaning = format!("K of {words}, nats, mean over the sets solved");
        columns.push(Column::new(name, meaning, over_sets(&of, mean)));
    }
    for ((name, words, _), medians) in methods.iter().zip(&medians) {
        let meaning = format!("K of {words}, nats, median over the sets solved");
        columns.push(Column::new(format!("{name}_median"), meaning, medians.clone()));
    }
    columns.extend([
        Column::new("lr0_solved", "sets on which lr0 was solved", count(&|set| set.without_self.is_some())),
        Column::new("lr_solved", "sets on which lr was solved", count(&|set| set.response.is_some())),
        Column::new(
            "singular",
            "sets with singular covariances, where lr uses least squares",
            count(&|set| set.singular),
        ),
    ]);
    Ok(Outcome {
        method: format!(
            "{UNITS} units; p = 1…{STATES} distinct random patterns{} with random probabilities (uniform numbers, normalised), \
             {SETS} sets for each p. Exact: maximum likelihood by L-BFGS on enumerated moments. lr0: Newton's method. lr: closed \
             form, least squares where covariances are singular. The source plots means and drops the sets that it could not \
             solve; our means keep all sets, and the figure shows medians, since one hard set can dominate a mean. The checks use \
             {repeats} such experiments, {} sets.",
            if every > 1 { ", 1 to 3 and every third p," } else { "" },
            learned.len()
        ),
        columns,
        figure: figure_of_patterns(&patterns, &medians),
        checks: checks_of_patterns(&learned),
        remarks: "Random probabilities of all 64 states contain higher-order interactions, which pair weights cannot represent. \
                  The equations of lr0 always have a solution, and Newton's method finds it. With singular covariances those of lr \
                  hold for infinite weights only; our least squares stop at a residual of 0.001, which fixes the weights, and so K."
            .into(),
    })
}

/// A method: its short name, its description, and its K on a set.
type Method = (&'static str, &'static str, fn(&Learned) -> Option<f64>);

fn checks_of_patterns(learned: &[Learned]) -> Vec<Check> {
    let k = |of: fn(&Learned) -> Option<f64>, among: &dyn Fn(&Learned) -> bool| -> Vec<f64> {
        learned.iter().filter(|set| among(set)).filter_map(of).collect()
    };
    let exact = |set: &Learned| Some(set.exact);
    let mf = |set: &Learned| Some(set.factorized);
    let (lr0, lr) = (|set: &Learned| set.without_self, |set: &Learned| set.response);
    let one = [exact, mf, lr0, lr].map(|of: fn(&Learned) -> Option<f64>| {
        k(of, &|set| set.patterns == 1).into_iter().fold(0.0, f64::max)
    });
    let few = k(exact, &|set| (2..=FEW).contains(&set.patterns));
    let all = k(exact, &|set| set.patterns == STATES);
    let mut counts: Vec<usize> = learned.iter().map(|set| set.patterns).collect();
    counts.sort_unstable();
    counts.dedup();
    let peak = |of: fn(&Learned) -> Option<f64>| {
        let means = counts.iter().map(|&count| mean(&k(of, &|set| set.patterns == count)));
        means.fold(0.0, f64::max)
    };
    let gap = |set: &Learned| Some(set.factorized - set.exact);
    let (end_gap, gap_peak) = (mean(&k(gap, &|set| set.patterns == STATES)), peak(gap));
    // Sets with a closed form, and the loss of each method there.
    let regular = |set: &Learned| !set.singular && set.without_self.is_some();
    let singular = |set: &Learned| set.singular && set.patterns > 1;
    let [k_exact, k_mf, k_lr0, k_lr] =
        [exact, mf, lr0, lr].map(|of: fn(&Learned) -> Option<f64>| mean(&k(of, &regular)));
    let gained = k(|set| Some(set.factorized - set.response?), &regular);
    let gained_0 = k(|set| Some(set.factorized - set.without_self?), &regular);
    let by_self = k(|set| Some(set.without_self? - set.response?), &regular);
    let significant = |gains: &[f64]| mean(gains) > 3.0 * standard_error(gains);
    let share = |k: f64| 100.0 * (k - k_exact) / (k_mf - k_exact);
    let [hard_exact, hard_mf, hard_lr0, hard_lr] =
        [exact, mf, lr0, lr].map(|of: fn(&Learned) -> Option<f64>| median(&k(of, &singular)));
    let worse = k(|set| Some(f64::from(u8::from(set.response? > set.factorized))), &singular);
    let hard = |set: &Learned| HARD.contains(&set.patterns);
    let hard_sets = learned.iter().filter(|set| hard(set)).count();
    let unsolved = |of: fn(&Learned) -> Option<f64>| hard_sets - k(of, &hard).len();
    let unsolved = [unsolved(lr0), unsolved(lr)];
    let rare = unsolved.map(|count| count as f64 / hard_sets as f64);
    vec![
        Check::new(
            "one pattern: K = 0 for every method",
            one.iter().all(|k| *k < ZERO),
            format!(
                "at most {:.4} (exact), {:.4} (mf), {:.4} (lr0), {:.4} (lr)",
                one[0], one[1], one[2], one[3]
            ),
        ),
        Check::new(
            format!("2 or {FEW} patterns: exact learning approaches K = 0"),
            mean(&few) < ZERO,
            format!("mean K {:.4}", mean(&few)),
        ),
        Check::new(
            format!("all {STATES} patterns: exact learning approaches K = 0"),
            mean(&all) < ZERO,
            format!(
                "mean K {:.3} ± {:.3}, down from {:.2} at its maximum",
                mean(&all),
                standard_error(&all),
                peak(exact)
            ),
        ),
        Check::new(
            format!("all {STATES} patterns: independent units approach exact learning"),
            end_gap < 0.1 * gap_peak,
            format!("K_mf − K_exact = {end_gap:.3}; up to {gap_peak:.2} for fewer patterns"),
        ),
        Check::new(
            "linear response improves on independent units (invertible covariances)",
            significant(&gained) && significant(&gained_0),
            format!(
                "{} sets: K lower by {:.3} ± {:.3} (lr), {:.3} ± {:.3} (lr0); loss to exact learning {:.0} % and {:.0} % of that of mf",
                gained.len(),
                mean(&gained),
                standard_error(&gained),
                mean(&gained_0),
                standard_error(&gained_0),
                share(k_lr),
                share(k_lr0)
            ),
        ),
        Check::new(
            "linear response improves on independent units (singular covariances)",
            hard_lr < hard_mf && hard_lr0 < hard_mf,
            format!(
                "{} sets: median K {hard_exact:.3} (exact), {hard_lr:.3} (lr), {hard_lr0:.3} (lr0), {hard_mf:.3} (mf); lr is worse \
                 than mf on {:.0} %",
                worse.len(),
                100.0 * mean(&worse)
            ),
        ),
        Check::new(
            "linear response is best with self-coupling",
            significant(&by_self),
            format!(
                "mean K {k_lr:.3} with, {k_lr0:.3} without (invertible covariances); difference {:.3} ± {:.3}",
                mean(&by_self),
                standard_error(&by_self)
            ),
        ),
        Check::new(
            "2 to 6 patterns: about 10 % of the equations cannot be solved",
            rare.iter().all(|share| (0.02..0.3).contains(share)),
            format!("unsolved on {} (lr0) and {} (lr) of {hard_sets} sets", unsolved[0], unsolved[1]),
        ),
    ]
}

fn figure_of_patterns(
    patterns: &[f64],
    [exact, factorized, without_self, response]: &[Vec<f64>; 4],
) -> String {
    let line = |name: &str, colour, numbers: &[f64]| {
        Series::line(name, colour, patterns.iter().copied().zip(numbers.iter().copied()).collect()).thin()
    };
    Sheet::new("Four methods learn p random patterns on 6 units: medians of 5 sets")
        .row(
            420.0,
            [Chart::new(
                Axis::new("number of patterns p").within(0.0, 65.0),
                Axis::new("Kullback–Leibler divergence K (nats)").including(0.0),
            )
            .with(line("mf: independent units", PALETTE[1], factorized).marked(Marker::Ring))
            .with(
                line("lr0: no self-coupling", PALETTE[2], without_self)
                    .stroke(Stroke::Dotted)
                    .marked(Marker::Plus),
            )
            .with(line("lr: linear response", PALETTE[0], response).marked(Marker::Disc))
            .with(line("exact learning", crate::figure::INK, exact).stroke(Stroke::Dashed))
            .boxed()],
        )
        .to_svg()
}

/// Figure 3.
const SETS_PER_SIZE: usize = 4;
const MIN_UNITS: usize = 3;
const MAX_UNITS: usize = 10;
/// Repeats of the whole experiment, for the checks: four sets per size are too few for a slope.
/// Table and figure use the first.
const REPEATS_PER_SIZE: usize = 60;

/// K above that of exact learning: of linear response, where it was solved, and of independent
/// units.
type Losses = (Option<f64>, f64);

pub(super) fn against_units(settings: &Settings<'_>) -> Result<Outcome> {
    let sizes: Vec<usize> = (MIN_UNITS..=MAX_UNITS).collect();
    let repeats = settings.size(REPEATS_PER_SIZE, REPEATS_PER_SIZE / 2);
    let sets = SETS_PER_SIZE * repeats;
    settings.progress.expect(sizes.len() * sets);
    let jobs: Vec<(usize, usize)> =
        sizes.iter().flat_map(|&units| (0..sets).map(move |set| (units, set))).collect();
    let learn = |&(units, set): &(usize, usize)| -> Result<Losses> {
        let index = (1 << 32) + (units * SETS_PER_SIZE * REPEATS_PER_SIZE + set) as u64;
        let patterns =
            Patterns::uniform(units, 2 * units, &mut stream(settings.seed, Purpose::Patterns, index))?;
        let best = patterns.exact()?.k;
        let response = patterns.linear_response()?.map(|found| found.k - best);
        let above = (response, patterns.factorized()?.k - best);
        settings.progress.done();
        Ok(above)
    };
    let found: Vec<Losses> = jobs.par_iter().map(learn).collect::<Result<_>>()?;
    let shown = || found.chunks(sets).map(|sets| &sets[..SETS_PER_SIZE]);
    let response: Vec<Vec<f64>> = shown().map(|sets| sets.iter().filter_map(|set| set.0).collect()).collect();
    let factorized: Vec<Vec<f64>> = shown().map(|sets| sets.iter().map(|set| set.1).collect()).collect();
    let means = |sizes: &[Vec<f64>]| sizes.iter().map(|sets| mean(sets)).collect::<Vec<_>>();
    let variances = |sizes: &[Vec<f64>]| sizes.iter().map(|sets| variance(sets)).collect::<Vec<_>>();
    let n: Vec<f64> = sizes.iter().map(|&units| units as f64).collect();
    let points = |y: &[f64]| -> Vec<(f64, f64)> { n.iter().copied().zip(y.iter().copied()).collect() };

    let every = |of: &dyn Fn(&Losses) -> Option<f64>| -> Vec<(f64, f64)> {
        jobs.iter().zip(&found).filter_map(|(job, set)| Some((job.0 as f64, of(set)?))).collect()
    };
    let (of_lr, of_mf) = (every(&|set| set.0), every(&|set| Some(set.1)));
    let average = |points: &[(f64, f64)]| mean(&points.iter().map(|point| point.1).collect::<Vec<_>>());
    let (lr, mf) = (average(&of_lr), average(&of_mf));
    let (lr_slope, lr_error) = (slope(&of_lr), slope_error(&of_lr));
    let (mf_slope, mf_error) = (slope(&of_mf), slope_error(&of_mf));
    let close = of_lr.len() - found.iter().filter(|set| set.0.is_some_and(|lr| lr > 0.2 * set.1)).count();
    let shares: Vec<f64> = found
        .chunks(2 * sets)
        .map(|sets| {
            let sum = sets.iter().filter_map(|set| set.0.map(|lr| (lr, set.1)));
            let (lr, mf) = sum.fold((0.0, 0.0), |(a, b), (lr, mf)| (a + lr, b + mf));
            100.0 * lr / mf
        })
        .collect();
    let checks = vec![
        Check::new(
            "correlations matter more as n grows",
            mf_slope > 3.0 * mf_error,
            format!("K_mf − K_exact rises by {mf_slope:.3} ± {mf_error:.3} nats per unit"),
        ),
        Check::new(
            "linear response is often quite close to exact learning",
            2 * close > of_lr.len(),
            format!(
                "on {:.0} % of the sets it loses less than a fifth of what mf loses; mean K_lr − K_exact {lr:.3}, {:.0} % of that \
                 of mf ({mf:.3})",
                100.0 * close as f64 / of_lr.len() as f64,
                100.0 * lr / mf
            ),
        ),
        Check::new(
            "linear response does not become worse with n",
            // A slope that is not above its error, and errors that would show a tenth of the
            // other's slope.
            lr_slope < 2.0 * lr_error && 2.0 * lr_error < 0.1 * mf_slope,
            format!(
                "K_lr − K_exact changes by {lr_slope:+.4} ± {lr_error:.4} nats per unit, {:.0} % of the change of mf; relative to mf: \
                 {:.0} % at n = 3 and 4, {:.0} % at n = 9 and 10",
                100.0 * lr_slope / mf_slope,
                shares[0],
                shares[shares.len() - 1]
            ),
        ),
    ];
    let series = |name: &str, colour: usize, marker: Marker, sizes: &[Vec<f64>]| {
        Series::line(name, PALETTE[colour], points(&means(sizes)))
            .thin()
            .marked(marker)
            .with_errors(variances(sizes))
    };
    let figure = Sheet::new("Loss against exact learning, 2n random patterns on n units")
        .row(
            400.0,
            [Chart::new(
                Axis::new("number of units n").within(2.5, 10.5),
                Axis::new("K − K of exact learning (nats)").including(0.0),
            )
            .with(series("independent units (mf)", 1, Marker::Ring, &factorized))
            .with(series("linear response (lr)", 0, Marker::Disc, &response))
            .boxed()],
        )
        .to_svg();
    let left_out = found.iter().filter(|set| set.0.is_none()).count();
    let mut remarks = Vec::new();
    if lr_slope > 2.0 * lr_error {
        remarks.push(
            "The loss of linear response grows slightly with n, too little for the source's four sets per size to show."
                .to_owned(),
        );
        if shares[shares.len() - 1] < shares[0] {
            remarks.push("Relative to the loss of independent units it shrinks.".to_owned());
        }
    }
    if left_out > 0 {
        remarks.push(format!(
            "On {left_out} of {} sets the linear-response equations were not solved; its averages leave these out.",
            found.len()
        ));
    }
    Ok(Outcome {
        method: format!(
            "n = {MIN_UNITS}…{MAX_UNITS} units, p = 2n patterns with equal probabilities, {SETS_PER_SIZE} sets for each n; K above \
             that of exact learning, mean over the sets; error bars are variances, as in the source. The checks use {repeats} such \
             experiments, {} sets.",
            found.len()
        ),
        columns: vec![
            Column::new("n", "number of units", n.clone()),
            Column::new(
                "lr",
                "K of linear response above K of exact learning, nats, mean over sets",
                means(&response),
            ),
            Column::new("lr_variance", "its variance over sets", variances(&response)),
            Column::new(
                "mf",
                "K of independent units above K of exact learning, nats, mean over sets",
                means(&factorized),
            ),
            Column::new("mf_variance", "its variance over sets", variances(&factorized)),
        ],
        figure,
        checks,
        remarks: remarks.join(" "),
    })
}
