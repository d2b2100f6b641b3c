//! `isinglass map`: the most probable state.

use clap::Args as ClapArgs;
use isinglass::Error;
use serde_json::{Map, json};

use crate::engine_options::EngineOptions;
use crate::engines::Task;
use crate::options::{Common, ModelWithEvidence};
use crate::report;

/// Find the most probable state, free or with units clamped
#[derive(ClapArgs)]
#[command(
    after_help = "Example:\n  isinglass make chain --units 5 --coupling 0.5 -o chain.json\n  isinglass map chain.json --given x0=-1"
)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelWithEvidence,
    #[command(flatten)]
    engine: EngineOptions,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let (machine, evidence) = args.model.read()?;
    let advise =
        |error: anyhow::Error| report::with_hint(error, "give more --budget, or clamp units with --given");
    let engine = args.engine.choose(&machine, &evidence, Task::Exact, common).map_err(advise)?;
    let finder = engine.mode_finder().ok_or_else(|| Error::CannotDo {
        who: engine.name(),
        what: "find a most probable state".into(),
        why: "it gives means and moments, not states; --engine decimate, eliminate and enumerate can".into(),
    })?;
    let mode = finder.mode(&machine, &evidence).map_err(|error| advise(error.into()))?;
    if common.json {
        let state = machine.names().iter().cloned().zip(mode.state.iter().map(|&s| json!(s)));
        return report::json(&json!({
            "state": Map::from_iter(state),
            "energy": mode.energy,
            "engine": engine.name(),
            "guarantee": mode.guarantee.word(),
        }));
    }
    let rows: Vec<Vec<String>> = (0..machine.units())
        .map(|unit| vec![machine.name(unit).to_owned(), format!("{:+}", mode.state[unit])])
        .collect();
    report::text(&format!(
        "engine {}: {}\nenergy = {:.10}\n\n{}",
        engine.name(),
        mode.guarantee,
        mode.energy,
        report::columns(&["unit", "state"], &rows)
    ))
}
