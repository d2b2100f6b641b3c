//! Joint probabilities of a few units.

use super::exact::pinned::clamp_pinned;
use super::{BatchExpectations, Diagnostics, Guarantee, JointTable};
use crate::numeric::stable::shares;
use crate::table::Batch;
use crate::{Error, Evidence, Machine, Result};

/// More asked units than this make a table that no one reads: a million states.
const MAX_ASKED: usize = 20;

/// Check the units of a query: each a unit of the machine, once, and not clamped.
pub(super) fn check_asked(machine: &Machine, evidence: &Evidence, ask: &[usize]) -> Result<()> {
    machine.check_evidence(evidence)?;
    if ask.len() > MAX_ASKED {
        let problem = format!("{} units make 2^{0} states; at most {MAX_ASKED} can be asked for", ask.len());
        return Err(Error::invalid("query", problem));
    }
    for (k, &unit) in ask.iter().enumerate() {
        if unit >= machine.unit_count() {
            let problem = format!("position {unit} is beyond the {} units", machine.unit_count());
            return Err(Error::invalid("query", problem));
        }
        let name = machine.name(unit);
        if evidence.get(unit).is_some() {
            let problem = format!("unit '{name}' is both asked for and given");
            return Err(Error::invalid("query", problem));
        }
        if ask[..k].contains(&unit) {
            let problem = format!("unit '{name}' is asked for twice");
            return Err(Error::invalid("query", problem));
        }
    }
    Ok(())
}

/// Joint states whose partition sums are computed in one batch, and the cells that these may take.
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
    // Constants cancel in the ratio; left out, they cannot take digits from it.
    let evidence = clamp_pinned(machine, evidence, ask);
    let free: Vec<usize> = evidence.free().collect();
    let machine = machine.conditional(&evidence)?.with_offset(0.0)?;
    // Asked units are free units: `check_asked` has seen to it.
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
            why: "it has no partition sums; take an engine that has log Z".into(),
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
