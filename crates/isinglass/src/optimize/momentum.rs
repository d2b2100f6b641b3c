//! Gradient ascent with a fixed rate and a heavy ball: `v ← μ v + η ∇L`, `x ← x + v`.

use super::{Climb, Objective, Optimum, Point};
use crate::Result;

pub(super) fn maximize(
    objective: &dyn Objective,
    start: Vec<f64>,
    (rate, momentum): (f64, f64),
    mut climb: Climb<'_, '_>,
) -> Result<Optimum> {
    let mut here = Point::start(objective, start)?;
    let first = here.value;
    let mut rose = false;
    let mut velocity = vec![0.0; here.parameters.len()];
    let mut iteration = 0;
    loop {
        rose |= here.value > first;
        if let Some(stopped) = climb.visit(iteration, &here.parameters, here.value, &here.gradient)? {
            let in_vain = if iteration > 0 && !rose && objective.gradient_is_of_value() {
                "; the objective never rose: the rate is too large"
            } else {
                ""
            };
            return Ok(climb.end(stopped + in_vain));
        }
        for (v, g) in velocity.iter_mut().zip(&here.gradient) {
            *v = momentum * *v + rate * g;
        }
        iteration += 1;
        here = Point::trial(objective, here.moved(1.0, &velocity))?;
        if !here.value.is_finite() {
            // What was found before is kept, and is worth something; that the rate is not, is said.
            return Ok(climb.end(format!(
                "diverged: the objective is not finite after iteration {iteration}; a rate below {rate} is needed"
            )));
        }
    }
}
