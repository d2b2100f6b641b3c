//! What samplers find for a row of evidence, and the answers of engines from it.

use std::sync::Arc;

use rayon::prelude::*;

use super::kernel::{Couplings, Model};
use crate::engine::expectations::{StandardErrors, each_pair};
use crate::engine::fields::Fields;
use crate::engine::parts::Part;
use crate::engine::{Ask, Diagnostics, Expectations, Guarantee, JointTable, PairMoments, Pairs};
use crate::numeric::stable::{log_cosh, log_sigmoid_twice};
use crate::table::Batch;
use crate::{Error, Machine, Result};

/// An average with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::engine) struct Average {
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

/// Averages over sampled states of the free units, which are named by their places.
pub(in crate::engine) trait Sampled: Sync {
    fn unit(&self, place: usize) -> Average;
    fn pair(&self, a: usize, b: usize) -> Average;
    /// The probabilities of the joint states of some places, in counting order.
    fn joint(&self, places: &[usize]) -> Vec<Average>;
    fn diagnostics(&self) -> Diagnostics;
}

/// The solution of a row of evidence.
pub(in crate::engine) struct Solution<R> {
    /// For each unit, its place among the free units or its value.
    pub(super) places: Vec<Result<usize, f64>>,
    pub(super) log_z: Average,
    pub(super) found: Found<R>,
}

/// What is known of the free units.
pub(in crate::engine) enum Found<R> {
    /// Without couplings: the field on each.
    Apart(Vec<f64>),
    Sampled(R),
}

impl<R: Sampled> Solution<R> {
    /// Solves a row: exactly where no two free units are coupled, elsewhere by samples.
    ///
    /// *Arguments*: the sampler, which gets the model of the free units, and log Z without couplings
    /// in two parts: that of the free units, and the constants of the row. It returns log Z.
    pub(super) fn new(
        machine: &Machine,
        row: &[i8],
        couplings: &Arc<Couplings>,
        sample: impl FnOnce(&Model, [f64; 2]) -> (Average, R),
    ) -> Self {
        let Fields { free, shifts: [shift], .. } = Fields::<1>::new(machine, &couplings.order, &[row]);
        let places = couplings.places(row);
        let apart: f64 = free.iter().map(|h| std::f64::consts::LN_2 + log_cosh(h[0])).sum();
        if couplings.are_none() {
            let fields = free.iter().map(|field| field[0]).collect();
            return Self { places, log_z: Average::known(apart + shift), found: Found::Apart(fields) };
        }
        let (log_z, found) = sample(&Model::new(machine, row, couplings), [apart, shift]);
        Self { places, log_z, found: Found::Sampled(found) }
    }

    fn unit(&self, unit: usize) -> Average {
        match (self.places[unit], &self.found) {
            (Err(value), _) => Average::known(value),
            (Ok(place), Found::Apart(fields)) => Average::known(fields[place].tanh()),
            (Ok(place), Found::Sampled(found)) => found.unit(place),
        }
    }

    fn pair(&self, a: usize, b: usize) -> Average {
        match (self.places[a], self.places[b], &self.found) {
            (Ok(p), Ok(q), Found::Sampled(found)) => found.pair(p, q),
            _ => self.unit(a).times(self.unit(b)),
        }
    }

    /// The probabilities of the joint states of some free units, in counting order.
    fn joint(&self, ask: &[usize]) -> Vec<Average> {
        let places: Vec<usize> = ask.iter().filter_map(|&unit| self.places[unit].ok()).collect();
        let fields = match &self.found {
            Found::Apart(fields) => fields,
            Found::Sampled(found) => return found.joint(&places),
        };
        let probability = |number: usize| {
            let units = places.iter().zip(JointTable::state(places.len(), number));
            let log: f64 = units.map(|(&k, s)| log_sigmoid_twice(f64::from(s) * fields[k])).sum();
            Average::known(log.exp())
        };
        (0..1 << places.len()).map(probability).collect()
    }

    pub(super) fn guarantee(&self) -> Guarantee {
        match self.found {
            Found::Apart(_) => Guarantee::Exact,
            Found::Sampled(_) => Guarantee::Estimate,
        }
    }

    pub(super) fn diagnostics(&self) -> Diagnostics {
        match &self.found {
            Found::Apart(_) => Diagnostics::direct(),
            Found::Sampled(found) => found.diagnostics(),
        }
    }
}

/// The answer for one evidence.
pub(super) fn expectations(answer: &Solution<impl Sampled>, machine: &Machine, pairs: Pairs) -> Expectations {
    let units: Vec<_> = (0..machine.unit_count()).into_par_iter().map(|unit| answer.unit(unit)).collect();
    let mut wanted = Vec::with_capacity(PairMoments::count(pairs, machine.graph()));
    each_pair(pairs, machine.graph(), |a, b| wanted.push((a, b)));
    let couples: Vec<_> = wanted.par_iter().map(|&(a, b)| answer.pair(a, b)).collect();
    let guarantee = answer.guarantee();
    let errors = || StandardErrors {
        log_z: Some(answer.log_z.standard_error),
        means: units.iter().map(|unit| unit.standard_error).collect(),
        correlations: couples.iter().map(|pair| pair.standard_error).collect(),
    };
    Expectations {
        log_z: Some(answer.log_z.mean),
        means: units.iter().map(|unit| unit.mean).collect(),
        correlations: PairMoments { pairs, values: couples.iter().map(|pair| pair.mean).collect() },
        guarantee,
        errors: (guarantee == Guarantee::Estimate).then(errors),
        diagnostics: answer.diagnostics(),
    }
}

/// Adds the answer for a row of a batch to its part.
pub(super) fn add_row(
    answer: &Solution<impl Sampled>,
    machine: &Machine,
    (batch, place): (&Batch, usize),
    ask: Ask,
    part: &mut Part,
) {
    part.log_z.push(answer.log_z.mean);
    part.log_z_errors.push(answer.log_z.standard_error);
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
pub(super) fn joint_table(answer: &Solution<impl Sampled>, ask: &[usize]) -> JointTable {
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
