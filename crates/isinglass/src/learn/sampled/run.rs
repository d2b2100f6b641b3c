//! The iterations: steps are made or taken back, and averaged in the end.

use serde::{Deserialize, Serialize};

use super::curvature::Centred;
use super::evaluation::Plan;
use super::finish::Finish;
use super::penalties::{Penalties, Slopes};
use crate::engine::sampling::Persistent;
use crate::engine::{Diagnostics, Engine, Guarantee, Temper};
use crate::learn::journal::{Ended, Iterated, are_within};
use crate::learn::notes::{about_likelihood, about_zeros};
use crate::learn::refit::without_zeros;
use crate::learn::selection::on_structure;
use crate::learn::{Fit, L1, Learner, PseudoLikelihood, Step, Stop};
use crate::likelihood::ClampedRows;
use crate::{Error, Machine, Result, Table};

/// States of all ladders in the first iterations, for each parameter and at least; they may be fewer
/// than the parameters where these are very many.
const STATES_PER_PARAMETER: usize = 8;
const FIRST_STATES: usize = 1 << 11;
const MOST_FIRST_STATES: usize = 1 << 13;

/// Iterations of the pseudo-likelihood that gives another start.
const RIVAL_ITERATIONS: usize = 100;

/// The share of a step that is made first.
const FIRST_RATE: f64 = 0.5;

/// States of all teams from which the curvature is estimated.
pub(super) const CURVATURE_STATES: usize = 4096;

/// What is added to the variance of each statistic, which is about 1: so many times parameters per
/// state, within limits. Of rare events few states are seen, so that their covariances are known
/// badly, and small eigenvalues worst of all: without it, steps are mostly noise.
const SHRINKAGE: f64 = 16.0;
const LEAST_SHRINKAGE: f64 = 0.05;
const MOST_SHRINKAGE: f64 = 5.0;

/// While the gradient is its sampling error alone, less is added, so that what varies little is
/// learned, too; where it has become larger again, more.
const LESS_SHRINKAGE: f64 = 0.8;
const MORE_SHRINKAGE: f64 = 1.3;

/// Iterations with no more than the sampling error before the final average begins.
const QUIET: usize = 12;

/// A step after which the likelihood is lower by more than this is taken back; the next is shorter.
const SLACK: f64 = 0.05;
const SHORTER: f64 = 0.25;
const LONGER: f64 = 1.5;

/// The states in the final average, in rows of the table, and their least and largest number.
const STATES_PER_ROW: f64 = 40.0;
const LEAST_STATES: usize = 1 << 15;
const MOST_STATES: usize = 1 << 20;

/// One in so many of them is drawn in an iteration, at most.
const LARGEST_SHARE: usize = 8;

/// Steps over which the final average goes, at least, and the share of each that is made.
const AVERAGED_STEPS: usize = 16;
const AVERAGED_SHARE: f64 = 0.5;

/// Energies beyond this leave the range of single precision.
const SCALE: f64 = 1e30;

/// A fit in progress.
pub(super) struct Run<'a> {
    pub(super) engine: &'a Temper,
    pub(super) clamped: &'a dyn Engine,
    pub(super) penalties: Penalties,
    pub(super) rows: ClampedRows,
    pub(super) machine: Machine,
    /// Another machine to begin with, if its moments are nearer to the table's.
    pub(super) rival: Option<Machine>,
    pub(super) state: Option<State>,
}

/// All that the next iteration depends on besides the machine.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct State {
    weights: Vec<f64>,
    biases: Vec<f64>,
    /// The next change of weights, then of biases.
    step: Vec<f64>,
    /// The same in centred coordinates, and the rise of the objective that its gradient promises.
    direction: Vec<f64>,
    slope: f64,
    /// The share of a step by the curvature that is made.
    rate: f64,
    slopes: Slopes,
    /// What is added to the variance of each statistic.
    shrinkage: f64,
    /// Iterations with no more than the sampling error.
    quiet: usize,
    chains: Persistent,
    /// States to be kept of each ladder in the next iteration.
    states: usize,
    /// Sums of weights, then biases, over the iterations of the final average, and their states.
    sums: Vec<f64>,
    summed: usize,
    /// In how many of them each weight was 0.
    zeros: Vec<usize>,
    summed_states: usize,
    /// What corrects their average, where rows are complete and couplings have no kink.
    finish: Option<Finish>,
    /// That of the machine.
    objective: f64,
    gradient_norm: f64,
    /// The share of the longest step that is allowed at present.
    trust: f64,
    /// The largest deviation of a moment, in standard errors of table and chains together.
    deviation: f64,
    is_done: bool,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        engine: &'a Temper,
        clamped: &'a dyn Engine,
        penalties: Penalties,
        start: &Machine,
        table: &Table,
    ) -> Result<Self> {
        let rows = ClampedRows::new(start, table)?;
        // The offset cancels; left out, it cannot take digits from the difference.
        let machine = start.clone().with_offset(0.0)?;
        let is_fresh = start.weights().iter().all(|&weight| weight == 0.0);
        let rival = (is_fresh && !rows.are_open()).then(|| {
            let Penalties { l2, l1 } = penalties;
            // Every coupling is in two conditionals.
            let l1 = (l1 > 0.0).then_some(L1::Weight(2.0 * l1));
            let learner = PseudoLikelihood::new().l2(l2).l1(l1).iterations(RIVAL_ITERATIONS);
            on_structure(&machine, &learner.fit(&machine, table)?.machine)
        });
        Ok(Self { engine, clamped, penalties, rows, rival: rival.transpose()?, machine, state: None })
    }

    /// The states over which parameters are averaged in the end.
    fn goal(&self) -> usize {
        ((STATES_PER_ROW * self.rows.total_weight) as usize).clamp(LEAST_STATES, MOST_STATES)
    }

    /// The most states of a ladder in an iteration.
    fn most_states(&self) -> usize {
        (self.goal() / (LARGEST_SHARE * 2 * self.engine.teams())).max(self.first_states())
    }

    /// States of a ladder in the first iterations.
    fn first_states(&self) -> usize {
        let parameters = self.machine.weights().len() + self.machine.unit_count();
        let all = (STATES_PER_PARAMETER * parameters).clamp(FIRST_STATES, MOST_FIRST_STATES);
        all.div_ceil(2 * self.engine.teams())
    }

    fn bytes(&self) -> u128 {
        let states = 2 * self.engine.teams() * self.most_states();
        let units = self.machine.unit_count();
        let finish = if self.is_smooth() { Finish::bytes(units, self.engine.teams()) } else { 0 };
        Centred::bytes(units, states) + finish
    }

    /// Whether the final average can be corrected: rows are complete and couplings have no kink.
    fn is_smooth(&self) -> bool {
        self.penalties.l1 == 0.0 && !self.rows.are_open()
    }

    /// Returns to the machine before the last step; the next is shorter.
    fn take_back(&mut self, iteration: usize) -> Result<Step> {
        let Some(state) = &mut self.state else { return Err(Error::checkpoint("it has no chains")) };
        self.machine = self.machine.clone().with_parameters(state.weights.clone(), state.biases.clone())?;
        state.step.iter_mut().chain(&mut state.direction).for_each(|x| *x *= SHORTER);
        state.slope *= SHORTER;
        state.rate *= SHORTER;
        state.trust *= SHORTER;
        // Its own estimate may have been too high by chance.
        state.objective -= SLACK;
        Ok(Step { iteration, objective: state.objective, gradient_norm: state.gradient_norm })
    }

    /// The fit that has ended.
    pub(super) fn fit(self, ended: Ended, table: &Table) -> Result<Fit> {
        let objective = ended.history.last().map(|step| step.objective);
        let penalty = self.penalties.of(self.machine.weights());
        let mut notes = about_likelihood(&self.machine, table);
        let mut machine = self.machine;
        if self.penalties.l1 > 0.0 {
            notes.push(about_zeros(machine.weights()));
            machine = without_zeros(&machine)?;
        }
        Ok(Fit {
            kept: ended.history.len() - 1,
            notes,
            log_likelihood: objective.map(|objective| objective + penalty),
            guarantee: Guarantee::Estimate,
            machine,
            history: ended.history,
            converged: ended.converged,
            stopped: ended.stopped,
            pseudo_log_likelihood: None,
            diagnostics: Diagnostics::direct(),
        })
    }
}

impl Iterated for Run<'_> {
    type Rest = Option<State>;

    fn rest(&self) -> impl Serialize {
        self.state.clone()
    }

    fn restore(&mut self, rest: Option<State>, _iteration: usize) -> Result<()> {
        let count = self.machine.weights().len() + self.machine.unit_count();
        if let Some(state) = &rest {
            Error::check_length("parameters of the state", state.step.len(), count)?;
            self.machine =
                self.machine.clone().with_parameters(state.weights.clone(), state.biases.clone())?;
        }
        self.state = rest;
        Ok(())
    }

    fn begin(&mut self) -> Result<Step> {
        let mut chains = self.engine.persistent(&self.machine, self.bytes())?;
        let rival = self.rival.take();
        let parameters = (self.machine.weights().len() + self.machine.unit_count()) as f64;
        let shrinkage = SHRINKAGE * parameters / CURVATURE_STATES as f64;
        let shrinkage = shrinkage.clamp(LEAST_SHRINKAGE, MOST_SHRINKAGE);
        let plan = Plan {
            states: self.first_states(),
            trust: 1.0,
            rate: FIRST_RATE,
            share: 1.0,
            slopes: &Slopes::default(),
            shrinkage,
            last: None,
            finish: None,
        };
        let mut found = self.evaluate(&mut chains, &plan, 1)?;
        if let Some(rival) = rival {
            let first = std::mem::replace(&mut self.machine, rival);
            let mut others = self.engine.persistent(&self.machine, self.bytes())?;
            let other = self.evaluate(&mut others, &plan, 1)?;
            if other.objective.is_finite() && other.signal < found.signal {
                (found, chains) = (other, others);
            } else {
                self.machine = first;
            }
        }
        self.state = Some(State {
            weights: self.machine.weights().to_vec(),
            biases: self.machine.biases().to_vec(),
            step: found.step,
            direction: found.direction,
            slope: found.slope,
            rate: found.rate,
            slopes: found.slopes,
            shrinkage,
            quiet: 0,
            chains,
            states: self.first_states(),
            sums: Vec::new(),
            summed: 0,
            zeros: Vec::new(),
            summed_states: 0,
            finish: None,
            objective: found.objective,
            gradient_norm: found.gradient_norm,
            trust: 1.0,
            deviation: found.deviation,
            is_done: false,
        });
        Ok(Step { iteration: 0, objective: found.objective, gradient_norm: found.gradient_norm })
    }

    fn advance(&mut self, iteration: usize) -> Result<Option<Step>> {
        let Some(mut state) = self.state.clone() else { return Ok(None) };
        let before = self.machine.clone();
        let is_averaging = !state.sums.is_empty();
        let (weights, biases) = state.step.split_at(before.weights().len());
        let add =
            |old: &[f64], step: &[f64]| -> Vec<f64> { old.iter().zip(step).map(|(x, d)| x + d).collect() };
        (state.weights, state.biases) = (add(&state.weights, weights), add(&state.biases, biases));
        if self.penalties.l1 > 0.0 {
            // What a step to 0 leaves is rounding.
            for (weight, step) in state.weights.iter_mut().zip(weights) {
                if weight.abs() <= 1e-9 * step.abs() {
                    *weight = 0.0;
                }
            }
        }
        let all: Vec<f64> = state.weights.iter().chain(&state.biases).copied().collect();
        if !are_within(&all, before.temperature(), SCALE) {
            return Ok(None);
        }
        self.machine = before.with_parameters(state.weights.clone(), state.biases.clone())?;
        let mut chains = state.chains.clone();
        let trust = (LONGER * state.trust).min(1.0);
        let last = Some((&state.direction[..], state.slope));
        let share = if is_averaging { AVERAGED_SHARE } else { 1.0 };
        let made = 2 * self.engine.teams() * state.states;
        let is_last = state.summed + 1 >= AVERAGED_STEPS && state.summed_states + made >= self.goal();
        let plan = Plan {
            states: state.states,
            trust,
            rate: state.rate,
            share,
            slopes: &state.slopes,
            shrinkage: state.shrinkage,
            last,
            finish: state.finish.as_ref().map(|sums| (sums, is_last)),
        };
        let found = self.evaluate(&mut chains, &plan, iteration + 1)?;
        let is_lower = !found.objective.is_finite() || found.objective < state.objective - SLACK;
        if is_lower && !is_averaging {
            return Ok(Some(self.take_back(iteration)?));
        }
        (state.chains, state.trust) = (chains, trust);
        (state.objective, state.gradient_norm) = (found.objective, found.gradient_norm);
        (state.step, state.deviation) = (found.step, found.deviation);
        (state.direction, state.slope, state.rate) = (found.direction, found.slope, found.rate);
        state.slopes = found.slopes;
        if is_averaging {
            state.sums.iter_mut().zip(&all).for_each(|(sum, x)| *sum += x);
            state
                .zeros
                .iter_mut()
                .zip(&state.weights)
                .for_each(|(count, w)| *count += usize::from(*w == 0.0));
            state.summed += 1;
            state.summed_states += made;
            state.finish = found.finish;
            state.is_done = is_last;
            if state.is_done {
                let mut mean: Vec<f64> = state.sums.iter().map(|sum| sum / state.summed as f64).collect();
                for (mean, &zeros) in mean.iter_mut().zip(&state.zeros) {
                    if 2 * zeros > state.summed {
                        *mean = 0.0;
                    }
                }
                for (mean, change) in mean.iter_mut().zip(found.correction.iter().flatten()) {
                    *mean += change;
                }
                let (weights, biases) = mean.split_at(state.weights.len());
                (state.weights, state.biases) = (weights.to_vec(), biases.to_vec());
                self.machine =
                    self.machine.clone().with_parameters(state.weights.clone(), state.biases.clone())?;
            }
        } else if found.is_noise {
            state.quiet += 1;
            state.shrinkage = (LESS_SHRINKAGE * state.shrinkage).max(LEAST_SHRINKAGE);
            if state.states >= self.most_states() && state.quiet >= QUIET {
                state.sums = vec![0.0; all.len()];
                state.zeros = vec![0; state.weights.len()];
                state.finish = self.is_smooth().then(Finish::default);
            } else {
                state.states = (2 * state.states).min(self.most_states());
            }
        } else if state.quiet > 0 {
            state.shrinkage = (MORE_SHRINKAGE * state.shrinkage).min(MOST_SHRINKAGE);
        }
        self.state = Some(state);
        Ok(Some(Step { iteration, objective: found.objective, gradient_norm: found.gradient_norm }))
    }

    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn converged(&self, _last: &Step, _tolerance: f64) -> Option<Stop> {
        let state = self.state.as_ref().filter(|state| state.is_done)?;
        Some(Stop::MomentsAgree { deviation: state.deviation })
    }

    fn rate(&self) -> Option<f64> {
        None
    }
}
