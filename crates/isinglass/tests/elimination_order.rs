//! Elimination orders: against plain elimination, against the exact treewidth, and on graphs of
//! known width.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeSet;

use common::structure::{exact_treewidth, partial_tree, shuffled};
use isinglass::Graph;
use isinglass::graph::EliminationOrder;
use isinglass::topology::Neighbours;
use proptest::prelude::*;

/// Follow an order by plain elimination: it has all units, and costs what it says.
#[track_caller]
fn check(graph: &Graph, found: &EliminationOrder) {
    let mut rows: Vec<BTreeSet<usize>> = (0..graph.unit_count())
        .map(|unit| graph.neighbours(unit).map(|(other, _)| other).collect())
        .collect();
    let (mut width, mut entries) = (0, 0.0);
    for &unit in &found.order {
        let around = std::mem::take(&mut rows[unit]);
        for &a in &around {
            rows[a].remove(&unit);
            rows[a].extend(around.iter().copied().filter(|&b| b != a));
        }
        width = width.max(around.len());
        entries += 2f64.powi(around.len() as i32 + 1);
    }
    let distinct: BTreeSet<usize> = found.order.iter().copied().collect();
    assert_eq!(
        (found.order.len(), distinct.len()),
        (graph.unit_count(), graph.unit_count()),
        "not a permutation"
    );
    assert_eq!(found.width, width);
    common::close(found.entries, entries, 1e-12, "entries");
}

fn rearranged(graph: &Graph, seed: u64) -> Graph {
    let place = shuffled(graph.unit_count(), seed);
    Graph::new(graph.unit_count(), graph.edges().iter().map(|&(a, b)| (place[a], place[b]))).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn orders_are_valid_and_not_narrower_than_the_treewidth(graph in common::graphs(10)) {
        let truth = exact_treewidth(graph.unit_count(), &|a, b| graph.edge_between(a, b).is_some());
        let found = graph.elimination_order(10).unwrap();
        check(&graph, &found);
        prop_assert!(found.width >= truth, "{} < {}", found.width, truth);
        prop_assert!(truth > 3 || found.width == truth, "{} > {}", found.width, truth);
        if let Some(narrow) = graph.elimination_order(found.width) {
            check(&graph, &narrow);
            prop_assert!(narrow.width <= found.width);
        }
        if truth > 0 {
            prop_assert_eq!(graph.elimination_order(truth - 1), None);
        }
    }

    #[test]
    fn partial_trees_of_any_size_keep_their_width(n in 7..200usize, seed in any::<u64>(), drop in 2..12u64) {
        for width in 1..=3 {
            let graph = partial_tree(n, width, drop, seed);
            let found = graph.elimination_order(width).unwrap();
            check(&graph, &found);
        }
        // All edges of a wider tree are there: eliminating what is simplicial gives its width.
        let whole = partial_tree(n, 6, u64::from(u32::MAX), seed);
        let found = whole.elimination_order(12).unwrap();
        check(&whole, &found);
        prop_assert!(found.width <= 6);
    }
}

#[test]
fn grids_are_as_wide_as_their_side() {
    for side in (4..=12).chain([15, 20]) {
        let grid = Graph::grid(side, side, Neighbours::Four);
        // Sweeping along diagonals has this much to do, and no numbering of the units hides them.
        let most = 4.0 * side as f64 * 2f64.powi(side as i32 + 1);
        for graph in [rearranged(&grid, side as u64), grid] {
            let narrow = graph.elimination_order(side).unwrap();
            check(&graph, &narrow);
            assert_eq!(narrow.width, side);
            assert!(narrow.entries < most, "{side} x {side}: {}", narrow.entries);
            // A wider order is taken only if it has less to do.
            let free = graph.elimination_order(27).unwrap();
            check(&graph, &free);
            assert!(free.width == side || free.entries < most, "{side} x {side}: {}", free.entries);
            assert!(free.width == side || (side < 15 && free.width == side + 1), "{side}: {}", free.width);
        }
    }
    let long = Graph::grid(6, 2000, Neighbours::Four);
    let long = rearranged(&long, 3);
    let found = long.elimination_order(10).unwrap();
    check(&long, &found);
    assert_eq!(found.width, 6);
}

#[test]
fn the_same_order_is_found_every_time() {
    for graph in [rearranged(&Graph::grid(9, 9, Neighbours::Eight), 5), partial_tree(3000, 6, 5, 9)] {
        let found = graph.elimination_order(27).unwrap();
        check(&graph, &found);
        assert_eq!(graph.elimination_order(27), Some(found));
    }
}

#[test]
fn small_and_separate_graphs_have_their_orders() {
    let empty = Graph::new(0, []).unwrap().elimination_order(0).unwrap();
    assert_eq!(empty, EliminationOrder { order: vec![], width: 0, entries: 0.0 });
    let single = Graph::new(1, []).unwrap().elimination_order(0).unwrap();
    assert_eq!(single, EliminationOrder { order: vec![0], width: 0, entries: 2.0 });
    for n in 1..12 {
        let full = Graph::full(n);
        let found = full.elimination_order(20).unwrap();
        check(&full, &found);
        assert_eq!(found.width, n - 1);
        assert!(n == 1 || full.elimination_order(n - 2).is_none());
    }
    // Three grids, a full graph, and units on their own.
    let grid = Graph::grid(6, 6, Neighbours::Four);
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for base in [0, 40, 80] {
        edges.extend(grid.edges().iter().map(|&(a, b)| (base + a, base + b)));
    }
    edges.extend(Graph::full(7).edges().iter().map(|&(a, b)| (120 + a, 120 + b)));
    let separate = rearranged(&Graph::new(130, edges).unwrap(), 8);
    let found = separate.elimination_order(20).unwrap();
    check(&separate, &found);
    assert_eq!(found.width, 6);
}

#[test]
fn what_is_too_wide_is_refused() {
    assert_eq!(Graph::full(2000).elimination_order(27), None);
    assert_eq!(Graph::grid(30, 30, Neighbours::Four).elimination_order(20), None);
    assert_eq!(Graph::grid(4, 4, Neighbours::Four).elimination_order(3), None);
    // Sparse but for a small full graph in its midst.
    let chain = (0..1000).map(|k| (k, k + 1));
    let knot = (0..30).flat_map(|a| (a + 2..30).map(move |b| (a, b)));
    assert_eq!(Graph::new(1001, chain.chain(knot)).unwrap().elimination_order(27), None);
}

/// Units with very many neighbours do not slow the search down.
#[test]
fn hubs_are_no_obstacle() {
    let rim = Graph::grid(4, 5000, Neighbours::Four);
    let hub = rim.unit_count();
    let edges = rim.edges().iter().copied().chain((0..hub).map(|unit| (unit, hub)));
    let graph = Graph::new(hub + 1, edges).unwrap();
    let found = graph.elimination_order(20).unwrap();
    check(&graph, &found);
    assert_eq!(found.width, 5);
}
