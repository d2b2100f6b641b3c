//! Limited-memory BFGS (Nocedal 1980; Liu and Nocedal 1989) with a strong-Wolfe line search.

use serde::{Deserialize, Serialize};

use super::climb::{Start, Way};
use super::line_search::search;
use super::memory::{Memory, Pair, difference};
use super::secant::{LEAST_CURVATURE, MEMORY};
use super::{Climb, Objective, Optimum, Point, dot};
use crate::Result;

/// The share of the slope left by a line search; steps scaled by the curvature need no exact
/// search.
const FLAT: f64 = 0.9;

#[derive(Serialize, Deserialize)]
struct Newton {
    here: Point,
    memory: Memory,
}

impl Way for Newton {
    fn fits(&self, size: usize) -> bool {
        self.here.fits(size) && self.memory.fits(size, MEMORY)
    }
}

pub(super) fn maximize(
    objective: &dyn Objective,
    start: Start<'_>,
    mut climb: Climb<'_, '_>,
) -> Result<Optimum> {
    let mut way = climb.begin(start, |parameters| {
        Ok(Newton { here: Point::start(objective, parameters)?, memory: Memory::new(MEMORY) })
    })?;
    loop {
        if let Some(stopped) = climb.visit(&way.here, &way)? {
            return Ok(climb.end(stopped));
        }
        let Some(next) = way.step(objective)? else { return Ok(climb.stuck()) };
        let step = difference(&next.parameters, &way.here.parameters);
        way.memory.learn(Pair::new(step, &way.here.gradient, &next.gradient), LEAST_CURVATURE);
        way.here = next;
    }
}

impl Newton {
    /// The next point; without the learned curvature if that gives none.
    fn step(&mut self, objective: &dyn Objective) -> Result<Option<Point>> {
        loop {
            let gradient = &self.here.gradient;
            let direction = self.memory.scaled_step(gradient, |x| objective.precondition(x));
            let rise = dot(&direction, gradient);
            // Without curvature, the first step has a length of at most 1, in the coordinates in
            // which the preconditioner is the identity.
            let first = if self.memory.is_empty() { rise.sqrt().recip().min(1.0) } else { 1.0 };
            if rise > 0.0
                && let Some((_, next)) = search(objective, &self.here, &direction, first, FLAT)?
            {
                return Ok(Some(next));
            }
            if self.memory.is_empty() {
                return Ok(None);
            }
            self.memory.clear();
        }
    }
}
