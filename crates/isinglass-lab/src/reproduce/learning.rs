//! Shared by experiments on learning: the path of a fit, and the divergence from the data.

use std::ops::ControlFlow;

use isinglass::learn::{Learner, Likelihood, Observer, Optimizer, Step};
use isinglass::likelihood::Phases;
use isinglass::{Enumerate, Machine, Result, Table, score};

use crate::Progress;

/// Every machine along a fit, with its objective.
pub(super) struct Path {
    pub(super) machines: Vec<Machine>,
    pub(super) objective: Vec<f64>,
}

struct Recorder<'a> {
    path: Path,
    progress: &'a dyn Progress,
}

impl Observer for Recorder<'_> {
    fn step(&mut self, step: &Step, machine: &Machine) -> Result<ControlFlow<()>> {
        self.path.machines.push(machine.clone());
        self.path.objective.push(step.objective);
        self.progress.done();
        Ok(ControlFlow::Continue(()))
    }
}

/// Follows the gradient of the engines at a fixed rate and momentum. Returns the start and `steps`
/// more machines, and reports `steps + 1` parts of progress.
pub(super) fn ascend(
    phases: Phases<'_>,
    start: &Machine,
    table: &Table,
    (rate, momentum): (f64, f64),
    steps: usize,
    progress: &dyn Progress,
) -> Result<Path> {
    let path = Path { machines: Vec::new(), objective: Vec::new() };
    let mut recorder = Recorder { path, progress };
    let learner = Likelihood::with_phases(phases)
        .optimizer(Optimizer::Momentum)
        .rate(Some(rate))
        .momentum(Some(momentum))
        .iterations(steps)
        .tolerance(0.0);
    learner.fit_with(start, table, &mut recorder)?;
    Ok(recorder.path)
}

/// Returns the divergence K of a machine from the rows of a table, and the quality Q of completing
/// them (Kappen & Rodríguez 1997, eqs. 5 and 37). K is NaN with too many units to enumerate.
pub(super) fn divergence_and_completion(machine: &Machine, table: &Table) -> Result<(f64, f64)> {
    let engine = Enumerate::default();
    let found = score::score(machine, table, Phases::both(&engine))?;
    Ok((found.kullback.unwrap_or(f64::NAN), found.completion.unwrap_or(f64::NAN)))
}

/// Returns K alone.
pub(super) fn divergence(machine: &Machine, table: &Table) -> Result<f64> {
    Ok(divergence_and_completion(machine, table)?.0)
}
