//! Learners whose penalties can be chosen, each with its criterion for held-out rows.

use super::Penalised;
use crate::learn::{
    L1, Learner, Likelihood, LikelihoodSettings, Objective, PseudoGain, PseudoLikelihood,
    PseudoLikelihoodSettings,
};
use crate::likelihood::{Conditionals, Phases, log_likelihoods};
use crate::{Error, Machine, Result, Role, Table};

/// The tolerance of the fits of a path, which are compared and not kept: held-out values are off by
/// less than this, far below their standard errors.
const ON_THE_WAY: f64 = 1e-5;

/// [`PseudoLikelihood`] for penalties of one kind; held-out rows count by their
/// pseudo-log-likelihood. Rows must be complete.
#[derive(Debug, Clone, Copy)]
pub struct PenalisedPseudoLikelihood {
    settings: PseudoLikelihoodSettings,
    is_l1: bool,
}

impl PenalisedPseudoLikelihood {
    /// With the penalty of [`L2`](crate::learn::L2); other settings are those given.
    #[must_use]
    pub fn l2(settings: PseudoLikelihoodSettings) -> Self {
        Self { settings, is_l1: false }
    }

    /// With the penalty of [`L1`]; other settings are those given.
    #[must_use]
    pub fn l1(settings: PseudoLikelihoodSettings) -> Self {
        Self { settings, is_l1: true }
    }

    fn with(&self, penalty: f64) -> PseudoLikelihood {
        let settings = self.settings.tolerance(self.settings.tolerance.max(ON_THE_WAY));
        PseudoLikelihood::from(if self.is_l1 {
            settings.l1(Some(L1::Weight(penalty)))
        } else {
            settings.l2(penalty)
        })
    }
}

impl Penalised for PenalisedPseudoLikelihood {
    fn fit(&self, penalty: f64, from: &Machine, table: &Table) -> Result<Machine> {
        let found = self.with(penalty).fit(from, table)?.machine;
        on_structure(from, &found)
    }

    fn values(&self, machine: &Machine, table: &Table) -> Result<Vec<f64>> {
        pseudo_log_likelihoods(machine, table)
    }

    /// For `l1` the largest slope of a coupling where there are none: no coupling leaves 0 below it.
    fn strongest(&self, start: &Machine, table: &Table) -> Result<f64> {
        if !self.is_l1 {
            return Ok(strongest_l2(start));
        }
        let alone =
            start.clone().with_parameters(vec![0.0; start.weights().len()], start.biases().to_vec())?;
        let gain = PseudoGain::new(&alone, table, 0.0, self.settings.budget)?;
        let parameters = gain.parameters_of(&alone);
        let mut gradient = vec![0.0; parameters.len()];
        gain.value_and_gradient(&parameters, &mut gradient)?;
        Ok(gradient[..gain.couplings()].iter().fold(0.0, |most: f64, slope| most.max(slope.abs())))
    }
}

/// [`Likelihood`] with the expectations of engines, for penalties of one kind.
///
/// Held-out rows count by their log-likelihood where the engines are exact; otherwise by their
/// pseudo-log-likelihood, since approximate likelihoods overstate the machines that the engine is
/// bad at.
pub struct PenalisedLikelihood<'a> {
    phases: Phases<'a>,
    settings: LikelihoodSettings,
    is_l1: bool,
}

impl<'a> PenalisedLikelihood<'a> {
    /// With an engine for each phase, for the penalty of [`L2`](crate::learn::L2); other settings
    /// are those given.
    #[must_use]
    pub fn l2(phases: Phases<'a>, settings: LikelihoodSettings) -> Self {
        Self { phases, settings, is_l1: false }
    }

    /// The same for the penalty of [`L1`].
    #[must_use]
    pub fn l1(phases: Phases<'a>, settings: LikelihoodSettings) -> Self {
        Self { phases, settings, is_l1: true }
    }
}

impl Penalised for PenalisedLikelihood<'_> {
    fn fit(&self, penalty: f64, from: &Machine, table: &Table) -> Result<Machine> {
        let settings = self.settings.tolerance(self.settings.tolerance.max(ON_THE_WAY));
        let settings = if self.is_l1 { settings.l1(Some(L1::Weight(penalty))) } else { settings.l2(penalty) };
        let found = Likelihood::with_phases(self.phases).with_settings(settings).fit(from, table)?.machine;
        on_structure(from, &found)
    }

    fn values(&self, machine: &Machine, table: &Table) -> Result<Vec<f64>> {
        if self.phases.free.is_exact() && self.phases.clamped.is_exact() {
            return Ok(log_likelihoods(machine, table, self.phases)?.values);
        }
        pseudo_log_likelihoods(machine, table)
    }

    /// For `l1` the largest slope of a coupling where there are none: the covariance of two units,
    /// at most 1 / T.
    fn strongest(&self, start: &Machine, _table: &Table) -> Result<f64> {
        Ok(if self.is_l1 { 1.0 / start.temperature() } else { strongest_l2(start) })
    }

    fn is_warm(&self, start: &Machine) -> bool {
        start.with_role(Role::Hidden).next().is_none()
    }
}

/// A penalty under which couplings are a tenth of what the rows would make them.
fn strongest_l2(start: &Machine) -> f64 {
    10.0 / start.temperature().powi(2)
}

/// A machine with the structure of another, in which couplings that it lacks are 0: those that have
/// left the graph may return under weaker penalties.
pub(in crate::learn) fn on_structure(structure: &Machine, machine: &Machine) -> Result<Machine> {
    let weight = |&(a, b): &(usize, usize)| {
        machine.graph().edge_between(a, b).map_or(0.0, |edge| machine.weights()[edge])
    };
    let weights = structure.graph().edges().iter().map(weight).collect();
    structure.clone().with_parameters(weights, machine.biases().to_vec())
}

/// The pseudo-log-likelihood of each distinct row.
fn pseudo_log_likelihoods(machine: &Machine, table: &Table) -> Result<Vec<f64>> {
    if machine.with_role(Role::Hidden).next().is_some() || table.missing_count() > 0 {
        return Err(Error::CannotDo {
            who: "pseudo-likelihood",
            what: "judge held-out rows with hidden units or missing cells".into(),
            why: "it is that of complete rows; an exact engine sums them out".into(),
        });
    }
    let (cells, _) = table.cells_for(machine)?;
    let units: Vec<usize> = machine.with_role(Role::Visible).collect();
    let rows: Vec<&[i8]> = cells.chunks_exact(machine.unit_count().max(1)).collect();
    Ok(Conditionals::new(machine).of_rows(&rows, &units))
}
