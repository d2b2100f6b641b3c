//! Machines with the usual structures. Weights and biases are 0 unless the name implies others.
//!
//! ```
//! use isinglass::{Role, topology::{self, Lattice, Links, Neighbours}};
//! assert_eq!(topology::tree(5, 2).graph().edges(), [(0, 1), (0, 2), (1, 3), (1, 4)]);
//! assert_eq!(topology::grid(3, 3, Neighbours::Eight).graph().edges().len(), 20);
//! assert_eq!(topology::rbm(3, 2)?.roles()[4], Role::Hidden);
//! let torus = topology::lattice(&Lattice::grid(4, 4).periodic(true))?;
//! assert_eq!((torus.graph().edges().len(), torus.name(5)), (32, "r1c1"));
//! assert_eq!(topology::regular(100, 3, 7)?.graph().edges().len(), 150);
//! let two_layer = topology::two_layer(4, &Links::Chain, 2, &Links::Full)?;
//! assert_eq!(two_layer.graph().edges().len(), 3 + 1 + 8);
//!
//! let glass = topology::sherrington_kirkpatrick(50, 1.0, 7)?;
//! let variance = glass.weights().iter().map(|w| w * w).sum::<f64>() / 1225.0;
//! assert!((variance - 1.0 / 50.0).abs() < 0.005);
//! # Ok::<(), isinglass::Error>(())
//! ```

use std::str::FromStr;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

use super::{Machine, Role, regular as random_regular};
use crate::numeric::streams::{Purpose, stream};
use crate::{Error, Graph, Result};

pub use crate::graph::{Lattice, Neighbours};

/// How the units of one layer are joined among themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Links {
    /// Not at all.
    None,
    /// Each with the next.
    Chain,
    /// Each with every other.
    Full,
    /// As the cells of a grid, row by row.
    Grid {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
        /// Which cells are neighbours.
        neighbours: Neighbours,
    },
    /// As listed.
    Edges(Vec<(usize, usize)>),
}

impl Links {
    /// An upper bound on the edges of a layer of `units` units.
    pub fn most_edges(&self, units: u128) -> u128 {
        match self {
            Self::None => 0,
            Self::Chain => units,
            Self::Full => units.saturating_mul(units) / 2,
            Self::Grid { .. } => units.saturating_mul(4),
            Self::Edges(edges) => edges.len() as u128,
        }
    }

    /// The graph of a layer of `units` units.
    ///
    /// # Errors
    /// A grid whose rows times columns is not the number of units; an invalid edge list.
    pub fn graph(&self, units: usize) -> Result<Graph> {
        match self {
            Self::None => Graph::new(units, []),
            Self::Chain => Ok(Graph::chain(units)),
            Self::Full => Ok(Graph::full(units)),
            Self::Grid { rows, columns, neighbours } => {
                if rows.checked_mul(*columns) == Some(units) {
                    Ok(Graph::grid(*rows, *columns, *neighbours))
                } else {
                    let problem = format!("{rows} × {columns} cells do not hold {units} units");
                    Err(Error::invalid("grid", problem))
                }
            }
            Self::Edges(edges) => Graph::new(units, edges.iter().copied()),
        }
    }
}

/// Parses `none`, `chain`, `full`, `grid:RxC` and `grid8:RxC`.
impl FromStr for Links {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let grid = |size: &str, neighbours| {
            let (rows, columns) = size.split_once('x')?;
            Some(Self::Grid { rows: rows.parse().ok()?, columns: columns.parse().ok()?, neighbours })
        };
        let parsed = match text.split_once(':') {
            None if text == "none" => Some(Self::None),
            None if text == "chain" => Some(Self::Chain),
            None if text == "full" => Some(Self::Full),
            Some(("grid", size)) => grid(size, Neighbours::Four),
            Some(("grid8", size)) => grid(size, Neighbours::Eight),
            _ => None,
        };
        parsed.ok_or_else(|| {
            let problem = format!(
                "found '{text}', expected none, chain, full, grid:RxC or grid8:RxC (R rows, C columns)"
            );
            Error::invalid("links", problem)
        })
    }
}

/// A chain: each unit joined with the next.
pub fn chain(units: usize) -> Machine {
    Machine::from_graph(Graph::chain(units))
}

/// A balanced tree in which each unit has up to `branching` children, in the order of a heap.
pub fn tree(units: usize, branching: usize) -> Machine {
    Machine::from_graph(Graph::tree(units, branching))
}

/// A square lattice with open ends, row by row; units are named by row and column: `r0c0`, `r0c1`, ….
pub fn grid(rows: usize, columns: usize, neighbours: Neighbours) -> Machine {
    let names = Lattice::with_neighbours(rows, columns, neighbours).names();
    let machine = Machine::from_graph(Graph::grid(rows, columns, neighbours)).with_names(names);
    machine.expect("there is a name for each cell, and all differ")
}

/// A lattice of any kind, open or periodic; units are named by row and column: `r0c0`, `r0c1`, ….
///
/// # Errors
/// As [`Lattice::graph`].
pub fn lattice(lattice: &Lattice) -> Result<Machine> {
    Machine::from_graph(lattice.graph()?).with_names(lattice.names())
}

/// A random graph in which every unit has `degree` neighbours; all such graphs are about equally
/// probable.
///
/// *Method*: a regular arrangement in random order, changed by random switches of pairs of edges,
/// sixteen for each edge. *Complexity*: linear in the edges, or in the pairs that are not joined if
/// these are fewer, and then quadratic in the units.
///
/// # Errors
/// A degree that is not below the number of units, or an odd product of the two.
pub fn regular(units: usize, degree: usize, seed: u64) -> Result<Machine> {
    let random = &mut stream(seed, Purpose::Structure, 0);
    Ok(Machine::from_graph(random_regular::regular(units, degree, random)?))
}

/// A complete graph: every unit joined with every other.
pub fn full(units: usize) -> Machine {
    Machine::from_graph(Graph::full(units))
}

/// A restricted Boltzmann machine: visible units `v0`… and hidden units `h0`…, joined across only.
pub fn rbm(visible: usize, hidden: usize) -> Result<Machine> {
    two_layer(visible, &Links::None, hidden, &Links::None)
}

/// Visible units `v0`… and hidden units `h0`…, all joined across, and within each layer by links.
pub fn two_layer(
    visible: usize,
    visible_links: &Links,
    hidden: usize,
    hidden_links: &Links,
) -> Result<Machine> {
    let mut edges = visible_links.graph(visible)?.edges().to_vec();
    for a in 0..visible {
        edges.extend((0..hidden).map(|b| (a, visible + b)));
    }
    let below = hidden_links.graph(hidden)?;
    edges.extend(below.edges().iter().map(|&(a, b)| (visible + a, visible + b)));
    let names = (0..visible).map(|k| format!("v{k}")).chain((0..hidden).map(|k| format!("h{k}")));
    let mut roles = vec![Role::Visible; visible];
    roles.resize(visible + hidden, Role::Hidden);
    Machine::from_graph(Graph::new(visible + hidden, edges)?).with_names(names)?.with_roles(roles)
}

/// The Sherrington–Kirkpatrick glass: full, normal weights of variance `strength²/n`, no biases.
///
/// # Errors
/// A strength that is not finite.
pub fn sherrington_kirkpatrick(units: usize, strength: f64, seed: u64) -> Result<Machine> {
    let weights = Numbers::Normal { mean: 0.0, deviation: strength / (units.max(1) as f64).sqrt() };
    full(units).with_numbers(&weights, &Numbers::Constant(0.0), seed)
}

/// Where the weights or biases of a new machine come from.
///
/// # Example
/// ```
/// use isinglass::topology::Numbers;
/// assert_eq!("0.5".parse(), Ok(Numbers::Constant(0.5)));
/// assert_eq!("normal:0,2".parse(), Ok(Numbers::Normal { mean: 0.0, deviation: 2.0 }));
/// assert_eq!("uniform:-1,1".parse(), Ok(Numbers::Uniform { low: -1.0, high: 1.0 }));
/// assert_eq!("signs:0.3".parse(), Ok(Numbers::Signs(0.3)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Numbers {
    /// The same number everywhere.
    Constant(f64),
    /// Normal with mean and standard deviation.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// Uniform between two bounds.
    Uniform {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// Plus or minus a number, each with probability ½ (the ±J glass).
    Signs(f64),
}

impl Numbers {
    pub(crate) fn draw(&self, count: usize, random: &mut impl Rng) -> Vec<f64> {
        let draw = |_| match *self {
            Self::Constant(x) => x,
            Self::Normal { mean, deviation } => {
                let z: f64 = StandardNormal.sample(random);
                mean + deviation * z
            }
            Self::Uniform { low, high } => low + (high - low) * random.random::<f64>(),
            Self::Signs(x) => x.copysign(if random.random() { 1.0 } else { -1.0 }),
        };
        (0..count).map(draw).collect()
    }
}

impl FromStr for Numbers {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let two = |text: &str| {
            let (a, b) = text.split_once(',')?;
            Some((number(a)?, number(b)?))
        };
        let parsed = match text.split_once(':') {
            None => number(text).map(Self::Constant),
            Some(("normal", rest)) => two(rest)
                .filter(|&(_, deviation)| deviation >= 0.0)
                .map(|(mean, deviation)| Self::Normal { mean, deviation }),
            Some(("uniform", rest)) => two(rest)
                .filter(|&(low, high)| low <= high && (high - low).is_finite())
                .map(|(low, high)| Self::Uniform { low, high }),
            Some(("signs", rest)) => number(rest).map(Self::Signs),
            Some(_) => None,
        };
        let expected = "a number, normal:MEAN,SD, uniform:LOW,HIGH or signs:X";
        parsed.ok_or_else(|| Error::invalid("numbers", format!("found '{text}', expected {expected}")))
    }
}

impl Machine {
    /// The same structure with new weights and biases.
    ///
    /// # Errors
    /// A drawn number that is not finite.
    pub fn with_numbers(self, weights: &Numbers, biases: &Numbers, seed: u64) -> Result<Self> {
        let weights = weights.draw(self.graph().edges().len(), &mut stream(seed, Purpose::Weights, 0));
        let biases = biases.draw(self.unit_count(), &mut stream(seed, Purpose::Biases, 0));
        self.with_parameters(weights, biases)
    }

    /// The same machine with new biases.
    ///
    /// # Errors
    /// A drawn number that is not finite.
    pub fn with_biases_drawn(self, biases: &Numbers, seed: u64) -> Result<Self> {
        let biases = biases.draw(self.unit_count(), &mut stream(seed, Purpose::Biases, 0));
        let weights = self.weights().to_vec();
        self.with_parameters(weights, biases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_as_the_command_line_writes_them() {
        let grid = |rows, columns, neighbours| Links::Grid { rows, columns, neighbours };
        assert_eq!("grid:2x3".parse(), Ok(grid(2, 3, Neighbours::Four)));
        assert_eq!("grid8:10x1".parse(), Ok(grid(10, 1, Neighbours::Eight)));
        assert!("grid:2".parse::<Links>().is_err());
        assert!("ring".parse::<Links>().is_err());
        let wrong = grid(2, 3, Neighbours::Four).graph(7).unwrap_err();
        assert_eq!(wrong.to_string(), "grid: 2 × 3 cells do not hold 7 units");
    }

    #[test]
    fn numbers_that_are_drawn_are_finite_or_refused() {
        let wild = Numbers::Normal { mean: 0.0, deviation: f64::MAX };
        let drawn = chain(50).with_numbers(&wild, &Numbers::Constant(0.0), 0);
        assert!(matches!(drawn, Err(Error::Invalid { .. })));
        assert!("uniform:-1e308,1e308".parse::<Numbers>().is_err());
        let same = Numbers::Uniform { low: 0.5, high: 0.5 };
        let drawn = chain(3).with_numbers(&same, &same, 0).unwrap();
        assert_eq!(drawn.weights(), [0.5; 2]);
    }

    #[test]
    fn eight_neighbours_reach_around_a_cell() {
        let graph = Graph::grid(3, 3, Neighbours::Eight);
        let centre: Vec<_> = graph.neighbours(4).map(|(unit, _)| unit).collect();
        assert_eq!(centre, [0, 1, 2, 3, 5, 6, 7, 8]);
    }

    #[test]
    fn small_sizes_are_graphs_too() {
        for n in 0..3 {
            assert_eq!(chain(n).graph().edges().len(), n.saturating_sub(1));
            assert_eq!(tree(n, 2).graph().edges().len(), n.saturating_sub(1));
            assert_eq!(full(n).graph().edges().len(), n * n.saturating_sub(1) / 2);
        }
        assert_eq!(grid(1, 1, Neighbours::Eight).graph().edges().len(), 0);
        assert_eq!(grid(0, 4, Neighbours::Four).unit_count(), 0);
    }
}
