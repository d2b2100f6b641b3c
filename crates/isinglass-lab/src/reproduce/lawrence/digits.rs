//! Figures 5 and 6: handwritten digits, mean field or a mixture in the free phase.

use isinglass::engine::{Annealing, MixtureComponents, VariationalSettings};
use isinglass::learn::Phases;
use isinglass::topology::{self, Links, Neighbours, Numbers};
use isinglass::{Engine, Error, Evidence, Machine, MeanField, Mixture, Result, Table};
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
use crate::statistics::{mean, root_mean_square, variance};

const SIDE: usize = 8;
const PIXELS: usize = SIDE * SIDE;
const HIDDEN: usize = 10;
const COMPONENTS: usize = 10;
/// Steps of learning, and those of which figure 6 shows the free phase.
const STEPS: usize = 30;
const SHOWN: usize = 20;
/// The source's 0.1/N, for a gradient that is a sum over N pictures.
const RATE: f64 = 0.1;
const ANNEALING: Annealing = Annealing { from: 100.0, steps: 7 };
/// Pictures for a quick look.
const FEW: usize = 300;

/// How means are looked for. Equations that hold to four digits are enough for steps of this length.
fn inference() -> VariationalSettings {
    VariationalSettings {
        tolerance: 1e-4,
        sweeps: 1000,
        anneal: Some(ANNEALING),
        ..VariationalSettings::default()
    }
}

fn mixture() -> Mixture {
    Mixture { components: COMPONENTS, settings: inference() }
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
    if all.columns().len() != PIXELS || all.missing_cells() > 0 || all.rows() == 0 {
        let problem = format!(
            "found {} rows of {} columns with {} missing cells, expected pictures of {PIXELS} pixels without gaps",
            all.rows(),
            all.columns().len(),
            all.missing_cells()
        );
        return Err(Error::invalid("digits", problem));
    }
    let count = if settings.quick { FEW.min(all.rows()) } else { all.rows() };
    let rows = (0..count).map(|k| all.row(all.distinct_of()[k * all.rows() / count] as usize));
    Table::from_rows(all.columns().iter().cloned(), rows)
}

fn start(table: &Table, seed: u64) -> Result<Machine> {
    let grid = Links::Grid { rows: SIDE, columns: SIDE, neighbours: Neighbours::Eight };
    let names = table.columns().iter().cloned().chain((0..HIDDEN).map(|k| format!("hidden {k}")));
    let small = Numbers::Normal { mean: 0.0, deviation: 0.1 };
    topology::two_layer(PIXELS, &grid, HIDDEN, &Links::Full)?.with_names(names)?.with_numbers(
        &small,
        &small,
        seed_of(seed, 0),
    )
}

/// Learning with mean field in the clamped phase, and with mean field and a mixture in the free phase.
fn both_paths(settings: &Settings<'_>, table: &Table, steps: usize) -> Result<[Path; 2]> {
    let start = start(table, settings.seed)?;
    let field = MeanField { settings: inference() };
    let mixture = mixture();
    let path = |free: &dyn Engine| {
        let phases = Phases { clamped: &field, free };
        ascend(phases, &start, table, (RATE, 0.0), steps, settings.watch)
    };
    let (with_field, with_mixture) = rayon::join(|| path(&field), || path(&mixture));
    Ok([with_field?, with_mixture?])
}

fn set_up(table: &Table, steps: usize) -> String {
    format!(
        "{} pictures of 8×8 pixels; 64 visible units, each joined to its eight neighbours, and {HIDDEN} hidden units joined to each other and to all visible ones; T from 100 to 1 in 7 geometric steps in both phases; {steps} steps of \
         gradient ascent with rate 0.1/N from N(0, 0.1²). Mean field in the clamped phase; mean field or a mixture of {COMPONENTS} in the free phase.",
        table.rows()
    )
}

pub(super) fn costs(settings: &Settings<'_>) -> Result<Outcome> {
    let table = pictures(settings)?;
    settings.watch.expect(2 * (STEPS + 1));
    let [field, mixture] = both_paths(settings, &table, STEPS)?.map(|path| path.objective);
    let drops =
        |cost: &[f64]| -> Vec<f64> { cost.windows(2).map(|pair| (pair[0] - pair[1]).max(0.0)).collect() };
    let total = |cost: &[f64]| drops(cost).iter().sum::<f64>();
    let largest = |cost: &[f64]| drops(cost).into_iter().fold(0.0, f64::max);
    let spread = |cost: &[f64]| variance(&cost[STEPS / 2..]).sqrt();
    let checks = vec![
        check(
            total(&field) > 1.5 * total(&mixture),
            format!(
                "mean field is unstable compared with the mixture: on the way its cost falls back by {:.2} nats in all (at most {:.2} in one step), that of the mixture by {:.2} ({:.2}).",
                total(&field),
                largest(&field),
                total(&mixture),
                largest(&mixture)
            ),
        ),
        check(
            spread(&mixture) < 0.7 * spread(&field),
            format!(
                "in the second half the mixture's cost is steadier: it spreads by {:.2} nats (standard deviation), that of mean field by {:.2}.",
                spread(&mixture),
                spread(&field)
            ),
        ),
    ];
    let steps: Vec<f64> = (0..=STEPS).map(|k| k as f64).collect();
    let points = |cost: &[f64]| steps.iter().copied().zip(cost.iter().copied()).collect();
    let figure = Sheet::new("Learning 8×8 digits: cost functions")
        .row(
            400.0,
            [Chart::new(
                Axis::new("step of learning").within(0.0, STEPS as f64 + 0.5),
                Axis::new("cost (nats a picture)"),
            )
            .with(Series::line("mean field", PALETTE[1], points(&field)).marked(Marker::Ring))
            .with(Series::line("mixture of ten", PALETTE[0], points(&mixture)).marked(Marker::Disc))
            .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        set_up: set_up(&table, STEPS),
        columns: vec![
            Column::new("step", "step of learning", steps),
            Column::new(
                "mean_field",
                "L_mft, nats a picture: the clamped bound less the mean-field bound on ln Z",
                field,
            ),
            Column::new(
                "mixture",
                "L_mix, nats a picture: the clamped bound less the mixture's bound on ln Z",
                mixture,
            ),
        ],
        figure,
        checks,
        remarks: "Neither cost is a bound on the log-likelihood: a lower bound on ln Z enters with a minus."
            .into(),
    })
}

pub(super) fn components(settings: &Settings<'_>) -> Result<Outcome> {
    let table = pictures(settings)?;
    settings.watch.expect(2 * (SHOWN + 1) + SHOWN);
    let [field, mixed] = both_paths(settings, &table, SHOWN)?.map(|path| path.machines);
    // What the free phase settles in before each of the steps 1 to 20.
    let nothing = Evidence::none(PIXELS + HIDDEN);
    let one = Mixture { components: 1, ..mixture() };
    let found: Vec<(MixtureComponents, MixtureComponents)> = (0..SHOWN)
        .into_par_iter()
        .map(|k| {
            let both =
                (mixture().components_of(&mixed[k], &nothing)?, one.components_of(&field[k], &nothing)?);
            settings.watch.done();
            Ok(both)
        })
        .collect::<Result<_>>()?;
    let fields: Vec<Vec<f64>> = found.iter().map(|(_, one)| one.means[0][..PIXELS].to_vec()).collect();
    let mixtures: Vec<&MixtureComponents> = found.iter().map(|(many, _)| many).collect();
    let rows = in_columns(&mixtures);
    let change = |a: &[f64], b: &[f64]| root_mean_square(a.iter().zip(b).map(|(x, y)| x - y));
    let of_field: Vec<f64> = fields.windows(2).map(|pair| change(&pair[0], &pair[1])).collect();
    let of_mixture: Vec<f64> = rows
        .windows(2)
        .flat_map(|pair| {
            let both = pair[0].iter().zip(&pair[1]).filter_map(|(a, b)| a.as_ref().zip(b.as_ref()));
            both.map(|(a, b)| change(&a.means, &b.means)).collect::<Vec<_>>()
        })
        .collect();
    let used = mean(&rows.iter().map(|row| row.iter().flatten().count() as f64).collect::<Vec<_>>());
    let hops = |changes: &[f64]| changes.iter().filter(|x| **x > HOP).count() as f64 / changes.len() as f64;
    let (field_hops, mixture_hops) = (100.0 * hops(&of_field), 100.0 * hops(&of_mixture));
    let checks = vec![
        check(
            field_hops > 20.0,
            format!(
                "mean field hops: in {field_hops:.0} % of the steps its pixels change by more than {HOP} (root mean square); on average by {:.2}.",
                mean(&of_field)
            ),
        ),
        check(
            mean(&of_mixture) < 0.5 * mean(&of_field) && mixture_hops < 0.5 * field_hops,
            format!(
                "the components are much more stable: {mixture_hops:.0} % of their steps are hops; on average they change by {:.2}.",
                mean(&of_mixture)
            ),
        ),
        check(
            mixture_hops > 0.0,
            format!("some components still hop: {mixture_hops:.1} % of the steps of all components."),
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
            .zip(&fields)
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
            "{} Shown is the free phase before each of the first {SHOWN} steps (rows); the visible units of the components (columns) and of mean field.",
            set_up(&table, SHOWN)
        ),
        columns: columns(&rows, &fields),
        figure,
        checks,
        remarks: format!(
            "Components have no order of their own; each is put into the column whose last picture it resembles most. Those with a mixing coefficient below {LEAST_WEIGHT} take no part and are left out: {used:.1} of {COMPONENTS} do on average."
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
