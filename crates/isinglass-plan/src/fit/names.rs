//! The words by which users choose learners, and how they are to go about it.

use crate::names::named;

named! {
    /// Learners that users can name.
    #[derive(Default)]
    "learner" LearnerName {
        /// likelihood if --engine is given or an exact engine is within the budget; otherwise pseudo-likelihood, or pl-em with hidden units or missing cells
        #[default]
        Auto = "auto",
        /// Maximum likelihood with the expectations of --engine
        Likelihood = "likelihood",
        /// Every column given all others, for hundreds of columns; no hidden units; missing cells are drawn, as by pl-em
        PseudoLikelihood = "pseudo-likelihood",
        /// Pseudo-likelihood of rows whose hidden and missing units are drawn, again and again
        PlEm = "pl-em",
        /// Contrastive divergence: mini-batches, and a few sweeps from the rows or of persistent chains
        ContrastiveDivergence = "contrastive-divergence",
        /// Contrastive divergence with mean field in place of sampling
        MeanFieldCd = "mean-field-cd",
        /// From means and covariances by linear response, for any number of columns; no hidden units, no inputs
        ClosedForm = "closed-form",
        /// Independent units, in closed form
        Factorized = "factorized",
    }
}

named! {
    /// How to follow a gradient.
    "optimizer" OptimizerName {
        /// Limited-memory BFGS
        Lbfgs = "lbfgs",
        /// Nonlinear conjugate gradients
        Cg = "cg",
        /// Gradient ascent with --rate and --momentum
        Momentum = "momentum",
        /// Gradient ascent whose rate adapts itself; the objective never falls
        Adaptive = "adaptive",
    }
}

named! {
    /// When a coupling stays that its two columns disagree about.
    "rule" RuleName {
        /// Both
        And = "and",
        /// Either
        Or = "or",
    }
}

named! {
    /// How hidden units and missing cells are drawn.
    "draws" DrawsName {
        /// exact where the links among the units drawn allow it within the budget, otherwise gibbs
        Auto = "auto",
        /// Independent draws from the exact conditional distribution
        Exact = "exact",
        /// Gibbs sampling from the most probable state that max-product finds
        Gibbs = "gibbs",
    }
}

named! {
    /// How far the pseudo-likelihood is climbed between draws.
    "m-step" MStepName {
        /// To the top of the pseudo-likelihood less what keeps parameters near where they were
        Damped = "damped",
        /// To the top, by limited-memory BFGS
        Lbfgs = "lbfgs",
        /// 20 gradient steps of --rate [default: 0.01]
        Gradient = "gradient",
    }
}

named! {
    /// What to do if covariances have no inverse.
    "singular" SingularName {
        /// Least squares by Levenberg-Marquardt: large couplings, what the rows never do becomes impossible
        Lm = "lm",
        /// Draw the covariances towards independence, as far as the number of rows asks for: moderate couplings
        Shrink = "shrink",
    }
}
