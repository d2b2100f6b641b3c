//! Complete rows in panels, unit after unit, so that one operation serves rows side by side.

use fearless_simd::Simd;

use crate::numeric::lanes::LANES;
use crate::{Error, Machine, Result, Role, Table};

/// Most cells of a panel, as numbers about 1 MiB: it stays in the cache between its two products.
const CELLS: usize = 1 << 17;

/// The distinct rows of a table without missing cells, each with its share of the weight.
pub(super) struct Panels {
    units: usize,
    /// Rows of each panel, a multiple of the lanes. The last panel is filled up with rows of no
    /// weight.
    pub(super) rows: usize,
    /// Panel after panel, in it unit after unit, for each its rows.
    cells: Vec<i8>,
    /// Each row's share of the total weight.
    shares: Vec<f64>,
    pub(super) total_weight: f64,
    /// The cells as numbers, where they were requested.
    wide: Option<Vec<f64>>,
}

/// The cells of one panel, unit after unit, and the shares of its rows.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    rows: usize,
    cells: &'a [i8],
    pub(super) shares: &'a [f64],
}

impl Panels {
    /// Most rows of a panel.
    pub(super) const MOST_ROWS: usize = 256;

    /// *Memory*: a byte per cell, and as much while they are sorted.
    ///
    /// # Errors
    /// A table that does not fit the machine, hidden units, missing cells, no weight.
    pub(super) fn new(who: &'static str, machine: &Machine, table: &Table) -> Result<Self> {
        refuse_gaps(who, machine, table)?;
        let (given, weights) = table.cells_for(machine)?;
        Self::of_cells(machine.unit_count(), &given, &weights)
    }

    /// Panels of complete rows, one after another.
    ///
    /// # Errors
    /// No weight.
    pub(super) fn of_cells(units: usize, given: &[i8], weights: &[f64]) -> Result<Self> {
        let kept: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        let total_weight: f64 = weights.iter().sum();
        if kept.is_empty() {
            return Err(Error::invalid("table", "the rows have no weight"));
        }
        let fitting = (CELLS / units.max(1) / LANES * LANES).clamp(LANES, Self::MOST_ROWS);
        let rows = fitting.min(kept.len().next_multiple_of(LANES));
        let count = kept.len().div_ceil(rows);
        let mut cells = vec![1; count * rows * units];
        let mut shares = vec![0.0; count * rows];
        for (k, &row) in kept.iter().enumerate() {
            let (panel, place) = (k / rows, k % rows);
            shares[k] = weights[row] / total_weight;
            for (unit, &cell) in given[row * units..(row + 1) * units].iter().enumerate() {
                cells[(panel * units + unit) * rows + place] = cell;
            }
        }
        Ok(Self { units, rows, cells, shares, total_weight, wide: None })
    }

    /// Replaces the cells of some units, for rows that all have weight, one after another.
    pub(super) fn replace(&mut self, changed: &[usize], given: &[i8]) {
        let (units, rows) = (self.units, self.rows);
        for (panel, given) in self.cells.chunks_exact_mut(units * rows).zip(given.chunks(units * rows)) {
            for &unit in changed {
                let own = panel[unit * rows..(unit + 1) * rows].iter_mut();
                own.zip(given[unit..].iter().step_by(units)).for_each(|(cell, &new)| *cell = new);
            }
        }
    }

    /// Keeps the cells as numbers, too: for work that reads single columns many times. *Memory*: 8
    /// bytes per cell.
    pub(super) fn widen(&mut self) {
        self.wide = Some(self.cells.iter().map(|&cell| f64::from(cell)).collect());
    }

    /// The cells of a panel as numbers, unit after unit; if they are not kept, those of some units
    /// are right, in a buffer.
    #[inline(always)]
    pub(super) fn numbers<'b, S: Simd>(
        &'b self,
        simd: S,
        panel: usize,
        units: impl Iterator<Item = &'b usize>,
        buffer: &'b mut Vec<f64>,
    ) -> &'b [f64] {
        let size = self.units * self.rows;
        if let Some(wide) = &self.wide {
            return &wide[panel * size..(panel + 1) * size];
        }
        buffer.resize(size, 0.0);
        let cells = self.get(panel);
        for &unit in units {
            cells.expand(simd, unit, &mut buffer[unit * self.rows..(unit + 1) * self.rows]);
        }
        buffer
    }

    pub(super) fn count(&self) -> usize {
        self.shares.len() / self.rows
    }

    pub(super) fn get(&self, panel: usize) -> Panel<'_> {
        let size = self.units * self.rows;
        Panel {
            rows: self.rows,
            cells: &self.cells[panel * size..(panel + 1) * size],
            shares: &self.shares[panel * self.rows..(panel + 1) * self.rows],
        }
    }

    /// The weighted mean of a unit.
    pub(super) fn mean(&self, unit: usize) -> f64 {
        let of_panel = |panel: Panel<'_>| -> f64 {
            panel.unit(unit).iter().zip(panel.shares).map(|(&cell, share)| share * f64::from(cell)).sum()
        };
        (0..self.count()).map(|panel| of_panel(self.get(panel))).sum()
    }

    /// Whether a unit has both values, neither with a share that rounding could make up.
    pub(super) fn is_varied(&self, unit: usize) -> bool {
        let first = self.get(0).unit(unit)[0];
        let differs = |(&cell, &share): (&i8, &f64)| share > 0.0 && cell != first;
        let in_panel = |panel: Panel<'_>| panel.unit(unit).iter().zip(panel.shares).any(differs);
        (0..self.count()).any(|panel| in_panel(self.get(panel))) && self.mean(unit).abs() < 1.0 - 1e-14
    }
}

impl Panel<'_> {
    pub(super) fn unit(&self, unit: usize) -> &[i8] {
        &self.cells[unit * self.rows..(unit + 1) * self.rows]
    }

    #[inline(always)]
    pub(super) fn expand<S: Simd>(&self, _simd: S, unit: usize, out: &mut [f64]) {
        for (number, &cell) in out.iter_mut().zip(self.unit(unit)) {
            *number = f64::from(cell);
        }
    }
}

/// Refuses hidden units and missing cells, and names learners that accept them.
fn refuse_gaps(who: &'static str, machine: &Machine, table: &Table) -> Result<()> {
    let hidden = machine.with_role(Role::Hidden).next().is_some();
    let refused =
        [(hidden, "learn hidden units"), (table.missing_count() > 0, "learn from rows with missing cells")];
    let why = "it needs the states of all other units of a row; the learners pl-em and likelihood can do it";
    match refused.iter().find(|(is_refused, _)| *is_refused) {
        Some((_, what)) => Err(Error::CannotDo { who, what: (*what).into(), why: why.into() }),
        None => Ok(()),
    }
}
