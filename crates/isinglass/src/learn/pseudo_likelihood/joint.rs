//! Several groups at once: couplings with a part that all groups share and parts of their own, both
//! selected by a lasso and the extended BIC.

use fearless_simd::Level;
use rayon::prelude::*;

use super::criterion::Best;
use super::ebic::{EbicSettings, Rule, SMALLEST};
use super::panels::Panels;
use super::path::Path;
use super::regression::{Loss, Regression};
use crate::learn::trained::Trained;
use crate::settings::Settings;
use crate::{Budget, Error, Machine, Result, Role, Table};

const NAME: &str = "joint";

/// Couplings and biases of several groups, fitted together.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// The couplings, in the order of the structure's trained edges.
    pub couplings: Vec<Shared>,
    /// The biases of all units but inputs.
    pub biases: Vec<Shared>,
    /// Whether all regressions converged.
    pub converged: bool,
}

/// A number of all groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    /// That of each group.
    pub values: Vec<f64>,
    /// Whether the criterion keeps a difference of groups.
    pub differs: bool,
}

/// Fits groups together, and says by the extended BIC which couplings and biases differ.
///
/// The field of a unit in group g is
///
/// ```text
/// h_i = θ_i + Σ_j w_ij s_j + Σ_k z_k(g) (φ_ik + Σ_j v_ijk s_j)
/// ```
///
/// with z = −1 and +1 for two groups, and for more one z for each group that is 1 in it and 0
/// elsewhere (the data-shared lasso: Gross and Tibshirani 2016). All of w, v and φ are penalised in
/// proportion to the standard deviations of their columns, so that a v is a difference that must pay for
/// itself; λ, and then single couplings and differences, are chosen for each unit as by
/// [`EbicPaths`](super::EbicPaths) with `relax`, among all p candidates. For two groups this penalises
/// `|w₁ + w₂|` and `|w₁ − w₂|`: a fused lasso.
///
/// A part of a coupling stays by the [`Rule`], and is the mean of its two estimates.
///
/// # Complexity
/// That of paths over twice as many columns for two groups, and G + 1 times as many for G.
///
/// # Accuracy, and when it fails
/// A selection, not a test: with many rows ever fewer mistakes, with few rows small differences are
/// missed. Missing cells and hidden units are refused.
///
/// # Errors
/// Tables that do not fit the structure, hidden units, missing cells, fewer than two groups, more
/// memory than the budget has.
///
/// # Example
/// ```
/// use isinglass::{Table, topology};
/// use isinglass::learn::{EbicSettings, joint};
/// // a and b agree in both groups, b and c in the second alone.
/// let table = |agree: f64| {
///     let mut table = Table::new(["a", "b", "c"])?;
///     for a in [1i8, -1] {
///         for b in [1i8, -1] {
///             for c in [1i8, -1] {
///                 let weight = if a == b { 3.0 } else { 1.0 } * if b == c { agree } else { 1.0 };
///                 table.push(&[a, b, c], 20.0 * weight)?;
///             }
///         }
///     }
///     isinglass::Result::Ok(table)
/// };
/// let structure = topology::full(3).with_names(["a", "b", "c"])?;
/// let found = joint(&[table(1.0)?, table(4.0)?], &structure, &EbicSettings::default())?;
/// let differs: Vec<bool> = found.couplings.iter().map(|coupling| coupling.differs).collect();
/// assert_eq!(differs, [false, false, true]);
/// assert!((found.couplings[2].values[1] - 0.5 * 4f64.ln()).abs() < 0.05);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn joint(groups: &[Table], structure: &Machine, settings: &EbicSettings) -> Result<Joint> {
    settings.validate()?;
    if groups.len() < 2 {
        return Err(Error::invalid("groups", format!("found {}, expected at least two", groups.len())));
    }
    refuse(groups, structure)?;
    let design = Design::new(groups, structure, settings.budget)?;
    let chosen: Vec<Option<Chosen>> = (0..structure.unit_count())
        .into_par_iter()
        .map(|unit| {
            (structure.roles()[unit] == Role::Visible).then(|| design.choose(structure, unit, settings))
        })
        .collect();
    let trained = Trained::of(structure);
    let temperature = structure.temperature();
    let converged = chosen.iter().flatten().all(|found| found.converged);
    let couplings = trained.ends().map(|(a, b)| {
        let parts = (0..=design.codes).map(|code| {
            let of = |unit: usize, other: usize| {
                chosen[unit].as_ref().map(|found| found.number(design.column(other, code)))
            };
            match (of(a, b), of(b, a)) {
                (Some(x), Some(y)) if settings.rule == Rule::And && (x == 0.0 || y == 0.0) => 0.0,
                (Some(x), Some(y)) => 0.5 * (x + y),
                (x, y) => x.or(y).unwrap_or(0.0),
            }
        });
        design.shared(&parts.collect::<Vec<_>>(), temperature)
    });
    let biases = trained.biases.iter().map(|&unit| {
        let Some(found) = &chosen[unit] else {
            return design.shared(&vec![0.0; design.codes + 1], temperature);
        };
        let own = (1..=design.codes).map(|code| found.number(design.label(code)));
        let parts: Vec<f64> = [found.bias].into_iter().chain(own).collect();
        design.shared(&parts, temperature)
    });
    Ok(Joint { couplings: couplings.collect(), biases: biases.collect(), converged })
}

fn refuse(groups: &[Table], structure: &Machine) -> Result<()> {
    let what = if structure.with_role(Role::Hidden).next().is_some() {
        "learn hidden units"
    } else if groups.iter().any(|table| table.missing_count() > 0) {
        "learn from rows with missing cells"
    } else {
        return Ok(());
    };
    let why = "it needs the states of all other units of a row; leave such rows out, or fill their cells";
    Err(Error::CannotDo { who: NAME, what: what.into(), why: why.into() })
}

/// The rows of all groups, with columns for the groups and their products with units.
struct Design {
    units: usize,
    groups: usize,
    /// The number of z.
    codes: usize,
    panels: Panels,
    /// The mean and the standard deviation of each column.
    means: Vec<f64>,
    deviations: Vec<f64>,
}

/// The regression of a unit: columns and their coefficients, divided by T.
struct Chosen {
    numbers: Vec<(usize, f64)>,
    bias: f64,
    converged: bool,
}

impl Chosen {
    fn number(&self, column: usize) -> f64 {
        let found = self.numbers.iter().find(|(known, _)| *known == column);
        found.map_or(0.0, |(_, number)| *number)
    }
}

impl Design {
    fn new(groups: &[Table], structure: &Machine, budget: Budget) -> Result<Self> {
        let units = structure.unit_count();
        let codes = if groups.len() == 2 { 1 } else { groups.len() };
        let width = (units + 1) * (codes + 1);
        let rows: usize = groups.iter().map(Table::distinct_count).sum();
        // Cells, and as numbers; matrices of paths.
        let needed = 10 * (rows * width) as u128
            + 8 * rayon::current_num_threads() as u128 * (4 * (width * width) as u128 + 600 * width as u128);
        budget.check(NAME, needed, || format!("{rows} rows of {width} columns"))?;
        let (mut cells, mut weights) = (Vec::with_capacity(rows * width), Vec::new());
        for (group, table) in groups.iter().enumerate() {
            let (own, own_weights) = table.cells_for(structure)?;
            for row in own.chunks(units.max(1)) {
                // The first column of each block is z itself, which is 1 in the first block.
                for code in 0..=codes {
                    let z = Self::z(groups.len(), code, group);
                    cells.push(z);
                    cells.extend(row.iter().map(|cell| cell * z));
                }
            }
            weights.extend(own_weights);
        }
        let mut panels = Panels::of_cells(width, &cells, &weights)?;
        panels.widen();
        let total: f64 = weights.iter().sum();
        let mean = |column: usize, value: fn(f64) -> f64| {
            let rows = cells.chunks(width).zip(&weights);
            rows.map(|(row, weight)| weight * value(f64::from(row[column]))).sum::<f64>() / total
        };
        let means: Vec<f64> = (0..width).map(|column| mean(column, |x| x)).collect();
        let spread = |(column, m): (usize, &f64)| (mean(column, |x| x * x) - m * m).max(0.0).sqrt();
        let deviations = means.iter().enumerate().map(spread).collect();
        Ok(Self { units, groups: groups.len(), codes, panels, means, deviations })
    }

    /// `z_k(g)`; the one in front is 1 everywhere.
    fn z(groups: usize, code: usize, group: usize) -> i8 {
        match (code, groups) {
            (0, _) => 1,
            (_, 2) => 2 * group as i8 - 1,
            _ => i8::from(group + 1 == code),
        }
    }

    /// The column of z.
    fn label(&self, code: usize) -> usize {
        code * (self.units + 1)
    }

    /// The column of a unit times z.
    fn column(&self, unit: usize, code: usize) -> usize {
        self.label(code) + 1 + unit
    }

    /// A number from its parts.
    fn shared(&self, parts: &[f64], temperature: f64) -> Shared {
        let value = |group: usize| {
            let each = parts.iter().enumerate();
            temperature
                * each.map(|(code, part)| part * f64::from(Self::z(self.groups, code, group))).sum::<f64>()
        };
        let values: Vec<f64> = (0..self.groups).map(value).collect();
        // Equal parts of all groups are no difference.
        let differs = values.iter().any(|value| *value != values[0]);
        Shared { values, differs }
    }

    fn choose(&self, structure: &Machine, unit: usize, settings: &EbicSettings) -> Chosen {
        let own = self.column(unit, 0);
        let around: Vec<usize> = structure.graph().neighbours(unit).map(|(other, _)| other).collect();
        let columns = (0..=self.codes).flat_map(|code| {
            let label = (code > 0).then(|| self.label(code));
            label.into_iter().chain(around.iter().map(move |&other| self.column(other, code)))
        });
        // Columns without any spread say nothing.
        let others: Vec<usize> = columns.filter(|&column| self.deviations[column] > 1e-7).collect();
        let rows = self.panels.total_weight;
        if others.is_empty() || !self.panels.is_varied(own) {
            // As with half a row added of each value.
            let bias = (self.means[own] * rows / (rows + 1.0)).atanh();
            return Chosen { numbers: Vec::new(), bias, converged: true };
        }
        let regression =
            Regression { panels: &self.panels, unit: own, loss: Loss::Logistic, level: Level::new() };
        let price = rows.max(1.0).ln() + 2.0 * settings.gamma * (others.len() as f64).ln();
        let ratio = SMALLEST[usize::from(rows <= others.len() as f64)];
        let path = Path::new(regression, others.clone(), &self.means)
            .with_deviations(others.iter().map(|&column| self.deviations[column]).collect());
        let Best { path, converged, .. } = Best::of(path, price, ratio, true);
        let bias = path.couplings[others.len()];
        let numbers = others.into_iter().zip(path.couplings).filter(|(_, number)| *number != 0.0).collect();
        Chosen { numbers, bias, converged }
    }
}
