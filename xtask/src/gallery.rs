//! The gallery: runs every experiment, copies the figures to `docs/gallery`, and writes a page with
//! a table of verdicts and the checks of each experiment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::say;

const PAGE: &str = "docs/gallery.md";
const FIGURES: &str = "docs/gallery";

/// What `isinglass reproduce all --json` prints, as far as the page needs it.
#[derive(Deserialize)]
struct Document {
    experiments: Vec<Experiment>,
}

#[derive(Deserialize)]
struct Experiment {
    name: String,
    title: String,
    source: String,
    claim: String,
    verdict: String,
    checks: Vec<Check>,
    remarks: String,
}

#[derive(Deserialize)]
struct Check {
    claim: String,
    measured: String,
    holds: bool,
}

/// Runs all experiments, at the sources' sizes or smaller ones, and writes the page.
pub(crate) fn run(quick: bool) -> Result<(), String> {
    let folder = crate::bench::target().join("gallery");
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--package", "isinglass-cli", "--", "reproduce", "all", "--json", "-o"]);
    command.arg(&folder).args(quick.then_some("--quick")).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cargo run: {error}"))?;
    if !output.status.success() {
        return Err(format!("isinglass reproduce all: {}", output.status));
    }
    let Document { experiments } = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("isinglass reproduce all: {error}"))?;
    fs::create_dir_all(FIGURES).map_err(|error| format!("{FIGURES}: {error}"))?;
    for Experiment { name, .. } in &experiments {
        let figure = format!("{name}.svg");
        copy(&folder.join(&figure), &Path::new(FIGURES).join(&figure))?;
    }
    fs::write(PAGE, page(&experiments, quick)).map_err(|error| format!("{PAGE}: {error}"))?;
    say(&format!("{PAGE} shows {} experiments", experiments.len()));
    Ok(())
}

/// The whole page: introduction, table of verdicts, experiments.
fn page(experiments: &[Experiment], quick: bool) -> String {
    let (sizes, option) =
        if quick { ("smaller than those of the sources", " --quick") } else { ("those of the sources", "") };
    let rows: String = experiments.iter().map(row).collect();
    let entries: String = experiments.iter().map(entry).collect();
    format!(
        "# Gallery\n\n\
         The experiments of the sources, rerun with seed 0; sizes are {sizes}. `isinglass reproduce NAME -o DIR{option}` runs \
         one of them and writes its numbers (CSV), its figure and a text with the method. This page is written by \
         `cargo xtask gallery{option}`.\n\n\
         | experiment | source | verdict | claim |\n|---|---|---|---|\n{rows}{entries}"
    )
}

/// A line of the table of verdicts.
fn row(experiment: &Experiment) -> String {
    let Experiment { name, title, source, verdict, .. } = experiment;
    let verdict = if verdict == "holds" { verdict.clone() } else { format!("**{verdict}**") };
    format!("| [{name}](#{}) | {} | {verdict} | {} |\n", anchor(name, title), cell(source), cell(title))
}

/// Claim, figure, table of checks, verdict and remarks.
fn entry(experiment: &Experiment) -> String {
    let Experiment { name, title, source, claim, verdict, checks, remarks } = experiment;
    let checks: String = checks.iter().map(check_row).collect();
    let remarks = if remarks.is_empty() { String::new() } else { format!(" {remarks}") };
    format!(
        "\n## {name}: {title}\n\n{claim} *({source})*\n\n![{title}](gallery/{name}.svg)\n\n\
         | claim | measured | holds |\n|---|---|---|\n{checks}\n**Verdict: {verdict}.**{remarks}\n"
    )
}

/// A line of the table of checks.
fn check_row(Check { claim, measured, holds }: &Check) -> String {
    let holds = if *holds { "yes" } else { "**no**" };
    format!("| {} | {} | {holds} |\n", cell(claim), cell(measured))
}

/// A text as a cell of a Markdown table, where a bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The anchor that GitHub gives to an experiment's heading: lower case, spaces as hyphens, and no
/// other punctuation.
fn anchor(name: &str, title: &str) -> String {
    format!("{name}: {title}")
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

fn copy(from: &Path, to: &Path) -> Result<PathBuf, String> {
    fs::copy(from, to).map_err(|error| format!("{}: {error}", from.display()))?;
    Ok(to.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_table_of_verdicts_and_a_table_of_checks() {
        let check = |claim: &str, holds| Check { claim: claim.into(), measured: "|w| = 0.3".into(), holds };
        let experiment = Experiment {
            name: "kappen-9".into(),
            title: "Exact, or not: a test".into(),
            source: "Kappen 1997".into(),
            claim: "It holds.".into(),
            verdict: "holds in part".into(),
            checks: vec![check("small", true), check("large", false)],
            remarks: "Large weights differ.".into(),
        };
        let page = page(&[experiment], false);
        for line in [
            "| [kappen-9](#kappen-9-exact-or-not-a-test) | Kappen 1997 | **holds in part** | Exact, or not: a test |",
            "## kappen-9: Exact, or not: a test",
            "It holds. *(Kappen 1997)*",
            "| small | \\|w\\| = 0.3 | yes |",
            "| large | \\|w\\| = 0.3 | **no** |",
            "**Verdict: holds in part.** Large weights differ.",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }
}
