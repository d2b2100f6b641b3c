//! The positions of parameters in a kernel's vector, and gradient ascent on it.

use fearless_simd::{Level, Simd, dispatch};

use crate::learn::trained::Trained;
use crate::numeric::chance::{Sixteen, WIDTH};
use crate::{Machine, Result};

/// The positions of a machine's parameters in a kernel's vector; the others are padding of 0.
pub(super) struct Slots {
    pub(super) edges: Vec<usize>,
    pub(super) units: Vec<usize>,
    /// The length of the vector, a multiple of the lanes.
    pub(super) count: usize,
}

impl Slots {
    /// Places numbers of edges, then of units, into a vector.
    pub(super) fn scatter(&self, numbers: &[f64]) -> Vec<f64> {
        let mut places = vec![0.0; self.count];
        for (&place, &number) in self.edges.iter().chain(&self.units).zip(numbers) {
            places[place] = number;
        }
        places
    }

    /// The inverse of [`scatter`](Self::scatter).
    pub(super) fn gather(&self, places: &[f64]) -> Vec<f64> {
        self.edges.iter().chain(&self.units).map(|&place| places[place]).collect()
    }

    pub(super) fn machine_of(&self, start: &Machine, parameters: &[f64]) -> Result<Machine> {
        let mut weights = self.gather(parameters);
        let biases = weights.split_off(self.edges.len());
        start.clone().with_parameters(weights, biases)
    }
}

/// Gradient ascent with momentum: `v ← μ v + η (g − λ w)`, `w ← w + v`; λ for couplings alone.
pub(super) struct Ascent {
    pub(super) parameters: Vec<f64>,
    pub(super) velocity: Vec<f64>,
    /// The sum of gradients since [`take_norm`](Self::take_norm).
    gradients: Vec<f64>,
    /// 1 for parameters that are trained, 0 for others.
    trained: Vec<f64>,
    /// λ for trained couplings, 0 for others.
    decay: Vec<f64>,
    momentum: f64,
}

impl Ascent {
    pub(super) fn new(slots: &Slots, start: &Machine, momentum: f64, l2: f64) -> Self {
        let mut trained = vec![0.0; slots.count];
        let mut decay = vec![0.0; slots.count];
        let which = Trained::of(start);
        for &edge in &which.edges {
            trained[slots.edges[edge]] = 1.0;
            decay[slots.edges[edge]] = l2;
        }
        for &unit in &which.biases {
            trained[slots.units[unit]] = 1.0;
        }
        Self {
            parameters: slots.scatter(&[start.weights(), start.biases()].concat()),
            velocity: vec![0.0; slots.count],
            gradients: vec![0.0; slots.count],
            trained,
            decay,
            momentum,
        }
    }

    pub(super) fn step(&mut self, level: Level, gradient: &[Sixteen], rate: f64) {
        dispatch!(level, simd => self.step_in_lanes(simd, gradient, rate));
    }

    #[inline(always)]
    fn step_in_lanes<S: Simd>(&mut self, _simd: S, gradient: &[Sixteen], rate: f64) {
        let momentum = self.momentum;
        let places = self.parameters.as_chunks_mut::<WIDTH>().0.iter_mut();
        let places = places.zip(self.velocity.as_chunks_mut::<WIDTH>().0);
        let places = places.zip(self.gradients.as_chunks_mut::<WIDTH>().0);
        let fixed = self.trained.as_chunks::<WIDTH>().0.iter().zip(self.decay.as_chunks::<WIDTH>().0);
        for ((((w, v), sum), (trained, decay)), gradient) in places.zip(fixed).zip(gradient) {
            for k in 0..WIDTH {
                let g = f64::from(gradient.0[k]) * trained[k] - decay[k] * w[k];
                sum[k] += g;
                v[k] = momentum * v[k] + rate * g;
                w[k] += v[k];
            }
        }
    }

    /// Adds a gradient to the sum without a step.
    pub(super) fn note(&mut self, gradient: &[Sixteen]) {
        let numbers = gradient.iter().flat_map(|block| block.0);
        let fixed = self.trained.iter().zip(&self.decay).zip(&self.parameters);
        for ((sum, x), ((trained, decay), w)) in self.gradients.iter_mut().zip(numbers).zip(fixed) {
            *sum += f64::from(x) * trained - decay * w;
        }
    }

    /// The largest component of the mean of the gradients since the last call.
    pub(super) fn take_norm(&mut self, count: usize) -> f64 {
        let largest = self.gradients.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        self.gradients.fill(0.0);
        largest / count.max(1) as f64
    }
}
