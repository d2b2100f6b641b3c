//! The E-step: rows completed by draws of their free units.

use crate::engine::{Eliminate, RowChains};
use crate::learn::PseudoGain;
use crate::numeric::streams::{Purpose, stream};
use crate::search::MaxProduct;
use crate::table::Batch;
use crate::{Budget, ChainsReason, Error, Machine, Note, Result, Table};

use super::averages::Averages;
use super::{NAME, PseudoLikelihoodEm};

/// [`EStep::Auto`] draws exactly up to this many neighbours of a unit at its elimination.
const WIDEST: usize = 8;

/// Sweeps of messages on cycles before chains start: a good state is enough.
const SWEEPS_TO_START: usize = 50;

/// Limits of iterations and blocks of rows that have random streams of their own.
const MOST_ITERATIONS: usize = 1 << 24;
const BLOCK_BITS: u32 = 32;

/// How free units are drawn given the cells of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EStep {
    /// Exactly where that is cheap, otherwise by chains.
    Auto,
    /// By elimination and back.
    Exact,
    /// By a Gibbs chain for each row.
    Gibbs {
        /// Sweeps before each draw, λ.
        sweeps: usize,
    },
}

/// Sweeps before each draw, as in the source.
pub(super) const SWEEPS: usize = 2;

/// The method chosen for the free units of a table.
enum Drawing {
    Nothing,
    Exact(Eliminate),
    Gibbs { sweeps: usize },
}

/// The rows of a table, each repeated for its draws, and the pseudo-likelihood of the completed
/// rows.
pub(super) struct Completed {
    batch: Batch,
    draws: usize,
    seed: u64,
    budget: Budget,
    drawing: Drawing,
    note: Option<Note>,
    /// Units that are free in any row.
    changed: Vec<usize>,
    /// Row after row in the batch's grouped order, each `draws` times, all units.
    cells: Vec<i8>,
    gain: PseudoGain,
}

impl Completed {
    /// # Errors
    /// A table that does not fit the machine or whose rows have no weight, draws that are
    /// unavailable, more memory than the budget has.
    pub(super) fn new(learner: &PseudoLikelihoodEm, start: &Machine, table: &Table) -> Result<Self> {
        let units = start.unit_count();
        let (cells, weights) = table.cells_for(start)?;
        let mut weighed = (Vec::new(), Vec::new());
        for (row, &weight) in cells.chunks_exact(units.max(1)).zip(&weights) {
            if weight > 0.0 {
                weighed.0.extend_from_slice(row);
                weighed.1.push(weight);
            }
        }
        let changed: Vec<usize> =
            (0..units).filter(|&unit| weighed.0.chunks_exact(units).any(|row| row[unit] == 0)).collect();
        let draws = if changed.is_empty() { 1 } else { learner.samples };
        check_room(learner.budget, start, weighed.1.len(), draws)?;
        if learner.iterations >= MOST_ITERATIONS {
            let problem = format!("found {}, expected less than {MOST_ITERATIONS}", learner.iterations);
            return Err(Error::invalid("iterations", problem));
        }
        let batch = Batch::new(units, &weighed.0, &weighed.1)?;
        let (drawing, note) = decide(learner, start, &batch, &changed)?;
        let mut cells = Vec::with_capacity(batch.row_count() * draws * units);
        let mut shares = Vec::with_capacity(batch.row_count() * draws);
        for (place, &weight) in batch.weights().iter().enumerate() {
            for _ in 0..draws {
                cells.extend_from_slice(batch.row(place));
                shares.push(weight / draws as f64);
            }
        }
        let gain = PseudoGain::of_rows(NAME, start, (&cells, &shares), learner.l2.weight(), learner.budget)?;
        Ok(Self {
            batch,
            draws,
            seed: learner.seed,
            budget: learner.budget,
            drawing,
            note,
            changed,
            cells,
            gain,
        })
    }

    /// The pseudo-likelihood of the rows as they are completed now.
    pub(super) fn gain(&self) -> &PseudoGain {
        &self.gain
    }

    pub(super) fn distinct_rows(&self) -> usize {
        self.batch.row_count()
    }

    pub(super) fn is_random(&self) -> bool {
        !matches!(self.drawing, Drawing::Nothing)
    }

    /// Whether draws are from the conditional distribution itself.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.drawing, Drawing::Exact(_))
    }

    /// The rows, and for each in grouped order its completions.
    #[cfg(test)]
    pub(super) fn rows(&self) -> (&Batch, &[i8]) {
        (&self.batch, &self.cells)
    }

    /// How cells are drawn, for the state's origin.
    pub(super) fn drawing(&self) -> String {
        match self.drawing {
            Drawing::Nothing => "nothing".into(),
            Drawing::Exact(_) => "exact".into(),
            Drawing::Gibbs { sweeps } => format!("by Gibbs chains of {sweeps} sweeps"),
        }
    }

    pub(super) fn note(&self) -> Option<Note> {
        self.note.clone()
    }

    /// Draws the free units of all rows with a machine, for an iteration.
    pub(super) fn draw(&mut self, machine: &Machine, iteration: usize) -> Result<()> {
        let seed = self.seed;
        let random = |block: u64| stream(seed, Purpose::FreeUnits, (iteration as u64) << BLOCK_BITS | block);
        match &self.drawing {
            Drawing::Nothing => return Ok(()),
            Drawing::Exact(engine) => {
                engine.draw_rows(machine, &self.batch, self.draws, &random, &mut self.cells)?;
            }
            Drawing::Gibbs { sweeps } => {
                let (batch, count) = (&self.batch, self.draws);
                let finder = MaxProduct::new().max_sweeps(SWEEPS_TO_START).restarts(0).budget(self.budget);
                let start = finder.rows(machine, batch)?.cells;
                let chains = RowChains { machine, batch, start: &start, count, sweeps: *sweeps };
                chains.draw(&random, &mut self.cells)?;
            }
        }
        self.gain.replace(&self.changed, &self.cells);
        Ok(())
    }
}

/// Refuses tables that are too large before memory is allocated.
fn check_room(budget: Budget, start: &Machine, rows: usize, draws: usize) -> Result<()> {
    let units = start.unit_count() as u128;
    let states = rows as u128 * draws as u128;
    let parameters = units + start.graph().edges().len() as u128;
    // The cells of all states and, in another order, of the pseudo-likelihood; shares twice; the
    // rows and where chains start.
    let needed = 2 * states * (units + 8) + 3 * rows as u128 * (units + 8) + Averages::bytes(parameters);
    budget.check(NAME, needed, || format!("{draws} draws of {units} units for each of {rows} rows"))
}

/// Chooses how to draw the free units of a batch, with a note.
fn decide(
    learner: &PseudoLikelihoodEm,
    start: &Machine,
    batch: &Batch,
    changed: &[usize],
) -> Result<(Drawing, Option<Note>)> {
    if changed.is_empty() {
        return Ok((Drawing::Nothing, None));
    }
    let by_chains = |sweeps: usize, reason: Option<ChainsReason>| {
        Ok((Drawing::Gibbs { sweeps }, Some(Note::DrawnByChains { sweeps, reason })))
    };
    let engine = Eliminate::new().budget(learner.budget);
    let width = match learner.e_step() {
        EStep::Gibbs { sweeps } => return by_chains(sweeps, None),
        EStep::Exact => engine.width_of_rows(start, batch)?,
        EStep::Auto => match engine.width_of_rows(start, batch) {
            Ok(width) if width <= WIDEST => width,
            Ok(width) => return by_chains(SWEEPS, Some(ChainsReason::Width(width))),
            Err(error @ Error::OverBudget { .. }) => {
                return by_chains(SWEEPS, Some(ChainsReason::Refused(error.to_string())));
            }
            Err(error) => return Err(error),
        },
    };
    Ok((Drawing::Exact(engine), Some(Note::DrawnExactly { width })))
}
