//! Every optimiser on functions whose maximum is known.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::*;
use crate::learn::LikelihoodSettings;
use crate::settings::Settings;

const METHODS: [Method; 4] = [
    Method::Lbfgs,
    Method::Cg,
    Method::Momentum { rate: 1e-3, momentum: 0.9 },
    Method::Adaptive { rate: 0.1 },
];

fn settings(method: Method) -> OptimizerSettings {
    OptimizerSettings { method, iterations: 1000, tolerance: 5e-7 }
}

/// `7 − ½ Σ_k λ_k y_k²` with `y` the parameters, rotated and shifted; counts its evaluations.
struct Quadratic {
    curvatures: Vec<f64>,
    top: Vec<f64>,
    evaluations: Cell<usize>,
    values: Cell<usize>,
}

impl Quadratic {
    /// Curvatures from 1 to 1000 in equal ratios.
    fn ill_conditioned(size: usize) -> Self {
        let curvature = |k: usize| 1000f64.powf(k as f64 / (size - 1) as f64);
        let top = (0..size).map(|k| ((k * k + 1) as f64).sin()).collect();
        Self {
            curvatures: (0..size).map(curvature).collect(),
            top,
            evaluations: Cell::new(0),
            values: Cell::new(0),
        }
    }

    /// A reflection that mixes all axes, its own inverse.
    fn mixed(x: &[f64]) -> Vec<f64> {
        let share = 2.0 * x.iter().sum::<f64>() / x.len() as f64;
        x.iter().map(|x| x - share).collect()
    }

    fn at(&self, parameters: &[f64]) -> (f64, Vec<f64>) {
        let apart: Vec<f64> = parameters.iter().zip(&self.top).map(|(x, top)| x - top).collect();
        let y = Self::mixed(&apart);
        let pulled: Vec<f64> = y.iter().zip(&self.curvatures).map(|(y, c)| -c * y).collect();
        (7.0 + 0.5 * dot(&y, &pulled), Self::mixed(&pulled))
    }
}

impl Objective for Quadratic {
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.evaluations.set(self.evaluations.get() + 1);
        let (value, slope) = self.at(parameters);
        gradient.copy_from_slice(&slope);
        Ok(value)
    }

    fn value(&self, parameters: &[f64]) -> Result<f64> {
        self.values.set(self.values.get() + 1);
        Ok(self.at(parameters).0)
    }
}

/// The optimum and the values on the way to it.
fn climb(objective: &dyn Objective, start: Vec<f64>, settings: &OptimizerSettings) -> (Optimum, Vec<f64>) {
    let mut values = Vec::new();
    let found = maximize(objective, start.into(), settings, &mut |visit| {
        assert_eq!(visit.iteration, values.len(), "every iteration is reported once, in order");
        values.push(visit.value);
        Ok(ControlFlow::Continue(()))
    });
    (found.unwrap(), values)
}

#[test]
fn all_methods_find_the_top_of_an_ill_conditioned_hill() {
    for method in METHODS {
        let hill = Quadratic::ill_conditioned(12);
        let settings = OptimizerSettings { method, iterations: 200_000, tolerance: 5e-7 };
        let (found, values) = climb(&hill, vec![0.5; 12], &settings);
        assert!(found.converged, "{}: {}", method.name(), found.stopped);
        for (x, top) in found.parameters.iter().zip(&hill.top) {
            assert!((x - top).abs() < 1e-5, "{}: {x}, not {top}", method.name());
        }
        assert!(hill.at(&found.parameters).0 >= values[0]);
        let falls = values.windows(2).any(|pair| pair[1] < pair[0] - rounding(pair[0]));
        assert!(!falls || matches!(method, Method::Momentum { .. }), "{}: {values:?}", method.name());
    }
}

#[test]
fn evaluations_are_not_wasted() {
    for (method, most) in METHODS.into_iter().zip([1.5, 2.5, 1.0, 1.25]) {
        let hill = Quadratic::ill_conditioned(12);
        let settings = OptimizerSettings { method, iterations: 200_000, tolerance: 5e-7 };
        let (_, values) = climb(&hill, vec![0.5; 12], &settings);
        let iterations = (values.len() - 1) as f64;
        let found = (hill.evaluations.get() - 1) as f64;
        assert!(found <= most * iterations, "{}: {found} in {iterations}", method.name());
        let adaptive = matches!(method, Method::Adaptive { .. });
        let spared = hill.values.get() as f64 / iterations;
        assert!(if adaptive { spared <= 1.25 } else { spared == 0.0 }, "{}: {spared}", method.name());
    }
}

#[test]
fn limits_are_reported_as_such() {
    for method in METHODS {
        let hill = Quadratic::ill_conditioned(5);
        let begun = hill.at(&[0.5; 5]).0;
        for iterations in [0, 3] {
            let settings = OptimizerSettings { method, iterations, tolerance: 0.0 };
            let (found, values) = climb(&hill, vec![0.5; 5], &settings);
            assert_eq!((found.converged, values.len()), (false, iterations + 1), "{}", method.name());
            assert_eq!(found.stopped, Stop::Limit { iterations });
            assert!(hill.at(&found.parameters).0 >= begun);
        }
        // Many iterations are done if requested.
        let settings = OptimizerSettings { method, iterations: 30_000, tolerance: 0.0 };
        let (found, _) = climb(&hill, vec![0.5; 5], &settings);
        let gradient = Stop::Gradient { tolerance: 0.0 };
        let expected = [Stop::Limit { iterations: 30_000 }, Stop::NoProgress, gradient.clone()];
        assert!(expected.contains(&found.stopped), "{}", found.stopped);
        assert_eq!(found.converged, found.stopped == gradient, "{}", method.name());
        assert!((hill.at(&found.parameters).0 - 7.0).abs() < 1e-12, "{}", method.name());
    }
}

#[test]
fn a_start_at_the_top_stays_there() {
    for method in METHODS {
        let hill = Quadratic::ill_conditioned(5);
        for tolerance in [0.0, 1e-6] {
            let settings = OptimizerSettings { method, iterations: 100, tolerance };
            let (found, values) = climb(&hill, hill.top.clone(), &settings);
            assert_eq!((found.converged, values.len()), (true, 1));
            assert_eq!(found.parameters, hill.top);
        }
        let (found, _) = climb(&Quadratic::ill_conditioned(2), Vec::new(), &settings(method));
        assert!(found.converged, "no parameters: nothing to do");
    }
}

#[test]
fn an_observer_stops_every_method() {
    for method in METHODS {
        let settings = settings(method);
        let stop = |iteration| if iteration < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let hill = Quadratic::ill_conditioned(5);
        let found =
            maximize(&hill, vec![0.5; 5].into(), &settings, &mut |visit| Ok(stop(visit.iteration))).unwrap();
        assert_eq!((found.converged, found.stopped), (false, Stop::Requested));
    }
}

#[test]
fn too_large_a_rate_is_reported_and_the_best_point_is_kept() {
    let hill = Quadratic::ill_conditioned(5);
    let method = Method::Momentum { rate: 1.0, momentum: 0.5 };
    let settings = OptimizerSettings { method, iterations: 10_000, tolerance: 1e-9 };
    let (found, values) = climb(&hill, vec![0.5; 5], &settings);
    let stopped = found.stopped.to_string();
    assert!(!found.converged && stopped.starts_with("diverged: "), "{stopped}");
    assert!(stopped.ends_with("a rate below 1 is needed"), "{stopped}");
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(hill.at(&found.parameters).0, highest);
}

/// No value from some distance on, in one of three ways.
struct Cliff(fn() -> Result<f64>);

impl Objective for Cliff {
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        gradient[0] = -2.0 * (parameters[0] - 1.0);
        if parameters[0].abs() > 1.5 { (self.0)() } else { Ok(-(parameters[0] - 1.0).powi(2)) }
    }
}

#[test]
fn trial_steps_may_go_too_far_but_a_start_may_not() {
    let too_far: [fn() -> Result<f64>; 3] = [
        || Ok(f64::NAN),
        || Ok(f64::NEG_INFINITY),
        || Err(Error::Numerical { method: "cliff", problem: "too far".into() }),
    ];
    for beyond in too_far {
        for method in [Method::Lbfgs, Method::Cg, Method::Adaptive { rate: 100.0 }] {
            let settings = settings(method);
            let (found, _) = climb(&Cliff(beyond), vec![-1.4], &settings);
            assert!(found.converged && (found.parameters[0] - 1.0).abs() < 1e-6, "{}", method.name());
        }
        for method in METHODS {
            let settings = settings(method);
            let found =
                maximize(&Cliff(beyond), vec![2.0].into(), &settings, &mut |_| Ok(ControlFlow::Continue(())));
            assert!(matches!(found, Err(Error::Numerical { .. })), "{}", method.name());
        }
    }
}

#[test]
fn invalid_settings_are_named() {
    let by = |optimizer| LikelihoodSettings::default().optimizer(optimizer);
    let momentum = |rate, momentum| by(Optimizer::Momentum).rate(Some(rate)).momentum(Some(momentum));
    let message = |settings: LikelihoodSettings| settings.validate().unwrap_err().to_string();
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for settings in [momentum(rate, 0.5), by(Optimizer::Adaptive).rate(Some(rate))] {
            assert_eq!(message(settings), format!("rate: found {rate}, expected a finite number above 0"));
        }
    }
    for bad in [-0.1, 1.0, f64::NAN] {
        let expected = format!("momentum: found {bad}, expected a number of at least 0 and below 1");
        assert_eq!(message(momentum(0.1, bad)), expected);
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(message(by(Optimizer::Lbfgs).tolerance(bad)).starts_with("tolerance: found"));
    }
    assert!(momentum(1e-9, 0.0).validate().is_ok());
}

#[test]
fn with_kinks_the_conditions_of_an_optimum_hold_and_zeros_are_exact() {
    let quadratic = Quadratic::ill_conditioned(30);
    let model = Remembered(&quadratic);
    let settings = OptimizerSettings { tolerance: 1e-9, ..settings(Method::Lbfgs) };
    let mut heights = Vec::new();
    let mut watch = |visit: &Visit<'_>| {
        heights.push(visit.value);
        Ok(ControlFlow::Continue(()))
    };
    let lambdas: Vec<f64> = (0..30).map(|k| if k % 3 == 0 { 0.0 } else { 20.0 }).collect();
    let found = maximize_sparse(&model, &lambdas, vec![0.1; 30].into(), &settings, &mut watch).unwrap();
    assert!(found.converged, "{}", found.stopped);
    let (_, gradient) = quadratic.at(&found.parameters);
    for ((&x, g), &lambda) in found.parameters.iter().zip(gradient).zip(&lambdas) {
        let broken = if x == 0.0 { g.abs() - lambda } else { (g - lambda * x.signum()).abs() };
        assert!(broken <= 1e-9, "{x}: slope {g}");
    }
    let zeros = found.parameters.iter().filter(|&&x| x == 0.0).count();
    assert!((3..20).contains(&zeros), "{zeros} zeros");
    assert!(heights.windows(2).all(|two| two[1] >= two[0] - rounding(two[0])));

    let smooth = maximize_sparse(&model, &[0.0; 30], vec![0.1; 30].into(), &settings, &mut |_| {
        Ok(ControlFlow::Continue(()))
    });
    let apart = smooth
        .unwrap()
        .parameters
        .iter()
        .zip(&quadratic.top)
        .map(|(x, top)| (x - top).abs())
        .fold(0.0, f64::max);
    assert!(apart < 1e-8, "{apart}");
}
