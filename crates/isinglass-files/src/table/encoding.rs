//! Columns that are not binary as they stand: thresholds for numbers, and words of their own.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::columns::{Keep, TableOptions};
use super::problem::TableProblem;
use super::sheet::Column;
use super::words::{self, Pair, Word};
use crate::error::{Fault, Hint, Near, Parsed, Place, Quoted};
use crate::{Error, Result};

/// How the cells of a column become −1 and +1.
#[derive(Debug, Clone, PartialEq)]
pub enum Encoding {
    /// Numbers above this are +1, others −1.
    Above(f64),
    /// A word for −1 and one for +1.
    Words([String; 2]),
}

/// The columns of a table that are encoded, and how.
///
/// # Example
/// ```
/// use isinglass_files::{Encoding, Encodings, TableOptions, parse_csv};
/// let mut encodings = Encodings::default();
/// encodings.set("age", Encoding::Above(40.0));
/// encodings.set("sex", Encoding::Words(["f".into(), "m".into()]));
/// let options = TableOptions { encodings, ..TableOptions::default() };
/// let table = parse_csv(b"age,sex,ill\n35,m,y\n61.5,f,n\nNA,f,y\n", "t.csv", b',', &options)?;
/// assert_eq!([table.row(0), table.row(1), table.row(2)], [[-1, 1, 1], [1, -1, -1], [0, -1, 1]]);
/// # Ok::<(), isinglass_files::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Encodings(Vec<(String, Encoding)>);

impl Encodings {
    /// Whether no column is encoded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets that of a column, in place of any other.
    pub fn set(&mut self, column: impl Into<String>, encoding: Encoding) {
        let column = column.into();
        self.0.retain(|(known, _)| *known != column);
        self.0.push((column, encoding));
    }

    /// That of a column.
    pub fn get(&self, column: &str) -> Option<&Encoding> {
        self.0.iter().find(|(known, _)| known == column).map(|(_, encoding)| encoding)
    }

    /// The columns with their encodings.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Encoding)> {
        self.0.iter().map(|(column, encoding)| (column.as_str(), encoding))
    }

    /// Those of columns that are among some names, in the order of these.
    #[must_use]
    pub fn among(&self, names: &[String]) -> Self {
        let own = |name: &String| Some((name.clone(), self.get(name)?.clone()));
        Self(names.iter().filter_map(own).collect())
    }
}

/// A column with a threshold, such as `age>40`.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The column.
    pub column: String,
    /// Numbers above this are +1.
    pub above: f64,
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || format!("found '{text}', expected COLUMN>NUMBER such as age>40");
        // A name may hold the sign itself; the number is behind the last.
        let (column, above) = text.rsplit_once('>').ok_or_else(wrong)?;
        let above = above.trim().parse().ok().filter(|above: &f64| above.is_finite()).ok_or_else(wrong)?;
        Ok(Self { column: column.trim().to_owned(), above })
    }
}

impl Encoding {
    /// The value of a cell: 0 for a missing one.
    pub(super) fn cell(&self, text: &[u8]) -> Parsed<i8> {
        if Word::of(text).kinds == words::ALL {
            return Ok(0);
        }
        let trimmed = text.trim_ascii();
        let found = || Quoted::new(trimmed);
        match self {
            Self::Above(above) => {
                let number = str::from_utf8(trimmed).ok().and_then(|text| text.parse::<f64>().ok());
                let number = number.filter(|number| number.is_finite());
                let number = number.ok_or_else(|| Fault::from(TableProblem::NoNumber(found(), *above)))?;
                Ok(if number > *above { 1 } else { -1 })
            }
            Self::Words(pair) => match pair.iter().position(|word| word.as_bytes() == trimmed) {
                Some(place) => Ok(2 * place as i8 - 1),
                None => Err(TableProblem::OtherWord { found: found(), words: pair.clone() }.into()),
            },
        }
    }

    /// The value of a cell that is a number; NaN is missing.
    pub(super) fn number(&self, number: f64) -> Parsed<i8> {
        match self {
            _ if number.is_nan() => Ok(0),
            Self::Above(above) => Ok(if number > *above { 1 } else { -1 }),
            Self::Words(_) => self.cell(number.to_string().as_bytes()),
        }
    }

    /// What is written for cells that were filled.
    pub(super) fn pair(&self) -> Pair {
        match self {
            Self::Above(above) => {
                Pair { words: [format!("<={above}"), format!(">{above}")], numbers: [0, 1] }
            }
            Self::Words(words) => {
                let number = |k: usize| words[k].parse().unwrap_or(k as i64);
                Pair { words: words.clone(), numbers: [number(0), number(1)] }
            }
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Above(above) => write!(f, "+1 above {above}"),
            Self::Words([down, up]) => write!(f, "'{down}' is -1, '{up}' is +1"),
        }
    }
}

/// The medians of the columns of a table that hold numbers other than −1, 0 and 1, as thresholds.
///
/// Where at least half of the numbers of a column are its largest, the threshold is the largest number
/// below it, so that both values occur. The file is read once for this; columns that are already
/// encoded are left alone.
///
/// # Errors
/// Those of [`read_table`](crate::read_table); a column with one number only.
pub fn medians(path: &Path, options: &TableOptions) -> Result<Encodings> {
    // Every column is read as text: which of them are numbers is not known before.
    let sheet = super::read(path, options, Keep::AllTexts)?;
    let mut found = Encodings::default();
    for column in &sheet.columns {
        let Column::Other { name, texts } = column else { continue };
        let is_used = options.weights.as_deref() != Some(name) && !options.drop.contains(name);
        if !is_used || options.encodings.get(name).is_some() {
            continue;
        }
        let rows = 0..sheet.table.row_count();
        if rows.clone().all(|row| Word::of(texts.get(row)).kinds != 0) {
            continue;
        }
        let numbers: Option<Vec<f64>> = rows.map(|row| texts.number(row)).collect();
        // Text of other kinds is reported where the table is read.
        let Some(numbers) = numbers else { continue };
        let mut present: Vec<f64> = numbers.into_iter().filter(|x| !x.is_nan()).collect();
        present.sort_by(f64::total_cmp);
        let Some(above) = middle(&present) else {
            let place = Place::Column(Quoted::from(&name[..]));
            return Err(Fault::at(place, TableProblem::OneNumber)
                .with_hint(Hint::DropConstant)
                .reading(path));
        };
        found.set(name.clone(), Encoding::Above(above));
    }
    Ok(found)
}

/// The number that a threshold at the median is, with numbers on both sides.
fn middle(sorted: &[f64]) -> Option<f64> {
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let half = sorted.len() / 2;
    let median =
        if sorted.len().is_multiple_of(2) { 0.5 * (sorted[half - 1] + sorted[half]) } else { sorted[half] };
    if first == last {
        None
    } else if median < last {
        Some(median)
    } else {
        sorted.iter().rev().find(|&&x| x < last).copied()
    }
}

/// Reads thresholds from a file of two columns, `column` and `threshold`.
///
/// # Errors
/// The file cannot be read; another header; a line with anything but a name and a number.
pub fn read_thresholds(path: &Path) -> Result<Encodings> {
    let bytes = crate::input::bytes(path, isinglass::Budget::default())?;
    let text = String::from_utf8_lossy(&bytes);
    let problem = |line: usize, found: &str| -> Error {
        let fault = Fault::at(Place::Line(line as u64 + 1), TableProblem::ThresholdLine(Quoted::from(found)));
        fault.reading(path)
    };
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    match lines.next() {
        Some((_, header)) if header.replace(' ', "") == "column,threshold" => {}
        Some((line, other)) => return Err(problem(line, other)),
        None => return Err(problem(0, "")),
    }
    let mut found = Encodings::default();
    for (line, text) in lines.filter(|(_, text)| !text.trim().is_empty()) {
        let parts = text.rsplit_once(',');
        let parsed = parts.and_then(|(name, number)| {
            let number = number.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
            Some((name.trim().trim_matches('"'), number))
        });
        let (name, above) = parsed.ok_or_else(|| problem(line, text))?;
        found.set(name, Encoding::Above(above));
    }
    Ok(found)
}

/// Refuses encodings of columns that a file does not have, or that are no units.
pub(super) fn check(encodings: &Encodings, names: &[String], options: &TableOptions) -> Parsed<()> {
    for (column, _) in encodings.iter() {
        if !names.iter().any(|name| name == column) {
            let problem = TableProblem::UnknownColumn(Quoted::from(column), Near::to(column, names));
            return Err(Fault::at(Place::Header, problem));
        }
        if options.weights.as_deref() == Some(column) || options.drop.iter().any(|name| name == column) {
            return Err(Fault::at(Place::Column(Quoted::from(column)), TableProblem::EncodedOther));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_leave_numbers_on_both_sides() {
        assert_eq!(middle(&[1.0, 2.0, 3.0]), Some(2.0));
        assert_eq!(middle(&[1.0, 2.0, 3.0, 4.0]), Some(2.5));
        assert_eq!(middle(&[0.0, 2.0, 5.0, 5.0, 5.0]), Some(2.0));
        assert_eq!(middle(&[5.0, 5.0]), None);
        assert_eq!(middle(&[]), None);
    }

    #[test]
    fn thresholds_are_read_as_they_are_written() {
        let found: Threshold = "pain > now>2.5".parse().unwrap();
        assert_eq!((found.column.as_str(), found.above), ("pain > now", 2.5));
        assert!("age".parse::<Threshold>().is_err() && "age>x".parse::<Threshold>().is_err());
    }
}
