//! Learning: gradients against finite differences, moments against data, likelihoods against sums
//! over states.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::ops::ControlFlow;
use std::sync::LazyLock;

use common::{brute_force, close};
use isinglass::learn::{
    Factorized, InformationGain, Learner, Likelihood, Objective, Optimizer, PseudoLikelihood,
};
use isinglass::likelihood::Phases;
use isinglass::topology::{self, Links, Numbers};
use isinglass::{
    Ask, Batch, Decimate, Eliminate, Engine, Enumerate, Error, Evidence, Gibbs, Graph, Guarantee, Machine,
    Note, Pairs, Role, Table, score,
};
use proptest::prelude::*;

static ENGINE: LazyLock<Enumerate> = LazyLock::new(|| Enumerate::new().budget(isinglass::Budget(1 << 30)));

fn phases() -> Phases<'static> {
    Phases::both(&*ENGINE)
}

/// A two-layer machine with an input unit, and a weighted table with missing cells for it.
fn machines_with_tables() -> impl Strategy<Value = (Machine, Table)> {
    (2..5usize, 0..3usize, any::<bool>(), any::<u64>(), 0.3..3.0f64).prop_flat_map(
        |(visible, hidden, with_input, seed, temperature)| {
            let cell = prop_oneof![2 => Just(1i8), 2 => Just(-1i8), 1 => Just(0i8)];
            let row = (proptest::collection::vec(cell, visible), 0.1..3.0f64);
            proptest::collection::vec(row, 1..12).prop_map(move |rows| {
                let mut machine = topology::two_layer(visible, &Links::Full, hidden, &Links::Chain).unwrap();
                if with_input {
                    let mut roles = machine.roles().to_vec();
                    roles[0] = Role::Input;
                    machine = machine.with_roles(roles).unwrap();
                }
                let normal = Numbers::Normal { mean: 0.0, deviation: 0.7 };
                let machine = machine
                    .with_numbers(&normal, &normal, seed)
                    .unwrap()
                    .with_temperature(temperature)
                    .unwrap();
                let mut table = Table::new(machine.names()[..visible].iter().cloned()).unwrap();
                for (row, weight) in rows {
                    table.push(&row, weight).unwrap();
                }
                (machine, table)
            })
        },
    )
}

/// Average log P(visible | input) by the plainest sums.
fn plain_log_likelihood(machine: &Machine, table: &Table) -> f64 {
    let mut sum = 0.0;
    for k in 0..table.distinct_count() {
        let mut clamped = vec![0; machine.unit_count()];
        let mut inputs = vec![0; machine.unit_count()];
        for (name, &cell) in table.columns().iter().zip(table.row(k)) {
            let unit = machine.position(name).unwrap();
            clamped[unit] = cell;
            if machine.roles()[unit] == Role::Input {
                inputs[unit] = cell;
            }
        }
        let log_z = |cells: Vec<i8>| brute_force(machine, &Evidence::from_cells(cells).unwrap()).log_z;
        sum += table.weight(k) * (log_z(clamped) - log_z(inputs));
    }
    sum / table.total_weight()
}

/// Average Σ_i log P(s_i | rest of the observed row) by the plainest sums.
fn plain_pseudo_log_likelihood(machine: &Machine, table: &Table) -> f64 {
    let mut sum = 0.0;
    for k in 0..table.distinct_count() {
        let mut clamped = vec![0; machine.unit_count()];
        for (name, &cell) in table.columns().iter().zip(table.row(k)) {
            clamped[machine.position(name).unwrap()] = cell;
        }
        let log_z = |cells: &[i8]| brute_force(machine, &Evidence::from_cells(cells.to_vec()).unwrap()).log_z;
        for unit in machine.with_role(Role::Visible).filter(|&unit| clamped[unit] != 0) {
            let mut rest = clamped.clone();
            rest[unit] = 0;
            sum += table.weight(k) * (log_z(&clamped) - log_z(&rest));
        }
    }
    sum / table.total_weight()
}

/// The states of some units given the values of others, with their probabilities in the machine, by
/// the plainest sums.
fn plain_probabilities(machine: &Machine, inputs: &[i8]) -> Vec<(Vec<i8>, f64)> {
    let truth = brute_force(machine, &Evidence::from_cells(inputs.to_vec()).unwrap());
    let mut states: Vec<(Vec<i8>, f64)> = Vec::new();
    for (log, mut state) in truth.states {
        for unit in machine.with_role(Role::Hidden) {
            state[unit] = 0;
        }
        let p = (log - truth.log_z).exp();
        match states.iter_mut().find(|known| known.0 == state) {
            Some(known) => known.1 += p,
            None => states.push((state, p)),
        }
    }
    states
}

/// Σ q(x, y) log (q(y|x) / p(y|x)) over all states, by the plainest loops.
fn plain_kullback(machine: &Machine, rows: &[(Vec<i8>, f64)]) -> f64 {
    let input_of = |state: &[i8]| -> Vec<i8> {
        let given = |(unit, &cell): (usize, &i8)| if machine.roles()[unit] == Role::Input { cell } else { 0 };
        state.iter().enumerate().map(given).collect()
    };
    let weight =
        |keep: &dyn Fn(&[i8]) -> bool| rows.iter().filter(|row| keep(&row.0)).map(|row| row.1).sum::<f64>();
    let total = weight(&|_| true);
    let mut inputs: Vec<Vec<i8>> = rows.iter().map(|row| input_of(&row.0)).collect();
    inputs.sort();
    inputs.dedup();
    let mut sum = 0.0;
    for input in inputs {
        let with_input = weight(&|state| input_of(state) == input);
        for (state, p) in plain_probabilities(machine, &input) {
            let q = weight(&|other| other == state) / with_input;
            if q > 0.0 {
                sum += with_input / total * q * (q / p).ln();
            }
        }
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn value_and_gradient_of_the_information_gain((machine, table) in machines_with_tables(), l2 in prop_oneof![Just(0.0), 0.0..0.5f64]) {
        let eliminate = Eliminate::default();
        for engine in [&*ENGINE as &dyn Engine, &eliminate] {
            let gain = InformationGain::new(Phases::both(engine), &machine, &table, l2).unwrap();
            let parameters = gain.parameters_of(&machine);
            let mut gradient = vec![0.0; parameters.len()];
            let value = gain.value_and_gradient(&parameters, &mut gradient).unwrap();
            if l2 == 0.0 {
                close(value, plain_log_likelihood(&machine, &table), 1e-10, "information gain");
            }
            let mut scratch = vec![0.0; parameters.len()];
            for k in 0..parameters.len() {
                let mut at = |x: f64| {
                    let mut moved = parameters.clone();
                    moved[k] += x;
                    gain.value_and_gradient(&moved, &mut scratch).unwrap()
                };
                let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
                close(gradient[k], slope, 1e-6, "slope of the information gain");
            }
        }
    }

    #[test]
    fn scores_agree_with_plain_sums((machine, table) in machines_with_tables()) {
        let found = score::score(&machine, &table, phases()).unwrap();
        close(found.log_likelihood.unwrap(), plain_log_likelihood(&machine, &table), 1e-10, "log-likelihood");
        let plain = plain_pseudo_log_likelihood(&machine, &table);
        close(found.pseudo_log_likelihood.unwrap(), plain, 1e-10, "pseudo-log-likelihood");
        // Kappen & Rodríguez 1997, eq. 37, over the visible cells that are observed.
        let mut cells = 0.0;
        for k in 0..table.distinct_count() {
            let observed = table.columns().iter().zip(table.row(k)).filter(|(name, cell)| {
                **cell != 0 && machine.roles()[machine.position(name).unwrap()] == Role::Visible
            });
            cells += table.weight(k) * observed.count() as f64;
        }
        match found.completion {
            Some(q) => close(q, -plain * table.total_weight() / cells, 1e-10, "completion"),
            None => prop_assert_eq!(cells, 0.0),
        }
        prop_assert_eq!(found.kullback.is_none(), table.missing_count() > 0);
        prop_assert_eq!(found.rows, table.row_count());
    }

    #[test]
    fn the_kullback_divergence_agrees_with_a_sum_over_states((machine, table) in machines_with_tables(), flip in any::<u64>()) {
        // Missing cells get a value, so that rows are states.
        let mut whole = Table::new(table.columns().iter().cloned()).unwrap();
        let mut rows = Vec::new();
        for k in 0..table.distinct_count() {
            let filled = |(c, &cell): (usize, &i8)| if cell != 0 { cell } else if flip.rotate_left((c + 5 * k) as u32) & 1 == 1 { 1 } else { -1 };
            let row: Vec<i8> = table.row(k).iter().enumerate().map(filled).collect();
            whole.push(&row, table.weight(k)).unwrap();
            let mut state = vec![0; machine.unit_count()];
            for (name, cell) in table.columns().iter().zip(&row) {
                state[machine.position(name).unwrap()] = *cell;
            }
            rows.push((state, table.weight(k)));
        }
        // A row that does not count is no state, be it complete or not.
        whole.push(&vec![0; table.columns().len()], 0.0).unwrap();
        let found = score::score(&machine, &whole, phases()).unwrap();
        let kullback = found.kullback.unwrap();
        close(kullback, plain_kullback(&machine, &rows), 1e-10, "Kullback divergence");
        prop_assert!(kullback >= 0.0);
        prop_assert_eq!(found.kullback_guarantee, Guarantee::Exact);
        prop_assert!(found.notes.is_empty(), "{:?}", found.notes);
    }

    /// A table with the machine's own distribution, given each state of the inputs: nothing is left
    /// to learn.
    #[test]
    fn a_machine_is_at_no_distance_from_itself((machine, _) in machines_with_tables()) {
        let visible: Vec<usize> = (0..machine.unit_count()).filter(|&unit| machine.roles()[unit] != Role::Hidden).collect();
        let mut own = Table::new(visible.iter().map(|&unit| machine.name(unit))).unwrap();
        let mut rows = Vec::new();
        let inputs: Vec<usize> = machine.with_role(Role::Input).collect();
        for number in 0..1u32 << inputs.len() {
            let mut given = vec![0; machine.unit_count()];
            for (bit, &unit) in inputs.iter().enumerate() {
                given[unit] = if number >> bit & 1 == 1 { 1 } else { -1 };
            }
            for (state, p) in plain_probabilities(&machine, &given) {
                let row: Vec<i8> = visible.iter().map(|&unit| state[unit]).collect();
                let weight = p * f64::from(number + 1);
                own.push(&row, weight).unwrap();
                rows.push((state, weight));
            }
        }
        let found = score::score(&machine, &own, phases()).unwrap();
        close(found.kullback.unwrap(), 0.0, 1e-12, "Kullback divergence");
        // Another machine is at some distance, which may be small: what hidden units do can make up for a bias.
        let biases = machine.biases().iter().map(|bias| bias + machine.temperature()).collect();
        let other = machine.clone().with_parameters(machine.weights().to_vec(), biases).unwrap();
        let found = score::score(&other, &own, phases()).unwrap();
        close(found.kullback.unwrap(), plain_kullback(&other, &rows), 1e-10, "Kullback divergence from another");
    }

    #[test]
    fn a_fit_never_ends_below_its_start((machine, table) in machines_with_tables()) {
        let fit = Likelihood::new(&*ENGINE).l2(0.01).iterations(40).fit(&machine, &table).unwrap();
        let objective: Vec<f64> = fit.history.iter().map(|step| step.objective).collect();
        prop_assert!(objective.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12), "{:?}", objective);
        close(fit.log_likelihood.unwrap(), plain_log_likelihood(&fit.machine, &table), 1e-10, "log-likelihood");
        // Input units are conditions: nothing about their own distribution is learned.
        for unit in machine.with_role(Role::Input) {
            prop_assert_eq!(machine.biases()[unit], fit.machine.biases()[unit]);
        }
    }
}

#[test]
fn a_fully_visible_fit_reproduces_the_moments_of_the_data() {
    let truth = topology::sherrington_kirkpatrick(6, 0.9, 3).unwrap();
    let draws = isinglass::Sampler::draw(&*ENGINE, &truth, &Evidence::none(6), 3000, 1).unwrap();
    let table = Table::from_rows(truth.names().iter().cloned(), draws.cells.chunks(6)).unwrap();
    let fit = Likelihood::new(&*ENGINE).fit(&topology::full(6), &table).unwrap();
    assert!(fit.converged, "{}", fit.stopped);
    let model = ENGINE.expectations(&fit.machine, &Evidence::none(6), Pairs::All).unwrap();
    for a in 0..6 {
        close(model.means[a], table.means()[a].unwrap(), 1e-6, "mean");
        for b in a + 1..6 {
            let sum: i32 = draws.cells.chunks(6).map(|row| i32::from(row[a] * row[b])).sum();
            let found = model.correlations.get(fit.machine.graph(), a, b).unwrap();
            close(found, f64::from(sum) / 3000.0, 1e-6, "pair moment");
        }
    }
    // The maximum is the only one: the likelihood of the truth is lower.
    let at_truth = score::score(&truth, &table, phases()).unwrap();
    assert!(at_truth.log_likelihood.unwrap() < fit.log_likelihood.unwrap());
}

/// Far too many units for a sum over states.
/// Every state of a machine, weighted by its probability.
fn whole_distribution(machine: &Machine) -> Table {
    let mut table = Table::new(machine.names().iter().cloned()).unwrap();
    for (state, p) in plain_probabilities(machine, &vec![0; machine.unit_count()]) {
        table.push(&state, 1e5 * p).unwrap();
    }
    table
}

#[test]
fn rare_events_converge_in_few_iterations_to_the_machine_that_they_come_from() {
    let biases = Numbers::Uniform { low: -4.0, high: -1.5 };
    let weights = Numbers::Normal { mean: 0.1, deviation: 0.3 };
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let truth = topology::full(8).with_numbers(&weights, &biases, 3).unwrap().with_names(names).unwrap();
    let table = whole_distribution(&truth);
    let rarest = table.means().iter().flatten().fold(1.0, |least: f64, mean| least.min(0.5 * (1.0 + mean)));
    assert!(rarest < 1e-3, "{rarest}");
    let start = topology::full(8).with_names(names).unwrap();
    for optimizer in [Optimizer::Lbfgs, Optimizer::Cg] {
        let fit =
            Likelihood::new(&Enumerate::default()).optimizer(optimizer).tolerance(1e-10).fit(&start, &table);
        let fit = fit.unwrap();
        assert!(fit.converged && fit.iterations() <= 200, "{optimizer}: {} iterations", fit.iterations());
        for (found, expected) in fit.machine.weights().iter().zip(truth.weights()) {
            close(*found, *expected, 1e-3, "coupling");
        }
    }
}

#[test]
fn columns_that_others_determine_are_named() {
    let mut table = Table::new(["a", "b", "c"]).unwrap();
    for (row, weight) in [([1, 1, 1], 30.0), ([-1, -1, 1], 20.0), ([1, 1, -1], 10.0), ([-1, -1, -1], 40.0)] {
        table.push(&row, weight).unwrap();
    }
    let start = topology::full(3).with_names(["a", "b", "c"]).unwrap();
    let named = Note::DeterminedColumns(vec!["a".into(), "b".into()]);
    let engine = Enumerate::default();
    assert!(Likelihood::new(&engine).fit(&start, &table).unwrap().notes.contains(&named));
    assert!(PseudoLikelihood::new().fit(&start, &table).unwrap().notes.contains(&named));
    let held = Likelihood::new(&engine).l2(0.01).fit(&start, &table).unwrap();
    assert!(!held.notes.contains(&named), "a penalty bounds them");
}

#[test]
fn a_large_decimatable_fit_reproduces_the_moments_of_the_data() {
    let engine = Decimate::default();
    let graph = common::structure::partial_tree(80, 2, 4, 11);
    let normal = Numbers::Normal { mean: 0.0, deviation: 0.5 };
    let truth = Machine::from_graph(graph.clone()).with_numbers(&normal, &normal, 4).unwrap();
    let draws = isinglass::Sampler::draw(&engine, &truth, &Evidence::none(80), 2000, 1).unwrap();
    let table = Table::from_rows(truth.names().iter().cloned(), draws.cells.chunks(80)).unwrap();
    let fit = Likelihood::new(&engine).fit(&Machine::from_graph(graph.clone()), &table).unwrap();
    assert!(fit.converged, "{}", fit.stopped);
    let model = engine.expectations(&fit.machine, &Evidence::none(80), Pairs::Edges).unwrap();
    for (found, expected) in model.means.iter().zip(table.means()) {
        close(*found, expected.unwrap(), 1e-6, "mean");
    }
    for ((a, b), found) in model.correlations.iter(&graph) {
        let sum: i32 = draws.cells.chunks(80).map(|row| i32::from(row[a] * row[b])).sum();
        close(found, f64::from(sum) / 2000.0, 1e-6, "edge moment");
    }
}

/// What is not decimatable with every bias trained is refused before the first step, whatever the
/// biases are at the start.
#[test]
fn every_bias_counts_in_learning() {
    let grid = Graph::grid(3, 4, topology::Neighbours::Four);
    let start = Machine::from_graph(grid);
    let nothing = Evidence::none(12);
    assert!(Decimate::default().expectations(&start, &nothing, Pairs::None).is_ok());
    let table = Table::from_rows(start.names().iter().cloned(), [[1i8; 12], [-1; 12]]).unwrap();
    let refused = Likelihood::new(&Decimate::default()).fit(&start, &table).unwrap_err();
    assert!(matches!(refused, Error::CannotDo { .. }), "{refused}");
}

#[test]
fn row_weights_count_as_repeated_rows() {
    let rows = [[1i8, 1, -1], [-1, 1, 0], [1, -1, -1], [-1, -1, 1], [1, 1, 1]];
    let counts = [3, 1, 2, 4, 1];
    let mut repeated = Table::new(["a", "b", "c"]).unwrap();
    let mut weighted = repeated.clone();
    for (row, count) in rows.iter().zip(counts) {
        weighted.push(row, f64::from(count)).unwrap();
        for _ in 0..count {
            repeated.push(row, 1.0).unwrap();
        }
    }
    let start = topology::full(3).with_names(["a", "b", "c"]).unwrap();
    let fit = |table: &Table| Likelihood::new(&*ENGINE).fit(&start, table).unwrap();
    assert_eq!(fit(&repeated).machine, fit(&weighted).machine);
}

#[test]
fn hidden_units_explain_what_couplings_cannot() {
    // Parity of three units: no pairwise machine of visible units alone can have it.
    let rows = [[1i8, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]];
    let table = Table::from_rows(["v0", "v1", "v2"], rows).unwrap();
    let visible = topology::two_layer(3, &Links::Full, 0, &Links::None).unwrap();
    let plain = Likelihood::new(&*ENGINE).fit(&visible, &table).unwrap();
    close(plain.log_likelihood.unwrap(), -(8f64.ln()), 1e-9, "without hidden units");
    let best = (0..8)
        .map(|seed| {
            let start = topology::two_layer(3, &Links::Full, 1, &Links::None)
                .unwrap()
                .with_numbers(&Numbers::Normal { mean: 0.0, deviation: 0.5 }, &Numbers::Constant(0.0), seed)
                .unwrap();
            let learner = Likelihood::new(&*ENGINE).iterations(500).tolerance(1e-4);
            learner.fit(&start, &table).unwrap().log_likelihood.unwrap()
        })
        .fold(f64::NEG_INFINITY, f64::max);
    assert!(best > -(4f64.ln()) - 0.05, "with a hidden unit: {best}, at most {}", -(4f64.ln()));
}

#[test]
fn factorized_is_the_best_machine_without_couplings() {
    let rows = [[1i8, -1], [1, 0], [1, -1], [-1, -1], [0, -1]];
    let table = Table::from_rows(["a", "b"], rows).unwrap();
    let names = ["a", "b"];
    let alone = Machine::from_graph(isinglass::Graph::new(2, []).unwrap()).with_names(names).unwrap();
    let start = topology::full(2).with_names(names).unwrap();
    let closed = Factorized.fit(&start, &table).unwrap();
    close(
        closed.log_likelihood.unwrap(),
        plain_log_likelihood(&closed.machine, &table),
        1e-12,
        "log-likelihood",
    );
    let followed = Likelihood::new(&*ENGINE).fit(&alone, &table).unwrap();
    close(closed.machine.biases()[0], followed.machine.biases()[0], 1e-5, "bias of a");
    // b is always −1: finite all the same, and said.
    assert!(closed.machine.biases()[1].is_finite());
    assert_eq!(closed.notes.len(), 1);
}

#[test]
fn an_engine_without_log_z_is_refused_with_a_reason() {
    let table = Table::from_rows(["x0", "x1"], [[1i8, 1], [-1, 1]]).unwrap();
    let start = topology::full(2);
    let engine = Gibbs::default();
    let refusal = Likelihood::new(&engine).fit(&start, &table).unwrap_err();
    assert!(matches!(refusal, Error::CannotDo { .. }), "{refusal}");
    let both = Phases { clamped: &*ENGINE, free: &engine };
    let found = score::score(&start, &table, both).unwrap();
    assert_eq!(found.log_likelihood, None);
    assert_eq!((found.kullback, found.guarantee), (None, Guarantee::Exact));
    assert!(found.pseudo_log_likelihood.is_some() && found.completion.is_some());
    assert_eq!(
        found.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["log_likelihood and kullback are unavailable: gibbs cannot compute a likelihood: it has no log Z; \
          all engines but gibbs have it"]
    );
}

/// An engine whose log Z is a little too low, and says so.
#[derive(Debug)]
struct TooLow;

impl Engine for TooLow {
    fn name(&self) -> &'static str {
        "too-low"
    }

    fn fingerprint(&self) -> String {
        self.name().into()
    }

    fn expectations(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        pairs: Pairs,
    ) -> isinglass::Result<isinglass::Expectations> {
        let mut answer = ENGINE.expectations(machine, evidence, pairs)?;
        answer.log_z = answer.log_z.map(|x| x - 0.1);
        answer.guarantee = Guarantee::LowerBound;
        Ok(answer)
    }

    fn batch(
        &self,
        machine: &Machine,
        batch: &Batch,
        ask: Ask,
    ) -> isinglass::Result<isinglass::BatchExpectations> {
        let mut answer = ENGINE.batch(machine, batch, ask)?;
        answer.log_z = answer.log_z.map(|all| all.iter().map(|x| x - 0.1).collect());
        answer.guarantee = Guarantee::LowerBound;
        Ok(answer)
    }
}

#[test]
fn guarantees_follow_the_arithmetic() {
    let table = Table::from_rows(["v0", "v1"], [[1i8, 1], [-1, 0]]).unwrap();
    let machine = topology::rbm(2, 1).unwrap();
    let exact = score::score(&machine, &table, phases()).unwrap();
    let with = |clamped: &dyn Engine, free: &dyn Engine| {
        let gain = InformationGain::new(Phases { clamped, free }, &machine, &table, 0.0).unwrap();
        let found = gain.likelihood().value(&machine).unwrap();
        (found.value - exact.log_likelihood.unwrap(), found.guarantee)
    };
    let (error, guarantee) = with(&TooLow, &*ENGINE);
    assert!((error + 0.1).abs() < 1e-12 && guarantee == Guarantee::LowerBound);
    let (error, guarantee) = with(&*ENGINE, &TooLow);
    assert!((error - 0.1).abs() < 1e-12 && guarantee == Guarantee::UpperBound);
    assert_eq!(with(&TooLow, &TooLow).1, Guarantee::Approximation);
    let found = score::score(&machine, &table, Phases { clamped: &TooLow, free: &*ENGINE }).unwrap();
    assert_eq!(found.guarantee, Guarantee::Approximation, "ratios of bounds are no bounds");
    // A likelihood that is too low makes a divergence that is too high, and the other way round.
    let whole = Table::from_rows(["v0", "v1"], [[1i8, 1], [-1, 1]]).unwrap();
    let truth = score::score(&machine, &whole, phases()).unwrap().kullback.unwrap();
    for (phases, error, guarantee) in [
        (Phases { clamped: &TooLow, free: &*ENGINE }, 0.1, Guarantee::UpperBound),
        (Phases { clamped: &*ENGINE, free: &TooLow }, -0.1, Guarantee::LowerBound),
    ] {
        let found = score::score(&machine, &whole, phases).unwrap();
        close(found.kullback.unwrap(), truth + error, 1e-12, "Kullback divergence");
        assert_eq!(found.kullback_guarantee, guarantee);
    }
    let joint = TooLow.joint(&machine, &Evidence::none(3), &[0]).unwrap();
    assert_eq!(joint.guarantee, Guarantee::Approximation);
}

#[test]
fn an_offset_does_not_disturb_learning_or_scores() {
    let table = Table::from_rows(["v0", "v1"], [[1i8, 1], [-1, -1], [1, -1], [0, 1], [1, 1]]).unwrap();
    let plain = isinglass::learn::start(&topology::rbm(2, 1).unwrap(), &table, 1, 0).unwrap();
    let shifted = plain.clone().with_offset(1e12).unwrap();
    let fit = |start: &Machine| Likelihood::new(&*ENGINE).l2(0.01).fit(start, &table).unwrap();
    let (one, two) = (fit(&plain), fit(&shifted));
    assert!(two.converged);
    assert_eq!(one.machine.weights(), two.machine.weights());
    assert_eq!(two.machine.offset(), 1e12);
    let [one, two] = [&plain, &shifted].map(|machine| score::score(machine, &table, phases()).unwrap());
    assert_eq!(one, two);
}

#[test]
fn an_objective_that_is_not_finite_ends_the_fit() {
    let table = Table::from_rows(["x0", "x1"], [[1i8, 1], [-1, 1]]).unwrap();
    let start = topology::full(2).with_parameters(vec![0.0], vec![1e308, 1e308]).unwrap();
    let refusal = Likelihood::new(&*ENGINE).fit(&start, &table).unwrap_err();
    assert!(matches!(refusal, Error::Numerical { .. }), "{refusal}");
}

#[test]
fn an_observer_can_stop_a_fit_and_can_fail() {
    struct Until(usize, bool);
    impl isinglass::learn::Observer for Until {
        fn step(&mut self, step: &isinglass::learn::Step, _: &Machine) -> isinglass::Result<ControlFlow<()>> {
            match (step.iteration == self.0, self.1) {
                (false, _) => Ok(ControlFlow::Continue(())),
                (true, false) => Ok(ControlFlow::Break(())),
                (true, true) => Err(Error::invalid("checkpoint", "the disk is full")),
            }
        }
    }
    let table =
        Table::from_rows(["x0", "x1", "x2"], [[1i8, 1, -1], [-1, 1, 1], [1, 1, 1], [-1, -1, 1]]).unwrap();
    let start = topology::full(3);
    let fit = Likelihood::new(&*ENGINE).fit_with(&start, &table, &mut Until(2, false)).unwrap();
    assert_eq!(
        (fit.iterations(), fit.converged, fit.stopped.to_string().as_str()),
        (2, false, "stopped on request")
    );
    let best = fit.history.iter().map(|step| step.objective).fold(f64::NEG_INFINITY, f64::max);
    close(fit.log_likelihood.unwrap(), best, 1e-12, "the best machine is kept");
    let failed = Likelihood::new(&*ENGINE).fit_with(&start, &table, &mut Until(2, true)).unwrap_err();
    assert_eq!(failed.to_string(), "checkpoint: the disk is full");
}

#[test]
fn starts_differ_by_seed_and_restart_and_from_made_machines() {
    let table = Table::from_rows(["v0", "v1"], [[1i8, -1], [1, 1]]).unwrap();
    let structure = topology::rbm(2, 2).unwrap();
    let weights = |seed, restart| {
        isinglass::learn::start(&structure, &table, seed, restart).unwrap().weights().to_vec()
    };
    assert_eq!(weights(1, 0), weights(1, 0));
    assert_ne!(weights(1, 0), weights(1, 1));
    assert_ne!(weights(1, 0), weights(2, 0));
    let made = structure.clone().with_numbers(
        &Numbers::Normal { mean: 0.0, deviation: 0.1 },
        &Numbers::Constant(0.0),
        1,
    );
    assert_ne!(weights(1, 0), made.unwrap().weights());
}

#[test]
fn tables_without_weight_are_refused() {
    let mut table = Table::new(["x0", "x1"]).unwrap();
    table.push(&[1, 1], 0.0).unwrap();
    let start = topology::full(2);
    let message = Likelihood::new(&*ENGINE).fit(&start, &table).unwrap_err().to_string();
    assert_eq!(message, "table: the rows have no weight");
}
