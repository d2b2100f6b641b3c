//! The machine that a fit starts from: structure from the options, small numbers by seed.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use isinglass::topology::{Links, Numbers};
use isinglass::{Budget, Graph, Machine, Role, Table};
use isinglass_files::read_edges;

/// Which units there are and how they are joined.
#[derive(Args)]
pub(super) struct Structure {
    /// Links among the table's columns: none, chain, full, grid:RxC, grid8:RxC, edges:FILE (a CSV of two names a line)
    #[arg(long, value_name = "LINKS", default_value = "full")]
    visible_links: VisibleLinks,
    /// Hidden units, joined with every column
    #[arg(long, value_name = "N", default_value_t = 0)]
    hidden: usize,
    /// Links among the hidden units: none, chain, full
    #[arg(long, value_name = "LINKS", default_value = "none")]
    hidden_links: Links,
    /// Columns that are given: their own distribution is not learned
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    inputs: Vec<String>,
}

#[derive(Clone)]
enum VisibleLinks {
    Built(Links),
    File(PathBuf),
}

impl FromStr for VisibleLinks {
    type Err = isinglass::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("edges:") {
            Some(path) => Ok(Self::File(path.into())),
            None => text.parse().map(Self::Built),
        }
    }
}

/// Standard deviation of the couplings of hidden units at the start: small, but enough to break their symmetry.
const SPREAD: f64 = 0.1;

/// Means at the start are held this far from −1 and +1.
const MARGIN: f64 = 0.05;

/// Columns in the table's order, then hidden units; biases as if units were independent.
pub(super) fn start_machine(
    structure: &Structure,
    table: &Table,
    budget: Budget,
    seed: u64,
) -> anyhow::Result<Machine> {
    let columns = table.columns();
    let (visible, hidden) = (columns.len() as u128, structure.hidden as u128);
    let inside = structure.hidden_links.most_edges(hidden).saturating_add(visible * visible);
    let bytes = Machine::bytes(visible + hidden, inside.saturating_add(visible.saturating_mul(hidden)));
    budget.check("fit", bytes, || format!("a machine of {visible} columns and {hidden} hidden units"))?;
    let layer = match &structure.visible_links {
        VisibleLinks::Built(links) => links.graph(columns.len())?,
        VisibleLinks::File(path) => read_edges(path)?.graph_over(columns)?,
    };
    let named = Machine::from_graph(Graph::new(columns.len(), [])?).with_names(columns.iter().cloned())?;
    let mut roles = vec![Role::Visible; columns.len()];
    for name in &structure.inputs {
        roles[named.position(name)?] = Role::Input;
    }
    roles.resize(columns.len() + structure.hidden, Role::Hidden);

    // Links between inputs would say nothing about the visible units.
    let inside = layer.edges().iter().copied();
    let mut edges: Vec<_> =
        inside.filter(|&(a, b)| !(roles[a] == Role::Input && roles[b] == Role::Input)).collect();
    let first = columns.len();
    for hidden in 0..structure.hidden {
        edges.extend((0..first).map(|column| (column, first + hidden)));
    }
    let below = structure.hidden_links.graph(structure.hidden)?;
    edges.extend(below.edges().iter().map(|&(a, b)| (first + a, first + b)));

    let names = columns.iter().cloned().chain(hidden_names(columns, structure.hidden));
    let machine = Machine::from_graph(Graph::new(first + structure.hidden, edges)?)
        .with_names(names)?
        .with_roles(roles)?;
    let spread = Numbers::Normal { mean: 0.0, deviation: SPREAD };
    let drawn = machine.clone().with_numbers(&spread, &Numbers::Constant(0.0), seed);
    let touches_hidden = |&(_, b): &(usize, usize)| b >= first;
    let weights = machine.graph().edges().iter().zip(drawn.weights());
    let weights = weights.map(|(edge, &w)| if touches_hidden(edge) { w } else { 0.0 }).collect();
    let mut biases = vec![0.0; machine.units()];
    for (unit, mean) in table.means().into_iter().enumerate() {
        if machine.roles()[unit] == Role::Visible {
            let mean = mean.unwrap_or(0.0).clamp(MARGIN - 1.0, 1.0 - MARGIN);
            biases[unit] = mean.atanh();
        }
    }
    Ok(machine.with_parameters(weights, biases)?)
}

/// `h1`, `h2`, …, with as many underscores before as it takes not to meet a column.
fn hidden_names(columns: &[String], count: usize) -> impl Iterator<Item = String> {
    let mut prefix = "h".to_owned();
    while (1..=count).any(|k| columns.contains(&format!("{prefix}{k}"))) {
        prefix.insert(0, '_');
    }
    (1..=count).map(move |k| format!("{prefix}{k}"))
}
