//! Options for confidence intervals of couplings, and what is written of them.

use std::io::IsTerminal;
use std::ops::ControlFlow;

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use isinglass::learn::{Bootstrap, Bootstrapped, Interval};
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
    /// Fit B tables of rows drawn anew from the table, and add to the network the percentile
    /// interval of each coupling (lower, upper), and the shares of these fits in which it is not 0
    /// and in which it has the same sign
    #[arg(long, value_name = "B", requires = "network", value_parser = at_least::<1>)]
    bootstrap: Option<usize>,
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

    fn settings(&self, budget: Budget, common: &Common) -> Option<Bootstrap> {
        let resamples = self.bootstrap?;
        Some(Bootstrap { resamples, level: self.level(), seed: common.seed, budget })
    }

    /// Refuse what cannot be done before a long fit is made.
    pub(super) fn check(
        &self,
        machine: &Machine,
        table: &Table,
        budget: Budget,
        common: &Common,
    ) -> anyhow::Result<()> {
        let Some(bootstrap) = self.settings(budget, common) else { return Ok(()) };
        let hint = "give more --budget, or a smaller --bootstrap";
        bootstrap.check(machine, table).map_err(|error| report::with_hint(error, hint))
    }

    /// Fits the resamples, if they are requested.
    pub(super) fn run(
        &self,
        (plan, fitted): (&Plan, &Fitted),
        (start, table): (&Machine, &Table),
        budget: Budget,
        common: &Common,
    ) -> anyhow::Result<Intervals> {
        let Some(bootstrap) = self.settings(budget, common) else { return Ok(Intervals::default()) };
        if signals::heed() {
            let text =
                "the fit was stopped: no resamples are fitted, and the network is written without intervals";
            common.warning("no-intervals", text, json!({ "requested": bootstrap.resamples }));
            return Ok(Intervals::default());
        }
        let shown = !common.quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(bootstrap.resamples as u64), target);
        bar.set_style(ProgressStyle::with_template(
            "{spinner} resample {pos} of {len}  {elapsed} gone, {eta} left",
        )?);
        let found = plan.resample(&bootstrap, (start, table), fitted, &|done, _| {
            bar.set_position(done as u64);
            if signals::heed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        bar.finish_and_clear();
        Ok(match found {
            Ok(found) => {
                common.diagnose(found.notes.iter().cloned());
                let (done, asked) = (found.resamples, bootstrap.resamples);
                let is_enough = bootstrap.is_enough(&found);
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
                common.warning(
                    "no-intervals",
                    format!("{error}; the network is written without intervals"),
                    json!({ "requested": bootstrap.resamples }),
                );
                Intervals::default()
            }
            Err(error) => {
                common.warning(
                    "no-intervals",
                    "the resamples failed: model and network are written, without intervals",
                    json!({ "requested": bootstrap.resamples, "why": error.to_string() }),
                );
                Intervals { found: None, failure: Some(error) }
            }
        })
    }

    fn level(&self) -> f64 {
        self.level.unwrap_or(Bootstrap::default().level)
    }

    /// What the intervals rest on, for JSON.
    pub(super) fn document(&self, found: &Bootstrapped) -> Value {
        json!({
            "level": self.level(),
            "resamples": found.resamples,
            "unconverged": found.unconverged,
            "failed": found.failed,
        })
    }
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
