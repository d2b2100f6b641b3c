//! Solves trees in two passes: messages from the leaves inwards, choices outwards. Up to `N` rows.

use fearless_simd::{Level, Simd, dispatch};

use super::plan::{NONE, Plan};

/// `½ (|h + v| − |h − v|) = ± min(|h|, |v|)`: the max-product message of a unit with field h
/// through a coupling v.
#[inline(always)]
pub(super) fn message(v: f64, h: f64) -> f64 {
    let most = v.abs();
    (h * 1f64.copysign(v)).max(-most).min(most)
}

/// Returns the better spin in a field; up in a tie.
#[inline(always)]
pub(super) fn choice(field: f64) -> f64 {
    if field >= 0.0 { 1.0 } else { -1.0 }
}

/// Adds the messages of each tree to the fields, from the leaves inwards.
pub(super) fn inwards<const N: usize>(plan: &Plan, fields: &mut [[f64; N]]) {
    dispatch!(Level::new(), simd => add_messages(simd, plan, fields));
}

#[inline(always)]
fn add_messages<S: Simd, const N: usize>(_simd: S, plan: &Plan, fields: &mut [[f64; N]]) {
    for (k, &(to, v)) in plan.hooks.iter().enumerate().rev() {
        if to != NONE {
            let field = fields[plan.core + k];
            for (sum, h) in fields[to as usize].iter_mut().zip(field) {
                *sum += message(v, h);
            }
        }
    }
}

/// Chooses the state of each place behind the core, given the core's, from the roots outwards.
pub(super) fn outwards<const N: usize>(plan: &Plan, fields: &[[f64; N]], states: &mut [[f64; N]]) {
    dispatch!(Level::new(), simd => choose(simd, plan, fields, states));
}

#[inline(always)]
fn choose<S: Simd, const N: usize>(_simd: S, plan: &Plan, fields: &[[f64; N]], states: &mut [[f64; N]]) {
    for (place, &(to, v)) in (plan.core..).zip(&plan.hooks) {
        let other = if to == NONE { [0.0; N] } else { states[to as usize] };
        for ((state, h), other) in states[place].iter_mut().zip(fields[place]).zip(other) {
            *state = choice(h + v * other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_half_the_gain_of_an_upward_neighbour() {
        let sizes = [0.0, 1e-9, 0.3, 0.75, 1.0, 20.0, 1e200];
        let numbers = || sizes.into_iter().chain(sizes.map(|x| -x));
        for v in numbers().filter(|&v| v != 0.0) {
            for h in numbers() {
                let best = |neighbour: f64| (h + v * neighbour).abs();
                let expected = 0.5 * (best(1.0) - best(-1.0));
                let size = h.abs().max(v.abs());
                assert!((message(v, h) - expected).abs() <= 2e-16 * size, "v {v}, h {h}");
            }
        }
    }
}
