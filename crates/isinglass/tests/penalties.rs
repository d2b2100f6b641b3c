//! Penalties chosen by held-out rows: near the best of a dense grid, and the same on any threads.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use isinglass::learn::{
    Chosen, InformationGain, L1, L2, Learner, Likelihood, LikelihoodSettings, Need, Objective, Penalised,
    PenalisedLikelihood, PenalisedPseudoLikelihood, PseudoLikelihood, PseudoLikelihoodSettings,
    SampledLikelihood, Selection, start,
};
use isinglass::likelihood::{Phases, log_likelihood};
use isinglass::topology::{self, Numbers};
use isinglass::{Budget, Enumerate, Evidence, Graph, Machine, Sampler, Table, Temper};

fn drawn(truth: &Machine, rows: usize, seed: u64) -> Table {
    let units = truth.unit_count();
    let draws = Enumerate::default().draw(truth, &Evidence::none(units), rows, seed).unwrap();
    Table::from_rows(truth.names().iter().cloned(), draws.cells.chunks(units)).unwrap()
}

/// Independent units with the names of a machine, joined with each other.
fn begin(truth: &Machine, table: &Table) -> Machine {
    let full = Machine::from_graph(Graph::full(truth.unit_count()));
    start(&full.with_names(truth.names().iter().cloned()).unwrap(), table, 0, 0).unwrap()
}

fn l2() -> PenalisedPseudoLikelihood {
    PenalisedPseudoLikelihood::l2(PseudoLikelihoodSettings::default())
}

/// The exact log-likelihood of rows.
fn value(machine: &Machine, rows: &Table) -> f64 {
    log_likelihood(machine, rows, Phases::both(&Enumerate::default())).unwrap().value
}

#[test]
fn the_chosen_penalty_is_near_the_best_of_a_dense_grid_for_many_fresh_rows() {
    let exact = Enumerate::default();
    for (rows, seed) in [(60, 1), (200, 2), (1000, 3)] {
        let truth = topology::sherrington_kirkpatrick(9, 0.6, seed).unwrap();
        let (table, fresh) = (drawn(&truth, rows, seed), drawn(&truth, 40_000, seed + 100));
        let begin = begin(&truth, &table);
        let of = |penalty: f64| {
            value(&Likelihood::new(&exact).l2(penalty).fit(&begin, &table).unwrap().machine, &fresh)
        };
        let dense = (0..=40).map(|k| of(10f64.powf(0.5 - 0.12 * f64::from(k))));
        let best = dense.fold(f64::NEG_INFINITY, f64::max);
        let way = PenalisedLikelihood::l2(Phases::both(&exact), LikelihoodSettings::default());
        let chosen = Selection { seed: 0 }.run(&way, &begin, &table, None).unwrap();
        let (found, none, strong) = (of(chosen.penalty), of(0.0), of(1.0));
        // A share of what a penalty can gain, and of what the estimation of 45 parameters costs: with
        // many rows there is nothing to gain.
        let cost = 45.0 / (2.0 * rows as f64);
        let near = |found: f64, share: f64| best - found < share * (best - none) + 0.1 * cost;
        assert!(near(found, 0.15), "{rows} rows: {found}, best {best}, none {none}");
        assert!(found > none - 0.1 * cost && found > strong, "{rows} rows: {found}, {none}, {strong}");
        // By pseudo-likelihood, halved, it is as good.
        let pseudo = Selection { seed: 0 }.run(&l2(), &begin, &table, None).unwrap();
        let halved = of(0.5 * pseudo.penalty);
        assert!(near(halved, 0.25), "{rows} rows: {halved}, best {best}, none {none}");
    }
}

#[test]
fn paths_are_ordered_and_the_largest_held_out_value_is_chosen_on_any_number_of_threads() {
    let truth = topology::sherrington_kirkpatrick(8, 0.5, 4).unwrap();
    let (table, other) = (drawn(&truth, 150, 4), drawn(&truth, 150, 5));
    let begin = begin(&truth, &table);
    let on = |threads: usize, validate: Option<&Table>| -> Chosen {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Selection { seed: 7 }.run(&l2(), &begin, &table, validate).unwrap())
    };
    for validate in [None, Some(&other)] {
        let chosen = on(1, validate);
        assert_eq!(chosen, on(2, validate));
        assert!(chosen.path.windows(2).all(|pair| pair[0].penalty > pair[1].penalty));
        let best = chosen.best().unwrap();
        assert!(chosen.path.iter().all(|tried| tried.held_out <= best.held_out && tried.error > 0.0));
        assert_eq!(chosen.rows, 150.0);
    }
    // With rows of its own, the value is that of a fit to the whole table.
    let chosen = on(1, Some(&other));
    let best = chosen.best().unwrap();
    let fit = PseudoLikelihood::new().l2(best.penalty).fit(&begin, &table).unwrap();
    let values = l2().values(&fit.machine, &other).unwrap();
    let sum: f64 = values.iter().enumerate().map(|(row, x)| other.weight(row) * x).sum();
    // Fits of a path have a tolerance of 1e-5.
    assert!((sum / 150.0 - best.held_out).abs() < 1e-5, "{sum}, {}", best.held_out);
    let again = Selection { seed: 8 }.run(&l2(), &begin, &table, None).unwrap();
    assert_ne!(again.path, on(1, None).path, "another seed holds other rows out");
}

#[test]
fn l1_by_held_out_rows_finds_every_coupling_of_a_chain_and_drops_most_others() {
    let numbers = Numbers::Uniform { low: -0.2, high: 0.2 };
    let truth = topology::chain(15).with_numbers(&Numbers::Signs(0.6), &numbers, 3).unwrap();
    let table = drawn(&truth, 500, 6);
    let begin = begin(&truth, &table);
    let way = PenalisedPseudoLikelihood::l1(PseudoLikelihoodSettings::default());
    let chosen = Selection { seed: 0 }.run(&way, &begin, &table, None).unwrap();
    let fit = PseudoLikelihood::new().l1(Some(L1::Weight(chosen.penalty))).fit(&begin, &table).unwrap();
    let graph = fit.machine.graph();
    assert!(truth.graph().edges().iter().all(|&(a, b)| graph.edge_between(a, b).is_some()));
    assert!(graph.edges().len() < 60, "{} of 105 couplings", graph.edges().len());
}

#[test]
fn determined_columns_and_few_rows_need_a_penalty_and_others_do_not() {
    let truth = topology::sherrington_kirkpatrick(6, 0.4, 2).unwrap();
    let need = |table: &Table| {
        let full = Machine::from_graph(Graph::full(table.columns().len()));
        let begin = start(&full.with_names(table.columns().to_vec()).unwrap(), table, 0, 0).unwrap();
        Need::of(&begin, table, Budget::default()).unwrap()
    };
    let rows = drawn(&truth, 800, 3);
    assert_eq!(need(&rows), None);
    assert!(matches!(need(&drawn(&truth, 40, 3)), Some(Need::FewRows { rows: 40.0, parameters: 6.0 })));
    // A copy of the first column, and a constant one, which no penalty helps.
    let mut copied = Table::new(["a", "b", "c", "d", "e", "f", "copy", "constant"]).unwrap();
    for row in 0..rows.distinct_count() {
        let cells: Vec<i8> = rows.row(row).iter().copied().chain([rows.row(row)[0], 1]).collect();
        copied.push(&cells, rows.weight(row)).unwrap();
    }
    assert_eq!(need(&copied), Some(Need::Determined(vec!["a".into(), "copy".into()])));
}

#[test]
fn learners_refuse_a_penalty_that_was_not_chosen_and_selections_rows_that_do_not_fit() {
    let truth = topology::sherrington_kirkpatrick(4, 0.4, 2).unwrap();
    let table = drawn(&truth, 50, 3);
    let begin = begin(&truth, &table);
    let refused = |learner: &dyn Learner, words: &str| {
        let message = learner.fit(&begin, &table).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    };
    refused(&PseudoLikelihood::new().l2(L2::Auto), "l2");
    refused(&PseudoLikelihood::new().l1(Some(L1::Auto)), "l1");
    refused(&Likelihood::new(&Enumerate::default()).l2(L2::Auto), "l2");
    let run = |validate: &Table| {
        Selection { seed: 0 }.run(&l2(), &begin, &table, Some(validate)).unwrap_err().to_string()
    };
    let other = Table::from_rows(["x0", "x1", "x2", "y"], [[1, 1, 1, -1]]).unwrap();
    assert!(run(&other).starts_with("column 'y': the machine has no unit of that name"));
    let gaps = Table::from_rows(truth.names(), [[1, 0, 1, -1]]).unwrap();
    assert!(run(&gaps).contains("missing cells"));
}

/// A table with some cells taken out.
fn with_gaps(table: &Table) -> Table {
    let mut gaps = Table::new(table.columns().iter().cloned()).unwrap();
    for row in 0..table.distinct_count() {
        let mut cells = table.row(row).to_vec();
        cells[row % table.columns().len()] = 0;
        gaps.push(&cells, table.weight(row)).unwrap();
    }
    gaps
}

/// The couplings of a machine on the full structure of another, those that left the graph as 0, with the
/// exact gradient of the log-likelihood.
fn slopes(full: &Machine, machine: &Machine, table: &Table) -> Vec<(f64, f64)> {
    let weight = |&(a, b): &(usize, usize)| {
        machine.graph().edge_between(a, b).map_or(0.0, |edge| machine.weights()[edge])
    };
    let weights: Vec<f64> = full.graph().edges().iter().map(weight).collect();
    let whole = full.clone().with_parameters(weights.clone(), machine.biases().to_vec()).unwrap();
    let exact = Enumerate::default();
    let gain = InformationGain::new(Phases::both(&exact), &whole, table, 0.0).unwrap();
    let parameters = gain.parameters_of(&whole);
    let mut gradient = vec![0.0; parameters.len()];
    gain.value_and_gradient(&parameters, &mut gradient).unwrap();
    weights.into_iter().zip(gradient).collect()
}

/// What is left has the slope λ towards larger values, what has left a smaller one.
#[test]
fn a_likelihood_with_l1_ends_at_an_optimum_also_with_missing_cells() {
    let exact = Enumerate::default();
    let truth = topology::sherrington_kirkpatrick(8, 0.8, 5).unwrap();
    let whole = drawn(&truth, 300, 5);
    for table in [with_gaps(&whole), whole] {
        let begin = begin(&truth, &table);
        let lambda = 0.06;
        let fit = Likelihood::new(&exact).l1(Some(L1::Weight(lambda))).fit(&begin, &table).unwrap();
        assert!(fit.converged);
        let kept = fit.machine.weights().len();
        assert!(kept > 3 && kept < 25, "{kept} of 28 couplings");
        for (weight, slope) in slopes(&begin, &fit.machine, &table) {
            if weight == 0.0 {
                assert!(slope.abs() <= lambda + 1e-6, "{slope}");
            } else {
                assert!((slope - lambda * weight.signum()).abs() < 1e-6, "{weight}: {slope}");
            }
        }
    }
}

/// The exact objective is within what sampling errors cost, parameters / 2T with T = 2¹⁴ independent
/// states at least, and couplings that are surely 0, or surely not, are so.
#[test]
fn a_sampled_likelihood_with_l1_is_the_exact_one() {
    let exact = Enumerate::default();
    for seed in 6..9 {
        let truth = topology::sherrington_kirkpatrick(10, 0.8, seed).unwrap();
        let table = drawn(&truth, 500, seed);
        let begin = begin(&truth, &table);
        let lambda = 0.05;
        let settings = LikelihoodSettings::default().l1(Some(L1::Weight(lambda)));
        let best = Likelihood::new(&exact).with_settings(settings).fit(&begin, &table).unwrap().machine;
        let sampled = SampledLikelihood::new(Temper::new(), &exact).with_settings(settings);
        let found = sampled.fit(&begin, &table).unwrap();
        assert!(found.converged);
        let objective = |machine: &Machine| {
            value(machine, &table) - lambda * machine.weights().iter().map(|w| w.abs()).sum::<f64>()
        };
        let (least, most) = (objective(&found.machine), objective(&best));
        assert!(least <= most + 1e-9 && least > most - 55.0 / f64::from(1 << 15), "{least} {most}");
        let pairs = slopes(&begin, &best, &table).into_iter().zip(slopes(&begin, &found.machine, &table));
        for ((weight, slope), (other, _)) in pairs {
            assert!((weight - other).abs() < 0.02, "{weight} {other}");
            assert!(weight.abs() < 0.02 || other != 0.0, "{weight} has left");
            assert!(slope.abs() > 0.9 * lambda || other == 0.0, "slope {slope}: {other} has come");
        }
    }
}
