//! `isinglass query`: the probabilities of every joint state of a few units.

use anyhow::Context;
use clap::Args as ClapArgs;
use isinglass::JointTable;
use serde_json::{Map, Value, json};

use crate::engine_options::{EngineOptions, Task};
use crate::options::{Common, ModelWithEvidence, Usage, find, split_list};
use crate::report;

#[derive(ClapArgs)]
#[command(
    after_help = "Example:\n  isinglass make chain --units 5 --coupling 0.5 -o chain.json\n  isinglass query chain.json --ask x1,x4 --given x0=+1"
)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelWithEvidence,
    /// The units to ask for
    #[arg(long, value_name = "UNIT,…")]
    ask: String,
    #[command(flatten)]
    engine: EngineOptions,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let (machine, evidence) = args.model.read(args.engine.choice.budget)?;
    let names = split_list(&args.ask);
    let asked: Vec<usize> =
        names.iter().map(|name| find(&machine, name)).collect::<Result<_, _>>().context("--ask")?;
    for (k, unit) in asked.iter().enumerate() {
        let name = machine.name(*unit);
        if asked[..k].contains(unit) {
            return Err(Usage(format!("--ask: unit '{name}' is asked for twice")).into());
        }
        if evidence.get(*unit).is_some() {
            return Err(Usage(format!("--ask: unit '{name}' is both asked for and given")).into());
        }
    }
    let engine = args
        .engine
        .settings(common.seed)
        .choose(&machine, &evidence, Task::Answer, &|note| common.choice(&note))
        .map_err(report::failed)?;
    let table = engine.joint(&machine, &evidence, &asked).map_err(report::advised)?;
    report::warn_unless_converged(common, engine.name(), table.guarantee, &table.diagnostics);
    let errors = table.errors.as_ref().map(|errors| table.diagnostics.known_errors(errors));
    let names: Vec<&str> = asked.iter().map(|&unit| machine.name(unit)).collect();
    let states: Vec<Vec<i8>> =
        (0..table.probabilities.len()).map(|number| JointTable::state(asked.len(), number)).collect();
    if common.json {
        let given = (0..machine.unit_count()).filter_map(|unit| {
            let spin = evidence.get(unit)?;
            Some((machine.name(unit).to_owned(), json!(spin.value())))
        });
        let rows: Vec<Value> = states
            .iter()
            .enumerate()
            .map(|(k, state)| {
                let mut row = json!({"state": state, "p": table.probabilities[k]});
                if let Some(errors) = &errors {
                    row["p_error"] = json!(errors[k]);
                }
                row
            })
            .collect();
        let mut document = json!({
            "ask": names,
            "given": Map::from_iter(given),
            "table": rows,
            "engine": engine.name(),
            "guarantee": table.guarantee.word(),
            "converged": table.diagnostics.converged,
        });
        if errors.is_some() {
            document["mixing"] = report::mixing(&table.diagnostics);
        }
        return common.print_json(&document);
    }
    let mut out = report::provenance(engine.name(), table.guarantee, &table.diagnostics);
    let mut header = names.clone();
    header.push("P");
    header.extend(errors.is_some().then_some("error"));
    let rows: Vec<Vec<String>> = states
        .iter()
        .enumerate()
        .map(|(k, state)| {
            let mut row: Vec<String> = state.iter().map(|s| format!("{s:+}")).collect();
            row.push(format!("{:.6}", table.probabilities[k]));
            row.extend(errors.as_ref().map(|errors| report::standard_error(errors[k], 4)));
            row
        })
        .collect();
    out += &format!("\n{}", report::columns(&header, &rows));
    report::text(&out)
}
