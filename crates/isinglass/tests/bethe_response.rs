//! Linear response around `bethe`: exact on forests, the slopes of the means elsewhere.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::structure::forests;
use common::{check_batch_against_rows, check_equal, close, rows_of_evidence};
use isinglass::engine::{Around, LinearResponse};
use isinglass::topology::{self, Neighbours};
use isinglass::{
    Ask, Batch, Bethe, Budget, Decimate, Engine, Enumerate, Error, Evidence, Guarantee, Machine, Pairs, Unit,
};
use proptest::prelude::*;

fn response() -> LinearResponse {
    LinearResponse::new().around(Around::Bethe)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Edges without coupling too.
    #[test]
    fn the_response_is_exact_on_forests((machine, evidence) in forests(40, 20.0), seed in any::<u64>()) {
        let engine = response();
        for pairs in [Pairs::None, Pairs::Edges, Pairs::All] {
            let found = engine.expectations(&machine, &evidence, pairs).unwrap();
            prop_assert_eq!(found.guarantee, Guarantee::Exact);
            check_equal(&found, &Decimate::default().expectations(&machine, &evidence, pairs).unwrap(), 1e-10);
        }
        let n = machine.unit_count();
        let cells = rows_of_evidence(n, 11, seed);
        check_batch_against_rows(&engine, &machine, &cells, 1e-12);
        let batch = Batch::new(n, &cells, &[1.0; 11]).unwrap();
        let ask = Ask { statistics: true, means: true };
        let found = engine.batch(&machine, &batch, ask).unwrap();
        prop_assert_eq!(found.guarantee, Guarantee::Exact);
        let expected = Decimate::default().batch(&machine, &batch, ask).unwrap();
        for (x, y) in found.statistics.unwrap().edges.iter().zip(expected.statistics.unwrap().edges) {
            close(*x, y, 1e-9, "summed edge moment");
        }
    }
}

/// Edges without coupling have the moments of the way between their ends, whichever end comes first
/// and whether or not there is a way.
#[test]
fn the_response_follows_edges_without_coupling() {
    let edges = [(0, 3, 2.0), (1, 3, -1.5), (1, 4, 0.7), (0, 4, 0.0), (0, 1, 0.0), (2, 4, 0.0), (2, 5, 1.0)];
    let units = (0..6).map(|k| Unit::new(format!("u{k}"), 0.1 * f64::from(k) - 0.2)).collect();
    let machine = Machine::new(units, edges).unwrap();
    let nothing = Evidence::none(6);
    let found = response().expectations(&machine, &nothing, Pairs::Edges).unwrap();
    assert_eq!(found.guarantee, Guarantee::Exact);
    check_equal(&found, &Enumerate::default().expectations(&machine, &nothing, Pairs::Edges).unwrap(), 1e-13);
    check_batch_against_rows(&response(), &machine, &rows_of_evidence(6, 50, 7), 1e-13);
}

/// The covariances of a chain without biases are products of tanh, however strong the coupling.
#[test]
fn the_response_of_strong_chains_has_all_digits() {
    for w in [1.0, 10.0, 16.0, 18.0, 20.0, 500.0] {
        let chain = topology::chain(3).with_parameters(vec![w; 2], vec![0.0; 3]).unwrap();
        let answer = response().expectations(&chain, &Evidence::none(3), Pairs::All).unwrap();
        let get = |a, b| answer.correlations.get(chain.graph(), a, b).unwrap();
        close(get(0, 1), w.tanh(), 1e-15, "neighbours");
        close(get(0, 2), w.tanh().powi(2), 1e-14, "both ends");
        assert_eq!(answer.guarantee, Guarantee::Exact);
    }
    // Numbers too large for nine digits are not called exact.
    let huge = topology::chain(3).with_parameters(vec![1e7; 2], vec![0.5; 3]).unwrap();
    let answer = response().expectations(&huge, &Evidence::none(3), Pairs::Edges).unwrap();
    assert_eq!(answer.guarantee, Guarantee::Approximation);
}

/// Cycles with strong couplings, and biases that leave one fixed point: covariances are the slopes
/// of the means.
#[test]
fn the_response_beside_cycles_is_that_of_the_means() {
    // A triangle with a tail that a strong coupling ties to it, and one between units that are all but certain.
    let edges = [(0, 1, 0.2), (1, 2, 0.3), (0, 2, -0.25), (2, 3, 6.0), (3, 4, 0.5), (4, 5, 15.0)];
    let biases = [0.1, -0.2, 0.05, 0.1, 8.0, 9.0];
    let units = biases.iter().enumerate().map(|(k, &bias)| Unit::new(format!("u{k}"), bias)).collect();
    let machine = Machine::new(units, edges).unwrap();
    let nothing = Evidence::none(6);
    let engine = response().tolerance(1e-14);
    let all = engine.expectations(&machine, &nothing, Pairs::All).unwrap();
    let step = 1e-4;
    for a in 0..6 {
        let means_at = |shift: f64| {
            let mut moved = biases;
            moved[a] += shift;
            let moved = machine.clone().with_parameters(machine.weights().to_vec(), moved.to_vec()).unwrap();
            Bethe::new().tolerance(1e-14).expectations(&moved, &nothing, Pairs::None).unwrap().means
        };
        let at = [-2.0, -1.0, 1.0, 2.0].map(|k| means_at(k * step));
        for b in (0..6).filter(|&b| b != a) {
            let slope = (8.0 * (at[2][b] - at[1][b]) - (at[3][b] - at[0][b])) / (12.0 * step);
            let found = all.correlations.get(machine.graph(), a, b).unwrap() - all.means[a] * all.means[b];
            close(found, slope, 1e-9, &format!("response of {b} to {a}"));
        }
    }
    let edges = engine.expectations(&machine, &nothing, Pairs::Edges).unwrap();
    for ((a, b), moment) in edges.correlations.iter(machine.graph()) {
        close(moment, all.correlations.get(machine.graph(), a, b).unwrap(), 1e-10, "edge and all");
    }
    // What has no digits is not given.
    let mut weights = machine.weights().to_vec();
    weights[machine.graph().edges().iter().position(|&pair| pair == (2, 3)).unwrap()] = 18.0;
    let tied = machine.clone().with_parameters(weights, biases.to_vec()).unwrap();
    let error = engine.expectations(&tied, &nothing, Pairs::Edges).unwrap_err();
    assert!(error.to_string().contains("units u2 and u3"), "{error}");
}

/// What eight rows take on every thread is known before the first is begun.
#[test]
fn the_response_of_a_batch_counts_all_that_runs_at_once() {
    let machine = topology::grid(20, 20, Neighbours::Four);
    let batch = Batch::new(400, &[0; 400 * 16], &[1.0; 16]).unwrap();
    let need = |threads: usize, statistics: bool| {
        let engine = response().budget(Budget(1));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let ask = Ask { statistics, means: false };
        match pool.install(|| engine.batch(&machine, &batch, ask)) {
            Err(Error::OverBudget { who: "linear-response", needed, .. }) => needed,
            other => panic!("{other:?}"),
        }
    };
    // At least means, variances and two messages for each edge, in eight rows.
    let each = need(1, false);
    assert!(each > 8 * 8 * (2 * 400 + 2 * 760), "{each}");
    assert_eq!(need(4, false), 4 * each);
    assert!(need(4, true) > 4 * each);
}
