//! Engine `enumerate`: every state of the free units, once.
//!
//! `problem` prepares the walk, `blocks` walks through the states in tables that fit the innermost
//! cache; `moments` sums over them, `states` finds the mode and draws, `thermal`
//! sums at many temperatures; `single` puts one row of
//! evidence on all lanes and cores, `rows` a batch.

mod blocks;
mod moments;
mod problem;
mod rows;
mod single;
mod states;
mod thermal;

use self::moments::Order;
use self::single::RowMoments;
use crate::engine::exact::ExactSettings;
use crate::engine::scan::Scanner;
use crate::engine::{
    Ask, BatchExpectations, Diagnostics, Engine, Expectations, Guarantee, ModeFinder, PairMoments, Pairs,
    Sampler,
};
use crate::settings::constructors;
use crate::table::Batch;
use crate::{Error, Evidence, Machine, Result, Work};

/// Exact answers for any graph by summing over all states of the free units.
///
/// *Complexity*: `O(2^f)` for f free units, all moments together; on all cores.
/// *Memory*: constant; the budget counts the 2^f states at 8 bytes each, to limit the work.
/// *Accuracy*: 1e-9 and better; where energies divided by T exceed 1e6, so that their differences
/// lose these digits, the answer is an `approximation`. Pinned units do not count.
/// *When it fails*: beyond about 27 free units (1 GiB) it refuses and reports what it would need.
///
/// # Example
/// ```
/// use isinglass::{Budget, Engine, Enumerate, Evidence, Pairs, topology};
/// let glass = topology::sherrington_kirkpatrick(12, 1.0, 0)?;
/// let answer = Enumerate::default().expectations(&glass, &Evidence::none(12), Pairs::All)?;
/// assert_eq!(answer.correlations.values.len(), 66);
///
/// let tight = Enumerate::new().budget(Budget(1024));
/// let refusal = tight.expectations(&glass, &Evidence::none(12), Pairs::All).unwrap_err();
/// assert!(refusal.to_string().ends_with("needs 32 KiB, and the budget is 1 KiB"));
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Enumerate {
    pub(crate) settings: ExactSettings,
}

constructors!(Enumerate(ExactSettings));

impl Enumerate {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "enumerate";

    /// The bytes that the budget counts for some number of free units.
    pub fn cost(free_units: usize) -> u128 {
        if free_units < 120 { 8 << free_units } else { u128::MAX }
    }

    /// The work for some number of free units.
    pub(in crate::engine) fn work(free_units: usize) -> Work {
        Work::States((free_units as f64).exp2())
    }

    /// Energies beyond this could mix with unused lanes or overflow.
    const SCALE: f64 = 1e290;

    /// Up to this size of −E/T, nine decimals are right; beyond, the answer is not called exact.
    const NINE_DIGITS: f64 = 1e6;

    fn guarantee(scale: f64) -> Guarantee {
        if scale <= Self::NINE_DIGITS { Guarantee::Exact } else { Guarantee::Approximation }
    }

    /// Checks the length of the evidence, its free units and the machine's numbers.
    fn check_row(self, machine: &Machine, evidence: &Evidence) -> Result<()> {
        machine.check_evidence(evidence)?;
        machine.check_scale(Self::NAME, Self::SCALE)?;
        self.check(evidence.free_count())
    }

    /// Refuses more free units than the budget allows.
    pub fn check(&self, free_units: usize) -> Result<()> {
        let what = || format!("{free_units} free units (2^{free_units} states of 8 bytes)");
        let checked = self.budget.check(Self::NAME, Self::cost(free_units), what);
        checked.map_err(|error| error.with_work(Self::work(free_units)))
    }
}

impl Engine for Enumerate {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn fingerprint(&self) -> String {
        Self::NAME.into()
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn sampler(&self) -> Option<&dyn Sampler> {
        Some(self)
    }

    fn mode_finder(&self) -> Option<&dyn ModeFinder> {
        Some(self)
    }

    fn scanner(&self) -> Option<&dyn Scanner> {
        Some(self)
    }

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        self.check_row(machine, evidence)?;
        let moments = RowMoments::of(machine, evidence, Order::Second);
        Ok(Expectations {
            log_z: Some(moments.log_z),
            means: (0..machine.unit_count()).map(|unit| moments.mean(unit)).collect(),
            correlations: PairMoments::collect(pairs, machine.graph(), |a, b| moments.pair(a, b)),
            guarantee: Self::guarantee(moments.scale),
            errors: None,
            diagnostics: Diagnostics::direct(),
        })
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
        machine.check_scale(Self::NAME, Self::SCALE)?;
        for group in batch.groups() {
            self.check(group.free.len())?;
        }
        // Differences between rows matter here, so the clamped units' terms count as well.
        rows::solve(machine, batch, ask, Self::guarantee(machine.scale()))
    }
}
