//! What samplers find for a row of evidence, and the answers of engines from it.

use rayon::prelude::*;

use crate::engine::expectations::{StandardErrors, each_pair};
use crate::engine::parts::Part;
use crate::engine::{Ask, Diagnostics, Expectations, Guarantee, JointTable, PairMoments, Pairs};
use crate::table::Batch;
use crate::{Error, Machine, Result};

/// An average with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Average {
    pub(super) mean: f64,
    pub(super) standard_error: f64,
}

impl Average {
    /// Of an exact value.
    pub(super) fn known(mean: f64) -> Self {
        Self { mean, standard_error: 0.0 }
    }

    /// Of the product of two, of which at least one is exact; if the other is not, it is −1 or +1.
    pub(super) fn times(self, other: Self) -> Self {
        Self { mean: self.mean * other.mean, standard_error: self.standard_error.max(other.standard_error) }
    }
}

/// The solution of a row of evidence.
pub(super) trait Answer: Sync {
    fn log_z(&self) -> Average;
    fn unit(&self, unit: usize) -> Average;
    fn pair(&self, a: usize, b: usize) -> Average;
    /// The probabilities of the joint states of some free units, in counting order.
    fn joint(&self, ask: &[usize]) -> Vec<Average>;
    fn guarantee(&self) -> Guarantee;
    fn diagnostics(&self) -> Diagnostics;
}

/// The answer for one evidence.
pub(super) fn expectations(answer: &impl Answer, machine: &Machine, pairs: Pairs) -> Expectations {
    let units: Vec<_> = (0..machine.unit_count()).into_par_iter().map(|unit| answer.unit(unit)).collect();
    let mut wanted = Vec::with_capacity(PairMoments::count(pairs, machine.graph()));
    each_pair(pairs, machine.graph(), |a, b| wanted.push((a, b)));
    let couples: Vec<_> = wanted.par_iter().map(|&(a, b)| answer.pair(a, b)).collect();
    let guarantee = answer.guarantee();
    let errors = || StandardErrors {
        log_z: Some(answer.log_z().standard_error),
        means: units.iter().map(|unit| unit.standard_error).collect(),
        correlations: couples.iter().map(|pair| pair.standard_error).collect(),
    };
    Expectations {
        log_z: Some(answer.log_z().mean),
        means: units.iter().map(|unit| unit.mean).collect(),
        correlations: PairMoments { pairs, values: couples.iter().map(|pair| pair.mean).collect() },
        guarantee,
        errors: (guarantee == Guarantee::Estimate).then(errors),
        diagnostics: answer.diagnostics(),
    }
}

/// Adds the answer for a row of a batch to its part.
pub(super) fn add_row(
    answer: &impl Answer,
    machine: &Machine,
    (batch, place): (&Batch, usize),
    ask: Ask,
    part: &mut Part,
) {
    part.log_z.push(answer.log_z().mean);
    part.log_z_errors.push(answer.log_z().standard_error);
    part.guarantee = part.guarantee.and(answer.guarantee());
    part.diagnostics = part.diagnostics.and(answer.diagnostics());
    if !(ask.statistics || ask.means) {
        return;
    }
    let means: Vec<f64> = (0..machine.unit_count()).map(|unit| answer.unit(unit).mean).collect();
    if let Some(sums) = &mut part.statistics {
        let edges = machine.graph().edges().iter();
        let edges: Vec<f64> = edges.map(|&(a, b)| answer.pair(a, b).mean).collect();
        sums.add(&means, &edges, batch.weights()[place]);
    }
    if ask.means {
        part.means.extend(means);
    }
}

/// Refuses more joint states than there are samples.
pub(super) fn check_states(who: &'static str, asked: usize, samples: usize, noun: &str) -> Result<()> {
    if asked < 63 && 1 << asked <= samples {
        return Ok(());
    }
    Err(Error::CannotDo {
        who,
        what: format!("tell apart the 2^{asked} states of {asked} units"),
        why: format!(
            "it makes only {samples} {noun}; ask for fewer units, or take more {noun} or an exact engine"
        ),
    })
}

/// The table of joint probabilities.
pub(super) fn joint_table(answer: &impl Answer, ask: &[usize]) -> JointTable {
    let shares = answer.joint(ask);
    let guarantee = answer.guarantee();
    let errors = || shares.iter().map(|share| share.standard_error).collect();
    JointTable {
        units: ask.to_vec(),
        probabilities: shares.iter().map(|share| share.mean).collect(),
        errors: (guarantee == Guarantee::Estimate).then(errors),
        guarantee,
        diagnostics: answer.diagnostics(),
    }
}
