//! The decision on treewidth 3: against an exact computation, and on graphs known to be decimatable
//! or not.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeSet;

use common::structure::{exact_treewidth, partial_tree, shuffled};
use isinglass::Graph;
use isinglass::topology::Neighbours;
use proptest::prelude::*;

/// Follow an order: every unit has at most three neighbours, unit 0 counted, when its turn comes.
#[track_caller]
fn follow(graph: &Graph, biased: &[usize], order: &[usize]) {
    let zero = graph.unit_count();
    let mut rows: Vec<BTreeSet<usize>> =
        (0..zero).map(|unit| graph.neighbours(unit).map(|(other, _)| other).collect()).collect();
    rows.push(biased.iter().copied().collect());
    for &unit in biased {
        rows[unit].insert(zero);
    }
    let mut seen = BTreeSet::new();
    for &unit in order {
        assert!(seen.insert(unit), "unit {unit} comes twice");
        let around: Vec<usize> = std::mem::take(&mut rows[unit]).into_iter().collect();
        assert!(around.len() <= 3, "unit {unit} has neighbours {around:?}");
        for &a in &around {
            rows[a].remove(&unit);
            rows[a].extend(around.iter().copied().filter(|&b| b != a));
        }
    }
    assert_eq!(seen.len(), graph.unit_count());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn the_decision_is_that_of_the_exact_treewidth(graph in common::graphs(9), bits in any::<u16>()) {
        let n = graph.unit_count();
        let biased: Vec<usize> = (0..n).filter(|unit| bits >> unit & 1 == 1).collect();
        let joined = |a: usize, b: usize| match (a.min(b), a.max(b)) {
            (a, b) if b == n => biased.contains(&a),
            (a, b) => graph.edge_between(a, b).is_some(),
        };
        let truth = exact_treewidth(n + 1, &joined);
        let found = graph.decimation_order(&biased);
        prop_assert_eq!(found.is_some(), truth <= 3, "treewidth {}", truth);
        if let Some(order) = found {
            follow(&graph, &biased, &order);
        }
        let alone = exact_treewidth(n, &joined);
        for give_up in [2, 100] {
            let bounds = graph.treewidth_bounds(give_up);
            prop_assert!(bounds.lower <= alone && alone <= bounds.upper, "{:?} {}", bounds, alone);
        }
        prop_assert!(graph.pathwidth_bound() >= alone);
    }

    #[test]
    fn shuffled_partial_trees_are_recognised(n in 5..120usize, seed in any::<u64>(), drop in 2..12u64) {
        let three = partial_tree(n, 3, drop, seed);
        follow(&three, &[], &three.decimation_order(&[]).unwrap());
        let two = partial_tree(n, 2, drop, seed);
        let everywhere: Vec<usize> = (0..n).collect();
        follow(&two, &everywhere, &two.decimation_order(&everywhere).unwrap());
    }

    /// A 4-tree with all its edges has treewidth 4.
    #[test]
    fn wider_trees_are_refused(n in 5..60usize, seed in any::<u64>()) {
        let graph = partial_tree(n, 4, u64::from(u32::MAX), seed);
        prop_assume!(graph.edges().len() == 4 * n - 10);
        prop_assert_eq!(graph.decimation_order(&[]), None);
    }
}

#[test]
fn chains_of_cubes_are_taken_apart() {
    // Cubes that share corners: where a greedy order by degree would do, and where only the cube rule applies.
    for count in [1, 2, 10, 125] {
        let mut edges = BTreeSet::new();
        for cube in 0..count {
            let corner = |k: usize| if k == 0 && cube > 0 { 7 * cube } else { 7 * cube + k };
            for a in 0..8usize {
                for b in [a ^ 1, a ^ 2, a ^ 4] {
                    let (a, b) = (corner(a), corner(b));
                    edges.insert((a.min(b), a.max(b)));
                }
            }
        }
        let n = 7 * count + 1;
        let place = shuffled(n, 77);
        let graph = Graph::new(n, edges.into_iter().map(|(a, b)| (place[a], place[b]))).unwrap();
        follow(&graph, &[], &graph.decimation_order(&[]).unwrap());
    }
}

#[test]
fn known_graphs_are_decided_rightly() {
    let decimatable = |graph: &Graph, with_biases: bool| {
        let biased: Vec<usize> = (0..graph.unit_count()).filter(|_| with_biases).collect();
        graph.decimation_order(&biased).is_some()
    };
    assert!(!decimatable(&Graph::full(5), false), "K5 has treewidth 4");
    assert!(decimatable(&Graph::full(4), false) && !decimatable(&Graph::full(4), true));
    assert!(decimatable(&Graph::full(3), true));
    let grid = |rows, columns| Graph::grid(rows, columns, Neighbours::Four);
    assert!(decimatable(&grid(3, 50), false) && !decimatable(&grid(3, 50), true));
    assert!(!decimatable(&grid(4, 4), false) && !decimatable(&grid(4, 4), true));
    assert!(decimatable(&grid(2, 500), true));
    assert!(decimatable(&Graph::tree(1000, 3), true) && decimatable(&Graph::chain(1000), true));
    assert!(decimatable(&Graph::new(0, []).unwrap(), false));
    // The octahedron and the pentagonal prism, with K5 and the Wagner graph the smallest graphs of treewidth 4.
    let octahedron =
        Graph::new(6, (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b))).filter(|(a, b)| a + 3 != *b));
    assert!(!decimatable(&octahedron.unwrap(), false));
    let prism = (0..5).flat_map(|k| [(k, (k + 1) % 5), (5 + k, 5 + (k + 1) % 5), (k, 5 + k)]);
    assert!(!decimatable(&Graph::new(10, prism).unwrap(), false));
    let wagner = (0..8).map(|k| (k, (k + 1) % 8)).chain((0..4).map(|k| (k, k + 4)));
    assert!(!decimatable(&Graph::new(8, wagner).unwrap(), false));
}
