//! Machines that more than one benchmark uses.

use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{Graph, Machine};

/// Fully connected, weights and biases uniform on (−1, 1).
pub fn full(units: usize) -> Machine {
    random(topology::full(units), 1.0)
}

/// A square lattice with four neighbours, couplings ±0.3 and small biases.
pub fn lattice(side: usize) -> Machine {
    Machine::from_graph(topology::grid(side, side, Neighbours::Four))
        .with_numbers(&Numbers::Signs(0.3), &Numbers::Constant(0.1), 1)
        .expect("constants are finite")
}

/// Fully connected with weak couplings, so that chains mix.
pub fn dense(units: usize) -> Machine {
    random(topology::full(units), 0.5 / (units as f64).sqrt())
}

fn random(graph: Graph, strength: f64) -> Machine {
    let numbers = Numbers::Uniform { low: -strength, high: strength };
    Machine::from_graph(graph).with_numbers(&numbers, &numbers, 1).expect("bounded numbers are finite")
}
