//! Data of a machine with hidden units, and a learner's path on them: shared by figures 3 to 7.

use std::ops::ControlFlow;

use isinglass::learn::{
    self, Drawing, InformationGain, Learner, MStep, Objective, Observer, PseudoLikelihoodEm, Step,
};
use isinglass::likelihood::Phases;
use isinglass::{Eliminate, Enumerate, Evidence, Machine, Result, Sampler, Table};

use super::{VISIBLE, generating_machine};
use crate::streams::seed_of;

/// Data points in all experiments on learning.
pub(super) const DATA: usize = 100;
/// Hidden units, except in figure 7.
pub(super) const HIDDEN: usize = 3;
/// Steps after which the source stops a fit that has not converged.
pub(super) const STEPS: usize = 500;

/// The data of a machine, and a start for learning them.
pub(super) struct Problem {
    pub(super) table: Table,
    pub(super) start: Machine,
    pub(super) seed: u64,
}

impl Problem {
    /// Draws 100 states of a machine with couplings up to j and keeps their visible units.
    pub(super) fn new(hidden: usize, j: f64, seed: u64, index: u64) -> Result<Self> {
        let seed = seed_of(seed, index);
        let machine = generating_machine(hidden, j, seed)?;
        let units = machine.unit_count();
        let nothing = Evidence::none(units);
        let drawn = Enumerate::default().draw(&machine, &nothing, DATA, seed)?;
        let rows = drawn.cells.chunks_exact(units).map(|state| &state[..VISIBLE]);
        let table = Table::from_rows((0..VISIBLE).map(|k| format!("v{k}")), rows)?;
        let start = learn::start(&machine, &table, seed, 0)?;
        Ok(Self { table, start, seed })
    }

    /// Takes the data of a machine with three hidden units, to be learned with another number of
    /// them.
    pub(super) fn with_hidden(hidden: usize, j: f64, seed: u64) -> Result<Self> {
        let Self { table, seed, .. } = Self::new(HIDDEN, j, seed, 0)?;
        let start = learn::start(&generating_machine(hidden, j, seed)?, &table, seed, 0)?;
        Ok(Self { table, start, seed })
    }

    /// Returns the source's learner: 20 gradient steps of 0.01 on rows completed by K draws, λ
    /// sweeps apart.
    pub(super) fn learner(&self, draws: usize, sweeps: usize, steps: usize) -> PseudoLikelihoodEm {
        PseudoLikelihoodEm::new()
            .draws(Drawing::Gibbs)
            .sweeps(Some(sweeps))
            .samples(draws)
            .m_step(MStep::Gradient)
            .iterations(steps)
            .tolerance(0.0)
            .seed(self.seed)
    }

    /// Returns the machine after each step, the start first.
    pub(super) fn path(&self, learner: &dyn Learner) -> Result<Vec<Machine>> {
        let mut path = Recorder::default();
        learner.fit_with(&self.start, &self.table, &mut path)?;
        Ok(path.0)
    }

    /// Returns the exact log-likelihood per row and visible unit, eq. 4.1.
    pub(super) fn log_likelihood(&self, machine: &Machine) -> Result<f64> {
        let (rows, free) = (Eliminate::default(), Enumerate::default());
        let gain = InformationGain::new(Phases { clamped: &rows, free: &free }, machine, &self.table, 0.0)?;
        Ok(gain.value(&gain.parameters_of(machine))? / VISIBLE as f64)
    }
}

/// Keeps every machine along a fit.
#[derive(Default)]
struct Recorder(Vec<Machine>);

impl Observer for Recorder {
    fn step(&mut self, _step: &Step, machine: &Machine) -> Result<ControlFlow<()>> {
        self.0.push(machine.clone());
        Ok(ControlFlow::Continue(()))
    }
}

/// Returns the mean absolute difference of the parameters of two machines.
pub(super) fn distance(from: &Machine, to: &Machine) -> f64 {
    let numbers =
        |machine: &Machine| machine.weights().iter().chain(machine.biases()).copied().collect::<Vec<f64>>();
    let (a, b) = (numbers(from), numbers(to));
    a.iter().zip(&b).map(|(x, y)| (x - y).abs()).sum::<f64>() / a.len() as f64
}

/// Returns the mean change of a parameter at each step, eq. 4.2.
pub(super) fn changes(path: &[Machine]) -> Vec<f64> {
    path.windows(2).map(|pair| distance(&pair[0], &pair[1])).collect()
}
