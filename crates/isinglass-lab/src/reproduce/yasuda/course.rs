//! Data of a machine with hidden units, and learning from it step by step: what figures 3 to 7 share.

use std::ops::ControlFlow;

use isinglass::learn::{
    self, Drawing, InformationGain, Learner, MStep, Objective, Observer, PseudoLikelihoodEm, Step,
};
use isinglass::likelihood::Phases;
use isinglass::{Eliminate, Enumerate, Evidence, Machine, Result, Sampler, Table};

use super::{VISIBLE, generating_machine};
use crate::reproduce::chance::seed_of;

/// Data points of all experiments on learning.
pub(super) const DATA: usize = 100;
/// Hidden units, but in figure 7.
pub(super) const HIDDEN: usize = 3;
/// Steps after which the source stops what has not converged.
pub(super) const STEPS: usize = 500;

/// A machine's data, and a start to learn them from.
pub(super) struct Problem {
    pub(super) table: Table,
    pub(super) start: Machine,
    pub(super) seed: u64,
}

impl Problem {
    /// A machine with couplings up to j draws 100 states, of which the visible units are kept.
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

    /// The data of a machine with three hidden units, to be learned with another number of them.
    pub(super) fn with_hidden(hidden: usize, j: f64, seed: u64) -> Result<Self> {
        let Self { table, seed, .. } = Self::new(HIDDEN, j, seed, 0)?;
        let start = learn::start(&generating_machine(hidden, j, seed)?, &table, seed, 0)?;
        Ok(Self { table, start, seed })
    }

    /// The source's learner: 20 gradient steps of 0.01 on rows completed by K draws, λ sweeps apart.
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

    /// The machine after each step, the start first.
    pub(super) fn path(&self, learner: &dyn Learner) -> Result<Vec<Machine>> {
        let mut path = Machines::default();
        learner.fit_with(&self.start, &self.table, &mut path)?;
        Ok(path.0)
    }

    /// The exact log-likelihood per row and visible unit, eq. 4.1.
    pub(super) fn log_likelihood(&self, machine: &Machine) -> Result<f64> {
        let (rows, free) = (Eliminate::default(), Enumerate::default());
        let gain = InformationGain::new(Phases { clamped: &rows, free: &free }, machine, &self.table, 0.0)?;
        Ok(gain.value(&gain.parameters_of(machine))? / VISIBLE as f64)
    }
}

#[derive(Default)]
struct Machines(Vec<Machine>);

impl Observer for Machines {
    fn step(&mut self, _step: &Step, machine: &Machine) -> Result<ControlFlow<()>> {
        self.0.push(machine.clone());
        Ok(ControlFlow::Continue(()))
    }
}

/// The mean change of a parameter from one machine to another.
pub(super) fn distance(from: &Machine, to: &Machine) -> f64 {
    let numbers =
        |machine: &Machine| machine.weights().iter().chain(machine.biases()).copied().collect::<Vec<f64>>();
    let (a, b) = (numbers(from), numbers(to));
    a.iter().zip(&b).map(|(x, y)| (x - y).abs()).sum::<f64>() / a.len() as f64
}

/// The mean change of a parameter from one step to the next, eq. 4.2.
pub(super) fn changes(path: &[Machine]) -> Vec<f64> {
    path.windows(2).map(|pair| distance(&pair[0], &pair[1])).collect()
}
