//! Figures 4 and 5: the quality of completing patterns.

use std::f64::consts::LN_2;

use isinglass::Result;
use rayon::prelude::*;

use super::patterns::{Patterns, Quality};
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::figure::{INK, PALETTE};
use crate::reproduce::chance::{Purpose, stream};
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::{correlation, mean, standard_error};

/// Figure 4.
const UNITS: usize = 6;
const PATTERNS: usize = 10;
const SETS: usize = 200;
/// A relation is "more or less linear" if a line explains half of the variance: the correlation is above √½.
const LINEAR: f64 = std::f64::consts::FRAC_1_SQRT_2;

pub(super) fn against_divergence(settings: &Settings<'_>) -> Result<Outcome> {
    let sets = settings.size(SETS, 60);
    settings.watch.expect(sets);
    let learn = |set: usize| -> Result<Option<(Quality, Quality)>> {
        let index = (2 << 32) + set as u64;
        let patterns =
            Patterns::alike(UNITS, PATTERNS, &mut stream(settings.seed, Purpose::Patterns, index))?;
        let both = patterns.linear_response()?.map(|response| Ok((response, patterns.factorized()?)));
        settings.watch.done();
        both.transpose()
    };
    let found: Vec<(Quality, Quality)> =
        (0..sets).into_par_iter().filter_map(|set| learn(set).transpose()).collect::<Result<_>>()?;
    let column = |of: &dyn Fn(&(Quality, Quality)) -> f64| found.iter().map(of).collect::<Vec<f64>>();
    let (k_lr, q_lr) = (column(&|set| set.0.k), column(&|set| set.0.q));
    let (k_mf, q_mf) = (column(&|set| set.1.k), column(&|set| set.1.q));
    let (k_gain, q_gain) = (column(&|set| set.1.k - set.0.k), column(&|set| set.1.q - set.0.q));
    let wins = |gains: &[f64]| gains.iter().filter(|gain| **gain > 0.0).count();
    let (of_lr, of_mf, of_gain) =
        (correlation(&k_lr, &q_lr), correlation(&k_mf, &q_mf), correlation(&k_gain, &q_gain));
    let checks = vec![
        check(
            of_lr > LINEAR,
            format!("linear response: Q is more or less linear in K, correlation {of_lr:.2} over the sets."),
        ),
        check(
            of_mf > LINEAR,
            format!("independent units: Q is more or less linear in K, correlation {of_mf:.2}."),
        ),
        check(
            of_gain > LINEAR,
            format!(
                "a lower Q goes with a lower K: correlation {of_gain:.2} of Q_mf − Q_lr with K_mf − K_lr. (Linear response has the lower Q on {} and the lower K on {} of {} sets: where one method always wins, that the signs agree says little.)",
                wins(&q_gain),
                wins(&k_gain),
                found.len()
            ),
        ),
    ];
    let points = |x: &[f64], y: &[f64]| x.iter().copied().zip(y.iter().copied()).collect::<Vec<_>>();
    let figure = Sheet::new("Completion quality against divergence, 6 units and 10 patterns")
        .row(
            380.0,
            [
                Chart::new(Axis::new("K (nats)"), Axis::new("Q (nats a cell)"))
                    .with(Series::scatter(
                        "independent units (mf)",
                        PALETTE[1],
                        Marker::Ring,
                        points(&k_mf, &q_mf),
                    ))
                    .with(Series::scatter(
                        "linear response (lr)",
                        PALETTE[0],
                        Marker::Plus,
                        points(&k_lr, &q_lr),
                    ))
                    .boxed(),
                Chart::new(
                    Axis::new("K of mf − K of lr (nats)").including(0.0),
                    Axis::new("Q of mf − Q of lr (nats a cell)").including(0.0),
                )
                .with(Series::scatter(
                    "difference of the two",
                    PALETTE[2],
                    Marker::Disc,
                    points(&k_gain, &q_gain),
                ))
                .boxed(),
            ],
        )
        .to_svg();
    let remarks = if found.len() < sets {
        format!(
            "On {} of {sets} sets the equations of linear response had no solution; they are left out.",
            sets - found.len()
        )
    } else {
        String::new()
    };
    Ok(Outcome {
        set_up: format!(
            "{sets} data sets of {PATTERNS} random patterns on {UNITS} units, with equal probabilities (our choice: the source does not tell them); linear response (closed form) and independent units."
        ),
        columns: vec![
            Column::new("set", "number of the data set", (1..=found.len()).map(|set| set as f64).collect()),
            Column::new("k_lr", "K of linear response, nats", k_lr),
            Column::new("q_lr", "Q of linear response, nats a cell", q_lr),
            Column::new("k_mf", "K of independent units, nats", k_mf),
            Column::new("q_mf", "Q of independent units, nats a cell", q_mf),
        ],
        figure,
        checks,
        remarks,
    })
}

/// Figure 5: 27 problems. The source does not list their sizes.
const SIZES: [usize; 27] =
    [3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100];
const MOST_EXACT: usize = 10;
/// Problems of each size that exact learning can do, for the check; numbers and figure are those of the first.
const REPEATS: usize = 20;

pub(super) fn against_units(settings: &Settings<'_>) -> Result<Outcome> {
    let jobs: Vec<(usize, usize)> = SIZES
        .iter()
        .flat_map(|&units| {
            let repeats = if units <= MOST_EXACT { REPEATS } else { 1 };
            (0..repeats).map(move |repeat| (units, repeat))
        })
        .collect();
    settings.watch.expect(jobs.len());
    let learn = |&(units, repeat): &(usize, usize)| -> Result<[f64; 3]> {
        let index = (3 << 32) + (repeat << 16 | units) as u64;
        let patterns =
            Patterns::alike(units, 2 * units, &mut stream(settings.seed, Purpose::Patterns, index))?;
        let response = patterns.linear_response()?.map_or(f64::NAN, |found| found.q);
        let exact = if units <= MOST_EXACT { patterns.exact()?.q } else { f64::NAN };
        let row = [response, patterns.factorized()?.q, exact];
        settings.watch.done();
        Ok(row)
    };
    let all: Vec<[f64; 3]> = jobs.par_iter().map(learn).collect::<Result<_>>()?;
    let firsts = jobs.iter().zip(&all).filter(|(job, _)| job.1 == 0);
    let rows: Vec<[f64; 3]> = firsts.map(|(_, row)| *row).collect();
    let column = |k: usize| rows.iter().map(|row| row[k]).collect::<Vec<f64>>();
    let (q_lr, q_mf, q_exact) = (column(0), column(1), column(2));
    let n: Vec<f64> = SIZES.iter().map(|&units| units as f64).collect();
    let known = |y: &[f64]| -> Vec<(f64, f64)> {
        n.iter().copied().zip(y.iter().copied()).filter(|point| point.1.is_finite()).collect()
    };
    let small: Vec<&[f64; 3]> = all.iter().filter(|row| row[0].is_finite() && row[2].is_finite()).collect();
    let losses: Vec<f64> = small.iter().map(|row| row[0] - row[2]).collect();
    let (lost, lost_error) = (mean(&losses), standard_error(&losses));
    let lost_mf = mean(&small.iter().map(|row| row[1] - row[2]).collect::<Vec<_>>());
    let large: Vec<(f64, f64)> = known(&q_lr).into_iter().filter(|point| point.0 > 10.0).collect();
    let (low, high) = large
        .iter()
        .fold((f64::INFINITY, 0.0f64), |(low, high), point| (low.min(point.1), high.max(point.1)));
    let solved = rows.iter().filter(|row| row[0].is_finite());
    let ratio = q_mf.iter().zip(&q_lr).map(|(mf, lr)| mf / lr).filter(|ratio| ratio.is_finite());
    let least_ratio = ratio.fold(f64::INFINITY, f64::min);
    let (mean_lr, mean_mf) = (
        mean(&solved.clone().map(|row| row[0]).collect::<Vec<_>>()),
        mean(&solved.map(|row| row[1]).collect::<Vec<_>>()),
    );
    let from_half = |units: usize| -> f64 {
        let place = SIZES.iter().position(|&size| size == units);
        place.map_or(f64::NAN, |place| (q_mf[place] - LN_2).abs())
    };
    let small_mf: Vec<f64> = small.iter().map(|row| (row[1] - LN_2).abs()).collect();
    let checks = vec![
        check(
            lost < 0.1 * lost_mf,
            format!(
                "linear response is very close to exact learning up to n = {MOST_EXACT}: its Q is {lost:.3} ± {lost_error:.3} above on average over {} problems, {:.0} % of what independent units are above, {lost_mf:.3}.",
                small.len(),
                100.0 * lost / lost_mf
            ),
        ),
        check(
            mean_mf > 1.5 * mean_lr && least_ratio > 1.0,
            format!(
                "independent units are much worse: their Q is {:.1} times that of linear response on average over the {} sizes, and at least {least_ratio:.2} times on each.",
                mean_mf / mean_lr,
                SIZES.len()
            ),
        ),
        check(
            from_half(100) < 0.01 && from_half(100) < 0.2 * mean(&small_mf),
            format!(
                "independent units approach ln 2 = 0.693: {:.3} away at n = 100, {:.3} on average up to n = {MOST_EXACT}.",
                from_half(100),
                mean(&small_mf)
            ),
        ),
    ];
    let figure = Sheet::new("Completion quality, 2n random patterns on n units")
        .row(
            400.0,
            [Chart::new(
                Axis::new("number of units n").within(0.0, 103.0),
                Axis::new("Q (nats a cell)").within(0.0, 0.78),
            )
            .level(LN_2, "ln 2")
            .with(Series::scatter("independent units (mf)", PALETTE[1], Marker::Ring, known(&q_mf)))
            .with(Series::scatter("linear response (lr)", PALETTE[0], Marker::Plus, known(&q_lr)))
            .with(Series::scatter("exact learning", INK, Marker::Disc, known(&q_exact)))
            .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!(
            "27 problems of n = 3…100 units with p = 2n random patterns each (the source does not list the sizes; ours are 3…10, 12, 15, 20, then every 5). Probabilities are equal, our choice. Exact learning up to n = {MOST_EXACT}, as in the source; for the check there are {REPEATS} problems of each of these sizes."
        ),
        columns: vec![
            Column::new("n", "number of units", n.clone()),
            Column::new("q_lr", "Q of linear response, nats a cell", q_lr),
            Column::new("q_mf", "Q of independent units, nats a cell", q_mf),
            Column::new("q_exact", "Q of exact learning, nats a cell; empty above n = 10", q_exact),
        ],
        figure,
        checks,
        remarks: format!(
            "Beyond n = {MOST_EXACT} there is nothing exact to compare with: Q of linear response is between {low:.3} and {high:.3} there. The source draws it up to n = 100 and says nothing on how close to exact learning it would be."
        ),
    })
}
