//! What the user should know about the data or the fit.

use super::{Step, Stop};
use crate::{Machine, Note, Role, Table};

/// Couplings beyond this (divided by T) make two units differ about once in ten million rows: more
/// than data can show.
const UNBOUNDED: f64 = 8.0;

/// How many couplings are not 0.
pub(super) fn about_zeros(couplings: &[f64]) -> Note {
    let count = couplings.iter().filter(|&&w| w != 0.0).count();
    Note::NotZero { count, couplings: couplings.len() }
}

/// Notes on a fit by maximum likelihood: what the data cannot bound.
pub(super) fn about_likelihood(machine: &Machine, table: &Table) -> Vec<Note> {
    let mut constant = Vec::new();
    let mut empty = Vec::new();
    let mut summed = Vec::new();
    let total = table.total_weight();
    let sums = table.column_sums();
    for (name, &(weight, _)) in table.columns().iter().zip(&sums) {
        let input = machine.position(name).is_ok_and(|unit| machine.roles()[unit] == Role::Input);
        if input && weight < total * (1.0 - 1e-12) {
            summed.push(name.as_str());
        }
    }
    let means = sums.iter().map(|&(weight, sum)| (weight > 0.0).then(|| sum / weight));
    for (name, mean) in table.columns().iter().zip(means) {
        let visible = machine.position(name).is_ok_and(|unit| machine.roles()[unit] == Role::Visible);
        match mean {
            Some(mean) if visible && mean.abs() >= 1.0 => constant.push(name.as_str()),
            None if visible => empty.push(name.as_str()),
            _ => {}
        }
    }
    let columns = [
        Note::of_columns(&constant, Note::ConstantColumns),
        Note::of_columns(&empty, Note::EmptyColumns),
        Note::of_columns(&summed, Note::SummedInputs),
    ];
    let mut notes: Vec<Note> = columns.into_iter().flatten().collect();
    let is_complete = table.missing_count() == 0 && machine.with_role(Role::Hidden).next().is_none();
    if is_complete {
        let names = determined(machine, table);
        let names: Vec<&str> = names.into_iter().filter(|name| !constant.contains(name)).collect();
        notes.extend(Note::of_columns(&names, Note::DeterminedColumns));
    }
    let largest =
        machine.weights().iter().fold(0.0, |most: f64, w| most.max(w.abs())) / machine.temperature();
    if largest > UNBOUNDED {
        notes.push(Note::Unbounded { largest });
    }
    if machine.with_role(Role::Visible).next().is_none() {
        notes.push(Note::NoVisibleUnits);
    }
    notes
}

/// Half a nat, over all rows together: where a conditional leaves less, it was never wrong, and a
/// larger field would leave less still.
const NEVER_WRONG: f64 = 0.5;

/// The visible columns that the others determine, by the conditionals of a machine that was fitted
/// to complete rows.
pub(super) fn determined<'a>(machine: &'a Machine, table: &Table) -> Vec<&'a str> {
    let Ok((cells, weights)) = table.cells_for(machine) else { return Vec::new() };
    let (units, temperature) = (machine.unit_count(), machine.temperature());
    let total: f64 = weights.iter().sum();
    // A smaller field leaves more than that in every row.
    let least = -0.5 * (NEVER_WRONG / total.max(1.0)).exp_m1().ln();
    let is_determined = |&unit: &usize| {
        let around: Vec<(usize, f64)> =
            machine.graph().neighbours(unit).map(|(other, edge)| (other, machine.weights()[edge])).collect();
        let bias = machine.biases()[unit];
        let largest = bias.abs() + around.iter().map(|(_, w)| w.abs()).sum::<f64>();
        if total <= 0.0 || around.is_empty() || largest < least * temperature {
            return false;
        }
        let mut left = 0.0;
        for (row, &weight) in cells.chunks_exact(units).zip(&weights) {
            let field = around.iter().fold(bias, |sum, &(other, w)| sum + w * f64::from(row[other]));
            left += weight * (-2.0 * f64::from(row[unit]) * field / temperature).exp().ln_1p();
            if left > NEVER_WRONG {
                return false;
            }
        }
        true
    };
    machine.with_role(Role::Visible).filter(is_determined).map(|unit| machine.name(unit)).collect()
}

/// Fewer iterations show no oscillation.
const LEAST_ITERATIONS: usize = 20;

/// Ups and downs of the objective, in the second half of a fit, that are no accident.
const TURNS: usize = 4;

/// Notes on a fit with approximate engines that did not converge: whether it
/// oscillated, and what was kept.
pub(super) fn about_oscillation(history: &[Step], kept: usize, stopped: &Stop, engine: &str) -> Vec<Note> {
    let mut notes = Vec::new();
    let (early, late) = history.split_at(history.len() / 2);
    let least = |steps: &[Step]| steps.iter().map(|step| step.gradient_norm).fold(f64::INFINITY, f64::min);
    let turns = late.windows(3).filter(|steps| {
        (steps[1].objective - steps[0].objective) * (steps[2].objective - steps[1].objective) < 0.0
    });
    let turns = turns.count();
    let oscillates = history.len() >= LEAST_ITERATIONS && turns >= TURNS && least(late) > 0.5 * least(early);
    if oscillates {
        notes.push(Note::Oscillates { iterations: late.len(), turns, gradient: least(late) });
    }
    if engine == crate::MeanField::NAME && (oscillates || *stopped == Stop::NoProgress) {
        notes.push(Note::MeanFieldLearning);
    }
    notes.push(Note::BestKept { iteration: kept, seen: history.len() });
    notes
}
