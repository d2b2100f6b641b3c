//! Options of the learner closed-form.

use clap::Args;
use isinglass_plan::SingularName;

use crate::engine_options::named;

/// How eqs. 33–35 are solved.
#[derive(Args)]
#[command(next_help_heading = "Closed form")]
pub(super) struct ClosedFormOptions {
    /// What to do if the covariances have no inverse [default: whichever gives the rows the larger pseudo-likelihood]
    #[arg(long, value_name = "HOW", value_parser = named::<SingularName>())]
    pub(super) singular: Option<SingularName>,
    /// Solve without self-couplings, as if units did not react to themselves; always has a solution, mostly a worse one
    #[arg(long)]
    pub(super) no_self_coupling: bool,
}
