//! Options for confidence intervals and stability, and the fits behind them.

use std::io::IsTerminal;
use std::ops::ControlFlow;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use isinglass::learn::{Bootstrap, Bootstrapped, Interval, Progress};
use isinglass::network::{CaseDropping, Kept, Stability};
use isinglass::{Budget, Machine, Table};
use isinglass_plan::{Fitted, Plan};
use serde_json::{Value, json};

use crate::options::{Common, at_least};
use crate::report;
use crate::signals;

/// How far couplings vary from one set of rows to another.
#[derive(Args)]
#[command(next_help_heading = "Network")]
pub(super) struct BootstrapOptions {
    /// Fit B tables of rows drawn anew from the table, and add percentile intervals (lower, upper)
    /// to --network, --centrality, --report and --json; to the network also the shares of these fits
    /// in which a coupling is not 0 and in which it has the same sign
    #[arg(long, value_name = "B", value_parser = at_least::<1>)]
    bootstrap: Option<usize>,
    /// Fit N subsets of the rows, with 5 % to 75 % of them left out, for the CS coefficients of
    /// centralities and couplings: the largest share that can be left out so that with probability
    /// 0.95 the correlation with the values of all rows is at least 0.7
    #[arg(long, value_name = "N", value_parser = at_least::<10>)]
    case_dropping: Option<usize>,
    /// --bootstrap: the share of cases that an interval is to cover, between 0 and 1 [default:
    /// 0.95]
    #[arg(long, value_name = "X", requires = "bootstrap", value_parser = share)]
    level: Option<f64>,
}

/// The result of the resamples; empty if none were requested.
#[derive(Default)]
pub(super) struct Intervals {
    pub(super) found: Option<Bootstrapped>,
    /// Why there are none, where that is an error. The fit itself is finished and is written all
    /// the same.
    failure: Option<isinglass::Error>,
}

impl Intervals {
    /// The end of the program, once everything is written.
    pub(super) fn done(self) -> anyhow::Result<()> {
        self.failure.map_or(Ok(()), |error| Err(anyhow::Error::from(error).context("--bootstrap")))
    }
}

impl BootstrapOptions {
    /// Whether resamples are to be fitted.
    pub(super) fn is_given(&self) -> bool {
        self.bootstrap.is_some()
    }

    /// Whether subsets are to be fitted.
    pub(super) fn drops_cases(&self) -> bool {
        self.case_dropping.is_some()
    }

    fn settings(&self, budget: Budget, common: &Common) -> Option<Bootstrap> {
        let resamples = self.bootstrap?;
        Some(Bootstrap { resamples, level: self.level(), seed: common.seed, budget })
    }

    fn dropping(&self, budget: Budget, common: &Common) -> Option<CaseDropping> {
        let subsets = self.case_dropping?;
        Some(CaseDropping { subsets, seed: common.seed, budget, ..CaseDropping::default() })
    }

    /// Refuse what cannot be done before a long fit is made.
    pub(super) fn check(
        &self,
        machine: &Machine,
        table: &Table,
        budget: Budget,
        common: &Common,
    ) -> anyhow::Result<()> {
        if let Some(bootstrap) = self.settings(budget, common) {
            let hint = "give more --budget, or a smaller --bootstrap";
            bootstrap.check(machine, table).map_err(|error| report::with_hint(error, hint))?;
        }
        if let Some(dropping) = self.dropping(budget, common) {
            let hint = "give more --budget, or a smaller --case-dropping";
            dropping.check(machine, table).map_err(|error| report::with_hint(error, hint))?;
        }
        Ok(())
    }

    /// Fits the resamples, if they are requested.
    pub(super) fn run(
        &self,
        (plan, fitted): (&Plan, &Fitted),
        (start, table, versions): (&Machine, &Table, &[Table]),
        budget: Budget,
        common: &Common,
    ) -> anyhow::Result<Intervals> {
        let Some(bootstrap) = self.settings(budget, common) else { return Ok(Intervals::default()) };
        let asked = bootstrap.resamples;
        let none = |why: &str| {
            let text = format!("{why}; results are written without intervals");
            common.warning("no-intervals", text, json!({ "requested": asked }));
        };
        if signals::heed() {
            none("the fit was stopped: no resamples are fitted");
            return Ok(Intervals::default());
        }
        // A single version is a table like any other.
        let is_filled = versions.len() > 1;
        let found = with_bar(asked, "resample", common, |progress| {
            if is_filled {
                plan.resample_filled(&bootstrap, (start, table, versions), fitted, progress)
            } else {
                plan.resample(&bootstrap, (start, table), fitted, progress)
            }
        })?;
        Ok(match found {
            Ok(found) => {
                common.diagnose(found.notes.iter().cloned());
                let done = found.resamples;
                // Those of filled tables are all there, or an error.
                let is_enough = is_filled || bootstrap.is_enough(&found);
                if !is_enough {
                    common.warning(
                        "no-intervals",
                        format!("{done} of {asked} resamples are too few: the network is written without intervals"),
                        json!({ "requested": asked, "fitted": done }),
                    );
                }
                Intervals { found: Some(found).filter(|_| is_enough), failure: None }
            }
            Err(error) if signals::heed() => {
                none(&error.to_string());
                Intervals::default()
            }
            Err(error) => {
                common.warning(
                    "no-intervals",
                    "the resamples failed: model and network are written, without intervals",
                    json!({ "requested": asked, "why": error.to_string() }),
                );
                Intervals { found: None, failure: Some(error) }
            }
        })
    }

    /// Fits subsets of the rows, if they are requested.
    pub(super) fn drop_cases(
        &self,
        (plan, fitted): (&Plan, &Fitted),
        rows: (&Machine, &Table),
        budget: Budget,
        common: &Common,
    ) -> anyhow::Result<Option<Stability>> {
        let Some(dropping) = self.dropping(budget, common) else { return Ok(None) };
        let found = with_bar(dropping.subsets, "subset", common, |progress| {
            plan.drop_cases(&dropping, rows, fitted, progress)
        })?;
        match found {
            Ok(found) => {
                common.diagnose(found.notes.iter().cloned());
                Ok(Some(found))
            }
            Err(error) => {
                let text = format!("{error}; results are written without CS coefficients");
                common.warning("no-stability", text, json!({ "requested": dropping.subsets }));
                Ok(None)
            }
        }
    }

    fn level(&self) -> f64 {
        self.level.unwrap_or(Bootstrap::default().level)
    }

    /// The intervals of couplings and biases and what they rest on, for JSON.
    pub(super) fn document(&self, machine: &Machine, found: &Bootstrapped) -> Value {
        let interval = |interval: &Interval| {
            json!({
                "fitted": interval.fitted,
                "lower": interval.low,
                "upper": interval.high,
                "not_zero": interval.not_zero,
                "same_sign": interval.same_sign,
            })
        };
        let coupling = |(&(a, b), found): (&(usize, usize), &Interval)| {
            let mut object = interval(found);
            (object["a"], object["b"]) = (machine.name(a).into(), machine.name(b).into());
            object
        };
        let bias = |(unit, found): (usize, &Interval)| {
            let mut object = interval(found);
            object["unit"] = machine.name(unit).into();
            object
        };
        let couplings = machine.graph().edges().iter().zip(&found.couplings).map(coupling);
        json!({
            "level": self.level(),
            "resamples": found.resamples,
            "unconverged": found.unconverged,
            "failed": found.failed,
            "couplings": couplings.collect::<Vec<_>>(),
            "biases": found.biases.iter().enumerate().map(bias).collect::<Vec<_>>(),
        })
    }
}

/// The CS coefficients in a line.
pub(super) fn stability_line(found: &Stability) -> String {
    let of =
        |(kept, coefficient): (&Kept, &f64)| format!("{} {coefficient:.2}", kept.word().replace('_', " "));
    let all: Vec<String> = Kept::ALL.iter().zip(&found.coefficients).map(of).collect();
    format!("CS coefficients (correlation 0.7, probability 0.95): {}\n", all.join(", "))
}

/// Fits with a bar of progress, which a signal stops.
fn with_bar<T>(
    count: usize,
    what: &str,
    common: &Common,
    fit: impl FnOnce(&Progress<'_>) -> isinglass::Result<T>,
) -> anyhow::Result<isinglass::Result<T>> {
    let shown = !common.quiet && std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(count as u64), target);
    let template = format!("{{spinner}} {what} {{pos}} of {{len}}  {{elapsed}} gone, {{eta}} left");
    bar.set_style(ProgressStyle::with_template(&template)?);
    let found = fit(&|done, _| {
        bar.set_position(done as u64);
        if signals::heed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    Ok(found)
}

/// The CS coefficients, for JSON.
pub(super) fn stability_document(found: &Stability) -> Value {
    let by_measure = |of: &dyn Fn(usize) -> Value| -> Value {
        Kept::ALL.iter().enumerate().map(|(k, kept)| (kept.word().to_owned(), of(k))).collect()
    };
    let level = |level: &isinglass::network::DropLevel| {
        let correlations = by_measure(
            &|k| json!({ "mean": level.mean[k], "lower": level.low[k], "upper": level.high[k], "share": level.share[k] }),
        );
        json!({ "dropped": level.dropped, "subsets": level.subsets, "correlations": correlations })
    };
    let levels: Vec<Value> = found.levels.iter().map(level).collect();
    json!({
        "subsets": found.subsets,
        "cs": by_measure(&|k| found.coefficients[k].into()),
        "levels": levels,
    })
}

/// The columns of a network that describe intervals.
pub(super) fn measures(found: &Bootstrapped) -> Vec<(&'static str, Vec<f64>)> {
    let column = |measure: fn(&Interval) -> f64| found.couplings.iter().map(measure).collect();
    vec![
        ("lower", column(|interval| interval.low)),
        ("upper", column(|interval| interval.high)),
        ("not_zero", column(|interval| interval.not_zero)),
        ("same_sign", column(|interval| interval.same_sign)),
    ]
}

/// A number between 0 and 1.
fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| *x > 0.0 && *x < 1.0);
    number.ok_or_else(|| "expected a number above 0 and below 1".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "a default is what it is")]
    fn the_help_has_the_default_of_the_library() {
        assert_eq!(Bootstrap::default().level, 0.95);
    }
}
