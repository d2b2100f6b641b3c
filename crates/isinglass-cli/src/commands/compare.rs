//! `isinglass compare`: groups against each other.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args as ClapArgs;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use isinglass::learn::{Differences, Groups, Joint, Tested};
use isinglass_files::{Encodings, Output, read_groups};
use isinglass_plan::{
    Asked, CompareOptions, CompareRequest, Comparison, FitSettings, Hidden, LearnerName, Missing,
};
use serde_json::json;

use super::fit::structure::Structure;
use crate::engine_options::{EngineChoice, EngineName, engines_for};
use crate::options::{Columns, Common, Usage, keep_apart, keep_inputs, split_list};
use crate::report::{self, count};

/// So many couplings and biases are printed.
const SHOWN: usize = 20;

#[derive(ClapArgs)]
#[command(
    mut_arg("engine", |engine| engine.value_parser(engines_for(Asked::Likelihood))),
    after_help = "Examples (the first command writes the tables):\n  isinglass demo\n  isinglass compare isinglass-demo/votes.csv --by democrat --missing drop --permutations 19\n  isinglass compare isinglass-demo/votes.csv --by democrat --permutations 9 --figure d.svg"
)]
pub(crate) struct Args {
    /// The tables of the groups, two or more with the same columns; or one table with --by
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// Take the groups of one table from the text in a column
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// The names of the groups [default: those of the files]
    #[arg(long, value_name = "NAME,…", conflicts_with = "by")]
    names: Option<String>,
    #[command(flatten)]
    columns: Columns,
    /// Missing cells: em (as the learner does: summed out, or refused), drop (their rows are left
    /// out), impute:N (each is filled by N draws from a machine of all rows)
    #[arg(long, value_name = "WAY", default_value = "em")]
    missing: Missing,
    #[command(flatten)]
    compare: CompareOptions,
    /// Also fit the groups together, with a part of each coupling and bias that all share and parts of
    /// their own, and say by the extended BIC which differ (--gamma, --rule)
    #[arg(long)]
    joint: bool,
    /// Write all differences and their tests to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Draw the differences
    #[arg(long, value_name = "FILE.svg")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    structure: Structure,
    /// How to learn
    #[arg(long, value_name = "LEARNER", default_value = "auto")]
    learner: LearnerName,
    #[command(flatten)]
    settings: FitSettings,
    #[command(flatten)]
    engine: EngineChoice,
    /// likelihood: the engine with the table's cells clamped, where hidden units or missing cells
    /// are left [default: that of --engine; mean-field with mixture]
    #[arg(long, value_name = "ENGINE", help_heading = "Engine", value_parser = engines_for(Asked::Likelihood))]
    clamped_engine: Option<EngineName>,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let began = Instant::now();
    let settings = args.settings(common.seed);
    if args.structure.hidden == Hidden::Auto {
        return Err(
            Usage("--hidden auto is not supported by compare: all fits have one structure".into()).into()
        );
    }
    settings.check(args.structure.hidden.count(), false).map_err(Usage::from)?;
    let inputs: Vec<&Path> = args.tables.iter().map(PathBuf::as_path).collect();
    let outputs = [args.csv.as_deref(), args.figure.as_deref()];
    for output in outputs.into_iter().flatten() {
        keep_inputs(output, &inputs)?;
    }
    let named = [("--csv", args.csv.as_deref()), ("--figure", args.figure.as_deref())];
    keep_apart(named.into_iter().filter_map(|(option, path)| Some((option, path?))))?;
    let groups = args.groups(common)?;
    let [csv, figure] = outputs.map(|path| path.map(Output::create).transpose());
    let (csv, figure) = (csv?, figure?);
    let pooled = groups.pooled()?;
    let structure = args.structure.of(&pooled)?.machine(
        &pooled,
        args.learner == LearnerName::Factorized,
        args.engine.budget,
    )?;

    let shown = !common.quiet && std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_style(ProgressStyle::with_template("{spinner} fit {pos} of {len}  {elapsed} gone, {eta} left")?);
    let found = settings.compare(
        &structure,
        &groups,
        CompareRequest { tests: args.compare.0, missing: args.missing, joint: args.joint },
        &|done, of| {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        },
        &|note| common.choice(&note),
    );
    bar.finish_and_clear();
    let found = found.map_err(report::failed)?;
    common.diagnose(found.compared.notes.iter().cloned());
    common.diagnose(found.warnings(groups.names()));
    if let Some(mut output) = csv {
        let text = found.csv(groups.names());
        output.write_all(text.as_bytes()).map_err(|error| output.error(&error))?;
        output.commit()?;
    }
    if let Some(mut output) = figure {
        let text = isinglass_lab::compare::figure(groups.names(), &found.structure, &found.compared);
        output.write_all(text.as_bytes()).map_err(|error| output.error(&error))?;
        output.commit()?;
    }
    if common.json {
        let mut document = found.document(groups.names(), &args.compare.0);
        document["seconds"] = json!(began.elapsed().as_secs_f64());
        return common.print_json(&document);
    }
    report::text(&plain(&found, groups.names(), args.compare.0.permutations, began.elapsed().as_secs_f64()))
}

impl Args {
    fn settings(&self, seed: u64) -> FitSettings {
        let mut settings = self.settings.clone();
        settings.learner = self.learner;
        settings.engine.engine = self.engine.engine;
        settings.clamped_engine = self.clamped_engine;
        settings.with_common(self.engine.common(seed))
    }

    fn groups(&self, common: &Common) -> anyhow::Result<Groups> {
        let budget = self.engine.budget;
        if let Some(by) = &self.by {
            let [table] = &self.tables[..] else {
                return Err(Usage(format!("--by takes one table, found {}", self.tables.len())).into());
            };
            let encodings = self.columns.encodings(table, budget)?;
            let options = self.columns.options(&encodings, Encodings::default(), budget);
            let found = read_groups(table, by, &options)?;
            if found.unlabelled > 0 {
                let text =
                    format!("{} without a label in column '{by}' left out", count(found.unlabelled, "row"));
                common.note("unlabelled-rows", text, json!({ "rows": found.unlabelled, "column": by }));
            }
            return Ok(Groups::new(found.names, &found.tables)?);
        }
        if self.tables.len() < 2 {
            return Err(Usage("found one table, expected two or more, or --by COLUMN".into()).into());
        }
        if self.columns.takes_medians() {
            let problem =
                "--binarize median takes one table with --by; several tables need one threshold for all";
            return Err(Usage(problem.into()).into());
        }
        let names = match &self.names {
            Some(names) => split_list(names),
            None => self.tables.iter().map(|path| name_of(path)).collect(),
        };
        if names.len() != self.tables.len() {
            let problem = format!(
                "--names has {}, for {}",
                count(names.len(), "name"),
                count(self.tables.len(), "table")
            );
            return Err(Usage(problem).into());
        }
        let tables: Vec<isinglass::Table> = self
            .tables
            .iter()
            .map(|path| self.columns.read_for(path, None, budget))
            .collect::<anyhow::Result<_>>()?;
        Ok(Groups::new(names, &tables)?)
    }
}

/// The name of a file without its folder and ending.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(&name).to_owned()
}

fn plain(found: &Comparison, names: &[String], permutations: usize, seconds: f64) -> String {
    let compared = &found.compared;
    let by = found.engine.map_or_else(String::new, |engine| format!(" with engine {engine}"));
    let mut out = format!(
        "learner {}{by}, {} of labels, {seconds:.1} s\n\n",
        found.learner,
        count(permutations, "permutation")
    );
    let group = |(k, name): (usize, &String)| {
        vec![name.clone(), found.rows[k].to_string(), format!("{:.4}", compared.strengths[k])]
    };
    let rows: Vec<Vec<String>> = names.iter().enumerate().map(group).collect();
    out += &report::columns(&["group", "rows", "strength"], &rows);
    let is_single = compared.pairs.len() == 1;
    let title = |pair: (usize, usize)| format!("{} − {}", names[pair.1], names[pair.0]);
    if !is_single {
        out += "\nlargest differences of all pairs\n";
    }
    let of_pair = |differences: &Differences| {
        [("strength", &differences.strength), ("structure", &differences.structure)].map(|(name, test)| {
            vec![
                name.to_owned(),
                title(test.pair),
                format!("{:.4}", test.difference),
                interval(test),
                p(test.p),
            ]
        })
    };
    let mut rows: Vec<Vec<String>> = of_pair(&compared.overall).into();
    if !is_single {
        rows.extend(compared.pairs.iter().flat_map(of_pair));
    }
    out.push('\n');
    out += &report::columns(&["", "groups", "difference", "interval", "p"], &rows);
    let unit = |k: usize| found.structure.name(k).to_owned();
    if let Some(joint) = &found.joint {
        out += &jointly(joint, found, names);
    }
    let couplings = compared.couplings.iter().map(|&(a, b)| format!("{} – {}", unit(a), unit(b)));
    let biases = compared.units.iter().map(|&k| unit(k));
    for (title_of, names, tests) in [
        ("coupling", couplings.collect::<Vec<_>>(), &compared.overall.couplings),
        ("bias", biases.collect(), &compared.overall.biases),
    ] {
        let mut order: Vec<usize> = (0..tests.len()).collect();
        order.sort_by(|&a, &b| {
            let size = |k: usize| tests[k].difference.abs();
            tests[a].p.total_cmp(&tests[b].p).then(size(b).total_cmp(&size(a)))
        });
        let row = |&k: &usize| {
            let test = &tests[k];
            let mut cells = vec![names[k].clone()];
            if !is_single {
                cells.push(title(test.pair));
            }
            cells.extend([
                format!("{:.4}", test.difference),
                interval(test),
                p(test.p),
                p(test.p_holm),
                p(test.p_bh),
            ]);
            cells
        };
        let rows: Vec<Vec<String>> = order.iter().take(SHOWN).map(row).collect();
        let mut header = vec![title_of];
        if !is_single {
            header.push("groups");
        }
        header.extend(["difference", "interval", "p", "p Holm", "p BH"]);
        out.push('\n');
        out += &report::columns(&header, &rows);
        if order.len() > SHOWN {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "… and {} more: --csv has all", order.len() - SHOWN);
        }
    }
    out
}

/// The couplings and biases that differ by the extended BIC.
fn jointly(joint: &Joint, found: &Comparison, names: &[String]) -> String {
    let name = |unit: usize| found.structure.name(unit);
    let couplings = found.compared.couplings.iter().map(|&(a, b)| format!("{} – {}", name(a), name(b)));
    let biases = found.compared.units.iter().map(|&unit| name(unit).to_owned());
    let all = couplings.zip(&joint.couplings).chain(biases.zip(&joint.biases));
    let differing = all.filter(|(_, shared)| shared.differs);
    let rows: Vec<Vec<String>> = differing
        .map(|(name, shared)| {
            [name].into_iter().chain(shared.values.iter().map(|value| format!("{value:.4}"))).collect()
        })
        .collect();
    let (couplings, biases) = (joint.couplings.len(), joint.biases.len());
    let end = if joint.converged { "" } else { " (NOT converged)" };
    let head = format!(
        "\njoint fit{end}: {} of {couplings} couplings and {} of {biases} biases differ\n",
        joint.couplings.iter().filter(|shared| shared.differs).count(),
        joint.biases.iter().filter(|shared| shared.differs).count(),
    );
    let header: Vec<&str> = ["differs"].into_iter().chain(names.iter().map(String::as_str)).collect();
    if rows.is_empty() { head } else { head + &report::columns(&header, &rows) }
}

fn p(p: f64) -> String {
    format!("{p:.4}")
}

fn interval(test: &Tested) -> String {
    test.interval.map_or_else(|| "–".to_owned(), |(low, high)| format!("[{low:.3}, {high:.3}]"))
}
