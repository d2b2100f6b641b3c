//! log Z between two bounds: always, also when the searches are stopped early; and how far apart
//! they are.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::Arc;

use common::clamped_machines;
use isinglass::bracket::Bounds;
use isinglass::engine::Annealing;
use isinglass::likelihood::Phases;
use isinglass::topology::{self, Numbers};
use isinglass::{
    Bethe, Engine, Enumerate, Error, Evidence, Guarantee, LogDet, MeanField, Mixture, Pairs, Role,
    Structured, Table, Trw, score,
};
use proptest::prelude::*;

/// What rounding may add to a sum of this size.
fn rounding(log_z: f64) -> f64 {
    1e-10 * log_z.abs().max(1.0)
}

/// All bounds, each stopped after some steps.
fn stopped_after(steps: usize) -> Bounds {
    let sweeps = steps.max(1);
    let mixture = Mixture::new().max_sweeps(sweeps).components(3);
    let structured = Structured::new().max_sweeps(steps);
    let trw = Trw::new().max_sweeps(steps);
    Bounds::best(mixture, structured, trw, LogDet::new().max_sweeps(steps))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn log_z_is_between_the_bounds_also_when_stopped_early(
        (machine, evidence) in clamped_machines(9, 2.0),
        steps in prop_oneof![0..4usize, Just(1000)],
    ) {
        let truth = Enumerate::default().expectations(&machine, &evidence, Pairs::None).unwrap().log_z.unwrap();
        let bracket = stopped_after(steps).log_z(&machine, &evidence, Pairs::Edges).unwrap();
        prop_assert!(bracket.lower() <= truth + rounding(truth), "{} {truth}", bracket.lower());
        prop_assert!(truth <= bracket.upper() + rounding(truth), "{truth} {}", bracket.upper());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Hidden units, missing cells, inputs.
    #[test]
    fn likelihoods_are_between_their_bounds(
        numbers in proptest::collection::vec(-0.8..0.8f64, 15 + 6),
        cells in proptest::collection::vec(prop_oneof![Just(-1i8), Just(1), Just(0)], 4 * 12),
        input in any::<bool>(),
    ) {
        use isinglass::Role::{Hidden, Input, Visible};
        let names = ["a", "b", "c", "d", "h0", "h1"];
        let first = if input { Input } else { Visible };
        let machine = topology::full(6)
            .with_parameters(numbers[..15].to_vec(), numbers[15..].to_vec())
            .and_then(|machine| machine.with_names(names))
            .and_then(|machine| machine.with_roles(vec![first, Visible, Visible, Visible, Hidden, Hidden]))
            .unwrap();
        let table = Table::from_rows(names[..4].iter().copied(), cells.chunks(4)).unwrap();
        let exact = Enumerate::default();
        let truth = score::score(&machine, &table, Phases::both(&exact)).unwrap();
        let truth = truth.log_likelihood.unwrap();
        let bounds = stopped_after(200);
        let found = score::score_between(&machine, &table, &bounds, &bounds, &exact).unwrap();
        let bracket = found.bracket.unwrap();
        prop_assert!(bracket.lower <= truth + 1e-9 && truth <= bracket.upper + 1e-9, "{bracket:?} {truth}");
        prop_assert_eq!(found.log_likelihood, Some(bracket.lower));
    }
}

/// 100 fully connected machines of 10 units, weights and biases uniform on (−1, 1).
#[test]
fn the_bracket_of_ten_dense_units_is_narrow() {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let nothing = Evidence::none(10);
    let anneal = Some(Annealing { from: 60.0, steps: 8 });
    let mixture = Mixture::new().anneal(anneal).components(8);
    let annealed = Bounds::best(mixture, Structured::default(), Trw::default(), LogDet::default());
    let mut widths = [0.0, 0.0];
    for seed in 0..100 {
        let machine = topology::full(10).with_numbers(&numbers, &numbers, seed).unwrap();
        for (sum, bounds) in widths.iter_mut().zip([&Bounds::default(), &annealed]) {
            *sum += bounds.log_z(&machine, &nothing, Pairs::None).unwrap().width() / 100.0;
        }
    }
    assert!(widths[0] <= 0.8 && widths[1] <= 0.8, "{widths:?}");
}

#[test]
fn the_best_of_each_side_is_kept_and_what_is_no_bound_is_refused() {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let machine = topology::full(8).with_numbers(&numbers, &numbers, 1).unwrap();
    let nothing = Evidence::none(8);
    let ask = |below: Vec<Arc<dyn Engine>>, above: Vec<Arc<dyn Engine>>| {
        Bounds { below, above }.log_z(&machine, &nothing, Pairs::Edges)
    };
    let trees = || Arc::new(Trw::new().width(1));
    let both = ask(
        vec![Arc::new(MeanField::default()), Arc::new(Structured::default())],
        vec![trees(), Arc::new(Trw::default())],
    )
    .unwrap();
    let less = ask(vec![Arc::new(MeanField::default())], vec![trees()]).unwrap();
    assert_eq!((both.below.engine, both.above.engine), ("structured", "trw"));
    assert!(both.lower() > less.lower() && both.upper() < less.upper());
    assert_eq!(both.below.answer.correlations.values.len(), 28);
    let exact = Bounds::exact(Box::new(Enumerate::default())).log_z(&machine, &nothing, Pairs::None).unwrap();
    assert_eq!((exact.width(), exact.above.answer.guarantee), (0.0, Guarantee::Exact));
    assert!(both.lower() < exact.lower() && exact.upper() < both.upper());
    for (below, above, problem) in [
        (
            vec![Arc::new(Bethe::default()) as Arc<dyn Engine>],
            vec![trees() as Arc<dyn Engine>],
            "bethe cannot bound log Z from below",
        ),
        (vec![trees()], vec![trees()], "trw cannot bound log Z from below"),
        (
            vec![Arc::new(MeanField::default())],
            vec![Arc::new(MeanField::default())],
            "mean-field cannot bound log Z from above",
        ),
        (vec![Arc::new(MeanField::default())], vec![], "no engine for that side"),
    ] {
        let error = ask(below, above).unwrap_err();
        assert!(matches!(error, Error::CannotDo { .. }) && error.to_string().contains(problem), "{error}");
    }
}

/// Where both sides come within rounding of log Z, an exact answer is taken for both.
#[test]
fn an_exact_answer_leaves_no_width() {
    let coupling = [1e-12; 3].to_vec();
    let biases = vec![661_576.128_833_201_7, 181_955.442_158_167_25, -114_422.252_177_026_36, 77_934.844];
    let machine = topology::chain(4).with_parameters(coupling, biases).unwrap();
    for below in [vec![Arc::new(Mixture::default()) as Arc<dyn Engine>], Bounds::default().below] {
        let bounds = Bounds { below, ..Bounds::default() };
        let bracket = bounds.log_z(&machine, &Evidence::none(4), Pairs::None).unwrap();
        assert!(bracket.width() >= 0.0, "{bracket:?}");
    }
    let bracket = Bounds::default().log_z(&machine, &Evidence::none(4), Pairs::None).unwrap();
    assert_eq!((bracket.width(), bracket.below.answer.guarantee), (0.0, Guarantee::Exact));
    let table = Table::from_rows(["x0", "x1"], [[1, -1], [0, 1]]).unwrap();
    let machine = machine.with_roles([vec![Role::Visible; 2], vec![Role::Hidden; 2]].concat()).unwrap();
    let bounds = Bounds::default();
    let found = Bounds::log_likelihood(&machine, &table, &bounds, &bounds).unwrap();
    assert_eq!((found.guarantee, found.upper - found.lower), (Guarantee::Exact, 0.0));
}
