//! Missing cells before a fit: rows that have any are left out, or the cells are filled by draws.

use std::str::FromStr;

use isinglass::learn::NoObserver;
use isinglass::numeric::streams::{Purpose, seed_of};
use isinglass::settings::Common;
use isinglass::{Error as CoreError, Evidence, Machine, Table};

use crate::choose::sampler;
use crate::{EngineSettings, FitSettings, LearnerName, Note, Result, Task};

/// What is done with missing cells before fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// Nothing: the learner sums them out, or refuses them.
    #[default]
    Em,
    /// Rows with missing cells are left out.
    Drop,
    /// They are filled by so many draws given the rest of their row.
    Impute(usize),
}

impl FromStr for Missing {
    type Err = CoreError;

    fn from_str(text: &str) -> isinglass::Result<Self> {
        let versions = || text.strip_prefix("impute:")?.parse().ok().filter(|&versions: &usize| versions > 0);
        match text {
            "em" => Ok(Self::Em),
            "drop" => Ok(Self::Drop),
            _ => versions().map(Self::Impute).ok_or_else(|| {
                let expected = "em, drop, or impute:N with a number of draws such as impute:20";
                CoreError::setting("missing", format!("found '{text}', expected {expected}"))
            }),
        }
    }
}

/// A table without missing cells.
#[derive(Debug)]
pub struct Filled {
    /// What is fitted: all versions together, each with its share of the weight.
    pub table: Table,
    /// The versions; none where no cell was filled.
    pub versions: Vec<Table>,
}

impl Missing {
    /// The table that is fitted; `None` if it is the one given.
    ///
    /// # Errors
    /// No row is complete; those of the fit that fills cells.
    pub fn prepare(
        self,
        settings: &FitSettings,
        structure: &Machine,
        table: &Table,
        note: &dyn Fn(Note),
    ) -> Result<Option<Filled>> {
        if self == Self::Em || table.missing_count() == 0 {
            return Ok(None);
        }
        let Self::Impute(count) = self else {
            let complete = complete(table)?;
            let rows = table.row_count() - complete.row_count();
            note(Note::DroppedRows { rows });
            return Ok(Some(Filled { table: complete, versions: Vec::new() }));
        };
        let filler = Filler::new(settings, structure, table)?;
        let new = || Table::new(table.columns().iter().cloned());
        let mut versions: Vec<Table> = (0..count).map(|_| new()).collect::<isinglass::Result<_>>()?;
        for (cells, times, weight) in rows_of(table) {
            let is_complete = !cells.contains(&0);
            let drawn = if is_complete { Vec::new() } else { filler.draw(cells, times * count)? };
            let width = cells.len();
            for (k, version) in versions.iter_mut().enumerate() {
                for time in 0..times {
                    let at = (k * times + time) * width;
                    version.push(if is_complete { cells } else { &drawn[at..at + width] }, weight)?;
                }
            }
        }
        let mut all = new()?;
        for version in &versions {
            for row in 0..version.distinct_count() {
                all.push(version.row(row), version.weight(row) / count as f64)?;
            }
        }
        note(Note::Imputed { versions: count, cells: table.missing_count() });
        Ok(Some(Filled { table: all, versions }))
    }
}

/// The rows without missing cells.
fn complete(table: &Table) -> isinglass::Result<Table> {
    let mut complete = Table::new(table.columns().iter().cloned())?;
    for (cells, times, weight) in rows_of(table) {
        if !cells.contains(&0) {
            (0..times).try_for_each(|_| complete.push(cells, weight))?;
        }
    }
    if complete.row_count() == 0 {
        return Err(CoreError::invalid("table", "every row has a missing cell, so that none is left"));
    }
    Ok(complete)
}

/// The distinct rows, how often each was given, and the mean weight of one.
fn rows_of(table: &Table) -> impl Iterator<Item = (&[i8], usize, f64)> {
    let mut times = vec![0; table.distinct_count()];
    for &row in table.distinct_of() {
        times[row as usize] += 1;
    }
    let row = |(row, times): (usize, usize)| (table.row(row), times, table.weight(row) / times as f64);
    times.into_iter().enumerate().filter(|(_, times)| *times > 0).map(row)
}

/// Draws missing cells given the rest of their row, from a machine that was fitted to all rows.
pub(crate) struct Filler {
    machine: Machine,
    settings: EngineSettings,
    seed: u64,
    /// For each column of the table its unit.
    places: Vec<usize>,
    drawn: std::cell::Cell<u64>,
}

impl Filler {
    /// Fits the machine by the usual learner: selected couplings and penalties are for the fits of the
    /// filled tables.
    pub(crate) fn new(settings: &FitSettings, structure: &Machine, table: &Table) -> Result<Self> {
        let common = Common { seed: settings.engine.seed(), budget: settings.engine.budget() };
        let usual = FitSettings { learner: LearnerName::Auto, check: false, ..FitSettings::default() };
        let usual = usual.with_common(common);
        let plan = usual.plan(structure, table, &|_| ())?;
        let machine = plan.fit(structure, table, None, &mut NoObserver, &|_| ())?.fit.machine;
        let place = |name: &String| machine.position(name);
        let places = table.columns().iter().map(place).collect::<isinglass::Result<_>>()?;
        let settings = EngineSettings::default().with_common(common);
        Ok(Self { machine, settings, seed: common.seed, places, drawn: std::cell::Cell::new(0) })
    }

    /// So many states of a row, one after another.
    pub(crate) fn draw(&self, row: &[i8], count: usize) -> Result<Vec<i8>> {
        let mut cells = vec![0; self.machine.unit_count()];
        self.places.iter().zip(row).for_each(|(&unit, &cell)| cells[unit] = cell);
        let evidence = Evidence::from_cells(cells)?;
        let engine = self.settings.choose(&self.machine, &evidence, Task::Answer, &|_| ())?;
        self.drawn.set(self.drawn.get() + 1);
        let seed = seed_of(self.seed, Purpose::Imputation, self.drawn.get());
        let drawn = sampler(&*engine)?.draw(&self.machine, &evidence, count, seed)?;
        let states = drawn.cells.chunks(self.machine.unit_count());
        Ok(states.flat_map(|state| self.places.iter().map(|&unit| state[unit])).collect())
    }
}
