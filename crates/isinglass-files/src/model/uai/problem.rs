//! What can be wrong with a network of factors or its evidence.

use std::fmt;

use super::write::{LARGEST, PIECES};
use crate::error::Quoted;

/// What can be wrong with a `.uai` or `.evid` file, or with a machine that is written as one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UaiProblem {
    #[error("is empty, expected a MARKOV network")]
    Empty,
    #[error("is not text, expected words and numbers")]
    NotText,
    #[error("found a BAYES network, expected a MARKOV network: conditional tables need not be pairwise")]
    Bayes,
    #[error("the file ends where {item} should be, expected {expected}")]
    Ends { item: Item, expected: Expected },
    #[error("{item}: found {found}, expected {expected}")]
    Found { item: Item, found: Quoted, expected: Expected },
    #[error("{item}: variable {unit} is observed twice, expected each once")]
    Repeated { item: Item, unit: usize },
    #[error(
        "found {0:e} in the exponent, expected at most {most:e}: a .uai file holds the exponentials",
        most = PIECES * LARGEST
    )]
    TooLarge(f64),
}

/// An item of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Item {
    Kind,
    Variables,
    States(usize),
    Factors,
    FactorSize(usize),
    FactorVariable { at: usize, factor: usize },
    TableSize(usize),
    Entry { at: usize, factor: usize },
    AfterFactors,
    Samples,
    Observations,
    Observation { at: usize, of: usize },
    State(usize),
    AfterObservations,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind => f.write_str("the kind of network"),
            Self::Variables => f.write_str("the number of variables"),
            Self::States(variable) => write!(f, "the number of states of variable {variable}"),
            Self::Factors => f.write_str("the number of factors"),
            Self::FactorSize(factor) => write!(f, "the number of variables of factor {factor}"),
            Self::FactorVariable { at, factor } => write!(f, "variable {at} of factor {factor}"),
            Self::TableSize(factor) => write!(f, "the size of the table of factor {factor}"),
            Self::Entry { at, factor } => write!(f, "entry {at} of factor {factor}"),
            Self::AfterFactors => f.write_str("after the last factor"),
            Self::Samples => f.write_str("the number of samples"),
            Self::Observations => f.write_str("the number of observed variables"),
            Self::Observation { at, of } => write!(f, "observed variable {at} of {of}"),
            Self::State(variable) => write!(f, "the state of variable {variable}"),
            Self::AfterObservations => f.write_str("after the last observed variable"),
        }
    }
}

/// What an item should be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expected {
    Markov,
    WholeNumber,
    Exactly(usize),
    TwoStates,
    AtMostTwo,
    Variable { of: usize },
    AnotherVariable,
    Positive,
    State,
    End,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Markov => f.write_str("MARKOV"),
            Self::WholeNumber => f.write_str("a whole number"),
            Self::Exactly(number) => write!(f, "{number}"),
            Self::TwoStates => f.write_str("2: the units of a machine have two states"),
            Self::AtMostTwo => f.write_str("at most 2: the machine is pairwise"),
            Self::Variable { of } => write!(f, "one of the {of} variables, counted from 0"),
            Self::AnotherVariable => f.write_str("another than variable 0"),
            Self::Positive => f.write_str("a finite number above 0"),
            Self::State => f.write_str("0 or 1"),
            Self::End => f.write_str("the end of the file"),
        }
    }
}
