//! Centralities against the enumeration of all paths; predictability against a plain loop and the
//! sum over all states; stability of centralities and their differences.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::ops::ControlFlow;

use isinglass::learn::{Bootstrap, Learner, Measure, PseudoLikelihood};
use isinglass::network::{CaseDropping, Centrality, Kept, Study, UnitMeasure, measure, predictability};
use isinglass::topology::Numbers;
use isinglass::{Enumerate, Evidence, Graph, Machine, Role, Sampler, Table, Unit, topology};
use proptest::prelude::*;

fn on_and_on(_done: usize, _of: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// All paths from a unit to another that visit no unit twice, with their lengths.
fn paths(machine: &Machine, path: &mut Vec<usize>, to: usize, length: f64, all: &mut Vec<(f64, Vec<usize>)>) {
    let last = *path.last().unwrap();
    if last == to {
        all.push((length, path.clone()));
        return;
    }
    for (&(a, b), weight) in machine.graph().edges().iter().zip(machine.weights()) {
        let next = if a == last {
            b
        } else if b == last {
            a
        } else {
            continue;
        };
        if *weight != 0.0 && !path.contains(&next) {
            path.push(next);
            paths(machine, path, to, length + 1.0 / weight.abs(), all);
            path.pop();
        }
    }
}

/// Closeness and betweenness by all paths between all pairs.
fn by_all_paths(machine: &Machine) -> (Vec<f64>, Vec<f64>) {
    let n = machine.unit_count();
    let (mut totals, mut betweenness) = (vec![0.0; n], vec![0.0; n]);
    for a in 0..n {
        for b in (0..n).filter(|&b| b != a) {
            let mut all = Vec::new();
            paths(machine, &mut vec![a], b, 0.0, &mut all);
            let least = all.iter().map(|(length, _)| *length).fold(f64::INFINITY, f64::min);
            if least.is_infinite() {
                continue;
            }
            totals[a] += least;
            all.retain(|(length, _)| *length <= least * (1.0 + 1e-9));
            for (_, path) in &all {
                for &unit in &path[1..path.len() - 1] {
                    betweenness[unit] += 0.5 / all.len() as f64;
                }
            }
        }
    }
    (totals.into_iter().map(|total| if total > 0.0 { 1.0 / total } else { 0.0 }).collect(), betweenness)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Weights from a short list make many paths equally long.
    #[test]
    fn centralities_are_those_of_all_paths(
        n in 1usize..8,
        picks in prop::collection::vec(0usize..7, 28),
    ) {
        let graph = Graph::full(n);
        let sizes = [0.0, 0.0, 0.5, 0.25, -0.5, 1.0 / 3.0, -1.0];
        let weights = graph.edges().iter().enumerate().map(|(k, _)| sizes[picks[k]]).collect();
        let machine = Machine::from_graph(graph).with_parameters(weights, vec![0.0; n]).unwrap();
        let found = Centrality::of(&machine);
        let (closeness, betweenness) = by_all_paths(&machine);
        for unit in 0..n {
            prop_assert!((found.closeness[unit] - closeness[unit]).abs() < 1e-12);
            prop_assert!((found.betweenness[unit] - betweenness[unit]).abs() < 1e-9);
            let around = machine.graph().neighbours(unit).map(|(_, edge)| machine.weights()[edge]);
            let (strength, influence) = around.fold((0.0, 0.0), |(s, e), w| (s + w.abs(), e + w));
            prop_assert!((found.strength[unit] - strength).abs() < 1e-14);
            prop_assert!((found.expected_influence[unit] - influence).abs() < 1e-14);
        }
    }
}

#[test]
fn equally_long_paths_share_a_pair() {
    // A square: each corner is on one of the two shortest paths between its neighbours.
    let square = Machine::new(
        (0..4).map(|k| Unit::new(format!("x{k}"), 0.0)).collect(),
        [(0, 1, 0.3), (1, 2, -0.3), (2, 3, 0.3), (0, 3, 0.3)],
    )
    .unwrap();
    assert_eq!(Centrality::of(&square).betweenness, [0.5; 4]);
}

#[test]
fn predictability_is_that_of_a_plain_loop_over_all_states() {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let plain = topology::full(5).with_numbers(&numbers, &numbers, 7).unwrap();
    let units = (0..5).map(|k| Unit {
        role: if k == 4 { Role::Hidden } else { Role::Visible },
        ..Unit::new(plain.name(k), plain.biases()[k])
    });
    let edges = plain.graph().edges().iter().zip(plain.weights()).map(|(&(a, b), &w)| (a, b, w));
    let machine = Machine::new(units.collect(), edges).unwrap();
    let rows: Vec<[i8; 4]> = (0..24i32)
        .map(|k| [1, 3, 5, 7].map(|step| [1, -1, 1, 0, -1, -1, 1][(k * step + k / 5) as usize % 7]))
        .collect();
    let table = Table::from_rows(["x0", "x1", "x2", "x3"], rows.iter()).unwrap();
    let found = predictability(&machine, &table, &Enumerate::default()).unwrap();
    // P(cells of a row), by the sum over all states that agree with them.
    let probability = |row: &[i8]| -> f64 {
        let states = (0..32u32)
            .map(|bits| (0..5).map(|k| if bits >> k & 1 == 1 { 1 } else { -1 }).collect::<Vec<i8>>());
        let agrees = |state: &Vec<i8>| row.iter().zip(state).all(|(cell, spin)| *cell == 0 || cell == spin);
        states.filter(agrees).map(|state| machine.log_weight(&state).exp()).sum()
    };
    for unit in 0..4 {
        let (mut hits, mut all, mut up) = (0.0, 0.0, 0.0);
        for row in rows.iter().filter(|row| row[unit] != 0) {
            let mut flipped = *row;
            flipped[unit] = -row[unit];
            all += 1.0;
            up += f64::from(u8::from(row[unit] > 0));
            hits += f64::from(u8::from(probability(row) > probability(&flipped)));
        }
        let most = f64::max(up, all - up) / all;
        assert_eq!(found.accuracy[unit], Some(hits / all));
        let normalised = found.normalised[unit].unwrap();
        assert!((normalised - (hits / all - most) / (1.0 - most)).abs() < 1e-12);
    }
    assert_eq!((found.accuracy[4], found.normalised[4]), (None, None));
}

fn draw(machine: &Machine, rows: usize, seed: u64) -> Table {
    let n = machine.unit_count();
    let draws = Enumerate::default().draw(machine, &Evidence::none(n), rows, seed).unwrap();
    Table::from_rows(machine.names().iter().cloned(), draws.cells.chunks(n)).unwrap()
}

/// A hub with four strong couplings, and four units beside it.
fn hub() -> Machine {
    let units = (0..6).map(|k| Unit::new(format!("x{k}"), 0.0)).collect();
    Machine::new(units, [(0, 1, 0.8), (0, 2, 0.6), (0, 3, 0.4), (0, 4, 0.3), (4, 5, 0.1)]).unwrap()
}

#[test]
fn orders_are_stable_for_many_rows_and_not_for_few() {
    let learner = PseudoLikelihood::default();
    let stability = |rows: usize| {
        let table = draw(&hub(), rows, 1);
        let start = topology::full(6);
        let fitted = learner.fit(&start, &table).unwrap().machine;
        let dropping = CaseDropping { subsets: 200, ..CaseDropping::default() };
        dropping.run((&learner, &start), &fitted, &table, &on_and_on).unwrap()
    };
    let (many, few) = (stability(20_000), stability(40));
    let strength = Kept::ALL.iter().position(|kept| *kept == Kept::Strength).unwrap();
    assert_eq!(many.coefficients[strength], 0.75);
    assert!(few.coefficients[strength] < 0.5, "{:?}", few.coefficients);
    assert_eq!((many.levels.len(), many.subsets), (10, 200));
    assert!(many.levels.windows(2).all(|pair| pair[0].dropped < pair[1].dropped));
    for level in few.levels.iter().chain(&many.levels) {
        for k in 0..5 {
            assert!(level.low[k] <= level.mean[k] + 1e-12 && level.mean[k] <= level.high[k] + 1e-12);
        }
    }
    // The coefficient follows from the shares: up to it, and no further, all are large enough.
    for found in [&many, &few] {
        for k in 0..5 {
            let passed = found.levels.iter().take_while(|level| level.share[k] >= 0.95).count();
            let expected = passed.checked_sub(1).map_or(0.0, |last| found.levels[last].dropped);
            assert_eq!(found.coefficients[k], expected);
        }
    }
}

#[test]
fn subsets_are_the_same_on_any_number_of_threads_and_have_the_rows_that_remain() {
    let (table, start, learner) = (draw(&hub(), 300, 2), topology::full(6), PseudoLikelihood::new().l2(0.01));
    let fitted = learner.fit(&start, &table).unwrap().machine;
    let dropping = CaseDropping { subsets: 30, seed: 4, ..CaseDropping::default() };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| dropping.run((&learner, &start), &fitted, &table, &on_and_on).unwrap())
    };
    assert_eq!(on(1), on(3));
    let too_few = CaseDropping { subsets: 9, ..dropping }.check(&fitted, &table).unwrap_err();
    assert!(too_few.to_string().contains("expected at least 10"), "{too_few}");
}

#[test]
fn a_hub_is_told_from_a_leaf_and_equal_units_are_not() {
    let units = (0..5).map(|k| Unit::new(format!("x{k}"), 0.0)).collect();
    let star = Machine::new(units, (1..5).map(|k| (0, k, 0.5))).unwrap();
    let (table, start, learner) = (draw(&star, 2000, 3), topology::full(5), PseudoLikelihood::default());
    let fitted = learner.fit(&start, &table).unwrap().machine;
    let engine = Enumerate::default();
    let read = |machine: &Machine, table: &Table| measure(machine, table, Some(&engine));
    let numbers = Measure { count: 6 * 5, of: &read };
    let bootstrap = Bootstrap { resamples: 200, ..Bootstrap::default() };
    let found = bootstrap.run_measured((&learner, &start), &fitted, &table, numbers, &on_and_on).unwrap();
    let mut study = Study::of(&fitted, Some((&table, &engine))).unwrap();
    study.bootstrap = Some(found);
    let strength = UnitMeasure::Strength;
    for leaf in 1..5 {
        let difference = study.difference(strength, 0, leaf).unwrap();
        assert!(difference.is_significant() && difference.low > 0.0, "{difference:?}");
        assert_eq!(difference.fitted, study.values(strength)[0] - study.values(strength)[leaf]);
    }
    // Of equal couplings, most are not told apart (six pairs at 5 %).
    let bootstrap = study.bootstrap.as_ref().unwrap();
    let of_star: Vec<usize> = (0..10).filter(|&edge| fitted.graph().edges()[edge].0 == 0).collect();
    let told = of_star.iter().flat_map(|&a| of_star.iter().map(move |&b| (a, b))).filter(|(a, b)| a < b);
    let told = told.filter(|&(a, b)| bootstrap.coupling_difference(a, b).is_significant()).count();
    assert!(told <= 2, "{told}");
    for measure in UnitMeasure::ALL {
        for (interval, value) in study.intervals(measure).unwrap().iter().zip(study.values(measure)) {
            assert_eq!(interval.fitted, *value);
            assert!(interval.low <= interval.high);
        }
    }
    // The hub is predicted by four leaves, each leaf by the hub alone.
    let normalised = study.values(UnitMeasure::NormalisedAccuracy);
    assert!((1..5).all(|leaf| normalised[0] > normalised[leaf]), "{normalised:?}");
}
