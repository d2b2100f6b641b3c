//! Mixtures of mean fields: bounds, the figures of the source's experiment, properties, and what is
//! refused.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{
    brute_force, check_against_brute_force, check_batch_against_rows, check_derivatives, clamped_machines,
    close, rows_of_evidence,
};
use isinglass::engine::Annealing;
use isinglass::topology::{self, Numbers};
use isinglass::{
    Ask, Batch, Budget, Engine, Error, Evidence, Graph, Guarantee, Machine, MeanField, Mixture, Pairs, Unit,
};
use proptest::prelude::*;

fn uniform(units: usize, reach: f64, seed: u64) -> Machine {
    let numbers = Numbers::Uniform { low: -reach, high: reach };
    topology::full(units).with_numbers(&numbers, &numbers, seed).unwrap()
}

fn mixture(components: usize) -> Mixture {
    Mixture::new().components(components)
}

/// A search that may stop early: what is tested must hold all the same.
fn brief(components: usize) -> Mixture {
    mixture(components).max_sweeps(100)
}

fn annealed(components: usize, anneal: &str) -> Mixture {
    mixture(components).anneal(Some(anneal.parse().unwrap()))
}

/// Lawrence, Bishop and Jordan 1998, figure 1: the summed squared error of the pair moments against
/// the number of components.
#[test]
fn more_components_come_closer() {
    let nothing = Evidence::none(10);
    let counts = [1, 2, 3, 5, 8];
    let (mut errors, mut gaps) = ([0.0; 5], [0.0; 5]);
    for seed in 0..100 {
        let machine = uniform(10, 1.0, seed);
        let truth = brute_force(&machine, &nothing);
        for (k, &components) in counts.iter().enumerate() {
            let found = annealed(components, "60:8").expectations(&machine, &nothing, Pairs::All).unwrap();
            assert!(
                found.diagnostics.converged,
                "seed {seed}, {components} components: {:?}",
                found.diagnostics
            );
            gaps[k] += (truth.log_z - found.log_z.unwrap()) / 100.0;
            let squares = found.correlations.iter(machine.graph());
            errors[k] += squares.map(|((a, b), x)| (x - truth.pairs[a][b]).powi(2)).sum::<f64>();
        }
    }
    assert!(errors.is_sorted_by(|a, b| a > b) && gaps.is_sorted_by(|a, b| a > b), "{errors:?} {gaps:?}");
    assert!(errors[4] <= 0.05 * errors[0], "{errors:?}");
    assert!(gaps[4] <= 0.2 * gaps[0] && gaps[4] < 0.12, "{gaps:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_bound_is_one_wherever_the_search_stops(
        (machine, evidence) in clamped_machines(8, 3.0),
        components in 1..11usize,
        anneal in proptest::option::of((11.0..50.0f64, 1..5usize)),
        seed in any::<u64>(),
    ) {
        let truth = brute_force(&machine, &evidence).log_z;
        let anneal = anneal.map(|(from, steps)| Annealing { from, steps });
        for sweeps in [1, 2, 3, 200] {
            let engine = mixture(components).anneal(anneal).max_sweeps(sweeps).seed(seed);
            let found = engine.expectations(&machine, &evidence, Pairs::Edges).unwrap();
            let bound = found.log_z.unwrap();
            prop_assert!(bound <= truth + 1e-12 * truth.abs().max(1.0), "{bound} is above {truth} after {sweeps} sweeps");
            let iteration = found.diagnostics.iteration.unwrap();
            prop_assert_eq!(found.diagnostics.converged, iteration.residual <= engine.tolerance);
            prop_assert!(found.means.iter().chain(&found.correlations.values).all(|m| m.abs() <= 1.0 + 1e-12));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn one_component_is_mean_field((machine, evidence) in clamped_machines(9, 2.0), starts in 1..3usize) {
        let anneal = Some(Annealing { from: 20.0, steps: 3 });
        let mixture = Mixture::new().components(1).tolerance(1e-10).starts(starts).anneal(anneal);
        let one = mixture.expectations(&machine, &evidence, Pairs::All).unwrap();
        let field = MeanField::new().starts(starts).anneal(anneal).expectations(&machine, &evidence, Pairs::All).unwrap();
        close(one.log_z.unwrap(), field.log_z.unwrap(), 1e-10, "bound");
        for (found, expected) in one.means.iter().zip(&field.means) {
            close(*found, *expected, 1e-10, "mean");
        }
        let components = mixture.components_of(&machine, &evidence).unwrap();
        prop_assert_eq!(&components.means[0], &one.means);
    }

    /// The energy and the true entropy of the mixture, by enumeration, are a better bound than the
    /// one reported.
    #[test]
    fn components_are_those_of_the_answer((machine, evidence) in clamped_machines(7, 1.5), count in 1..7usize) {
        let engine = brief(count);
        let mix = engine.components_of(&machine, &evidence).unwrap();
        let answer = engine.expectations(&machine, &evidence, Pairs::All).unwrap();
        prop_assert_eq!(Some(mix.log_z), answer.log_z);
        prop_assert_eq!((mix.guarantee, mix.diagnostics), (answer.guarantee, answer.diagnostics));
        close(mix.weights.iter().sum(), 1.0, 1e-12, "sum of mixing coefficients");
        for a in 0..machine.unit_count() {
            let mean: f64 = (0..count).map(|l| mix.weights[l] * mix.means[l][a]).sum();
            close(answer.means[a], mean, 1e-12, "mean");
            for b in a + 1..machine.unit_count() {
                let moment: f64 = (0..count).map(|l| mix.weights[l] * mix.means[l][a] * mix.means[l][b]).sum();
                close(answer.correlations.get(machine.graph(), a, b).unwrap(), moment, 1e-12, "pair moment");
            }
        }
        let mut better = 0.0;
        for (log_weight, state) in brute_force(&machine, &evidence).states {
            let of = |l: usize| -> f64 {
                mix.means[l].iter().zip(&state).map(|(m, &s)| 0.5 * (1.0 + m * f64::from(s))).product()
            };
            let q: f64 = (0..count).map(|l| mix.weights[l] * of(l)).sum();
            if q > 0.0 {
                better += q * (log_weight - q.ln());
            }
        }
        prop_assert!(mix.log_z <= better + 1e-10, "{} is above {better}", mix.log_z);
    }

    #[test]
    fn rows_of_a_batch_are_as_alone((machine, _) in clamped_machines(8, 1.0), rows in 1..30usize, seed in any::<u64>()) {
        let cells = rows_of_evidence(machine.unit_count(), rows, seed);
        check_batch_against_rows(&brief(3), &machine, &cells, 1e-12);
        check_batch_against_rows(&brief(9), &machine, &cells, 1e-12);
    }

    #[test]
    fn what_changes_nothing_changes_nothing((machine, evidence) in clamped_machines(8, 1.0), scale in prop_oneof![Just(0.25), Just(2.0), Just(8.0)]) {
        let log_z = |machine: &Machine| brief(4).expectations(machine, &evidence, Pairs::None).unwrap().log_z.unwrap();
        let plain = log_z(&machine);
        // An offset is added; and only quotients by the temperature count.
        let shifted = machine.clone().with_offset(machine.offset() + 3.0).unwrap();
        close(log_z(&shifted), plain + 3.0, 1e-12, "with an offset");
        let scaled = |numbers: &[f64]| numbers.iter().map(|x| x * scale).collect();
        let hotter = machine.clone().with_parameters(scaled(machine.weights()), scaled(machine.biases()))
            .and_then(|hotter| hotter.with_temperature(machine.temperature() * scale)?.with_offset(machine.offset()))
            .unwrap();
        close(log_z(&hotter), plain, 1e-12, "hotter and stronger");
    }

    #[test]
    fn more_starts_never_lower_the_bound((machine, evidence) in clamped_machines(8, 2.0), starts in 2..4usize) {
        let bound = |starts: usize| {
            brief(3).starts(starts).expectations(&machine, &evidence, Pairs::None).unwrap().log_z.unwrap()
        };
        prop_assert!(bound(starts) >= bound(starts - 1));
    }

    #[test]
    fn units_without_couplings_are_exact(biases in proptest::collection::vec(-5.0..5.0f64, 1..8), temperature in 0.5..2.0f64, count in 1..10usize) {
        let n = biases.len();
        let edges = n * (n - 1) / 2;
        let machine = topology::full(n).with_parameters(vec![0.0; edges], biases)
            .and_then(|machine| machine.with_temperature(temperature)).unwrap();
        check_against_brute_force(&mixture(count), &machine, &Evidence::none(n), 1e-12);
        let answer = mixture(count).expectations(&machine, &Evidence::none(n), Pairs::None).unwrap();
        prop_assert_eq!(answer.guarantee, Guarantee::Exact);
        prop_assert!(answer.diagnostics.converged);
    }
}

#[test]
fn moments_are_the_derivatives_of_the_bound() {
    for seed in 0..6 {
        let machine = uniform(6, 0.7, seed).with_temperature(1.3).unwrap();
        for components in [2, 3] {
            let engine = annealed(components, "20:4").tolerance(1e-11).max_sweeps(100_000);
            check_derivatives(&engine, &machine, &Evidence::none(6));
        }
    }
}

/// Without biases no value is preferred, and two components find both modes.
#[test]
fn a_symmetric_machine_gets_both_of_its_modes() {
    for strength in [0.2, 0.3, 0.5] {
        let machine = topology::full(8).with_parameters(vec![strength; 28], vec![0.0; 8]).unwrap();
        let nothing = Evidence::none(8);
        let truth = brute_force(&machine, &nothing);
        let found = mixture(2).expectations(&machine, &nothing, Pairs::Edges).unwrap();
        assert!(found.diagnostics.converged);
        for unit in 0..8 {
            close(found.means[unit], 0.0, 1e-4, "mean");
        }
        close(found.correlations.values[0], truth.pairs[0][1], 0.08, "pair moment");
        let one = MeanField::default().expectations(&machine, &nothing, Pairs::None).unwrap();
        assert!(truth.log_z - found.log_z.unwrap() < 0.4 * (truth.log_z - one.log_z.unwrap()), "{strength}");
    }
}

/// Flipped units with flipped couplings and biases are the same machine under other names. Starts
/// are not flipped along, so the best of several need not be the same; but no name is better than
/// another.
#[test]
fn flipped_units_have_bounds_as_good() {
    let nothing = Evidence::none(7);
    let (mut total, mut difference) = (0.0, 0.0);
    for seed in 0..20 {
        let machine = uniform(7, 0.8, seed);
        let sign = |unit: usize| if (seed as usize + unit).is_multiple_of(3) { -1.0 } else { 1.0 };
        let edges = machine.graph().edges().iter().zip(machine.weights());
        let weights = edges.map(|(&(a, b), w)| w * sign(a) * sign(b)).collect();
        let biases = machine.biases().iter().enumerate().map(|(unit, bias)| bias * sign(unit)).collect();
        let flipped = machine.clone().with_parameters(weights, biases).unwrap();
        let gap = |machine: &Machine| {
            let found = annealed(3, "20:5").starts(4).expectations(machine, &nothing, Pairs::None).unwrap();
            brute_force(machine, &nothing).log_z - found.log_z.unwrap()
        };
        let (one, other) = (gap(&machine), gap(&flipped));
        assert!((one - other).abs() < 0.1, "seed {seed}: {one} and {other}");
        total += one + other;
        difference += one - other;
    }
    assert!(difference.abs() < 0.1 * total, "{difference} of {total}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let machine = uniform(12, 0.5, 1);
    let cells = rows_of_evidence(12, 300, 0x5a5a_1234);
    let batch = Batch::new(12, &cells, &vec![1.0; 300]).unwrap();
    let on = |threads: usize, seed: u64| {
        let engine = brief(4).seed(seed);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| engine.batch(&machine, &batch, Ask { statistics: true, means: true }).unwrap())
    };
    assert_eq!(on(1, 5), on(3, 5));
    assert_ne!(on(1, 5), on(1, 6));
}

#[test]
fn strong_machines_are_bounded_without_nonsense() {
    for (scale, seed) in [(1e2, 0), (1e4, 1), (1e8, 2), (1e14, 3), (1e100, 4)] {
        let machine = uniform(7, scale, seed);
        let nothing = Evidence::none(7);
        let truth = brute_force(&machine, &nothing).log_z;
        for engine in [mixture(6), annealed(6, "1e9:3")] {
            let found = engine.expectations(&machine, &nothing, Pairs::All).unwrap();
            let bound = found.log_z.unwrap();
            assert!(bound <= truth * (1.0 + 1e-14) && bound > 0.0, "{bound} against {truth}");
            assert!(found.means.iter().chain(&found.correlations.values).all(|m| m.abs() <= 1.0));
        }
    }
}

#[test]
fn corner_cases_have_answers() {
    // One unit, no free units, a disconnected pair, many components on few units.
    let one = Machine::new(vec![Unit::new("a", 0.4)], []).unwrap();
    check_against_brute_force(&mixture(5), &one, &Evidence::none(1), 1e-12);
    let clamped = Evidence::from_cells(vec![1, -1, 1]).unwrap();
    check_against_brute_force(&mixture(5), &uniform(3, 1.0, 0), &clamped, 1e-12);
    let graph = Graph::new(5, [(0, 1), (3, 4)]).unwrap();
    let pairs = Machine::from_graph(graph).with_parameters(vec![1.0, -2.0], vec![0.1; 5]).unwrap();
    let truth = brute_force(&pairs, &Evidence::none(5)).log_z;
    let found = annealed(20, "10:4").expectations(&pairs, &Evidence::none(5), Pairs::All).unwrap();
    assert_eq!(found.guarantee, Guarantee::LowerBound);
    assert!(found.log_z.unwrap() <= truth && found.log_z.unwrap() > truth - 0.05, "{found:?}");
}

#[test]
fn what_cannot_be_done_is_refused() {
    let machine = uniform(4, 1.0, 0);
    let nothing = Evidence::none(4);
    let refusal = |engine: Mixture| engine.expectations(&machine, &nothing, Pairs::None).unwrap_err();
    assert!(refusal(mixture(0)).to_string().starts_with("components: found 0, expected at least 1"));
    assert!(matches!(refusal(mixture(usize::MAX)), Error::Setting { .. }));
    for components in [1, 3, 1 << 20] {
        let small = mixture(components).budget(Budget(100));
        let error = refusal(small);
        assert!(matches!(error, Error::OverBudget { who: "mixture", .. }), "{error}");
        let batch = Batch::new(4, &[0; 8], &[1.0; 2]).unwrap();
        let error = small.batch(&machine, &batch, Ask::default()).unwrap_err();
        assert!(matches!(error, Error::OverBudget { who: "mixture", .. }), "{error}");
    }
    let other = Batch::new(3, &[0; 6], &[1.0; 2]).unwrap();
    assert!(matches!(mixture(2).batch(&machine, &other, Ask::default()), Err(Error::Length { .. })));
    assert!(matches!(refusal(mixture(2).max_sweeps(0)), Error::Setting { .. }));
    assert!(mixture(2).components_of(&machine, &Evidence::none(3)).is_err());
}

/// On glassy lattices components easily end in modes worse than the one of mean field.
#[test]
fn a_mixture_is_never_below_mean_field() {
    let numbers = Numbers::Normal { mean: 0.0, deviation: 1.0 };
    let small = Numbers::Normal { mean: 0.0, deviation: 0.2 };
    for seed in 0..20 {
        let graph = Graph::grid(7, 7, topology::Neighbours::Four);
        let machine = Machine::from_graph(graph).with_numbers(&numbers, &small, seed).unwrap();
        let nothing = Evidence::none(49);
        for sweeps in [1, 3, 10_000] {
            let bound = |components: usize| {
                let engine = mixture(components).max_sweeps(sweeps);
                engine.expectations(&machine, &nothing, Pairs::None).unwrap().log_z.unwrap()
            };
            let alone = bound(1);
            for components in [2, 5] {
                let found = bound(components);
                assert!(found >= alone - 1e-9, "{seed} {sweeps} {components}: {found} {alone}");
            }
        }
    }
}
