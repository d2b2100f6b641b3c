//! The curvature memory of limited-memory BFGS (Nocedal 1980; Liu and Nocedal 1989).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::fits;

/// A step, and the decrease of the gradient along it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(crate) step: Vec<f64>,
    pub(crate) fall: Vec<f64>,
    pub(crate) product: f64,
}

impl Pair {
    /// *Arguments*: the step; the gradients before and after it.
    pub(crate) fn new(step: Vec<f64>, before: &[f64], after: &[f64]) -> Self {
        let fall = difference(before, after);
        Self { product: dot(&step, &fall), step, fall }
    }
}

/// The latest steps with a curvature.
#[derive(Serialize, Deserialize)]
pub(crate) struct Memory {
    pairs: VecDeque<Pair>,
    most: usize,
}

impl Memory {
    pub(crate) fn new(most: usize) -> Self {
        Self { pairs: VecDeque::with_capacity(most), most }
    }

    /// Whether it has the given number of parameters and of steps.
    pub(super) fn fits(&self, size: usize, most: usize) -> bool {
        let fits = |pair: &Pair| fits(&pair.step, size) && fits(&pair.fall, size) && pair.product > 0.0;
        self.most == most && self.pairs.len() <= most && self.pairs.iter().all(fits)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
    }

    pub(crate) fn last(&self) -> Option<&Pair> {
        self.pairs.back()
    }

    /// Remembers a step along which the gradient fell: one whose cosine between step and fall is
    /// above the least that says anything about curvature. Returns whether it did.
    pub(crate) fn learn(&mut self, pair: Pair, least_cosine: f64) -> bool {
        let falls = pair.product > least_cosine * norm(&pair.step) * norm(&pair.fall);
        if falls {
            if self.pairs.len() == self.most {
                self.pairs.pop_front();
            }
            self.pairs.push_back(pair);
        }
        falls
    }

    /// The gradient times the remembered inverse curvature, by the two-loop recursion; `begin`
    /// multiplies by the initial inverse curvature.
    pub(crate) fn newton_step(&self, gradient: Vec<f64>, begin: impl FnOnce(&mut [f64])) -> Vec<f64> {
        let mut direction = gradient;
        let mut shares = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let share = dot(&pair.step, &direction) / pair.product;
            add(&mut direction, -share, &pair.fall);
            shares.push(share);
        }
        begin(&mut direction);
        for (pair, share) in self.pairs.iter().zip(shares.into_iter().rev()) {
            let back = dot(&pair.fall, &direction) / pair.product;
            add(&mut direction, share - back, &pair.step);
        }
        direction
    }

    /// The same, initialised with a given inverse curvature, scaled to that along the latest step.
    pub(crate) fn scaled_step(&self, gradient: &[f64], precondition: impl Fn(&mut [f64])) -> Vec<f64> {
        self.newton_step(gradient.to_vec(), |direction| {
            precondition(direction);
            if let Some(last) = self.last() {
                let mut fall = last.fall.clone();
                precondition(&mut fall);
                let scale = last.product / dot(&last.fall, &fall);
                for d in direction {
                    *d *= scale;
                }
            }
        })
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

pub(crate) fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

pub(crate) fn add(sum: &mut [f64], scale: f64, x: &[f64]) {
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += scale * x);
}
