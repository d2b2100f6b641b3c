//! A Markov chain over machines: which couplings there are, their values, the biases.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution, StudentT};
use serde::{Deserialize, Serialize};

use super::line::{Frame, Line, Parameters, Slopes, Target};
use super::prior::{self, Inclusion, Slab};
use crate::numeric::streams::{Purpose, stream};
use crate::{Error, Result, cancel};

/// Degrees of freedom of proposals: tails that are heavier than those of a posterior.
const FREEDOM: f64 = 5.0;

/// Proposals are a little wider than the curvature says.
const WIDER: f64 = 1.1;

/// The largest change of a coupling in one step of Newton's method, and of a proposal.
const FARTHEST: f64 = 2.0;

/// The least curvature of a proposal: as wide as priors are.
const FLATTEST: f64 = 0.25;

/// In units of the proposal's scale: steps of a random walk in one dimension (Gelman, Roberts and
/// Gilks 1996).
const WALK: f64 = 2.4;

/// While a chain adapts, by how much of the distance references follow.
const ADAPTS: f64 = 0.3;

/// The prior distribution of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prior {
    pub(super) inclusion: Inclusion,
    pub(super) slab: Slab,
    /// The scale of included couplings, divided by T.
    pub(super) scale: f64,
}

/// What a checkpoint keeps of a chain.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct State {
    at: Parameters,
    references: Vec<f64>,
    bias_references: Vec<f64>,
    share: f64,
    sweeps: usize,
    drawn: Vec<i8>,
    draws: Vec<f32>,
}

/// A chain, in its posterior given by a target and a prior.
pub(super) struct Chain<'a, T> {
    frame: &'a Frame,
    prior: Prior,
    target: T,
    seed: u64,
    number: usize,
    random: ChaCha8Rng,
    pub(super) at: Parameters,
    /// Where the conditional of each coupling, if included, is approximated: constant once the chain
    /// does not adapt any more, so that a proposal does not depend on the coupling itself.
    references: Vec<f64>,
    /// The same of biases, in centred units.
    bias_references: Vec<f64>,
    /// The prior probability of a coupling now.
    share: f64,
    sweeps: usize,
    /// Draw after draw: couplings, then biases of the modelled units.
    pub(super) draws: Vec<f32>,
}

/// An approximation of a density along a line: Student's distribution at its mode.
struct Proposal {
    mode: f64,
    scale: f64,
}

impl Proposal {
    /// One step of Newton's method from a place with these slopes.
    fn new(place: f64, slopes: Slopes) -> Self {
        let bend = slopes.bend.max(FLATTEST);
        let mode = place + (slopes.first / bend).clamp(-FARTHEST, FARTHEST);
        Self { mode, scale: WIDER / bend.sqrt() }
    }

    fn draw(&self, student: &StudentT<f64>, random: &mut ChaCha8Rng) -> f64 {
        self.mode + self.scale * student.sample(random)
    }

    /// The logarithm of its density.
    fn log_density(&self, x: f64) -> f64 {
        /// Γ(3) / (Γ(5/2) √(5 π)), for five degrees of freedom.
        const FACTOR: f64 = 0.379_606_689_822_494_5;
        let z = (x - self.mode) / self.scale;
        (FACTOR / self.scale).ln() - 0.5 * (FREEDOM + 1.0) * (z * z / FREEDOM).ln_1p()
    }
}

impl<'a, T: Target> Chain<'a, T> {
    /// The chain with a number: the even ones begin without couplings, the others with all of them.
    ///
    /// `biases` are those at which chains begin.
    pub(super) fn new(
        frame: &'a Frame,
        prior: Prior,
        target: T,
        biases: &[f64],
        (seed, number): (u64, usize),
    ) -> Self {
        let couplings = frame.ends.len();
        let is_included = number % 2 == 1 || prior.inclusion == Inclusion::Probability(1.0);
        let at = Parameters {
            weights: vec![0.0; couplings],
            is_included: vec![is_included; couplings],
            biases: biases.to_vec(),
        };
        let share = match prior.inclusion {
            Inclusion::Probability(p) => p,
            Inclusion::Uniform => 0.5,
        };
        Self {
            frame,
            prior,
            target,
            seed,
            number,
            random: stream(seed, Purpose::Posterior, (number as u64) << 32),
            bias_references: biases.to_vec(),
            at,
            references: vec![0.0; couplings],
            share,
            sweeps: 0,
            draws: Vec::new(),
        }
    }

    pub(super) fn state(&self) -> State {
        State {
            at: self.at.clone(),
            references: self.references.clone(),
            bias_references: self.bias_references.clone(),
            share: self.share,
            sweeps: self.sweeps,
            drawn: self.target.drawn(),
            draws: self.draws.clone(),
        }
    }

    pub(super) fn resume(&mut self, state: State) {
        self.target.set_drawn(&state.drawn);
        self.at = state.at;
        self.references = state.references;
        self.bias_references = state.bias_references;
        (self.share, self.sweeps, self.draws) = (state.share, state.sweeps, state.draws);
    }

    /// The logarithm of the likelihood of a row at the last renewal.
    pub(super) fn average(&self) -> f64 {
        self.target.average()
    }

    /// Visits every coupling and every bias. A chain that adapts keeps no draw.
    pub(super) fn sweep(&mut self, adapts: bool) -> Result<()> {
        // A stream for each sweep: a chain is resumed without the state of a generator.
        let place = (self.number as u64) << 32 | self.sweeps as u64;
        self.random = stream(self.seed, Purpose::Posterior, place);
        self.target.renew(&self.at, &mut self.random)?;
        for k in 0..self.frame.ends.len() {
            cancel::point();
            self.visit_coupling(k, adapts)?;
        }
        let mut centred = self.at.centred_biases(self.frame);
        for &unit in &self.frame.modelled {
            self.visit_bias(unit, &mut centred[unit], adapts)?;
        }
        if self.prior.inclusion == Inclusion::Uniform {
            let couplings = self.frame.ends.len();
            let included = self.at.is_included.iter().filter(|is_included| **is_included).count();
            // Its parameters are at least 1.
            let posterior = Beta::new(1.0 + included as f64, 1.0 + (couplings - included) as f64)
                .expect("parameters are positive");
            self.share = posterior.sample(&mut self.random).clamp(1e-12, 1.0 - 1e-12);
        }
        self.sweeps += 1;
        if !adapts {
            self.keep();
        }
        Ok(())
    }

    /// Adds the parameters to the draws.
    pub(super) fn keep(&mut self) {
        self.draws.extend(self.at.weights.iter().map(|&w| w as f32));
        self.draws.extend(self.frame.modelled.iter().map(|&unit| self.at.biases[unit] as f32));
    }

    /// The change of the prior density of biases on a line, and its derivatives.
    fn bias_slopes(&self, line: Line, by: f64) -> Slopes {
        let of = |(unit, factor): (usize, f64)| {
            let bias = self.at.biases[unit];
            let mut there = prior::bias(bias + factor * by);
            there.value -= prior::bias(bias).value;
            there.along(factor)
        };
        self.frame.biases(line).map(of).fold(Slopes::default(), |sum, x| sum + x)
    }

    /// The change of likelihood and prior of biases after a step: what couplings that are included
    /// and those that are not have in common.
    fn value(&self, line: Line, by: f64) -> f64 {
        if by == 0.0 { 0.0 } else { self.target.value(line, by) + self.bias_slopes(line, by).value }
    }

    fn slopes(&self, line: Line, by: f64) -> Slopes {
        self.target.slopes(line, by) + self.bias_slopes(line, by)
    }

    fn accepts(&mut self, log_ratio: f64) -> bool {
        // A ratio that is no number is that of a state beyond the range of numbers.
        log_ratio >= 0.0 || self.random.random::<f64>() < log_ratio.exp()
    }

    fn go(&mut self, line: Line, by: f64) -> Result<()> {
        self.at.step(self.frame, line, by);
        self.target.step(line, by, &self.at)
    }

    /// Includes a coupling or leaves it out, and draws it if it is included.
    ///
    /// The conditional density of the coupling, given all else, is approximated at a place that is
    /// independent of its value; a coupling that is included is drawn from that, and accepted by the
    /// rule for moves between spaces (Gottardo and Raftery 2008; Green 1995). Two kinds of moves
    /// within alternate: the same draws, and a random walk, which does not stick where the
    /// approximation is poor.
    fn visit_coupling(&mut self, k: usize, adapts: bool) -> Result<()> {
        let line = Line::Coupling(k);
        let old = self.at.weights[k];
        let Prior { slab, scale, .. } = self.prior;
        let slab = |w: f64| slab.slopes(w, scale);
        let place = self.references[k];
        let proposal = Proposal::new(place, self.slopes(line, place - old) + slab(place));
        if adapts {
            self.references[k] += ADAPTS * (proposal.mode - place);
        }
        let student = student()?;
        let slab_value = |w: f64| slab(w).value;
        if self.share < 1.0 {
            let odds = (self.share / (1.0 - self.share)).ln();
            if self.at.is_included[k] {
                let without = self.value(line, -old);
                let ratio = without + proposal.log_density(old) - odds - slab_value(old);
                if self.accepts(ratio) {
                    self.at.is_included[k] = false;
                    self.go(line, -old)?;
                    // Rounding must leave nothing.
                    self.at.weights[k] = 0.0;
                }
            } else {
                let new = proposal.draw(&student, &mut self.random);
                let ratio = odds + self.value(line, new) + slab_value(new) - proposal.log_density(new);
                if self.accepts(ratio) {
                    self.at.is_included[k] = true;
                    self.go(line, new)?;
                }
                return Ok(());
            }
        }
        if !self.at.is_included[k] {
            return Ok(());
        }
        let (new, log_correction) = if self.sweeps.is_multiple_of(2) {
            let new = proposal.draw(&student, &mut self.random);
            (new, proposal.log_density(old) - proposal.log_density(new))
        } else {
            let walk: f64 = rand_distr::StandardNormal.sample(&mut self.random);
            (old + WALK * proposal.scale * walk, 0.0)
        };
        let ratio = self.value(line, new - old) + slab_value(new) - slab_value(old) + log_correction;
        if self.accepts(ratio) {
            self.go(line, new - old)?;
        }
        Ok(())
    }

    /// Draws a bias, in the same way.
    fn visit_bias(&mut self, unit: usize, centred: &mut f64, adapts: bool) -> Result<()> {
        let line = Line::Bias(unit);
        let place = self.bias_references[unit];
        let proposal = Proposal::new(place, self.slopes(line, place - *centred));
        if adapts {
            self.bias_references[unit] += ADAPTS * (proposal.mode - place);
        }
        let new = proposal.draw(&student()?, &mut self.random);
        let by = new - *centred;
        let ratio = self.value(line, by) + proposal.log_density(*centred) - proposal.log_density(new);
        if self.accepts(ratio) {
            *centred = new;
            self.go(line, by)?;
        }
        Ok(())
    }
}

fn student() -> Result<StudentT<f64>> {
    StudentT::new(FREEDOM)
        .map_err(|error| Error::Numerical { method: super::NAME, problem: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_of_proposals_has_an_integral_of_one() {
        let proposal = Proposal { mode: 0.3, scale: 0.7 };
        let area: f64 =
            (-400_000..400_000).map(|k| proposal.log_density(f64::from(k) * 1e-3).exp() * 1e-3).sum();
        assert!((area - 1.0).abs() < 1e-8, "{area}");
    }
}
