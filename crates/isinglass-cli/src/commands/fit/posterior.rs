//! What is written of a posterior distribution.

use isinglass::Machine;
use isinglass::learn::{CouplingPosterior, Marginal, Posterior};
use serde_json::{Value, json};

/// Posterior odds that are this many times those of the prior, or a part of them, are evidence.
const EVIDENCE: f64 = 10.0;

/// The columns of a network that describe the posterior of its couplings.
pub(super) fn measures(found: &Posterior, machine: &Machine) -> Vec<(&'static str, Vec<f64>)> {
    // A cutoff, or no draw with it, takes a coupling out of the machine.
    let of_edge = |units: &(usize, usize)| found.couplings.iter().find(|coupling| coupling.units == *units);
    let kept: Vec<Option<&CouplingPosterior>> = machine.graph().edges().iter().map(of_edge).collect();
    let column = |measure: fn(&CouplingPosterior) -> f64| {
        kept.iter().map(|coupling| coupling.map_or(f64::NAN, measure)).collect()
    };
    vec![
        ("inclusion", column(|coupling| coupling.inclusion)),
        ("log_bayes_factor", column(|coupling| coupling.log_bayes_factor)),
        ("deviation", column(|coupling| coupling.weight.deviation)),
        ("credible_lower", column(|coupling| coupling.weight.low)),
        ("credible_upper", column(|coupling| coupling.weight.high)),
        ("r_hat", column(|coupling| coupling.weight.r_hat)),
        ("effective_samples", column(|coupling| coupling.weight.effective_samples)),
    ]
}

/// The posterior of all couplings and biases in JSON.
pub(super) fn document(found: &Posterior, machine: &Machine) -> Value {
    let mixing = found.fit.diagnostics.mixing.as_ref();
    let coupling = |coupling: &CouplingPosterior| {
        let (a, b) = coupling.units;
        let mut row = marginal(&coupling.weight);
        row["units"] = json!([machine.name(a), machine.name(b)]);
        row["inclusion"] = json!(coupling.inclusion);
        row["log_bayes_factor"] = json!(coupling.log_bayes_factor);
        row
    };
    let bias = |(unit, bias): (usize, &Option<Marginal>)| {
        bias.as_ref().map(|bias| {
            let mut row = marginal(bias);
            row["unit"] = json!(machine.name(unit));
            row
        })
    };
    json!({
        "likelihood": if found.engine.is_some() { "exact" } else { "pseudo" },
        "chains": found.chains,
        "samples": found.samples,
        "level": found.level,
        "r_hat": mixing.map(|mixing| mixing.r_hat),
        "effective_samples": mixing.map(|mixing| mixing.effective_samples),
        "couplings": found.couplings.iter().map(coupling).collect::<Vec<_>>(),
        "biases": found.biases.iter().enumerate().filter_map(bias).collect::<Vec<_>>(),
    })
}

fn marginal(found: &Marginal) -> Value {
    json!({
        "mean": found.mean,
        "deviation": found.deviation,
        "lower": found.low,
        "upper": found.high,
        "r_hat": found.r_hat,
        "effective_samples": found.effective_samples,
    })
}

/// What the data say of how many couplings.
pub(super) fn summary(found: &Posterior) -> String {
    let count = |is_counted: &dyn Fn(f64) -> bool| {
        found.couplings.iter().filter(|coupling| is_counted(coupling.log_bayes_factor)).count()
    };
    let present = count(&|log| log >= EVIDENCE.ln());
    let absent = count(&|log| log <= -EVIDENCE.ln());
    let all = found.couplings.len();
    format!(
        "of {all} couplings {present} are present and {absent} absent by Bayes factors of {EVIDENCE} or more; \
         {} are undecided\n",
        all - present - absent
    )
}
