//! The Chow–Liu tree: the tree over the columns of a table whose machine has the largest
//! likelihood.

use rayon::prelude::*;

use super::independent_log_likelihood;
use super::pair_counts::{Counts, PairCounts};
use crate::cancel;
use crate::{Error, Graph, Machine, Result, Role, Table};

/// Pairs that one task counts.
const PIECE: usize = 16;

/// Finds the tree over some columns of a table whose best machine is the most likely (Chow and Liu
/// 1968).
///
/// The largest likelihood of a machine on a tree is that of independent units plus the mutual
/// information of each edge,
///
/// ```text
/// L = − Σ_i H(s_i) + Σ_(ij) I(s_i, s_j)        I = Σ p(s_i, s_j) log [ p(s_i, s_j) / (p(s_i) p(s_j)) ]
/// ```
///
/// so the best tree is the maximum spanning tree of the mutual information. It spans all requested
/// columns, also where the information is 0.
///
/// # Arguments
/// `columns`: numbers of columns, each once, in any order. Other columns stay isolated.
///
/// # Returns
/// A graph with a unit for each column of the table. Of several best trees it is that of Prim's
/// algorithm from the first of `columns`, with ties broken by the order of `columns`, on any number
/// of threads.
///
/// # Complexity
/// O(n² r / 64) for n columns and r distinct rows of equal weight, by counting bits; otherwise
/// times the binary digits of the weights. *Memory*: a bit or two per cell and digit, and O(n).
///
/// # Accuracy, and when it fails
/// Row weights count; fractional ones are rounded to a 2⁴⁰th of the largest. With missing cells
/// each pair is judged by the rows that have both: exact only if cells are missing at random, and
/// the tree need not be the most likely one. Pairs that are never both present have information 0.
///
/// # Errors
/// A column beyond the table's, or one that stands twice; rows without weight.
///
/// # Example
/// ```
/// use isinglass::{Table, learn};
/// // b follows a, and c follows b, each with one exception.
/// let rows = [[1, 1, 1], [1, 1, 1], [-1, -1, -1], [-1, -1, -1], [1, -1, -1], [-1, -1, 1]];
/// let table = Table::from_rows(["a", "b", "c"], rows)?;
/// assert_eq!(learn::chow_liu(&table, &[0, 1, 2])?.edges(), [(0, 1), (1, 2)]);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn chow_liu(table: &Table, columns: &[usize]) -> Result<Graph> {
    let width = table.columns().len();
    let mut seen = vec![false; width];
    for (k, &column) in columns.iter().enumerate() {
        let place = || format!("columns[{k}]");
        match seen.get_mut(column) {
            None => {
                let problem = format!("found {column}, but the table has {width} columns, counted from 0");
                return Err(Error::invalid(place(), problem));
            }
            Some(seen) if *seen => {
                let problem = format!("column {column} '{}' stands twice", table.columns()[column]);
                return Err(Error::invalid(place(), problem));
            }
            Some(seen) => *seen = true,
        }
    }
    if table.total_weight() <= 0.0 {
        return Err(Error::invalid("table", "the rows have no weight"));
    }
    let counts = PairCounts::new(table, columns);
    let tree = maximum_spanning_tree(columns.len(), |a, b| mutual_information(counts.of(a, b)));
    Graph::new(width, tree.into_iter().map(|(a, b)| (columns[a], columns[b])))
}

/// Columns up to which the tree is computed as a baseline, in well under a second for 20,000 rows.
const MOST_COLUMNS: usize = 1000;

/// The log-likelihood of a row under the Chow–Liu tree of the visible columns: the largest that a
/// machine on any tree can reach on these rows.
///
/// It is that of independent units plus the mutual information of the edges, so no machine is fitted.
/// None where it has no such form, or takes long: missing cells, input units, more than 1,000
/// columns.
///
/// # Errors
/// A table that does not fit the machine, or whose rows have no weight.
///
/// # Example
/// ```
/// use isinglass::{Table, learn, topology};
/// let table = Table::from_rows(["a", "b"], [[1, 1], [-1, -1]])?;
/// let machine = topology::full(2).with_names(["a", "b"])?;
/// let tree = learn::tree_log_likelihood(&machine, &table)?.unwrap();
/// assert!((tree + 2f64.ln()).abs() < 1e-12);          // one coin decides both
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn tree_log_likelihood(machine: &Machine, table: &Table) -> Result<Option<f64>> {
    let independent = independent_log_likelihood(machine, table)?;
    let columns = table.columns();
    let has_inputs = machine.with_role(Role::Input).next().is_some();
    if has_inputs || table.missing_count() > 0 || columns.len() > MOST_COLUMNS {
        return Ok(None);
    }
    let mut visible = Vec::with_capacity(columns.len());
    for (column, name) in columns.iter().enumerate() {
        if machine.roles()[machine.position(name)?] == Role::Visible {
            visible.push(column);
        }
    }
    let counts = PairCounts::new(table, &visible);
    let information = |a: usize, b: usize| mutual_information(counts.of(a, b));
    let tree = maximum_spanning_tree(visible.len(), information);
    let gained = tree.into_iter().map(|(a, b)| information(a.min(b), a.max(b))).sum::<f64>();
    Ok(Some(independent + gained))
}

/// A unit outside the tree, and the best edge that would join it.
struct Outside {
    unit: usize,
    weight: f64,
    parent: usize,
}

/// Prim's algorithm from unit 0, each weight computed once; those of a new unit in parallel.
fn maximum_spanning_tree(units: usize, weight: impl Fn(usize, usize) -> f64 + Sync) -> Vec<(usize, usize)> {
    let mut outside: Vec<Outside> =
        (1..units).map(|unit| Outside { unit, weight: f64::NEG_INFINITY, parent: 0 }).collect();
    let mut edges = Vec::with_capacity(outside.len());
    let mut newest = 0;
    while !outside.is_empty() {
        cancel::point();
        outside.par_iter_mut().with_min_len(PIECE).for_each(|candidate| {
            let weight = weight(newest.min(candidate.unit), newest.max(candidate.unit));
            // Among equals the first parent, whenever it joined.
            if weight > candidate.weight || (weight == candidate.weight && newest < candidate.parent) {
                candidate.weight = weight;
                candidate.parent = newest;
            }
        });
        let mut best = 0;
        for k in 1..outside.len() {
            if outside[k].weight > outside[best].weight {
                best = k;
            }
        }
        // Not `swap_remove`: the order of the rest breaks ties.
        let joined = outside.remove(best);
        edges.push((joined.parent, joined.unit));
        newest = joined.unit;
    }
    edges
}

/// I(a, b) in nats, from the weights of the four pairs of values; 0 without any.
fn mutual_information(counts: Counts) -> f64 {
    let Counts { total, first, second, both } = counts;
    if total == 0 {
        return 0.0;
    }
    let cells = [
        (both, first, second),
        (first - both, first, total - second),
        (second - both, total - first, second),
        (total + both - first - second, total - first, total - second),
    ];
    let n = total as f64;
    let term = |(cell, a, b): (u64, u64, u64)| {
        let cell = cell as f64;
        if cell > 0.0 { cell / n * (cell / a as f64 * (n / b as f64)).ln() } else { 0.0 }
    };
    // Information is not negative; rounding may make it so.
    cells.into_iter().map(term).sum::<f64>().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_of_known_tables() {
        let of = |total, first, second, both| mutual_information(Counts { total, first, second, both });
        assert_eq!(of(0, 0, 0, 0), 0.0);
        assert_eq!(of(8, 4, 4, 2), 0.0, "independent");
        assert_eq!(of(8, 8, 4, 4), 0.0, "constant");
        assert!((of(8, 4, 4, 4) - 2f64.ln()).abs() < 1e-15, "equal");
        assert!((of(8, 4, 4, 0) - 2f64.ln()).abs() < 1e-15, "opposite");
        let expected = 0.6 * (0.6f64 / (0.7 * 0.8)).ln()
            + 0.1 * (0.1f64 / (0.7 * 0.2)).ln()
            + 0.2 * (0.2f64 / (0.3 * 0.8)).ln()
            + 0.1 * (0.1f64 / (0.3 * 0.2)).ln();
        assert!((of(10, 7, 8, 6) - expected).abs() < 1e-15);
    }

    #[test]
    fn equal_weights_give_a_star_around_the_first() {
        assert_eq!(maximum_spanning_tree(4, |_, _| 0.0), [(0, 1), (0, 2), (0, 3)]);
        assert_eq!(maximum_spanning_tree(1, |_, _| 0.0), []);
        assert_eq!(maximum_spanning_tree(0, |_, _| 0.0), []);
    }
}
