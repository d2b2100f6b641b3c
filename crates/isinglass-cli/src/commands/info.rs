//! `isinglass info`: what a machine is, and what can be done with it.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use isinglass::engine::auto::{self, Offer};
use isinglass::progress::duration;
use isinglass::{Budget, Evidence, Guarantee, Role, Work};
use isinglass_lab::report::Structure;
use serde_json::{Map, Value, json};

use crate::options::{AtTemperature, Common};
use crate::report::{self, count};

#[derive(ClapArgs)]
#[command(
    after_help = "Example:\n  isinglass make grid --rows 4 --columns 5 -o grid.json\n  isinglass info grid.json"
)]
pub(crate) struct Args {
    /// The model file (.json, .uai, .npz)
    model: PathBuf,
    /// Memory that an engine may count on, such as 512MiB or 6GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    budget: Budget,
    #[command(flatten)]
    at: AtTemperature,
}

/// Units of an elimination order that are printed.
const SHOWN: usize = 12;

/// How long an answer would take, where it was counted.
fn seconds(offer: &Offer) -> Option<f64> {
    offer.work.map(Work::seconds)
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let machine = args.at.read(&args.model, args.budget)?;
    let graph = machine.graph();
    let offers = auto::offers(&machine, &Evidence::none(machine.unit_count()), args.budget)?;
    let structure = Structure::of(&machine, &offers);
    let Structure { components, decimation_order, treewidth, .. } = &structure;
    let elimination_order = offers.iter().filter_map(|offer| offer.order.as_ref()).next_back();
    let names = |order: &[usize]| order.iter().map(|&unit| machine.name(unit)).collect::<Vec<&str>>();
    let with_role = |role| machine.with_role(role).count();
    if common.json {
        let roles = Role::ALL.map(|role| (role.word().to_owned(), json!(with_role(role))));
        let engines: Vec<Value> = offers
            .iter()
            .map(|offer| {
                json!({
                    "name": offer.engine,
                    "available": offer.available,
                    "exact": offer.answers == Guarantee::Exact,
                    "guarantee": offer.answers.word(),
                    "bytes": offer.bytes.map(|bytes| bytes as f64),
                    "seconds": seconds(offer),
                    "cost": offer.cost,
                })
            })
            .collect();
        return common.print_json(&json!({
            "units": machine.unit_count(),
            "edges": graph.edges().len(),
            "roles": Map::from_iter(roles),
            "temperature": machine.temperature(),
            "components": components,
            "decimatable": decimation_order.is_some(),
            "decimation_order": decimation_order.as_deref().map(names),
            "elimination_order": elimination_order.map(|order| names(&order.0)),
            "treewidth": {"lower": treewidth.lower, "upper": treewidth.upper},
            "engines": engines,
        }));
    }
    let roles: Vec<String> = Role::ALL
        .iter()
        .filter(|&&role| with_role(role) > 0)
        .map(|&role| format!("{} {role}", with_role(role)))
        .collect();
    let engines: Vec<Vec<String>> = offers
        .iter()
        .map(|offer| {
            let can = if offer.available { "yes" } else { "no" };
            let kind = offer.answers.word();
            // The whole reason is in the JSON; here it would make the table too wide.
            let mut cost = match (offer.available, offer.bytes) {
                (true, _) => offer.cost.clone(),
                (false, Some(u128::MAX)) => format!("would need {}", Budget::bytes(u128::MAX)),
                (false, Some(bytes)) => format!("would need at least {}", Budget::bytes(bytes)),
                (false, None) => "cannot, whatever the budget".to_owned(),
            };
            if let Some(seconds) = seconds(offer).filter(|&seconds| seconds >= isinglass_plan::LONG) {
                cost += &format!(", about {}", duration(seconds));
            }
            vec![offer.engine.to_owned(), can.to_owned(), kind.to_owned(), cost]
        })
        .collect();
    let order = decimation_order.as_deref().or(elimination_order.map(|order| &order.0[..]));
    let order = order.filter(|order| !order.is_empty()).map_or(String::new(), |order| {
        let shown = names(&order[..order.len().min(SHOWN)]).join(" ");
        let more = order.len().saturating_sub(SHOWN);
        let rest =
            if more > 0 { format!(" … ({more} more; --json gives them all)") } else { String::new() };
        format!("\norder found: {shown}{rest}")
    });
    report::text(&format!(
        "{} ({}), {}, {}, temperature {}\ntreewidth: {}\ndecimatable: {}{order}\n\n{}",
        count(machine.unit_count(), "unit"),
        roles.join(", "),
        count(graph.edges().len(), "edge"),
        count(*components, "component"),
        machine.temperature(),
        structure.width_in_words(),
        structure.decimatable_in_words(),
        report::columns(
            &[&format!("engine, within {}", args.budget), "can run", "answers", "cost"],
            &engines
        )
    ))
}
