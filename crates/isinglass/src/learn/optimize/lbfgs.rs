//! Limited-memory BFGS with a Moré–Thuente line search, from the crate `basin`.

use std::ops::ControlFlow;

use basin::{CostFunction, Executor, FirstOrderState, Gradient, Lbfgs, StepOutcome, Termination};

use super::{Objective, OptimizerSettings, Optimum, Watch, largest};
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
        // A trial step may overflow; an infinite cost sends the line search back.
        if parameters.iter().any(|x| !x.is_finite()) {
            gradient.fill(0.0);
            return Ok(f64::INFINITY);
        }
        let value = self.0.value_and_gradient(parameters, gradient)?;
        if !value.is_finite() {
            gradient.fill(0.0);
            return Ok(f64::INFINITY);
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
    settings: &OptimizerSettings,
    watch: &mut Watch<'_>,
) -> Result<Optimum> {
    // Convergence is judged here, by the gradient alone; the crate's own tests are switched off.
    let solver = Lbfgs::new()
        .with_absolute_projected_gradient_tolerance(None)
        .with_relative_cost_reduction_tolerance(None)
        .with_m_capacity(MEMORY)
        .unbounded();
    let parameters = start.clone();
    let mut stepper =
        Executor::new(Negated(objective), solver, FirstOrderState::new(start)).into_stepper()?;
    let mut best = Optimum { parameters, value: f64::NEG_INFINITY, converged: false, stopped: String::new() };
    for iteration in 0.. {
        let Some((parameters, cost, gradient)) = stepper.state().current() else {
            return Err(broken(iteration));
        };
        let norm = largest(gradient);
        if !(cost.is_finite() && norm.is_finite()) {
            return Err(broken(iteration));
        }
        if -cost >= best.value {
            best.parameters.clone_from(parameters);
            best.value = -cost;
        }
        best.converged = norm <= settings.tolerance;
        let watched = watch(iteration, parameters, -cost, norm)?;
        if best.converged {
            best.stopped = format!("the gradient fell below {:e}", settings.tolerance);
            return Ok(best);
        }
        if watched == ControlFlow::Break(()) {
            best.stopped = "stopped on request".into();
            return Ok(best);
        }
        if iteration >= settings.iterations {
            best.stopped = format!("reached the limit of {} iterations", settings.iterations);
            return Ok(best);
        }
        if let StepOutcome::Stopped(report) = stepper.step()? {
            best.stopped = explain(&report.termination);
            return Ok(best);
        }
    }
    Ok(best)
}

/// The objective has no finite value or gradient.
fn broken(iteration: usize) -> Error {
    let place =
        if iteration == 0 { "at the start".to_owned() } else { format!("after iteration {iteration}") };
    Error::Numerical { method: "L-BFGS", problem: format!("the objective is not finite {place}") }
}

/// Why the crate gave up, in words.
fn explain(termination: &Termination) -> String {
    match termination {
        Termination::Failed(_) | Termination::Stalled(_) => {
            "no further progress along the search direction at the precision of the objective".into()
        }
        other => format!("the optimiser stopped: {other:?}"),
    }
}
