//! One iteration: chains are continued on the machine, and what they tell of the next step.

use super::coordinates::Coordinates;
use super::curvature::{Averages, Centred, dot};
use super::finish::{Averaged, Finish};
use super::penalties::{Place, Slopes};
use super::run::{CURVATURE_STATES, Run};
use crate::engine::sampling::{Drawn, Length, Persistent};
use crate::likelihood::required;
use crate::{Machine, Result};

/// Sweeps before the first state of an iteration is kept, and from one state to the next.
const BEFORE: usize = 32;
const THIN: usize = 2;

/// The share of a step that is made changes by these factors at most, and not below this.
const OVERSHOT: f64 = -0.3;
const SHORTER_RATE: f64 = 0.6;
const LONGER_RATE: f64 = 1.15;
const LEAST_RATE: f64 = 0.02;

/// The noise of a step, as a divergence in nats: a full step from N independent states has one of
/// parameters / 2N.
const STEP_NOISE: f64 = 0.02;

/// The most that a step changes the distribution, as a Kullback–Leibler divergence in nats; and the
/// least effective number of states after it, as a share.
const LONGEST_STEP: f64 = 0.2;
const LEAST_EFFECTIVE: f64 = 0.7;

/// The gradient counts as sampling error up to so many times its expected square.
const NOISE: f64 = 1.3;

/// What an iteration is to do.
pub(super) struct Plan<'a> {
    /// States to be kept of each ladder.
    pub(super) states: usize,
    pub(super) trust: f64,
    pub(super) rate: f64,
    /// The share of the step that is made in any case.
    pub(super) share: f64,
    /// Average gradients of the couplings until now.
    pub(super) slopes: &'a Slopes,
    pub(super) shrinkage: f64,
    /// The step before in centred coordinates, and the rise that its gradient promised.
    pub(super) last: Option<(&'a [f64], f64)>,
    /// The sums over the averaged steps, and whether this is the last of these.
    pub(super) finish: Option<(&'a Finish, bool)>,
}

/// What the chains tell about a machine.
pub(super) struct Found {
    pub(super) objective: f64,
    /// The largest component of the gradient by weights and biases.
    pub(super) gradient_norm: f64,
    /// The step in weights, then biases.
    pub(super) step: Vec<f64>,
    pub(super) direction: Vec<f64>,
    pub(super) slope: f64,
    pub(super) rate: f64,
    pub(super) slopes: Slopes,
    /// The squared gradient in centred coordinates.
    pub(super) signal: f64,
    /// Whether it is no larger than its sampling error.
    pub(super) is_noise: bool,
    pub(super) deviation: f64,
    pub(super) finish: Option<Finish>,
    /// What to add to the averaged weights, then biases.
    pub(super) correction: Option<Vec<f64>>,
}

impl Run<'_> {
    /// Continues the chains on the machine, and computes the next step from their states.
    pub(super) fn evaluate(&self, chains: &mut Persistent, plan: &Plan<'_>, call: usize) -> Result<Found> {
        let Plan { states, trust, .. } = *plan;
        let graph = self.machine.graph();
        let temperature = self.machine.temperature();
        let length = Length { before: BEFORE, states, thin: THIN };
        let Drawn { teams, log_z } = self.engine.advance(chains, &self.machine, length, call as u64);
        let clamped = self.rows.evaluate(self.clamped, &self.machine, true)?;
        let rows = required(self.clamped, clamped.statistics)?;
        let means: Vec<f64> = rows.means.iter().map(|sum| sum / rows.weight).collect();
        let coordinates = Coordinates::of(&means);
        let wanted = coordinates.centred(graph, &rows);
        let averages = Averages::of(graph, &coordinates, &teams);
        let Averages { mean, variance, .. } = &averages;
        let edges = graph.edges();
        let mut gradient: Vec<f64> = wanted.iter().zip(mean).map(|(a, b)| a - b).collect();
        let error = |k: usize| (variance[k] + 1.0 / self.rows.total_weight).sqrt();
        let deviation = (0..gradient.len()).map(|k| gradient[k].abs() / error(k)).fold(0.0, f64::max);
        let mut diagonal = vec![plan.shrinkage; gradient.len()];
        let slopes = self.penalties.remember(plan.slopes, &gradient[..edges.len()]);
        let place = Place { machine: &self.machine, coordinates: &coordinates };
        let is_free = self.penalties.bend(place, (&slopes, variance), &mut gradient, &mut diagonal);
        let signal: f64 = gradient.iter().map(|g| g * g).sum();
        let (mut finish, mut correction) = (plan.finish.map(|(sums, _)| sums.clone()), None);
        if let (Some(sums), Some((_, is_last))) = (&mut finish, plan.finish) {
            let (machine, gradient) = (&self.machine, &gradient[..]);
            let averaged =
                Averaged { machine, coordinates: &coordinates, teams: &teams, averages: &averages, gradient };
            sums.add(&averaged);
            if is_last {
                let l2: Vec<f64> = diagonal.iter().map(|d| d - plan.shrinkage).collect();
                let change = sums.correction(&averaged, &l2);
                correction = Some(changed(&self.machine, &coordinates, &change));
            }
        }
        let noise: f64 = variance.iter().zip(&is_free).filter(|(_, free)| **free).map(|(v, _)| v).sum();
        let is_noise = signal <= NOISE * noise;
        // Statistics have variance 1, about, so that this is half of parameters / N, with N the
        // number of independent states.
        let rate = (2.0 * STEP_NOISE / noise).sqrt().min(1.0);
        // The last step has shown how much of the gradient along it is left. Less than none means that
        // it went too far, since the curvature had risen on the way; about none may be noise alone.
        let change = plan.last.map_or(1.0, |(direction, slope)| {
            let left = dot(direction, &gradient) / slope;
            if left < OVERSHOT { SHORTER_RATE } else { LONGER_RATE }
        });
        let rate = (plan.rate * change).clamp(LEAST_RATE, 1.0).min(rate);
        let centred = {
            let each = CURVATURE_STATES.div_ceil(self.engine.teams());
            Centred::new(graph, &coordinates, &teams, each).among(&is_free)
        };
        let mut step = centred.solve(&gradient, &diagonal);
        let share = centred.share(&step, 1.0 - trust * (1.0 - LEAST_EFFECTIVE), trust * LONGEST_STEP);
        for u in &mut step {
            *u *= plan.share * share.min(rate);
        }
        self.penalties.stay_in_orthant(place, &gradient, &mut step);
        let slope = dot(&step, &gradient);

        let gradient_norm = (0..edges.len())
            .map(|k| {
                (gradient[k] * coordinates.deviations[edges[k].0] * coordinates.deviations[edges[k].1]).abs()
            })
            .fold(0.0, f64::max);
        Ok(Found {
            objective: clamped.value / self.rows.total_weight
                - log_z
                - self.penalties.of(self.machine.weights()),
            gradient_norm: gradient_norm / temperature,
            step: changed(&self.machine, &coordinates, &step),
            direction: step,
            slope,
            rate,
            slopes,
            signal,
            is_noise,
            deviation,
            finish,
            correction,
        })
    }
}

/// A step in centred coordinates as one of weights, then biases.
fn changed(machine: &Machine, coordinates: &Coordinates, step: &[f64]) -> Vec<f64> {
    let graph = machine.graph();
    let (mut weights, mut biases) = (vec![0.0; graph.edges().len()], vec![0.0; graph.unit_count()]);
    coordinates.add(graph, step, &mut weights, &mut biases);
    weights.extend(biases);
    for x in &mut weights {
        *x *= machine.temperature();
    }
    weights
}
