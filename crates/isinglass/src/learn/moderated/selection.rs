//! Which couplings, and which of their changes, the extended BIC selects.

use rayon::prelude::*;

use super::joint::{Conditional, Joint};
use super::newton::{Optimum, Penalty, maximize};
use crate::learn::Rule;

/// Penalties on the path of a unit, and the smallest as a share of the largest.
const PENALTIES: usize = 40;
const SMALLEST: f64 = 0.01;

/// The gradient at which a fit on the path has converged.
const TOLERANCE: f64 = 1e-6;

/// For each parameter whether it may differ from 0.
///
/// For each unit, the penalty on couplings and their changes minimises `−2 N L + k ln N + 2 γ k ln P`
/// with k of P selected (Foygel and Drton 2010). Biases are always selected, and so is the coupling
/// of which any change is.
pub(super) fn selected(joint: &Joint, gamma: f64, rule: Rule, iterations: usize) -> Vec<bool> {
    let of_units: Vec<Vec<bool>> =
        joint.units.par_iter().map(|unit| of_unit(joint, unit, gamma, iterations)).collect();
    let count = joint.parameters();
    let (mut votes, mut voters) = (vec![0; count], vec![0; count]);
    for (unit, selected) in joint.units.iter().zip(of_units) {
        for (&place, is_selected) in unit.places.iter().zip(selected) {
            votes[place] += usize::from(is_selected);
            voters[place] += 1;
        }
    }
    let mut free: Vec<bool> = (0..count)
        .map(|place| {
            !joint.is_coupling(place)
                || match rule {
                    Rule::And => voters[place] > 0 && votes[place] == voters[place],
                    Rule::Or => votes[place] > 0,
                }
        })
        .collect();
    for place in 0..count {
        if free[place] {
            free[joint.base_of(place)] = true;
        }
    }
    free
}

/// Which features of a unit are selected.
fn of_unit(joint: &Joint, unit: &Conditional, gamma: f64, iterations: usize) -> Vec<bool> {
    let size = unit.places.len();
    let is_coupling: Vec<bool> = unit.places.iter().map(|&place| joint.is_coupling(place)).collect();
    let penalised = is_coupling.iter().filter(|is| **is).count();
    let evaluate = |numbers: &[f64], curved: bool| unit.evaluate(&joint.weights, numbers, curved);
    let fit = |start: Vec<f64>, l1: f64, free: Vec<bool>| -> Optimum {
        let l1 = is_coupling.iter().map(|&is| if is { l1 } else { 0.0 }).collect();
        let penalty = Penalty { l1, l2: vec![0.0; size], free };
        maximize(&evaluate, start, &penalty, (iterations, TOLERANCE))
    };
    let alone = fit(vec![0.0; size], 0.0, is_coupling.iter().map(|is| !is).collect());
    let (_, gradient, _) = evaluate(&alone.parameters, false);
    let largest =
        gradient.iter().zip(&is_coupling).filter(|(_, is)| **is).map(|(g, _)| g.abs()).fold(0.0, f64::max);
    let criterion = |numbers: &[f64]| {
        let chosen = numbers.iter().zip(&is_coupling).filter(|(x, is)| **is && **x != 0.0).count() as f64;
        let cost = joint.total.ln() + 2.0 * gamma * (penalised.max(1) as f64).ln();
        -2.0 * joint.total * evaluate(numbers, false).0 + chosen * cost
    };
    let mut best = (criterion(&alone.parameters), alone.parameters.clone());
    let mut here = alone.parameters;
    for step in 0..PENALTIES {
        let l1 = largest * SMALLEST.powf(step as f64 / (PENALTIES - 1) as f64);
        here = fit(here, l1, vec![true; size]).parameters;
        let found = criterion(&here);
        if found < best.0 {
            best = (found, here.clone());
        }
    }
    best.1.iter().map(|x| *x != 0.0).collect()
}
