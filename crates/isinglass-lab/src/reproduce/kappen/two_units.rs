//! Figure 6: weights and thresholds of two units, exact and by linear response.

use isinglass::learn::{ClosedForm, Learner};
use isinglass::{Engine, Enumerate, Evidence, Result, Table, topology};

use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::canvas::Stroke;
use crate::figure::chart::{Chart, Series};
use crate::figure::sheet::{Part, Sheet};
use crate::reproduce::learning::divergence;
use crate::reproduce::{Check, Column, Outcome, Settings};
use crate::statistics::slope;

const MEANS: [f64; 2] = [0.1, 0.5];
const STEPS: usize = 200;

/// Sizes of weights below which they count as small, and above which as large.
const SMALL: f64 = 0.3;
const LARGE: f64 = 1.0;
/// An effect vanishes exponentially if it shrinks by e or more as the weight grows by 1.
const VANISHING: f64 = 1.0;

/// The result for one m and a.
struct Point {
    m: f64,
    a: f64,
    exact: [f64; 2],
    response: [f64; 2],
    /// K of both: exact, linear response.
    k: [f64; 2],
    /// K of the exact weight as the source prints it, without its factor ¼.
    printed_k: f64,
    /// The largest error of a state's probability by linear response.
    error: f64,
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    settings.progress.expect(MEANS.len());
    let mut points = Vec::new();
    for m in MEANS {
        for k in 1..STEPS {
            // All allowed a: 0 < a < (1 − m)/2.
            points.push(point(m, 0.5 * (1.0 - m) * k as f64 / STEPS as f64)?);
        }
        settings.progress.done();
    }
    let largest = |of: &dyn Fn(&Point) -> f64, among: &dyn Fn(&Point) -> bool| {
        points.iter().filter(|point| among(point)).map(of).fold(0.0, f64::max)
    };
    let error = |which: usize| move |point: &Point| (point.exact[which] - point.response[which]).abs();
    let small = |point: &Point| point.exact[0].abs() < SMALL;
    let large = |point: &Point| point.exact[0].abs() > LARGE;
    let (exact_k, printed_k) =
        (largest(&|point| point.k[0], &|_| true), largest(&|point| point.printed_k, &|_| true));
    let (of_small, of_large) = (largest(&error(0), &small), largest(&error(0), &large));
    let (small_theta, large_theta) = (largest(&error(1), &small), largest(&error(1), &large));
    let mut checks = vec![
        Check::new(
            "the exact weight as printed is exact",
            printed_k < 1e-12,
            format!("K up to {printed_k:.2} nats; with the missing factor ¼, at most {exact_k:.0e}"),
        ),
        Check::new(
            "small weights: linear response is very accurate",
            of_small < 0.1,
            format!("error of w at most {of_small:.3} where |w| < {SMALL}"),
        ),
        Check::new(
            "larger weights: the difference increases",
            of_large > 10.0 * of_small,
            format!("error of w up to {of_large:.1} where |w| > {LARGE}"),
        ),
        Check::new(
            "about the same for thresholds",
            small_theta < 0.1 && large_theta > 10.0 * small_theta,
            format!(
                "error at most {small_theta:.3} where |w| < {SMALL}, up to {large_theta:.2} where |w| > {LARGE}"
            ),
        ),
    ];
    for (sign, side_name) in [(1.0, format!("w > {LARGE}")), (-1.0, format!("w < −{LARGE}"))] {
        let side = |point: &Point| sign * point.exact[0] > LARGE;
        let (p, k) = (largest(&|point| point.error, &side), largest(&|point| point.k[1], &side));
        let [of_p, of_k] = decay(sign > 0.0)?;
        let rates = |rates: [f64; 2]| {
            let [low, high] = rates.map(signed);
            format!("{low} (m = 0.1), {high} (m = 0.5)")
        };
        checks.push(Check::new(
            format!("{side_name}: the effect on probabilities vanishes exponentially"),
            of_p.iter().all(|rate| *rate < -VANISHING),
            format!("slope of the log error in |w|: {}; error at most {p:.3}", rates(of_p)),
        ));
        checks.push(Check::new(
            format!("{side_name}: the effect on K vanishes exponentially"),
            of_k.iter().all(|rate| *rate < -VANISHING),
            format!("slope of log K in |w|: {}; K at most {k:.3} nats", rates(of_k)),
        ));
    }
    let column = |of: &dyn Fn(&Point) -> f64| points.iter().map(of).collect::<Vec<f64>>();
    Ok(Outcome {
        method: format!(
            "P(+,+) = (1+m)/2 − a, P(+,−) = P(−,+) = a, P(−,−) = (1−m)/2 − a, for m = 0.1 and 0.5 and {} values of a in \
             0 < a < (1 − m)/2. Exact: w = ¼ ln(((1−2a)² − m²)/(4a²)) and θ = ½ artanh(m/(1−2a)). Linear response: the \
             closed form, eqs. 34 and 35. Slopes are fitted at the end of the range of a where w diverges; exponential \
             decay means a slope below −{VANISHING}. As a → 0, the threshold of linear response tends to artanh m − m/(2(1 − m²)) \
             and the exact one to ½ artanh m, so P(+,+) and P(−,−) keep a constant error.",
            STEPS - 1
        ),
        columns: vec![
            Column::new("m", "⟨s⟩ of both units", column(&|point| point.m)),
            Column::new("a", "P(+,−) = P(−,+)", column(&|point| point.a)),
            Column::new("w_exact", "exact weight", column(&|point| point.exact[0])),
            Column::new("w_lr", "weight by linear response", column(&|point| point.response[0])),
            Column::new("theta_exact", "exact threshold", column(&|point| point.exact[1])),
            Column::new("theta_lr", "threshold by linear response", column(&|point| point.response[1])),
            Column::new("k_lr", "K of linear response, nats", column(&|point| point.k[1])),
            Column::new("p_lr", "largest error of a state's probability by linear response", column(&|point| point.error)),
        ],
        figure: figure(&points),
        checks,
        remarks: "The printed weight lacks a factor ¼; all other checks use the corrected one. As a → 0, linear response \
                  gives the states (+,−) and (−,+) probability exp(−1/(4a)) instead of a, so K tends to ½ and not to 0. As \
                  a → (1 − m)/2, the exact weight diverges and that of linear response does not."
            .into(),
    })
}

/// A rate with its sign, without negative zeros.
fn signed(rate: f64) -> String {
    if rate.abs() < 0.005 { "0.00".to_owned() } else { format!("{rate:+.2}").replace('-', "−") }
}

/// Returns, for each m, the change of the log error of probabilities and of log K as the exact
/// weight grows by 1 in size, where it diverges: a near 0 for positive weights, near (1 − m)/2 for
/// negative.
fn decay(positive: bool) -> Result<[[f64; 2]; 2]> {
    let mut rates = [[0.0; 2]; 2];
    for (which, m) in MEANS.into_iter().enumerate() {
        let from_end = (0..=8).map(|k| 10f64.powf(-2.0 - 0.25 * f64::from(k)));
        let tail: Vec<Point> = from_end
            .map(|share| point(m, 0.5 * (1.0 - m) * if positive { share } else { 1.0 - share }))
            .collect::<Result<_>>()?;
        let rate = |of: &dyn Fn(&Point) -> f64| {
            slope(&tail.iter().map(|point| (point.exact[0].abs(), of(point).ln())).collect::<Vec<_>>())
        };
        rates[0][which] = rate(&|point| point.error);
        rates[1][which] = rate(&|point| point.k[1]);
    }
    Ok(rates)
}

fn point(m: f64, a: f64) -> Result<Point> {
    let mut table = Table::new(["x0", "x1"])?;
    // From (+, +) down to (−, −).
    let probabilities = [0.5 * (1.0 + m) - a, a, a, 0.5 * (1.0 - m) - a];
    for (row, p) in [[1, 1], [1, -1], [-1, 1], [-1, -1]].iter().zip(probabilities) {
        table.push(row, p)?;
    }
    let start = topology::full(2);
    let response = ClosedForm::default().fit(&start, &table)?.machine;
    let exact = [
        0.25 * (((1.0 - 2.0 * a).powi(2) - m * m) / (4.0 * a * a)).ln(),
        0.5 * (m / (1.0 - 2.0 * a)).atanh(),
    ];
    let best = start.clone().with_parameters(vec![exact[0]], vec![exact[1]; 2])?;
    let k = [divergence(&best, &table)?, divergence(&response, &table)?];
    let printed = start.with_parameters(vec![4.0 * exact[0]], vec![exact[1]; 2])?;
    let found = Enumerate::default().joint(&response, &Evidence::none(2), &[0, 1])?.probabilities;
    let errors = (0..4).map(|state| (found[state] - probabilities[3 - state]).abs());
    let error = errors.fold(0.0, f64::max);
    Ok(Point {
        m,
        a,
        exact,
        response: [response.weights()[0], response.biases()[0]],
        k,
        printed_k: divergence(&printed, &table)?,
        error,
    })
}

fn figure(results: &[Point]) -> String {
    let chart = |m: f64, which: usize, label: &str, range: (f64, f64)| -> Box<dyn Part> {
        let points = |of: &dyn Fn(&Point) -> [f64; 2]| {
            results.iter().filter(|point| point.m == m).map(|point| (point.a, of(point)[which])).collect()
        };
        let title = if which == 0 { format!("m = {m}") } else { String::new() };
        Chart::new(
            Axis::new("a = P(+,−) = P(−,+)").within(0.0, 0.5),
            Axis::new(label).within(range.0, range.1),
        )
        .titled(title)
        .with(Series::line("exact", PALETTE[0], points(&|point| point.exact)))
        .with(
            Series::line("linear response", PALETTE[1], points(&|point| point.response))
                .stroke(Stroke::Dashed),
        )
        .boxed()
    };
    Sheet::new("Two units with mean m each: weight and threshold")
        .row(290.0, MEANS.map(|m| chart(m, 0, "weight w₁₂", (-3.0, 4.0))))
        .row(270.0, MEANS.map(|m| chart(m, 1, "threshold θ", (0.0, 1.6))))
        .to_svg()
}
