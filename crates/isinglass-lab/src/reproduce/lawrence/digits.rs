//! Figures 5 and 6: learning handwritten digits with mean field or a mixture in the free phase.

use isinglass::engine::{Annealing, MixtureComponents};
use isinglass::likelihood::Phases;
use isinglass::topology::{self, Links, Neighbours, Numbers};
use isinglass::{Engine, Error, Evidence, Machine, MeanField, Mixture, Pairs, Result, Table};
use rayon::prelude::*;

use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::pictures::{Picture, Pictures};
use crate::figure::sheet::Sheet;
use crate::reproduce::learning::{Path, ascend};
use crate::reproduce::{Check, Column, Outcome, Settings};
use crate::statistics::{mean, root_mean_square, standard_error, variance};
use crate::streams::seed_of;

const SIDE: usize = 8;
const PIXELS: usize = SIDE * SIDE;
const HIDDEN: usize = 10;
const COMPONENTS: usize = 10;
/// Starts over which instability is averaged; the figure shows the first.
const STARTS: usize = 5;
const FEW_STARTS: usize = 4;
/// Learning steps, and those of which figure 6 shows the free phase.
const STEPS: usize = 30;
const SHOWN: usize = 20;
/// The source's 0.1/N, for a gradient that is a sum over N pictures.
const RATE: f64 = 0.1;
/// Seven temperatures, of which 1 is the last.
const ANNEALING: Annealing = Annealing { from: 100.0, steps: 6 };
/// Pictures in a quick run.
const FEW: usize = 300;

/// Limits of inference. Equations that hold to four digits are enough for steps of this length.
const MAX_SWEEPS: usize = 1000;
const TOLERANCE: f64 = 1e-4;

fn mean_field() -> MeanField {
    MeanField::new().tolerance(TOLERANCE).max_sweeps(MAX_SWEEPS).anneal(Some(ANNEALING))
}

fn mixture() -> Mixture {
    Mixture::new().components(COMPONENTS).tolerance(TOLERANCE).max_sweeps(MAX_SWEEPS).anneal(Some(ANNEALING))
}

/// Returns the given or built-in pictures; in a quick run a subset, evenly spaced.
fn pictures(settings: &Settings<'_>) -> Result<Table> {
    let own;
    let all = match settings.digits {
        Some(given) => given,
        None => {
            own = crate::data::digits().map_err(|error| Error::invalid("digits", error.to_string()))?;
            &own
        }
    };
    if all.columns().len() != PIXELS || all.missing_count() > 0 || all.row_count() == 0 {
        let problem = format!(
            "found {} rows of {} columns with {} missing cells, expected {PIXELS} columns without missing cells",
            all.row_count(),
            all.columns().len(),
            all.missing_count()
        );
        return Err(Error::invalid("digits", problem));
    }
    let count = if settings.quick { FEW.min(all.row_count()) } else { all.row_count() };
    let rows = (0..count).map(|k| all.row(all.distinct_of()[k * all.row_count() / count] as usize));
    Table::from_rows(all.columns().iter().cloned(), rows)
}

fn start(table: &Table, seed: u64, index: usize) -> Result<Machine> {
    let grid = Links::Grid { rows: SIDE, columns: SIDE, neighbours: Neighbours::Eight };
    let names = table.columns().iter().cloned().chain((0..HIDDEN).map(|k| format!("hidden {k}")));
    let small = Numbers::Normal { mean: 0.0, deviation: 0.1 };
    topology::two_layer(PIXELS, &grid, HIDDEN, &Links::Full)?.with_names(names)?.with_numbers(
        &small,
        &small,
        seed_of(seed, index as u64),
    )
}

/// Learns from one of the starts with mean field in the clamped phase, and with mean field or a
/// mixture in the free phase.
fn both_paths(settings: &Settings<'_>, table: &Table, steps: usize, index: usize) -> Result<[Path; 2]> {
    let start = start(table, settings.seed, index)?;
    let field = mean_field();
    let mixture = mixture();
    let path = |free: &dyn Engine| {
        let phases = Phases { clamped: &field, free };
        ascend(phases, &start, table, (RATE, 0.0), steps, settings.progress)
    };
    let (with_field, with_mixture) = rayon::join(|| path(&field), || path(&mixture));
    Ok([with_field?, with_mixture?])
}

fn method(table: &Table, steps: usize, starts: usize) -> String {
    format!(
        "{} pictures of 8×8 pixels; 64 visible units, each coupled to its eight neighbours, and {HIDDEN} hidden units coupled to \
         each other and to all visible ones; seven temperatures from 100 to 1 in both phases; {steps} steps of gradient ascent with \
         rate 0.1/N from N(0, 0.1²) (the source does not give its start), {starts} starts. Mean field in the clamped phase; mean \
         field or a mixture of {COMPONENTS} in the free phase.",
        table.row_count()
    )
}

/// A quantity of mean field and of the mixture, compared start by start.
struct Compared {
    field: f64,
    mixture: f64,
    difference: f64,
    error: f64,
}

impl Compared {
    fn of(pairs: &[[f64; 2]]) -> Self {
        let over = |of: &dyn Fn(&[f64; 2]) -> f64| pairs.iter().map(of).collect::<Vec<f64>>();
        let differences = over(&|[field, mixture]| field - mixture);
        Self {
            field: mean(&over(&|pair| pair[0])),
            mixture: mean(&over(&|pair| pair[1])),
            difference: mean(&differences),
            error: standard_error(&differences),
        }
    }

    /// Returns whether it is larger for mean field, by two standard errors over starts.
    fn is_larger(&self) -> bool {
        self.difference > 2.0 * self.error
    }
}

pub(super) fn costs(settings: &Settings<'_>) -> Result<Outcome> {
    let table = pictures(settings)?;
    let starts = settings.size(STARTS, FEW_STARTS);
    settings.progress.expect(2 * starts * (STEPS + 1));
    let found: Vec<[Vec<f64>; 2]> = (0..starts)
        .map(|index| Ok(both_paths(settings, &table, STEPS, index)?.map(|path| path.objective)))
        .collect::<Result<_>>()?;
    let compare = |of: &dyn Fn(&[f64]) -> f64| {
        let pairs: Vec<[f64; 2]> = found.iter().map(|[field, mixture]| [of(field), of(mixture)]).collect();
        Compared::of(&pairs)
    };
    let falls = compare(&|cost| cost.windows(2).map(|pair| (pair[0] - pair[1]).max(0.0)).sum());
    let spreads = compare(&|cost| variance(&cost[STEPS / 2..]).sqrt());
    let checks = vec![
        Check::new(
            "mean field is unstable compared with the mixture",
            falls.is_larger(),
            format!(
                "sum of all decreases of the cost: {:.1} nats (mean field), {:.1} (mixture); means of {starts} starts, difference ± {:.1}",
                falls.field, falls.mixture, falls.error
            ),
        ),
        Check::new(
            "the mixture's cost is steadier in the second half",
            spreads.is_larger(),
            format!(
                "standard deviation {:.2} nats (mixture), {:.2} (mean field); difference ± {:.2}",
                spreads.mixture, spreads.field, spreads.error
            ),
        ),
    ];
    let mut columns = vec![Column::new("step", "learning step", (0..=STEPS).map(|k| k as f64).collect())];
    for (index, costs) in found.iter().enumerate() {
        let ending = if index == 0 { String::new() } else { format!("_start_{}", index + 1) };
        for ((name, symbol, bound), cost) in
            [("mean_field", "L_mft", "mean-field"), ("mixture", "L_mix", "mixture's")].into_iter().zip(costs)
        {
            let meaning = format!(
                "{symbol}, nats per picture: clamped bound minus the {bound} bound on ln Z, start {}",
                index + 1
            );
            columns.push(Column::new(format!("{name}{ending}"), meaning, cost.clone()));
        }
    }
    let [field, mixture] = &found[0];
    let steps: Vec<f64> = (0..=STEPS).map(|k| k as f64).collect();
    let points = |cost: &[f64]| steps.iter().copied().zip(cost.iter().copied()).collect();
    let figure = Sheet::new("Learning 8×8 digits: cost functions")
        .row(
            400.0,
            [Chart::new(
                Axis::new("learning step").within(0.0, STEPS as f64 + 0.5),
                Axis::new("cost (nats per picture)"),
            )
            .with(Series::line("mean field", PALETTE[1], points(field)).marked(Marker::Ring))
            .with(Series::line("mixture of ten", PALETTE[0], points(mixture)).marked(Marker::Disc))
            .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        method: format!("{} The figure shows the first start.", method(&table, STEPS, starts)),
        columns,
        figure,
        checks,
        remarks: "Neither cost bounds the log-likelihood: a lower bound on ln Z enters with a minus sign."
            .into(),
    })
}

/// Solutions of the free phase before each of the first steps, from one of the starts.
struct FreePhase {
    /// The active components of each step, each in its column.
    rows: Vec<Vec<Option<Component>>>,
    /// The visible means by mean field.
    fields: Vec<Vec<f64>>,
}

impl FreePhase {
    fn new(settings: &Settings<'_>, table: &Table, index: usize) -> Result<Self> {
        let [field, mixed] = both_paths(settings, table, SHOWN, index)?.map(|path| path.machines);
        let nothing = Evidence::none(PIXELS + HIDDEN);
        let engine = mean_field();
        let found: Vec<(MixtureComponents, Vec<f64>)> = (0..SHOWN)
            .into_par_iter()
            .map(|k| {
                let means = engine.expectations(&field[k], &nothing, Pairs::None)?.means;
                let both = (mixture().components_of(&mixed[k], &nothing)?, means[..PIXELS].to_vec());
                settings.progress.done();
                Ok(both)
            })
            .collect::<Result<_>>()?;
        let (mixtures, fields): (Vec<MixtureComponents>, Vec<Vec<f64>>) = found.into_iter().unzip();
        Ok(Self { rows: in_columns(&mixtures.iter().collect::<Vec<_>>()), fields })
    }

    /// Returns the change of the pixels from a step to the next (root mean square): for mean field,
    /// and for every component that is active in both.
    fn changes(&self) -> [Vec<f64>; 2] {
        let change = |a: &[f64], b: &[f64]| root_mean_square(a.iter().zip(b).map(|(x, y)| x - y));
        let of_field = self.fields.windows(2).map(|pair| change(&pair[0], &pair[1])).collect();
        let of_components = self.rows.windows(2).flat_map(|pair| {
            let both = pair[0].iter().zip(&pair[1]).filter_map(|(a, b)| a.as_ref().zip(b.as_ref()));
            both.map(|(a, b)| change(&a.means, &b.means)).collect::<Vec<_>>()
        });
        [of_field, of_components.collect()]
    }
}

pub(super) fn components(settings: &Settings<'_>) -> Result<Outcome> {
    let table = pictures(settings)?;
    let starts = settings.size(STARTS, FEW_STARTS);
    settings.progress.expect(starts * (2 * (SHOWN + 1) + SHOWN));
    let found: Vec<FreePhase> =
        (0..starts).map(|index| FreePhase::new(settings, &table, index)).collect::<Result<_>>()?;
    let changes: Vec<[Vec<f64>; 2]> = found.iter().map(FreePhase::changes).collect();
    let compare = |of: &dyn Fn(&[f64]) -> f64| {
        Compared::of(&changes.iter().map(|both| both.each_ref().map(|x| of(x))).collect::<Vec<_>>())
    };
    let jumps = compare(&|x| 100.0 * x.iter().filter(|x| **x > JUMP).count() as f64 / x.len() as f64);
    let moved = compare(&mean);
    let FreePhase { rows, fields } = &found[0];
    let used = mean(&rows.iter().map(|row| row.iter().flatten().count() as f64).collect::<Vec<_>>());
    let checks = vec![
        Check::new(
            "mean field changes more per step than the components do",
            moved.is_larger(),
            format!(
                "change of a pixel (root mean square): {:.2} (mean field), {:.2} (components); means of {starts} starts, \
                 difference ± {:.3}",
                moved.field, moved.mixture, moved.error
            ),
        ),
        Check::new(
            "the components are much more stable",
            moved.mixture < 0.5 * moved.field,
            format!(
                "they change {:.2} times as much; changes above {JUMP} in {:.0} % of their steps, {:.0} % for mean field",
                moved.mixture / moved.field,
                jumps.mixture,
                jumps.field
            ),
        ),
    ];
    let dark = |means: &[f64]| Picture {
        columns: SIDE,
        darkness: means.iter().map(|m| f64::midpoint(1.0, *m)).collect(),
    };
    let blank = || Picture { columns: SIDE, darkness: vec![0.0; PIXELS] };
    let grid = Pictures {
        scale: 4.0,
        gap: 5.0,
        above: (1..=COMPONENTS).map(|k| k.to_string()).chain(["mean field".into()]).collect(),
        beside: (1..=SHOWN).map(|k| k.to_string()).collect(),
        apart: Some(COMPONENTS),
        rows: rows
            .iter()
            .zip(fields)
            .map(|(row, field)| {
                row.iter()
                    .map(|part| part.as_ref().map_or_else(blank, |part| dark(&part.means)))
                    .chain([dark(field)])
                    .collect()
            })
            .collect(),
        ..Pictures::default()
    };
    let figure = Sheet::new("Free phase by learning step: components and mean field")
        .wide(540.0)
        .row(grid.height(), [grid.boxed()])
        .to_svg();
    Ok(Outcome {
        method: format!(
            "{} The figure shows the free phase before each of the first {SHOWN} steps from the first start (rows): the visible \
             units of the components (columns) and of mean field. Components have no order; each is in the column whose \
             previous picture is most similar. Those with a mixing coefficient below {LEAST_WEIGHT} are left blank; {used:.1} of \
             {COMPONENTS} are shown on average.",
            method(&table, SHOWN, starts)
        ),
        columns: columns(rows, fields),
        figure,
        checks,
        remarks: format!(
            "Whole rows of the figure change at once: steps of this length change the machine itself, and all components follow. \
             Components with a mixing coefficient below {LEAST_WEIGHT} are left blank."
        ),
    })
}

/// A change of the pixels (root mean square) that counts as a jump: reached if a sixteenth of them
/// flip.
const JUMP: f64 = 0.5;

/// Components with a smaller mixing coefficient count as inactive: their means are arbitrary.
const LEAST_WEIGHT: f64 = 0.01;

/// An active component.
struct Component {
    weight: f64,
    /// Means of the visible units.
    means: Vec<f64>,
}

/// Returns the active components, row by row, each in the column whose previous picture is most
/// similar; the closest pairs are matched first.
fn in_columns(mixtures: &[&MixtureComponents]) -> Vec<Vec<Option<Component>>> {
    let mut latest: Vec<Option<Vec<f64>>> = vec![None; COMPONENTS];
    let mut rows = Vec::new();
    for mixture in mixtures {
        let active: Vec<usize> = (0..COMPONENTS).filter(|&k| mixture.weights[k] >= LEAST_WEIGHT).collect();
        // An empty column is further away than any picture can be.
        let distance = |column: usize, k: usize| match &latest[column] {
            Some(before) => before.iter().zip(&mixture.means[k]).map(|(a, b)| (a - b).powi(2)).sum(),
            None => 4.0 * PIXELS as f64 + 1.0,
        };
        let mut pairs: Vec<(f64, usize, usize)> = (0..COMPONENTS)
            .flat_map(|column| active.iter().map(move |&k| (column, k)))
            .map(|(column, k)| (distance(column, k), column, k))
            .collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut row: Vec<Option<Component>> = (0..COMPONENTS).map(|_| None).collect();
        let mut placed = [false; COMPONENTS];
        for (_, column, k) in pairs {
            if row[column].is_none() && !placed[k] {
                placed[k] = true;
                let means = mixture.means[k][..PIXELS].to_vec();
                latest[column] = Some(means.clone());
                row[column] = Some(Component { weight: mixture.weights[k], means });
            }
        }
        rows.push(row);
    }
    rows
}

fn columns(rows: &[Vec<Option<Component>>], fields: &[Vec<f64>]) -> Vec<Column> {
    let mut lines: Vec<Vec<f64>> = Vec::new();
    for (k, (row, field)) in rows.iter().zip(fields).enumerate() {
        let step = (k + 1) as f64;
        for (column, part) in row.iter().enumerate() {
            let Some(Component { weight, means }) = part else { continue };
            let head = [step, (column + 1) as f64, *weight];
            lines.push(head.into_iter().chain(means.iter().copied()).collect());
        }
        lines.push([step, 0.0, 1.0].into_iter().chain(field.iter().copied()).collect());
    }
    let column = |k: usize| lines.iter().map(|line| line[k]).collect::<Vec<f64>>();
    let mut columns = vec![
        Column::new("step", "learning step", column(0)),
        Column::new("component", "column of the component in the figure; 0 is mean field", column(1)),
        Column::new("weight", "its mixing coefficient", column(2)),
    ];
    for pixel in 0..PIXELS {
        let name = format!("p{}{}", pixel / SIDE, pixel % SIDE);
        columns.push(Column::new(
            name,
            "mean of the pixel (row, column) in the free phase",
            column(3 + pixel),
        ));
    }
    columns
}
