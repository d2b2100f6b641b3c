//! The rows of a table column by column, and the cells that are missing in them.

use std::sync::Arc;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::line::{Frame, Parameters};
use crate::numeric::lanes::LANES;
use crate::{Error, Machine, Result, Role, Table};

/// Distinct rows with their weights. Rows with missing cells stand alone, as each draws its own.
#[derive(Clone)]
pub(super) struct Rows {
    /// A multiple of the lanes: the last rows have no weight.
    pub(super) count: usize,
    /// Unit after unit, for each its rows as ±1; at the end a unit that is always +1.
    pub(super) spins: Arc<Vec<f64>>,
    pub(super) weights: Arc<Vec<f64>>,
    pub(super) total_weight: f64,
    gaps: Vec<Gap>,
}

/// A row with missing cells.
#[derive(Clone)]
struct Gap {
    row: usize,
    missing: Vec<usize>,
}

impl Rows {
    /// *Memory*: 8 bytes per cell.
    ///
    /// # Errors
    /// A table that does not fit the machine; hidden units; missing cells of input units; no weight.
    pub(super) fn new(who: &'static str, machine: &Machine, table: &Table) -> Result<Self> {
        if machine.with_role(Role::Hidden).next().is_some() {
            let why = "their couplings have no posterior of their own; the learner likelihood can do it";
            return Err(Error::CannotDo { who, what: "learn hidden units".into(), why: why.into() });
        }
        let units = machine.unit_count();
        let (cells, weights) = table.cells_for(machine)?;
        let mut rows: Vec<(&[i8], f64)> = Vec::new();
        for (row, &weight) in cells.chunks_exact(units.max(1)).zip(&weights).filter(|(_, w)| **w > 0.0) {
            let missing = row.iter().position(|&cell| cell == 0);
            if let Some(unit) = missing
                && let Some(input) =
                    row.iter().zip(machine.roles()).position(|(&c, &r)| c == 0 && r == Role::Input)
            {
                let unit = machine.name(if machine.roles()[unit] == Role::Input { unit } else { input });
                let what = format!("draw missing cells of the input unit '{unit}'");
                let why = "input units have no distribution; drop the rows or the column";
                return Err(Error::CannotDo { who, what, why: why.into() });
            }
            // Rows that draw their own cells stand alone; a weight that is no count cannot be cut.
            if missing.is_some() && weight.fract() == 0.0 {
                rows.extend(std::iter::repeat_n((row, 1.0), weight as usize));
            } else {
                rows.push((row, weight));
            }
        }
        if rows.is_empty() {
            return Err(Error::invalid("table", "the rows have no weight"));
        }
        let count = rows.len().next_multiple_of(LANES);
        let mut spins = vec![1.0; (units + 1) * count];
        let mut gaps = Vec::new();
        for (row, (cells, _)) in rows.iter().enumerate() {
            for (unit, &cell) in cells.iter().enumerate() {
                spins[unit * count + row] = f64::from(if cell == 0 { 1 } else { cell });
            }
            let missing: Vec<usize> = (0..units).filter(|&unit| cells[unit] == 0).collect();
            if !missing.is_empty() {
                gaps.push(Gap { row, missing });
            }
        }
        let mut weights: Vec<f64> = rows.iter().map(|(_, weight)| *weight).collect();
        weights.resize(count, 0.0);
        let total_weight = weights.iter().sum();
        Ok(Self { count, spins: Arc::new(spins), weights: Arc::new(weights), total_weight, gaps })
    }

    pub(super) fn unit(&self, unit: usize) -> &[f64] {
        &self.spins[unit * self.count..(unit + 1) * self.count]
    }

    pub(super) fn has_gaps(&self) -> bool {
        !self.gaps.is_empty()
    }

    /// The cells of missing ones as they are now.
    pub(super) fn drawn(&self) -> Vec<i8> {
        let of = |gap: &Gap| -> Vec<i8> {
            gap.missing.iter().map(|unit| self.spins[unit * self.count + gap.row] as i8).collect()
        };
        self.gaps.iter().flat_map(of).collect()
    }

    pub(super) fn set_drawn(&mut self, cells: &[i8]) {
        let mut cells = cells.iter();
        let spins = Arc::make_mut(&mut self.spins);
        for gap in &self.gaps {
            for (unit, &cell) in gap.missing.iter().zip(&mut cells) {
                spins[unit * self.count + gap.row] = f64::from(cell);
            }
        }
    }

    /// Draws each missing cell given all other cells of its row: `P(s_i = +1) = 1 / (1 + e^(−2 h_i))`.
    pub(super) fn draw(&mut self, frame: &Frame, at: &Parameters, random: &mut ChaCha8Rng) {
        if self.gaps.is_empty() {
            return;
        }
        let mut around: Vec<Vec<(usize, f64)>> = vec![Vec::new(); at.biases.len()];
        for (&(a, b), &w) in frame.ends.iter().zip(&at.weights).filter(|(_, w)| **w != 0.0) {
            around[a].push((b, w));
            around[b].push((a, w));
        }
        // Chains share what they read until one of them draws.
        let spins = Arc::make_mut(&mut self.spins);
        for gap in &self.gaps {
            for &unit in &gap.missing {
                let pull = |(other, w): &(usize, f64)| w * spins[other * self.count + gap.row];
                let field = at.biases[unit] + around[unit].iter().map(pull).sum::<f64>();
                let up = 1.0 / (1.0 + (-2.0 * field).exp());
                spins[unit * self.count + gap.row] = if random.random::<f64>() < up { 1.0 } else { -1.0 };
            }
        }
    }

    /// `Σ_r c_r s_ra s_rb`, c being the weights.
    pub(super) fn product(&self, a: usize, b: usize) -> f64 {
        let pairs = self.unit(a).iter().zip(self.unit(b));
        pairs.zip(self.weights.iter()).map(|((x, y), weight)| weight * x * y).sum()
    }

    /// `Σ_r c_r s_ra`.
    pub(super) fn sum(&self, a: usize) -> f64 {
        self.unit(a).iter().zip(self.weights.iter()).map(|(x, weight)| weight * x).sum()
    }
}
