//! What the components of a mixture do while a machine is learned.

use isinglass::learn::Step;
use isinglass::{Evidence, Machine, Mixture};

/// Weight and means of every component after every iteration, for each start.
pub(super) struct ComponentRecord {
    mixture: Mixture,
    /// For each start, rows of iteration, component, weight and the mean of each unit.
    starts: Vec<Vec<Vec<f64>>>,
}

impl ComponentRecord {
    pub(super) fn new(mixture: Mixture) -> Self {
        Self { mixture, starts: vec![Vec::new()] }
    }

    /// The rows of all starts so far.
    pub(super) fn starts(&self) -> &[Vec<Vec<f64>>] {
        &self.starts
    }

    /// The same.
    pub(super) fn into_starts(self) -> Vec<Vec<Vec<f64>>> {
        self.starts
    }

    /// Resumes with the rows of all starts so far.
    pub(super) fn resume(&mut self, starts: Vec<Vec<Vec<f64>>>) {
        self.starts = starts;
    }

    /// Have a place for the rows of a start.
    pub(super) fn begin(&mut self, start: usize) {
        self.starts.resize_with(self.starts.len().max(start + 1), Vec::new);
    }

    /// Note an iteration. The same machine and seed give the same components as in the gradient.
    pub(super) fn note(&mut self, step: &Step, machine: &Machine) -> isinglass::Result<()> {
        let found = self.mixture.components_of(machine, &Evidence::none(machine.unit_count()))?;
        let Some(rows) = self.starts.last_mut() else { return Ok(()) };
        for (component, (weight, means)) in found.weights.iter().zip(found.means).enumerate() {
            let head = [step.iteration as f64, component as f64, *weight];
            rows.push(head.into_iter().chain(means).collect());
        }
        Ok(())
    }
}
