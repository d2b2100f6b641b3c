//! Steps along the normalised gradient with an adaptive length (Rüger 1996); see
//! [`Method::Adaptive`](super::Method::Adaptive).
//!
//! Of the two lengths compared, only the one taken needs a gradient. One is evaluated with it, the
//! other without; a wrong guess costs one more evaluation.

use serde::{Deserialize, Serialize};

use super::climb::{Start, Way};
use super::{Climb, Objective, Optimum, Point, dot, trial_value};
use crate::Result;

/// The factor by which the length changes, as recommended in the source.
const ZETA: f64 = 1.8;

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
            // Components so small that their squares vanish: the direction is undefined.
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
        // The objective must not fall: shorten the step until it does not.
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
        // On a ridge long and short steps win in turn: guess the one that lost.
        *guess_longer = *length < longer;
        *here = next;
    }
}
