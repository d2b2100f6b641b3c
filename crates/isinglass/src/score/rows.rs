//! The log-likelihood of each row.

use std::collections::HashMap;

use crate::engine::{Ask, Batch, Diagnostics, Engine, Guarantee, WITH_LOG_Z, in_pieces};
use crate::learn::Phases;
use crate::{Error, Machine, Result, Role, Table};

/// Cells of rows that go to an engine in one batch.
const CELLS_AT_ONCE: usize = 1 << 22;

/// The log-likelihood of each distinct row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct RowLikelihoods {
    /// log P(visible | input) of each distinct row, missing cells and hidden units summed out.
    pub values: Vec<f64>,
    /// Their standard errors, where they are estimates with one.
    pub errors: Option<Vec<f64>>,
    /// What kind of numbers these are.
    pub guarantee: Guarantee,
    /// How the engines fared.
    pub diagnostics: Diagnostics,
}

/// The log-likelihood of each distinct row; [`crate::score::Score::log_likelihood`] is their average by weight.
///
/// Rows without free units need no engine of theirs: `log P(s) = −E(s)/T − log Z`.
///
/// # Errors
/// A table that does not fit the machine; [`Error::CannotDo`] for an engine without log Z, and whatever the engines refuse.
///
/// # Example
/// ```
/// use isinglass::{Enumerate, Machine, Table, learn::Phases, score, topology};
/// let coins = Machine::from_graph(topology::full(3));
/// let table = Table::from_rows(["x0", "x1", "x2"], [[1, 1, -1], [0, 1, 1]])?;
/// let engine = Enumerate::default();
/// let found = score::log_likelihoods(&coins, &table, Phases { clamped: &engine, free: &engine })?;
/// assert!((found.values[0] - -3.0 * 2f64.ln()).abs() < 1e-12);
/// assert!((found.values[1] - -2.0 * 2f64.ln()).abs() < 1e-12);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn log_likelihoods(machine: &Machine, table: &Table, phases: Phases<'_>) -> Result<RowLikelihoods> {
    // The offset cancels; left out, it cannot take digits from the differences.
    let machine = &machine.clone().with_offset(0.0)?;
    let (cells, _) = table.cells_for(machine)?;
    let rows: Vec<&[i8]> = cells.chunks_exact(machine.units().max(1)).collect();
    let mut sums = Sums::new(rows.len());
    let open: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].contains(&0)).collect();
    for (row, cells) in rows.iter().enumerate().filter(|(_, cells)| !cells.contains(&0)) {
        sums.values[row] = machine.log_weight(cells);
    }
    let open_rows: Vec<&[i8]> = open.iter().map(|&row| rows[row]).collect();
    let of_rows = Sums::of_rows(phases.clamped, machine, &open_rows)?;
    for (place, &row) in open.iter().enumerate() {
        sums.values[row] = of_rows.values[place];
        sums.errors[row] = of_rows.errors[place];
    }

    let input = |(&cell, &role): (&i8, &Role)| if role == Role::Input { cell } else { 0 };
    let mut places: HashMap<Vec<i8>, usize> = HashMap::new();
    let mut place_of = |row: &[i8]| {
        let next = places.len();
        *places.entry(row.iter().zip(machine.roles()).map(input).collect()).or_insert(next)
    };
    let place_of: Vec<usize> = rows.iter().map(|row| place_of(row)).collect();
    let mut inputs: Vec<&[i8]> = vec![&[]; places.len()];
    for (given, &place) in &places {
        inputs[place] = given;
    }
    let free = Sums::of_rows(phases.free, machine, &inputs)?;
    for (row, place) in place_of.into_iter().enumerate() {
        sums.values[row] -= free.values[place];
        sums.errors[row] = sums.errors[row].hypot(free.errors[place]);
    }
    Ok(RowLikelihoods {
        values: sums.values,
        errors: (of_rows.estimated || free.estimated).then_some(sums.errors),
        guarantee: of_rows.guarantee.and(free.guarantee.negated()),
        diagnostics: of_rows.diagnostics.and(free.diagnostics),
    })
}

/// log Z of rows.
struct Sums {
    values: Vec<f64>,
    /// Standard errors; 0 where there are none.
    errors: Vec<f64>,
    /// Whether there are any.
    estimated: bool,
    guarantee: Guarantee,
    diagnostics: Diagnostics,
}

impl Sums {
    fn new(rows: usize) -> Self {
        Self {
            values: vec![0.0; rows],
            errors: vec![0.0; rows],
            estimated: false,
            guarantee: Guarantee::Exact,
            diagnostics: Diagnostics::direct(),
        }
    }

    fn of_rows(engine: &dyn Engine, machine: &Machine, rows: &[&[i8]]) -> Result<Self> {
        let mut found = Self::new(0);
        let without_log_z = || Error::CannotDo {
            who: engine.name(),
            what: "give the likelihood of a row".into(),
            why: format!("it has no log Z; {WITH_LOG_Z}"),
        };
        if !rows.is_empty() && !engine.has_log_z() {
            return Err(without_log_z());
        }
        let at_once = CELLS_AT_ONCE / machine.units().max(1);
        let free = |row: &[i8]| row.iter().filter(|&&cell| cell == 0).count();
        let ask = |piece: &[&[i8]]| {
            let batch = Batch::new(machine.units(), &piece.concat(), &vec![1.0; piece.len()])?;
            engine.batch(machine, &batch, Ask::default())
        };
        in_pieces(rows, at_once, free, ask, |piece, answer| {
            found.values.extend(answer.log_z.ok_or_else(without_log_z)?);
            found.estimated |= answer.log_z_errors.is_some();
            found.errors.extend(answer.log_z_errors.unwrap_or_else(|| vec![0.0; piece.len()]));
            found.guarantee = found.guarantee.and(answer.guarantee);
            found.diagnostics = found.diagnostics.and(answer.diagnostics);
            Ok(())
        })?;
        Ok(found)
    }
}
