//! Reading the observed variables of an `.evid` file.

use isinglass::{Evidence, Spin};

use super::Tokens;
use crate::error::{Fault, Parsed};

/// Read evidence on so many units.
pub(in crate::model) fn read_evidence(text: &[u8], units: usize) -> Parsed<Evidence> {
    let mut evidence = Evidence::none(units);
    // The number of observed variables is followed by pairs. An even number of words therefore begins with
    // the number of samples, as in the older form.
    let mut count = Tokens::new(text)?;
    let words = std::iter::from_fn(|| count.next()).count();
    let mut tokens = Tokens::new(text)?;
    if words == 0 {
        return Ok(evidence);
    }
    if words.is_multiple_of(2) {
        let what = || "the number of samples".to_owned();
        let samples: usize = tokens.value(what, "1")?;
        if samples != 1 {
            return Err(tokens.wrong(&what(), &samples.to_string(), "1"));
        }
    }
    let observed: usize = tokens.value(|| "the number of observed variables".into(), "a whole number")?;
    for k in 0..observed {
        let what = || format!("observed variable {k} of {observed}");
        let expected = format!("one of the {units} variables, counted from 0");
        let unit: usize = tokens.value(what, &expected)?;
        if unit >= units {
            return Err(tokens.wrong(&what(), &unit.to_string(), &expected));
        }
        if evidence.get(unit).is_some() {
            let problem = format!("{}: variable {unit} stands here again, expected each once", what());
            return Err(Fault::new(tokens.place(), problem));
        }
        let what = || format!("the state of variable {unit}");
        let state: usize = tokens.value(what, "0 or 1")?;
        let spin = match state {
            0 => Spin::Down,
            1 => Spin::Up,
            _ => return Err(tokens.wrong(&what(), &state.to_string(), "0 or 1")),
        };
        evidence.clamp(unit, spin);
    }
    tokens.end("after the last observed variable")?;
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
