//! Mean field, TAP and linear response against their own equations, finite differences, and exact
//! answers.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{
    brute_force, check_against_brute_force, check_batch_against_rows, check_derivatives, clamped_machines,
    close, graphs, rows_of_evidence,
};
use isinglass::engine::{Annealing, Around, Schedule, VariationalSettings};
use isinglass::topology::{self, Numbers};
use isinglass::{
    Ask, Batch, Engine, Enumerate, Error, Evidence, Graph, Guarantee, LinearResponse, Machine, MeanField,
    Pairs, Spin, Tap,
};
use proptest::prelude::*;

/// The right-hand sides of eq. 10 or eq. 30 at some means, by plain loops.
fn right_hand_sides(machine: &Machine, evidence: &Evidence, means: &[f64], tap: bool) -> Vec<f64> {
    let t = machine.temperature();
    (0..machine.unit_count())
        .map(|i| {
            if let Some(spin) = evidence.get(i) {
                return f64::from(spin.value());
            }
            let mut h = machine.biases()[i] / t;
            for (edge, &(a, b)) in machine.graph().edges().iter().enumerate() {
                if a != i && b != i {
                    continue;
                }
                let j = a + b - i;
                let w = machine.weights()[edge] / t;
                h += w * means[j];
                if tap {
                    h -= means[i] * w * w * (1.0 - means[j] * means[j]);
                }
            }
            h.tanh()
        })
        .collect()
}

fn uniform(units: usize, reach: f64, seed: u64) -> Machine {
    let numbers = Numbers::Uniform { low: -reach, high: reach };
    topology::full(units).with_numbers(&numbers, &numbers, seed).unwrap()
}

fn precise() -> VariationalSettings {
    VariationalSettings::default().tolerance(1e-13).max_sweeps(100_000)
}

fn response(around: Around, settings: VariationalSettings) -> LinearResponse {
    LinearResponse::new()
        .around(around)
        .anneal(settings.anneal)
        .starts(settings.starts)
        .damping(settings.damping)
        .schedule(settings.schedule)
        .max_sweeps(settings.max_sweeps)
        .tolerance(settings.tolerance)
        .seed(settings.seed)
        .budget(settings.budget)
}

fn engines(settings: VariationalSettings) -> [(&'static str, Box<dyn Engine>); 5] {
    let response = |around| Box::new(response(around, settings));
    [
        ("mean-field", Box::new(MeanField::from(settings))),
        ("tap", Box::new(Tap::from(settings))),
        ("linear-response", response(Around::MeanField)),
        ("linear-response around tap", response(Around::Tap)),
        ("linear-response around bethe", response(Around::Bethe)),
    ]
}

proptest! {
    #[test]
    fn fixed_points_satisfy_their_equations((machine, evidence) in clamped_machines(9, 2.0), parallel in any::<bool>()) {
        let schedule = if parallel { Schedule::Parallel } else { Schedule::Sequential };
        let settings = VariationalSettings::default().schedule(schedule);
        let engines: [(bool, Box<dyn Engine>); 2] = [(false, Box::new(MeanField::from(settings))), (true, Box::new(Tap::from(settings)))];
        for (tap, engine) in engines {
            let found = match engine.expectations(&machine, &evidence, Pairs::None) {
                Err(Error::ImpossibleLogZ { .. }) if tap => continue,
                found => found.unwrap(),
            };
            prop_assert!(parallel || found.diagnostics.converged, "{} did not settle: {:?}", engine.name(), found.diagnostics);
            let sides = right_hand_sides(&machine, &evidence, &found.means, tap);
            let worst = sides.iter().zip(&found.means).map(|(x, m)| (x - m).abs()).fold(0.0, f64::max);
            let iteration = found.diagnostics.iteration.unwrap();
            prop_assert!((worst - iteration.residual).abs() < 1e-12, "{worst} but reported {}", iteration.residual);
            prop_assert_eq!(found.diagnostics.converged, iteration.residual <= settings.tolerance);
            prop_assert!(!found.diagnostics.converged || worst < 1e-8);
        }
    }

    #[test]
    fn answers_do_not_depend_on_the_sign_of_a_unit_or_the_order_of_units(
        graph in graphs(8), seed in any::<u64>(), flips in proptest::collection::vec(any::<bool>(), 8), turn in 0usize..8,
    ) {
        let n = graph.unit_count();
        let numbers = Numbers::Uniform { low: -0.4 / n as f64, high: 0.4 / n as f64 };
        let fields = Numbers::Uniform { low: -1.0, high: 1.0 };
        let machine = Machine::from_graph(graph).with_numbers(&numbers, &fields, seed).unwrap();
        let sign = |unit: usize| if flips[unit] { -1.0 } else { 1.0 };
        let to = |unit: usize| (unit + turn) % n;
        let edges = machine.graph().edges().iter().zip(machine.weights());
        let other = Machine::new(
            (0..n).map(|k| (k + n - turn % n) % n)
                .map(|unit| isinglass::Unit::new(format!("u{unit}"), sign(unit) * machine.biases()[unit])).collect(),
            edges.map(|(&(a, b), w)| (to(a), to(b), w * sign(a) * sign(b))),
        ).unwrap();
        for (name, engine) in engines(precise()) {
            let one = engine.expectations(&machine, &Evidence::none(n), Pairs::All).unwrap();
            let two = engine.expectations(&other, &Evidence::none(n), Pairs::All).unwrap();
            close(two.log_z.unwrap(), one.log_z.unwrap(), 1e-11, name);
            for a in 0..n {
                close(two.means[to(a)], sign(a) * one.means[a], 1e-11, name);
                for b in 0..a {
                    let (x, y) = (one.correlations.get(machine.graph(), a, b), two.correlations.get(other.graph(), to(a), to(b)));
                    close(y.unwrap(), sign(a) * sign(b) * x.unwrap(), 1e-11, name);
                }
            }
        }
    }

    #[test]
    fn batches_are_their_rows((machine, _) in clamped_machines(9, 0.7), seed in any::<u64>()) {
        for (_, engine) in engines(precise()) {
            let cells = rows_of_evidence(machine.unit_count(), 40, seed);
            let batch = Batch::new(machine.unit_count(), &cells, &[1.0; 40]).unwrap();
            if let Err(Error::ImpossibleLogZ { .. }) = engine.batch(&machine, &batch, Ask::default()) {
                continue;
            }
            check_batch_against_rows(&*engine, &machine, &cells, 1e-9);
        }
    }
}

#[test]
fn the_mean_field_bound_is_never_above_log_z() {
    let mut tightest = f64::INFINITY;
    for seed in 0..1000 {
        let reach = [0.1, 0.5, 1.0, 3.0][seed as usize % 4];
        let machine = uniform(3 + seed as usize % 8, reach, seed);
        let nothing = Evidence::none(machine.unit_count());
        let truth = brute_force(&machine, &nothing).log_z;
        // Stopped early, or too proud to be damped: a bound all the same.
        for (sweeps, schedule, starts) in
            [(10_000, Schedule::Sequential, 1), (2, Schedule::Parallel, 1), (1, Schedule::Sequential, 3)]
        {
            let settings = VariationalSettings::default()
                .max_sweeps(sweeps)
                .schedule(schedule)
                .starts(starts)
                .seed(seed);
            let found = MeanField::from(settings).expectations(&machine, &nothing, Pairs::None).unwrap();
            let gap = truth - found.log_z.unwrap();
            assert!(gap >= -1e-11, "machine {seed}: the bound is {gap} below log Z");
            assert_eq!(found.guarantee, Guarantee::LowerBound);
            tightest = tightest.min(gap);
        }
    }
    assert!(tightest < 0.05, "bounds are far from log Z: {tightest}");
}

#[test]
fn more_starts_and_annealing_never_lose_what_one_start_found() {
    let mut gained = 0;
    let mut losses = (0.0, 0.0);
    for seed in 0..40 {
        let machine = uniform(12, 1.5, seed);
        let bound = |starts, anneal| {
            let settings = VariationalSettings::default().starts(starts).anneal(anneal);
            let found =
                MeanField::from(settings).expectations(&machine, &Evidence::none(12), Pairs::None).unwrap();
            assert!(found.diagnostics.converged);
            found.log_z.unwrap()
        };
        let (one, twelve) = (bound(1, None), bound(12, None));
        assert!(twelve >= one);
        gained += usize::from(twelve > one + 1e-6);
        let truth = brute_force(&machine, &Evidence::none(12)).log_z;
        let annealed = bound(1, Some(Annealing { from: 60.0, steps: 8 }));
        assert!(annealed <= truth);
        losses.0 += truth - one;
        losses.1 += truth - annealed;
    }
    assert!(losses.1 < losses.0, "annealing loses {} and a plain start {}", losses.1, losses.0);
    assert!(gained >= 5, "twelve starts were better than one in {gained} of 40 machines only");
}

/// The derivative of each mean by one bias, from the engine's own means.
fn slope_of_means(engine: &dyn Engine, machine: &Machine, evidence: &Evidence, unit: usize) -> Vec<f64> {
    let step = 1e-4;
    let at = |shift: f64| {
        let mut biases = machine.biases().to_vec();
        biases[unit] += shift * machine.temperature();
        let moved = machine.clone().with_parameters(machine.weights().to_vec(), biases).unwrap();
        engine.expectations(&moved, evidence, Pairs::None).unwrap().means
    };
    at(step).iter().zip(at(-step)).map(|(x, y)| (x - y) / (2.0 * step)).collect()
}

#[test]
fn responses_are_finite_differences_of_the_means() {
    for seed in 0..20 {
        let n = 7;
        let mut machine = uniform(n, 0.35, seed).with_temperature(0.8).unwrap();
        if seed % 2 == 1 {
            let sparse = Graph::grid(3, 3, topology::Neighbours::Four);
            let numbers = Numbers::Uniform { low: -0.5, high: 0.5 };
            machine = Machine::from_graph(sparse).with_numbers(&numbers, &numbers, seed).unwrap();
        }
        let mut evidence = Evidence::none(machine.unit_count());
        if seed % 3 == 0 {
            evidence.clamp(2, Spin::Down);
        }
        for around in [Around::MeanField, Around::Tap, Around::Bethe] {
            let engine = response(around, precise());
            let all = engine.expectations(&machine, &evidence, Pairs::All).unwrap();
            let edges = engine.expectations(&machine, &evidence, Pairs::Edges).unwrap();
            for ((a, b), moment) in edges.correlations.iter(machine.graph()) {
                close(moment, all.correlations.get(machine.graph(), a, b).unwrap(), 1e-12, "edge and all");
            }
            for a in evidence.free() {
                let slopes = slope_of_means(&engine, &machine, &evidence, a);
                for b in 0..machine.unit_count() {
                    if a != b {
                        let excess = all.correlations.get(machine.graph(), a, b).unwrap()
                            - all.means[a] * all.means[b];
                        close(excess, slopes[b], 1e-6, &format!("machine {seed}, {around:?}, ({a}, {b})"));
                    }
                }
            }
        }
    }
}

#[test]
fn moments_are_derivatives_of_log_z() {
    for seed in 0..10 {
        let machine = uniform(6, 0.4, seed).with_temperature(1.3).unwrap();
        check_derivatives(&MeanField::from(precise()), &machine, &Evidence::none(6));
        check_derivatives(&Tap::from(precise()), &machine, &Evidence::none(6));
    }
}

#[test]
fn tap_is_right_to_one_order_more_than_mean_field() {
    // Halve the couplings: mean field's log Z is off by their square, TAP's by their cube.
    let mut ratios = [0.0; 2];
    for seed in 0..10 {
        let whole = uniform(8, 0.2, seed);
        let halved = whole
            .clone()
            .with_parameters(whole.weights().iter().map(|w| w / 2.0).collect(), whole.biases().to_vec());
        let machines = [whole, halved.unwrap()];
        let settings = precise();
        let engines: [Box<dyn Engine>; 2] =
            [Box::new(MeanField::from(settings)), Box::new(Tap::from(settings))];
        for (engine, ratio) in engines.iter().zip(&mut ratios) {
            let error = |machine: &Machine| {
                let found = engine.expectations(machine, &Evidence::none(8), Pairs::None).unwrap();
                (found.log_z.unwrap() - brute_force(machine, &Evidence::none(8)).log_z).abs()
            };
            *ratio += (error(&machines[0]) / error(&machines[1])).log2() / 10.0;
        }
    }
    assert!((1.8..2.2).contains(&ratios[0]), "mean field's order is {}", ratios[0]);
    assert!(ratios[1] > 2.7, "TAP's order is {}", ratios[1]);
}

#[test]
fn independent_units_are_exact_and_called_so() {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let machine = topology::rbm(6, 5).unwrap().with_numbers(&numbers, &numbers, 3).unwrap();
    let mut evidence = Evidence::none(11);
    for unit in 0..6 {
        evidence.clamp(unit, if unit % 2 == 0 { Spin::Up } else { Spin::Down });
    }
    let truth = Enumerate::default().expectations(&machine, &evidence, Pairs::All).unwrap();
    // However little they may search: there is nothing to look for.
    let hasty = VariationalSettings::default().damping(0.9).max_sweeps(1);
    for (name, engine) in engines(VariationalSettings::default()).into_iter().chain(engines(hasty)) {
        let found = engine.expectations(&machine, &evidence, Pairs::All).unwrap();
        assert_eq!(found.guarantee, Guarantee::Exact, "{name}");
        assert!(found.diagnostics.converged, "{name}");
        close(found.log_z.unwrap(), truth.log_z.unwrap(), 1e-13, name);
        for (x, y) in found
            .means
            .iter()
            .zip(&truth.means)
            .chain(found.correlations.values.iter().zip(&truth.correlations.values))
        {
            close(*x, *y, 1e-13, name);
        }
    }
}

#[test]
fn a_dense_batch_goes_through_products_and_is_its_rows() {
    // Enough free units for matrix products, rows that take different numbers of sweeps, and not a multiple of the lanes.
    let machine = uniform(48, 0.25, 5);
    let mut cells = Vec::new();
    for row in 0..131usize {
        cells.extend(
            (0..48usize)
                .map(|unit| if unit < 10 { if row * (unit + 3) % 7 < 3 { 1i8 } else { -1 } } else { 0 }),
        );
    }
    for (_, engine) in engines(precise()) {
        check_batch_against_rows(&*engine, &machine, &cells, 1e-10);
    }
}

#[test]
fn swings_of_parallel_updates_are_noticed_and_damped() {
    let machine = topology::full(8).with_parameters(vec![-0.8; 28], vec![0.1; 8]).unwrap();
    let nothing = Evidence::none(8);
    let solve = |schedule| {
        let settings = VariationalSettings::default().schedule(schedule);
        MeanField::from(settings).expectations(&machine, &nothing, Pairs::None).unwrap().diagnostics
    };
    let parallel = solve(Schedule::Parallel);
    let iteration = parallel.iteration.unwrap();
    assert!(parallel.converged && iteration.oscillated && iteration.damping >= 0.5, "{parallel:?}");
    let sequential = solve(Schedule::Sequential);
    let iteration = sequential.iteration.unwrap();
    assert!(sequential.converged && !iteration.oscillated && iteration.damping == 0.0);
}

#[test]
fn a_search_cut_short_says_so() {
    let machine = uniform(10, 1.0, 1);
    let settings = VariationalSettings::default().max_sweeps(2);
    for (name, engine) in engines(settings) {
        let Ok(found) = engine.expectations(&machine, &Evidence::none(10), Pairs::None) else {
            panic!("{name}")
        };
        assert!(!found.diagnostics.converged, "{name}");
        assert!(found.diagnostics.iteration.unwrap().sweeps <= 2);
    }
}

#[test]
fn symmetric_machines_are_left_at_their_symmetric_point_only_while_it_is_stable() {
    let ring = |w: f64| topology::full(20).with_parameters(vec![w; 190], vec![0.0; 20]).unwrap();
    let mean = |machine: &Machine| {
        let found = MeanField::default().expectations(machine, &Evidence::none(20), Pairs::None).unwrap();
        assert!(found.diagnostics.converged);
        found.means[0].abs()
    };
    assert!(mean(&ring(0.8 / 19.0)) < 1e-8);
    // m = tanh(2 m)
    close(mean(&ring(2.0 / 19.0)), 0.957_504_024_079_6, 1e-9, "spontaneous magnetisation");
}

#[test]
fn bad_settings_are_named() {
    let machine = uniform(3, 0.1, 0);
    let message = |settings: VariationalSettings| {
        MeanField::from(settings)
            .expectations(&machine, &Evidence::none(3), Pairs::None)
            .unwrap_err()
            .to_string()
    };
    let good = VariationalSettings::default();
    assert_eq!(message(good.damping(1.0)), "damping: found 1, expected a number of at least 0 and below 1");
    assert_eq!(message(good.starts(0)), "starts: found 0, expected a whole number of at least 1");
    assert_eq!(
        message(good.anneal(Some(Annealing { from: 0.5, steps: 3 }))),
        "anneal: starts at 0.5, expected more than the machine's own temperature, 1"
    );
    assert!(message(good.tolerance(f64::NAN)).starts_with("tolerance: "));
    assert!(message(good.budget(isinglass::Budget(100))).contains("needs"));
    for text in ["60", "60:", ":8", "60:0", "-1:8", "x:y", "inf:3"] {
        assert!(text.parse::<Annealing>().is_err(), "{text}");
    }
}

#[test]
fn an_unstable_fixed_point_has_no_response() {
    // Two units, started and held at the symmetric point by a sweep limit: the curvature there is negative.
    let pair = topology::full(2).with_parameters(vec![3.0], vec![0.0; 2]).unwrap();
    let error = LinearResponse::new()
        .around(Around::MeanField)
        .max_sweeps(1)
        .expectations(&pair, &Evidence::none(2), Pairs::Edges)
        .unwrap_err();
    assert!(error.to_string().contains("unstable"), "{error}");
}

#[test]
fn the_response_around_bethe_is_exact_on_trees() {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    for seed in 0..10 {
        let machine = topology::tree(11, 2).with_numbers(&numbers, &numbers, seed).unwrap();
        let engine = LinearResponse::new().around(Around::Bethe);
        check_against_brute_force(&engine, &machine, &common::given(11, 4, Spin::Up), 1e-10);
        let found = engine.expectations(&machine, &Evidence::none(11), Pairs::All).unwrap();
        assert_eq!(found.guarantee, Guarantee::Exact);
    }
}
