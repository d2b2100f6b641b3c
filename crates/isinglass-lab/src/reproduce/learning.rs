//! What experiments on learning share: the path of a fit, and how far a machine is from the data.

use std::ops::ControlFlow;

use isinglass::learn::{Learner, Likelihood, Observer, Optimizer, Step};
use isinglass::likelihood::Phases;
use isinglass::{Enumerate, Machine, Result, Table, score};

use super::Watch;

/// Every machine that a fit went through, with its objective.
pub(super) struct Path {
    pub(super) machines: Vec<Machine>,
    pub(super) objective: Vec<f64>,
}

struct Recorder<'a> {
    path: Path,
    watch: &'a dyn Watch,
}

impl Observer for Recorder<'_> {
    fn step(&mut self, step: &Step, machine: &Machine) -> Result<ControlFlow<()>> {
        self.path.machines.push(machine.clone());
        self.path.objective.push(step.objective);
        self.watch.done();
        Ok(ControlFlow::Continue(()))
    }
}

/// Follow the gradient that engines give at a fixed rate, with a momentum, for some steps: the start and `steps` machines more. Tells the watch of `steps + 1` parts.
pub(super) fn ascend(
    phases: Phases<'_>,
    start: &Machine,
    table: &Table,
    (rate, momentum): (f64, f64),
    steps: usize,
    watch: &dyn Watch,
) -> Result<Path> {
    let path = Path { machines: Vec::new(), objective: Vec::new() };
    let mut recorder = Recorder { path, watch };
    let learner = Likelihood::with_phases(phases)
        .optimizer(Optimizer::Momentum)
        .rate(Some(rate))
        .momentum(Some(momentum))
        .iterations(steps)
        .tolerance(0.0);
    learner.fit_with(start, table, &mut recorder)?;
    Ok(recorder.path)
}

/// The divergence K of a machine from the rows of a table, and the quality Q with which it completes them (Kappen & Rodríguez 1997, eqs. 5 and 37). K is not a number where there are too many units to enumerate.
pub(super) fn divergence_and_completion(machine: &Machine, table: &Table) -> Result<(f64, f64)> {
    let engine = Enumerate::default();
    let found = score::score(machine, table, Phases::both(&engine))?;
    Ok((found.kullback.unwrap_or(f64::NAN), found.completion.unwrap_or(f64::NAN)))
}

/// K alone.
pub(super) fn divergence(machine: &Machine, table: &Table) -> Result<f64> {
    Ok(divergence_and_completion(machine, table)?.0)
}
