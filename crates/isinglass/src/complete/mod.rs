//! Completion of a table: missing cells filled with their means given the observed cells of the
//! row.
//!
//! Calls engines and tables; nothing calls it but commands.

use crate::engine::{Ask, BatchExpectations, Diagnostics, Engine, Guarantee, Open, in_pieces};
use crate::table::{Batch, units_without_column};
use crate::{Budget, Error, Machine, Note, Result, Role, Spin, Table};

/// Most cells of rows that go to the engine in one batch.
const CELLS_AT_ONCE: usize = 1 << 22;

/// Bytes of a cell in progress: its mean twice, and itself in rows and in the batch.
const CELL_BYTES: usize = 18;

/// Means within the accuracy of the exact engines count as 0.
const TIE: f64 = 1e-9;

/// A table with a mean for each missing cell.
///
/// The columns are those of the table, followed by one for each visible or input unit without a
/// column.
#[derive(Debug, Clone)]
pub struct Completed<'a> {
    table: &'a Table,
    columns: Vec<String>,
    /// For each distinct row the start of its means; last the end.
    starts: Vec<usize>,
    /// ⟨s_i⟩ of the missing cells, row after row.
    means: Vec<f64>,
    /// The guarantee of the means; exact if there are none.
    pub guarantee: Guarantee,
    /// How the computation went.
    pub diagnostics: Diagnostics,
    /// What the user should know.
    pub notes: Vec<Note>,
}

impl Completed<'_> {
    /// The table's columns, followed by the units without a column, in the machine's order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The units without a column.
    pub fn added(&self) -> &[String] {
        &self.columns[self.table.columns().len()..]
    }

    /// The number of cells filled, among the rows as given.
    pub fn filled(&self) -> usize {
        self.table.distinct_of().iter().map(|&row| self.missing_in(row as usize)).sum()
    }

    fn missing_in(&self, distinct: usize) -> usize {
        self.starts[distinct + 1] - self.starts[distinct]
    }

    /// The mean of each column in a distinct row; that of an observed cell is its value.
    pub fn means(&self, distinct: usize) -> impl Iterator<Item = f64> + '_ {
        let mut filled = self.means[self.starts[distinct]..self.starts[distinct + 1]].iter();
        let added = std::iter::repeat_n(&0, self.added().len());
        // There is a mean for each missing cell.
        let mean = move |&cell: &i8| if cell == 0 { *filled.next().unwrap_or(&0.0) } else { f64::from(cell) };
        self.table.row(distinct).iter().chain(added).map(mean)
    }

    /// The probability of +1 of each column in a distinct row; that of an observed cell is 0 or 1.
    pub fn probabilities(&self, distinct: usize) -> impl Iterator<Item = f64> + '_ {
        self.means(distinct).map(|mean| f64::midpoint(1.0, mean).clamp(0.0, 1.0))
    }

    /// A distinct row with each missing cell at its more probable value; +1 if both are equal.
    pub fn state(&self, distinct: usize) -> impl Iterator<Item = Spin> + '_ {
        self.means(distinct).map(|mean| if mean > -TIE { Spin::Up } else { Spin::Down })
    }
}

/// Fills the missing cells of a table with `⟨s_i⟩` given the observed cells of the row; hidden
/// units and the other missing cells are summed out.
///
/// A visible or input unit without a column is missing in every row. A missing input cell is filled
/// like any other, and a note says that its own distribution was never learned.
///
/// *Complexity*: one engine answer for each distinct row with missing cells; rows that miss the
/// same cells share preparations. *Memory*: a number for each missing cell of the distinct rows;
/// rows go to the engine in pieces that fit the budget. *Accuracy*: that of the engine's means.
/// *When it fails*: cells are filled one by one, so two cells of a row that exclude each other may
/// both get their more probable value; for the most probable state of a row see [`crate::search`].
///
/// # Errors
/// A column that is no visible or input unit; what the engine refuses; [`Error::OverBudget`] for
/// the means.
///
/// # Example
/// ```
/// use isinglass::complete::complete;
/// use isinglass::{Budget, Decimate, Machine, Spin, Table, topology};
/// let chain = topology::chain(3).with_parameters(vec![1.0, 1.0], vec![0.0; 3])?;
/// let table = Table::from_rows(["x0", "x2"], [[-1, 0], [1, 1]])?;    // x1 has no column
/// let found = complete(&chain, &table, &Decimate::default(), Budget::default())?;
/// assert_eq!(found.columns(), ["x0", "x2", "x1"]);
/// assert_eq!(found.filled(), 3);
/// let means: Vec<f64> = found.means(0).collect();
/// assert!((means[1] - -(1f64.tanh().powi(2))).abs() < 1e-12);
/// assert!(found.state(1).all(|spin| spin == Spin::Up));
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn complete<'a>(
    machine: &Machine,
    table: &'a Table,
    engine: &dyn Engine,
    budget: Budget,
) -> Result<Completed<'a>> {
    let rows = Rows::new(machine, table)?;
    let mut starts = vec![0];
    for row in 0..table.distinct_count() {
        starts.push(starts[row] + rows.missing(row).count());
    }
    let incomplete: Vec<usize> =
        (0..table.distinct_count()).filter(|&row| starts[row + 1] > starts[row]).collect();
    let count = starts[table.distinct_count()];
    budget.check("complete", 8 * count as u128, || format!("the means of {count} missing cells"))?;
    let added = rows.added.iter().map(|&unit| machine.name(unit).to_owned());
    let mut completed = Completed {
        table,
        columns: table.columns().iter().cloned().chain(added).collect(),
        starts,
        means: Vec::with_capacity(count),
        guarantee: Guarantee::Exact,
        diagnostics: Diagnostics::direct(),
        notes: rows.notes(),
    };
    let bytes_of_a_row = CELL_BYTES * machine.unit_count().max(1);
    let available = usize::try_from(budget.0).unwrap_or(usize::MAX).saturating_sub(8 * count);
    let at_once = (CELLS_AT_ONCE * CELL_BYTES).min(available) / bytes_of_a_row;
    let missing = |row| rows.missing(row).count();
    let ask = |piece: &[usize]| rows.answer(piece, engine);
    let take = |piece: &[usize], answer: BatchExpectations| {
        let means = answer.means.ok_or_else(|| Error::CannotDo {
            who: engine.name(),
            what: "complete a table".into(),
            why: "it has no means of single rows".into(),
        })?;
        for (&row, means) in piece.iter().zip(means.chunks_exact(machine.unit_count().max(1))) {
            completed.means.extend(rows.missing(row).map(|unit| means[unit]));
        }
        // Bounds are on log Z; the means that come with one are approximations.
        completed.guarantee = completed.guarantee.and(answer.guarantee.of_ratio());
        completed.diagnostics = completed.diagnostics.and(answer.diagnostics);
        Ok(())
    };
    in_pieces(&incomplete, at_once, missing, ask, take)?;
    Ok(completed)
}

/// The units that an engine must sum out to complete a table; `None` if no cell is missing.
///
/// # Errors
/// A column that is no visible or input unit.
///
/// # Example
/// ```
/// use isinglass::{Table, complete, topology};
/// let table = Table::from_rows(["v0", "v1", "v2"], [[1, 0, 1], [1, 1, 1], [0, 1, 1]])?;
/// let open = complete::open(&topology::rbm(3, 2)?, &table)?.unwrap();
/// assert_eq!((open.in_any_row.cells(), open.in_one_row.free_count()), ([0, 0, 1, 0, 0].as_slice(), 3));
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn open(machine: &Machine, table: &Table) -> Result<Option<Open>> {
    let rows = Rows::new(machine, table)?;
    let incomplete: Vec<usize> =
        (0..table.distinct_count()).filter(|&row| rows.missing(row).next().is_some()).collect();
    if incomplete.is_empty() {
        return Ok(None);
    }
    let hidden: Vec<usize> = machine.with_role(Role::Hidden).collect();
    let free = |&row: &usize| {
        let mut free: Vec<usize> = rows.missing(row).chain(hidden.iter().copied()).collect();
        free.sort_unstable();
        free
    };
    Ok(Some(Open::of(machine.unit_count(), incomplete.iter().map(free))))
}

/// A table as rows of evidence for a machine.
struct Rows<'a> {
    machine: &'a Machine,
    table: &'a Table,
    positions: Vec<usize>,
    added: Vec<usize>,
}

impl<'a> Rows<'a> {
    fn new(machine: &'a Machine, table: &'a Table) -> Result<Self> {
        let positions = table.columns_in(machine)?;
        let added = units_without_column(machine, &positions);
        Ok(Self { machine, table, positions, added })
    }

    /// The units of the missing cells of a distinct row, in the order of columns.
    fn missing(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let cells = self.positions.iter().zip(self.table.row(row));
        cells.filter(|(_, cell)| **cell == 0).map(|(&unit, _)| unit).chain(self.added.iter().copied())
    }

    fn answer(&self, rows: &[usize], engine: &dyn Engine) -> Result<BatchExpectations> {
        let n = self.machine.unit_count();
        let mut cells = vec![0; rows.len() * n];
        for (&row, to) in rows.iter().zip(cells.chunks_exact_mut(n.max(1))) {
            for (&unit, &cell) in self.positions.iter().zip(self.table.row(row)) {
                to[unit] = cell;
            }
        }
        let batch = Batch::new(n, &cells, &vec![1.0; rows.len()])?;
        engine.batch(self.machine, &batch, Ask { statistics: false, means: true })
    }

    fn notes(&self) -> Vec<Note> {
        let (mut empty, mut inputs) = (Vec::new(), Vec::new());
        let mut present = vec![0; self.positions.len()];
        for row in 0..self.table.distinct_count() {
            for (count, &cell) in present.iter_mut().zip(self.table.row(row)) {
                *count += usize::from(cell != 0);
            }
        }
        let is_input = |unit: usize| self.machine.roles()[unit] == Role::Input;
        for ((name, &unit), &present) in self.table.columns().iter().zip(&self.positions).zip(&present) {
            if present == 0 {
                empty.push(name.as_str());
            }
            if is_input(unit) && present < self.table.distinct_count() {
                inputs.push(name.as_str());
            }
        }
        let added: Vec<&str> = self.added.iter().map(|&unit| self.machine.name(unit)).collect();
        inputs.extend(self.added.iter().filter(|&&unit| is_input(unit)).map(|&unit| self.machine.name(unit)));
        let notes = [
            Note::of_columns(&empty, Note::FilledColumns),
            Note::of_columns(&added, Note::AddedColumns),
            Note::of_columns(&inputs, Note::FilledInputs),
        ];
        notes.into_iter().flatten().collect()
    }
}
