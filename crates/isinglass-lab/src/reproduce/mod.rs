//! The experiments of the sources, rerun: for each the numbers, a figure, and a check of every part
//! of the source's claim.
//!
//! [`experiments`] lists them; each source has a module. An [`Experiment`] takes [`Settings`] and
//! returns an [`Outcome`]: columns of numbers, a figure, and [`Check`]s, each a statement with the
//! figures that decide it. [`Outcome::to_csv`] and [`Report::to_markdown`] return texts; writing
//! files is left to the caller.
//!
//! To add a source, add a module with its experiments and list them in [`experiments`].

mod kappen;
mod lawrence;
mod learning;
mod lecture;
mod outcome;
mod report;
mod ruger;
mod yasuda;

use isinglass::{Error, Result, Table};

use crate::Progress;

pub use outcome::{Check, Column, Outcome, Verdict};
pub use report::{Digits, Report};

/// Experiments on pictures of digits: those of [`Settings::digits`], or the built-in ones.
const ON_DIGITS: [&str; 2] = ["lawrence-5", "lawrence-6"];

/// An experiment of a source.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// The name by which users choose it: the source, and the number of its figure.
    pub name: &'static str,
    /// The main claim, in one line.
    pub title: &'static str,
    /// The publication, and the place in it.
    pub source: &'static str,
    /// What the source claims, in one or two sentences.
    pub claim: &'static str,
    run: fn(&Settings<'_>) -> Result<Outcome>,
}

/// How an experiment is run.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Smaller sizes, which show the shape in seconds; otherwise those of the source.
    pub quick: bool,
    /// The seed of everything random.
    pub seed: u64,
    /// Pictures of digits, 8 × 8 pixels per row, for the experiments on them; `None` takes the
    /// built-in ones.
    pub digits: Option<&'a Table>,
    /// Receives the progress of the run.
    pub progress: &'a dyn Progress,
}

/// Returns all experiments, source by source, in the order of their figures.
///
/// ```
/// let names: Vec<&str> = isinglass_lab::reproduce::experiments().map(|experiment| experiment.name).collect();
/// assert!(names.contains(&"kappen-3") && names.contains(&"lawrence-1"));
/// ```
pub fn experiments() -> impl Iterator<Item = &'static Experiment> {
    [
        kappen::EXPERIMENTS,
        yasuda::EXPERIMENTS,
        lawrence::EXPERIMENTS,
        ruger::EXPERIMENTS,
        lecture::EXPERIMENTS,
    ]
    .into_iter()
    .flatten()
}

/// Returns the experiment with a name.
///
/// # Errors
/// [`Error::Invalid`] with the nearest name, if there is no such experiment.
pub fn experiment(name: &str) -> Result<&'static Experiment> {
    experiments().find(|experiment| experiment.name == name).ok_or_else(|| {
        let names: Vec<String> = experiments().map(|experiment| experiment.name.to_owned()).collect();
        let hint = isinglass::machine::nearest(name, &names);
        let hint = hint.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
        Error::invalid("experiment", format!("found '{name}', expected a name listed by --list{hint}"))
    })
}

impl Experiment {
    /// Runs the experiment.
    ///
    /// # Errors
    /// Digits that are not 64 columns without missing cells; otherwise only failures of an engine.
    ///
    /// # Example
    /// ```
    /// use isinglass_lab::NoProgress;
    /// use isinglass_lab::reproduce::{Settings, Verdict, experiment};
    /// let settings = Settings { quick: true, seed: 0, digits: None, progress: &NoProgress };
    /// let report = experiment("kappen-6")?.run(&settings)?;
    /// assert_eq!(report.outcome.verdict(), Verdict::InPart);
    /// assert!(report.outcome.to_csv().starts_with("m,a,"));
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn run(&'static self, settings: &Settings<'_>) -> Result<Report> {
        let outcome = (self.run)(settings)?;
        let digits = ON_DIGITS.contains(&self.name).then(|| {
            settings.digits.map_or(Digits::BuiltIn, |table| Digits::Given { pictures: table.row_count() })
        });
        Ok(Report { experiment: self, quick: settings.quick, seed: settings.seed, digits, outcome })
    }
}

impl Settings<'_> {
    /// Returns the source's size, or the smaller one of a quick run.
    fn size(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }
}
