//! Figures 5 and 6: handwritten digits, mean field or a mixture in the free phase.

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
use crate::reproduce::chance::seed_of;
use crate::reproduce::learning::{Path, ascend};
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::{mean, root_mean_square, standard_error, variance};

const SIDE: usize = 8;
const PIXELS: usize = SIDE * SIDE;
const HIDDEN: usize = 10;
const COMPONENTS: usize = 10;
/// Starts over which instability is averaged; the first is drawn.
const STARTS: usize = 5;
const FEW_STARTS: usize = 4;
/// Steps of learning, and those of which figure 6 shows the free phase.
const STEPS: usize = 30;
const SHOWN: usize = 20;
/// The source's 0.1/N, for a gradient that is a sum over N pictures.
const RATE: f64 = 0.1;
/// Seven temperatures, of which 1 is the last.
const ANNEALING: Annealing = Annealing { from: 100.0, steps: 6 };
/// Pictures for a quick look.
const FEW: usize = 300;

/// How means are looked for. Equations that hold to four digits are enough for steps of this length.
const MOST_SWEEPS: usize = 1000;
const TOLERANCE: f64 = 1e-4;

fn mean_field() -> MeanField {
    MeanField::new().tolerance(TOLERANCE).max_sweeps(MOST_SWEEPS).anneal(Some(ANNEALING))
}

fn mixture() -> Mixture {
    Mixture::new().components(COMPONENTS).tolerance(TOLERANCE).max_sweeps(MOST_SWEEPS).anneal(Some(ANNEALING))
}

/// The pictures: those given or the built-in ones; for a quick look some of them, evenly from all.
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
            "found {} rows of {} columns with {} missing cells, expected pictures of {PIXELS} pixels without gaps",
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

/// Learning with mean field in the clamped phase, and with mean field and a mixture in the free phase, from one of the starts.
fn both_paths(settings: &Settings<'_>, table: &Table, steps: usize, index: usize) -> Result<[Path; 2]> {
    let start = start(table, settings.seed, index)?;
    let field = mean_field();
    let mixture = mixture();
    let path = |free: &dyn Engine| {
        let phases = Phases { clamped: &field, free };
        ascend(phases, &start, table, (RATE, 0.0), steps, settings.watch)
    };
    let (with_field, with_mixture) = rayon::join(|| path(&field), || path(&mixture));
    Ok([with_field?, with_mixture?])
}

fn set_up(table: &Table, steps: usize, starts: usize) -> String {
    format!(
        "{} pictures of 8×8 pixels; 64 visible units, each joined to its eight neighbours, and {HIDDEN} hidden units joined to each other and to all visible ones; seven temperatures from 100 to 1 in both phases; {steps} steps of \
         gradient ascent with rate 0.1/N from N(0, 0.1²) (the source tells no start here), {starts} starts. Mean field in the clamped phase; mean field or a mixture of {COMPONENTS} in the free phase.",
        table.row_count()
    )
}

/// A measure of mean field less that of the mixture, start by start.
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

    /// Whether mean field has more of it, by two standard errors over starts.
    fn is_larger(&self) -> bool {
        self.difference > 2.0 * self.error
    }
}

pub(super) fn costs(settings: &Settings<'_>) -> Result<Outcome> {
    let table = pictures(settings)?;
    let starts = settings.size(STARTS, FEW_STARTS);
    settings.watch.expect(2 * starts * (STEPS + 1));
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
        check(
            falls.is_larger(),
            format!(
                "mean field is unstable compared with the mixture: on the way its cost falls back by {:.1} nats in all, that of the mixture by {:.1} (averages over {starts} starts; standard error of the difference {:.1}).",
                falls.field, falls.mixture, falls.error
            ),
        ),
        check(
            spreads.is_larger(),
            format!(
                "in the second half the mixture's cost is steadier: it spreads by {:.2} nats (standard deviation), that of mean field by {:.2} (standard error of the difference {:.2}).",
                spreads.mixture, spreads.field, spreads.error
            ),
        ),
    ];
    let mut columns = vec![Column::new("step", "step of learning", (0..=STEPS).map(|k| k as f64).collect())];
    for (index, costs) in found.iter().enumerate() {
        let ending = if index == 0 { String::new() } else { format!("_start_{}", index + 1) };
        for ((name, symbol, bound), cost) in
            [("mean_field", "L_mft", "mean-field"), ("mixture", "L_mix", "mixture's")].into_iter().zip(costs)
        {
            let meaning = format!(
                "{symbol}, nats a picture: the clamped bound less the {bound} bound on ln Z, start {}",
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
                Axis::new("step of learning").within(0.0, STEPS as f64 + 0.5),
                Axis::new("cost (nats a picture)"),
            )
            .with(Series::line("mean field", PALETTE[1], points(field)).marked(Marker::Ring))
            .with(Series::line("mixture of ten", PALETTE[0], points(mixture)).marked(Marker::Disc))
            .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!("{} The figure shows the first.", set_up(&table, STEPS, starts)),
        columns,
        figure,
        checks,
        remarks: "Neither cost is a bound on the log-likelihood: a lower bound on ln Z enters with a minus."
            .into(),
    })
}

/// What the free phase settles in before each of the first steps, from one of the starts.
struct FreePhase {
    /// The components that take part, each in its column.
    rows: Vec<Vec<Option<Component>>>,
    /// The visible means of mean field.
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
                settings.watch.done();
                Ok(both)
            })
            .collect::<Result<_>>()?;
        let (mixtures, fields): (Vec<MixtureComponents>, Vec<Vec<f64>>) = found.into_iter().unzip();
        Ok(Self { rows: in_columns(&mixtures.iter().collect::<Vec<_>>()), fields })
    }

    /// How much pixels change from a step to the next (root mean square): each step of mean field, and each of every component that takes part in both.
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
    settings.watch.expect(starts * (2 * (SHOWN + 1) + SHOWN));
    let found: Vec<FreePhase> =
        (0..starts).map(|index| FreePhase::new(settings, &table, index)).collect::<Result<_>>()?;
    let changes: Vec<[Vec<f64>; 2]> = found.iter().map(FreePhase::changes).collect();
    let compare = |of: &dyn Fn(&[f64]) -> f64| {
        Compared::of(&changes.iter().map(|both| both.each_ref().map(|x| of(x))).collect::<Vec<_>>())
    };
    let hops = compare(&|x| 100.0 * x.iter().filter(|x| **x > HOP).count() as f64 / x.len() as f64);
    let moved = compare(&mean);
    let FreePhase { rows, fields } = &found[0];
    let used = mean(&rows.iter().map(|row| row.iter().flatten().count() as f64).collect::<Vec<_>>());
    let checks = vec![
        check(
            moved.is_larger(),
            format!(
                "mean field moves more from step to step than the components do: its pixels change by {:.2} (root mean square), theirs by {:.2} (averages over {starts} starts; standard error of the difference {:.3}).",
                moved.field, moved.mixture, moved.error
            ),
        ),
        check(
            moved.mixture < 0.5 * moved.field,
            format!(
                "the components are much more stable: they change {:.2} times as much as mean field does; by more than {HOP} in {:.0} % of their steps, mean field in {:.0} %.",
                moved.mixture / moved.field,
                hops.mixture,
                hops.field
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
    let figure = Sheet::new("Free phase by step of learning: ten components, and mean field")
        .wide(540.0)
        .row(grid.height(), [grid.boxed()])
        .to_svg();
    Ok(Outcome {
        set_up: format!(
            "{} Shown is the free phase before each of the first {SHOWN} steps from the first start (rows); the visible units of the components (columns) and of mean field.",
            set_up(&table, SHOWN, starts)
        ),
        columns: columns(rows, fields),
        figure,
        checks,
        remarks: format!(
            "Components have no order of their own; each is put into the column whose last picture it resembles most. Those with a mixing coefficient below {LEAST_WEIGHT} take no part and are left blank: {used:.1} of {COMPONENTS} do take part on average. Whole rows of the picture change at once: steps of this length move the machine itself, and all components follow it."
        ),
    })
}

/// A change of the pixels that counts as a hop: a sixteenth of them turned round from ±1 to ∓1 makes it.
const HOP: f64 = 0.5;

/// Components with a smaller mixing coefficient take no part: nothing holds their means.
const LEAST_WEIGHT: f64 = 0.01;

/// A component that takes part.
struct Component {
    weight: f64,
    /// Of the visible units.
    means: Vec<f64>,
}

/// The components that take part, row by row, each in the column whose last picture it resembles most, the closest pairs first.
fn in_columns(mixtures: &[&MixtureComponents]) -> Vec<Vec<Option<Component>>> {
    let mut latest: Vec<Option<Vec<f64>>> = vec![None; COMPONENTS];
    let mut rows = Vec::new();
    for mixture in mixtures {
        let active: Vec<usize> = (0..COMPONENTS).filter(|&k| mixture.weights[k] >= LEAST_WEIGHT).collect();
        // An empty column is further than any picture can be.
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
        Column::new("step", "step of learning", column(0)),
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
