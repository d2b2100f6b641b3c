//! The experiments of the sources, rerun: for each the numbers, a picture, and whether the source's claim holds.
//!
//! [`experiments`] lists them, one module for each source. An [`Experiment`] takes [`Settings`] and gives an [`Outcome`]: columns of numbers, a figure and a list of
//! checks, each a part of the claim with the figures that speak for or against it. [`Outcome::to_csv`] and [`Report::to_markdown`] make texts of it; files are the caller's business.
//!
//! To add a source: a module with its experiments, and its list in [`experiments`].

pub(crate) mod chance;
mod kappen;
mod lawrence;
mod learning;
mod lecture;
mod outcome;
mod report;
mod ruger;
mod yasuda;

use isinglass::{Error, Result, Table};

pub use outcome::{Check, Column, Outcome, Verdict};
pub use report::{Digits, Report};

/// Experiments that learn pictures of digits: those of [`Settings::digits`], or the built-in ones.
const OF_DIGITS: [&str; 2] = ["lawrence-5", "lawrence-6"];

/// An experiment of a source.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// The name by which users choose it: the source, and the number of its figure.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// The document, and the place in it.
    pub source: &'static str,
    /// What the source says comes out.
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
    /// Pictures of digits, 8 × 8 pixels a row, for the experiments that learn some; the built-in ones if there are none.
    pub digits: Option<&'a Table>,
    /// Is told how far the work has come.
    pub watch: &'a dyn Watch,
}

/// Is told how far an experiment has come. Parts may be done on several threads.
pub trait Watch: Sync {
    /// The work consists of so many parts, of about equal length.
    fn expect(&self, parts: usize);

    /// One more of them is done.
    fn done(&self);
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWatch;

impl Watch for NoWatch {
    fn expect(&self, _parts: usize) {}

    fn done(&self) {}
}

/// All experiments, source by source, each by the number of its figure.
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

/// The experiment with a name.
///
/// # Errors
/// [`Error::Invalid`] with the nearest name, if there is none.
pub fn experiment(name: &str) -> Result<&'static Experiment> {
    experiments().find(|experiment| experiment.name == name).ok_or_else(|| {
        let names: Vec<String> = experiments().map(|experiment| experiment.name.to_owned()).collect();
        let hint = isinglass::machine::nearest(name, &names);
        let hint = hint.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
        Error::invalid("experiment", format!("found '{name}', expected one of those that --list names{hint}"))
    })
}

impl Experiment {
    /// Run it.
    ///
    /// # Errors
    /// Digits that are not 64 columns without gaps; otherwise only what an engine cannot do.
    ///
    /// # Example
    /// ```
    /// use isinglass_lab::reproduce::{NoWatch, Settings, Verdict, experiment};
    /// let settings = Settings { quick: true, seed: 0, digits: None, watch: &NoWatch };
    /// let report = experiment("kappen-6")?.run(&settings)?;
    /// assert_eq!(report.outcome.verdict(), Verdict::InPart);
    /// assert!(report.outcome.to_csv().starts_with("m,a,"));
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn run(&'static self, settings: &Settings<'_>) -> Result<Report> {
        let outcome = (self.run)(settings)?;
        let digits = OF_DIGITS.contains(&self.name).then(|| {
            settings.digits.map_or(Digits::BuiltIn, |table| Digits::Given { pictures: table.row_count() })
        });
        Ok(Report { experiment: self, quick: settings.quick, seed: settings.seed, digits, outcome })
    }
}

impl Settings<'_> {
    /// One number for the source's size, another for a quick look.
    fn size(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }
}
