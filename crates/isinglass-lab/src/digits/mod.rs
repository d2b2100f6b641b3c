//! The study of the tour on handwritten digits: half-covered digits completed, and digits drawn from a machine.
//!
//! The machine is a restricted one, with few hidden units: [`Eliminate`] sums them out exactly, so that the gradient of the fit, the completions
//! and the draws are exact. The fit itself is stopped before it converges.

mod completion;
mod figures;

pub use completion::{Completion, Half};

use std::fmt::Write as _;
use std::ops::ControlFlow;

use isinglass::learn::{Fit, Learner, Likelihood, Observer, Step, start};
use isinglass::likelihood::Phases;
use isinglass::score::{Score, score};
use isinglass::{Eliminate, Engine, Error, Evidence, Guarantee, Machine, Result, Sampler, Table, topology};

use crate::filling::rows;
use crate::report::{self, FitStory, Origin, Report};
use crate::reproduce::Watch;

/// Rows and columns of a picture.
const SIDE: usize = 8;
const PIXELS: usize = SIDE * SIDE;
/// Hidden units. Each one more makes everything twice as long.
const HIDDEN: usize = 14;
/// Every sixth picture is held out.
const HELD_OUT: usize = 6;
/// The penalty on couplings.
const L2: f64 = 0.005;
/// Steps of the fit. The last digits of the likelihood are not worth the time: pictures that were held out gain nothing from them.
const ITERATIONS: usize = 150;
/// Pictures drawn from the machine.
const DRAWN: usize = 40;

/// What was found.
pub struct Study {
    /// Pictures that the machine was fitted to.
    pub trained: Table,
    /// Pictures that it has not seen.
    pub held_out: Table,
    /// Pixels, each coupled to every hidden unit.
    pub fit: Fit,
    /// How well it fits the pictures held out.
    pub score: Score,
    /// The pictures held out with a half covered.
    pub completions: [Completion; 2],
    /// Pixels of pictures drawn from the machine.
    pub drawn: Vec<Vec<i8>>,
    /// What kind of draws these are.
    pub drawn_guarantee: Guarantee,
}

/// Fit to five pictures of six, complete the others, and draw. `seed` decides where the fit begins, and the draws.
///
/// # Errors
/// Pictures that have not 8 × 8 pixels, or are fewer than six.
///
/// # Example
/// ```no_run
/// use isinglass_lab::{data, digits, reproduce::NoWatch};
/// let study = digits::study(&data::digits()?, 0, &NoWatch)?;    // some seconds
/// for half in &study.completions {
///     assert!(half.machine.share() > half.nearest.share());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn study(pictures: &Table, seed: u64, watch: &dyn Watch) -> Result<Study> {
    if pictures.columns().len() != PIXELS || pictures.missing_count() > 0 || pictures.row_count() < HELD_OUT {
        let problem = format!(
            "found {} rows of {} columns with {} missing cells, expected at least {HELD_OUT} pictures of {PIXELS} pixels without gaps",
            pictures.row_count(),
            pictures.columns().len(),
            pictures.missing_count()
        );
        return Err(Error::invalid("digits", problem));
    }
    watch.expect(ITERATIONS);
    let deal = |held_out: bool| {
        let wanted = move |(k, row)| (is_held_out(k) == held_out).then_some(row);
        Table::from_rows(pictures.columns().iter().cloned(), rows(pictures).enumerate().filter_map(wanted))
    };
    let (trained, held_out) = (deal(false)?, deal(true)?);
    let engine = Eliminate::default();
    let fit = Likelihood::new(&engine).l2(L2).iterations(ITERATIONS).fit_with(
        &start(&structure(pictures)?, &trained, seed, 0)?,
        &trained,
        &mut Telling(watch),
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

/// Whether a picture, by its number, is held out. Numbers of hidden units and penalties were tried on the pictures 5, 11, 17, …; others are held out here, so that the
/// accuracies told are not those that a choice was made by.
fn is_held_out(number: usize) -> bool {
    number.is_multiple_of(HELD_OUT)
}

/// Each pixel joined to every hidden unit.
fn structure(pictures: &Table) -> Result<Machine> {
    let names = pictures.columns().iter().cloned().chain((1..=HIDDEN).map(|k| format!("hidden{k}")));
    topology::rbm(PIXELS, HIDDEN)?.with_names(names)
}

/// Tells a watch of each iteration.
struct Telling<'a>(&'a dyn Watch);

impl Observer for Telling<'_> {
    fn step(&mut self, _step: &Step, _machine: &Machine) -> Result<ControlFlow<()>> {
        self.0.done();
        Ok(ControlFlow::Continue(()))
    }
}

impl Study {
    /// Hidden units of the machine.
    pub fn hidden_units(&self) -> usize {
        self.fit.machine.unit_count() - PIXELS
    }

    /// The pictures held out with their lower half left empty, as CSV.
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

    /// The page about the machine and the pictures held out; `seed` is that of its draws and of the layout of its network.
    ///
    /// # Errors
    /// What the engine refuses.
    pub fn page(&self, seed: u64) -> Result<Report> {
        let engine = Eliminate::default();
        let origin = Origin {
            title: "Handwritten digits".into(),
            model: "digits.json".into(),
            table: Some("digits.csv (those held out)".into()),
            fit: Some(FitStory::of(&self.fit, "likelihood", Some(engine.name()), None)),
            history: self.fit.history.clone(),
        };
        let settings = report::Settings { seed, ..report::Settings::default() };
        let phases = Phases::both(&engine);
        Report::new(&self.fit.machine, Some(&self.held_out), phases, origin, &settings)
    }
}
