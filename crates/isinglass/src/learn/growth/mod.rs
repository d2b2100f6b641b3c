//! Hidden units that are added to a machine: where it misses what its table shows.
//!
//! [`grown`] adds units that make a table more probable, found in `residual`, [`splitting`] units that
//! split its rows; [`Conditioned`] fits both by conditionals; [`Validation`] ends a fit where held-out rows get no more probable, and keeps the best machine on the way.

mod conditionals;
mod held_out;
mod residual;
mod splits;
mod validation;

pub use self::conditionals::{ByConditionals, Conditioned};
pub use self::held_out::HeldOut;
pub use self::splits::splitting;
pub use self::validation::{Validated, Validation};

use self::residual::{Residual, UnitBegin};
use super::start::SPREAD;
use crate::numeric::streams::{Purpose, stream};
use crate::topology::Numbers;
use crate::{Error, Evidence, Graph, Machine, Result, Role, Sampler, Table};

/// States of the machine with which rows are compared.
const DRAWS: usize = 8192;

/// Adds hidden units to a machine, each joined with all visible and input units.
///
/// A new unit with couplings w and bias b multiplies the probability of a row v by `cosh(b + w·v)`,
/// up to a constant. With draws from the machine the likelihood that it adds is known before any fit,
///
/// ```text
/// G(w, b) = ⟨ln cosh(b + w·v)⟩_rows − ln ⟨cosh(b + w·v)⟩_draws,
/// ```
///
/// whose first terms are differences of moments of third and higher order where the machine is fitted
/// to all pairs, and of pairs where it has none. One unit after another begins at a large value of G
/// with a normal prior, found from a few random directions; draws then count by the units that they
/// have got (as in boosted densities: Rosset and Segal 2002; features added to a random field: Della
/// Pietra, Della Pietra and Lafferty 1997). Units beyond those that draws can tell of begin with small
/// random couplings, as in [`start`](super::start()). With input units all do.
///
/// *Complexity*: some hundred products of rows and draws with a vector for each unit. *Accuracy*: this
/// is a start; a fit must follow. *When it fails*: what a unit does to biases and pairs is not taken off
/// G, so that units of a machine that is fitted to all pairs mostly begin near 0, where a fit leaves a
/// saddle slowly.
///
/// # Errors
/// A table that does not fit the machine; those of the sampler.
///
/// # Example
/// ```
/// use isinglass::learn::{Learner, Likelihood, grown, start};
/// use isinglass::prelude::*;
/// // An even number of units is up: no pairs tell of it.
/// let rows = [[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1],
///             [-1, -1, -1, -1], [-1, -1, 1, 1], [-1, 1, -1, 1], [-1, 1, 1, -1]];
/// let table = Table::from_rows(["a", "b", "c", "d"], rows)?;
/// let exact = Enumerate::new();
/// let learner = Likelihood::new(&exact).l2(0.001);
/// let pairs = learner.fit(&topology::full(4).with_names(["a", "b", "c", "d"])?, &table)?;
/// let begin = grown(&pairs.machine, 2, &table, &exact, 0)?;
/// assert_eq!(begin.names()[4], "h1");
/// assert_eq!((begin.unit_count(), begin.graph().edges().len()), (6, 6 + 8));
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn grown(
    machine: &Machine,
    count: usize,
    table: &Table,
    sampler: &dyn Sampler,
    seed: u64,
) -> Result<Machine> {
    let ends: Vec<usize> =
        (0..machine.unit_count()).filter(|&unit| machine.roles()[unit] != Role::Hidden).collect();
    let has_inputs = machine.with_role(Role::Input).next().is_some();
    let first = machine.with_role(Role::Hidden).count();
    let mut found = Vec::new();
    if !has_inputs && count > 0 {
        let none = Evidence::none(machine.unit_count());
        let draws = sampler.draw(machine, &none, DRAWS, seed)?;
        let mut residual = Residual::new(machine, &ends, table, &draws.cells)?;
        for number in 0..count {
            let Some(unit) = residual.next(&mut stream(seed, Purpose::Growth, (first + number) as u64))?
            else {
                break;
            };
            found.push(unit);
        }
    }
    let spread = machine.temperature() * SPREAD;
    while found.len() < count {
        let index = (first + found.len()) as u64;
        let mut random = stream(seed, Purpose::Start, index);
        let couplings = Numbers::Normal { mean: 0.0, deviation: spread }.draw(ends.len(), &mut random);
        found.push(UnitBegin { couplings, bias: 0.0 });
    }
    with_units(machine, &ends, &found)
}

/// The machine with more hidden units.
fn with_units(machine: &Machine, ends: &[usize], units: &[UnitBegin]) -> Result<Machine> {
    let first = machine.unit_count();
    let mut edges: Vec<((usize, usize), f64)> =
        machine.graph().edges().iter().copied().zip(machine.weights().iter().copied()).collect();
    for (number, unit) in units.iter().enumerate() {
        edges.extend(ends.iter().zip(&unit.couplings).map(|(&end, &weight)| ((end, first + number), weight)));
    }
    edges.sort_by_key(|(edge, _)| *edge);
    let graph = Graph::new(first + units.len(), edges.iter().map(|(edge, _)| *edge))?;
    let weights = edges.into_iter().map(|(_, weight)| weight).collect();
    let biases = machine.biases().iter().copied().chain(units.iter().map(|unit| unit.bias)).collect();
    let roles = machine.roles().iter().copied().chain(units.iter().map(|_| Role::Hidden)).collect();
    let hidden = machine.with_role(Role::Hidden).count();
    let names: Vec<String> =
        machine.names().iter().cloned().chain(new_names(machine.names(), hidden, units.len())).collect();
    Machine::from_graph(graph)
        .with_names(names)?
        .with_roles(roles)?
        .with_temperature(machine.temperature())?
        .with_offset(machine.offset())?
        .with_parameters(weights, biases)
}

/// Names of hidden units: `h1`, `h2`, … from a number on, with as many underscores before as it takes
/// not to meet a name.
pub fn new_names(names: &[String], before: usize, count: usize) -> Vec<String> {
    let mut prefix = "h".to_owned();
    loop {
        let new: Vec<String> = (before + 1..=before + count).map(|k| format!("{prefix}{k}")).collect();
        if !new.iter().any(|name| names.contains(name)) {
            return new;
        }
        prefix.insert(0, '_');
    }
}

/// Refuses rows of which none has a cell.
fn check_rows(total: f64) -> Result<()> {
    if total > 0.0 { Ok(()) } else { Err(Error::invalid("rows", "they have no weight")) }
}
