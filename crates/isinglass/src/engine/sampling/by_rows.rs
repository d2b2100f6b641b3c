//! Engines that sample one row of evidence after the other: memory, batches.

use std::sync::Arc;

use super::answer::{self, Sampled, Solution};
use super::kernel::Couplings;
use crate::engine::parts::{Piece, solve_in_parts, statistics_bytes};
use crate::engine::{Ask, BatchExpectations, Engine};
use crate::table::{Batch, Group};
use crate::{Budget, Error, Evidence, Machine, Result};

/// Energies beyond this leave the range of single precision.
const SCALE: f64 = 1e30;

/// The bytes of a pair and its averages.
pub(super) const PAIR_BYTES: u128 = 48;

/// An engine that samples one row of evidence after the other.
pub(in crate::engine) trait ByRows: Engine {
    /// What it finds for a row.
    type Found: Sampled;

    fn budget(&self) -> Budget;

    /// Refuses invalid settings.
    fn validate(&self) -> Result<()>;

    /// The bytes that the chains of a machine with some free units take.
    fn bytes(&self, free: usize, edges: usize) -> u128;

    /// What takes these bytes, in words.
    fn needs(&self, free: usize) -> String;

    /// Sweeps for a row, all chains together.
    fn all_sweeps(&self) -> f64;

    /// Solves a row of evidence with the streams of its number.
    fn solve_row(
        &self,
        machine: &Machine,
        row: &[i8],
        couplings: &Arc<Couplings>,
        number: usize,
    ) -> Solution<Self::Found>;

    /// Refuses invalid settings, numbers too large, and more memory than the budget, if some more
    /// bytes are needed besides.
    fn check(&self, machine: &Machine, free: usize, more: u128) -> Result<()> {
        self.validate()?;
        machine.check_scale(self.name(), SCALE)?;
        let bytes = self.bytes(free, machine.graph().edges().len()).saturating_add(more);
        self.budget().check(self.name(), bytes, || self.needs(free))
    }
}

/// The couplings that an evidence leaves, after a check; an answer needs some more bytes.
pub(super) fn couplings(
    engine: &impl ByRows,
    machine: &Machine,
    evidence: &Evidence,
    more: u128,
) -> Result<Arc<Couplings>> {
    machine.check_evidence(evidence)?;
    let free: Vec<usize> = evidence.free().collect();
    engine.check(machine, free.len(), more)?;
    Ok(Arc::new(Couplings::new(machine, &free)))
}

/// The solution for one evidence; an answer needs some more bytes.
pub(super) fn solve_one<E: ByRows>(
    engine: &E,
    machine: &Machine,
    evidence: &Evidence,
    more: u128,
) -> Result<Solution<E::Found>> {
    let couplings = couplings(engine, machine, evidence, more)?;
    Ok(engine.solve_row(machine, evidence.cells(), &couplings, 0))
}

/// Solves each row of a batch by itself, with streams of its own.
pub(super) fn solve_batch(
    engine: &impl ByRows,
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
) -> Result<BatchExpectations> {
    Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
    let free = batch.groups().iter().map(|group| group.free.len()).max().unwrap_or(0);
    let edges = machine.graph().edges().len();
    // Every thread may work on a row.
    let others = rayon::current_num_threads() as u128 - 1;
    let statistics = if ask.statistics { statistics_bytes(machine) } else { 0 };
    let more = engine.bytes(free, edges).saturating_mul(others).saturating_add(statistics);
    engine.check(machine, free, more)?;
    // About a nanosecond for each coupling and unit in the sixteen lanes of an update.
    let lanes = engine.all_sweeps() / 16.0;
    let cost = |_: usize, group: &Group| 8.0 * lanes * (edges + 4 * group.free.len()) as f64;
    solve_in_parts(machine, batch, ask, cost, |pieces, part| {
        for Piece { group, rows } in pieces {
            let couplings = Arc::new(Couplings::new(machine, &batch.groups()[*group].free));
            for place in rows.clone() {
                let number = batch.given_order()[place];
                let solution = engine.solve_row(machine, batch.row(place), &couplings, number);
                answer::add_row(&solution, machine, (batch, place), ask, part);
            }
        }
        Ok(())
    })
}
