//! Reading a network of factors.
//!
//! With ℓ = ln f, a factor over one variable is a constant (ℓ₀ + ℓ₁)/2 and a bias (ℓ₁ − ℓ₀)/2; one
//! over a pair is a constant, two biases and a weight, the Walsh transform of its four logarithms.
//! Factors over the same variables add.

use std::collections::HashMap;

use isinglass::{Machine, Unit};

use super::{Expected, Item, Tokens, UaiProblem};
use crate::error::{Fault, Parsed};

/// The variables of a factor, in the order of its table.
#[derive(Clone, Copy)]
enum Scope {
    Constant,
    One(usize),
    Two(usize, usize),
}

/// The sums over all factors read so far.
struct Sums {
    offset: f64,
    biases: Vec<f64>,
    /// Pairs, smaller first, in the order of their first factor, with their weights.
    edges: Vec<(usize, usize, f64)>,
    place: HashMap<(usize, usize), usize>,
}

/// Reads a machine from the text of a file.
pub(in crate::model) fn read(text: &[u8]) -> Parsed<Machine> {
    let mut tokens = Tokens::new(text)?;
    let units = preamble(&mut tokens)?;
    let factors: usize = tokens.value(Item::Factors, Expected::WholeNumber)?;
    let mut scopes = Vec::new();
    for k in 0..factors {
        scopes.push(scope(&mut tokens, k, units)?);
    }
    let mut sums = Sums { offset: 0.0, biases: vec![0.0; units], edges: Vec::new(), place: HashMap::new() };
    for (k, &scope) in scopes.iter().enumerate() {
        factor(&mut tokens, k, scope, &mut sums)?;
    }
    tokens.end(Item::AfterFactors)?;
    let units = sums.biases.into_iter().enumerate();
    let units = units.map(|(k, bias)| Unit::new(format!("x{k}"), bias)).collect();
    Ok(Machine::new(units, sums.edges)?.with_offset(sums.offset)?)
}

/// Reads the kind of network and its variables, and returns their number.
fn preamble(tokens: &mut Tokens<'_>) -> Parsed<usize> {
    match tokens.next() {
        Some("MARKOV") => {}
        Some("BAYES") => return Err(Fault::at(tokens.place(), UaiProblem::Bayes)),
        Some(other) => return Err(tokens.wrong(Item::Kind, other, Expected::Markov)),
        None => return Err(UaiProblem::Empty.into()),
    }
    let units: usize = tokens.value(Item::Variables, Expected::WholeNumber)?;
    for k in 0..units {
        tokens.number(Item::States(k), Expected::TwoStates, |states| states == 2)?;
    }
    Ok(units)
}

/// Reads the variables of a factor.
fn scope(tokens: &mut Tokens<'_>, factor: usize, units: usize) -> Parsed<Scope> {
    let size = tokens.number(Item::FactorSize(factor), Expected::AtMostTwo, |size| size <= 2)?;
    let mut variable = |at: usize| {
        let item = Item::FactorVariable { at, factor };
        tokens.number(item, Expected::Variable { of: units }, |found| found < units)
    };
    match size {
        0 => Ok(Scope::Constant),
        1 => Ok(Scope::One(variable(0)?)),
        _ => {
            let (a, b) = (variable(0)?, variable(1)?);
            if a == b {
                let item = Item::FactorVariable { at: 1, factor };
                return Err(tokens.wrong(item, &b.to_string(), Expected::AnotherVariable));
            }
            Ok(Scope::Two(a, b))
        }
    }
}

/// Reads the table of a factor and adds it to the sums.
fn factor(tokens: &mut Tokens<'_>, factor: usize, scope: Scope, sums: &mut Sums) -> Parsed<()> {
    let entries = match scope {
        Scope::Constant => 1,
        Scope::One(_) => 2,
        Scope::Two(..) => 4,
    };
    tokens.number(Item::TableSize(factor), Expected::Exactly(entries), |size| size == entries)?;
    let mut logarithms = [0.0; 4];
    for (at, logarithm) in logarithms[..entries].iter_mut().enumerate() {
        let item = Item::Entry { at, factor };
        // As text, so that an entry that is refused is shown as it is in the file.
        let word: String = tokens.value(item, Expected::Positive)?;
        *logarithm = match word.parse::<f64>() {
            Ok(entry) if entry.is_finite() && entry > 0.0 => entry.ln(),
            _ => return Err(tokens.wrong(item, &word, Expected::Positive)),
        };
    }
    match (scope, logarithms) {
        (Scope::Constant, [only, ..]) => sums.offset += only,
        (Scope::One(a), [down, up, ..]) => {
            sums.offset += f64::midpoint(down, up);
            sums.biases[a] += (up - down) / 2.0;
        }
        (Scope::Two(a, b), [dd, du, ud, uu]) => {
            sums.offset += (dd + du + ud + uu) / 4.0;
            sums.biases[a] += ((ud - dd) + (uu - du)) / 4.0;
            sums.biases[b] += ((du - dd) + (uu - ud)) / 4.0;
            let weight = ((dd - du) + (uu - ud)) / 4.0;
            let pair = (a.min(b), a.max(b));
            let edge = *sums.place.entry(pair).or_insert_with(|| {
                sums.edges.push((pair.0, pair.1, 0.0));
                sums.edges.len() - 1
            });
            sums.edges[edge].2 += weight;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(scopes: &[&str], tables: &[&str]) -> Machine {
        let text =
            format!("MARKOV\n3\n2 2 2\n{}\n{}\n\n{}\n", scopes.len(), scopes.join("\n"), tables.join("\n"));
        read(text.as_bytes()).unwrap()
    }

    /// ln of the product of the factors is −E/T + offset, in every state.
    #[test]
    fn log_weights_are_the_logarithms_of_the_products() {
        let machine = factors(
            &["1 0", "2 0 1", "2 2 1", "0", "2 1 0"],
            &["2 0.5 3", "4 1 2 3 4", "4 0.1 0.2 0.3 7", "1 11", "4 5 6 7 8"],
        );
        assert_eq!(machine.graph().edges(), [(0, 1), (1, 2)]);
        let spin = |bit: usize| if bit == 1 { 1 } else { -1 };
        for state in 0..8 {
            let [a, b, c] = [state >> 2 & 1, state >> 1 & 1, state & 1];
            let product = [0.5, 3.0][a]
                * [1.0, 2.0, 3.0, 4.0][2 * a + b]
                * [0.1, 0.2, 0.3, 7.0][2 * c + b]
                * 11.0
                * [5.0, 6.0, 7.0, 8.0][2 * b + a];
            let found = machine.log_weight(&[spin(a), spin(b), spin(c)]);
            assert!((found - f64::ln(product)).abs() < 1e-13, "{state}");
        }
    }

    #[test]
    fn a_pair_without_interaction_is_an_edge_of_weight_zero() {
        let machine = factors(&["2 2 0"], &["4 1 1 1 1"]);
        assert_eq!((machine.graph().edges(), machine.weights()), ([(0, 2)].as_slice(), [0.0].as_slice()));
    }
}
