//! Tests the bound against plain loops, and that no update lowers it.

use fearless_simd::{Level, dispatch};
use proptest::prelude::*;

use super::super::couplings::Couplings;
use super::bound::Task;
use super::climb::{Climb, Step};
use super::state::{LEAST_WEIGHT, MOST_FIELD, MOST_TILT, State};
use crate::engine::VariationalSettings;
use crate::{Machine, topology};

const SMOOTH: Step = Step { smooth: true, means: false, damping: 0.0 };
const MEANS: Step = Step { smooth: false, means: true, damping: 0.0 };
const BOTH: Step = Step { smooth: true, means: true, damping: 0.0 };

/// All parameters of the bound, stored by component.
#[derive(Debug, Clone)]
struct Plain {
    weights: Vec<f64>,
    lambdas: Vec<f64>,
    fields: Vec<Vec<f64>>,
    tilts: Vec<Vec<f64>>,
}

impl Plain {
    /// Copies a state, with the best λ.
    fn of(state: &State) -> Self {
        let pick = |numbers: &[f64], l: usize| numbers.iter().skip(l).step_by(state.width).copied().collect();
        let each = |numbers: &[f64]| (0..state.components).map(|l| pick(numbers, l)).collect();
        let mut plain = Self {
            weights: state.weights[..state.components].to_vec(),
            lambdas: Vec::new(),
            fields: each(&state.fields),
            tilts: each(&state.tilts),
        };
        plain.lambdas = (0..state.components).map(|l| plain.weights[l] / plain.sum(l)).collect();
        plain
    }

    /// The probability of a value: e^(s x) / (e^x + e^(−x)).
    fn chance(x: f64, s: f64) -> f64 {
        1.0 / (1.0 + (-2.0 * s * x).exp())
    }

    fn overlap(&self, l: usize, k: usize) -> f64 {
        let units = self.tilts[l].iter().zip(&self.fields[k]);
        units
            .map(|(&t, &x)| [1.0, -1.0].map(|s| Self::chance(t, s) * Self::chance(x, s)).iter().sum::<f64>())
            .product()
    }

    /// S_l = Σ_k α_k π_lk.
    fn sum(&self, l: usize) -> f64 {
        (0..self.weights.len()).map(|k| self.weights[k] * self.overlap(l, k)).sum()
    }

    /// ⟨−E/T⟩ of a component.
    fn energy(&self, machine: &Machine, l: usize) -> f64 {
        let m: Vec<f64> = self.fields[l].iter().map(|x| x.tanh()).collect();
        let edges = machine.graph().edges().iter().zip(machine.weights());
        let pairs: f64 = edges.map(|(&(a, b), w)| w * m[a] * m[b]).sum();
        let alone: f64 = m.iter().zip(machine.biases()).map(|(m, bias)| m * bias).sum();
        (pairs + alone) / machine.temperature()
    }

    /// The bound with any λ: Σ α B and eq. 27, term by term.
    fn bound(&self, machine: &Machine) -> f64 {
        let mut bound = 1.0;
        for (l, (&weight, &lambda)) in self.weights.iter().zip(&self.lambdas).enumerate() {
            let mut smoothing = 0.0;
            let mut entropy = 0.0;
            for (&x, &t) in self.fields[l].iter().zip(&self.tilts[l]) {
                for s in [1.0, -1.0] {
                    smoothing += Self::chance(x, s) * Self::chance(t, s).ln();
                    entropy -= Self::chance(x, s) * Self::chance(x, s).ln();
                }
            }
            bound += weight * (self.energy(machine, l) + entropy + smoothing - weight.ln() + lambda.ln());
            bound -= lambda * self.sum(l);
        }
        bound
    }

    /// The energy and the exact entropy of the mixture, by a sum over all states.
    fn true_bound(&self, machine: &Machine) -> f64 {
        let energy: f64 = (0..self.weights.len()).map(|l| self.weights[l] * self.energy(machine, l)).sum();
        let units = machine.unit_count();
        let entropy: f64 = (0..1usize << units)
            .map(|state| {
                let of = |l: usize| -> f64 {
                    let spin = |unit: usize| if state >> unit & 1 == 1 { 1.0 } else { -1.0 };
                    (0..units).map(|unit| Self::chance(self.fields[l][unit], spin(unit))).product()
                };
                let q: f64 = (0..self.weights.len()).map(|l| self.weights[l] * of(l)).sum();
                -q * q.ln()
            })
            .sum();
        energy + entropy
    }
}

/// A machine of up to six units, and a mixture of up to eleven components over them.
fn cases() -> impl Strategy<Value = (Machine, State)> {
    (2..=6usize, 1..=11usize).prop_flat_map(|(units, components)| {
        let numbers = |reach: f64, count: usize| proptest::collection::vec(-reach..reach, count);
        (
            numbers(2.0, units * (units - 1) / 2),
            numbers(2.0, units),
            numbers(3.0, units * components),
            numbers(3.0, units * components),
            numbers(3.0, components),
            0.5..2.0f64,
        )
            .prop_map(move |(weights, biases, fields, tilts, logs, temperature)| {
                let machine = topology::full(units)
                    .with_parameters(weights, biases)
                    .and_then(|machine| machine.with_temperature(temperature))
                    .unwrap();
                let mut state = State::new(components, units);
                for unit in 0..units {
                    for l in 0..components {
                        state.fields[unit * state.width + l] = fields[unit * components + l];
                        state.tilts[unit * state.width + l] = tilts[unit * components + l];
                    }
                }
                for (weight, log) in state.weights.iter_mut().zip(logs) {
                    *weight = log.exp();
                }
                state.normalise();
                dispatch!(Level::new(), simd => state.renew(simd));
                (machine, state)
            })
    })
}

/// The couplings and fields of a machine.
struct Bench(Couplings, Vec<f64>, VariationalSettings);

impl Bench {
    fn new(machine: &Machine) -> Self {
        let free: Vec<usize> = (0..machine.unit_count()).collect();
        let fields = machine.biases().iter().map(|bias| bias / machine.temperature()).collect();
        Self(Couplings::new(machine, &free, false), fields, VariationalSettings::default())
    }

    /// A climb whose terms are those of the state, and the bound.
    fn climb(&self, state: &State) -> (Climb<'_>, f64) {
        let task = Task { couplings: &self.0, fields: &self.1, beta: 1.0 };
        let mut climb = Climb::new(task, state.clone(), &self.2);
        let bound = climb.evaluate();
        (climb, bound)
    }
}

fn renew_unit(climb: &mut Climb<'_>, unit: usize, step: Step) {
    dispatch!(Level::new(), simd => {
        climb.renew_unit(simd, unit, step, 0.0);
    });
}

/// Mixes, shares and updates every unit.
fn sweep(climb: &mut Climb<'_>) -> f64 {
    climb.terms.mix(&mut climb.state);
    dispatch!(Level::new(), simd => climb.terms.share(simd, &climb.state));
    climb.update_units(BOTH, 0.0)
}

/// Whether small steps to both sides do not raise the bound.
fn is_best(plain: &Plain, machine: &Machine, change: impl Fn(&mut Plain, f64)) -> bool {
    let best = plain.bound(machine);
    [1e-3, -1e-3].iter().all(|&step| {
        let mut moved = plain.clone();
        change(&mut moved, step);
        moved.bound(machine) <= best + 1e-12
    })
}

proptest! {
    #[test]
    fn the_bound_is_that_of_plain_loops_and_below_the_true_entropy((machine, state) in cases()) {
        let plain = Plain::of(&state);
        let found = Bench::new(&machine).climb(&state).1;
        prop_assert!((found - plain.bound(&machine)).abs() < 1e-11, "{found}, not {}", plain.bound(&machine));
        prop_assert!(found <= plain.true_bound(&machine) + 1e-11);
    }

    #[test]
    fn one_component_has_the_bound_of_mean_field((machine, mut state) in cases(), component in 0..11usize) {
        // Uniform smoothing distributions; other components hardly count.
        state.tilts.fill(0.0);
        let first = component % state.components;
        state.weights.fill(0.0);
        state.weights[first] = 1.0;
        state.normalise();
        dispatch!(Level::new(), simd => state.renew(simd));
        let found = Bench::new(&machine).climb(&state).1;
        let truth = Plain::of(&state).true_bound(&machine);
        prop_assert!((found - truth).abs() < 1e-11, "{found}, not {truth}");
    }

    #[test]
    fn lambda_is_the_best((machine, state) in cases(), component in 0..11usize) {
        let plain = Plain::of(&state);
        let l = component % state.components;
        prop_assert!(is_best(&plain, &machine, |plain, step| plain.lambdas[l] *= 1.0 + step));
        let bench = Bench::new(&machine);
        let (climb, _) = bench.climb(&state);
        for k in 0..state.components {
            let share = plain.weights[k] * plain.overlap(l, k) / plain.sum(l);
            prop_assert!((climb.terms.shares[k * state.width + l] - share).abs() < 1e-12);
        }
    }

    #[test]
    fn smoothing_never_lowers_the_bound_and_is_the_best((machine, state) in cases(), unit in 0..6usize) {
        let unit = unit % state.units;
        let before = Plain::of(&state).bound(&machine);
        let bench = Bench::new(&machine);
        let (mut climb, _) = bench.climb(&state);
        renew_unit(&mut climb, unit, SMOOTH);
        // With the best λ, which absorbs the scale of r.
        let after = Plain::of(&climb.state);
        prop_assert!(after.bound(&machine) >= before - 1e-12);
        for l in 0..state.components {
            let moved = |plain: &mut Plain, step: f64| {
                plain.tilts[l][unit] += step;
                plain.lambdas[l] = plain.weights[l] / plain.sum(l);
            };
            prop_assert!(is_best(&after, &machine, moved), "component {}", l);
        }
    }

    #[test]
    fn means_never_lower_the_bound_and_are_the_best((machine, state) in cases(), unit in 0..6usize) {
        let unit = unit % state.units;
        let before = Plain::of(&state);
        let bench = Bench::new(&machine);
        let (mut climb, _) = bench.climb(&state);
        renew_unit(&mut climb, unit, MEANS);
        // With λ fixed.
        let after = Plain { lambdas: before.lambdas.clone(), ..Plain::of(&climb.state) };
        prop_assert!(after.bound(&machine) >= before.bound(&machine) - 1e-12);
        for l in 0..state.components {
            prop_assert!(is_best(&after, &machine, |plain, step| plain.fields[l][unit] += step), "component {}", l);
        }
    }

    #[test]
    fn mixing_never_lowers_the_bound_and_is_the_best((machine, mut state) in cases(), pair in (0..11usize, 0..11usize)) {
        let before = Plain::of(&state);
        let bench = Bench::new(&machine);
        let change = bench.climb(&state).0.terms.mix(&mut state);
        let after = Plain { lambdas: before.lambdas.clone(), ..Plain::of(&state) };
        prop_assert!(after.bound(&machine) >= before.bound(&machine) - 1e-12);
        prop_assert!((after.weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        let largest = before.weights.iter().zip(&after.weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        prop_assert_eq!(change, largest);
        // From one component to another: they still add up to 1.
        let (a, b) = (pair.0 % state.components, pair.1 % state.components);
        let moved = |plain: &mut Plain, step: f64| {
            let amount = step * plain.weights[a].min(plain.weights[b]);
            plain.weights[a] += amount;
            plain.weights[b] -= amount;
        };
        prop_assert!(is_best(&after, &machine, moved));
    }

    #[test]
    fn shares_are_kept_up_along_a_sweep((machine, state) in cases()) {
        let bench = Bench::new(&machine);
        let (mut climb, before) = bench.climb(&state);
        climb.update_units(BOTH, 0.0);
        let kept = climb.terms.shares.clone();
        let after = climb.evaluate();
        prop_assert!(after >= before - 1e-12);
        for l in 0..state.components {
            let of = |k: usize| k * state.width + l;
            let sum: f64 = (0..state.components).map(|k| kept[of(k)]).sum();
            for k in 0..state.components {
                prop_assert!((kept[of(k)] / sum - climb.terms.shares[of(k)]).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn violations_vanish_only_at_a_fixed_point((machine, state) in cases()) {
        let bench = Bench::new(&machine);
        let (mut climb, _) = bench.climb(&state);
        let first = climb.violation(0.0);
        prop_assert_eq!(&Plain::of(&state).fields, &Plain::of(&climb.state).fields);
        let moved = (0..state.units).map(|unit| {
            let (mut climb, _) = bench.climb(&state);
            renew_unit(&mut climb, unit, BOTH);
            let pairs = climb.state.probabilities.means.iter().zip(&state.probabilities.means);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        }).fold(0.0, f64::max);
        prop_assert!(first >= moved, "{first} but {moved}");
        for _ in 0..2000 {
            let before = climb.state.clone();
            climb.evaluate();
            sweep(&mut climb);
            // Means near ±1 hide changes of fields and tilts.
            let moves = |old: &[f64], new: &[f64]| old.iter().zip(new).any(|(a, b)| (a - b).abs() > 1e-12);
            if !moves(&before.fields, &climb.state.fields) && !moves(&before.tilts, &climb.state.tilts) {
                climb.evaluate();
                prop_assert!(climb.violation(0.0) < 1e-9);
                break;
            }
        }
    }

    #[test]
    fn extremes_stay_finite_and_bounds_keep_rising(
        (machine, mut state) in cases(), corner in proptest::collection::vec(0..6usize, 66), rare in 0..11usize, strength in prop_oneof![Just(1.0), Just(1e3), Just(1e12)],
    ) {
        let machine = machine.clone().with_parameters(
            machine.weights().iter().map(|w| w * strength).collect(),
            machine.biases().iter().map(|bias| bias * strength).collect(),
        ).unwrap();
        for (place, corner) in corner.into_iter().enumerate() {
            let (unit, l) = (place / 11 % state.units, place % 11);
            let at = unit * state.width + l % state.components;
            match corner {
                0 => state.fields[at] = 1e9,
                1 => state.fields[at] = -MOST_FIELD,
                2 => state.tilts[at] = MOST_TILT,
                3 => state.tilts[at] = -1e9,
                // The same as the first component.
                4 => state.fields[at] = state.fields[unit * state.width],
                _ => {}
            }
        }
        let rare = rare % state.components;
        if state.components > 1 {
            state.weights[rare] = LEAST_WEIGHT;
            state.normalise();
        }
        dispatch!(Level::new(), simd => state.renew(simd));
        let bench = Bench::new(&machine);
        let (mut climb, _) = bench.climb(&state);
        let mut last = f64::NEG_INFINITY;
        for _ in 0..8 {
            let bound = climb.evaluate();
            prop_assert!(bound.is_finite());
            prop_assert!(bound >= last - 1e-11 * bound.abs().max(1.0), "{last} fell to {bound}");
            last = bound;
            prop_assert!(sweep(&mut climb).is_finite());
            let numbers = climb.state.fields.iter().chain(&climb.state.tilts).chain(&climb.state.weights);
            prop_assert!(numbers.chain(&climb.terms.shares).all(|x| x.is_finite()));
        }
    }
}
