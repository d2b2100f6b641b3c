//! Gradient ascent with a fixed rate and momentum: `v ← μ v + η ∇L`, `x ← x + v`.

use serde::{Deserialize, Serialize};

use super::climb::{Start, Way};
use super::{Climb, Objective, Optimum, Point, Stop, fits};
use crate::Result;

#[derive(Serialize, Deserialize)]
struct Ball {
    here: Point,
    velocity: Vec<f64>,
    first: f64,
    /// Whether it has ever been exceeded.
    rose: bool,
}

impl Way for Ball {
    fn fits(&self, size: usize) -> bool {
        self.here.fits(size) && fits(&self.velocity, size)
    }
}

pub(super) fn maximize(
    objective: &dyn Objective,
    start: Start<'_>,
    (rate, momentum): (f64, f64),
    mut climb: Climb<'_, '_>,
) -> Result<Optimum> {
    let mut ball = climb.begin(start, |parameters| {
        let here = Point::start(objective, parameters)?;
        Ok(Ball { velocity: vec![0.0; here.parameters.len()], first: here.value, rose: false, here })
    })?;
    loop {
        ball.rose |= ball.here.value > ball.first;
        if let Some(stopped) = climb.visit(&ball.here, &ball)? {
            let in_vain = climb.iteration() > 0 && !ball.rose && objective.gradient_is_of_value();
            return Ok(climb.end(if in_vain { Stop::NeverRose(stopped.into()) } else { stopped }));
        }
        for (v, g) in ball.velocity.iter_mut().zip(&ball.here.gradient) {
            *v = momentum * *v + rate * g;
        }
        ball.here = Point::trial(objective, ball.here.moved(1.0, &ball.velocity))?;
        if !ball.here.value.is_finite() {
            // The best point so far is kept, and the stop reason names the rate.
            let iteration = climb.iteration() + 1;
            return Ok(climb.end(Stop::NotFinite { iteration, rate }));
        }
    }
}
