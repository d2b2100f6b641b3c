//! Limited-memory BFGS with a Moré–Thuente line search, from the crate `basin`.

use basin::{CostFunction, Executor, FirstOrderState, Gradient, Lbfgs, StepOutcome, Termination};

use super::{Climb, Objective, Optimum, finite_or_lowest};
use crate::{Error, Result};

/// Curvature pairs kept.
const MEMORY: usize = 20;

/// An objective with its sign turned: the crate minimises.
struct Negated<'a>(&'a dyn Objective);

impl CostFunction for Negated<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Error;

    fn cost(&self, parameters: &Vec<f64>) -> Result<f64> {
        Ok(self.cost_and_gradient(parameters)?.0)
    }
}

impl Gradient for Negated<'_> {
    type Gradient = Vec<f64>;

    fn gradient(&self, parameters: &Vec<f64>) -> Result<Vec<f64>> {
        Ok(self.cost_and_gradient(parameters)?.1)
    }

    fn cost_and_gradient(&self, parameters: &Vec<f64>) -> Result<(f64, Vec<f64>)> {
        let mut gradient = vec![0.0; parameters.len()];
        let cost = self.cost_and_gradient_into(parameters, &mut gradient)?;
        Ok((cost, gradient))
    }

    fn cost_and_gradient_into(&self, parameters: &Vec<f64>, gradient: &mut Vec<f64>) -> Result<f64> {
        gradient.resize(parameters.len(), 0.0);
        let value = finite_or_lowest(parameters, || self.0.value_and_gradient(parameters, gradient))?;
        // A trial step may go too far: an infinite cost is no candidate, whatever its slope.
        if value == f64::NEG_INFINITY {
            gradient.fill(0.0);
        }
        for x in gradient.iter_mut() {
            *x = -*x;
        }
        Ok(-value)
    }
}

pub(super) fn maximize(
    objective: &dyn Objective,
    start: Vec<f64>,
    mut climb: Climb<'_, '_>,
) -> Result<Optimum> {
    // Convergence is judged by the climb, by the gradient alone, and so is the number of iterations; the crate's own tests are switched off.
    let solver = Lbfgs::new()
        .with_absolute_projected_gradient_tolerance(None)
        .with_relative_cost_reduction_tolerance(None)
        .with_m_capacity(MEMORY)
        .unbounded();
    let executor = Executor::new(Negated(objective), solver, FirstOrderState::new(start));
    let mut stepper = executor.max_iter(u64::MAX).into_stepper()?;
    let mut iteration = 0;
    loop {
        let Some((parameters, cost, gradient)) = stepper.state().current() else {
            return Err(climb.broken(iteration));
        };
        if let Some(stopped) = climb.visit(iteration, parameters, -cost, gradient)? {
            return Ok(climb.end(stopped));
        }
        if let StepOutcome::Stopped(report) = stepper.step()? {
            return Ok(match report.termination {
                Termination::Failed(_) | Termination::Stalled(_) => climb.stuck(),
                other => climb.end(format!("the optimiser stopped: {other:?}")),
            });
        }
        iteration += 1;
    }
}
