//! Learning with mixtures of mean fields in the free phase: it follows the exact gradient where
//! mean field swings.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::ops::ControlFlow;

use common::{check_gradient, close};
use isinglass::engine::Annealing;
use isinglass::learn::{InformationGain, Learner, Likelihood, Observer, Optimizer, Step};
use isinglass::likelihood::Phases;
use isinglass::topology::{self, Numbers};
use isinglass::{Engine, Enumerate, Machine, MeanField, Mixture, Result, Table, score};

/// All machines on the way.
#[derive(Default)]
struct Path(Vec<Machine>);

impl Observer for Path {
    fn step(&mut self, _: &Step, machine: &Machine) -> Result<ControlFlow<()>> {
        self.0.push(machine.clone());
        Ok(ControlFlow::Continue(()))
    }
}

/// Lawrence, Bishop and Jordan 1998, section 5.1: two units, three patterns.
fn toy() -> (Table, Machine) {
    let table = Table::from_rows(["a", "b"], [[1, 1], [1, 1], [-1, -1]]).unwrap();
    let small = Numbers::Normal { mean: 0.0, deviation: 0.1 };
    let start = topology::full(2).with_numbers(&small, &small, 5).unwrap();
    (table, start.with_names(["a", "b"]).unwrap())
}

const STEPS: usize = 400;

/// Gradient ascent at the source's rate.
fn path(engine: &dyn Engine) -> Vec<Machine> {
    let (table, start) = toy();
    let mut path = Path::default();
    let learner = Likelihood::new(engine)
        .optimizer(Optimizer::Momentum)
        .rate(Some(0.25))
        .momentum(Some(0.0))
        .iterations(STEPS)
        .tolerance(0.0);
    learner.fit_with(&start, &table, &mut path).unwrap();
    path.0
}

/// The exact Kullback divergence between the patterns and a machine.
fn divergence(machine: &Machine) -> f64 {
    let engine = Enumerate::default();
    score::score(machine, &toy().0, Phases::both(&engine)).unwrap().kullback.unwrap()
}

/// How often the change of a bias turns round.
fn turns(path: &[Machine]) -> usize {
    let biases: Vec<f64> = path.iter().map(|machine| machine.biases()[0]).collect();
    let steps: Vec<f64> = biases.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count()
}

/// Cooled, so that both find the better of two modes.
const ANNEALING: Annealing = Annealing { from: 60.0, steps: 8 };

#[test]
fn two_units_are_learned_as_with_the_exact_gradient_and_mean_field_swings() {
    let exact = path(&Enumerate::default());
    let mixture = path(&Mixture::new().components(2).tolerance(1e-10).anneal(Some(ANNEALING)));
    let mean_field = path(&MeanField::new().anneal(Some(ANNEALING)));
    let last = |path: &[Machine]| divergence(path.last().unwrap());
    close(last(&mixture), last(&exact), 0.01, "K of mixture learning");
    assert!(last(&exact) < 0.05, "exact learning gets somewhere: {}", last(&exact));
    assert!(turns(&exact) <= 2 && turns(&mixture) <= 2, "{} {}", turns(&exact), turns(&mixture));
    assert!(turns(&mean_field) > STEPS / 20, "{}", turns(&mean_field));
    // Exact learning never raises K; mean field does each time it falls from one mode into the other.
    let largest_rise = |path: &[Machine]| {
        let divergences: Vec<f64> = path.iter().map(divergence).collect();
        divergences.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max)
    };
    assert!(largest_rise(&exact) == 0.0 && largest_rise(&mixture) < 1e-6, "{}", largest_rise(&mixture));
    assert!(largest_rise(&mean_field) > 1e-3, "{}", largest_rise(&mean_field));
}

#[test]
fn the_gradient_is_that_of_both_bounds() {
    let table = Table::from_rows(
        ["v0", "v1", "v2", "v3"],
        [[1, 1, -1, 0], [1, 0, 1, -1], [-1, -1, 0, 0], [1, -1, 1, 1]],
    )
    .unwrap();
    let structure = topology::two_layer(4, &topology::Links::Full, 3, &topology::Links::Full).unwrap();
    let numbers = Numbers::Uniform { low: -0.7, high: 0.7 };
    let machine = structure.with_numbers(&numbers, &numbers, 3).unwrap();
    let mixture = Mixture::new().components(3).tolerance(1e-10).max_sweeps(100_000);
    let mean_field = MeanField::new().tolerance(1e-10).max_sweeps(100_000);
    for clamped in [&mixture as &dyn Engine, &mean_field] {
        let gain = InformationGain::new(Phases { clamped, free: &mixture }, &machine, &table, 0.01).unwrap();
        check_gradient(&gain, &gain.parameters_of(&machine), 1e-5, clamped.name());
    }
}
