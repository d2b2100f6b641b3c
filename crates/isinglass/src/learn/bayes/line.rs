//! Lines through the parameters along which a chain moves, and densities along them.

use std::ops::{Add, Sub};

use crate::{Machine, Role};

/// A direction in which a chain moves.
///
/// In centred units `x_i = s_i − m_i`, m being the mean of a column, a coupling says little of the
/// means, so that couplings and biases are nearly independent of each other. In the machine's own
/// units a coupling then changes with the biases of its ends: `w_ij + δ`, `θ_i − m_j δ`,
/// `θ_j − m_i δ`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// A coupling, by its number among the trained ones.
    Coupling(usize),
    /// The bias of a unit.
    Bias(usize),
}

/// The logarithm of a density at a place on a line, and its derivatives.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Slopes {
    pub(super) value: f64,
    pub(super) first: f64,
    /// Minus the second derivative.
    pub(super) bend: f64,
}

impl Slopes {
    /// Along a line on which the argument changes by so much.
    pub(super) fn along(self, factor: f64) -> Self {
        Self { value: self.value, first: factor * self.first, bend: factor * factor * self.bend }
    }
}

impl Add for Slopes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            first: self.first + other.first,
            bend: self.bend + other.bend,
        }
    }
}

impl Sub for Slopes {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            value: self.value - other.value,
            first: self.first - other.first,
            bend: self.bend - other.bend,
        }
    }
}

/// What is sampled: couplings and biases of a machine.
pub(super) struct Frame {
    /// The units of each trained coupling.
    pub(super) ends: Vec<(usize, usize)>,
    /// Its number in the machine's graph.
    pub(super) edges: Vec<usize>,
    /// The units whose biases are trained.
    pub(super) modelled: Vec<usize>,
    pub(super) is_modelled: Vec<bool>,
    /// The mean of each column, constant for all of a fit.
    pub(super) centre: Vec<f64>,
}

impl Frame {
    pub(super) fn new(machine: &Machine, centre: Vec<f64>) -> Self {
        let is_modelled: Vec<bool> = machine.roles().iter().map(|&role| role == Role::Visible).collect();
        let all = machine.graph().edges().iter().enumerate();
        let trained = all.filter(|(_, (a, b))| is_modelled[*a] || is_modelled[*b]);
        let (edges, ends) = trained.map(|(edge, &ends)| (edge, ends)).unzip();
        let modelled = (0..machine.unit_count()).filter(|&unit| is_modelled[unit]).collect();
        Self { ends, edges, modelled, is_modelled, centre }
    }

    /// The biases that change along a line, and by how much.
    pub(super) fn biases(&self, line: Line) -> impl Iterator<Item = (usize, f64)> {
        let of_pair = match line {
            Line::Coupling(k) => {
                let (a, b) = self.ends[k];
                [(a, -self.centre[b]), (b, -self.centre[a])]
            }
            Line::Bias(unit) => [(unit, 1.0), (unit, 0.0)],
        };
        of_pair.into_iter().filter(|(unit, factor)| self.is_modelled[*unit] && *factor != 0.0)
    }
}

/// The parameters of a machine divided by T, and which couplings are included.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Parameters {
    /// 0 for couplings that are not included.
    pub(super) weights: Vec<f64>,
    pub(super) is_included: Vec<bool>,
    /// Of every unit; 0 for those that are not modelled.
    pub(super) biases: Vec<f64>,
}

impl Parameters {
    /// Moves along a line.
    pub(super) fn step(&mut self, frame: &Frame, line: Line, by: f64) {
        if let Line::Coupling(k) = line {
            self.weights[k] += by;
        }
        for (unit, factor) in frame.biases(line) {
            self.biases[unit] += factor * by;
        }
    }

    /// The bias of a unit in centred units, which moves of couplings leave alone.
    pub(super) fn centred_biases(&self, frame: &Frame) -> Vec<f64> {
        let mut centred = self.biases.clone();
        for (&(a, b), w) in frame.ends.iter().zip(&self.weights) {
            centred[a] += w * frame.centre[b];
            centred[b] += w * frame.centre[a];
        }
        centred
    }
}

/// A likelihood of the rows, as a chain needs it.
pub(super) trait Target: Send {
    /// The change of the logarithm after a step from where the chain is, and its derivatives there.
    fn slopes(&self, line: Line, by: f64) -> Slopes;

    /// The change of the logarithm alone.
    fn value(&self, line: Line, by: f64) -> f64;

    /// Follows a step to new parameters.
    fn step(&mut self, line: Line, by: f64, to: &Parameters) -> crate::Result<()>;

    /// Draws the missing cells given all others, and computes anew what steps accumulate: what
    /// follows depends on the parameters alone, and no rounding errors pile up.
    fn renew(&mut self, at: &Parameters, random: &mut rand_chacha::ChaCha8Rng) -> crate::Result<()>;

    /// The logarithm itself when it was last renewed, per row.
    fn average(&self) -> f64;

    /// Missing cells as they are drawn now, to be kept.
    fn drawn(&self) -> Vec<i8>;

    /// Replaces the missing cells by drawn ones.
    fn set_drawn(&mut self, cells: &[i8]);
}
