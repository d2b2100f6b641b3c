//! Observed and modelled means and pair moments.

use isinglass::engine::Ask;
use isinglass::{
    Batch, Diagnostics, Engine, Evidence, Guarantee, Machine, PairMoments, Pairs, Result, Role, Table,
};
use serde::Serialize;

use super::observed::Observed;
use super::rounding::{Short, short};

/// The largest number of pairs shown as points; with more, a density and the worst as points.
const MAX_POINTS: usize = 3000;
const WORST: usize = 250;

/// Bins of the density along each axis.
const BINS: usize = 80;

/// Means and pair moments of a table's columns, compared with those of the machine.
#[derive(Debug, Serialize)]
pub(super) struct Comparison {
    pub(super) engine: &'static str,
    pub(super) guarantee: &'static str,
    pub(super) converged: bool,
    pub(super) means: Points,
    pub(super) pairs: Points,
    /// Whether these are all pairs, or only the coupled ones.
    pub(super) all_pairs: bool,
    /// Whether input units were clamped to their values in the table.
    given_inputs: bool,
}

/// Observed and modelled values, as points.
#[derive(Debug, Default, Serialize)]
pub(super) struct Points {
    /// The number of points, shown or not.
    pub(super) count: usize,
    /// One or two units per point, by position in the machine.
    pub(super) units: Vec<usize>,
    observed: Vec<Short>,
    modelled: Vec<Short>,
    /// The root mean square difference over all points.
    pub(super) rms: Option<Short>,
    /// The root mean square standard error of the observed values, for independent rows: the
    /// difference expected of a correct model.
    pub(super) noise: Option<Short>,
    /// The largest difference.
    pub(super) largest: Option<Short>,
    /// The smallest and the largest number on either axis.
    range: Option<(Short, Short)>,
    /// Occupied bins of the plane, where there are too many points to show: column (observed), row
    /// (modelled), count.
    density: Vec<(usize, usize, usize)>,
}

/// A point: its units, the observed and modelled values, and the variance of the former.
struct Point {
    units: (usize, Option<usize>),
    observed: f64,
    modelled: f64,
    variance: f64,
}

impl Comparison {
    /// Compares the table's moments with those of the machine by an engine, with only input units
    /// clamped.
    pub(super) fn of(machine: &Machine, table: &Table, engine: &dyn Engine, pairs: Pairs) -> Result<Self> {
        let given_inputs = machine.with_role(Role::Input).next().is_some();
        let modelled = if given_inputs {
            given_rows(machine, table, engine, pairs)?
        } else {
            free(machine, engine, pairs)?
        };
        let observed = Observed::of(table);
        let mut column_of = vec![None; machine.unit_count()];
        for (column, name) in table.columns().iter().enumerate() {
            column_of[machine.position(name)?] = Some(column);
        }
        // Weights count as numbers of rows.
        let point = |units, (weight, observed): (f64, f64), modelled: f64| {
            let variance = (1.0 - observed * observed) / weight;
            (weight > 0.0).then_some(Point { units, observed, modelled, variance })
        };
        let trained =
            |unit: usize| (machine.roles()[unit] == Role::Visible).then(|| column_of[unit]).flatten();
        let means: Vec<Point> = (0..machine.unit_count())
            .filter_map(|unit| point((unit, None), observed.mean(trained(unit)?), modelled.means[unit]))
            .collect();
        // A pair of two inputs is not modelled; a pair with one input is.
        let counts = |a: usize, b: usize| trained(a).is_some() || trained(b).is_some();
        let pairs: Vec<Point> = modelled
            .pairs
            .iter(machine.graph())
            .filter(|((a, b), _)| counts(*a, *b))
            .filter_map(|((a, b), value)| {
                point((a, Some(b)), observed.moment(column_of[a]?, column_of[b]?), value)
            })
            .collect();
        Ok(Self {
            engine: engine.name(),
            guarantee: modelled.guarantee.word(),
            converged: modelled.diagnostics.converged,
            means: Points::of(means),
            pairs: Points::of(pairs),
            all_pairs: modelled.pairs.pairs == Pairs::All,
            given_inputs,
        })
    }
}

/// Moments by an engine.
struct Modelled {
    means: Vec<f64>,
    pairs: PairMoments,
    guarantee: Guarantee,
    diagnostics: Diagnostics,
}

fn free(machine: &Machine, engine: &dyn Engine, pairs: Pairs) -> Result<Modelled> {
    let answer = engine.expectations(machine, &Evidence::none(machine.unit_count()), pairs)?;
    Ok(Modelled {
        means: answer.means,
        pairs: answer.correlations,
        guarantee: moments_of(answer.guarantee),
        diagnostics: answer.diagnostics,
    })
}

/// Returns the average over rows with input units clamped; pairs are available for couplings only.
fn given_rows(machine: &Machine, table: &Table, engine: &dyn Engine, pairs: Pairs) -> Result<Modelled> {
    let rows = table.evidence_for(machine)?;
    let inputs = |(&cell, &role): (&i8, &Role)| if role == Role::Input { cell } else { 0 };
    let cells: Vec<i8> =
        (0..rows.row_count()).flat_map(|row| rows.row(row).iter().zip(machine.roles()).map(inputs)).collect();
    let batch = Batch::new(machine.unit_count(), &cells, rows.weights())?;
    let answer = engine.batch(machine, &batch, Ask { statistics: true, means: false })?;
    // Statistics were requested above.
    let sums = answer.statistics.unwrap_or_else(|| isinglass::Statistics::zero(machine.graph()));
    let average = |values: &[f64]| values.iter().map(|sum| sum / sums.weight).collect::<Vec<f64>>();
    let pairs = if pairs == Pairs::None {
        PairMoments { pairs, values: Vec::new() }
    } else {
        PairMoments { pairs: Pairs::Edges, values: average(&sums.edges) }
    };
    Ok(Modelled {
        means: average(&sums.means),
        pairs,
        guarantee: moments_of(answer.guarantee),
        diagnostics: answer.diagnostics,
    })
}

/// Returns the guarantee of moments from that of log Z: those of a bound are approximations.
fn moments_of(guarantee: Guarantee) -> Guarantee {
    guarantee.of_ratio()
}

impl Points {
    fn of(mut all: Vec<Point>) -> Self {
        let root_mean = |squares: f64| (!all.is_empty()).then(|| Short((squares / all.len() as f64).sqrt()));
        let error = |point: &Point| (point.modelled - point.observed).abs();
        let mut found = Self {
            count: all.len(),
            rms: root_mean(all.iter().map(|point| error(point).powi(2)).sum()),
            noise: root_mean(all.iter().map(|point| point.variance).sum()),
            largest: all.iter().map(error).max_by(f64::total_cmp).map(Short),
            ..Self::default()
        };
        let both = || all.iter().flat_map(|point| [point.observed, point.modelled]);
        let (low, high) = (both().fold(1.0, f64::min), both().fold(-1.0, f64::max));
        found.range = (!all.is_empty()).then_some((Short(low), Short(high)));
        if all.len() > MAX_POINTS {
            let mut counts = vec![0; BINS * BINS];
            // If all numbers are equal, the share is NaN, and the bin the first.
            let bin = |x: f64| (((x - low) / (high - low) * BINS as f64) as usize).min(BINS - 1);
            for point in &all {
                counts[bin(point.modelled) * BINS + bin(point.observed)] += 1;
            }
            let filled = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            found.density = filled.map(|(k, &count)| (k % BINS, k / BINS, count)).collect();
            all.sort_by(|x, y| error(y).total_cmp(&error(x)).then(x.units.cmp(&y.units)));
            all.truncate(WORST);
        }
        found.units = all.iter().flat_map(|point| [Some(point.units.0), point.units.1]).flatten().collect();
        found.observed = short(all.iter().map(|point| point.observed));
        found.modelled = short(all.iter().map(|point| point.modelled));
        found
    }
}
