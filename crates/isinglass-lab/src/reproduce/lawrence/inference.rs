//! Figure 1: errors of expectations by number of components.

use isinglass::engine::Annealing;
use isinglass::topology::{self, Numbers};
use isinglass::{Engine, Enumerate, Evidence, Expectations, Mixture, Pairs, Result};
use rayon::prelude::*;

use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Bars, Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::{Check, Column, Outcome, Settings};
use crate::statistics::mean;
use crate::streams::seed_of;

const UNITS: usize = 10;
const COMPONENTS: usize = 10;
const MACHINES: usize = 100;
const ANNEALING: Annealing = Annealing { from: 60.0, steps: 8 };

/// Bins of the histograms, from −2 to 2.
const BINS: usize = 40;
/// Numbers of components whose histograms are drawn.
const DRAWN: [usize; 4] = [1, 2, 5, 10];

/// The result for one machine and one number of components.
struct Errors {
    /// Errors of the 45 pair moments and the 10 means.
    differences: Vec<f64>,
    /// ln Z minus its bound.
    gap: f64,
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    let machines = settings.size(MACHINES, 12);
    settings.progress.expect(machines);
    let found: Vec<Vec<Errors>> = (0..machines as u64)
        .into_par_iter()
        .map(|index| {
            let errors = errors_of(seed_of(settings.seed, index))?;
            settings.progress.done();
            Ok(errors)
        })
        .collect::<Result<_>>()?;
    let with = |count: usize| found.iter().map(move |machine| &machine[count - 1]);
    let counts: Vec<usize> = (1..=COMPONENTS).collect();
    let pairs = UNITS * (UNITS - 1) / 2;
    let squares = |first: usize, last: usize| -> Vec<f64> {
        let of = |count: &usize| {
            with(*count).flat_map(|errors| &errors.differences[first..last]).map(|x| x * x).sum::<f64>()
        };
        counts.iter().map(of).collect()
    };
    let (all, of_pairs) = (squares(0, pairs + UNITS), squares(0, pairs));
    let gaps: Vec<f64> =
        counts.iter().map(|&count| mean(&with(count).map(|errors| errors.gap).collect::<Vec<_>>())).collect();
    let histograms: Vec<Vec<f64>> = counts
        .iter()
        .map(|&count| {
            let mut bins = vec![0.0; BINS];
            for x in with(count).flat_map(|errors| &errors.differences) {
                bins[(((x + 2.0) / 4.0 * BINS as f64) as usize).min(BINS - 1)] += 1.0;
            }
            bins
        })
        .collect();

    let rises = all.windows(2).filter(|pair| pair[1] > pair[0]).count();
    let (first, last) = (all[0], all[COMPONENTS - 1]);
    let checks = vec![
        Check::new(
            "errors fall with the number of components",
            all[1] < 0.7 * first && all[4] < 0.3 * first,
            format!(
                "sum of squares over {machines} machines: {first:.1}, {:.1}, {:.1}, {last:.2} for 1, 2, 5, 10 components",
                all[1], all[4]
            ),
        ),
        Check::new(
            "the improvement is systematic",
            rises <= 1 && last < 0.1 * first,
            format!("sum of squares raised by {rises} of 9 added components"),
        ),
    ];
    let mut columns = vec![
        Column::new(
            "components",
            "number of components L",
            counts.iter().map(|&count| count as f64).collect(),
        ),
        Column::new(
            "sum_of_squares",
            "squared errors of the 45 pair moments and 10 means, summed over all machines",
            all.clone(),
        ),
        Column::new("sum_of_squares_pairs", "the same for pair moments only", of_pairs.clone()),
        Column::new("gap", "ln Z minus its lower bound, nats, mean over machines", gaps.clone()),
    ];
    for bin in 0..BINS {
        let middle = -2.0 + 4.0 * (bin as f64 + 0.5) / BINS as f64;
        let counts = histograms.iter().map(|bins| bins[bin]).collect();
        columns.push(Column::new(
            format!("errors_{middle:.2}"),
            "number of errors in the bin of width 0.1 around the number in the name",
            counts,
        ));
    }
    Ok(Outcome {
        method: format!(
            "{machines} fully connected machines of {UNITS} units, weights and biases uniform on (−1, 1); mixtures of 1 to \
             {COMPONENTS} components, T annealed from 60 to 1 in 8 geometric steps; errors of all 55 expectations against \
             enumeration. Means count among the expectations: in the source, biases are couplings to a unit that is always 1."
        ),
        figure: figure(&counts, &all, &histograms),
        columns,
        checks,
        remarks: format!(
            "The lower bound on ln Z also improves: its mean gap is {:.3}, {:.3}, {:.3} and {:.3} nats for 1, 2, 5 and 10 components.",
            gaps[0], gaps[1], gaps[4], gaps[9]
        ),
    })
}

/// Returns the errors on one machine, for every number of components.
fn errors_of(seed: u64) -> Result<Vec<Errors>> {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let machine = topology::full(UNITS).with_numbers(&numbers, &numbers, seed)?;
    let nothing = Evidence::none(UNITS);
    let truth = Enumerate::default().expectations(&machine, &nothing, Pairs::Edges)?;
    let moments = |answer: &Expectations| -> Vec<f64> {
        answer.correlations.values.iter().chain(&answer.means).copied().collect()
    };
    (1..=COMPONENTS)
        .map(|components| {
            let engine = Mixture::new().components(components).anneal(Some(ANNEALING));
            let found = engine.expectations(&machine, &nothing, Pairs::Edges)?;
            let differences = moments(&found).iter().zip(moments(&truth)).map(|(a, b)| a - b).collect();
            let log_z = |answer: &Expectations| answer.log_z.unwrap_or(f64::NAN);
            Ok(Errors { differences, gap: log_z(&truth) - log_z(&found) })
        })
        .collect()
}

fn figure(counts: &[usize], squares: &[f64], histograms: &[Vec<f64>]) -> String {
    let edges: Vec<f64> = (0..=BINS).map(|k| -2.0 + 4.0 * k as f64 / BINS as f64).collect();
    let tallest = histograms.iter().flatten().copied().fold(1.0, f64::max);
    let histogram = |count: usize| {
        let errors: f64 = histograms[count - 1].iter().sum();
        let shares = histograms[count - 1].iter().map(|x| 100.0 * x / errors).collect();
        let top = 1.05 * 100.0 * tallest / errors;
        Chart::new(Axis::new("error").within(-2.0, 2.0), Axis::new("share (%)").within(0.0, top))
            .titled(format!("L = {count}"))
            .with_bars(Bars { colour: PALETTE[0], edges: edges.clone(), heights: shares })
            .boxed()
    };
    let points = counts.iter().map(|&count| count as f64).zip(squares.iter().copied()).collect();
    Sheet::new("Errors of ⟨s⟩ and ⟨ss⟩ by mixtures of L mean fields")
        .wide(860.0)
        .row(230.0, DRAWN.map(histogram))
        .row(
            300.0,
            [Chart::new(
                Axis::new("number of components L").within(0.5, 10.5),
                Axis::log("sum of squared errors"),
            )
            .with(Series::line("", PALETTE[0], points).marked(Marker::Disc))
            .boxed()],
        )
        .to_svg()
}
