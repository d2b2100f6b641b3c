//! What the tests of contrastive learners share.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use isinglass::learn::{Checkpoint, ContrastiveDivergence, Fit, Observer, Step};
use isinglass::topology::{self, Links, Numbers};
use isinglass::{Budget, Machine, Role, Table};

pub(crate) static PLAIN: LazyLock<ContrastiveDivergence> = LazyLock::new(|| {
    ContrastiveDivergence::new().rate(0.05).rate_decay(0.0).momentum(0.0).budget(Budget(1 << 30))
});

/// Visible and hidden layers with numbers by chance; the last visible unit an input if requested.
pub(crate) fn two_layers(
    visible: (usize, &Links),
    hidden: (usize, &Links),
    with_input: bool,
    seed: u64,
) -> Machine {
    let numbers = Numbers::Uniform { low: -0.6, high: 0.6 };
    let machine = topology::two_layer(visible.0, visible.1, hidden.0, hidden.1).unwrap();
    let mut roles = machine.roles().to_vec();
    if with_input {
        roles[visible.0 - 1] = Role::Input;
    }
    machine
        .with_roles(roles)
        .and_then(|machine| machine.with_numbers(&numbers, &numbers, seed))
        .and_then(|machine| machine.with_temperature(1.3))
        .unwrap()
}

/// Rows of cells by chance, some of them missing if requested.
pub(crate) fn chance_rows(columns: usize, rows: usize, gaps: bool, seed: u64) -> Table {
    let mut table = Table::new((0..columns).map(|k| format!("v{k}"))).unwrap();
    let mut x = seed | 1;
    for row in 0..rows {
        let mut cell = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let missing = gaps && (x >> 40).is_multiple_of(7);
            if missing {
                0
            } else if x >> 63 == 0 {
                1
            } else {
                -1
            }
        };
        let cells: Vec<i8> = (0..columns).map(|_| cell()).collect();
        table.push(&cells, 0.5 + (row % 3) as f64).unwrap();
    }
    table
}

/// Keeps the state after every iteration, and stops after one of them.
pub(crate) struct Keeper {
    pub(crate) states: Vec<Checkpoint>,
    pub(crate) reported: Vec<usize>,
    pub(crate) last: usize,
}

impl Observer for Keeper {
    fn step(&mut self, step: &Step, _machine: &Machine) -> isinglass::Result<ControlFlow<()>> {
        self.reported.push(step.iteration);
        Ok(if step.iteration < self.last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    fn checkpoint(
        &mut self,
        _step: &Step,
        take: &dyn Fn() -> isinglass::Result<Checkpoint>,
    ) -> isinglass::Result<()> {
        self.states.push(take()?);
        Ok(())
    }
}

pub(crate) fn bits(fit: &Fit) -> Vec<u64> {
    let numbers = fit.machine.weights().iter().chain(fit.machine.biases()).copied();
    let steps = fit.history.iter().flat_map(|step| [step.objective, step.gradient_norm]);
    numbers.chain(steps).map(f64::to_bits).collect()
}
