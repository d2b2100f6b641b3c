//! `isinglass map`: the most probable state.

use clap::Args as ClapArgs;
use isinglass::engine::Meetings;
use isinglass_plan::Asked;
use serde_json::{Map, json};

use crate::engine_options::{EngineName, EngineOptions, engines_for};
use crate::options::{Common, ModelWithEvidence};
use crate::report;

#[derive(ClapArgs)]
#[command(
    mut_arg("engine", |engine| engine.value_parser(engines_for(Asked::Mode))),
    after_help = "Example:\n  isinglass make chain --units 5 --coupling 0.5 -o chain.json\n  isinglass map chain.json --given x0=-1\n  isinglass make grid --rows 40 --columns 40 --coupling normal:0,1 --bias normal:0,1 -o glass.json\n  isinglass map glass.json"
)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelWithEvidence,
    #[command(flatten)]
    engine: EngineOptions,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let (machine, evidence) = args.model.read(args.engine.choice.budget)?;
    let hint = if args.engine.choice.engine == EngineName::MaxProduct {
        "give more --budget, or clamp units with --given"
    } else {
        "give more --budget, or clamp units with --given; --engine temper finds good states of any machine, \
         --engine max-product does so with little memory"
    };
    let settings = args.engine.settings(common.seed);
    let found = settings.mode(&machine, &evidence, &|note| common.choice(&note));
    let (name, mode) = found.map_err(|error| report::with_hint(report::failed(error), hint))?;
    let met = mode.meetings.map(|Meetings { met, runs }| format!("{met} of {runs} independent runs met it"));
    if let (Some(met), false) = (&met, mode.diagnostics.converged) {
        let text = format!(
            "{name}: only {met}; more --sweeps or --replicas, or an exact engine, may find a better one"
        );
        let data = mode.meetings.map(|found| json!({ "engine": name, "met": found.met, "runs": found.runs }));
        common.note("seldom-met", text, data.unwrap_or_default());
    } else if !mode.diagnostics.converged {
        let text = format!(
            "{name}: messages still changed at the end; the state is the best one seen, and no single flip improves it. \
             Other --damping, more --max-sweeps or an exact engine may find a better one"
        );
        common.note("messages-changed", text, json!({ "engine": name }));
    }
    if common.json {
        let state = machine.names().iter().cloned().zip(mode.state.iter().map(|&s| json!(s)));
        return common.print_json(&json!({
            "state": Map::from_iter(state),
            "energy": mode.energy,
            "engine": name,
            "guarantee": mode.guarantee.word(),
            "converged": mode.diagnostics.converged,
            "met": mode.meetings.map(|meetings| meetings.met),
            "runs": mode.meetings.map(|meetings| meetings.runs),
        }));
    }
    let rows: Vec<Vec<String>> = (0..machine.unit_count())
        .map(|unit| vec![machine.name(unit).to_owned(), format!("{:+}", mode.state[unit])])
        .collect();
    report::text(&format!(
        "{}{}energy = {:.10}\n\n{}",
        report::provenance(name, mode.guarantee, &mode.diagnostics),
        met.map_or(String::new(), |met| met + "\n"),
        mode.energy,
        report::columns(&["unit", "state"], &rows)
    ))
}
