//! Learner `mean-field-cd`: contrastive divergence with means in place of samples.

use serde::Serialize;

use super::data::Data;
use super::mean_field_rows::{Away, Sums, Wiring};
use crate::engine::{Diagnostics, Guarantee, Iteration};
use crate::learn::journal::{Iterated, Limits, are_within, iterate};
use crate::learn::notes::about_likelihood;
use crate::learn::origin::Origin;
use crate::learn::trained::Trained;
use crate::learn::{Checkpoint, Fit, L2, Learner, Observer, Period, Step, Stop, penalty};
use crate::settings::{Settings, constructors, range, settings};
use crate::{Error, Machine, Result, Table};

/// The name by which users choose the learner.
const NAME: &str = "mean-field-cd";

/// Energies beyond this leave too few digits of a field.
const SCALE: f64 = 1e100;

/// Learns by contrastive divergence with mean field in both phases (Welling and Hinton 2002),
/// without sampling.
///
/// ```text
/// Δw_ij ∝ ( ⟨m_i m_j⟩_clamped − ⟨m_i m_j⟩_after k sweeps ) / (T (1 − d)) − λ w_ij
/// m_i ← d m_i + (1 − d) tanh((θ_i + Σ_j w_ij m_j) / T)   in the sweeps
/// v ← μ v + η Δw,   w ← w + v
/// ```
///
/// averaged over rows with their weights. In the clamped phase hidden units and missing cells are
/// at the fixed point of mean field given the row. Then follow k sweeps, unit by unit, each with
/// the newest means of the others: visible units first, then hidden ones; input cells stay.
///
/// # Damping
/// d = 0 is the plain reconstruction. A product of two reconstructed means lacks the correlation
/// left between them, so that couplings come out too large: for two units of small correlation c,
/// as `c^(1/3)`. Towards d = 1 this error vanishes, to a factor of `1/d` for small c, and without
/// hidden units the gradient becomes that of the pseudo-likelihood. The default is 0.9.
///
/// # Objective
/// The average over rows of the sum over visible cells of `ln P(s_i | all others)`, with hidden
/// units and missing cells at their clamped means. Without these it is the pseudo-log-likelihood.
/// The fit looks for a zero of its own gradient, which is not that of the objective: the objective
/// may fall.
///
/// # Complexity
/// `2 (k + 2)` multiplications per edge for each row and iteration, and as many for each sweep that
/// hidden units need to converge. *Memory*: a byte per cell, up to thirty numbers per parameter.
///
/// # Accuracy, and when it fails
/// Good for weak couplings, worse than the pseudo-likelihood for strong ones. With hidden units the
/// zero of the gradient may be far from a maximum of the likelihood, which rises at first and falls
/// later: a few hundred iterations at a small rate, the default, are better than convergence. The
/// machine of the last iteration is kept. If parameters diverge, the fit ends with the machine of
/// the iteration before and says so; in the first iteration it is an error.
///
/// # Example
/// ```
/// use isinglass::{Machine, Table, topology};
/// use isinglass::learn::{Learner, MeanFieldCd};
/// let table = Table::from_rows(["a", "b"], [[1, 1], [1, 1], [-1, -1], [1, -1], [-1, 1], [-1, -1]])?;
/// let start = topology::full(2).with_names(["a", "b"])?;
/// let learner = MeanFieldCd::new().iterations(5000);
/// let fit = learner.fit(&start, &table)?;
/// assert!(fit.converged);
/// let best = (1.0f64 / 3.0).atanh();
/// assert!((fit.machine.weights()[0] / best - 1.0).abs() < 0.15);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MeanFieldCd {
    pub(crate) settings: MeanFieldCdSettings,
}

settings! {
    /// Settings of [`MeanFieldCd`].
    pub struct MeanFieldCdSettings for MeanFieldCd {
        /// Penalise couplings with X/2 times the sum of their squares
        l2 (into): L2 = L2::Weight(0.0) => penalty::number,
        /// The rate
        rate: f64 = 0.02 => range::positive,
        /// Share of the last step that is kept, below 1
        momentum: f64 = 0.0 => range::below_1,
        /// Largest number of iterations
        iterations: usize = 500,
        /// Converged when no component of the gradient is larger
        tolerance: f64 = 1e-5 => range::not_negative,
        /// Sweeps from the rows to the machine's own states
        steps: usize = 1 => range::at_least_1,
    }
    rust {
        /// The share d of the old mean that a unit keeps in these sweeps, from 0 to below 1.
        damping: f64 = 0.9 => range::below_1,
        /// Distinct rows of a mini-batch, in the order of the table; all of them by default.
        batch: Option<usize> = None => range::at_least_1,
    }
    common { budget }
}

constructors!(MeanFieldCd(MeanFieldCdSettings));

impl Learner for MeanFieldCd {
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
        let mut run = Run::new(self, start, table)?;
        let limits =
            Limits { iterations: self.iterations, tolerance: self.tolerance, period: Period::Iteration };
        let ended = iterate(NAME, &mut run, (self.origin(start, table), limits), from, observer)?;
        let sums = run.sums;
        let iteration =
            Iteration { sweeps: sums.sweeps, residual: sums.residual, damping: 0.0, oscillated: false };
        let stopped = match (ended.converged, sums.settled()) {
            (true, false) => Stop::HiddenUnsettled(ended.stopped.into()),
            _ => ended.stopped,
        };
        Ok(Fit {
            kept: ended.history.len() - 1,
            converged: ended.converged && sums.settled(),
            stopped,
            log_likelihood: None,
            guarantee: Guarantee::Approximation,
            pseudo_log_likelihood: None,
            diagnostics: Diagnostics::iterated(sums.settled(), iteration),
            notes: about_likelihood(&run.machine, table),
            machine: run.machine,
            history: ended.history,
        })
    }
}

impl MeanFieldCd {
    fn origin<'o>(&self, start: &'o Machine, table: &'o Table) -> Origin<'o> {
        let settings = [
            ("steps", self.steps.to_string()),
            ("damping", format!("{:?}", self.damping)),
            ("rate", format!("{:?}", self.rate)),
            ("momentum", format!("{:?}", self.momentum)),
            ("l2", format!("{:?}", self.l2.weight())),
            ("batch", self.batch.map_or_else(|| "of all rows".into(), |rows| rows.to_string())),
        ];
        Origin::new(NAME, start, table, settings)
    }

    fn away(&self) -> Away {
        Away { steps: self.steps, damping: self.damping }
    }
}

/// A fit in progress.
struct Run<'a> {
    settings: &'a MeanFieldCd,
    trained: Trained,
    wiring: Wiring,
    data: Data,
    /// All rows that have weight.
    rows: Vec<u32>,
    parameters: Vec<f64>,
    velocity: Vec<f64>,
    machine: Machine,
    /// The sums over all rows at this machine.
    sums: Sums,
}

impl<'a> Run<'a> {
    fn new(settings: &'a MeanFieldCd, start: &Machine, table: &Table) -> Result<Self> {
        let cells = table.distinct_count() as u128 * start.unit_count() as u128;
        let needed = 2 * cells + Wiring::bytes(start);
        settings.budget.check(NAME, needed, || {
            format!("{cells} cells, with the moments of {} edges,", start.graph().edges().len())
        })?;
        let data = Data::new(start, table)?;
        let trained = Trained::of(start);
        let parameters = trained.parameters_of(start);
        let wiring = Wiring::new(start);
        let rows: Vec<u32> = (0..data.shares.len() as u32).collect();
        Ok(Self {
            settings,
            velocity: vec![0.0; parameters.len()],
            parameters,
            sums: wiring.sums(start, &data, &rows, settings.away()),
            machine: start.clone(),
            trained,
            wiring,
            data,
            rows,
        })
    }

    /// The gradient of rows with a share of the total weight, penalty included.
    fn gradient(&self, machine: &Machine, sums: &Sums, share: f64) -> Vec<f64> {
        let (pairs, singles) = sums.moments.split_at(machine.graph().edges().len());
        let scale = 1.0 / (machine.temperature() * share * (1.0 - self.settings.damping));
        let (edges, weights) = (self.trained.edges.iter(), machine.weights());
        let pairs = edges.map(|&edge| scale * pairs[edge] - self.settings.l2.weight() * weights[edge]);
        pairs.chain(self.trained.biases.iter().map(|&unit| scale * singles[unit])).collect()
    }

    /// The step of a machine with its sums over all rows; `None` if it is not finite.
    fn judge(&self, iteration: usize, machine: &Machine, sums: &Sums) -> Option<Step> {
        let gradient = self.gradient(machine, sums, 1.0);
        let gradient_norm = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        let is_finite = sums.value.is_finite() && gradient.iter().all(|g| g.is_finite());
        is_finite.then_some(Step { iteration, objective: sums.value, gradient_norm })
    }

    fn sums_of(&self, machine: &Machine, rows: &[u32]) -> Sums {
        self.wiring.sums(machine, &self.data, rows, self.settings.away())
    }
}

impl Iterated for Run<'_> {
    /// Parameters and velocities.
    type Rest = (Vec<f64>, Vec<f64>);

    fn rest(&self) -> impl Serialize {
        (&self.parameters, &self.velocity)
    }

    fn restore(&mut self, (parameters, velocity): Self::Rest, _iteration: usize) -> Result<()> {
        let count = self.parameters.len();
        Error::check_length("parameters of the state", parameters.len(), count)?;
        Error::check_length("velocities of the state", velocity.len(), count)?;
        self.machine = self.trained.machine_of(&parameters)?;
        self.sums = self.sums_of(&self.machine, &self.rows);
        (self.parameters, self.velocity) = (parameters, velocity);
        Ok(())
    }

    fn begin(&mut self) -> Result<Step> {
        let problem = "the gradient is not finite at the start";
        self.judge(0, &self.machine, &self.sums)
            .ok_or_else(|| Error::Numerical { method: NAME, problem: problem.into() })
    }

    /// Takes a step, or one for each mini-batch.
    fn advance(&mut self, iteration: usize) -> Result<Option<Step>> {
        let size = self.settings.batch.unwrap_or(self.rows.len());
        let whole = size >= self.rows.len();
        let (mut parameters, mut velocity) = (self.parameters.clone(), self.velocity.clone());
        let mut machine = self.machine.clone();
        for rows in self.rows.chunks(size) {
            let gradient = if whole {
                self.gradient(&machine, &self.sums, 1.0)
            } else {
                let share = rows.iter().map(|&row| self.data.shares[row as usize]).sum();
                self.gradient(&machine, &self.sums_of(&machine, rows), share)
            };
            for ((x, v), g) in parameters.iter_mut().zip(&mut velocity).zip(gradient) {
                *v = self.settings.momentum * *v + self.settings.rate * g;
                *x += *v;
            }
            if !are_within(&parameters, machine.temperature(), SCALE) {
                return Ok(None);
            }
            machine = self.trained.machine_of(&parameters)?;
        }
        let sums = self.sums_of(&machine, &self.rows);
        let step = self.judge(iteration, &machine, &sums);
        if step.is_some() {
            (self.parameters, self.velocity, self.machine, self.sums) = (parameters, velocity, machine, sums);
        }
        Ok(step)
    }

    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn converged(&self, last: &Step, tolerance: f64) -> Option<Stop> {
        (last.gradient_norm <= tolerance).then_some(Stop::Gradient { tolerance })
    }

    fn rate(&self) -> Option<f64> {
        Some(self.settings.rate)
    }
}
