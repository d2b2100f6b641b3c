//! Tests bound, gradient and moments of a Q against sums over all states and finite differences.

use super::bound::{Row, Work};
use super::plan::{NONE, OUTER, Plan};
use super::skeleton::{strongest, whole};
use crate::engine::variational::couplings::{Pair, pairs_among};
use crate::numeric::streams::{Purpose, stream};
use crate::topology::{Neighbours, Numbers};
use crate::{Graph, Machine};

fn uniform(count: usize, range: f64, seed: u64) -> Vec<f64> {
    Numbers::Uniform { low: -range, high: range }.draw(count, &mut stream(seed, Purpose::Weights, 99))
}

fn machine(graph: Graph, seed: u64) -> Machine {
    let numbers = Numbers::Uniform { low: -1.5, high: 1.5 };
    Machine::from_graph(graph).with_numbers(&numbers, &numbers, seed).unwrap()
}

/// Machines on small graphs with a plan of each width; the seeds of their numbers.
fn cases() -> impl Iterator<Item = (u64, Machine, Plan)> {
    let graphs = [
        Graph::full(7),
        Graph::full(4),
        Graph::grid(3, 3, Neighbours::Four),
        Graph::grid(2, 4, Neighbours::Eight),
        Graph::chain(6),
        Graph::new(1, []).unwrap(),
        Graph::new(9, (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b))).chain([(5, 6), (6, 7), (5, 7)]))
            .unwrap(),
    ];
    let machines = graphs.into_iter().enumerate().flat_map(|(seed, graph)| {
        (1..=3).map(move |width| (seed as u64, machine(graph.clone(), seed as u64), width))
    });
    machines.map(|(seed, machine, width)| {
        let plan = plan(&pairs(&machine), machine.unit_count(), width);
        (seed, machine, plan)
    })
}

fn pairs(machine: &Machine) -> Vec<Pair> {
    pairs_among(machine, &(0..machine.unit_count()).collect::<Vec<_>>())
}

/// The plan for all units of a machine; each connected part has a root.
fn plan(pairs: &[Pair], units: usize, width: usize) -> Plan {
    let wanted: Vec<f64> = pairs.iter().map(|pair| pair.coupling.abs()).collect();
    Plan::new(&strongest(units, pairs, &wanted, width).unwrap(), pairs, |_| Ok(())).unwrap()
}

/// The logarithm of Q in a state, by the product of its conditionals.
fn log_q(plan: &Plan, logits: &[f64], state: &[f64]) -> f64 {
    let node = |(k, node): (usize, &super::plan::Node)| {
        let bit = |(bit, &parent): (usize, &u32)| {
            usize::from(state[plan.nodes[parent as usize].joint.unit as usize] > 0.0) << bit
        };
        let x: usize = node.joint.parents().iter().enumerate().map(bit).sum();
        -(1.0 + (-2.0 * logits[k * OUTER + x] * state[node.joint.unit as usize]).exp()).ln()
    };
    plan.nodes.iter().enumerate().map(node).sum()
}

#[test]
fn bound_and_moments_are_those_of_sums_over_states() {
    for (seed, machine, plan) in cases() {
        let n = machine.unit_count();
        let logits = uniform(n * OUTER, 2.0, seed);
        let row = Row::new(&plan, machine.biases());
        let mut work = Work::new(&plan);
        let value = row.value(&logits, &mut work);
        let (mut expected, mut total) = (0.0, 0.0);
        let mut moments = vec![0.0; n * n];
        for number in 0..1usize << n {
            let state: Vec<i8> = (0..n).map(|unit| if number >> unit & 1 == 1 { 1 } else { -1 }).collect();
            let spins: Vec<f64> = state.iter().map(|&s| f64::from(s)).collect();
            let log = log_q(&plan, &logits, &spins);
            let q = log.exp();
            total += q;
            expected += q * (machine.log_weight(&state) - log);
            for a in 0..n {
                for b in 0..n {
                    moments[a * n + b] += q * if a == b { spins[a] } else { spins[a] * spins[b] };
                }
            }
        }
        assert!((total - 1.0).abs() < 1e-12);
        assert!((value - expected).abs() < 1e-12 * expected.abs().max(1.0), "{value}, not {expected}");
        for a in 0..n {
            let position = plan.position[a] as usize;
            assert!((work.mean(position) - moments[a * n + a]).abs() < 1e-12);
            let found = work.moments_with(&plan, position);
            for b in (0..n).filter(|&b| b != a) {
                assert!((found[plan.position[b] as usize] - moments[a * n + b]).abs() < 1e-12);
            }
        }
        for meeting in &plan.meetings {
            let (a, b) = machine.graph().edges()[meeting.edge as usize];
            assert!((work.moment_at(meeting) - moments[a * n + b]).abs() < 1e-12);
        }
    }
}

#[test]
fn the_gradient_is_that_of_finite_differences() {
    for (seed, machine, plan) in cases() {
        let n = machine.unit_count();
        let logits = uniform(n * OUTER, 1.5, seed + 50);
        let row = Row::new(&plan, machine.biases());
        let mut work = Work::new(&plan);
        let (mut gradient, mut information) = (vec![0.0; n * OUTER], vec![0.0; n * OUTER]);
        let value = row.gradient(&logits, &mut work, &mut gradient, &mut information);
        assert_eq!(value, row.value(&logits, &mut work));
        let step = 1e-5;
        for k in 0..logits.len() {
            let mut at = |x: f64| {
                let mut moved = logits.clone();
                moved[k] += x;
                row.value(&moved, &mut work)
            };
            let slope = (at(step) - at(-step)) / (2.0 * step);
            assert!((slope - gradient[k]).abs() < 1e-8, "{k}: {}, not {slope}", gradient[k]);
            assert!(information[k] >= 0.0);
        }
    }
}

#[test]
fn without_cut_couplings_one_pass_gives_the_best_logits() {
    for width in 1..=3 {
        let graph = if width == 1 { Graph::tree(9, 2) } else { Graph::grid(width, 4, Neighbours::Four) };
        let machine = machine(graph, 7);
        let pairs = pairs(&machine);
        let sequence = whole(machine.unit_count(), &pairs, width).unwrap().unwrap();
        let plan = Plan::new(&sequence, &pairs, |_| Ok(())).unwrap();
        assert!(plan.is_whole());
        let row = Row::new(&plan, machine.biases());
        let (logits, log_z) = row.without_cuts(&vec![0.0; machine.unit_count()]);
        let mut gradient = vec![0.0; logits.len()];
        let mut information = gradient.clone();
        let value = row.gradient(&logits, &mut Work::new(&plan), &mut gradient, &mut information);
        assert!((value - log_z).abs() < 1e-12 * log_z.abs());
        assert!(gradient.iter().all(|x| x.abs() < 1e-12));
    }
}

#[test]
fn parents_are_within_the_width_and_joined_with_each_other() {
    for width in 1..=3 {
        let machine = machine(Graph::grid(6, 6, Neighbours::Eight), 3);
        let pairs = pairs(&machine);
        let plan = plan(&pairs, 36, width);
        let roots = plan.nodes.iter().filter(|node| node.anchor == NONE).count();
        assert_eq!(roots, 1, "a connected machine has one part");
        for (k, node) in plan.nodes.iter().enumerate() {
            let parents = node.joint.parents();
            assert!(parents.len() <= width && parents.len() >= width.min(k));
            for &parent in parents {
                assert!((parent as usize) < k);
                assert!(plan.bit(node.anchor, parent).is_some());
            }
        }
        let kept = plan.nodes.iter().flat_map(|node| node.weights).filter(|w| *w != 0.0).count();
        assert_eq!(kept + plan.meetings.len(), pairs.len(), "each coupling is kept or cut");
    }
}

#[test]
fn the_strongest_couplings_that_fit_are_kept() {
    // Five coupled units have one coupling too many.
    let graph = Graph::full(5);
    let mut weights = vec![1.0; 10];
    weights[6] = 0.1;
    let machine = Machine::from_graph(graph).with_parameters(weights, vec![0.0; 5]).unwrap();
    let plan = plan(&pairs(&machine), 5, 3);
    assert_eq!(plan.meetings.iter().map(|meeting| meeting.edge).collect::<Vec<_>>(), [6]);
}
