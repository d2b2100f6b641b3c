//! Figure 6: two units, exact weights and thresholds and those of linear response.

use isinglass::learn::{ClosedForm, Learner};
use isinglass::{Engine, Enumerate, Evidence, Result, Table, topology};

use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::canvas::Stroke;
use crate::figure::chart::{Chart, Series};
use crate::figure::sheet::{Part, Sheet};
use crate::reproduce::learning::divergence;
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::slope;

const MEANS: [f64; 2] = [0.1, 0.5];
const STEPS: usize = 200;

/// Weights up to here count as small, whatever their sign, and from there on as large.
const SMALL: f64 = 0.3;
const LARGE: f64 = 1.0;
/// What becomes e times smaller, or more, while a weight grows by 1, vanishes exponentially.
const VANISHING: f64 = 1.0;

/// One choice of m and a.
struct Place {
    m: f64,
    a: f64,
    exact: [f64; 2],
    response: [f64; 2],
    /// K of both.
    k: [f64; 2],
    /// K of the exact weight as the source prints it, without its factor ¼.
    printed_k: f64,
    /// The largest difference between a probability and what linear response makes of it.
    off: f64,
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    settings.watch.expect(MEANS.len());
    let mut places = Vec::new();
    for m in MEANS {
        for k in 1..STEPS {
            // All allowed a: 0 < a < (1 − m)/2.
            places.push(place(m, 0.5 * (1.0 - m) * k as f64 / STEPS as f64)?);
        }
        settings.watch.done();
    }
    let largest = |of: &dyn Fn(&Place) -> f64, among: &dyn Fn(&Place) -> bool| {
        places.iter().filter(|place| among(place)).map(of).fold(0.0, f64::max)
    };
    let off = |which: usize| move |place: &Place| (place.exact[which] - place.response[which]).abs();
    let small = |place: &Place| place.exact[0].abs() < SMALL;
    let large = |place: &Place| place.exact[0].abs() > LARGE;
    let (exact_k, printed_k) =
        (largest(&|place| place.k[0], &|_| true), largest(&|place| place.printed_k, &|_| true));
    let (near, far) = (largest(&off(0), &small), largest(&off(0), &large));
    let (near_theta, far_theta) = (largest(&off(1), &small), largest(&off(1), &large));
    let mut checks = vec![
        check(
            printed_k < 1e-12,
            format!(
                "the exact weight as printed is exact: its K is up to {printed_k:.2} nats. With the factor ¼ that it lacks, K is at most {exact_k:.0e}; all else here is with this factor."
            ),
        ),
        check(
            near < 0.1,
            format!(
                "small weights: linear response is very good; where |w| < {SMALL} it is off by at most {near:.3}."
            ),
        ),
        check(
            far > 10.0 * near,
            format!("larger weights: the difference increases, up to {far:.1} where |w| > {LARGE}."),
        ),
        check(
            near_theta < 0.1 && far_theta > 10.0 * near_theta,
            format!(
                "more or less the same for thresholds: off by at most {near_theta:.3} where |w| < {SMALL}, by up to {far_theta:.2} where |w| > {LARGE}."
            ),
        ),
    ];
    for (sign, words) in [(1.0, format!("w > {LARGE}")), (-1.0, format!("w < −{LARGE}"))] {
        let side = |place: &Place| sign * place.exact[0] > LARGE;
        let (p, k) = (largest(&|place| place.off, &side), largest(&|place| place.k[1], &side));
        let [of_p, of_k] = decay(sign > 0.0)?;
        checks.push(check(
            of_p.iter().all(|rate| *rate < -VANISHING),
            format!(
                "large weights, {words}: the influence on probabilities vanishes exponentially; the logarithm of the largest error of a state's probability changes by {:+.2} (m = 0.1) and {:+.2} (m = 0.5) as |w| grows by 1, towards the end of what a allows. The error is at most {p:.3}.",
                of_p[0], of_p[1]
            ),
        ));
        checks.push(check(
            of_k.iter().all(|rate| *rate < -VANISHING),
            format!(
                "and so that on K, {words}: its logarithm changes by {:+.2} and {:+.2} as |w| grows by 1. K is at most {k:.3} nats.",
                of_k[0], of_k[1]
            ),
        ));
    }
    let column = |of: &dyn Fn(&Place) -> f64| places.iter().map(of).collect::<Vec<f64>>();
    Ok(Outcome {
        set_up: format!(
            "P(+,+) = (1+m)/2 − a, P(+,−) = P(−,+) = a, P(−,−) = (1−m)/2 − a, for m = 0.1 and 0.5 and {} values of a in 0 < a < (1 − m)/2. Exact: w = ¼ ln(((1−2a)² − m²)/(4a²)) and \
             θ = ½ artanh(m/(1−2a)). Linear response: the closed form, eqs. 34 and 35.",
            STEPS - 1
        ),
        columns: vec![
            Column::new("m", "⟨s⟩ of both units", column(&|place| place.m)),
            Column::new("a", "P(+,−) = P(−,+)", column(&|place| place.a)),
            Column::new("w_exact", "exact weight", column(&|place| place.exact[0])),
            Column::new("w_lr", "weight by linear response", column(&|place| place.response[0])),
            Column::new("theta_exact", "exact threshold", column(&|place| place.exact[1])),
            Column::new("theta_lr", "threshold by linear response", column(&|place| place.response[1])),
            Column::new("k_lr", "K of linear response, nats", column(&|place| place.k[1])),
            Column::new("p_lr", "largest error of a state's probability by linear response", column(&|place| place.off)),
        ],
        figure: figure(&places),
        checks,
        remarks: "As a goes to 0, linear response has w = 1/(8a) and calls the states (+,−) and (−,+) impossible, P ≈ exp(−1/(4a)); they come with probability a each, which costs 2a · 1/(4a): K tends to ½ and not to 0. Its threshold tends to artanh m − m/(2(1 − m²)), the exact one to ½ artanh m, so that \
                  P(+,+) and P(−,−) stay off by a constant, small for m = 0.1 and 0.05 for m = 0.5. At the other end, as a goes to (1 − m)/2, the exact weight goes to −∞ and that of linear response does not, so that neither vanishes."
            .into(),
    })
}

/// For each m, by how much the logarithms of errors of probabilities and of K change as the exact weight grows by 1 in size, where it grows beyond bounds: a near 0 for positive weights, near (1 − m)/2 for negative ones.
fn decay(positive: bool) -> Result<[[f64; 2]; 2]> {
    let mut rates = [[0.0; 2]; 2];
    for (which, m) in MEANS.into_iter().enumerate() {
        let from_end = (0..=8).map(|k| 10f64.powf(-2.0 - 0.25 * f64::from(k)));
        let tail: Vec<Place> = from_end
            .map(|share| place(m, 0.5 * (1.0 - m) * if positive { share } else { 1.0 - share }))
            .collect::<Result<_>>()?;
        let rate = |of: &dyn Fn(&Place) -> f64| {
            slope(&tail.iter().map(|place| (place.exact[0].abs(), of(place).ln())).collect::<Vec<_>>())
        };
        rates[0][which] = rate(&|place| place.off);
        rates[1][which] = rate(&|place| place.k[1]);
    }
    Ok(rates)
}

fn place(m: f64, a: f64) -> Result<Place> {
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
    let off = errors.fold(0.0, f64::max);
    Ok(Place {
        m,
        a,
        exact,
        response: [response.weights()[0], response.biases()[0]],
        k,
        printed_k: divergence(&printed, &table)?,
        off,
    })
}

fn figure(places: &[Place]) -> String {
    let chart = |m: f64, which: usize, label: &str, range: (f64, f64)| -> Box<dyn Part> {
        let points = |of: &dyn Fn(&Place) -> [f64; 2]| {
            places.iter().filter(|place| place.m == m).map(|place| (place.a, of(place)[which])).collect()
        };
        let title = if which == 0 { format!("m = {m}") } else { String::new() };
        Chart::new(
            Axis::new("a = P(+,−) = P(−,+)").within(0.0, 0.5),
            Axis::new(label).within(range.0, range.1),
        )
        .titled(title)
        .with(Series::line("exact", PALETTE[0], points(&|place| place.exact)))
        .with(
            Series::line("linear response", PALETTE[1], points(&|place| place.response))
                .stroke(Stroke::Dashed),
        )
        .boxed()
    };
    Sheet::new("Two units with mean m each: weight and threshold")
        .row(290.0, MEANS.map(|m| chart(m, 0, "weight w₁₂", (-3.0, 4.0))))
        .row(270.0, MEANS.map(|m| chart(m, 1, "threshold θ", (0.0, 1.6))))
        .to_svg()
}
