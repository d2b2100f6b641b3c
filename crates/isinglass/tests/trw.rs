//! The engine `trw`: a bound whatever happens, exact where one subgraph holds everything, and as
//! tight as it should be.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{
    brute_force, check_against_brute_force, check_batch_against_rows, clamped_machines, close,
    rows_of_evidence,
};
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{Budget, Decimate, Engine, Error, Evidence, Graph, Guarantee, Machine, Pairs, Trw, Unit};
use proptest::prelude::*;

fn trw(width: usize) -> Trw {
    Trw::new().width(width)
}

fn stopped_after(width: usize, iterations: usize) -> Trw {
    trw(width).subgraphs(Some(6)).max_sweeps(iterations)
}

fn log_z(engine: &Trw, machine: &Machine) -> f64 {
    engine.expectations(machine, &Evidence::none(machine.unit_count()), Pairs::None).unwrap().log_z.unwrap()
}

fn uniform(graph: Graph, size: f64, seed: u64) -> Machine {
    let numbers = Numbers::Uniform { low: -size, high: size };
    Machine::from_graph(graph).with_numbers(&numbers, &numbers, seed).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Converged or stopped anywhere on the way.
    #[test]
    fn never_below_log_z(
        (machine, evidence) in clamped_machines(12, 3.0),
        width in 1..=3usize,
        subgraphs in 1..=14usize,
        iterations in prop_oneof![Just(0usize), Just(1), Just(2), Just(5), Just(60)],
        seed in 0..4u64,
    ) {
        let truth = brute_force(&machine, &evidence).log_z;
        let engine = trw(width).subgraphs(Some(subgraphs)).max_sweeps(iterations).seed(seed);
        let answer = engine.expectations(&machine, &evidence, Pairs::Edges).unwrap();
        let found = answer.log_z.unwrap();
        prop_assert!(found >= truth - 1e-10 * truth.abs().max(1.0), "{found} below {truth}");
        let moments = answer.means.iter().chain(&answer.correlations.values);
        prop_assert!(moments.into_iter().all(|moment| moment.abs() <= 1.0));
        match answer.guarantee {
            Guarantee::Exact => close(found, truth, 1e-9, "log Z called exact"),
            other => prop_assert_eq!(other, Guarantee::UpperBound),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// What the graph's own treewidth allows is exact: trees at width 1, any graph of treewidth 2
    /// and 3 at these widths.
    #[test]
    fn exact_within_the_width(width in 1..=3usize, picks in proptest::collection::vec(any::<u32>(), 9), seed in 0..100u64) {
        let graph = partial_k_tree(width, &picks);
        let machine = uniform(graph, 2.0, seed);
        let engine = trw(width);
        let nothing = Evidence::none(machine.unit_count());
        let answer = engine.expectations(&machine, &nothing, Pairs::None).unwrap();
        prop_assert_eq!(answer.guarantee, Guarantee::Exact);
        prop_assert!(answer.diagnostics.converged);
        check_against_brute_force(&engine, &machine, &nothing, 1e-9);
    }

    /// A unit turned round, with the signs of its weights and its bias: the same bound.
    #[test]
    fn spin_flips_change_nothing(seed in 0..1000u64, flips in any::<u16>(), width in 1..=3usize) {
        let machine = uniform(Graph::full(7), 0.4, seed);
        let sign = |unit: usize| if flips >> unit & 1 == 1 { -1.0 } else { 1.0 };
        let edges = machine.graph().edges().iter().zip(machine.weights());
        let weights = edges.map(|(&(a, b), w)| w * sign(a) * sign(b)).collect();
        let biases = machine.biases().iter().enumerate().map(|(unit, bias)| bias * sign(unit)).collect();
        let turned = machine.clone().with_parameters(weights, biases).unwrap();
        let nothing = Evidence::none(7);
        // Where the share of a subgraph has nearly vanished, so have its slopes: one machine in some thousands comes to rest there at 1e-9, 1e-5 above the best bound.
        let engine = trw(width).tolerance(1e-12).max_sweeps(20_000);
        let one = engine.expectations(&machine, &nothing, Pairs::All).unwrap();
        let other = engine.expectations(&turned, &nothing, Pairs::All).unwrap();
        close(other.log_z.unwrap(), one.log_z.unwrap(), 1e-8, "bound");
        for ((a, b), moment) in one.correlations.iter(machine.graph()) {
            let found = other.correlations.get(machine.graph(), a, b).unwrap();
            close(found * sign(a) * sign(b), moment, 1e-7, "pair moment");
        }
    }

    /// Names of units mean nothing where one subgraph holds everything; elsewhere they change which
    /// subgraphs are taken, and the bound stays one.
    #[test]
    fn relabelled_machines_have_bounds_too(seed in 0..1000u64, shift in 1..7usize, width in 1..=3usize) {
        for (graph, is_narrow) in [(Graph::full(7), false), (Graph::chain(7), true)] {
            let machine = uniform(graph, 1.0, seed);
            let named = |unit: usize| (unit + shift) % 7;
            let mut units = vec![Unit::new("", 0.0); 7];
            for unit in 0..7 {
                units[named(unit)] = Unit::new(format!("u{unit}"), machine.biases()[unit]);
            }
            let edges = machine.graph().edges().iter().zip(machine.weights());
            let renamed = Machine::new(units, edges.map(|(&(a, b), &w)| (named(a), named(b), w))).unwrap();
            let truth = brute_force(&machine, &Evidence::none(7)).log_z;
            let (one, other) = (log_z(&trw(width), &machine), log_z(&trw(width), &renamed));
            prop_assert!(one >= truth - 1e-10 && other >= truth - 1e-10);
            if is_narrow {
                close(other, one, 1e-12, "log Z");
            }
        }
    }
}

/// A connected partial k-tree: each unit is joined to some of a clique of those before it.
fn partial_k_tree(width: usize, picks: &[u32]) -> Graph {
    let mut cliques: Vec<Vec<usize>> = vec![vec![0]];
    let mut edges = Vec::new();
    for (&pick, unit) in picks.iter().zip(1..) {
        let clique = cliques[pick as usize % cliques.len()].clone();
        let kept =
            clique.iter().enumerate().filter(|(place, _)| *place == 0 || pick >> (20 + place) & 1 == 1);
        edges.extend(kept.map(|(_, &other)| (other, unit)));
        if clique.len() < width {
            cliques.push([clique.clone(), vec![unit]].concat());
        } else {
            cliques.extend((0..width).map(|place| {
                let mut next = clique.clone();
                next[place] = unit;
                next
            }));
        }
    }
    Graph::new(picks.len() + 1, edges).unwrap()
}

/// The mean distance from log Z on ten units all joined; 9.47, 2.02 and 0.53 (uniform on ±1) and
/// 2.30, 0.95 and 0.44 (±0.3) for twelve random subgraphs of equal shares.
#[test]
fn as_tight_as_the_reference() {
    let gap = |width: usize, size: f64| {
        let gaps = (0..20).map(|seed| {
            let machine = uniform(Graph::full(10), size, seed);
            log_z(&trw(width), &machine) - brute_force(&machine, &Evidence::none(10)).log_z
        });
        gaps.sum::<f64>() / 20.0
    };
    let strong = [1, 2, 3].map(|width| gap(width, 1.0));
    assert!(strong[0] > strong[1] && strong[1] > strong[2], "{strong:?}");
    assert!(strong[0] <= 9.95 && strong[1] <= 1.2 && strong[2] <= 0.45, "{strong:?}");
    let weak = [1, 2, 3].map(|width| gap(width, 0.3));
    assert!(weak[0] > weak[1] && weak[1] > weak[2], "{weak:?}");
    assert!(weak[0] <= 1.85 && weak[1] <= 0.57 && weak[2] <= 0.26, "{weak:?}");
}

#[test]
fn moments_are_the_derivatives_of_the_bound() {
    for (width, seed) in [(1, 3), (2, 4), (3, 5)] {
        let machine = uniform(Graph::full(7), 0.4, seed);
        let machine = machine.with_temperature(1.3).unwrap();
        let engine = trw(width).tolerance(1e-8);
        let nothing = Evidence::none(7);
        let answer = engine.expectations(&machine, &nothing, Pairs::Edges).unwrap();
        assert!(answer.diagnostics.converged);
        let edges = machine.weights().len();
        let parameters: Vec<f64> = machine.weights().iter().chain(machine.biases()).copied().collect();
        let moments = answer.correlations.values.iter().chain(&answer.means);
        for (k, &moment) in moments.enumerate() {
            let at = |step: f64| {
                let mut moved = parameters.clone();
                moved[k] += step;
                let (weights, biases) = moved.split_at(edges);
                let moved = machine.clone().with_parameters(weights.to_vec(), biases.to_vec()).unwrap();
                log_z(&engine, &moved)
            };
            let slope = (at(1e-4) - at(-1e-4)) / 2e-4 * 1.3;
            close(slope, moment, 1e-5, "slope of the bound");
        }
    }
}

#[test]
fn pairs_without_an_edge_come_from_the_subgraphs() {
    let machine = uniform(Graph::grid(3, 4, Neighbours::Eight), 0.25, 1);
    let truth = brute_force(&machine, &Evidence::none(12));
    let answer = trw(2).expectations(&machine, &Evidence::none(12), Pairs::All).unwrap();
    assert_eq!(answer.guarantee, Guarantee::UpperBound);
    let mut worst: f64 = 0.0;
    for ((a, b), moment) in answer.correlations.iter(machine.graph()) {
        worst = worst.max((moment - truth.pairs[a][b]).abs());
    }
    assert!(worst < 0.2, "{worst}");
    // Without any bias the means vanish, and pairs are as good.
    let machine = machine.clone().with_parameters(machine.weights().to_vec(), vec![0.0; 12]).unwrap();
    let truth = brute_force(&machine, &Evidence::none(12));
    let answer = trw(3).expectations(&machine, &Evidence::none(12), Pairs::All).unwrap();
    assert_eq!(answer.means, [0.0; 12]);
    for ((a, b), moment) in answer.correlations.iter(machine.graph()) {
        assert!((moment - truth.pairs[a][b]).abs() < 0.15, "{a} {b}: {moment}");
    }
}

#[test]
fn rows_of_a_batch_are_as_alone_on_any_number_of_threads() {
    let machine = uniform(Graph::full(9), 0.3, 2);
    let cells = rows_of_evidence(9, 21, 0b1_1101_0111);
    check_batch_against_rows(&trw(2), &machine, &cells, 1e-12);
    let large = uniform(Graph::grid(12, 12, Neighbours::Eight), 0.3, 2);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| trw(3).expectations(&large, &Evidence::none(144), Pairs::All).unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn odd_machines_have_answers() {
    let all_clamped = uniform(Graph::full(6), 1.0, 0);
    let evidence = Evidence::from_cells(vec![1, -1, 1, 1, -1, 1]).unwrap();
    check_against_brute_force(&trw(1), &all_clamped, &evidence, 1e-12);
    check_against_brute_force(&trw(1), &topology::full(1), &Evidence::none(1), 1e-12);
    // No weight at all, in two parts: every split is best at once.
    let edges = (0..4).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
    let graph = Graph::new(10, edges.clone().chain(edges.map(|(a, b)| (a + 5, b + 5)))).unwrap();
    let answer =
        trw(2).expectations(&Machine::from_graph(graph.clone()), &Evidence::none(10), Pairs::Edges).unwrap();
    close(answer.log_z.unwrap(), 10.0 * 2f64.ln(), 1e-12, "log Z");
    assert!(answer.diagnostics.converged && answer.correlations.values.iter().all(|m| m.abs() < 1e-12));
    // Strong couplings, and a bias that leaves no choice.
    let strong = uniform(graph, 30.0, 1);
    let truth = brute_force(&strong, &Evidence::none(10)).log_z;
    for width in 1..=3 {
        assert!(log_z(&stopped_after(width, 50), &strong) >= truth * (1.0 - 1e-10));
    }
    let mut biases = strong.biases().to_vec();
    biases[0] = 1e9;
    let pinned = strong.clone().with_parameters(strong.weights().to_vec(), biases).unwrap();
    let truth = brute_force(&pinned, &Evidence::none(10)).log_z;
    assert!(log_z(&stopped_after(2, 50), &pinned) >= truth * (1.0 - 1e-10));
}

#[test]
fn early_ends_are_told_and_iterations_lower_the_bound() {
    let machine = uniform(Graph::full(10), 1.0, 1);
    let mut last = f64::INFINITY;
    for iterations in [0, 1, 5, 20, 80] {
        let engine = stopped_after(3, iterations);
        let answer = engine.expectations(&machine, &Evidence::none(10), Pairs::None).unwrap();
        assert!(!answer.diagnostics.converged);
        assert_eq!(answer.diagnostics.iteration.unwrap().sweeps, iterations);
        assert!(answer.log_z.unwrap() < last);
        last = answer.log_z.unwrap();
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let machine = uniform(Graph::full(6), 1.0, 0);
    let nothing = Evidence::none(6);
    let message = |engine: Trw| engine.expectations(&machine, &nothing, Pairs::None).unwrap_err().to_string();
    assert_eq!(message(trw(0)), "width: found 0, expected 1, 2 or 3");
    assert_eq!(message(trw(4)), "width: found 4, expected 1, 2 or 3");
    assert_eq!(
        message(trw(2).subgraphs(Some(0))),
        "subgraphs: found 0, expected a whole number of at least 1"
    );
    assert!(message(trw(2).tolerance(f64::NAN)).starts_with("tolerance"));
    let engine = trw(2).budget(Budget(10_000));
    assert!(matches!(
        engine.expectations(&machine, &nothing, Pairs::None),
        Err(Error::OverBudget { who: "trw", .. })
    ));
    let huge = machine.clone().with_parameters(vec![1e300; 15], vec![0.0; 6]).unwrap();
    assert!(matches!(trw(2).expectations(&huge, &nothing, Pairs::None), Err(Error::Numerical { .. })));
}

/// One subgraph is enough for a chain, and takes no room for others.
#[test]
fn long_chains_are_exact() {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let chain = topology::chain(100_000).with_numbers(&numbers, &numbers, 2).unwrap();
    let nothing = Evidence::none(100_000);
    let found = Trw::default().expectations(&chain, &nothing, Pairs::Edges).unwrap();
    let exact = Decimate::default().expectations(&chain, &nothing, Pairs::Edges).unwrap();
    assert_eq!(found.guarantee, Guarantee::Exact);
    close(found.log_z.unwrap(), exact.log_z.unwrap(), 1e-9, "log Z");
}
