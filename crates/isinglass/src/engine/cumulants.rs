//! Cumulants of up to four units.

use super::{Diagnostics, Engine, Guarantee, JointTable};
use crate::{Error, Evidence, Machine, Result};

/// The cumulants of every subset of a list of units.
///
/// The first cumulant is the mean, the second the covariance; the third and fourth are what means
/// and pairs do not explain.
///
/// # Example
/// ```
/// use isinglass::{Eliminate, Engine, Evidence, Machine, Unit};
/// let pair = Machine::new(vec![Unit::new("a", 0.3), Unit::new("b", 0.0)], [(0, 1, 0.5)])?;
/// let cumulants = Eliminate::default().cumulants(&pair, &Evidence::none(2), &[0, 1])?;
/// let [a, b, both] = cumulants.values[..] else { unreachable!() };
/// assert!((a - 0.3f64.tanh()).abs() < 1e-12);
/// assert!((both - (0.5f64.tanh() - a * b)).abs() < 1e-12);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cumulants {
    /// The requested units, with repetitions.
    pub units: Vec<usize>,
    /// The cumulants of the non-empty subsets of the list: number `set − 1` for the bits of `set`.
    pub values: Vec<f64>,
    /// What kind of answer this is.
    pub guarantee: Guarantee,
    /// How the computation went.
    pub diagnostics: Diagnostics,
}

impl Cumulants {
    /// The highest order.
    pub const MAX_ORDER: usize = 4;

    /// The cumulant of some places of the list, each once.
    pub fn get(&self, places: &[usize]) -> Option<f64> {
        let set = places.iter().fold(0usize, |set, &place| set | 1 << place.min(63));
        let each_once = set.count_ones() as usize == places.len();
        if each_once { self.values.get(set.checked_sub(1)?).copied() } else { None }
    }

    /// Each subset of places with its cumulant, smaller subsets first.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<usize>, f64)> + '_ {
        let mut sets: Vec<usize> = (1..=self.values.len()).collect();
        sets.sort_by_key(|set| (set.count_ones(), places_of(*set)));
        sets.into_iter().map(|set| (places_of(set), self.values[set - 1]))
    }
}

/// The places that are bits of a set, rising.
fn places_of(set: usize) -> Vec<usize> {
    (0..usize::BITS as usize).filter(|place| set >> place & 1 == 1).collect()
}

/// Checks a list of units.
pub(super) fn check_units(machine: &Machine, units: &[usize]) -> Result<()> {
    if units.is_empty() || units.len() > Cumulants::MAX_ORDER {
        let problem = format!("found {} units, expected 1 to {}", units.len(), Cumulants::MAX_ORDER);
        return Err(Error::invalid("cumulants", problem));
    }
    if let Some(unit) = units.iter().find(|&&unit| unit >= machine.unit_count()) {
        let problem = format!("position {unit} is beyond the {} units", machine.unit_count());
        return Err(Error::invalid("cumulants", problem));
    }
    Ok(())
}

/// Cumulants from the joint probabilities of the free units.
pub(super) fn by_joint<E: Engine + ?Sized>(
    engine: &E,
    machine: &Machine,
    evidence: &Evidence,
    units: &[usize],
) -> Result<Cumulants> {
    machine.check_evidence(evidence)?;
    check_units(machine, units)?;
    let mut ask: Vec<usize> = units.to_vec();
    ask.sort_unstable();
    ask.dedup();
    ask.retain(|&unit| evidence.get(unit).is_none());
    let joint = engine.joint(machine, evidence, &ask)?;
    Ok(from_joint(units, &joint, |unit| evidence.get(unit).map(|spin| f64::from(spin.value()))))
}

/// From joint probabilities of the distinct free units to the cumulants of a list, by the moments.
fn from_joint(units: &[usize], joint: &JointTable, fixed: impl Fn(usize) -> Option<f64>) -> Cumulants {
    let count = 1usize << units.len();
    let spin = |state: usize, unit: usize| match joint.units.iter().position(|&known| known == unit) {
        Some(place) if state >> (joint.units.len() - 1 - place) & 1 == 1 => 1.0,
        Some(_) => -1.0,
        // A unit that is not in the table is clamped.
        None => fixed(unit).unwrap_or(0.0),
    };
    let moment = |set: usize| -> f64 {
        let product =
            |state: usize| places_of(set).iter().map(|&place| spin(state, units[place])).product::<f64>();
        joint.probabilities.iter().enumerate().map(|(state, p)| p * product(state)).sum()
    };
    let moments: Vec<f64> = (0..count).map(moment).collect();
    // Solves m(S) = Σ c(B) m(S ∖ B), over blocks B of S with its first element, for c(S).
    let mut cumulants = vec![0.0; count];
    for set in 1..count {
        let first = set & set.wrapping_neg();
        let rest = set ^ first;
        let mut sum = moments[set];
        let mut part = rest;
        while part != 0 {
            // `part` is S ∖ B.
            sum -= cumulants[set ^ part] * moments[part];
            part = (part - 1) & rest;
        }
        cumulants[set] = sum;
    }
    Cumulants {
        units: units.to_vec(),
        values: cumulants.split_off(1),
        guarantee: joint.guarantee,
        diagnostics: joint.diagnostics.clone(),
    }
}
