//! Contrastive divergence: gradients against enumeration and plain loops, fits against maximum
//! likelihood, resuming, threads, errors.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::LazyLock;

use common::contrastive::{Keeper, PLAIN, bits, chance_rows, two_layers};
use common::{brute_force, close};
use isinglass::learn::{
    ContrastiveDivergence, Learner, Likelihood, MeanFieldCd, NoObserver, Objective, PseudoGain, start,
};
use isinglass::topology::{self, Links};
use isinglass::{Budget, Enumerate, Error, Evidence, Machine, Role, Sampler, Table, Unit};
use proptest::prelude::*;

static MEANS: LazyLock<MeanFieldCd> = LazyLock::new(|| {
    MeanFieldCd::new()
        .damping(0.3)
        .rate(0.1)
        .momentum(0.5)
        .iterations(50)
        .tolerance(1e-8)
        .budget(Budget(1 << 30))
});

/// Rows with weights, each given many times.
fn repeated(names: &[&str], rows: &[(&[i8], f64)], times: usize) -> Table {
    let mut table = Table::new(names.iter().copied()).unwrap();
    for _ in 0..times {
        for (row, weight) in rows {
            table.push(row, *weight).unwrap();
        }
    }
    table
}

/// The gradient of the log-likelihood by sums over all states: couplings, then biases, 0 for those
/// of inputs.
fn exact_gradient(machine: &Machine, table: &Table) -> Vec<f64> {
    let n = machine.unit_count();
    let edges = machine.graph().edges();
    let is_input = |unit: usize| machine.roles()[unit] == Role::Input;
    let batch = table.evidence_for(machine).unwrap();
    let mut gradient = vec![0.0; edges.len() + n];
    let total: f64 = batch.weights().iter().sum();
    for row in 0..batch.row_count() {
        let cells = batch.row(row);
        let inputs = (0..n).map(|unit| if is_input(unit) { cells[unit] } else { 0 }).collect();
        let weight = batch.weights()[row] / total / machine.temperature();
        for (cells, sign) in [(cells.to_vec(), weight), (inputs, -weight)] {
            let moments = brute_force(machine, &Evidence::from_cells(cells).unwrap());
            for (k, &(a, b)) in edges.iter().enumerate() {
                gradient[k] += sign * moments.pairs[a][b];
            }
            for unit in 0..n {
                gradient[edges.len() + unit] += sign * moments.means[unit];
            }
        }
    }
    for (k, &(a, b)) in edges.iter().enumerate() {
        if is_input(a) && is_input(b) {
            gradient[k] = 0.0;
        }
    }
    for unit in (0..n).filter(|&unit| is_input(unit)) {
        gradient[edges.len() + unit] = 0.0;
    }
    gradient
}

/// What a step of rate 1 adds to couplings and biases.
fn step_of(learner: &dyn Learner, machine: &Machine, table: &Table) -> Vec<f64> {
    let fit = learner.fit(machine, table).unwrap();
    assert_eq!(fit.iterations(), 1);
    let after = fit.machine.weights().iter().chain(fit.machine.biases());
    after.zip(machine.weights().iter().chain(machine.biases())).map(|(x, y)| x - y).collect()
}

#[test]
fn many_sweeps_give_the_gradient_of_the_likelihood() {
    let names = ["v0", "v1", "v2", "v3"];
    let complete: &[(&[i8], f64)] = &[(&[1, 1, -1, 1], 3.0), (&[-1, 1, 1, -1], 1.0)];
    let gaps: &[(&[i8], f64)] = &[(&[1, 0, -1, 1], 3.0), (&[-1, 1, 1, 0], 1.0), (&[0, 0, 1, 1], 1.5)];
    let cases = [
        ("layers", two_layers((4, &Links::None), (3, &Links::None), false, 1), complete),
        ("layers, gaps, input", two_layers((4, &Links::None), (3, &Links::None), true, 2), gaps),
        ("visible links", two_layers((4, &Links::Full), (2, &Links::None), false, 3), gaps),
        ("hidden links, input", two_layers((4, &Links::Chain), (3, &Links::Chain), true, 4), gaps),
        ("fully visible", two_layers((4, &Links::Full), (0, &Links::None), true, 5), complete),
    ];
    for (name, machine, rows) in cases {
        let table = repeated(&names, rows, 30_000 / rows.len());
        let exact = exact_gradient(&machine, &table);
        assert!(exact.iter().any(|g| g.abs() > 0.1), "{name}: a gradient to be found");
        for persistent in [false, true] {
            // Inputs of persistent chains change from one mini-batch to the next, here there is one only.
            let learner = PLAIN
                .steps(25)
                .clamped_sweeps(25)
                .persistent(persistent)
                // All rows at once: an epoch has as many as whole weights add up to.
                .batch(table.row_count() + table.total_weight() as usize)
                .iterations(1)
                .rate(1.0)
                .seed(3);
            let found = step_of(&learner, &machine, &table);
            // Two averages of numbers between −1 and +1: four standard errors, and what 25 sweeps leave of the start.
            let error = 4.0 * (2.0 / table.row_count() as f64).sqrt() / machine.temperature() + 1e-3;
            for (k, (x, y)) in found.iter().zip(&exact).enumerate() {
                assert!((x - y).abs() < error, "{name}, persistent {persistent}, {k}: {x}, exact {y}");
            }
        }
    }
}

#[test]
fn one_sweep_is_not_enough_for_the_gradient_of_the_likelihood() {
    // The test above can fail: with one sweep the bias is many standard errors.
    let machine = two_layers((4, &Links::Full), (3, &Links::Chain), false, 4);
    let rows: &[(&[i8], f64)] = &[(&[1, 1, -1, 1], 1.0), (&[-1, 1, 1, -1], 1.0)];
    let table = repeated(&["v0", "v1", "v2", "v3"], rows, 10_000);
    let learner = PLAIN.batch(10 * table.row_count()).iterations(1).rate(1.0);
    let found = step_of(&learner, &machine, &table);
    let apart = found.iter().zip(exact_gradient(&machine, &table)).map(|(x, y)| (x - y).abs());
    assert!(apart.fold(0.0, f64::max) > 0.1);
}

#[test]
fn fits_without_hidden_units_come_to_maximum_likelihood() {
    let truth = two_layers((4, &Links::Full), (0, &Links::None), false, 8);
    let engine = Enumerate::default();
    let draws = engine.draw(&truth, &Evidence::none(4), 2000, 5).unwrap();
    let table = Table::from_rows(truth.names().iter().cloned(), draws.cells.chunks(4)).unwrap();
    let begin = start(&truth, &table, 0, 0).unwrap();
    let best = Likelihood::new(&engine).fit(&begin, &table).unwrap();
    for persistent in [false, true] {
        let learner =
            PLAIN.steps(5).persistent(persistent).batch(500).iterations(150).rate(0.3).rate_decay(0.1);
        let fit = learner.fit(&begin, &table).unwrap();
        assert_eq!((fit.stopped.to_string().as_str(), fit.converged), ("made all 150 epochs", false));
        let numbers = |machine: &Machine| [machine.weights(), machine.biases()].concat();
        for (x, y) in numbers(&fit.machine).iter().zip(numbers(&best.machine)) {
            assert!((x - y).abs() < 0.05, "persistent {persistent}: {x}, likelihood {y}");
        }
    }
}

/// A step of mean-field contrastive divergence, by plain loops over rows, units and pairs.
fn plain_step(machine: &Machine, table: &Table, steps: usize, damping: f64) -> Vec<f64> {
    let n = machine.unit_count();
    let edges = machine.graph().edges();
    let role = |unit: usize| machine.roles()[unit];
    let mut coupling = vec![vec![0.0; n]; n];
    for (&(a, b), &w) in edges.iter().zip(machine.weights()) {
        coupling[a][b] = w;
        coupling[b][a] = w;
    }
    let mean = |means: &[f64], unit: usize| {
        let pull: f64 = (0..n).map(|other| coupling[unit][other] * means[other]).sum();
        ((machine.biases()[unit] + pull) / machine.temperature()).tanh()
    };
    let batch = table.evidence_for(machine).unwrap();
    let total: f64 = batch.weights().iter().sum();
    let mut gradient = vec![0.0; edges.len() + n];
    for row in 0..batch.row_count() {
        let cells = batch.row(row);
        let mut means: Vec<f64> = cells.iter().map(|&cell| f64::from(cell)).collect();
        // Hidden units first: where there are several fixed points, the order decides which one is met.
        let mut free: Vec<usize> = (0..n).filter(|&unit| cells[unit] == 0).collect();
        free.sort_by_key(|&unit| role(unit) != Role::Hidden);
        for _ in 0..1000 {
            for &unit in &free {
                means[unit] = mean(&means, unit);
            }
        }
        let mut add = |means: &[f64], sign: f64| {
            let weight = sign * batch.weights()[row] / total / machine.temperature() / (1.0 - damping);
            edges.iter().enumerate().for_each(|(k, &(a, b))| gradient[k] += weight * means[a] * means[b]);
            (0..n).for_each(|unit| gradient[edges.len() + unit] += weight * means[unit]);
        };
        add(&means, 1.0);
        for _ in 0..steps {
            for hidden in [false, true] {
                for unit in (0..n).filter(|&unit| (role(unit) == Role::Hidden) == hidden) {
                    if role(unit) != Role::Input || cells[unit] == 0 {
                        means[unit] = damping * means[unit] + (1.0 - damping) * mean(&means, unit);
                    }
                }
            }
        }
        add(&means, -1.0);
    }
    for unit in (0..n).filter(|&unit| role(unit) == Role::Input) {
        gradient[edges.len() + unit] = 0.0;
    }
    for (k, &(a, b)) in edges.iter().enumerate() {
        if role(a) == Role::Input && role(b) == Role::Input {
            gradient[k] = 0.0;
        }
    }
    gradient
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn steps_of_means_are_those_of_plain_loops(
        visible in 2..6usize, hidden in 0..4usize, input: bool, gaps: bool, links: bool, steps in 1..4usize, damping in 0.0..0.9, seed: u64,
    ) {
        let of = |some: bool| if some { &Links::Full } else { &Links::None };
        let machine = two_layers((visible, of(links)), (hidden, of(!links)), input, seed);
        let table = chance_rows(visible, 45, gaps, seed);
        let learner = MEANS.steps(steps).damping(damping).rate(1.0).momentum(0.0).iterations(1).tolerance(0.0);
        let found = step_of(&learner, &machine, &table);
        for (x, y) in found.iter().zip(plain_step(&machine, &table, steps, damping)) {
            close(*x, y, 1e-12, "gradient");
        }
    }

    #[test]
    fn means_do_not_care_what_is_called_up(visible in 2..6usize, hidden in 0..3usize, seed: u64) {
        let machine = two_layers((visible, &Links::Chain), (hidden, &Links::Full), false, seed);
        let table = chance_rows(visible, 30, true, seed);
        let flipped = seed as usize % visible;
        let mut mirrored = Table::new(table.columns().iter().cloned()).unwrap();
        for row in 0..table.distinct_count() {
            let mut cells = table.row(row).to_vec();
            cells[flipped] = -cells[flipped];
            mirrored.push(&cells, table.weight(row)).unwrap();
        }
        let mirror = |machine: &Machine| {
            let sign = |turned: bool| if turned { -1.0 } else { 1.0 };
            let edges = machine.graph().edges().iter().zip(machine.weights());
            let weights = edges.map(|(&(a, b), w)| w * sign(a == flipped || b == flipped)).collect();
            let biases = machine.biases().iter().enumerate().map(|(k, b)| b * sign(k == flipped)).collect();
            machine.clone().with_parameters(weights, biases).unwrap()
        };
        let fit = MEANS.fit(&machine, &table).unwrap();
        let other = MEANS.fit(&mirror(&machine), &mirrored).unwrap();
        let back = mirror(&other.machine);
        for (x, y) in fit.machine.weights().iter().chain(fit.machine.biases()).zip(back.weights().iter().chain(back.biases())) {
            close(*x, *y, 1e-10, "parameter");
        }
        close(fit.history[50].objective, other.history[50].objective, 1e-10, "objective");
    }
}

#[test]
fn means_settle_where_their_plain_gradient_vanishes() {
    let table = chance_rows(5, 60, false, 9);
    for (hidden, l2) in [(0, 0.0), (2, 0.05)] {
        let machine = two_layers((5, &Links::Chain), (hidden, &Links::Chain), false, 6);
        let learner = MEANS.iterations(20_000).l2(l2).momentum(0.9);
        let fit = learner.fit(&machine, &table).unwrap();
        assert!(fit.converged && fit.stopped.to_string().contains("1e-8"), "{}", fit.stopped);
        let gradient = plain_step(&fit.machine, &table, 1, MEANS.damping);
        let penalty = fit.machine.weights().iter().map(|w| l2 * w).chain([0.0; 7]);
        assert!(gradient.iter().zip(penalty).all(|(g, p)| (g - p).abs() < 1.001e-8));
        let short = learner.iterations(3).fit(&machine, &table).unwrap();
        assert!(!short.converged && short.stopped.to_string().contains("limit of 3"), "{}", short.stopped);
    }
}

#[test]
fn much_damping_gives_the_gradient_of_the_pseudo_likelihood() {
    let machine = two_layers((5, &Links::Full), (0, &Links::None), true, 6);
    let table = chance_rows(5, 60, false, 9);
    let gain = PseudoGain::new(&machine, &table, 0.0, Budget::default()).unwrap();
    let mut exact = vec![0.0; gain.parameters_of(&machine).len()];
    gain.value_and_gradient(&gain.parameters_of(&machine), &mut exact).unwrap();
    let learner = MEANS.damping(1.0 - 1e-7).rate(1.0).momentum(0.0).iterations(1).tolerance(0.0);
    let found = step_of(&learner, &machine, &table);
    // The last unit is an input, whose bias is not among the trained parameters.
    for (x, y) in found.iter().zip(exact) {
        close(*x, y, 1e-6, "gradient");
    }
}

#[test]
fn weights_count_as_repetition() {
    let machine = two_layers((4, &Links::Chain), (2, &Links::None), false, 6);
    let mut once = Table::new(["v0", "v1", "v2", "v3"]).unwrap();
    let mut twice = once.clone();
    for (row, weight) in
        [([1, 1, -1, 1], 1.0), ([-1, 1, 1, -1], 2.0), ([1, -1, 1, 1], 0.0), ([1, 1, 1, -1], 1.0)]
    {
        once.push(&row, 3.0 * weight).unwrap();
        (0..weight as usize).for_each(|_| twice.push(&row, 1.0).unwrap());
    }
    let fits = [&once, &twice].map(|table| MEANS.fit(&machine, table).unwrap());
    for (x, y) in fits[0].machine.weights().iter().zip(fits[1].machine.weights()) {
        close(*x, *y, 1e-12, "coupling");
    }
}

#[test]
fn fits_resume_from_every_iteration_with_the_same_bits() {
    let layers = two_layers((6, &Links::None), (3, &Links::None), true, 2);
    let linked = two_layers((6, &Links::Chain), (3, &Links::Chain), false, 2);
    let table = chance_rows(6, 70, true, 4);
    let sampled = PLAIN.iterations(6).momentum(0.7).rate_decay(0.1).l2(0.01);
    let persistent = sampled.persistent(true).chains(Some(23));
    let means = MEANS.iterations(6).l2(0.01);
    let learners: [&dyn Learner; 4] = [&sampled, &persistent, &means, &means.batch(Some(16))];
    for learner in learners {
        for machine in [&layers, &linked] {
            let mut keeper = Keeper { states: Vec::new(), reported: Vec::new(), last: usize::MAX };
            let whole = learner.fit_with(machine, &table, &mut keeper).unwrap();
            assert_eq!(keeper.reported, (0..=6).collect::<Vec<_>>());
            for (k, state) in keeper.states.iter().enumerate() {
                let mut rest = Keeper { states: Vec::new(), reported: Vec::new(), last: usize::MAX };
                let fit = learner.fit_from(machine, &table, Some(state), &mut rest).unwrap();
                assert_eq!(rest.reported, (k + 1..=6).collect::<Vec<_>>());
                assert_eq!(bits(&fit), bits(&whole), "{} from {k}", learner.name());
                assert_eq!(rest.states, keeper.states[k + 1..]);
                assert_eq!(fit.stopped, whole.stopped);
            }
            let mut short = Keeper { states: Vec::new(), reported: Vec::new(), last: 2 };
            let stopped = learner.fit_with(machine, &table, &mut short).unwrap();
            assert_eq!(
                (stopped.iterations(), stopped.stopped.to_string().as_str()),
                (2, "stopped on request")
            );
            let other = two_layers((5, &Links::None), (3, &Links::None), false, 2);
            let fewer = chance_rows(5, 70, true, 4);
            let mut nobody = NoObserver;
            assert!(learner.fit_from(&other, &fewer, Some(&short.states[0]), &mut nobody).is_err());
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let layers = two_layers((40, &Links::None), (30, &Links::None), false, 2);
    let linked = two_layers((40, &Links::Chain), (30, &Links::Chain), false, 2);
    let table = chance_rows(40, 2500, true, 4);
    let sampled = PLAIN.iterations(2).batch(1700);
    let persistent = sampled.persistent(true).chains(Some(1800));
    let means = MEANS.iterations(2);
    let learners: [&(dyn Learner + Sync); 3] = [&sampled, &persistent, &means];
    for machine in [&layers, &linked] {
        for learner in learners {
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                bits(&pool.install(|| learner.fit(machine, &table)).unwrap())
            };
            assert_eq!(on(1), on(2), "{}", learner.name());
        }
    }
}

#[test]
fn seeds_tell_fits_apart_and_objectives_rise() {
    let machine = two_layers((6, &Links::None), (3, &Links::None), false, 2);
    let rows: &[(&[i8], f64)] = &[(&[1, 1, 1, -1, -1, -1], 1.0), (&[-1, -1, -1, 1, 1, 1], 1.0)];
    let table = repeated(&["v0", "v1", "v2", "v3", "v4", "v5"], rows, 100);
    for persistent in [false, true] {
        let learner = PLAIN.persistent(persistent);
        let fit = learner.fit(&machine, &table).unwrap();
        assert_eq!(bits(&fit), bits(&learner.fit(&machine, &table).unwrap()));
        let other = learner.seed(1);
        assert_ne!(bits(&fit), bits(&other.fit(&machine, &table).unwrap()));
        let (first, last) = (fit.history[0].objective, fit.history[10].objective);
        assert!(first < -4.0 && last > -1.0, "from {first} to {last}");
        assert!(fit.log_likelihood.is_none());
    }
}

#[test]
fn without_hidden_units_the_objective_is_the_pseudo_likelihood() {
    let machine = two_layers((5, &Links::Full), (0, &Links::None), true, 2);
    let table = chance_rows(5, 300, false, 8);
    let gain = PseudoGain::new(&machine, &table, 0.0, Budget::default()).unwrap();
    let exact = gain.value(&gain.parameters_of(&machine)).unwrap();
    let begin = |learner: &dyn Learner| learner.fit(&machine, &table).unwrap().history[0].objective;
    close(begin(&MEANS.iterations(0)), exact, 1e-12, "objective of means");
    close(begin(&PLAIN.iterations(0)), exact, 1e-5, "objective of samples");
}

#[test]
fn odd_machines_work() {
    let one = topology::full(1).with_names(["v0"]).unwrap();
    let alone =
        Machine::new(vec![Unit::new("v0", 0.1), Unit { role: Role::Hidden, ..Unit::new("h", 0.2) }], [])
            .unwrap();
    let given = Machine::new(vec![Unit { role: Role::Input, ..Unit::new("v0", 0.1) }], []).unwrap();
    let zero = two_layers((1, &Links::None), (2, &Links::Full), false, 1);
    let zero = zero.clone().with_parameters(vec![0.0; 3], vec![0.0; 3]).unwrap();
    let table = Table::from_rows(["v0"], [[1], [1], [-1], [0], [1]]).unwrap();
    for machine in [one, alone, given, zero] {
        for persistent in [false, true] {
            let learner = PLAIN.persistent(persistent).iterations(30).momentum(0.5);
            let fit = learner.fit(&machine, &table).unwrap();
            let visible = machine.roles()[0] == Role::Visible;
            assert_eq!(fit.machine.biases()[0] > machine.biases()[0], visible);
        }
        assert!(MEANS.fit(&machine, &table).unwrap().iterations() <= 50);
    }
}

#[test]
fn what_cannot_be_done_is_refused() {
    let machine = topology::rbm(2, 2).unwrap();
    let table = Table::from_rows(["v0", "v1"], [[1, 1], [-1, 1]]).unwrap();
    let message =
        |learner: &dyn Learner, table: &Table| learner.fit(&machine, table).unwrap_err().to_string();
    let refused = |learner: ContrastiveDivergence, word: &str| {
        let found = message(&learner, &table);
        assert!(found.contains(word), "{found}");
    };
    refused(PLAIN.rate(f64::NAN), "rate");
    refused(PLAIN.rate(0.0), "rate");
    refused(PLAIN.momentum(1.0), "momentum");
    refused(PLAIN.batch(0), "batch");
    refused(PLAIN.steps(0), "steps");
    refused(PLAIN.chains(Some(0)), "chains");
    refused(PLAIN.clamped_sweeps(0), "clamped_sweeps");
    refused(PLAIN.l2(-1.0), "l2");
    refused(PLAIN.rate_decay(f64::INFINITY), "rate_decay");
    refused(PLAIN.budget(Budget(100)), "budget");
    for (learner, word) in [
        (MEANS.rate(-1.0), "rate"),
        (MEANS.momentum(-0.1), "momentum"),
        (MEANS.steps(0), "steps"),
        (MEANS.damping(1.0), "damping"),
        (MEANS.batch(Some(0)), "batch"),
        (MEANS.tolerance(f64::NAN), "tolerance"),
        (MEANS.budget(Budget(100)), "budget"),
    ] {
        let found = message(&learner, &table);
        assert!(found.contains(word), "{found}");
    }
    let mut many = Table::new(["v0", "v1"]).unwrap();
    many.push(&[1, 1], 2e9).unwrap();
    assert!(message(&*PLAIN, &many).contains("2000000000 rows of an epoch"));
    let mut light = Table::new(["v0", "v1"]).unwrap();
    light.push(&[1, 1], 0.0).unwrap();
    assert_eq!(message(&*PLAIN, &light), "table: the rows have no weight");
    assert_eq!(message(&*MEANS, &light), "table: the rows have no weight");
    let huge = machine.clone().with_parameters(vec![1e40; 4], vec![0.0; 4]).unwrap();
    assert!(PLAIN.fit(&huge, &table).is_err());
}

/// A learner by how many iterations it may make.
type ByLimit<'a> = &'a dyn Fn(usize) -> Box<dyn Learner>;

#[test]
fn a_fit_that_runs_away_keeps_the_last_machine_that_was_sound() {
    let machine = two_layers((2, &Links::None), (2, &Links::None), false, 1);
    let table = Table::from_rows(["v0", "v1"], [[1, 1], [-1, 1]]).unwrap();
    // A penalty whose steps overshoot makes couplings ten times as large at every one.
    let sampled = PLAIN.rate(0.1).l2(110.0);
    let means = MEANS.rate(0.1).l2(110.0).momentum(0.0);
    let learners: [(ByLimit<'_>, &str); 3] = [
        (&|epochs| Box::new(sampled.iterations(epochs)), "epoch"),
        (&|iterations| Box::new(means.iterations(iterations)), "iteration"),
        (&|iterations| Box::new(means.iterations(iterations).batch(Some(1))), "iteration"),
    ];
    for (learner, word) in learners {
        let fit = learner(1000).fit(&machine, &table).unwrap();
        let last = fit.iterations();
        assert!(last > 10 && !fit.converged && fit.kept == last, "{last} {word}s");
        let expected = format!(
            "diverged: parameters run away in {word} {}, and the machine of the one before is kept; a rate below 0.1 is needed",
            last + 1
        );
        assert_eq!(fit.stopped.to_string(), expected);
        let shorter = learner(last).fit(&machine, &table).unwrap();
        assert_eq!(bits(&fit), bits(&shorter));
        assert_eq!(fit.diagnostics, shorter.diagnostics);
    }
    // Where there is nothing before it, it is an error.
    for (learner, word) in [(&PLAIN.rate(1e200) as &dyn Learner, "epoch"), (&MEANS.rate(1e200), "iteration")]
    {
        let error = learner.fit(&machine, &table).unwrap_err();
        let words = format!("diverged: parameters run away in {word} 1; a rate below 1e200 is needed");
        assert!(matches!(error, Error::Numerical { .. }) && error.to_string().contains(&words), "{error}");
    }
}
