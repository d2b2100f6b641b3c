//! `fit --moderate`: couplings and biases that depend on covariates.

use std::io::Write as _;
use std::time::Instant;

use isinglass::learn::{CovariateRows, ModeratedFit, PseudoLikelihood};
use isinglass_files::{Output, write_measures, write_moderated};
use isinglass_plan::LearnerName;
use serde_json::{Value, json};

use super::Args;
use crate::options::{Common, Usage, keep_inputs, split_list};
use crate::report::{self, count};

/// The normal quantile of a two-sided interval of 95 %.
const QUANTILE: f64 = 1.959_963_984_540_054;

impl Args {
    /// Fits a moderated network.
    pub(super) fn run_moderated(&self, columns: &str, common: &Common) -> anyhow::Result<()> {
        let began = Instant::now();
        let names = split_list(columns);
        self.check_moderated()?;
        let budget = self.engine.budget;
        for output in [Some(&self.output), self.network.as_ref()].into_iter().flatten() {
            keep_inputs(output, &[&self.table.table])?;
        }
        let sheet = self.table.read_beside(&names, budget)?;
        let in_table = || self.table.table.display().to_string();
        let mut covariates = Vec::new();
        for name in &names {
            match sheet.numbers(name) {
                Some(Ok(numbers)) => covariates.push((name.clone(), numbers)),
                Some(Err((row, text))) => anyhow::bail!(
                    "{}: row {row}, column '{name}': found '{text}', expected a number\nhint: covariates are numbers; code words as 0 and 1",
                    in_table()
                ),
                None => anyhow::bail!("{}: there is no column named '{name}'", in_table()),
            }
        }
        let start = self.structure.of(&sheet.table)?.machine(&sheet.table, false, budget)?;
        let output = Output::create(&self.output)?;
        let network = self.network.as_deref().map(Output::create).transpose()?;
        let rows = CovariateRows { table: &sheet.table, covariates: &covariates };
        let learner = PseudoLikelihood::from(*self.settings(common.seed).pseudo_likelihood());
        let fit = learner
            .fit_moderated(&start, &rows)
            .map_err(|error| anyhow::Error::from(error).context(in_table()))?;
        common.diagnose(fit.notes.iter().cloned());
        if !fit.converged {
            common.warning(
                "not-converged",
                "the fit did not converge",
                json!({ "iterations": fit.iterations }),
            );
        }
        write_moderated(&fit.machine, output)?;
        if let Some(output) = network {
            write_network(&fit, output)?;
        }
        let seconds = began.elapsed().as_secs_f64();
        if common.json {
            return common.print_json(&self.moderated_document(&fit, seconds));
        }
        let ended = if fit.converged { "converged" } else { "NOT converged" };
        let base = fit.machine.base();
        let names: Vec<String> = fit
            .machine
            .moderators()
            .iter()
            .map(|m| format!("{} (mean {:.4}, deviation {:.4})", m.name, m.mean, m.deviation))
            .collect();
        report::text(&format!(
            "{}, {}, {}, moderated by {}\npseudo-likelihood by Newton's method: {ended}, {}, {seconds:.2} s\npseudo-log-likelihood per row: {:.6}\nwrote {}\n",
            count(fit.rows, "row"),
            count(base.unit_count(), "unit"),
            count(nonzero(base.weights()), "coupling"),
            names.join(", "),
            count(fit.iterations, "iteration"),
            fit.pseudo_log_likelihood,
            self.output.display()
        ))
    }

    /// Refuses what does not go with covariates.
    fn check_moderated(&self) -> Result<(), Usage> {
        let given = [
            ("--init", self.init.is_some()),
            ("--restarts", self.restarts > 1),
            ("--history", self.history.is_some()),
            ("--report", self.report.is_some()),
            ("--bootstrap", self.bootstrap.is_given()),
            ("--case-dropping", self.bootstrap.drops_cases()),
            ("--centrality", self.study.centrality.is_some()),
            ("--checkpoint", self.checkpoint.checkpoint.is_some()),
            ("--validate", self.validate.is_some()),
            ("--weights", self.table.columns.weights.is_some()),
            ("--lag", self.time.lag.is_some()),
        ];
        if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Usage(format!("{option} is not supported with --moderate")));
        }
        if !matches!(self.learner, LearnerName::Auto | LearnerName::PseudoLikelihood) {
            return Err(Usage("--moderate is for --learner pseudo-likelihood".into()));
        }
        let mut settings = self.settings(0);
        settings.learner = LearnerName::PseudoLikelihood;
        Ok(settings.check(self.structure.hidden.count(), false)?)
    }

    fn moderated_document(&self, fit: &ModeratedFit, seconds: f64) -> Value {
        let moderators: Vec<Value> = fit
            .machine
            .moderators()
            .iter()
            .map(|moderator| {
                json!({
                    "name": moderator.name,
                    "mean": moderator.mean,
                    "deviation": moderator.deviation,
                    "couplings": nonzero(&moderator.weights),
                })
            })
            .collect();
        json!({
            "model": self.output,
            "learner": "pseudo-likelihood",
            "engine": null,
            "rows": fit.rows,
            "iterations": fit.iterations,
            "converged": fit.converged,
            "pseudo_log_likelihood": fit.pseudo_log_likelihood,
            "moderators": moderators,
            "edges": edges(fit).map(|(names, numbers)| {
                let mut edge = json!({ "a": names[0], "b": names[1], "of": names[2] });
                for (key, number) in ["weight", "error", "lower", "upper"].iter().zip(numbers) {
                    edge[*key] = json!(number);
                }
                edge
            }).collect::<Vec<_>>(),
            "seconds": seconds,
        })
    }
}

fn nonzero(weights: &[f64]) -> usize {
    weights.iter().filter(|weight| **weight != 0.0).count()
}

/// For each coupling that is not 0, and each of its changes: two units, what changes it (nothing for
/// the coupling at the means), the value for one standard deviation, its standard error and interval.
fn edges(fit: &ModeratedFit) -> impl Iterator<Item = (Vec<String>, Vec<f64>)> + '_ {
    let base = fit.machine.base();
    let block = base.weights().len() + base.unit_count();
    let parts = [("", base.weights())].into_iter();
    let parts = parts.chain(fit.machine.moderators().iter().map(|m| (m.name.as_str(), &m.weights[..])));
    parts.enumerate().flat_map(move |(k, (of, weights))| {
        let edges = base.graph().edges().iter().zip(weights).enumerate();
        edges.filter(|(_, (_, weight))| **weight != 0.0).map(move |(edge, (&(a, b), &weight))| {
            let error = fit.errors.as_ref().map_or(f64::NAN, |errors| errors[k * block + edge]);
            let names = vec![base.name(a).to_owned(), base.name(b).to_owned(), of.to_owned()];
            (names, vec![weight, error, weight - QUANTILE * error, weight + QUANTILE * error])
        })
    })
}

fn write_network(fit: &ModeratedFit, mut output: Output) -> anyhow::Result<()> {
    let header = ["from", "to", "moderator", "weight", "error", "lower", "upper"];
    write_measures(&header, edges(fit), &mut output).map_err(|error| output.error(&error))?;
    output.flush().map_err(|error| output.error(&error))?;
    Ok(output.commit()?)
}
