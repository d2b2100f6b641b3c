//! Large tables cut into tasks, and all pair moments in passes of several units.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use isinglass::{Budget, Eliminate, Engine, Enumerate, Evidence, Expectations, Machine, Pairs, topology};
use isinglass::{Graph, Spin};

/// The bits of everything that an answer has.
fn bits(answer: &Expectations) -> Vec<u64> {
    let numbers = answer.log_z.iter().chain(&answer.means).chain(&answer.correlations.values);
    numbers.map(|x| x.to_bits()).collect()
}

fn on_threads(threads: usize, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Expectations {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| Eliminate::new().expectations(machine, evidence, pairs).unwrap())
}

fn lattice(rows: usize, columns: usize) -> Machine {
    let unit = |row: usize, column: usize| row * columns + column;
    let mut pairs = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            if column + 1 < columns {
                pairs.push((unit(row, column), unit(row, column + 1)));
            }
            if row + 1 < rows {
                pairs.push((unit(row, column), unit(row + 1, column)));
            }
        }
    }
    let graph = Graph::new(rows * columns, pairs).unwrap();
    let edges = graph.edges().len();
    let weights = (0..edges).map(|k| (0.73 * k as f64).sin()).collect();
    let biases = (0..rows * columns).map(|k| 0.4 * (1.3 * k as f64).cos()).collect();
    Machine::from_graph(graph).with_parameters(weights, biases).unwrap()
}

#[test]
fn large_tables_have_the_same_bits_on_any_number_of_threads() {
    // Width 17: tables of 2^17 numbers are cut into tasks, those below 2^15 are not.
    let glass = topology::sherrington_kirkpatrick(18, 1.0, 3).unwrap();
    let mut evidence = Evidence::none(18);
    let whole = on_threads(1, &glass, &evidence, Pairs::All);
    for threads in [2, 5] {
        assert_eq!(bits(&on_threads(threads, &glass, &evidence, Pairs::All)), bits(&whole));
    }
    let truth = Enumerate::new().expectations(&glass, &evidence, Pairs::All).unwrap();
    close(&whole, &truth);
    evidence.clamp(7, Spin::Up);
    let one = on_threads(1, &glass, &evidence, Pairs::Edges);
    assert_eq!(bits(&on_threads(3, &glass, &evidence, Pairs::Edges)), bits(&one));
    close(&one, &Enumerate::new().expectations(&glass, &evidence, Pairs::Edges).unwrap());
}

fn close(found: &Expectations, truth: &Expectations) {
    let all = |answer: &Expectations| -> Vec<f64> {
        answer.log_z.iter().chain(&answer.means).chain(&answer.correlations.values).copied().collect()
    };
    for (found, truth) in all(found).into_iter().zip(all(truth)) {
        common::close(found, truth, 1e-10, "log Z, mean or moment");
    }
}

#[test]
fn passes_of_several_units_agree_with_one_unit_after_another() {
    // Wide enough that runs have units in common, and units enough for many passes.
    let machine = lattice(11, 12);
    let none = Evidence::none(machine.unit_count());
    let many = on_threads(1, &machine, &none, Pairs::All);
    assert_eq!(bits(&on_threads(4, &machine, &none, Pairs::All)), bits(&many));
    // Enough for a pass forward and backward, and not for tables with eight numbers.
    let tight = Eliminate::new().budget(Budget(600 << 10));
    let single = tight.expectations(&machine, &none, Pairs::All).unwrap();
    close(&many, &single);
    // A clamped unit and a unit without neighbours have the products of their means.
    let mut evidence = none;
    evidence.clamp(40, Spin::Down);
    close(
        &on_threads(2, &machine, &evidence, Pairs::All),
        &tight.expectations(&machine, &evidence, Pairs::All).unwrap(),
    );
}

#[test]
fn trees_and_separate_parts_have_all_pairs() {
    // Many branches, and components of their own.
    let mut pairs: Vec<(usize, usize)> = (1..400).map(|unit| ((unit - 1) / 3, unit)).collect();
    pairs.extend((401..420).map(|unit| (unit - 1, unit)));
    let graph = Graph::new(421, pairs).unwrap();
    let weights: Vec<f64> = (0..graph.edges().len()).map(|k| 0.9 * (0.31 * k as f64).cos()).collect();
    let machine = Machine::from_graph(graph).with_parameters(weights, vec![0.0; 421]).unwrap();
    let answer = Eliminate::new().expectations(&machine, &Evidence::none(421), Pairs::All).unwrap();
    // Without biases a moment on a tree is the product of tanh w along the path.
    let edge = |a: usize, b: usize| {
        let place = machine.graph().edges().iter().position(|&edge| edge == (a, b)).unwrap();
        machine.weights()[place].tanh()
    };
    let path = |mut a: usize, mut b: usize| {
        let mut product = 1.0;
        while a != b {
            let deeper = a.max(b);
            let above = if deeper < 400 { (deeper - 1) / 3 } else { deeper - 1 };
            product *= edge(above, deeper);
            if a > b { a = above } else { b = above }
        }
        product
    };
    for (a, b) in [(0, 399), (13, 14), (120, 350), (399, 398), (1, 2), (401, 419), (400, 401)] {
        let found = answer.correlations.get(machine.graph(), a, b).unwrap();
        common::close(found, path(a, b), 1e-12, "moment along a path");
    }
    for (a, b) in [(5, 410), (399, 420), (400, 420)] {
        let found = answer.correlations.get(machine.graph(), a, b).unwrap();
        common::close(found, 0.0, 1e-12, "moment of separate parts");
    }
}
