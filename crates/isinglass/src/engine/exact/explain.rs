//! Decimation one step at a time, for teaching and for checking the tape.

use std::collections::BTreeMap;

use crate::engine::Decimate;
use crate::numeric::stable::log_cosh;
use crate::{Error, Machine, Result};

/// A unit of a machine, or unit 0, to which biases lead and which is always +1.
pub type UnitOrZero = Option<usize>;

/// The decimation of one unit (Rüger 1997, theorem 4.1).
#[derive(Debug, Clone, PartialEq)]
pub struct DecimationStep {
    /// The unit.
    pub unit: usize,
    /// Its neighbours at that time, and the effective weights `v = w/T` to them.
    pub neighbours: Vec<(UnitOrZero, f64)>,
    /// The corrections of the weights among the neighbours.
    pub corrections: Vec<(UnitOrZero, UnitOrZero, f64)>,
    /// The logarithm of the factor by which Z changes (eq. 11).
    pub log_factor: f64,
}

/// Decimates a machine in a given order and returns each step. The logarithms of the factors add up
/// to log Z without the machine's offset.
///
/// *Arguments*: all units, in the order of decimation, as
/// [`Graph::decimation_order`](crate::Graph::decimation_order) finds it.
/// *Complexity*: `O(n log n)`. For answers rather than steps use [`Decimate`].
///
/// # Errors
/// An order that is not a permutation, or in which a unit has more than three neighbours.
///
/// # Example
/// ```
/// use isinglass::{Machine, Unit, engine::explain_decimation};
/// let pair = Machine::new(vec![Unit::new("a", 0.3), Unit::new("b", 0.0)], [(0, 1, 0.5)])?;
/// let steps = explain_decimation(&pair, &[1, 0])?;
/// assert_eq!(steps[0].neighbours, [(Some(0), 0.5)]);
/// let log_z: f64 = steps.iter().map(|step| step.log_factor).sum();
/// assert!((log_z - (4.0 * 0.5f64.cosh() * 0.3f64.cosh()).ln()).abs() < 1e-12);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn explain_decimation(machine: &Machine, order: &[usize]) -> Result<Vec<DecimationStep>> {
    let n = machine.unit_count();
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..n) {
        return Err(Error::invalid("order", format!("expected each of the {n} units once")));
    }
    // Unit 0 comes after the machine's own units.
    let zero = n;
    let mut around: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); n + 1];
    let temperature = machine.temperature();
    let biases = machine.biases().iter().enumerate().filter(|(_, bias)| **bias != 0.0);
    let biases = biases.map(|(unit, &bias)| (unit, zero, bias));
    let edges = machine.graph().edges().iter().zip(machine.weights()).map(|(&(a, b), &w)| (a, b, w));
    for (a, b, w) in edges.chain(biases) {
        around[a].insert(b, w / temperature);
        around[b].insert(a, w / temperature);
    }
    let named = |unit: usize| (unit != zero).then_some(unit);
    let mut steps = Vec::with_capacity(n);
    for &unit in order {
        let joined: Vec<(usize, f64)> = std::mem::take(&mut around[unit]).into_iter().collect();
        let count = joined.len();
        if count > 3 {
            return Err(Error::CannotDo {
                who: Decimate::NAME,
                what: format!("decimate unit '{}' in this order", machine.name(unit)),
                why: format!("it has {count} neighbours when its turn comes, and at most 3 are allowed"),
            });
        }
        let (log_factor, corrections) = decimate(&joined);
        for &(other, _) in &joined {
            around[other].remove(&unit);
        }
        for &(a, b, gain) in &corrections {
            *around[a].entry(b).or_insert(0.0) += gain;
            *around[b].entry(a).or_insert(0.0) += gain;
        }
        steps.push(DecimationStep {
            unit,
            neighbours: joined.iter().map(|&(other, v)| (named(other), v)).collect(),
            corrections: corrections.iter().map(|&(a, b, gain)| (named(a), named(b), gain)).collect(),
            log_factor,
        });
    }
    Ok(steps)
}

/// Eqs. 8–11 and 13: the logarithm of the factor, and the corrections among the neighbours.
fn decimate(joined: &[(usize, f64)]) -> (f64, Vec<(usize, usize, f64)>) {
    let log_two_cosh = |x: f64| log_cosh(x) + std::f64::consts::LN_2;
    match *joined {
        [] => (log_two_cosh(0.0), Vec::new()),
        [(_, a)] => (log_two_cosh(a), Vec::new()),
        [(x, a), (y, b)] => {
            let (same, other) = (log_two_cosh(a + b), log_two_cosh(a - b));
            (0.5 * (same + other), vec![(x, y, 0.5 * (same - other))])
        }
        [(x, a), (y, b), (z, c), ..] => {
            let all = log_two_cosh(a + b + c);
            let without_z = log_two_cosh(a + b - c);
            let without_y = log_two_cosh(a - b + c);
            let without_x = log_two_cosh(b + c - a);
            (
                0.25 * (all + without_x + without_y + without_z),
                vec![
                    (x, y, 0.25 * (all + without_z - without_x - without_y)),
                    (x, z, 0.25 * (all + without_y - without_x - without_z)),
                    (y, z, 0.25 * (all + without_x - without_y - without_z)),
                ],
            )
        }
    }
}
