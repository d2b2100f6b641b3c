//! Steps along the normalised gradient whose length adapts itself by comparing values (Rüger 1996).
//!
//! The scheme is told at [`Method::Adaptive`](super::Method::Adaptive). Of the two lengths compared, only the one that is taken needs a gradient:
//! one is evaluated with it, the other without, and a wrong guess costs one evaluation more.

use super::{Climb, Objective, Optimum, Point, dot, trial_value};
use crate::Result;

/// By what the length is multiplied and divided; the value that the source recommends.
const ZETA: f64 = 1.8;

pub(super) fn maximize(
    objective: &dyn Objective,
    start: Vec<f64>,
    rate: f64,
    mut climb: Climb<'_, '_>,
) -> Result<Optimum> {
    let mut here = Point::start(objective, start)?;
    let mut length = rate;
    let mut guess_longer = true;
    let mut iteration = 0;
    loop {
        if let Some(stopped) = climb.visit(iteration, &here.parameters, here.value, &here.gradient)? {
            return Ok(climb.end(stopped));
        }
        iteration += 1;
        let norm = dot(&here.gradient, &here.gradient).sqrt();
        if norm == 0.0 {
            // Components so small that their squares vanish: no direction can be told from another.
            return Ok(climb.stuck());
        }
        let direction: Vec<f64> = here.gradient.iter().map(|g| g / norm).collect();

        let (longer, shorter) = (length * ZETA, length / ZETA);
        let (guess, other) = if guess_longer { (longer, shorter) } else { (shorter, longer) };
        let mut next = Point::trial(objective, here.moved(guess, &direction))?;
        let place = here.moved(other, &direction);
        let value = trial_value(objective, &place)?;
        let guessed = if guess_longer { next.value >= value } else { next.value > value };
        length = if guessed { guess } else { other };
        if !guessed && value >= here.value {
            next = Point::trial(objective, place)?;
        }
        // Neither may end below where it began: shorter and shorter steps, until one does not.
        while next.value < here.value {
            length = length.min(shorter) / ZETA;
            let place = here.moved(length, &direction);
            if place == here.parameters {
                return Ok(climb.stuck());
            }
            if trial_value(objective, &place)? >= here.value {
                next = Point::trial(objective, place)?;
            }
        }
        // On a ridge long and short steps win in turn: what lost is the better guess for the next time.
        guess_longer = length < longer;
        here = next;
    }
}
