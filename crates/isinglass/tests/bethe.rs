//! The engine `bethe`: exact on forests, the equations of Bethe everywhere, and honest where it
//! ends without a fixed point.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::structure::{forests, shuffled};
use common::{
    check_batch_against_rows, check_derivatives, check_equal, check_joint, clamped_machines, close,
    rows_of_evidence,
};
use isinglass::engine::{Annealing, Around, LinearResponse, Schedule, VariationalSettings};
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{
    Ask, Batch, Bethe, Budget, Decimate, Engine, Enumerate, Error, Evidence, Expectations, Graph, Guarantee,
    Machine, Pairs, Unit,
};
use proptest::prelude::*;

/// Machines whose messages have one fixed point, since a change in one of them is felt less and
/// less (Mooij & Kappen 2007).
fn weakly_coupled() -> impl Strategy<Value = (Machine, Evidence)> {
    clamped_machines(8, 0.15).prop_map(|(machine, evidence)| {
        // Clamped units may push as strongly as they like.
        let biases = machine.biases().iter().map(|bias| 5.0 * bias).collect();
        let weights = machine.weights().to_vec();
        let machine =
            machine.with_parameters(weights, biases).and_then(|machine| machine.with_temperature(1.0));
        (machine.unwrap(), evidence)
    })
}

/// The equations of Bethe in terms of the answer alone: each pair belief must have the machine's
/// coupling, and the cavity fields that follow from the pair beliefs of a unit must add up to its
/// field; and log Z is energy and entropies of the beliefs.
#[track_caller]
fn check_equations(machine: &Machine, answer: &Expectations, tolerance: f64) {
    let n = machine.unit_count();
    let t = machine.temperature();
    let mut fields: Vec<f64> = answer.means.iter().map(|m| m.atanh()).collect();
    let binary = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    let alone = |m: f64| binary(0.5 * (1.0 + m)) + binary(0.5 * (1.0 - m));
    let mut log_z: f64 =
        answer.means.iter().zip(machine.biases()).map(|(m, bias)| bias * m / t + alone(*m)).sum();
    for (edge, &(a, b)) in machine.graph().edges().iter().enumerate() {
        let (x, y, both) = (answer.means[a], answer.means[b], answer.correlations.values[edge]);
        let p = |s: f64, r: f64| 0.25 * (1.0 + s * x + r * y + s * r * both);
        let [pp, pm, mp, mm] = [p(1.0, 1.0), p(1.0, -1.0), p(-1.0, 1.0), p(-1.0, -1.0)];
        assert!(pp.min(pm).min(mp).min(mm) > 0.0, "a belief is a distribution");
        let v = machine.weights()[edge] / t;
        close(0.25 * (pp * mm / (pm * mp)).ln(), v, tolerance, "coupling of a pair belief");
        fields[a] += 0.25 * (pp * pm / (mp * mm)).ln() - x.atanh();
        fields[b] += 0.25 * (pp * mp / (pm * mm)).ln() - y.atanh();
        log_z += v * both + binary(pp) + binary(pm) + binary(mp) + binary(mm) - alone(x) - alone(y);
    }
    for unit in 0..n {
        close(fields[unit], machine.biases()[unit] / t, tolerance, "field of a unit");
    }
    close(answer.log_z.unwrap(), log_z + machine.offset(), tolerance, "log Z of the beliefs");
}

/// Belief propagation as in the textbook, all messages at once and undamped: the means, and by how
/// much messages still change.
fn textbook(machine: &Machine, sweeps: usize) -> (Vec<f64>, f64) {
    let n = machine.unit_count();
    let mut v = vec![vec![0.0; n]; n];
    for (&(a, b), w) in machine.graph().edges().iter().zip(machine.weights()) {
        v[a][b] = w / machine.temperature();
        v[b][a] = v[a][b];
    }
    let field = |u: &[Vec<f64>], i: usize, without: usize| {
        let others = (0..n).filter(|&k| k != without).map(|k| u[k][i]);
        machine.biases()[i] / machine.temperature() + others.sum::<f64>()
    };
    // u[i][j] is what i says to j.
    let mut u = vec![vec![0.0; n]; n];
    let mut change = 0.0f64;
    for _ in 0..sweeps {
        let new: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| (v[i][j].tanh() * field(&u, i, j).tanh()).atanh()).collect())
            .collect();
        let pairs = new.iter().flatten().zip(u.iter().flatten());
        change = pairs.map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
        u = new;
    }
    ((0..n).map(|i| field(&u, i, n).tanh()).collect(), change)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn forests_are_exact((machine, evidence) in forests(40, 20.0), parallel in any::<bool>()) {
        // On a forest the settings make no difference.
        let schedule = if parallel { Schedule::Parallel } else { Schedule::Sequential };
        let damping = if parallel { 0.5 } else { 0.0 };
        let engine = Bethe::new().schedule(schedule).damping(damping);
        let edges = machine.graph().edges().iter().zip(machine.weights());
        let is_idle = |((a, b), w): (&(usize, usize), &f64)| {
            *w == 0.0 && evidence.get(*a).is_none() && evidence.get(*b).is_none()
        };
        let has_idle_edges = edges.into_iter().any(is_idle);
        for pairs in [Pairs::None, Pairs::Edges, Pairs::All] {
            let found = engine.expectations(&machine, &evidence, pairs).unwrap();
            prop_assert!(found.diagnostics.converged);
            prop_assert_eq!(found.diagnostics.iteration.unwrap().sweeps, 1);
            prop_assert_eq!(found.guarantee == Guarantee::Exact, pairs != Pairs::Edges || !has_idle_edges);
            check_equal(&found, &Decimate::default().expectations(&machine, &evidence, pairs).unwrap(), 1e-10);
        }
    }

    #[test]
    fn queries_on_forests_are_exact((machine, evidence) in forests(10, 5.0), take in 0..4usize) {
        let ask: Vec<usize> = evidence.free().take(take).collect();
        let table = Bethe::default().joint(&machine, &evidence, &ask).unwrap();
        prop_assert_eq!(table.guarantee, Guarantee::Exact);
        check_joint(&table, &machine, &evidence, 1e-10);
    }

    /// Clamping may leave a forest; a coupling of 0 closes no cycle.
    #[test]
    fn what_is_exact_is_called_so_and_nothing_else((machine, evidence) in clamped_machines(8, 2.0), keep in any::<u32>()) {
        let weights = machine.weights().iter().enumerate();
        let weights: Vec<f64> = weights.map(|(k, &w)| if keep >> (k % 32) & 1 == 1 { w } else { 0.0 }).collect();
        let machine = machine.clone().with_parameters(weights, machine.biases().to_vec()).unwrap();
        let joined = machine.graph().edges().iter().zip(machine.weights());
        let joined = joined.filter(|((a, b), w)| **w != 0.0 && evidence.get(*a).is_none() && evidence.get(*b).is_none());
        let graph = Graph::new(machine.unit_count(), joined.map(|(&pair, _)| pair)).unwrap();
        let is_forest = graph.edges().len() + graph.components().1 == machine.unit_count();
        let answer = Bethe::default().expectations(&machine, &evidence, Pairs::All).unwrap();
        prop_assert_eq!(answer.guarantee == Guarantee::Exact, is_forest);
        let truth = Enumerate::default().expectations(&machine, &evidence, Pairs::All).unwrap();
        if is_forest {
            check_equal(&answer, &truth, 1e-10);
        }
        // An edge without coupling has the product of the means, which is exact only where nothing else joins its ends.
        let edges = Bethe::default().expectations(&machine, &evidence, Pairs::Edges).unwrap();
        if edges.guarantee == Guarantee::Exact {
            for ((a, b), moment) in edges.correlations.iter(machine.graph()) {
                close(moment, truth.correlations.get(machine.graph(), a, b).unwrap(), 1e-10, "edge moment");
            }
        }
    }

    #[test]
    fn the_equations_hold_where_it_converged((machine, evidence) in clamped_machines(10, 1.0)) {
        let machine = machine.with_temperature(1.0).unwrap();
        let conditional = machine.conditional(&evidence).unwrap();
        let answer = Bethe::default().expectations(&conditional, &Evidence::none(conditional.unit_count()), Pairs::Edges).unwrap();
        let iteration = answer.diagnostics.iteration.unwrap();
        prop_assert_eq!(answer.diagnostics.converged, iteration.residual <= 1e-10);
        if answer.diagnostics.converged && answer.means.iter().all(|m| m.abs() < 0.999) {
            check_equations(&conditional, &answer, 1e-8);
        }
    }

    #[test]
    fn weak_couplings_give_what_the_textbook_gives((machine, evidence) in weakly_coupled(), damping in 0.0..0.9f64, parallel in any::<bool>()) {
        let schedule = if parallel { Schedule::Parallel } else { Schedule::Sequential };
        let engine = Bethe::new().damping(damping).schedule(schedule);
        let answer = engine.expectations(&machine, &evidence, Pairs::Edges).unwrap();
        prop_assert!(answer.diagnostics.converged);
        let conditional = machine.conditional(&evidence).unwrap();
        let (means, change) = textbook(&conditional, 300);
        prop_assert!(change < 1e-12);
        for (unit, mean) in evidence.free().zip(means) {
            close(answer.means[unit], mean, 1e-8, "mean");
        }
        let alone = engine.expectations(&conditional, &Evidence::none(conditional.unit_count()), Pairs::Edges).unwrap();
        check_equations(&conditional, &alone, 1e-8);
        close(alone.log_z.unwrap(), answer.log_z.unwrap(), 1e-12, "log Z of the conditional machine");
    }

    #[test]
    fn moments_are_the_derivatives_of_log_z((machine, evidence) in weakly_coupled()) {
        check_derivatives(&Bethe::default(), &machine, &evidence);
    }

    #[test]
    fn symmetric_under_relabelling_and_flipping((machine, evidence) in weakly_coupled(), seed in any::<u64>(), flip in any::<u16>()) {
        let n = machine.unit_count();
        let engine = Bethe::default();
        let answer = engine.expectations(&machine, &evidence, Pairs::Edges).unwrap();
        let place = shuffled(n, seed);
        let sign = |unit: usize| if flip >> unit & 1 == 1 { -1.0 } else { 1.0 };
        let mut units: Vec<Option<Unit>> = vec![None; n];
        let mut cells = vec![0; n];
        for unit in 0..n {
            units[place[unit]] = Some(Unit::new(machine.name(unit), sign(unit) * machine.biases()[unit]));
            cells[place[unit]] = sign(unit) as i8 * evidence.cells()[unit];
        }
        let edges = machine.graph().edges().iter().zip(machine.weights());
        let edges = edges.map(|(&(a, b), w)| (place[a], place[b], sign(a) * sign(b) * w));
        let other = Machine::new(units.into_iter().map(Option::unwrap).collect(), edges).unwrap()
            .with_offset(machine.offset()).unwrap();
        let found = engine.expectations(&other, &Evidence::from_cells(cells).unwrap(), Pairs::Edges).unwrap();
        close(found.log_z.unwrap(), answer.log_z.unwrap(), 1e-9, "log Z");
        for unit in 0..n {
            close(sign(unit) * found.means[place[unit]], answer.means[unit], 1e-9, "mean");
        }
        for ((a, b), moment) in answer.correlations.iter(machine.graph()) {
            let there = found.correlations.get(other.graph(), place[a], place[b]).unwrap();
            close(sign(a) * sign(b) * there, moment, 1e-9, "edge moment");
        }
    }

    /// Bit for bit, whether or not messages converge, and whatever the search.
    #[test]
    fn a_batch_agrees_with_its_rows(
        (machine, _) in clamped_machines(12, 2.0),
        rows in 1..30usize,
        seed in any::<u64>(),
        starts in 1..3usize,
        anneal in any::<bool>(),
        parallel in any::<bool>(),
    ) {
        let engine = Bethe::new().max_sweeps(150).starts(starts).anneal(anneal.then_some(Annealing { from: 40.0, steps: 3 })).schedule(if parallel { Schedule::Parallel } else { Schedule::Sequential });
        let n = machine.unit_count();
        let cells = rows_of_evidence(n, rows, seed);
        check_batch_against_rows(&engine, &machine, &cells, 1e-12);
        let batch = Batch::new(n, &cells, &vec![1.0; rows]).unwrap();
        let answer = engine.batch(&machine, &batch, Ask { statistics: false, means: true }).unwrap();
        let mut converged = true;
        for row in 0..rows {
            let evidence = Evidence::from_cells(cells[row * n..(row + 1) * n].to_vec()).unwrap();
            let single = engine.expectations(&machine, &evidence, Pairs::None).unwrap();
            prop_assert_eq!(single.log_z.unwrap(), answer.log_z.as_ref().unwrap()[row]);
            prop_assert_eq!(&single.means[..], &answer.means.as_ref().unwrap()[row * n..(row + 1) * n]);
            converged &= single.diagnostics.converged;
        }
        prop_assert_eq!(answer.diagnostics.converged, converged);
    }
}

const NORMAL: Numbers = Numbers::Normal { mean: 0.0, deviation: 1.0 };

#[test]
fn large_forests_are_exact() {
    let strong = Numbers::Uniform { low: -5.0, high: 5.0 };
    let n = 100_000;
    let star = Graph::new(n, (1..n).map(|leaf| (0, leaf))).unwrap();
    for (graph, weights) in
        [(Graph::chain(n), strong), (Graph::tree(n, 2), strong), (star, Numbers::Constant(1e-3))]
    {
        let machine = Machine::from_graph(graph).with_numbers(&weights, &NORMAL, 4).unwrap();
        let nothing = Evidence::none(n);
        let found = Bethe::default().expectations(&machine, &nothing, Pairs::Edges).unwrap();
        assert_eq!(found.guarantee, Guarantee::Exact);
        check_equal(
            &found,
            &Decimate::default().expectations(&machine, &nothing, Pairs::Edges).unwrap(),
            1e-10,
        );
    }
}

#[test]
fn without_biases_the_means_of_a_forest_are_nothing() {
    let chain = topology::chain(50).with_parameters(vec![3.0; 49], vec![0.0; 50]).unwrap();
    let answer = Bethe::default().expectations(&chain, &Evidence::none(50), Pairs::All).unwrap();
    assert!(answer.means.iter().all(|&m| m == 0.0));
    close(answer.correlations.get(chain.graph(), 0, 49).unwrap(), 3f64.tanh().powi(49), 1e-13, "both ends");
}

#[test]
fn uncoupled_pairs_beside_cycles_count_as_independent() {
    let square = Graph::new(4, [(0, 1), (1, 2), (2, 3), (0, 3)]).unwrap();
    let machine =
        Machine::from_graph(square).with_parameters(vec![0.4; 4], vec![0.1, 0.2, 0.3, 0.4]).unwrap();
    let answer = Bethe::default().expectations(&machine, &Evidence::none(4), Pairs::All).unwrap();
    let get = |a, b| answer.correlations.get(machine.graph(), a, b).unwrap();
    assert_eq!(get(0, 2), answer.means[0] * answer.means[2]);
    assert!(get(0, 1) > answer.means[0] * answer.means[1] + 0.1);
}

/// An antiferromagnet on a clique, all units alike: all at once, they turn round again and again.
#[test]
fn oscillation_is_detected_and_damped() {
    let machine = topology::full(6).with_parameters(vec![-0.8; 15], vec![0.3; 6]).unwrap();
    assert!(textbook(&machine, 2000).1 > 0.1, "the textbook's iteration does not converge");
    let nothing = Evidence::none(6);
    let settings = VariationalSettings::default().schedule(Schedule::Parallel);
    let answer = Bethe::from(settings).expectations(&machine, &nothing, Pairs::Edges).unwrap();
    let iteration = answer.diagnostics.iteration.unwrap();
    assert!(iteration.oscillated && iteration.damping >= 0.5, "{iteration:?}");
    assert!(answer.diagnostics.converged, "{iteration:?}");
    check_equations(&machine, &answer, 1e-8);

    // Cut short, its log Z is below that of independent units: no answer.
    let cut_short = settings.max_sweeps(3);
    let refused = Bethe::from(cut_short).expectations(&machine, &nothing, Pairs::Edges).unwrap_err();
    assert!(matches!(refused, Error::ImpossibleLogZ { is_above: false, .. }), "{refused}");
}

/// A ferromagnet just above its transition converges slowly, by less than a thousandth each sweep,
/// and never turns round.
#[test]
fn slow_convergence_is_not_taken_for_oscillation() {
    let w = ((1.0f64 - 2e-4) / 3.0).atanh();
    let clique = topology::full(5).with_parameters(vec![w; 10], vec![0.0; 5]).unwrap();
    for schedule in [Schedule::Sequential, Schedule::Parallel] {
        for sweeps in [5000, 50_000] {
            let settings = VariationalSettings::default().max_sweeps(sweeps).schedule(schedule);
            let answer =
                Bethe::from(settings).expectations(&clique, &Evidence::none(5), Pairs::Edges).unwrap();
            let iteration = answer.diagnostics.iteration.unwrap();
            assert!(!iteration.oscillated && iteration.damping == 0.0, "{iteration:?}");
            assert_eq!(answer.diagnostics.converged, sweeps == 50_000, "{iteration:?}");
        }
    }
}

/// A spin glass far below its transition: whatever comes out, the report is true.
#[test]
fn no_convergence_is_reported() {
    let mut failed = 0;
    for seed in 0..10 {
        let glass = topology::sherrington_kirkpatrick(40, 6.0, seed).unwrap();
        let settings = VariationalSettings::default().max_sweeps(1000);
        let answer = Bethe::from(settings).expectations(&glass, &Evidence::none(40), Pairs::Edges).unwrap();
        let iteration = answer.diagnostics.iteration.unwrap();
        assert_eq!(answer.diagnostics.converged, iteration.residual <= settings.tolerance);
        assert!(answer.means.iter().chain(&answer.correlations.values).all(|x| x.abs() <= 1.0));
        assert!(answer.log_z.unwrap().is_finite());
        if !answer.diagnostics.converged {
            failed += 1;
            assert!(
                iteration.oscillated && iteration.damping >= 0.75 && iteration.sweeps == 1000,
                "{iteration:?}"
            );
        }
    }
    assert!(failed > 0, "some of them have no fixed point that is found");
}

#[test]
fn a_point_that_only_symmetry_holds_is_left() {
    let grid = Graph::grid(6, 6, Neighbours::Four);
    let machine = Machine::from_graph(grid).with_parameters(vec![1.0; 60], vec![0.0; 36]).unwrap();
    let nothing = Evidence::none(36);
    for anneal in [None, Some(Annealing { from: 8.0, steps: 6 })] {
        let engine = Bethe::new().anneal(anneal);
        let answer = engine.expectations(&machine, &nothing, Pairs::Edges).unwrap();
        assert!(answer.diagnostics.converged);
        assert!(answer.means.iter().all(|m| m.abs() > 0.9), "{:?}", answer.means);
    }
}

#[test]
fn of_several_starts_the_best_is_kept() {
    // Two ferromagnetic blocks that would rather disagree with their biases: several fixed points.
    let mut better = 0;
    for seed in 0..10 {
        let machine = topology::grid(5, 5, Neighbours::Eight)
            .with_numbers(
                &Numbers::Normal { mean: 0.4, deviation: 0.3 },
                &Numbers::Normal { mean: 0.0, deviation: 0.2 },
                seed,
            )
            .unwrap();
        let nothing = Evidence::none(25);
        let with = |starts| {
            let engine = Bethe::new().starts(starts);
            engine.expectations(&machine, &nothing, Pairs::Edges).unwrap()
        };
        let (one, many) = (with(1), with(8));
        if one.diagnostics.converged {
            assert!(many.diagnostics.converged);
            assert!(many.log_z.unwrap() >= one.log_z.unwrap() - 1e-12);
            better += usize::from(many.log_z.unwrap() > one.log_z.unwrap() + 1e-6);
        }
        assert_eq!(many, with(8));
    }
    assert!(better > 0, "a start by chance is better on one of them");
}

#[test]
fn threads_do_not_change_a_bit() {
    let machine =
        topology::full(20).with_numbers(&Numbers::Normal { mean: 0.0, deviation: 0.3 }, &NORMAL, 2).unwrap();
    let cells = rows_of_evidence(20, 3000, 0x1234_5678_9abc_def0);
    let batch = Batch::new(20, &cells, &vec![1.5; 3000]).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let engine = Bethe::new().max_sweeps(200);
        pool.install(|| engine.batch(&machine, &batch, Ask { statistics: true, means: true }).unwrap())
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn what_cannot_be_done_is_refused() {
    let machine = topology::chain(5);
    let message = |settings: VariationalSettings| {
        let nothing = Evidence::none(5);
        let single = Bethe::from(settings).expectations(&machine, &nothing, Pairs::All).unwrap_err();
        let batch = Batch::new(5, &[0; 5], &[1.0]).unwrap();
        let ask = Ask { statistics: true, means: true };
        let same = Bethe::from(settings).batch(&machine, &batch, ask).unwrap_err();
        assert_eq!(std::mem::discriminant(&single), std::mem::discriminant(&same));
        single.to_string()
    };
    let usual = VariationalSettings::default();
    assert_eq!(message(usual.tolerance(0.0)), "tolerance: found 0, expected a finite number above 0");
    assert_eq!(message(usual.damping(1.0)), "damping: found 1, expected a number of at least 0 and below 1");
    assert_eq!(message(usual.starts(0)), "starts: found 0, expected a whole number of at least 1");
    assert_eq!(message(usual.max_sweeps(0)), "max_sweeps: found 0, expected a whole number of at least 1");
    let cold = Some(Annealing { from: 0.5, steps: 3 });
    assert_eq!(
        message(usual.anneal(cold)),
        "anneal: starts at 0.5, expected more than the machine's own temperature, 1"
    );
    let refusal = message(usual.budget(Budget(900)));
    assert!(
        refusal.starts_with("bethe: messages between 5 free units through 4 couplings needs "),
        "{refusal}"
    );
    let refusal = message(usual.budget(Budget(100)));
    assert_eq!(refusal, "bethe: the moments of 10 pairs needs 160 bytes, and the budget is 100 bytes");

    let huge = machine.clone().with_parameters(vec![1e300; 4], vec![0.0; 5]).unwrap();
    let error = Bethe::default().expectations(&huge, &Evidence::none(5), Pairs::None).unwrap_err();
    assert!(matches!(error, Error::Numerical { method: "bethe", .. }), "{error}");
    let error = Bethe::default().expectations(&machine, &Evidence::none(4), Pairs::None).unwrap_err();
    assert_eq!(error, Error::Length { what: "evidence", found: 4, expected: 5 });
}

/// A unit that its bias leaves no choice counts as clamped: it takes no digits from the rest, and
/// cuts the cycles through it.
#[test]
fn a_huge_bias_pins_its_unit() {
    let biases = vec![1e8, 0.3, -0.2];
    let apart =
        Machine::from_graph(Graph::new(3, []).unwrap()).with_parameters(vec![], biases.clone()).unwrap();
    let triangle = topology::full(3).with_parameters(vec![0.7; 3], biases).unwrap();
    let nothing = Evidence::none(3);
    let engines: [&dyn Engine; 2] = [&Bethe::default(), &LinearResponse::new().around(Around::Bethe)];
    for machine in [apart, triangle] {
        for (engine, pairs) in engines
            .into_iter()
            .flat_map(|engine| [Pairs::None, Pairs::Edges, Pairs::All].map(|pairs| (engine, pairs)))
        {
            let found = engine.expectations(&machine, &nothing, pairs).unwrap();
            let expected = Decimate::default().expectations(&machine, &nothing, pairs).unwrap();
            assert_eq!((found.guarantee, expected.guarantee), (Guarantee::Exact, Guarantee::Exact));
            assert_eq!(found.means[0], 1.0);
            check_equal(&found, &expected, 1e-12);
        }
    }
}

/// No units, one unit, all clamped: nothing to pass on, and still an answer.
#[test]
fn the_smallest_machines_are_answered() {
    let none = topology::chain(0).with_offset(2.0).unwrap();
    let answer = Bethe::default().expectations(&none, &Evidence::none(0), Pairs::All).unwrap();
    assert_eq!((answer.log_z, answer.guarantee), (Some(2.0), Guarantee::Exact));
    let clique = topology::full(4).with_parameters(vec![0.5; 6], vec![0.1; 4]).unwrap();
    let all = Evidence::from_cells(vec![1, -1, 1, 1]).unwrap();
    let answer = Bethe::default().expectations(&clique, &all, Pairs::Edges).unwrap();
    close(answer.log_z.unwrap(), clique.log_weight(&[1, -1, 1, 1]), 1e-14, "log Z");
    assert_eq!(answer.means, [1.0, -1.0, 1.0, 1.0]);
    assert_eq!(answer.guarantee, Guarantee::Exact);
}
