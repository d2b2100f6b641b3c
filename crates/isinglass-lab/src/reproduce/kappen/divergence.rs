//! Figures 2 and 3: Kullback divergences of what the methods learn.

use isinglass::Result;
use rayon::prelude::*;

use super::patterns::{Patterns, Quality};
use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::canvas::Stroke;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::chance::{Purpose, stream};
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::{mean, slope, variance};

/// Figure 2.
const UNITS: usize = 6;
const SETS: usize = 5;

/// What one data set gave; the linear responses only where their equations have a solution.
struct Learned {
    exact: f64,
    factorized: f64,
    without_self: Option<f64>,
    response: Option<f64>,
}

pub(super) fn against_patterns(settings: &Settings<'_>) -> Result<Outcome> {
    let every = settings.size(1, 3);
    let counts: Vec<usize> = (1..=1 << UNITS).filter(|count| (count - 1) % every == 0).collect();
    settings.watch.expect(counts.len() * SETS);
    let jobs: Vec<(usize, usize)> =
        counts.iter().flat_map(|&count| (0..SETS).map(move |set| (count, set))).collect();
    let learn = |&(count, set): &(usize, usize)| -> Result<Learned> {
        let index = (count * SETS + set) as u64;
        let patterns =
            Patterns::weighted(UNITS, count, &mut stream(settings.seed, Purpose::Patterns, index))?;
        let k = |quality: Quality| quality.k;
        let learned = Learned {
            exact: k(patterns.exact()?),
            factorized: k(patterns.factorized()?),
            without_self: patterns.without_self_coupling()?.map(k),
            response: patterns.linear_response()?.map(k),
        };
        settings.watch.done();
        Ok(learned)
    };
    let learned: Vec<Learned> = jobs.par_iter().map(learn).collect::<Result<_>>()?;
    let sets: Vec<&[Learned]> = learned.chunks(SETS).collect();
    let average = |of: &dyn Fn(&Learned) -> Option<f64>| -> Vec<f64> {
        sets.iter().map(|sets| mean(&sets.iter().filter_map(of).collect::<Vec<_>>())).collect()
    };
    let exact = average(&|set| Some(set.exact));
    let factorized = average(&|set| Some(set.factorized));
    let without_self = average(&|set| set.without_self);
    let response = average(&|set| set.response);
    let solved = |of: &dyn Fn(&Learned) -> bool| -> Vec<f64> {
        sets.iter().map(|sets| sets.iter().filter(|set| of(set)).count() as f64).collect()
    };

    // Sets on which all four have a result, so that averages compare like with like.
    let common: Vec<&Learned> =
        learned.iter().filter(|set| set.without_self.is_some() && set.response.is_some()).collect();
    let over = |of: &dyn Fn(&Learned) -> f64| mean(&common.iter().map(|set| of(set)).collect::<Vec<_>>());
    let (k_exact, k_mf) = (over(&|set| set.exact), over(&|set| set.factorized));
    let k_lr0 = over(&|set| set.without_self.unwrap_or(f64::NAN));
    let k_lr = over(&|set| set.response.unwrap_or(f64::NAN));
    let share = |k: f64| 100.0 * (k - k_exact) / (k_mf - k_exact);
    let ends =
        (counts.iter().position(|&count| count == 1), counts.iter().position(|&count| count == 1 << UNITS));
    let at = |place: Option<usize>, numbers: &[f64]| place.map_or(f64::NAN, |place| numbers[place]);
    let one = [&exact, &factorized, &response].map(|numbers| at(ends.0, numbers));
    let all = [&exact, &factorized].map(|numbers| at(ends.1, numbers));
    let exact_peak = exact.iter().copied().fold(0.0, f64::max);
    let gap_peak = exact.iter().zip(&factorized).map(|(exact, mf)| mf - exact).fold(0.0, f64::max);
    let failed = learned.iter().filter(|set| set.response.is_none()).count();
    let failed_0 = learned.iter().filter(|set| set.without_self.is_none()).count();
    let checks = vec![
        check(
            one.iter().all(|k| *k < 1e-3),
            format!(
                "one pattern: K is 0 for every method ({:.4}, {:.4} and {:.4} for exact, mf and lr).",
                one[0], one[1], one[2]
            ),
        ),
        check(
            all[0] < 0.3 * exact_peak,
            format!(
                "all 64 patterns: K of exact learning comes down to {:.3}, from {exact_peak:.2} where it is largest.",
                all[0]
            ),
        ),
        check(
            all[1] - all[0] < 0.1 * gap_peak,
            format!(
                "independent units come near to exact learning there: they lose {:.3}, against up to {gap_peak:.2} elsewhere.",
                all[1] - all[0]
            ),
        ),
        check(
            share(k_lr) < 50.0 && share(k_lr0) < 60.0,
            format!(
                "linear response improves on independent units: of what these lose to exact learning, lr loses {:.0} % and lr0 {:.0} % (average K {k_exact:.3} exact, {k_lr:.3} lr, {k_lr0:.3} lr0, \
                 {k_mf:.3} mf, over the {} sets on which all have a solution).",
                share(k_lr),
                share(k_lr0),
                common.len()
            ),
        ),
        check(
            k_lr < k_lr0,
            format!("with self-coupling is better than without: {k_lr:.3} against {k_lr0:.3}."),
        ),
    ];
    let patterns: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    let remarks = format!(
        "K of exact learning does not reach 0 for all 64 patterns: their random probabilities have interactions of higher order, which no pair weight has. Equations without a solution are left out of the averages, as in the source: {failed} of {} sets for lr, {failed_0} for lr0. Our lr0 solves its equations by Newton's method on a concave function \
         and says if there is no solution, where the source takes the least squares of Levenberg–Marquardt.",
        learned.len()
    );
    let points = |numbers: &[f64]| -> Vec<(f64, f64)> {
        patterns.iter().copied().zip(numbers.iter().copied()).collect()
    };
    let figure = Sheet::new("Four ways to learn p random patterns on 6 units")
        .row(
            420.0,
            [Chart::new(
                Axis::new("number of patterns p").within(0.0, 65.0),
                Axis::new("Kullback divergence K (nats)").including(0.0),
            )
            .with(
                Series::line("mf: independent units", PALETTE[1], points(&factorized))
                    .thin()
                    .marked(Marker::Ring),
            )
            .with(
                Series::line("lr0: no self-coupling", PALETTE[2], points(&without_self))
                    .thin()
                    .stroke(Stroke::Dotted)
                    .marked(Marker::Plus),
            )
            .with(
                Series::line("lr: linear response", PALETTE[0], points(&response))
                    .thin()
                    .marked(Marker::Disc),
            )
            .with(
                Series::line("exact learning", crate::figure::INK, points(&exact))
                    .thin()
                    .stroke(Stroke::Dashed),
            )
            .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!(
            "{UNITS} units; p = {}…{} different random patterns{} with random probabilities (uniform numbers, normalised), {SETS} sets for each p. Exact: maximum likelihood by L-BFGS on enumerated moments. lr: \
             the closed form, least squares where covariances are singular. K averaged over the sets.",
            counts[0],
            counts[counts.len() - 1],
            if every > 1 { format!(", every {every}rd p,") } else { String::new() }
        ),
        columns: vec![
            Column::new("patterns", "number of patterns p", patterns),
            Column::new("exact", "K of exact learning, nats, averaged over sets", exact),
            Column::new("mf", "K of independent units", factorized),
            Column::new(
                "lr0",
                "K of linear response without self-coupling, over the sets solved",
                without_self,
            ),
            Column::new("lr", "K of linear response with self-coupling, over the sets solved", response),
            Column::new(
                "lr0_solved",
                "sets on which lr0 has a solution",
                solved(&|set| set.without_self.is_some()),
            ),
            Column::new(
                "lr_solved",
                "sets on which lr has a solution",
                solved(&|set| set.response.is_some()),
            ),
        ],
        figure,
        checks,
        remarks,
    })
}

/// Figure 3.
const SETS_OF_A_SIZE: usize = 4;
const LEAST_UNITS: usize = 3;
const MOST_UNITS: usize = 10;

pub(super) fn against_units(settings: &Settings<'_>) -> Result<Outcome> {
    let sizes: Vec<usize> = (LEAST_UNITS..=MOST_UNITS).collect();
    settings.watch.expect(sizes.len() * SETS_OF_A_SIZE);
    let jobs: Vec<(usize, usize)> =
        sizes.iter().flat_map(|&units| (0..SETS_OF_A_SIZE).map(move |set| (units, set))).collect();
    let learn = |&(units, set): &(usize, usize)| -> Result<(Option<f64>, f64)> {
        let index = (1 << 32) + (units * SETS_OF_A_SIZE + set) as u64;
        let patterns =
            Patterns::alike(units, 2 * units, &mut stream(settings.seed, Purpose::Patterns, index))?;
        let best = patterns.exact()?.k;
        let response = patterns.linear_response()?.map(|found| found.k - best);
        let above = (response, patterns.factorized()?.k - best);
        settings.watch.done();
        Ok(above)
    };
    let found: Vec<(Option<f64>, f64)> = jobs.par_iter().map(learn).collect::<Result<_>>()?;
    let sizes_of = || found.chunks(SETS_OF_A_SIZE);
    let response: Vec<Vec<f64>> =
        sizes_of().map(|sets| sets.iter().filter_map(|set| set.0).collect()).collect();
    let factorized: Vec<Vec<f64>> = sizes_of().map(|sets| sets.iter().map(|set| set.1).collect()).collect();
    let means = |sizes: &[Vec<f64>]| sizes.iter().map(|sets| mean(sets)).collect::<Vec<_>>();
    let variances = |sizes: &[Vec<f64>]| sizes.iter().map(|sets| variance(sets)).collect::<Vec<_>>();
    let n: Vec<f64> = sizes.iter().map(|&units| units as f64).collect();
    let points = |y: &[f64]| -> Vec<(f64, f64)> { n.iter().copied().zip(y.iter().copied()).collect() };

    let (lr, mf) = (mean(&response.concat()), mean(&factorized.concat()));
    let (lr_slope, mf_slope) = (slope(&points(&means(&response))), slope(&points(&means(&factorized))));
    let checks = vec![
        check(
            mf_slope > 0.0,
            format!(
                "correlations matter more as n grows: K of independent units above that of exact learning rises by {mf_slope:.3} nats a unit."
            ),
        ),
        check(
            lr < 0.3 * mf,
            format!(
                "linear response is close to exact learning: K_lr − K_ex is {lr:.3} on average, {:.0} % of K_mf − K_ex = {mf:.3}.",
                100.0 * lr / mf
            ),
        ),
        check(
            lr_slope < 0.25 * mf_slope,
            format!(
                "linear response does not become worse with n: K_lr − K_ex changes by {lr_slope:+.4} nats a unit."
            ),
        ),
    ];
    let series = |name: &str, colour: usize, marker: Marker, sizes: &[Vec<f64>]| {
        Series::line(name, PALETTE[colour], points(&means(sizes)))
            .thin()
            .marked(marker)
            .with_errors(variances(sizes))
    };
    let figure = Sheet::new("What is lost against exact learning, 2n random patterns")
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
    let remarks = if left_out == 0 {
        String::new()
    } else {
        format!(
            "On {left_out} of {} sets the equations of linear response had no solution; they are left out of its averages.",
            found.len()
        )
    };
    Ok(Outcome {
        set_up: format!(
            "n = {LEAST_UNITS}…{MOST_UNITS} units, p = 2n patterns with equal probabilities, {SETS_OF_A_SIZE} sets for each n; K above that of exact learning, mean over the sets; error bars are \
             variances, as in the source."
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
        remarks,
    })
}
