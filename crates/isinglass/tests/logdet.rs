//! The engine `logdet`: a bound whatever happens, as tight as it should be, the same for machines
//! that are the same.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{brute_force, check_batch_against_rows, clamped_machines, close, rows_of_evidence};
use isinglass::topology::{self, Numbers};
use isinglass::{Budget, Engine, Error, Evidence, Graph, Guarantee, LogDet, Machine, Pairs, Trw, Unit};
use proptest::prelude::*;

fn log_z(engine: &dyn Engine, machine: &Machine) -> f64 {
    engine.expectations(machine, &Evidence::none(machine.unit_count()), Pairs::None).unwrap().log_z.unwrap()
}

fn uniform(graph: Graph, size: f64, seed: u64) -> Machine {
    let numbers = Numbers::Uniform { low: -size, high: size };
    Machine::from_graph(graph).with_numbers(&numbers, &numbers, seed).unwrap()
}

fn without_biases(machine: &Machine) -> Machine {
    machine.clone().with_parameters(machine.weights().to_vec(), vec![0.0; machine.unit_count()]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Converged or stopped anywhere on the way, with and without inequalities.
    #[test]
    fn never_below_log_z(
        (machine, evidence) in clamped_machines(10, 3.0),
        cuts in prop_oneof![Just(0usize), Just(1), Just(40)],
        iterations in prop_oneof![Just(0usize), Just(1), Just(2), Just(5), Just(60)],
    ) {
        let truth = brute_force(&machine, &evidence).log_z;
        let engine = LogDet::new().cuts(cuts).max_sweeps(iterations);
        let answer = engine.expectations(&machine, &evidence, Pairs::Edges).unwrap();
        let found = answer.log_z.unwrap();
        prop_assert!(found >= truth - 1e-12 * truth.abs().max(1.0), "{found} below {truth}");
        let moments = answer.means.iter().chain(&answer.correlations.values);
        prop_assert!(moments.into_iter().all(|moment| moment.abs() <= 1.0));
        let is_free = evidence.free_count() > 0;
        prop_assert_eq!(answer.guarantee, if is_free { Guarantee::UpperBound } else { Guarantee::Exact });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Units turned round, and units in another order: the same bound, and moments that go with it.
    #[test]
    fn what_is_the_same_machine_has_the_same_bound(seed in 0..1000u64, flips in any::<u16>(), shift in 1..7usize) {
        let machine = uniform(Graph::full(7), 0.5, seed);
        let sign = |unit: usize| if flips >> unit & 1 == 1 { -1.0 } else { 1.0 };
        let moved = |unit: usize| (unit + shift) % 7;
        let mut units = vec![Unit::new("", 0.0); 7];
        for unit in 0..7 {
            units[moved(unit)] = Unit::new(format!("u{unit}"), machine.biases()[unit] * sign(unit));
        }
        let edges = machine.graph().edges().iter().zip(machine.weights());
        let edges = edges.map(|(&(a, b), w)| (moved(a), moved(b), w * sign(a) * sign(b)));
        let other = Machine::new(units, edges).unwrap();
        let engine = LogDet::new().tolerance(1e-7).cuts(10);
        let nothing = Evidence::none(7);
        let [one, two] = [&machine, &other].map(|machine| engine.expectations(machine, &nothing, Pairs::All).unwrap());
        close(two.log_z.unwrap(), one.log_z.unwrap(), 1e-8, "bound");
        for a in 0..7 {
            close(two.means[moved(a)] * sign(a), one.means[a], 1e-4, "mean");
        }
    }

    /// The bound of a machine is no better than what is left when a unit is clamped either way.
    #[test]
    fn clamped_units_tighten_it(seed in 0..1000u64) {
        let machine = uniform(Graph::full(6), 0.5, seed);
        let engine = LogDet::default();
        let clamped = |value: i8| {
            let evidence = Evidence::from_cells(vec![value, 0, 0, 0, 0, 0]).unwrap();
            engine.expectations(&machine, &evidence, Pairs::None).unwrap().log_z.unwrap()
        };
        let (up, down) = (clamped(1), clamped(-1));
        let both = up.max(down) + (-(up - down).abs()).exp().ln_1p();
        prop_assert!(both <= log_z(&engine, &machine) + 1e-6);
    }
}

/// Glasses of 80 units: 67.2 and 91.3 for half-normal sizes of one shape. Shapes of each unit and
/// inequalities can only be better.
#[test]
fn as_tight_as_the_reference() {
    for (strength, reference) in [(0.5, 67.3), (1.0, 91.6), (1.5, 122.0)] {
        let glass = topology::sherrington_kirkpatrick(80, strength, 1).unwrap();
        let plain = log_z(&LogDet::default(), &glass);
        assert!(plain < reference && plain > reference - 2.5, "{plain}");
        let cut = log_z(&LogDet::new().cuts(400), &glass);
        let mixed = log_z(&Trw::new().with_logdet(true), &glass);
        // Weak couplings violate no inequality.
        assert!(if strength > 1.0 { cut < plain - 0.1 } else { cut <= plain + 1e-9 }, "{cut} {plain}");
        assert!(mixed < plain + 1e-4, "{mixed} {plain}");
    }
    let (mut trw, mut mixed) = (0.0, 0.0);
    for seed in 0..10 {
        let machine = uniform(Graph::full(10), 1.0, seed);
        trw += log_z(&Trw::default(), &machine);
        mixed += log_z(&Trw::new().with_logdet(true), &machine);
    }
    assert!(mixed < trw, "{mixed} {trw}");
    // On ten dense units it is looser than subgraphs of treewidth 3: 3.1 above log Z on average.
    let gaps = (0..20).map(|seed| {
        let machine = uniform(Graph::full(10), 1.0, seed);
        log_z(&LogDet::default(), &machine) - brute_force(&machine, &Evidence::none(10)).log_z
    });
    let gap = gaps.sum::<f64>() / 20.0;
    assert!((1.5..3.3).contains(&gap), "{gap}");
}

#[test]
fn moments_are_the_derivatives_of_the_bound() {
    for cuts in [0, 20] {
        let machine = uniform(Graph::full(6), 0.6, 3).with_temperature(1.3).unwrap();
        let engine = LogDet::new().tolerance(1e-9).cuts(cuts);
        let answer = engine.expectations(&machine, &Evidence::none(6), Pairs::Edges).unwrap();
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
            close(slope, moment, if cuts == 0 { 1e-5 } else { 1e-3 }, "slope of the bound");
        }
    }
}

#[test]
fn rows_of_a_batch_are_as_alone_on_any_number_of_threads() {
    let machine = uniform(Graph::full(9), 0.3, 2);
    let cells = rows_of_evidence(9, 21, 0b1_1101_0111);
    check_batch_against_rows(&LogDet::default(), &machine, &cells, 1e-12);
    let glass = topology::sherrington_kirkpatrick(60, 1.0, 1).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| LogDet::new().cuts(50).expectations(&glass, &Evidence::none(60), Pairs::All).unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn odd_machines_have_bounds() {
    let machine = uniform(Graph::full(6), 1.0, 0);
    let evidence = Evidence::from_cells(vec![1, -1, 1, 1, -1, 1]).unwrap();
    let truth = brute_force(&machine, &evidence).log_z;
    let answer = LogDet::default().expectations(&machine, &evidence, Pairs::Edges).unwrap();
    close(answer.log_z.unwrap(), truth, 1e-12, "log Z of a state");
    assert_eq!(answer.guarantee, Guarantee::Exact);
    // No weight at all.
    let free = Machine::from_graph(Graph::full(10));
    close(log_z(&LogDet::default(), &free), 10.0 * 2f64.ln(), 1e-10, "log Z");
    // Strong couplings, a bias that leaves no choice, and none.
    let strong = uniform(Graph::full(10), 30.0, 1);
    let mut biases = strong.biases().to_vec();
    biases[0] = 1e9;
    let pinned = strong.clone().with_parameters(strong.weights().to_vec(), biases).unwrap();
    for machine in [&strong, &pinned, &without_biases(&strong)] {
        let truth = brute_force(machine, &Evidence::none(10)).log_z;
        let found = log_z(&LogDet::default(), machine);
        assert!(found >= truth * (1.0 - 1e-12), "{found} {truth}");
    }
    // Symmetric machines have symmetric moments.
    let answer =
        LogDet::default().expectations(&without_biases(&machine), &Evidence::none(6), Pairs::Edges).unwrap();
    assert_eq!(answer.means, [0.0; 6]);
}

/// Many weak couplings: the bound is tighter than that of subgraphs, which is its purpose.
#[test]
fn dense_glasses_are_its_own() {
    let glass = topology::sherrington_kirkpatrick(80, 1.0, 2).unwrap();
    let subgraphs = log_z(&Trw::new().max_sweeps(50), &glass);
    assert!(log_z(&LogDet::default(), &glass) < subgraphs - 20.0);
}

#[test]
fn invalid_settings_and_machines_are_refused() {
    let machine = uniform(Graph::full(6), 1.0, 0);
    let nothing = Evidence::none(6);
    let message =
        |engine: LogDet| engine.expectations(&machine, &nothing, Pairs::None).unwrap_err().to_string();
    assert!(message(LogDet::new().tolerance(f64::NAN)).starts_with("tolerance"));
    let engine = LogDet::new().budget(Budget(1000));
    assert!(matches!(
        engine.expectations(&machine, &nothing, Pairs::None),
        Err(Error::OverBudget { who: "logdet", .. })
    ));
    let huge = machine.clone().with_parameters(vec![1e300; 15], vec![0.0; 6]).unwrap();
    assert!(matches!(
        LogDet::default().expectations(&huge, &nothing, Pairs::None),
        Err(Error::Numerical { .. })
    ));
    let early = LogDet::new().max_sweeps(1).expectations(&machine, &nothing, Pairs::None).unwrap();
    assert!(!early.diagnostics.converged);
}
