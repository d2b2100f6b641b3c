//! `isinglass infer`: log Z, means, correlations, free or clamped.

use std::collections::HashSet;

use anyhow::Context;
use clap::{Args as ClapArgs, ValueEnum};
use isinglass::bracket::Bracket;
use isinglass::engine::{Open, StandardErrors};
use isinglass::{Cumulants, Evidence, Expectations, Guarantee, Machine, PairMoments, Pairs};
use isinglass_plan::Warning;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::engine_options::{EngineOptions, Task};
use crate::options::{Common, ModelWithEvidence, Usage, find, split_list};
use crate::report::{self, count};

#[derive(ClapArgs)]
#[command(
    after_help = "Example:\n  isinglass make chain --units 5 --coupling 0.5 -o chain.json\n  isinglass infer chain.json --given x0=+1\n  isinglass make full --units 40 --coupling 0.05 -o full.json\n  isinglass infer full.json --bracket"
)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelWithEvidence,
    /// Which correlations to give
    #[arg(long, value_name = "WHICH", default_value = "edges")]
    pairs: PairChoice,
    /// Also give the cumulants of all subsets of up to four units; a unit may stand more than once
    #[arg(long, value_name = "UNIT,…")]
    cumulants: Option<String>,
    /// Give log Z between two rigorous bounds: the best that there are, or that of --engine on its
    /// side. Means and correlations are those of the lower bound (with --engine trw or logdet, of the
    /// upper one)
    #[arg(long, conflicts_with = "cumulants")]
    bracket: bool,
    #[command(flatten)]
    engine: EngineOptions,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum PairChoice {
    /// Those of the machine's edges
    Edges,
    /// Those of all pairs of units
    All,
    /// None
    None,
}

impl From<PairChoice> for Pairs {
    fn from(choice: PairChoice) -> Self {
        match choice {
            PairChoice::Edges => Self::Edges,
            PairChoice::All => Self::All,
            PairChoice::None => Self::None,
        }
    }
}

/// Correlations and means printed in the text report; JSON has them all.
const SHOWN: usize = 30;
const SHOWN_MEANS: usize = 500;

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let (machine, evidence) = args.model.read(args.engine.choice.budget)?;
    let cumulants_of = args.cumulants.as_deref().map(|list| cumulant_units(&machine, list)).transpose()?;
    if args.bracket {
        return run_bracket(args, &machine, &evidence, common);
    }
    let engine = args
        .engine
        .settings(common.seed)
        .choose(&machine, &evidence, Task::Answer, &|note| common.choice(&note))
        .map_err(report::failed)?;
    let answer = engine.expectations(&machine, &evidence, args.pairs.into()).map_err(report::advised)?;
    report::warn_unless_converged(common, engine.name(), answer.guarantee, &answer.diagnostics);
    common.diagnose(Warning::of_correlations(engine.name(), &answer));
    if !engine.has_log_z() {
        let name = engine.name();
        common.note("no-log-z", format!("the engine {name} has no log Z"), json!({ "engine": name }));
    }
    let cumulants = cumulants_of
        .map(|units| engine.cumulants(&machine, &evidence, &units))
        .transpose()
        .map_err(report::advised)?;
    if common.json {
        let errors = answer.known_errors();
        let document = Document::new(&machine, engine.name(), &answer, errors.as_ref());
        return common.print_json(&document.with_cumulants(&machine, cumulants.as_ref()));
    }
    let mut out = plain(&machine, engine.name(), &answer);
    if let Some(cumulants) = &cumulants {
        let row = |(names, x): (Vec<&str>, f64)| vec![names.join(" "), format!("{x:.6}")];
        let rows: Vec<Vec<String>> = named(&machine, cumulants).map(row).collect();
        out += &format!(
            "\ncumulants: {}\n{}",
            cumulants.guarantee,
            report::columns(&["units", "cumulant"], &rows)
        );
    }
    report::text(&out)
}

/// log Z between two bounds, and what the engine of one of them says of the rest.
fn run_bracket(args: &Args, machine: &Machine, evidence: &Evidence, common: &Common) -> anyhow::Result<()> {
    let settings = args.engine.settings(common.seed);
    settings.check_bracket().map_err(Usage::from)?;
    let open = Open::alike(evidence.clone());
    let bounds = settings.bounds(machine, &open, &|note| common.choice(&note)).map_err(report::failed)?;
    let bracket = bounds.log_z(machine, evidence, args.pairs.into()).map_err(report::advised)?;
    let shown = if settings.shows_upper() { &bracket.above } else { &bracket.below };
    for side in [&bracket.below, &bracket.above] {
        report::warn_unless_converged(common, side.engine, side.answer.guarantee, &side.answer.diagnostics);
    }
    common.diagnose(Warning::of_correlations(shown.engine, &shown.answer));
    if common.json {
        let errors = shown.answer.known_errors();
        let document = Document::new(machine, shown.engine, &shown.answer, errors.as_ref());
        return common.print_json(&document.with_bracket(&bracket));
    }
    let lines = format!(
        "log Z >= {:.10} ({})\nlog Z <= {:.10} ({})\nwidth    {:.6}\n\n",
        bracket.lower(),
        bracket.below.engine,
        bracket.upper(),
        bracket.above.engine,
        bracket.width()
    );
    report::text(&(lines + &plain(machine, shown.engine, &shown.answer)))
}

/// The units of `--cumulants`.
fn cumulant_units(machine: &Machine, list: &str) -> anyhow::Result<Vec<usize>> {
    let names = split_list(list);
    if names.len() > Cumulants::MAX_ORDER {
        let problem =
            format!("--cumulants: found {} units, expected at most {}", names.len(), Cumulants::MAX_ORDER);
        return Err(Usage(problem).into());
    }
    names.iter().map(|name| find(machine, name).context("--cumulants")).collect()
}

/// Each cumulant with the names of its units; where a unit stands more than once in the list, each
/// choice of units is listed once.
fn named<'a>(machine: &'a Machine, cumulants: &'a Cumulants) -> impl Iterator<Item = (Vec<&'a str>, f64)> {
    let mut listed = HashSet::new();
    cumulants.iter().filter_map(move |(places, x)| {
        let mut units: Vec<usize> = places.iter().map(|&place| cumulants.units[place]).collect();
        let names = units.iter().map(|&unit| machine.name(unit)).collect();
        units.sort_unstable();
        listed.insert(units).then_some((names, x))
    })
}

/// The JSON document; a million units are written as they come, not gathered in a tree first.
#[derive(Serialize)]
struct Document<'a> {
    engine: &'a str,
    guarantee: &'a str,
    log_z: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bracket: Option<Value>,
    means: ByName<'a>,
    correlations: ByPair<'a>,
    converged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    iteration: Option<Value>,
    #[serde(flatten)]
    errors: Option<Errors<'a>>,
    #[serde(flatten)]
    cumulants: Option<CumulantList<'a>>,
}

#[derive(Serialize)]
struct Errors<'a> {
    log_z_error: Option<f64>,
    means_error: ByName<'a>,
    correlations_error: ByPair<'a>,
    mixing: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    importance: Option<Value>,
}

#[derive(Serialize)]
struct CumulantList<'a> {
    cumulants: Vec<(Vec<&'a str>, f64)>,
    cumulants_guarantee: &'a str,
}

impl<'a> Document<'a> {
    fn new(
        machine: &'a Machine,
        engine: &'a str,
        answer: &'a Expectations,
        errors: Option<&'a StandardErrors>,
    ) -> Self {
        let by_pair = |values| ByPair { machine, moments: &answer.correlations, values };
        Self {
            engine,
            guarantee: answer.guarantee.word(),
            log_z: answer.log_z,
            bracket: None,
            means: ByName { machine, values: &answer.means },
            correlations: by_pair(&answer.correlations.values),
            converged: answer.diagnostics.converged,
            iteration: report::iteration(&answer.diagnostics),
            errors: errors.map(|errors| Errors {
                // NaN, which is null in JSON, where they are unknown.
                log_z_error: errors.log_z,
                means_error: ByName { machine, values: &errors.means },
                correlations_error: by_pair(&errors.correlations),
                mixing: report::mixing(&answer.diagnostics),
                importance: report::importance(&answer.diagnostics),
            }),
            cumulants: None,
        }
    }

    fn with_cumulants(mut self, machine: &'a Machine, cumulants: Option<&'a Cumulants>) -> Self {
        self.cumulants = cumulants.map(|cumulants| CumulantList {
            cumulants: named(machine, cumulants).collect(),
            cumulants_guarantee: cumulants.guarantee.word(),
        });
        self
    }

    fn with_bracket(mut self, bracket: &Bracket) -> Self {
        self.bracket = Some(json!({
            "lower": bracket.lower(),
            "upper": bracket.upper(),
            "width": bracket.width(),
            "lower_engine": bracket.below.engine,
            "upper_engine": bracket.above.engine,
            "converged": bracket.below.answer.diagnostics.converged && bracket.above.answer.diagnostics.converged,
        }));
        self
    }
}

/// A number for each unit.
struct ByName<'a> {
    machine: &'a Machine,
    values: &'a [f64],
}

impl Serialize for ByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.machine.names().iter().zip(self.values))
    }
}

/// A number for each pair.
struct ByPair<'a> {
    machine: &'a Machine,
    moments: &'a PairMoments,
    values: &'a [f64],
}

impl Serialize for ByPair<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pairs = self.moments.iter(self.machine.graph()).zip(self.values);
        serializer.collect_seq(pairs.map(|(((a, b), _), x)| (self.machine.name(a), self.machine.name(b), x)))
    }
}

/// How log Z stands to its answer.
fn sign(guarantee: Guarantee) -> &'static str {
    match guarantee {
        Guarantee::LowerBound => ">=",
        Guarantee::UpperBound => "<=",
        Guarantee::Approximation | Guarantee::Estimate => "≈",
        Guarantee::Exact => "=",
    }
}

fn plain(machine: &Machine, engine: &str, answer: &Expectations) -> String {
    let mut out = report::provenance(engine, answer.guarantee, &answer.diagnostics);
    let errors = answer.known_errors();
    if let Some(log_z) = answer.log_z {
        out += &match errors.as_ref().and_then(|errors| errors.log_z) {
            Some(error) => format!("log Z = {log_z:.6} ± {}\n", report::standard_error(error, 6)),
            None => format!("log Z {} {log_z:.10}\n", sign(answer.guarantee)),
        };
    }
    let with_error = errors.is_some();
    let error =
        |values: Option<&Vec<f64>>, k: usize| values.map(|errors| report::standard_error(errors[k], 4));
    let mut header = vec!["unit", "mean", "P(+1)"];
    header.extend(with_error.then_some("error of mean"));
    let rows: Vec<Vec<String>> = (0..machine.unit_count().min(SHOWN_MEANS))
        .map(|unit| {
            let mean = answer.means[unit];
            let mut row = vec![
                machine.name(unit).to_owned(),
                format!("{mean:.6}"),
                format!("{:.6}", f64::midpoint(1.0, mean)),
            ];
            row.extend(error(errors.as_ref().map(|e| &e.means), unit));
            row
        })
        .collect();
    out += &format!("\n{}", report::columns(&header, &rows));
    if machine.unit_count() > SHOWN_MEANS {
        let more = count(machine.unit_count() - SHOWN_MEANS, "more unit");
        out += &format!("({more}; --json gives them all)\n");
    }

    let mut pairs: Vec<(usize, (usize, usize), f64)> = answer
        .correlations
        .iter(machine.graph())
        .enumerate()
        .map(|(k, (pair, value))| (k, pair, value))
        .collect();
    if pairs.is_empty() {
        return out;
    }
    let total = pairs.len();
    if total > SHOWN {
        pairs.sort_by(|x, y| y.2.abs().total_cmp(&x.2.abs()).then(x.0.cmp(&y.0)));
        pairs.truncate(SHOWN);
    }
    let mut header = vec!["pair", "correlation"];
    header.extend(with_error.then_some("error"));
    let rows: Vec<Vec<String>> = pairs
        .iter()
        .map(|&(k, (a, b), value)| {
            let mut row = vec![format!("{} {}", machine.name(a), machine.name(b)), format!("{value:.6}")];
            row.extend(error(errors.as_ref().map(|e| &e.correlations), k));
            row
        })
        .collect();
    out += &format!("\n{}", report::columns(&header, &rows));
    if total > SHOWN {
        out += &format!("({} more, all weaker; --json gives them all)\n", total - SHOWN);
    }
    out
}
