//! Means and pair moments of a Q.

use super::bound::Work;
use super::plan::{NONE, OUTER, Plan, STATES, spin};
use super::skeleton::MOST_PARENTS;

/// Returns ⟨s_i s_j⟩ of one position with every other, by position; 1 with itself.
///
/// Computes the measure `P(c) ⟨s_j | c⟩` on the states of each clique: the conditional mean is
/// lifted from j to its root, and the measure is propagated down like probabilities. *Complexity*:
/// linear in the units.
pub(super) fn with_all(plan: &Plan, work: &Work, position: usize) -> Vec<f64> {
    let mut measures: Vec<Option<[f64; STATES]>> = vec![None; plan.nodes.len()];
    let mut function = [0.0; STATES];
    for (state, value) in function.iter_mut().enumerate() {
        *value = spin(state, MOST_PARENTS);
    }
    let mut at = position;
    loop {
        let mut measure = work.states[at];
        measure.iter_mut().zip(&function).for_each(|(p, value)| *p *= value);
        measures[at] = Some(measure);
        let node = &plan.nodes[at];
        if node.anchor == NONE {
            break;
        }
        let mut mean = [0.0; OUTER];
        for x in 0..OUTER {
            mean[x] = work.down[at][x] * function[x] + work.up[at][x] * function[OUTER + x];
        }
        function = node.outer.map(|x| mean[usize::from(x)]);
        at = node.anchor as usize;
    }
    let alone = work.mean(position);
    let mut moments = vec![0.0; plan.nodes.len()];
    for (k, node) in plan.nodes.iter().enumerate() {
        let mut measure = [0.0; STATES];
        if let Some(known) = measures[k] {
            measure = known;
        } else {
            let mut outer = [0.0; OUTER];
            match measures.get(node.anchor as usize) {
                Some(Some(above)) => {
                    above.iter().zip(&node.outer).for_each(|(p, &x)| outer[usize::from(x)] += p);
                }
                // The root of another part, which is independent of this unit.
                _ => outer[0] = alone,
            }
            for x in 0..OUTER {
                measure[x] = outer[x] * work.down[k][x];
                measure[OUTER + x] = outer[x] * work.up[k][x];
            }
            measures[k] = Some(measure);
        }
        moments[k] = measure.iter().enumerate().map(|(state, p)| p * spin(state, MOST_PARENTS)).sum::<f64>();
    }
    moments
}
