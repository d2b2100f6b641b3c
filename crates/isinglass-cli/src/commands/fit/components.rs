//! What the components of a mixture do while a machine is learned.

use std::ops::ControlFlow;

use isinglass::learn::{Observer, Step};
use isinglass::{Evidence, Machine, Mixture};

/// Weight and means of every component after every iteration, for each start; passes on what it sees.
pub(super) struct ComponentRecord<'a> {
    mixture: Mixture,
    observer: &'a mut dyn Observer,
    /// For each start, rows of iteration, component, weight and the mean of each unit.
    starts: Vec<Vec<Vec<f64>>>,
}

impl<'a> ComponentRecord<'a> {
    pub(super) fn new(mixture: Mixture, observer: &'a mut dyn Observer) -> Self {
        Self { mixture, observer, starts: vec![Vec::new()] }
    }

    /// The rows of one start.
    pub(super) fn of_start(mut self, start: usize) -> Vec<Vec<f64>> {
        self.starts.swap_remove(start)
    }
}

impl Observer for ComponentRecord<'_> {
    /// The same machine and seed give the same components as in the gradient.
    fn step(&mut self, step: &Step, machine: &Machine) -> isinglass::Result<ControlFlow<()>> {
        let found = self.mixture.components_of(machine, &Evidence::none(machine.units()))?;
        // There is a start before the first step.
        let rows = self.starts.last_mut().expect("a start");
        for (component, (weight, means)) in found.weights.iter().zip(found.means).enumerate() {
            let head = [step.iteration as f64, component as f64, *weight];
            rows.push(head.into_iter().chain(means).collect());
        }
        self.observer.step(step, machine)
    }

    fn restart(&mut self, restart: usize, count: usize) {
        if restart > 0 {
            self.starts.push(Vec::new());
        }
        self.observer.restart(restart, count);
    }
}
