//! `isinglass network`: the network alone, as a figure or for other programs.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};
use isinglass::{Budget, Machine, Role};
use isinglass_files::{Output, read_edges};
use isinglass_lab::network::{Drawn, Layout, Net, Places, dot, figure, graphml};
use isinglass_plan::EngineSettings;
use serde_json::json;

use super::measures;
use super::report::file_name;
use crate::options::{AtCovariates, Common, Usage, keep_apart, keep_inputs};
use crate::report::{self, count};

#[derive(ClapArgs)]
#[command(
    after_help = "Examples (the first command writes the files):\n  isinglass demo\n  isinglass network isinglass-demo/votes.json -o votes.svg\n  isinglass network isinglass-demo/votes.json --least 0.2 --layout circle -o circle.svg\n  isinglass network isinglass-demo/votes.json -o votes.graphml --centrality votes-centrality.csv"
)]
pub(crate) struct Args {
    /// The model file (.json, .uai, .npz); several are drawn side by side, with one layout and one
    /// scale of widths
    #[arg(required = true)]
    models: Vec<PathBuf>,
    /// The file to write: a figure (.svg, and .png where that is built in), .graphml (Gephi,
    /// networkx, igraph, Cytoscape) or .dot (graphviz)
    #[arg(short, long, value_name = "FILE", required_unless_present = "centrality")]
    output: Option<PathBuf>,
    /// Where units are drawn
    #[arg(long, value_enum, value_name = "LAYOUT", default_value = "spring")]
    layout: LayoutWord,
    /// Take the places of units from the network of another machine, so that figures can be compared
    #[arg(long, value_name = "MODEL")]
    layout_from: Option<PathBuf>,
    /// The groups of units, which have a colour each: a CSV file with a unit and the name of its
    /// group on each line [default: roles, if units have several]
    #[arg(long, value_name = "FILE.csv")]
    groups: Option<PathBuf>,
    /// Leave out couplings whose size is below X
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = not_negative)]
    least: f64,
    /// The titles of the networks, with commas between them [default: the names of the files]
    #[arg(long, value_name = "TEXT,…")]
    titles: Option<String>,
    #[command(flatten)]
    at: AtCovariates,
    /// Write the centralities of the units to a CSV file: strength, expected influence, closeness,
    /// betweenness
    #[arg(long, value_name = "FILE.csv")]
    centrality: Option<PathBuf>,
    /// Memory that may be taken, such as 512MiB
    #[arg(long, value_name = "SIZE", default_value_t = Budget::default(), help_heading = "General")]
    budget: Budget,
}

/// Layouts on the command line.
#[derive(Clone, Copy, ValueEnum)]
enum LayoutWord {
    /// Strongly coupled units near each other
    Spring,
    /// On a circle, in the order of the units
    Circle,
    /// Each group on a circle of its own
    Groups,
}

impl From<LayoutWord> for Layout {
    fn from(word: LayoutWord) -> Self {
        match word {
            LayoutWord::Spring => Self::Spring,
            LayoutWord::Circle => Self::Circle,
            LayoutWord::Groups => Self::Groups,
        }
    }
}

/// What is written, by the ending of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Svg,
    #[cfg(feature = "png")]
    Png,
    GraphMl,
    Dot,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let kind = args.output.as_deref().map(kind_of).transpose()?;
    let one_only =
        [(kind == Some(Kind::GraphMl), "a .graphml file"), (kind == Some(Kind::Dot), "a .dot file")];
    let one_only = one_only.into_iter().chain([(args.centrality.is_some(), "--centrality")]);
    if let Some((_, what)) = one_only.into_iter().find(|(asked, _)| *asked && args.models.len() > 1) {
        return Err(Usage(format!("{what} holds one network, found {} models", args.models.len())).into());
    }
    let mut inputs: Vec<&Path> = args.models.iter().map(PathBuf::as_path).collect();
    inputs.extend(args.layout_from.iter().chain(&args.groups).map(PathBuf::as_path));
    for output in args.output.iter().chain(&args.centrality) {
        keep_inputs(output, &inputs)?;
    }
    let outputs = [("--output", &args.output), ("--centrality", &args.centrality)];
    keep_apart(outputs.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))))?;
    let titles = args.titles()?;
    let read = |path: &PathBuf| args.at.read(path, args.budget);
    let machines: Vec<Machine> = args.models.iter().map(read).collect::<anyhow::Result<_>>()?;
    let nets: Vec<Net> = machines.iter().map(Net::of).collect::<Result<_, _>>()?;
    let groups = args.groups.as_deref().map(read_edges).transpose()?.map_or(Vec::new(), |list| list.pairs);
    let placed = match &args.layout_from {
        Some(path) => vec![Net::of(&read(path)?)?],
        None => Vec::new(),
    };
    let shown = if placed.is_empty() { &nets } else { &placed };
    let shown: Vec<&Machine> = shown.iter().map(|net| &net.layout).collect();
    let has_roles =
        shown.iter().any(|machine| machine.with_role(Role::Visible).count() < machine.unit_count());
    if matches!(args.layout, LayoutWord::Groups) && groups.is_empty() && !has_roles {
        let text = "--layout groups needs the groups\nhint: --groups FILE.csv, with a unit and the name of its group on each line";
        return Err(Usage(text.into()).into());
    }
    args.check_budget(&shown)?;
    let places = Places::of(&shown, args.layout.into(), &groups, common.seed)?;
    let networks: Vec<Drawn<'_>> =
        titles.iter().zip(&nets).map(|(title, net)| Drawn { title, net }).collect();
    let machine = &machines[0];
    let text = match kind {
        None => None,
        Some(Kind::Svg) => Some(figure(&networks, &places, args.least)?.into_bytes()),
        #[cfg(feature = "png")]
        Some(Kind::Png) => {
            let svg = figure(&networks, &places, args.least)?;
            Some(isinglass_lab::to_png(&svg).map_err(anyhow::Error::msg)?)
        }
        Some(Kind::GraphMl) => Some(graphml(&nets[0], &places, args.least)?.into_bytes()),
        Some(Kind::Dot) => Some(dot(&nets[0], &places, args.least)?.into_bytes()),
    };
    let study = match (&args.centrality, common.json) {
        (Some(_), _) | (_, true) if machines.len() == 1 => {
            Some(EngineSettings::default().study(machine, None)?)
        }
        _ => None,
    };
    if let (Some(path), Some(text)) = (&args.output, text) {
        let mut output = Output::create(path)?;
        output.write_all(&text).map_err(|error| output.error(&error))?;
        output.commit()?;
    }
    if let (Some(path), Some(study)) = (&args.centrality, &study) {
        measures::write_centrality(machine, study, Output::create(path)?)?;
    }
    if common.json {
        let all: Vec<_> = args
            .models
            .iter()
            .zip(&nets)
            .map(|(path, net)| {
                let (units, edges) = (net.machine.unit_count(), net.count(args.least));
                json!({ "model": path, "units": units, "edges": edges, "directed": net.is_directed() })
            })
            .collect();
        let mut document =
            json!({ "output": args.output, "layout": Layout::from(args.layout).word(), "networks": all });
        if let Some(study) = &study {
            document["centrality"] = measures::document(machine, study);
        }
        return common.print_json(&document);
    }
    let mut out = String::new();
    for (path, net) in args.models.iter().zip(&nets) {
        let (units, edges) =
            (count(net.machine.unit_count(), "unit"), count(net.count(args.least), "coupling"));
        out.push_str(&format!("{}: {units}, {edges}\n", path.display()));
    }
    for path in args.output.iter().chain(&args.centrality) {
        out.push_str(&format!("wrote {}\n", path.display()));
    }
    report::text(&out)
}

impl Args {
    fn titles(&self) -> Result<Vec<String>, Usage> {
        let Some(text) = &self.titles else {
            return Ok(self.models.iter().map(|path| file_name(path)).collect());
        };
        let titles = crate::options::split_list(text);
        if titles.len() == self.models.len() {
            return Ok(titles);
        }
        Err(Usage(format!(
            "--titles: found {}, expected {}, one for each model",
            titles.len(),
            self.models.len()
        )))
    }

    /// The layout has numbers for each pair of units.
    fn check_budget(&self, machines: &[&Machine]) -> anyhow::Result<()> {
        let units: u128 = machines.iter().map(|machine| machine.unit_count() as u128).sum();
        let what = || format!("the layout of {units} units");
        Ok(self.budget.check("network", 32 * units * units, what)?)
    }
}

fn kind_of(output: &Path) -> Result<Kind, Usage> {
    let ending = output.extension().unwrap_or_default().to_ascii_lowercase();
    match ending.to_str() {
        Some("svg") => Ok(Kind::Svg),
        #[cfg(feature = "png")]
        Some("png") => Ok(Kind::Png),
        #[cfg(not(feature = "png"))]
        Some("png") => Err(Usage(format!(
            "{}: this program is built without PNG\nhint: build it with --features png, or write .svg",
            output.display()
        ))),
        Some("graphml") => Ok(Kind::GraphMl),
        Some("dot" | "gv") => Ok(Kind::Dot),
        _ => Err(Usage(format!(
            "{}: a network is written to a .svg, .png, .graphml or .dot file",
            output.display()
        ))),
    }
}

/// A finite number of at least 0.
fn not_negative(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
    number.ok_or_else(|| "expected a finite number of at least 0".into())
}
