//! Machines that more than one benchmark uses.

use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{Graph, Machine, Role, Table, Unit};

/// Fully connected, weights and biases uniform on (−1, 1).
pub fn full(units: usize) -> Machine {
    random(Graph::full(units), 1.0)
}

/// A square lattice with four neighbours, couplings ±0.3 and small biases.
pub fn lattice(side: usize) -> Machine {
    topology::grid(side, side, Neighbours::Four)
        .with_numbers(&Numbers::Signs(0.3), &Numbers::Constant(0.1), 1)
        .expect("constants are finite")
}

/// Fully connected with weak couplings, so that chains mix.
pub fn dense(units: usize) -> Machine {
    random(Graph::full(units), 0.5 / (units as f64).sqrt())
}

/// A square lattice with four neighbours, couplings and biases normal with mean 0 and deviation 1.
pub fn glass(side: usize) -> Machine {
    let numbers = Numbers::Normal { mean: 0.0, deviation: 1.0 };
    topology::grid(side, side, Neighbours::Four)
        .with_numbers(&numbers, &numbers, 1)
        .expect("normal numbers are finite")
}

/// A machine on a decimatable graph, weights uniform on (−1, 1), biases likewise or 0.
pub fn decimatable(graph: Graph, has_biases: bool) -> Machine {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let biases = if has_biases { numbers } else { Numbers::Constant(0.0) };
    Machine::from_graph(graph).with_numbers(&numbers, &biases, 1).expect("bounded numbers are finite")
}

/// A random partial 3-tree: each unit is joined to three that are joined to each other; then about
/// every fifth edge is left out.
pub fn partial_three_tree(units: usize) -> Graph {
    let mut bits = Bits(1);
    let mut edges = Vec::with_capacity(3 * units);
    // For each unit after the first three, those that it is joined to.
    let mut joined: Vec<[usize; 3]> = Vec::with_capacity(units);
    for unit in 3..units {
        let mut three = [0, 1, 2];
        if unit > 3 {
            let other = bits.below(unit - 3);
            three = joined[other];
            let change = bits.below(4);
            if change < 3 {
                three[change] = other + 3;
            }
        }
        joined.push(three);
        edges.extend(three.map(|other| (other, unit)));
    }
    edges.retain(|_| bits.below(5) > 0);
    Graph::new(units, edges).expect("each edge comes once, when its higher unit does")
}

/// The machine of the table's columns and four hidden units in a chain; each column is joined to
/// two neighbours of the chain.
pub fn hidden_chain(table: &Table) -> Machine {
    const HIDDEN: usize = 4;
    let visible = table.columns().len();
    let numbers = Numbers::Uniform { low: -0.5, high: 0.5 };
    let units = table.columns().iter().map(|name| Unit::new(name, 0.0));
    let hidden = (1..=HIDDEN).map(|k| Unit { role: Role::Hidden, ..Unit::new(format!("hidden {k}"), 0.0) });
    let across = (0..visible).flat_map(|k| [0, 1].map(|step| (k, visible + k % (HIDDEN - 1) + step, 0.0)));
    let chain = (1..HIDDEN).map(|k| (visible + k - 1, visible + k, 0.0));
    Machine::new(units.chain(hidden).collect(), across.chain(chain))
        .and_then(|machine| machine.with_numbers(&numbers, &numbers, 1))
        .expect("names are distinct and numbers bounded")
}

/// Rows in which each column equals the one before with probability 3/4: correlated, but not
/// singular given enough rows.
pub fn rows(columns: usize, rows: usize) -> Table {
    let mut bits = Bits(1);
    let mut table = Table::new((0..columns).map(|k| format!("x{k}"))).expect("names are distinct");
    for _ in 0..rows {
        let mut value = 1;
        let row: Vec<i8> = (0..columns)
            .map(|_| {
                value = if bits.below(4) == 0 { -value } else { value };
                value
            })
            .collect();
        table.push(&row, 1.0).expect("cells are −1 and +1");
    }
    table
}

/// Rows of a fully connected machine with couplings uniform on (−strength, strength) and no biases,
/// each 20 sweeps of Gibbs sampling after the one before.
pub fn spins(units: usize, rows: usize, strength: f64) -> Table {
    const SWEEPS: usize = 20;
    let mut bits = Bits(7);
    let mut uniform = || bits.below(1 << 31) as f64 / (1u64 << 31) as f64;
    let mut weights = vec![0.0; units * units];
    for a in 0..units {
        for b in 0..a {
            let weight = strength * (2.0 * uniform() - 1.0);
            weights[a * units + b] = weight;
            weights[b * units + a] = weight;
        }
    }
    let mut table = Table::new((0..units).map(|k| format!("x{k}"))).expect("names are distinct");
    let mut state = vec![1i8; units];
    for _ in 0..rows {
        for step in 0..SWEEPS * units {
            let unit = step % units;
            let around = weights[unit * units..(unit + 1) * units].iter().zip(&state);
            let field: f64 = around.map(|(w, &s)| w * f64::from(s)).sum();
            state[unit] = if uniform() < 1.0 / (1.0 + (-2.0 * field).exp()) { 1 } else { -1 };
        }
        table.push(&state, 1.0).expect("cells are −1 and +1");
    }
    table
}

/// A picture of a few white discs on black, −1 and +1 row by row, some as wide as a quarter of the
/// picture.
pub fn blobs(rows: usize, columns: usize, seed: u64) -> Vec<i8> {
    let mut bits = Bits(seed.wrapping_mul(2) + 1);
    let discs: Vec<[usize; 3]> = (0..12)
        .map(|_| [bits.below(rows), bits.below(columns), 2 + bits.below(rows.min(columns) / 8)])
        .collect();
    let inside = |row: usize, column: usize| {
        discs
            .iter()
            .any(|&[r, c, radius]| row.abs_diff(r).pow(2) + column.abs_diff(c).pow(2) <= radius * radius)
    };
    (0..rows * columns).map(|k| if inside(k / columns, k % columns) { 1 } else { -1 }).collect()
}

/// A generator of our own, so that structures do not change with versions of other crates.
struct Bits(u64);

impl Bits {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * limit as u64) >> 32) as usize
    }
}

fn random(graph: Graph, strength: f64) -> Machine {
    let numbers = Numbers::Uniform { low: -strength, high: strength };
    Machine::from_graph(graph).with_numbers(&numbers, &numbers, 1).expect("bounded numbers are finite")
}
