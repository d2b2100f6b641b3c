//! Pseudo-likelihood with hidden units and missing cells: expectation-maximisation on rows
//! completed by draws.

mod averages;
mod e_step;
mod m_step;
mod run;
#[cfg(test)]
mod tests;

use super::journal::{Limits, iterate};
use super::judge::some_rows;
use super::notes::about_likelihood;
use super::origin::Origin;
use super::{Checkpoint, Fit, L2, Learner, Observer, Period, penalty};
use crate::engine::{Diagnostics, Eliminate, Guarantee};
use crate::likelihood::pseudo_log_likelihood;
use crate::settings::{Settings, choices, constructors, range, settings};
use crate::{Error, Machine, Note, Result, Table};
use e_step::{Completed, EStep};
use m_step::Ascent;
use run::Run;

/// The name by which users choose the learner.
const NAME: &str = "pl-em";

/// Energies beyond this leave the range of single precision, in which chains are drawn.
const SCALE: f64 = 1e30;

/// Most rows on which the pseudo-likelihood of a machine with free units is computed.
const JUDGED_ROWS: usize = 100;

/// Learns machines with hidden units, and from rows with missing cells, by pseudo-likelihood
/// (Yasuda, Tannai and Tanaka 2012).
///
/// An iteration draws K states of the free units for every row given its cells, and treats the
/// completed rows as data. Their pseudo-likelihood (eq. 3.3)
///
/// ```text
/// Q(θ, w | θ*, w*) = 1/K Σ_k Σ_r w_r Σ_i ln P(s_i | rest of row r, completed by draw k) / Σ_r w_r
/// ```
///
/// is concave in the parameters and needs no partition sum; the M-step increases it. i runs over
/// visible and hidden units; missing cells are treated like hidden units.
/// `l2` is the λ of the penalty `λ/2 Σ w²`.
///
/// Draws are new in every iteration, so parameters fluctuate about a fixed point. Their average
/// over the last half of the iterations is the machine that is kept. The fit has converged when
/// that average moves by less than the tolerance per iteration, as a mean over all parameters (eq.
/// 4.2 for averages), measured between the two halves of the last half. Without free units, one
/// iteration finds the optimum of [`PseudoLikelihood`](super::PseudoLikelihood), and a second
/// confirms it.
///
/// # Complexity
/// Linear in the rows, in K and in the edges, for each iteration; with
/// [`Drawing::Exact`] also in the tables of the elimination order. *Memory*: two bytes for each unit of each of the K states of each row, and that of [`PseudoGain`](super::PseudoGain).
///
/// # Accuracy, and when it fails
/// It is neither maximum likelihood nor a bound; for ever more rows drawn from a machine of this
/// structure, the machine is a fixed point. With hidden units there are others, and the result
/// depends on the start, which must break the symmetry of hidden units: see
/// [`start`](super::start()) and [`Restarts`](super::Restarts). Where units are determined by
/// others, parameters grow without bound, unless `l2` keeps them small. Parameters that leave the
/// range of numbers end the fit with the result before; in the first iteration they are an error.
///
/// [`Step::objective`](super::Step::objective) is Q at the new parameters less the penalty, and [`Step::gradient_norm`](super::Step::gradient_norm)
/// the largest component of the gradient before the M-step; both have the noise of the draws.
/// [`Fit::log_likelihood`] is `None`.
/// [`Fit::pseudo_log_likelihood`] is that of visible cells with hidden units summed out, on up to 100 distinct rows, if draws are exact; otherwise `None`.
/// It belongs to the average that is kept, [`Fit::history`] and the machines shown to an observer
/// to the parameters of each iteration.
///
/// # Example
/// ```
/// use isinglass::{Table, learn, topology};
/// use isinglass::learn::{Learner, PseudoLikelihoodEm};
/// let table = Table::from_rows(["v0", "v1", "v2"], [[1, 1, 1], [1, 1, 1], [-1, -1, -1], [-1, -1, 0], [1, -1, 1]])?;
/// let start = learn::start(&topology::rbm(3, 1)?, &table, 0, 0)?;
/// let learner = PseudoLikelihoodEm::new().l2(0.01).iterations(50);
/// let fit = learner.fit(&start, &table)?;
/// assert!(fit.pseudo_log_likelihood > Some(-3.0 * 2f64.ln()), "better than coins");
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PseudoLikelihoodEm {
    pub(crate) settings: PlEmSettings,
}

settings! {
    /// Settings of [`PseudoLikelihoodEm`].
    pub struct PlEmSettings for PseudoLikelihoodEm {
        /// Penalise couplings with X/2 times the sum of their squares
        l2 (into): L2 = L2::Weight(0.0) => penalty::number,
        /// How hidden units and missing cells are drawn
        draws: Drawing = Drawing::Auto,
        /// with draws gibbs: sweeps from one draw to the next [default: 2]
        sweeps: Option<usize> = None => range::at_least_1,
        /// Draws for each row
        samples: usize = 3 => range::at_least_1,
        /// How far the pseudo-likelihood is climbed between draws
        m_step: MStep = MStep::Damped,
        /// with m-step gradient: the rate [default: 0.01]
        rate: Option<f64> = None => range::positive,
        /// Largest number of iterations
        iterations: usize = 500,
        /// Converged when averages of the parameters move by less in an iteration
        tolerance: f64 = 5e-4 => range::not_negative,
    }
    rust {
        /// τ of [`MStep::Damped`] in the first 100 iterations.
        reach: f64 = 0.2 => range::positive,
        /// Steps of [`MStep::Gradient`].
        gradient_steps: usize = 20 => range::at_least_1,
        /// Largest number of steps of [`MStep::Lbfgs`].
        lbfgs_steps: usize = 1000 => range::at_least_1,
        /// [`MStep::Lbfgs`] stops when no component of the gradient is larger.
        lbfgs_tolerance: f64 = 1e-9 => range::not_negative,
    }
    common { seed, budget }
    also PlEmSettings::check_together;
}

constructors!(PseudoLikelihoodEm(PlEmSettings));

choices! {
    /// How hidden units and missing cells are drawn given the cells of a row.
    pub enum Drawing = Auto {
        /// Exact where the graph of the free units has an elimination order of width 8 or less for every
        /// pattern of missing cells and networks fit the budget, otherwise gibbs with 2 sweeps.
        Auto = "auto",
        /// Independent draws from the exact conditional distribution, by elimination and back.
        Exact = "exact",
        /// Gibbs chains that start, at every iteration, in the state that max-product finds (eqs. 3.5–3.8).
        Gibbs = "gibbs",
    }
}

choices! {
    /// How far the pseudo-likelihood is climbed between draws.
    pub enum MStep = Damped {
        /// To the maximum of the pseudo-likelihood less a penalty on the distance from the last parameters.
        Damped = "damped",
        /// To the maximum, by limited-memory BFGS.
        Lbfgs = "lbfgs",
        /// 20 steps along the gradient, as in the source.
        Gradient = "gradient",
    }
}

impl PlEmSettings {
    fn check_together(&self) -> Result<()> {
        if self.sweeps.is_some() && self.draws == Drawing::Exact {
            return Err(Error::requires("sweeps", "draws", "gibbs"));
        }
        if self.rate.is_some() && self.m_step != MStep::Gradient {
            return Err(Error::requires("rate", "m_step", "gradient"));
        }
        Ok(())
    }

    fn e_step(&self) -> EStep {
        match (self.draws, self.sweeps) {
            (Drawing::Exact, _) => EStep::Exact,
            // Sweeps are given, and exact draws have none.
            (Drawing::Auto, Some(sweeps)) => EStep::Gibbs { sweeps },
            (Drawing::Auto, None) => EStep::Auto,
            (Drawing::Gibbs, sweeps) => EStep::Gibbs { sweeps: sweeps.unwrap_or(e_step::SWEEPS) },
        }
    }

    fn ascent(&self) -> Ascent {
        match self.m_step {
            MStep::Damped => Ascent::Damped { reach: self.reach },
            MStep::Lbfgs => Ascent::Lbfgs { most: self.lbfgs_steps, tolerance: self.lbfgs_tolerance },
            MStep::Gradient => Ascent::Steps { count: self.gradient_steps, rate: self.rate.unwrap_or(0.01) },
        }
    }
}

impl Learner for PseudoLikelihoodEm {
    fn name(&self) -> &'static str {
        NAME
    }

    fn fit_from(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        self.validate()?;
        start.check_scale(NAME, SCALE)?;
        let completed = Completed::new(self, start, table)?;
        let origin = self.origin(start, table, &completed);
        let limits =
            Limits { iterations: self.iterations, tolerance: self.tolerance, period: Period::Iteration };
        let mut run = Run::new(self, start, completed);
        let ended = iterate(NAME, &mut run, (origin, limits), from, observer)?;
        let (parameters, completed) = (run.kept(), run.completed());
        let machine = completed.gain().machine_of(&parameters)?;
        let mut notes = about_likelihood(&machine, table);
        notes.extend(completed.note());
        let pseudo_log_likelihood = if !completed.is_random() {
            Some(completed.gain().average(&parameters))
        } else if completed.is_exact() {
            let judged = some_rows(table, JUDGED_ROWS)?;
            let (some, all) = (judged.distinct_count(), completed.distinct_rows());
            if some < all {
                notes.push(Note::PseudoLikelihoodOfSome { rows: some, of: all });
            }
            Some(pseudo_log_likelihood(&machine, &judged, &Eliminate::new().budget(self.budget))?)
        } else {
            None
        };
        Ok(Fit {
            kept: ended.history.len() - 1,
            history: ended.history,
            converged: ended.converged,
            stopped: ended.stopped,
            log_likelihood: None,
            guarantee: Guarantee::Approximation,
            pseudo_log_likelihood,
            diagnostics: Diagnostics::direct(),
            notes,
            machine,
        })
    }
}

impl PseudoLikelihoodEm {
    fn origin<'o>(&self, start: &'o Machine, table: &'o Table, completed: &Completed) -> Origin<'o> {
        let settings = [
            ("E-step", format!("{:?}", self.e_step())),
            // What is chosen by itself depends on the budget.
            ("draws", completed.drawing()),
            ("draws a row", self.samples.to_string()),
            ("M-step", format!("{:?}", self.ascent())),
            ("l2", format!("{:?}", self.l2.weight())),
            ("seed", self.seed.to_string()),
        ];
        Origin::new(NAME, start, table, settings)
    }
}
