//! The study of handwritten digits in `isinglass demo`: half-covered digits are completed, and
//! digits are drawn from a machine.
//!
//! The machine is a restricted one with few hidden units. [`Eliminate`] sums these out, so the
//! gradient of the fit, the completions and the draws are exact. The fit itself is stopped before
//! it converges.

mod completion;
mod figures;

pub use completion::{Completion, Half};

use std::fmt::Write as _;
use std::ops::ControlFlow;

use isinglass::learn::{Fit, Learner, Likelihood, Observer, Step, start};
use isinglass::likelihood::Phases;
use isinglass::score::{Score, score};
use isinglass::{Eliminate, Engine, Error, Evidence, Guarantee, Machine, Result, Sampler, Table, topology};

use crate::Progress;
use crate::filling::rows;
use crate::report::{self, FitSummary, Origin, Report};

/// Rows and columns of a picture.
const SIDE: usize = 8;
const PIXELS: usize = SIDE * SIDE;
/// Hidden units. Each one doubles the time.
const HIDDEN: usize = 14;
/// Every n-th picture is held out.
const HELD_OUT: usize = 6;
/// The L2 penalty on couplings.
const L2: f64 = 0.005;
/// Iterations of the fit. Held-out pictures gain nothing from more.
const ITERATIONS: usize = 150;
/// Pictures drawn from the machine.
const DRAWN: usize = 40;

/// The results.
pub struct Study {
    /// Pictures that the machine was fitted to.
    pub trained: Table,
    /// Pictures held out from the fit.
    pub held_out: Table,
    /// The fit of a machine in which each pixel is coupled to every hidden unit.
    pub fit: Fit,
    /// Its score on the held-out pictures.
    pub score: Score,
    /// Completions of the held-out pictures, with each half covered.
    pub completions: [Completion; 2],
    /// Pixels of pictures drawn from the machine.
    pub drawn: Vec<Vec<i8>>,
    /// The guarantee of the draws.
    pub drawn_guarantee: Guarantee,
}

/// Fits a machine to five pictures of six, completes the others, and draws from it. `seed` fixes
/// the start of the fit and the draws.
///
/// # Errors
/// Pictures that do not have 8 × 8 pixels, or fewer than six pictures.
///
/// # Example
/// ```no_run
/// use isinglass_lab::{data, digits, NoProgress};
/// let study = digits::study(&data::digits()?, 0, &NoProgress)?;    // some seconds
/// for half in &study.completions {
///     assert!(half.machine.share() > half.nearest.share());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn study(pictures: &Table, seed: u64, progress: &dyn Progress) -> Result<Study> {
    if pictures.columns().len() != PIXELS || pictures.missing_count() > 0 || pictures.row_count() < HELD_OUT {
        let problem = format!(
            "found {} rows of {} columns with {} missing cells, expected at least {HELD_OUT} rows of {PIXELS} columns without missing cells",
            pictures.row_count(),
            pictures.columns().len(),
            pictures.missing_count()
        );
        return Err(Error::invalid("digits", problem));
    }
    progress.expect(ITERATIONS);
    let split = |held_out: bool| {
        let wanted = move |(k, row)| (is_held_out(k) == held_out).then_some(row);
        Table::from_rows(pictures.columns().iter().cloned(), rows(pictures).enumerate().filter_map(wanted))
    };
    let (trained, held_out) = (split(false)?, split(true)?);
    let engine = Eliminate::default();
    let fit = Likelihood::new(&engine).l2(L2).iterations(ITERATIONS).fit_with(
        &start(&structure(pictures)?, &trained, seed, 0)?,
        &trained,
        &mut Reporter(progress),
    )?;
    let machine = &fit.machine;
    let cover = |half| Completion::of(machine, &trained, &held_out, half, &engine);
    let draws = engine.draw(machine, &Evidence::none(machine.unit_count()), DRAWN, seed)?;
    Ok(Study {
        score: score(machine, &held_out, Phases::both(&engine))?,
        completions: [cover(Half::Lower)?, cover(Half::Right)?],
        drawn: draws.cells.chunks_exact(machine.unit_count()).map(|state| state[..PIXELS].to_vec()).collect(),
        drawn_guarantee: draws.guarantee,
        trained,
        held_out,
        fit,
    })
}

/// Returns whether a picture is held out, by its number. The number of hidden units and the penalty
/// were chosen on the pictures 5, 11, 17, …; others are held out here, so that the reported
/// accuracies are not those used for the choice.
fn is_held_out(number: usize) -> bool {
    number.is_multiple_of(HELD_OUT)
}

/// Returns a machine in which each pixel is coupled to every hidden unit.
fn structure(pictures: &Table) -> Result<Machine> {
    let names = pictures.columns().iter().cloned().chain((1..=HIDDEN).map(|k| format!("hidden{k}")));
    topology::rbm(PIXELS, HIDDEN)?.with_names(names)
}

/// Reports each iteration as progress.
struct Reporter<'a>(&'a dyn Progress);

impl Observer for Reporter<'_> {
    fn step(&mut self, _step: &Step, _machine: &Machine) -> Result<ControlFlow<()>> {
        self.0.done();
        Ok(ControlFlow::Continue(()))
    }
}

impl Study {
    /// Returns the number of hidden units of the machine.
    pub fn hidden_units(&self) -> usize {
        self.fit.machine.unit_count() - PIXELS
    }

    /// Returns the held-out pictures as CSV, with empty cells in the lower half.
    pub fn covered_csv(&self) -> String {
        let mut out = self.held_out.columns().join(",") + "\n";
        for row in rows(&self.held_out) {
            for (pixel, &cell) in row.iter().enumerate() {
                let comma = if pixel == 0 { "" } else { "," };
                let word = match cell {
                    _ if Half::Lower.covers(pixel) => "",
                    ..=0 => "0",
                    _ => "1",
                };
                // Writing to a string cannot fail.
                let _ = write!(out, "{comma}{word}");
            }
            out.push('\n');
        }
        out
    }

    /// Returns the page about the machine and the held-out pictures; `seed` fixes its draws and the
    /// layout of its network.
    ///
    /// # Errors
    /// What the engine refuses.
    pub fn page(&self, seed: u64) -> Result<Report> {
        let engine = Eliminate::default();
        let origin = Origin {
            title: "Handwritten digits".into(),
            model: "digits.json".into(),
            table: Some("digits.csv (held-out rows)".into()),
            fit: Some(FitSummary::of(&self.fit, "likelihood", Some(engine.name()), None)),
            history: self.fit.history.clone(),
            study: None,
        };
        let settings = report::Settings { seed, ..report::Settings::default() };
        let phases = Phases::both(&engine);
        Report::new(&self.fit.machine, Some(&self.held_out), phases, origin, &settings)
    }
}
