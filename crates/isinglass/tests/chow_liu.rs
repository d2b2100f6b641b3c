//! Chow–Liu trees: against all spanning trees, against closed forms, and on machines whose tree is
//! known.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::LazyLock;

use common::close;
use isinglass::learn::{Learner, Likelihood, chow_liu, tree_log_likelihood};
use isinglass::topology::{self, Numbers};
use isinglass::{Engine, Enumerate, Evidence, Graph, Machine, Pairs, Sampler, Table};
use proptest::prelude::*;

static ENGINE: LazyLock<Enumerate> = LazyLock::new(|| Enumerate::new().budget(isinglass::Budget(1 << 30)));

fn names(units: usize) -> Vec<String> {
    (0..units).map(|k| format!("x{k}")).collect()
}

/// Complete rows in which every pair of values of every two columns occurs, so that all maxima are
/// finite.
fn tables() -> impl Strategy<Value = Table> {
    (4..=5usize).prop_flat_map(|units| {
        let row = (proptest::collection::vec(prop_oneof![Just(1i8), Just(-1)], units), 0.1..4.0f64);
        proptest::collection::vec(row, 5..40).prop_map(move |rows| {
            let mut table = Table::new(names(units)).unwrap();
            for number in 0..1u32 << units {
                let row: Vec<i8> =
                    (0..units).map(|bit| if number >> bit & 1 == 1 { 1 } else { -1 }).collect();
                table.push(&row, 0.05).unwrap();
            }
            for (row, weight) in rows {
                table.push(&row, weight).unwrap();
            }
            table
        })
    })
}

/// P(a = x, b = y) by the plainest loop; with a = b, P(a = x) on the diagonal.
fn share(table: &Table, a: usize, x: i8, b: usize, y: i8) -> f64 {
    let holds = |row: &usize| table.row(*row)[a] == x && table.row(*row)[b] == y;
    (0..table.distinct_count()).filter(holds).map(|row| table.weight(row)).sum::<f64>() / table.total_weight()
}

fn entropy(table: &Table, a: usize) -> f64 {
    [-1, 1].iter().map(|&x| share(table, a, x, a, x)).filter(|p| *p > 0.0).map(|p| -p * p.ln()).sum()
}

fn information(table: &Table, a: usize, b: usize) -> f64 {
    let pairs = [(-1, -1), (-1, 1), (1, -1), (1, 1)];
    let joint = pairs.map(|(x, y)| share(table, a, x, b, y));
    let entropy_of_both: f64 = joint.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
    entropy(table, a) + entropy(table, b) - entropy_of_both
}

/// What the best machine on a forest has: −Σ entropies + Σ mutual information.
fn closed_form(table: &Table, edges: &[(usize, usize)]) -> f64 {
    let alone: f64 = (0..table.columns().len()).map(|a| entropy(table, a)).sum();
    edges.iter().map(|&(a, b)| information(table, a, b)).sum::<f64>() - alone
}

/// Every spanning tree, as the sets of n − 1 edges that join all units.
fn spanning_trees(units: usize) -> Vec<Vec<(usize, usize)>> {
    let all = Graph::full(units).edges().to_vec();
    let subsets = (0..1u32 << all.len()).filter(|set| set.count_ones() as usize == units - 1);
    let chosen = subsets.map(|set| {
        let edges = all.iter().enumerate().filter(|(k, _)| set >> k & 1 == 1);
        edges.map(|(_, &edge)| edge).collect::<Vec<_>>()
    });
    chosen.filter(|edges| is_tree(units, edges)).collect()
}

fn is_tree(units: usize, edges: &[(usize, usize)]) -> bool {
    let mut group: Vec<usize> = (0..units).collect();
    for &(a, b) in edges {
        let (keep, drop) = (group[a], group[b]);
        for g in &mut group {
            *g = if *g == drop { keep } else { *g };
        }
    }
    edges.len() + 1 == units && group.iter().all(|&g| g == group[0])
}

fn fit(table: &Table, graph: Graph) -> isinglass::learn::Fit {
    let start = Machine::from_graph(graph).with_names(names(table.columns().len())).unwrap();
    Likelihood::new(&*ENGINE).tolerance(1e-7).fit(&start, table).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 25, ..ProptestConfig::default() })]

    #[test]
    fn the_fit_on_the_tree_has_the_closed_form_and_no_tree_is_better(table in tables()) {
        let units = table.columns().len();
        let graph = chow_liu(&table, &(0..units).collect::<Vec<_>>()).unwrap();
        prop_assert!(is_tree(units, graph.edges()));
        let found = fit(&table, graph.clone());
        prop_assert!(found.converged, "{}", found.stopped);
        let best = closed_form(&table, graph.edges());
        close(found.log_likelihood.unwrap(), best, 1e-9, "−Σ entropies + Σ mutual information");
        let baseline = tree_log_likelihood(&found.machine, &table).unwrap().unwrap();
        close(baseline, best, 1e-9, "without a fit");
        for tree in spanning_trees(units) {
            prop_assert!(closed_form(&table, &tree) <= best + 1e-10, "{tree:?} is better than {:?}", graph.edges());
        }
        let model = ENGINE.expectations(&found.machine, &Evidence::none(units), Pairs::Edges).unwrap();
        for unit in 0..units {
            close(model.means[unit], table.means()[unit].unwrap(), 1e-6, "mean");
        }
        for &(a, b) in graph.edges() {
            let equal = share(&table, a, 1, b, 1) + share(&table, a, -1, b, -1);
            close(model.correlations.get(&graph, a, b).unwrap(), 2.0 * equal - 1.0, 1e-6, "edge moment");
        }
    }

    #[test]
    fn the_order_of_columns_and_the_signs_of_values_do_not_matter(table in tables()) {
        let units = table.columns().len();
        let forward: Vec<usize> = (0..units).collect();
        let backward: Vec<usize> = (0..units).rev().collect();
        let information = |graph: &Graph| closed_form(&table, graph.edges());
        let best = information(&chow_liu(&table, &forward).unwrap());
        close(information(&chow_liu(&table, &backward).unwrap()), best, 1e-10, "other order");
        let mut flipped = Table::new(names(units)).unwrap();
        for k in 0..table.distinct_count() {
            let mut row = table.row(k).to_vec();
            row[0] = -row[0];
            flipped.push(&row, table.weight(k)).unwrap();
        }
        close(information(&chow_liu(&flipped, &forward).unwrap()), best, 1e-10, "other sign");
    }
}

#[test]
fn there_are_as_many_spanning_trees_as_cayley_says() {
    assert_eq!((spanning_trees(4).len(), spanning_trees(5).len()), (16, 125));
}

#[test]
fn a_tree_is_found_again_in_its_own_draws() {
    let graph = Graph::tree(12, 3);
    let truth = Machine::from_graph(graph.clone())
        .with_numbers(&Numbers::Constant(0.8), &Numbers::Constant(0.1), 0)
        .unwrap();
    let draws = ENGINE.draw(&truth, &Evidence::none(12), 5000, 3).unwrap();
    let mut complete = Table::new(names(12)).unwrap();
    let mut gaps = complete.clone();
    for (k, row) in draws.cells.chunks(12).enumerate() {
        complete.push(row, 1.0).unwrap();
        let mut row = row.to_vec();
        row[k % 12] = 0;
        row[(k * k) % 12] = 0;
        gaps.push(&row, 1.0).unwrap();
    }
    let columns: Vec<usize> = (0..12).collect();
    assert_eq!(chow_liu(&complete, &columns).unwrap(), graph);
    assert_eq!(chow_liu(&gaps, &columns).unwrap(), graph, "missing cells leave enough pairs");
}

#[test]
fn threads_make_no_difference() {
    let truth = topology::sherrington_kirkpatrick(18, 0.7, 4).unwrap();
    let draws = ENGINE.draw(&truth, &Evidence::none(18), 60, 3).unwrap();
    let table = Table::from_rows(names(18), draws.cells.chunks(18)).unwrap();
    let columns: Vec<usize> = (0..18).collect();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| chow_liu(&table, &columns).unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn columns_that_say_nothing_of_each_other_are_spanned_all_the_same() {
    let rows = [[1i8, 1, 0, 1], [1, -1, 0, 1], [-1, 1, 0, 1], [-1, -1, 0, 1]];
    let table = Table::from_rows(names(4), rows).unwrap();
    assert_eq!(chow_liu(&table, &[0, 1, 2, 3]).unwrap().edges(), [(0, 1), (0, 2), (0, 3)]);
    assert_eq!(chow_liu(&table, &[3, 1]).unwrap().edges(), [(1, 3)]);
    assert_eq!(chow_liu(&table, &[2]).unwrap(), Graph::new(4, []).unwrap());
    assert_eq!(chow_liu(&table, &[]).unwrap(), Graph::new(4, []).unwrap());
}

#[test]
fn what_is_no_list_of_columns_is_refused() {
    let table = Table::from_rows(["a", "b"], [[1i8, 1]]).unwrap();
    let message = |columns: &[usize]| chow_liu(&table, columns).unwrap_err().to_string();
    assert_eq!(message(&[0, 2]), "columns[1]: found 2, but the table has 2 columns, counted from 0");
    assert_eq!(message(&[1, 0, 1]), "columns[2]: column 1 'b' stands twice");
    let mut weightless = Table::new(["a", "b"]).unwrap();
    weightless.push(&[1, 1], 0.0).unwrap();
    assert_eq!(chow_liu(&weightless, &[0, 1]).unwrap_err().to_string(), "table: the rows have no weight");
}
