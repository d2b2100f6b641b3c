//! What is wrong with a content, before the path of its file is known.

use std::fmt;
use std::path::Path;

use isinglass::message::{Message, Style};

use super::text::OneLine;
use super::{Error, Hint, Place};
use crate::checkpoint::CheckpointProblem;
use crate::edges::EdgeProblem;
use crate::model::{JsonProblem, NpzProblem, UaiProblem};
use crate::npy::NpyProblem;
use crate::picture::PictureProblem;
use crate::table::TableProblem;

/// What is wrong with the content of a file, or with what was to be written: the place, the
/// problem, and perhaps a hint.
// The contents are behind a pointer, so that results of parsers are small.
#[derive(Debug)]
pub struct Fault(Box<Contents>);

#[derive(Debug)]
struct Contents {
    /// From the outside in; empty for the file as a whole.
    place: Vec<Place>,
    problem: Problem,
    hint: Option<Hint>,
}

/// Everything that can be wrong, by format.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) enum Problem {
    Checkpoint(#[from] CheckpointProblem),
    Edges(#[from] EdgeProblem),
    Json(#[from] JsonProblem),
    Npy(#[from] NpyProblem),
    Npz(#[from] NpzProblem),
    Picture(#[from] PictureProblem),
    Table(#[from] TableProblem),
    Uai(#[from] UaiProblem),
    /// The core names the place itself.
    Core(#[from] isinglass::Error),
}

/// Results of the parsers, which do not know the path of their file.
pub(crate) type Parsed<T> = std::result::Result<T, Fault>;

/// A problem of the file as a whole.
impl<P: Into<Problem>> From<P> for Fault {
    fn from(problem: P) -> Self {
        Self(Box::new(Contents { place: Vec::new(), problem: problem.into(), hint: None }))
    }
}

impl Fault {
    /// A problem at a place.
    pub(crate) fn at(place: Place, problem: impl Into<Problem>) -> Self {
        Self::from(problem).inside(place)
    }

    /// The same problem with a hint.
    pub(crate) fn with_hint(mut self, hint: Hint) -> Self {
        self.0.hint = Some(hint);
        self
    }

    /// The same problem, its place found inside another.
    pub(crate) fn inside(mut self, outer: Place) -> Self {
        self.0.place.insert(0, outer);
        self
    }

    /// The error of reading a file with this problem.
    pub(crate) fn reading(self, path: &Path) -> Error {
        Error::Content { path: path.to_owned(), fault: self }
    }

    /// The error of writing something with this problem to a file.
    pub(crate) fn writing(self, path: &Path) -> Error {
        Error::Unwritable { path: path.to_owned(), fault: self }
    }
}

impl Message for Fault {
    fn render(&self, out: &mut dyn fmt::Write, style: Style) -> fmt::Result {
        let Contents { place, problem, hint } = &*self.0;
        for (k, part) in place.iter().enumerate() {
            let behind = if k + 1 == place.len() { ": " } else { ", " };
            write!(out, "{part}{behind}")?;
        }
        OneLine::write(out, problem)?;
        hint.map_or(Ok(()), |hint| hint.render(out, style))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.render(f, Style::Flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Quoted;

    #[test]
    fn messages_have_file_place_problem_and_hint() {
        let empty = || Fault::from(TableProblem::NoRows);
        let fault = empty().inside(Place::Column(Quoted::from("a"))).inside(Place::Row(1));
        assert_eq!(
            fault.with_hint(Hint::Utf8).reading(Path::new("t.csv")).to_string(),
            "t.csv: row 1, column 'a': has a header but no rows, expected at least one row\n\
             hint: save the table as UTF-8"
        );
        assert_eq!(
            empty().writing(Path::new("t")).to_string(),
            "t: has a header but no rows, expected at least one row"
        );
        assert_eq!(size_of::<Fault>(), size_of::<usize>());
    }

    #[test]
    fn settings_are_named_as_users_type_them_and_names_are_left_alone() {
        let fault = Fault::at(Place::Column(Quoted::from("--pain-left")), TableProblem::DroppedWeights);
        let error = fault.with_hint(Hint::DropOrWeights).reading(Path::new("run --v2/a.csv"));
        let first = "run --v2/a.csv: column '--pain-left': is to be dropped and to hold the weights, expected one of the two";
        assert_eq!(
            error.text(Style::Flags),
            format!("{first}\nhint: name the column in --drop or in --weights, not in both")
        );
        assert_eq!(
            error.text(Style::Keywords),
            format!("{first}\nhint: name the column in drop or in weights, not in both")
        );
        assert_eq!(error.to_string(), error.text(Style::Flags));
    }
}
