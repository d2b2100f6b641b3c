//! `fit`: the network of the machine that was found, its measures, and how sure they are.

use std::path::PathBuf;

use clap::Args;
use isinglass::learn::Difference;
use isinglass::network::{Kept, Stability, Study, UnitMeasure};
use isinglass::{Machine, Table};
use isinglass_files::{Output, write_measures};
use isinglass_plan::FitSettings;
use serde_json::json;

use crate::commands::measures;
use crate::options::Common;

/// Files of measures.
#[derive(Args)]
#[command(next_help_heading = "Network")]
pub(super) struct StudyOptions {
    /// Write the centralities of the units to a CSV file: strength, expected influence, closeness,
    /// betweenness, and how well each column is predicted by the others (accuracy, normalised
    /// accuracy); with --bootstrap, each with its interval
    #[arg(long, value_name = "FILE.csv")]
    pub(super) centrality: Option<PathBuf>,
    /// Write difference tests between the centralities of units, and between couplings, to a CSV
    /// file: intervals of the differences over resamples, without correction for their number
    #[arg(long, value_name = "FILE.csv", requires = "bootstrap")]
    pub(super) differences: Option<PathBuf>,
    /// Write the correlations behind the CS coefficients to a CSV file
    #[arg(long, value_name = "FILE.csv", requires = "case_dropping")]
    pub(super) stability: Option<PathBuf>,
}

/// The most couplings whose differences are tested, the strongest: their pairs fill half a million
/// lines.
const MOST_COMPARED: usize = 1000;

/// Places for the files, reserved before the work.
pub(super) struct StudyOutputs {
    centrality: Option<Output>,
    differences: Option<Output>,
    stability: Option<Output>,
}

impl StudyOptions {
    pub(super) fn reserve(&self) -> anyhow::Result<StudyOutputs> {
        let reserve = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
        Ok(StudyOutputs {
            centrality: reserve(&self.centrality)?,
            differences: reserve(&self.differences)?,
            stability: reserve(&self.stability)?,
        })
    }

    /// The measures of a machine.
    pub(super) fn of(
        settings: &FitSettings,
        machine: &Machine,
        table: &Table,
        common: &Common,
    ) -> anyhow::Result<Study> {
        let study = settings.engine.study(machine, Some(table))?;
        if !study.has(UnitMeasure::Accuracy) {
            let text = "no exact engine is within the budget for the rows: predictability is not computed";
            common.note("unavailable", text, json!({ "what": ["predictability"] }));
        }
        Ok(study)
    }
}

impl StudyOutputs {
    /// Writes the files that were requested, where there is anything to write.
    pub(super) fn write(self, machine: &Machine, study: &Study, common: &Common) -> anyhow::Result<()> {
        if let Some(output) = self.centrality {
            measures::write_centrality(machine, study, output)?;
        }
        if let Some(output) = self.differences {
            write_differences(machine, study, output, common)?;
        }
        if let (Some(mut output), Some(stability)) = (self.stability, &study.stability) {
            let header = ["measure", "dropped", "subsets", "mean", "lower", "upper", "share"];
            write_measures(&header, rows_of(stability), &mut output).map_err(|error| output.error(&error))?;
            output.commit()?;
        }
        Ok(())
    }
}

/// A row for each measure and share of rows left out.
fn rows_of(stability: &Stability) -> impl Iterator<Item = (Vec<&'static str>, Vec<f64>)> {
    Kept::ALL.iter().enumerate().flat_map(|(k, kept)| {
        stability.levels.iter().map(move |level| {
            let numbers = [level.mean[k], level.low[k], level.high[k], level.share[k]];
            (vec![kept.word()], [&[level.dropped, level.subsets as f64], &numbers[..]].concat())
        })
    })
}

/// A row for each pair of units and measure, and for each pair of couplings that are not 0.
fn write_differences(
    machine: &Machine,
    study: &Study,
    mut output: Output,
    common: &Common,
) -> anyhow::Result<()> {
    let Some(bootstrap) = &study.bootstrap else { return Ok(()) };
    let row = |names: Vec<String>, found: Difference| {
        let significant = f64::from(u8::from(found.is_significant()));
        (names, vec![found.fitted, found.low, found.high, significant])
    };
    let units = machine.unit_count();
    let of_units = UnitMeasure::ALL.into_iter().filter(|&measure| study.has(measure)).flat_map(|measure| {
        let pairs = (0..units).flat_map(move |a| (a + 1..units).map(move |b| (a, b)));
        pairs.filter_map(move |(a, b)| {
            let names = [measure.word(), machine.name(a), machine.name(b)].map(str::to_owned);
            Some(row(names.into(), study.difference(measure, a, b)?))
        })
    });
    let weights = machine.weights();
    let mut edges: Vec<usize> = (0..weights.len()).filter(|&edge| weights[edge] != 0.0).collect();
    if edges.len() > MOST_COMPARED {
        edges.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()).then(a.cmp(&b)));
        edges.truncate(MOST_COMPARED);
        edges.sort_unstable();
        let text = format!("differences are those of the {MOST_COMPARED} strongest couplings");
        common.note("strongest-compared", text, json!({ "couplings": MOST_COMPARED }));
    }
    let name = |edge: usize| {
        let (a, b) = machine.graph().edges()[edge];
        format!("{}--{}", machine.name(a), machine.name(b))
    };
    let edges = &edges;
    let of_couplings = edges.iter().enumerate().flat_map(|(k, &a)| {
        edges[k + 1..].iter().map(move |&b| {
            row(vec!["coupling".to_owned(), name(a), name(b)], bootstrap.coupling_difference(a, b))
        })
    });
    let header = ["measure", "a", "b", "difference", "lower", "upper", "significant"];
    write_measures(&header, of_units.chain(of_couplings), &mut output)
        .map_err(|error| output.error(&error))?;
    Ok(output.commit()?)
}
