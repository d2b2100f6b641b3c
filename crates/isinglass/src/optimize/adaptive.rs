//! Steps along the normalised gradient whose length adapts itself by comparing values (Rüger 1996).
//!
//! The scheme is told at [`Method::Adaptive`](super::Method::Adaptive). Of the two lengths compared, only the one that is taken needs a gradient:
//! one is evaluated with it, the other without, and a wrong guess costs one evaluation more.

use serde::{Deserialize, Serialize};

use super::climb::{Start, Way};
use super::{Climb, Objective, Optimum, Point, dot, trial_value};
use crate::Result;

/// By what the length is multiplied and divided; the value that the source recommends.
const ZETA: f64 = 1.8;

/// Where it stands, and how long its steps are.
#[derive(Serialize, Deserialize)]
struct Walk {
    here: Point,
    length: f64,
    guess_longer: bool,
}

impl Way for Walk {
    fn fits(&self, size: usize) -> bool {
        self.here.fits(size) && self.length.is_finite() && self.length > 0.0
    }
}

pub(super) fn maximize(
    objective: &dyn Objective,
    start: Start<'_>,
    rate: f64,
    mut climb: Climb<'_, '_>,
) -> Result<Optimum> {
    let mut walk = climb.begin(start, |parameters| {
        Ok(Walk { here: Point::start(objective, parameters)?, length: rate, guess_longer: true })
    })?;
    loop {
        if let Some(stopped) = climb.visit(&walk.here, &walk)? {
            return Ok(climb.end(stopped));
        }
        let Walk { here, length, guess_longer } = &mut walk;
        let norm = dot(&here.gradient, &here.gradient).sqrt();
        if norm == 0.0 {
            // Components so small that their squares vanish: no direction can be told from another.
            return Ok(climb.stuck());
        }
        let direction: Vec<f64> = here.gradient.iter().map(|g| g / norm).collect();

        let (longer, shorter) = (*length * ZETA, *length / ZETA);
        let (guess, other) = if *guess_longer { (longer, shorter) } else { (shorter, longer) };
        let mut next = Point::trial(objective, here.moved(guess, &direction))?;
        let place = here.moved(other, &direction);
        let value = trial_value(objective, &place)?;
        let guessed = if *guess_longer { next.value >= value } else { next.value > value };
        *length = if guessed { guess } else { other };
        if !guessed && value >= here.value {
            next = Point::trial(objective, place)?;
        }
        // Neither may end below where it began: shorter and shorter steps, until one does not.
        while next.value < here.value {
            *length = length.min(shorter) / ZETA;
            let place = here.moved(*length, &direction);
            if place == here.parameters {
                return Ok(climb.stuck());
            }
            if trial_value(objective, &place)? >= here.value {
                next = Point::trial(objective, place)?;
            }
        }
        // On a ridge long and short steps win in turn: what lost is the better guess for the next time.
        *guess_longer = *length < longer;
        *here = next;
    }
}
