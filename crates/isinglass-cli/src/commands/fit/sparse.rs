//! Options of the learner pseudo-likelihood that make couplings exactly 0.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use isinglass::Budget;
use isinglass::learn::{EbicPaths, Rule};

use super::learner::{LearnerName, Owned};
use super::non_negative;
use crate::options::Usage;

/// Which couplings are there at all.
#[derive(Args)]
#[command(next_help_heading = "Pseudo-likelihood")]
pub(super) struct SparseOptions {
    /// Penalise couplings with X times the sum of their absolute values, which makes many exactly 0; or ebic: choose the penalty for each column by the extended BIC
    #[arg(long, value_name = "X|ebic", allow_hyphen_values = true)]
    l1: Option<L1>,
    /// --l1 ebic: the larger, the fewer couplings; 0 is the plain BIC [default: 0.25]
    #[arg(long, value_name = "X", value_parser = non_negative, allow_hyphen_values = true)]
    gamma: Option<f64>,
    /// --l1 ebic: a coupling stays if both of its columns want it, or if either does [default: and]
    #[arg(long, value_name = "RULE")]
    rule: Option<RuleName>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum L1 {
    Weight(f64),
    Ebic,
}

impl FromStr for L1 {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "ebic" => Ok(Self::Ebic),
            number => {
                let weight = non_negative(number).map_err(|problem| format!("{problem}, or ebic"))?;
                Ok(Self::Weight(weight))
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RuleName {
    /// Both
    And,
    /// Either
    Or,
}

impl SparseOptions {
    pub(super) fn owned(&self) -> [Owned; 3] {
        let owner: &[LearnerName] = &[LearnerName::PseudoLikelihood];
        [
            ("--l1", self.l1.is_some(), owner),
            ("--gamma", self.gamma.is_some(), owner),
            ("--rule", self.rule.is_some(), owner),
        ]
    }

    /// Refuse options that do not go together.
    pub(super) fn check(&self) -> Result<(), Usage> {
        let given = [(self.gamma.is_some(), "--gamma"), (self.rule.is_some(), "--rule")];
        match given.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, option)) if self.l1 != Some(L1::Ebic) => {
                Err(Usage(format!("{option} belongs to --l1 ebic")))
            }
            _ => Ok(()),
        }
    }

    /// Whether anything is to be exactly 0.
    pub(super) fn is_asked(&self) -> bool {
        self.l1.is_some_and(|l1| l1 != L1::Weight(0.0))
    }

    /// Whether the data choose the penalties.
    pub(super) fn is_ebic(&self) -> bool {
        self.l1 == Some(L1::Ebic)
    }

    /// The weight of the penalty, the same for all couplings.
    pub(super) fn weight(&self) -> f64 {
        match self.l1 {
            Some(L1::Weight(weight)) => weight,
            None | Some(L1::Ebic) => 0.0,
        }
    }

    /// The learner that chooses the penalties by the extended BIC, if it is asked for.
    pub(super) fn paths(&self, budget: Budget) -> Option<EbicPaths> {
        let usual = EbicPaths::default();
        self.is_ebic().then(|| EbicPaths {
            gamma: self.gamma.unwrap_or(usual.gamma),
            rule: match self.rule {
                None | Some(RuleName::And) => Rule::And,
                Some(RuleName::Or) => Rule::Or,
            },
            budget,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_tells_the_library_s_defaults() {
        let usual = EbicPaths::default();
        assert_eq!((usual.gamma, usual.rule), (0.25, Rule::And));
    }

    #[test]
    fn a_penalty_is_a_number_or_left_to_the_data() {
        assert_eq!("0.1".parse(), Ok(L1::Weight(0.1)));
        assert_eq!("ebic".parse(), Ok(L1::Ebic));
        assert!(["-1", "nan", "EBIC ", ""].iter().all(|text| text.parse::<L1>().is_err()));
    }
}
