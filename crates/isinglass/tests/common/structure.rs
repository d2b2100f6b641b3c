//! Structure for tests: random partial trees and forests, and the treewidth by trying every order.

use std::collections::BTreeSet;

use isinglass::{Evidence, Graph, Machine, Unit};
use proptest::prelude::*;

/// Treewidth by trying every order, over sets of eliminated vertices: `Q(S, v)` is the number of
/// vertices that v reaches through S.
pub(crate) fn exact_treewidth(n: usize, joined: &dyn Fn(usize, usize) -> bool) -> usize {
    let reach = |set: usize, v: usize| {
        let mut seen = 1usize << v;
        let mut open = vec![v];
        let mut count = 0;
        while let Some(x) = open.pop() {
            for y in 0..n {
                if y != x && seen >> y & 1 == 0 && joined(x, y) {
                    seen |= 1 << y;
                    if set >> y & 1 == 1 {
                        open.push(y);
                    } else {
                        count += 1;
                    }
                }
            }
        }
        count
    };
    let mut width = vec![usize::MAX; 1 << n];
    width[0] = 0;
    for set in 1..1usize << n {
        for v in (0..n).filter(|v| set >> v & 1 == 1) {
            let before = set & !(1 << v);
            width[set] = width[set].min(width[before].max(reach(before, v)));
        }
    }
    width[(1 << n) - 1]
}

/// Numbers 0..n in an order that looks like chance.
pub(crate) fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let key =
        |k: usize| (k as u64 + 1).wrapping_mul(seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&k| key(k));
    order
}

/// A random k-tree with some edges left out, its vertices shuffled.
pub(crate) fn partial_tree(n: usize, width: usize, drop_one_in: u64, seed: u64) -> Graph {
    let mut state = seed | 1;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut cliques: Vec<Vec<usize>> = vec![(0..width).collect()];
    let mut edges: BTreeSet<(usize, usize)> =
        (0..width).flat_map(|a| (a + 1..width).map(move |b| (a, b))).collect();
    for v in width..n {
        let base = cliques[random(cliques.len())].clone();
        edges.extend(base.iter().map(|&a| (a, v)));
        for skip in 0..width {
            let mut clique = base.clone();
            clique[skip] = v;
            cliques.push(clique);
        }
    }
    let place = shuffled(n, seed ^ 0xabcd);
    let kept: Vec<(usize, usize)> = edges
        .into_iter()
        .filter(|_| random(drop_one_in as usize) != 0)
        .map(|(a, b)| (place[a], place[b]))
        .collect();
    Graph::new(n, kept).unwrap()
}

/// A machine on a random forest, its units shuffled, and evidence.
pub(crate) fn forests(most: usize, strength: f64) -> impl Strategy<Value = (Machine, Evidence)> {
    (1..=most).prop_flat_map(move |n| {
        let number = prop_oneof![1 => Just(0.0), 6 => -strength..strength];
        (
            proptest::collection::vec(
                prop_oneof![1 => Just(None), 9 => any::<prop::sample::Index>().prop_map(Some)],
                n,
            ),
            proptest::collection::vec(number.clone(), n),
            proptest::collection::vec(number, n),
            proptest::collection::vec(prop_oneof![6 => Just(0i8), 1 => Just(1), 1 => Just(-1)], n),
            prop_oneof![Just(1.0), 0.1..10.0f64],
            any::<u64>(),
        )
            .prop_map(move |(parents, weights, biases, cells, temperature, seed)| {
                let place = shuffled(n, seed);
                let units = biases.iter().enumerate().map(|(k, &bias)| Unit::new(format!("u{k}"), bias));
                let edges = (1..n).filter_map(|k| {
                    let parent = parents[k].as_ref()?.index(k);
                    Some((place[k], place[parent], weights[k]))
                });
                let machine = Machine::new(units.collect(), edges)
                    .and_then(|machine| machine.with_temperature(temperature))
                    .and_then(|machine| machine.with_offset(1.5))
                    .unwrap();
                (machine, Evidence::from_cells(cells).unwrap())
            })
    })
}
