//! Reading the observed variables of an `.evid` file.

use isinglass::{Evidence, Spin};

use super::{Expected, Item, Tokens, UaiProblem};
use crate::error::{Fault, Parsed};

/// Reads evidence on this number of units.
pub(in crate::model) fn read_evidence(text: &[u8], units: usize) -> Parsed<Evidence> {
    let mut evidence = Evidence::none(units);
    // The number of observed variables is followed by pairs. An even number of words therefore
    // begins with the number of samples, as in the older form.
    let mut count = Tokens::new(text)?;
    let words = std::iter::from_fn(|| count.next()).count();
    let mut tokens = Tokens::new(text)?;
    if words == 0 {
        return Ok(evidence);
    }
    if words.is_multiple_of(2) {
        tokens.number(Item::Samples, Expected::Exactly(1), |samples| samples == 1)?;
    }
    let observed: usize = tokens.value(Item::Observations, Expected::WholeNumber)?;
    for at in 0..observed {
        let item = Item::Observation { at, of: observed };
        let unit = tokens.number(item, Expected::Variable { of: units }, |unit| unit < units)?;
        if evidence.get(unit).is_some() {
            return Err(Fault::at(tokens.place(), UaiProblem::Repeated { item, unit }));
        }
        let state = tokens.number(Item::State(unit), Expected::State, |state| state < 2)?;
        evidence.clamp(unit, if state == 0 { Spin::Down } else { Spin::Up });
    }
    tokens.end(Item::AfterObservations)?;
    Ok(evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let cells = |text: &str| read_evidence(text.as_bytes(), 3).unwrap().cells().to_vec();
        for nothing in ["", "\n", "0", "0\n", "1\n0\n"] {
            assert_eq!(cells(nothing), [0, 0, 0], "{nothing:?}");
        }
        assert_eq!(cells("2 0 1 2 0"), [1, 0, -1]);
        assert_eq!(cells("1\n2 0 1 2 0\n"), [1, 0, -1]);
        assert_eq!(cells("1 1 1"), [0, 1, 0]);
        assert_eq!(cells("1\n1 1 1"), [0, 1, 0]);
    }
}
