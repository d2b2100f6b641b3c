//! The most surprising (least probable) rows of a table, and the cells responsible.

use isinglass::engine::Ask;
use isinglass::likelihood::Phases;
use isinglass::likelihood::log_likelihoods;
use isinglass::numeric::stable::{log_add, log_sigmoid_twice};
use isinglass::{Batch, Diagnostics, Engine, Error, Guarantee, Machine, Result, Role, Table};
use serde::Serialize;

use super::rounding::{Short, short};

/// Cells per batch, flipped copies of rows included.
const BATCH_CELLS: usize = 1 << 22;

/// Cells listed by name per row.
const LISTED_CELLS: usize = 6;

/// Longer rows are not shown as a whole.
const MAX_CELLS: usize = 1500;

/// Bars of the histogram of rows.
const BARS: usize = 40;

/// The most surprising rows of a table.
#[derive(Debug, Serialize)]
pub(super) struct Surprise {
    /// The criterion: `log-likelihood` or `pseudo-log-likelihood`.
    pub(super) by: &'static str,
    pub(super) guarantee: &'static str,
    pub(super) converged: bool,
    /// The engine that summed out missing or hidden units, if there were any.
    engine: Option<&'static str>,
    pub(super) rows: Vec<Row>,
    histogram: Histogram,
    /// The units of the cells of each row, by position in the machine; empty if too many.
    pub(super) units: Vec<usize>,
}

/// A row, and the probabilities of its cells.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// The first row of the table with these cells, counted from 1.
    pub(super) number: usize,
    /// The number of rows of the table with these cells.
    times: usize,
    /// Its log-likelihood or pseudo-log-likelihood.
    pub(super) value: Short,
    /// The cells with P(cell | other cells of the row) < ½, the least probable first: unit, value,
    /// P.
    pub(super) least: Vec<(usize, i8, Short)>,
    /// +, - or ? for missing, in the order of `units`.
    cells: String,
    /// P(cell | other cells of the row); `null` for missing cells.
    probabilities: Vec<Option<Short>>,
}

/// The distribution of row weights over values.
#[derive(Debug, Serialize)]
struct Histogram {
    from: Short,
    to: Short,
    /// The weight of rows in each of equal bins from `from` to `to`.
    weights: Vec<Short>,
}

/// log P of each cell given the others of its row, missing and hidden cells summed out.
struct Cells {
    /// For each row a number per visible unit; 0 for missing cells.
    log_p: Vec<Vec<f64>>,
    guarantee: Guarantee,
    diagnostics: Diagnostics,
}

impl Surprise {
    /// Finds the `count` rows of smallest log-likelihood if it is exact, otherwise of smallest
    /// pseudo-log-likelihood.
    ///
    /// # Errors
    /// Failures of the engines.
    pub(super) fn of(machine: &Machine, table: &Table, phases: Phases<'_>, count: usize) -> Result<Self> {
        // The offset cancels; without it the differences keep all digits.
        let machine = &machine.clone().with_offset(0.0)?;
        let rows = rows_in_given_order(machine, table)?;
        let visible: Vec<usize> = machine.with_role(Role::Visible).collect();
        let exact = exact_log_likelihoods(machine, table, phases)?;
        let (by, values, guarantee, mut diagnostics) = match exact {
            Some(values) => ("log-likelihood", values, Guarantee::Exact, Diagnostics::direct()),
            None => {
                let cells = log_conditionals(machine, &rows, &visible, phases.clamped)?;
                let sums = cells.log_p.iter().map(|row| row.iter().sum()).collect();
                ("pseudo-log-likelihood", sums, cells.guarantee, cells.diagnostics)
            }
        };
        let mut chosen: Vec<usize> = (0..rows.len()).filter(|&row| table.weight(row) > 0.0).collect();
        let histogram = Histogram::of(chosen.iter().map(|&row| (values[row], table.weight(row))));
        chosen.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
        chosen.truncate(count);
        let shown: Vec<Vec<i8>> = chosen.iter().map(|&row| rows[row].clone()).collect();
        let cells = log_conditionals(machine, &shown, &visible, phases.clamped)?;
        diagnostics = diagnostics.and(cells.diagnostics);
        let is_free = |row: &Vec<i8>| row.contains(&0);
        let units = if visible.len() > MAX_CELLS { Vec::new() } else { visible.clone() };
        let of_row = |(&row, log_p): (&usize, &Vec<f64>)| {
            let same = table.distinct_of().iter().enumerate().filter(|(_, k)| **k as usize == row);
            let cells = visible.iter().zip(log_p).map(|(&unit, log_p)| (unit, rows[row][unit], log_p.exp()));
            let mut least: Vec<(usize, i8, f64)> =
                cells.clone().filter(|(_, cell, p)| *cell != 0 && *p < 0.5).collect();
            least.sort_by(|x, y| x.2.total_cmp(&y.2).then(x.0.cmp(&y.0)));
            least.truncate(LISTED_CELLS);
            let shown = cells.take(units.len());
            Row {
                number: same.clone().next().map_or(0, |(k, _)| k + 1),
                times: same.count(),
                value: Short(values[row]),
                least: least.into_iter().map(|(unit, cell, p)| (unit, cell, Short(p))).collect(),
                cells: shown.clone().map(|(_, cell, _)| ['-', '?', '+'][(cell + 1) as usize]).collect(),
                probabilities: shown.map(|(_, cell, p)| (cell != 0).then_some(Short(p))).collect(),
            }
        };
        Ok(Self {
            by,
            guarantee: guarantee.and(cells.guarantee).word(),
            converged: diagnostics.converged,
            engine: rows.iter().any(is_free).then(|| phases.clamped.name()),
            rows: chosen.iter().zip(&cells.log_p).map(of_row).collect(),
            histogram,
            units,
        })
    }
}

/// Returns the distinct rows of a table in the machine's order of units.
fn rows_in_given_order(machine: &Machine, table: &Table) -> Result<Vec<Vec<i8>>> {
    let batch = table.evidence_for(machine)?;
    let mut rows = vec![Vec::new(); batch.row_count()];
    for (place, &given) in batch.given_order().iter().enumerate() {
        rows[given] = batch.row(place).to_vec();
    }
    Ok(rows)
}

/// Returns log P(visible | input) of each row, if both engines are exact here.
fn exact_log_likelihoods(machine: &Machine, table: &Table, phases: Phases<'_>) -> Result<Option<Vec<f64>>> {
    if !(phases.clamped.is_exact() && phases.free.is_exact()) {
        return Ok(None);
    }
    let found = log_likelihoods(machine, table, phases)?;
    Ok((found.guarantee == Guarantee::Exact).then_some(found.values))
}

/// Computes log P of each cell given the rest. Rows without free units need only the fields; in
/// others each cell is flipped in turn:
/// `log P(s_i | rest) = log Z(row) − log(Z(row) + Z(row with i flipped))`.
fn log_conditionals(
    machine: &Machine,
    rows: &[Vec<i8>],
    visible: &[usize],
    engine: &dyn Engine,
) -> Result<Cells> {
    let mut found = Cells {
        log_p: rows
            .iter()
            .map(|row| if row.contains(&0) { Vec::new() } else { by_fields(machine, row, visible) })
            .collect(),
        guarantee: Guarantee::Exact,
        diagnostics: Diagnostics::direct(),
    };
    let incomplete: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].contains(&0)).collect();
    let cannot = || Error::CannotDo {
        who: engine.name(),
        what: "sum out the missing or hidden units of rows".into(),
        why: "it has no log Z".into(),
    };
    if !incomplete.is_empty() && !engine.has_log_z() {
        return Err(cannot());
    }
    let cells_of_a_row = (machine.unit_count() * (1 + visible.len())).max(1);
    for some in incomplete.chunks((BATCH_CELLS / cells_of_a_row).max(1)) {
        let mut variants: Vec<i8> = Vec::new();
        for &row in some {
            variants.extend(&rows[row]);
            for &unit in visible.iter().filter(|&&unit| rows[row][unit] != 0) {
                let start = variants.len();
                variants.extend(&rows[row]);
                variants[start + unit] = -rows[row][unit];
            }
        }
        let count = variants.len() / machine.unit_count();
        let batch = Batch::new(machine.unit_count(), &variants, &vec![1.0; count])?;
        let answer = engine.batch(machine, &batch, Ask::default())?;
        found.guarantee = found.guarantee.and(answer.guarantee.of_ratio());
        found.diagnostics = found.diagnostics.and(answer.diagnostics);
        let mut log_z = answer.log_z.ok_or_else(cannot)?.into_iter();
        let mut next = || log_z.next().unwrap_or(f64::NAN);
        for &row in some {
            let own = next();
            let cell = |unit: &usize| {
                if rows[row][*unit] == 0 { 0.0 } else { own - log_add(own, next()) }
            };
            found.log_p[row] = visible.iter().map(cell).collect();
        }
    }
    Ok(found)
}

/// Returns `log P(s_i | rest) = −ln(1 + e^(−2 s_i h_i / T))` in a complete row.
fn by_fields(machine: &Machine, row: &[i8], visible: &[usize]) -> Vec<f64> {
    // Along the edges in memory order, not around each unit.
    let mut fields = machine.biases().to_vec();
    for (&(a, b), &weight) in machine.graph().edges().iter().zip(machine.weights()) {
        fields[a] += weight * f64::from(row[b]);
        fields[b] += weight * f64::from(row[a]);
    }
    let of_unit =
        |&unit: &usize| log_sigmoid_twice(f64::from(row[unit]) * fields[unit] / machine.temperature());
    visible.iter().map(of_unit).collect()
}

impl Histogram {
    fn of(rows: impl Iterator<Item = (f64, f64)>) -> Self {
        let rows: Vec<(f64, f64)> = rows.filter(|(value, _)| value.is_finite()).collect();
        let from = rows.iter().map(|row| row.0).fold(f64::INFINITY, f64::min);
        let to = rows.iter().map(|row| row.0).fold(f64::NEG_INFINITY, f64::max);
        let mut weights = vec![0.0; BARS];
        for (value, weight) in rows {
            // If all values are equal, the share is NaN, and the bar the first.
            let bar = ((value - from) / (to - from) * BARS as f64) as usize;
            weights[bar.min(BARS - 1)] += weight;
        }
        Self { from: Short(from), to: Short(to), weights: short(weights) }
    }
}
