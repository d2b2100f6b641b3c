//! Options of the learner pl-em.

use clap::Args;
use isinglass_plan::{DrawsName, MStepName};

use crate::engine_options::named;
use crate::options::at_least;

/// How hidden units and missing cells are drawn, and what is done with the rows that come of it.
#[derive(Args)]
#[command(next_help_heading = "Pseudo-likelihood EM (pl-em)")]
pub(super) struct DrawsOptions {
    /// How hidden units and missing cells are drawn [default: auto]
    #[arg(long, value_name = "HOW", value_parser = named::<DrawsName>())]
    pub(super) draws: Option<DrawsName>,
    /// --draws gibbs: sweeps from one draw to the next [default: 2]; see --samples for the number of draws
    #[arg(long, value_name = "N", value_parser = at_least::<1>)]
    pub(super) sweeps: Option<usize>,
    /// How far the pseudo-likelihood is climbed between draws [default: damped]
    #[arg(long, value_name = "HOW", value_parser = named::<MStepName>())]
    pub(super) m_step: Option<MStepName>,
}

#[cfg(test)]
mod tests {
    use isinglass::learn::{EStep, MStep, PseudoLikelihoodEm};

    #[test]
    fn the_help_tells_the_library_s_defaults() {
        let usual = PseudoLikelihoodEm::default();
        assert_eq!((usual.draws, usual.e_step, EStep::SOURCE), (3, EStep::Auto, EStep::Gibbs { sweeps: 2 }));
        assert!(matches!(usual.m_step, MStep::Damped { .. }));
    }
}
