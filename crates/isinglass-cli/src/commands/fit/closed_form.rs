//! Options of the learner closed-form.

use clap::{Args, ValueEnum};
use isinglass::Budget;
use isinglass::learn::{ClosedForm, Singular};

use super::learner::{LearnerName, Owned};
use crate::options::Usage;

/// How eqs. 33–35 are solved.
#[derive(Args)]
#[command(next_help_heading = "Closed form")]
pub(super) struct ClosedFormOptions {
    /// What to do if the covariances have no inverse [default: whichever gives the rows the larger pseudo-likelihood]
    #[arg(long, value_name = "HOW")]
    singular: Option<SingularName>,
    /// Solve without self-couplings, as if units did not react to themselves; always has a solution, mostly a worse one
    #[arg(long)]
    no_self_coupling: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SingularName {
    /// Least squares by Levenberg-Marquardt: large couplings, what the rows never do becomes impossible
    Lm,
    /// Draw the covariances towards independence, as far as the number of rows asks for: moderate couplings
    Shrink,
}

impl ClosedFormOptions {
    /// Refuse options that do not go together.
    pub(super) fn check(&self) -> Result<(), Usage> {
        if self.no_self_coupling && self.singular.is_some() {
            let problem =
                "--singular has no use with --no-self-coupling: these equations always have a solution";
            return Err(Usage(problem.into()));
        }
        Ok(())
    }

    pub(super) fn owned(&self) -> [Owned; 2] {
        let owner: &[LearnerName] = &[LearnerName::ClosedForm];
        [("--singular", self.singular.is_some(), owner), ("--no-self-coupling", self.no_self_coupling, owner)]
    }

    pub(super) fn learner(&self, budget: Budget) -> ClosedForm {
        ClosedForm {
            singular: match self.singular {
                None => Singular::Better,
                Some(SingularName::Lm) => Singular::LevenbergMarquardt,
                Some(SingularName::Shrink) => Singular::Shrinkage,
            },
            self_coupling: !self.no_self_coupling,
            budget,
            ..ClosedForm::default()
        }
    }
}
