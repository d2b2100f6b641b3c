//! Tables in groups: a column holds the name of each row's group.

use std::path::Path;

use isinglass::Table;

use super::columns::TableOptions;
use super::problem::TableProblem;
use super::sheet::{Column, Sheet, Texts};
use super::words::{self, Word};
use crate::error::{Fault, Hint, Near, Parsed, Place, Quoted};
use crate::{Result, read_sheet};

/// More groups than this are no groups: the column names rows or holds numbers.
const MOST: usize = 50;

/// The rows of a file by the text in one of its columns.
#[derive(Debug)]
pub struct LabelledTables {
    /// The labels in order: of their numbers if all are numbers, otherwise of their letters.
    pub names: Vec<String>,
    /// For each label its rows, without the column of labels.
    pub tables: Vec<Table>,
    /// Rows without a label, which are in no table.
    pub unlabelled: usize,
}

/// Reads a table as [`read_table`](crate::read_table) does, and splits its rows by the text of a
/// column, whatever it holds.
///
/// # Errors
/// Those of [`read_table`](crate::read_table); no such column, fewer than two labels, more than 50.
///
/// # Example
/// ```
/// use isinglass_files::{TableOptions, read_groups};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("patients.csv");
/// std::fs::write(&path, "arm,pain,fear\ndrug,y,n\nplacebo,y,y\n,n,n\ndrug,n,?\n")?;
/// let found = read_groups(&path, "arm", &TableOptions::default())?;
/// assert_eq!(found.names, ["drug", "placebo"]);
/// assert_eq!((found.tables[0].row_count(), found.unlabelled), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_groups(path: &Path, by: &str, options: &TableOptions) -> Result<LabelledTables> {
    let mut options = options.clone();
    let fault = |fault: Fault| fault.reading(path);
    let place = || Place::Column(Quoted::from(by));
    if options.drop.iter().any(|name| name == by) || options.weights.as_deref() == Some(by) {
        return Err(fault(Fault::at(place(), TableProblem::DroppedLabels)));
    }
    options.drop.push(by.to_owned());
    let sheet = read_sheet(path, &options)?;
    split(&sheet, by, options.weights.as_deref()).map_err(|problem| fault(problem.inside(place())))
}

fn split(sheet: &Sheet, by: &str, weights: Option<&str>) -> Parsed<LabelledTables> {
    // Both columns are among the copied ones, as reading has checked.
    let names: Vec<String> = sheet.copied().map(str::to_owned).collect();
    let column = |wanted: &str| {
        let known = sheet.columns.iter().find_map(|column| match column {
            Column::Other { name, texts } if name == wanted => Some(texts),
            _ => None,
        });
        known.ok_or_else(|| {
            Fault::from(TableProblem::UnknownColumn(Quoted::from(wanted), Near::to(wanted, &names)))
        })
    };
    let labels = column(by)?;
    let weights: Option<&Texts> = weights.map(column).transpose()?;
    let rows = sheet.table.row_count();
    let label = |row: usize| {
        let text = labels.get(row);
        let is_missing = Word::of(text).kinds == words::ALL;
        (!is_missing).then(|| String::from_utf8_lossy(text).trim().to_owned())
    };
    let mut found: Vec<String> = (0..rows).filter_map(label).collect();
    found.sort_unstable();
    found.dedup();
    if found.len() < 2 || found.len() > MOST {
        let problem = TableProblem::Labels { found: found.len(), most: MOST };
        return Err(Fault::from(problem).with_hint(Hint::Labels));
    }
    let number = |name: &String| name.parse::<f64>().ok();
    if found.iter().all(|name| number(name).is_some()) {
        found.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
    }
    let columns = sheet.table.columns();
    let empty = || Table::new(columns.iter().cloned());
    let mut tables: Vec<Table> = found.iter().map(|_| empty()).collect::<isinglass::Result<_>>()?;
    let mut unlabelled = 0;
    for row in 0..rows {
        let Some(label) = label(row) else {
            unlabelled += 1;
            continue;
        };
        let Some(group) = found.iter().position(|name| *name == label) else { continue };
        let cells = sheet.table.row(sheet.table.distinct_of()[row] as usize);
        let weight = weights.and_then(|texts| texts.number(row)).unwrap_or(1.0);
        tables[group].push(cells, weight)?;
    }
    Ok(LabelledTables { names: found, tables, unlabelled })
}
