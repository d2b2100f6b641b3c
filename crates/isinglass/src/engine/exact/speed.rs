//! How long exact engines take: counted work, and a calibration of a few milliseconds.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

use super::enumerate::Enumerate;
use super::network::Compiled;
use crate::budget::Work;
use crate::engine::{Engine, Pairs};
use crate::{Evidence, Graph, topology};

/// Rows and columns of the lattice that stands for all networks. Its tables are in the second cache; larger
/// ones come from memory.
const ROWS: usize = 4;
const COLUMNS: usize = 14;

/// Units of the machine that stands for all enumerations.
const UNITS: usize = 18;

/// By how much a sum takes longer in tables that come from memory.
const FROM_MEMORY: f64 = 1.5;

/// Less work than this is done before its speed is measured: it is taken to need two nanoseconds each.
const SMALL: f64 = 1e7;
const USUAL: f64 = 2e-9;

/// The least time of three runs.
fn best_of_three(mut run: impl FnMut() -> f64) -> f64 {
    (0..3).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// Times a forward and a backward pass through a lattice, row by row.
fn sums() -> impl FnMut() -> f64 {
    let unit = |row: usize, column: usize| row * COLUMNS + column;
    let places = || (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (row, column)));
    let right = places().filter(|&(_, c)| c + 1 < COLUMNS).map(|(r, c)| (unit(r, c), unit(r, c + 1)));
    let below = places().filter(|&(r, _)| r + 1 < ROWS).map(|(r, c)| (unit(r, c), unit(r + 1, c)));
    let units = ROWS * COLUMNS;
    let graph = Graph::new(units, right.chain(below)).expect("a lattice is a graph");
    let order: Vec<usize> = (0..units).collect();
    let network =
        Compiled::new(&graph, &vec![true; units], &order, COLUMNS).expect("a row separates a lattice");
    let edges = graph.edges().len();
    move || {
        let (weights, fields) = (vec![0.3; edges], vec![0.1; units]);
        let (mut moments, mut means) = (vec![0.0; edges], vec![0.0; units]);
        let began = Instant::now();
        black_box(network.run().solve((&weights, &fields), (&mut moments, &mut means)));
        began.elapsed().as_secs_f64() / network.work()
    }
}

/// Times an enumeration.
fn states() -> impl FnMut() -> f64 {
    let (machine, nothing) = (topology::full(UNITS), Evidence::none(UNITS));
    move || {
        let began = Instant::now();
        let _ = black_box(Enumerate::default().expectations(&machine, &nothing, Pairs::All));
        began.elapsed().as_secs_f64() / (UNITS as f64).exp2()
    }
}

impl Work {
    /// Estimates the seconds that log Z, means and edge moments take, on the threads that there are.
    ///
    /// *Accuracy*: about a factor of 2, on an idle machine. The first call measures for some
    /// milliseconds.
    ///
    /// # Example
    /// ```
    /// use isinglass::Work;
    /// let (few, many) = (Work::States(1e9), Work::States(1e12));
    /// assert!((many.seconds() / few.seconds() - 1000.0).abs() < 1e-6);
    /// ```
    pub fn seconds(self) -> f64 {
        /// Seconds for one sum on one thread.
        static SUM: OnceLock<f64> = OnceLock::new();
        /// Seconds for one state on all threads.
        static STATE: OnceLock<f64> = OnceLock::new();
        match self {
            Self::Sums(count) | Self::States(count) if count < SMALL => count * USUAL,
            Self::Sums(count) => {
                let sum = SUM.get_or_init(|| best_of_three(sums()));
                count * sum * FROM_MEMORY / rayon::current_num_threads() as f64
            }
            Self::States(count) => count * STATE.get_or_init(|| best_of_three(states())),
        }
    }
}
