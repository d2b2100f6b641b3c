//! Units pinned by their field.
//!
//! A bias of 1e10 means "always on". Summed over, it would take ten digits from everything else.

use crate::{Evidence, Machine, Spin};

/// A unit is pinned if its field exceeds the pull of all free neighbours by this much: the other
/// value then has a probability below `e^(−800)`, which underflows.
const CERTAIN: f64 = 400.0;

/// The evidence with every pinned unit clamped, except those in `stay_free`.
///
/// Each pinned unit shifts the fields of its neighbours, so these are checked again. `O(edges)`.
pub(crate) fn clamp_pinned(machine: &Machine, evidence: &Evidence, stay_free: &[usize]) -> Evidence {
    let mut evidence = evidence.clone();
    // The common case: nothing is clamped, and no bias could pin its unit.
    let limit = CERTAIN * machine.temperature();
    if machine.biases().iter().all(|bias| bias.abs() <= limit) && evidence.cells().iter().all(|&s| s == 0) {
        return evidence;
    }
    // The field on each unit by its bias and clamped neighbours, and the largest pull of free ones.
    let graph = machine.graph();
    let mut field = machine.biases().to_vec();
    let mut pull = vec![0.0; machine.unit_count()];
    for (&(a, b), &w) in graph.edges().iter().zip(machine.weights()) {
        for (unit, other) in [(a, b), (b, a)] {
            match evidence.get(other) {
                Some(spin) => field[unit] += w * f64::from(spin.value()),
                None => pull[unit] += w.abs(),
            }
        }
    }
    let may_be_pinned = |unit: usize| !stay_free.contains(&unit);
    let mut open: Vec<usize> = evidence.free().filter(|&unit| may_be_pinned(unit)).collect();
    while let Some(unit) = open.pop() {
        if evidence.get(unit).is_some() || field[unit].abs() - pull[unit] <= limit {
            continue;
        }
        let spin = if field[unit] > 0.0 { Spin::Up } else { Spin::Down };
        evidence.clamp(unit, spin);
        for (other, edge) in graph.neighbours(unit) {
            let w = machine.weights()[edge];
            field[other] += w * f64::from(spin.value());
            pull[other] -= w.abs();
            if evidence.get(other).is_none() && may_be_pinned(other) {
                open.push(other);
            }
        }
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    #[test]
    fn certainty_spreads_through_strong_couplings_and_no_further() {
        let units = [1e6, 0.0, 0.3, 0.0].iter().enumerate();
        let units = units.map(|(k, &bias)| Unit::new(format!("u{k}"), bias)).collect();
        let machine = Machine::new(units, [(0, 1, -1e4), (1, 2, 0.5), (2, 3, 1e9)]).unwrap();
        let pinned = clamp_pinned(&machine, &Evidence::none(4), &[]);
        assert_eq!(pinned.cells(), [1, -1, 0, 0]);
        assert_eq!(clamp_pinned(&machine, &Evidence::none(4), &[0]).cells(), [0; 4]);
    }
}
