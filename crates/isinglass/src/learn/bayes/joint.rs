//! The likelihood of rows along lines, with the moments of an exact engine.

use rand_chacha::ChaCha8Rng;

use super::line::{Frame, Line, Parameters, Slopes, Target};
use super::rows::Rows;
use crate::{Engine, Error, Evidence, Expectations, Machine, Pairs, Result};

/// The logarithm of the likelihood, `Σ_r c_r (−E(s_r) / T) − N log Z`.
///
/// A step along a line adds `δ f(s)` to `−E/T`, where f depends on two units at most; so the ratio of
/// partition sums is that of the four states of the two,
///
/// ```text
/// log Z(δ) − log Z = ln Σ_{s_a, s_b} P(s_a, s_b) e^(δ f(s_a, s_b))
/// ```
///
/// and only steps that are taken need the engine.
pub(super) struct Joint<'a> {
    frame: &'a Frame,
    engine: &'a dyn Engine,
    rows: Rows,
    /// At temperature 1, with the chain's couplings.
    machine: Machine,
    expectations: Option<Expectations>,
    sums: Vec<f64>,
    products: Vec<f64>,
    average: f64,
}

impl<'a> Joint<'a> {
    pub(super) fn new(
        frame: &'a Frame,
        engine: &'a dyn Engine,
        machine: &Machine,
        rows: Rows,
    ) -> Result<Self> {
        let machine = machine.clone().with_temperature(1.0)?.with_offset(0.0)?;
        let mut made = Self {
            frame,
            engine,
            rows,
            machine,
            expectations: None,
            sums: Vec::new(),
            products: Vec::new(),
            average: 0.0,
        };
        made.sum_up();
        Ok(made)
    }

    fn sum_up(&mut self) {
        self.sums = (0..self.machine.unit_count()).map(|unit| self.rows.sum(unit)).collect();
        self.products = self.frame.ends.iter().map(|&(a, b)| self.rows.product(a, b)).collect();
    }

    fn evaluate(&mut self, at: &Parameters) -> Result<()> {
        let mut weights = self.machine.weights().to_vec();
        for (&edge, &w) in self.frame.edges.iter().zip(&at.weights) {
            weights[edge] = w;
        }
        self.machine = self.machine.clone().with_parameters(weights, at.biases.clone())?;
        let free = Evidence::none(self.machine.unit_count());
        self.expectations = Some(self.engine.expectations(&self.machine, &free, Pairs::Edges)?);
        Ok(())
    }

    /// The states of the one or two units that a line is about: f, and the probability.
    fn states(&self, line: Line) -> [(f64, f64); 4] {
        let Some(found) = &self.expectations else { return [(0.0, 0.25); 4] };
        match line {
            Line::Bias(unit) => {
                let mean = found.means[unit];
                [(1.0, 0.5 * (1.0 + mean)), (-1.0, 0.5 * (1.0 - mean)), (0.0, 0.0), (0.0, 0.0)]
            }
            Line::Coupling(k) => {
                let (a, b) = self.frame.ends[k];
                let (mean_a, mean_b) = (found.means[a], found.means[b]);
                let both = found.correlations.values[self.frame.edges[k]];
                [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(s, t)| {
                    let f = s * t - self.frame.centre[b] * s - self.frame.centre[a] * t;
                    // Rounding may leave less than nothing of a state that never occurs.
                    (f, (0.25 * (1.0 + s * mean_a + t * mean_b + s * t * both)).max(0.0))
                })
            }
        }
    }

    /// `Σ_r c_r f(s_r)`.
    fn pull(&self, line: Line) -> f64 {
        match line {
            Line::Bias(unit) => self.sums[unit],
            Line::Coupling(k) => {
                let (a, b) = self.frame.ends[k];
                self.products[k] - self.frame.centre[b] * self.sums[a] - self.frame.centre[a] * self.sums[b]
            }
        }
    }
}

impl Target for Joint<'_> {
    fn slopes(&self, line: Line, by: f64) -> Slopes {
        let states = self.states(line);
        let weigh =
            |power: i32| -> f64 { states.iter().map(|(f, p)| p * (by * f).exp() * f.powi(power)).sum() };
        let (whole, rows, pull) = (weigh(0), self.rows.total_weight, self.pull(line));
        let mean = weigh(1) / whole;
        let bend = rows * (weigh(2) / whole - mean * mean);
        Slopes { value: by * pull - rows * whole.ln(), first: pull - rows * mean, bend }
    }

    fn value(&self, line: Line, by: f64) -> f64 {
        let whole: f64 = self.states(line).iter().map(|(f, p)| p * (by * f).exp()).sum();
        by * self.pull(line) - self.rows.total_weight * whole.ln()
    }

    fn step(&mut self, _line: Line, _by: f64, to: &Parameters) -> Result<()> {
        self.evaluate(to)
    }

    fn renew(&mut self, at: &Parameters, random: &mut ChaCha8Rng) -> Result<()> {
        if self.rows.has_gaps() {
            self.rows.draw(self.frame, at, random);
            self.sum_up();
        }
        if self.expectations.is_none() {
            self.evaluate(at)?;
        }
        let log_z = self.expectations.as_ref().and_then(|found| found.log_z);
        let log_z = log_z.ok_or_else(|| Error::CannotDo {
            who: "bayes",
            what: "use this engine".into(),
            why: crate::engine::WITH_LOG_Z.into(),
        })?;
        let biases: f64 = at.biases.iter().zip(&self.sums).map(|(b, sum)| b * sum).sum();
        let couplings: f64 = at.weights.iter().zip(&self.products).map(|(w, product)| w * product).sum();
        self.average = (biases + couplings) / self.rows.total_weight - log_z;
        Ok(())
    }

    fn average(&self) -> f64 {
        self.average
    }

    fn drawn(&self) -> Vec<i8> {
        self.rows.drawn()
    }

    fn set_drawn(&mut self, cells: &[i8]) {
        self.rows.set_drawn(cells);
        self.sum_up();
    }
}
