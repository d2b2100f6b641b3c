//! `isinglass map`: the most probable state.

use clap::Args as ClapArgs;
use isinglass::search::{MaxProduct, Mode, ModeFinder};
use isinglass::{Error, Evidence, Machine};
use serde_json::{Map, json};

use crate::engine_options::{EngineName, EngineOptions};
use crate::engines::Task;
use crate::options::{Common, ModelWithEvidence};
use crate::report;

/// Find the most probable state, free or with units clamped
#[derive(ClapArgs)]
#[command(
    after_help = "Example:\n  isinglass make chain --units 5 --coupling 0.5 -o chain.json\n  isinglass map chain.json --given x0=-1\n  isinglass make grid --rows 40 --columns 40 --coupling normal:0,1 --bias normal:0,1 -o glass.json\n  isinglass map glass.json --engine max-product"
)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelWithEvidence,
    #[command(flatten)]
    engine: EngineOptions,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let (machine, evidence) = args.model.read()?;
    let (name, mode) = if args.engine.engine == EngineName::MaxProduct {
        args.engine.check(EngineName::MaxProduct)?;
        let mode = args.engine.max_product().mode(&machine, &evidence);
        let advice = "give more --budget, or clamp units with --given";
        (MaxProduct::NAME, mode.map_err(|error| report::with_hint(error, advice))?)
    } else {
        by_engine(args, &machine, &evidence, common)?
    };
    if !mode.diagnostics.converged {
        common.note(&format!(
            "note: {name}: messages still changed at the end; the state is the best one met, and no single flip betters it. \
             Other --damping, more --max-sweeps or an exact engine may find a better one"
        ));
    }
    if common.json {
        let state = machine.names().iter().cloned().zip(mode.state.iter().map(|&s| json!(s)));
        return report::json(&json!({
            "state": Map::from_iter(state),
            "energy": mode.energy,
            "engine": name,
            "guarantee": mode.guarantee.word(),
            "converged": mode.diagnostics.converged,
        }));
    }
    let rows: Vec<Vec<String>> = (0..machine.units())
        .map(|unit| vec![machine.name(unit).to_owned(), format!("{:+}", mode.state[unit])])
        .collect();
    report::text(&format!(
        "{}energy = {:.10}\n\n{}",
        report::provenance(name, mode.guarantee, &mode.diagnostics),
        mode.energy,
        report::columns(&["unit", "state"], &rows)
    ))
}

/// By an engine that has expectations, too.
fn by_engine(
    args: &Args,
    machine: &Machine,
    evidence: &Evidence,
    common: &Common,
) -> anyhow::Result<(&'static str, Mode)> {
    let advise = |error: anyhow::Error| {
        let hint = "give more --budget, or clamp units with --given; \
                    --engine max-product needs little memory and finds a good state, without cycles the best";
        report::with_hint(error, hint)
    };
    let engine = args.engine.choose(machine, evidence, Task::Exact, common).map_err(advise)?;
    let finder = engine.mode_finder().ok_or_else(|| Error::CannotDo {
        who: engine.name(),
        what: "find a most probable state".into(),
        why: "it gives means and moments, not states; --engine decimate, eliminate, enumerate and max-product can"
            .into(),
    })?;
    let mode = finder.mode(machine, evidence).map_err(|error| advise(error.into()))?;
    Ok((engine.name(), mode))
}
