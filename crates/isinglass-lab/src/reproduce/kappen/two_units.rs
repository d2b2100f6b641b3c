//! Figure 6: two units, exact weights and thresholds and those of linear response.

use isinglass::learn::{ClosedForm, Learner, NoObserver};
use isinglass::{Engine, Enumerate, Evidence, Machine, Result, Table, topology};

use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::canvas::Stroke;
use crate::figure::chart::{Chart, Series};
use crate::figure::sheet::{Part, Sheet};
use crate::reproduce::learning::divergence;
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};

const MEANS: [f64; 2] = [0.1, 0.5];
const STEPS: usize = 200;

/// Weights up to here count as small.
const SMALL: f64 = 0.3;

/// One choice of m and a.
struct Place {
    m: f64,
    a: f64,
    exact: [f64; 2],
    response: [f64; 2],
    /// K of both.
    k: [f64; 2],
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
    let large = |place: &Place| place.exact[0] > 1.0;
    let exact_k = largest(&|place| place.k[0], &|_| true);
    let (near, far) = (largest(&off(0), &small), largest(&off(0), &|_| true));
    let (near_theta, far_theta) = (largest(&off(1), &small), largest(&off(1), &|_| true));
    let (k_small, k_large) = (largest(&|place| place.k[1], &small), largest(&|place| place.k[1], &large));
    let (p_small, p_large) = (largest(&|place| place.off, &small), largest(&|place| place.off, &large));
    let checks = vec![
        check(
            exact_k < 1e-12,
            format!(
                "the exact solution is exact: K is at most {exact_k:.0e}, with the weight corrected as below."
            ),
        ),
        check(
            near < 0.1 && far > 10.0 * near,
            format!(
                "weights: the two differ by at most {near:.3} where the exact weight is below {SMALL}, and by up to {far:.1} where it is large."
            ),
        ),
        check(
            near_theta < 0.1 && far_theta > near_theta,
            format!(
                "thresholds: at most {near_theta:.3} where the weight is small, up to {far_theta:.2} elsewhere."
            ),
        ),
        check(
            p_large < 0.15,
            format!(
                "large weights change probabilities little: no probability of a state is off by more than {p_large:.3} where the weight is above 1, and {p_small:.3} where it is small."
            ),
        ),
        check(
            k_large < 0.1,
            format!(
                "and so the Kullback divergence little: K of linear response is at most {k_small:.5} nats where weights are small, but {k_large:.3} where they are above 1."
            ),
        ),
    ];
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
        remarks: "As a goes to 0, linear response has w = 1/(8a) and calls the states (+,−) and (−,+) impossible, P ≈ exp(−1/(4a)); they come with probability a each, which costs 2a · 1/(4a): K tends to ½ and not to 0. \
                  Probabilities are nearly right all the same. The exact weight printed in the appendix lacks a factor ¼; with it, and only with it, the machine has the distribution it was made for."
            .into(),
    })
}

fn place(m: f64, a: f64) -> Result<Place> {
    let mut table = Table::new(["x0", "x1"])?;
    // From (+, +) down to (−, −).
    let probabilities = [0.5 * (1.0 + m) - a, a, a, 0.5 * (1.0 - m) - a];
    for (row, p) in [[1, 1], [1, -1], [-1, 1], [-1, -1]].iter().zip(probabilities) {
        table.push(row, p)?;
    }
    let start = Machine::from_graph(topology::full(2));
    let response = ClosedForm::default().fit(&start, &table, &mut NoObserver)?.machine;
    let exact = [
        0.25 * (((1.0 - 2.0 * a).powi(2) - m * m) / (4.0 * a * a)).ln(),
        0.5 * (m / (1.0 - 2.0 * a)).atanh(),
    ];
    let best = start.with_parameters(vec![exact[0]], vec![exact[1]; 2])?;
    let k = [divergence(&best, &table)?, divergence(&response, &table)?];
    let found = Enumerate::default().joint(&response, &Evidence::none(2), &[0, 1])?.probabilities;
    let errors = (0..4).map(|state| (found[state] - probabilities[3 - state]).abs());
    let off = errors.fold(0.0, f64::max);
    Ok(Place { m, a, exact, response: [response.weights()[0], response.biases()[0]], k, off })
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
