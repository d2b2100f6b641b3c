//! What users should be told of answers that are not what they asked for.

use isinglass::{Diagnostics, Expectations, Gibbs, Guarantee};

use crate::count;

/// What to say when a method did not converge; `engine` where it is not the only one at work.
pub fn warning(engine: &str, guarantee: Guarantee, diagnostics: &Diagnostics) -> Option<String> {
    if diagnostics.converged {
        return None;
    }
    Some(match (diagnostics.iteration, diagnostics.importance) {
        (Some(iteration), _) => {
            let advice = match (guarantee, engine) {
                (Guarantee::LowerBound | Guarantee::UpperBound, "mean-field" | "mixture") => {
                    "the bound holds all the same; more --max-sweeps, --starts or --anneal may make it better"
                }
                (Guarantee::LowerBound, "structured") => {
                    "the bound holds all the same; more --max-sweeps or --starts may make it better"
                }
                (Guarantee::LowerBound | Guarantee::UpperBound, _) => {
                    "the bound holds all the same; more --max-sweeps may make it better"
                }
                _ => "take more --max-sweeps, other --starts, --anneal, or another engine",
            };
            format!(
                "{engine}: no fixed point was reached in {} (its equations are violated by up to {:.1e}); {advice}",
                count(iteration.sweeps, "sweep"),
                iteration.residual
            )
        }
        (None, Some(importance)) => format!(
            "{engine}: few of the runs count ({:.0} of {}), so that the standard errors are too small; take more --temperatures and --chains",
            importance.effective_samples, importance.runs
        ),
        (None, None) => "the chains did not mix well (see R-hat and effective samples); \
             take more --samples and --burn-in, or an exact engine"
            .to_owned(),
    })
}

/// What a correlation may be, with a little room for rounding.
const POSSIBLE: f64 = 1.0 + 1e-9;

/// What to say of correlations that no machine can have.
pub fn impossible(engine: &str, answer: &Expectations) -> Option<String> {
    let impossible = answer.correlations.values.iter().filter(|x| x.abs() > POSSIBLE).count();
    (impossible > 0).then(|| {
        format!(
            "{} beyond -1 or +1: the engine {engine} is no good for couplings as strong as these",
            count(impossible, "correlation"),
        )
    })
}

/// What would help where an engine refused a question for lack of memory.
pub fn advice(error: &isinglass::Error) -> Option<&'static str> {
    match error {
        isinglass::Error::OverBudget { who, .. } if *who == Gibbs::NAME => {
            Some("give more --budget, or fewer --samples or --chains")
        }
        isinglass::Error::OverBudget { who: "complete", .. } => {
            Some("give more --budget, or some of the rows at a time")
        }
        isinglass::Error::OverBudget { .. } => Some(
            "give more --budget, clamp units with --given, or take an approximate engine such as --engine bethe or gibbs",
        ),
        _ => None,
    }
}
