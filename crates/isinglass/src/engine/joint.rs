//! Joint probabilities of a few units.

use super::exact::pinned::clamp_pinned;
use super::{BatchExpectations, Diagnostics, Guarantee, JointTable};
use crate::numeric::stable::shares;
use crate::table::Batch;
use crate::{Error, Evidence, Machine, Result};

/// The most units of a query: a million states.
const MAX_ASKED: usize = 20;

/// Checks the units of a query: each a unit of the machine, once, and not clamped.
pub(super) fn check_asked(machine: &Machine, evidence: &Evidence, ask: &[usize]) -> Result<()> {
    machine.check_evidence(evidence)?;
    let invalid = |problem: String| Err(Error::invalid("query", problem));
    if ask.len() > MAX_ASKED {
        return invalid(format!(
            "{} units make 2^{0} states; at most {MAX_ASKED} units are supported",
            ask.len()
        ));
    }
    for (k, &unit) in ask.iter().enumerate() {
        if unit >= machine.unit_count() {
            return invalid(format!("position {unit} is beyond the {} units", machine.unit_count()));
        }
        if evidence.get(unit).is_some() {
            return invalid(format!("unit '{}' is both asked for and given", machine.name(unit)));
        }
        if ask[..k].contains(&unit) {
            return invalid(format!("unit '{}' is asked for twice", machine.name(unit)));
        }
    }
    Ok(())
}

/// The most joint states of one batch, and their cells.
const STATES_AT_ONCE: usize = 1 << 12;
const CELLS_AT_ONCE: usize = 1 << 22;

/// P(asked | evidence) as the ratio of the partition sums with and without the asked units clamped
/// (Rüger 1997, eq. 6).
pub(super) fn by_partition_sums(
    engine: &'static str,
    machine: &Machine,
    evidence: &Evidence,
    ask: &[usize],
    solve: impl Fn(&Machine, &Batch) -> Result<BatchExpectations>,
) -> Result<JointTable> {
    check_asked(machine, evidence, ask)?;
    // Constants cancel in the ratio; they are left out so that they do not take digits from it.
    let evidence = clamp_pinned(machine, evidence, ask);
    let free: Vec<usize> = evidence.free().collect();
    let machine = machine.conditional(&evidence)?.with_offset(0.0)?;
    // `check_asked` makes sure that asked units are free.
    let place = |unit: &usize| free.binary_search(unit).expect("an asked unit is free");
    let places: Vec<usize> = ask.iter().map(place).collect();
    let mut log_z = Vec::with_capacity(1 << ask.len());
    let mut guarantee = Guarantee::Exact;
    let mut diagnostics = Diagnostics::direct();
    let states = 1 << ask.len();
    let at_once = (CELLS_AT_ONCE / machine.unit_count().max(1)).clamp(1, STATES_AT_ONCE);
    for first in (0..states).step_by(at_once) {
        let numbers = first..states.min(first + at_once);
        let mut cells = Vec::with_capacity(numbers.len() * machine.unit_count());
        for number in numbers.clone() {
            let start = cells.len();
            cells.resize(start + machine.unit_count(), 0);
            for (&unit, s) in places.iter().zip(JointTable::state(ask.len(), number)) {
                cells[start + unit] = s;
            }
        }
        let answer = solve(&machine, &Batch::new(machine.unit_count(), &cells, &vec![1.0; numbers.len()])?)?;
        log_z.extend(answer.log_z.ok_or_else(|| Error::CannotDo {
            who: engine,
            what: "answer a query".into(),
            why: "it does not compute log Z; choose an engine that does".into(),
        })?);
        guarantee = guarantee.and(answer.guarantee);
        diagnostics = diagnostics.and(answer.diagnostics);
    }
    Ok(JointTable {
        units: ask.to_vec(),
        probabilities: shares(&log_z).1,
        errors: None,
        guarantee: guarantee.of_ratio(),
        diagnostics,
    })
}
