//! `isinglass make`: build a machine with given or random weights.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use isinglass::topology::{self, Lattice, Links, Numbers};
use isinglass::{Budget, Graph, Machine};
use isinglass_files::{Output, model_format, read_edges, write_model};
use serde_json::json;

use crate::options::{Common, Usage, at_least, keep_inputs, positive};
use crate::report::count;

#[derive(ClapArgs)]
#[command(
    after_help = "Examples:\n  isinglass make chain --units 10 --coupling 0.5 --bias 0.1 -o chain.json\n  isinglass make grid --rows 8 --columns 8 --coupling signs:1 --seed 3 -o glass.json\n  isinglass make grid3 --rows 6 --columns 6 --layers 6 --periodic --coupling signs:1 -o cube.json\n  isinglass make regular --units 100 --degree 3 -o regular.json\n  isinglass make rbm --visible 6 --hidden 3 --coupling normal:0,0.5 -o rbm.json"
)]
pub(crate) struct Args {
    /// The structure
    #[arg(ignore_case = true)]
    kind: Kind,
    /// The model file to write (.json, .uai, .npz)
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// chain, tree, full, sk, regular: the number of units
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least::<1>, allow_hyphen_values = true)]
    units: Option<usize>,
    /// tree: children of each unit [default: 2]
    #[arg(long, value_name = "N", value_parser = at_least::<1>)]
    branching: Option<usize>,
    /// grid, grid8, triangular, grid3: the number of rows
    #[arg(long, value_name = "N", value_parser = at_least::<1>, allow_hyphen_values = true)]
    rows: Option<usize>,
    /// grid, grid8, triangular, grid3: the number of columns
    #[arg(long, alias = "cols", value_name = "N", value_parser = at_least::<1>, allow_hyphen_values = true)]
    columns: Option<usize>,
    /// grid3: the number of layers
    #[arg(long, value_name = "N", value_parser = at_least::<1>, allow_hyphen_values = true)]
    layers: Option<usize>,
    /// chain, grid, grid8, triangular, grid3: join each side with its opposite one (a side of 2 would be joined twice and is refused)
    #[arg(long)]
    periodic: bool,
    /// regular: the number of neighbours of each unit
    #[arg(long, value_name = "N", value_parser = at_least::<1>, allow_hyphen_values = true)]
    degree: Option<usize>,
    /// rbm, two-layer: the number of visible units
    #[arg(long, value_name = "N", value_parser = at_least::<1>, allow_hyphen_values = true)]
    visible: Option<usize>,
    /// rbm, two-layer: the number of hidden units
    #[arg(long, value_name = "N", value_parser = at_least::<1>, allow_hyphen_values = true)]
    hidden: Option<usize>,
    /// two-layer: links among visible units (none, chain, full, grid:RxC, grid8:RxC) [default:
    /// full]
    #[arg(long, value_name = "LINKS")]
    visible_links: Option<Links>,
    /// two-layer: links among hidden units (none, chain, full) [default: none]
    #[arg(long, value_name = "LINKS")]
    hidden_links: Option<Links>,
    /// edges: a CSV file of two names a line, and a weight if there is a third column
    #[arg(long, value_name = "FILE")]
    edges: Option<PathBuf>,
    /// Couplings [default: normal:0,1; sk: normal with variance 1/units]
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true)]
    coupling: Option<Numbers>,
    /// Biases
    #[arg(long, value_name = "NUMBERS", default_value = "0", allow_hyphen_values = true)]
    bias: Numbers,
    /// Memory that the machine may take, such as 512MiB or 6GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    budget: Budget,
    /// Temperature
    #[arg(long, value_name = "T", default_value = "1", value_parser = positive, allow_hyphen_values = true)]
    temperature: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Each unit joined with the next
    Chain,
    /// A balanced tree
    Tree,
    /// A lattice with four neighbours each
    Grid,
    /// A lattice with eight neighbours each
    Grid8,
    /// A lattice with six neighbours each: one diagonal of each square
    Triangular,
    /// A lattice in three dimensions, with six neighbours each
    Grid3,
    /// A random graph in which every unit has the same number of neighbours
    Regular,
    /// Every unit joined with every other
    Full,
    /// Visible and hidden units, joined across the layers only
    Rbm,
    /// Visible and hidden units, joined across the layers and within
    TwoLayer,
    /// The Sherrington–Kirkpatrick spin glass
    Sk,
    /// As a file of edges says
    Edges,
}

impl Kind {
    fn word(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    args.check_options()?;
    model_format(&args.output)?;
    keep_inputs(&args.output, &args.edges.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let machine = args.machine(common.seed)?.with_temperature(args.temperature)?;
    let notes = write_model(&machine, Output::create(&args.output)?)?;
    common.not_kept(&notes);
    let (units, edges) = (machine.unit_count(), machine.graph().edges().len());
    if common.json {
        return common.print_json(&json!({"model": args.output, "units": units, "edges": edges}));
    }
    let size = format!("{}, {}", count(units, "unit"), count(edges, "edge"));
    common.line(&format!("wrote {}: {size}", args.output.display()));
    Ok(())
}

/// An option with a value that the others rule out.
fn as_usage(error: isinglass::Error) -> anyhow::Error {
    match error {
        isinglass::Error::Invalid { place, problem } => Usage(format!("--{place}: {problem}")).into(),
        other => other.into(),
    }
}

impl Args {
    /// Refuse options that say something about another kind.
    fn check_options(&self) -> Result<(), Usage> {
        use Kind::{Chain, Edges, Full, Grid, Grid3, Grid8, Rbm, Regular, Sk, Tree, Triangular, TwoLayer};
        let given: [(&str, bool, &[Kind]); 12] = [
            ("units", self.units.is_some(), &[Chain, Tree, Full, Sk, Regular]),
            ("branching", self.branching.is_some(), &[Tree]),
            ("rows", self.rows.is_some(), &[Grid, Grid8, Triangular, Grid3]),
            ("columns", self.columns.is_some(), &[Grid, Grid8, Triangular, Grid3]),
            ("layers", self.layers.is_some(), &[Grid3]),
            ("periodic", self.periodic, &[Chain, Grid, Grid8, Triangular, Grid3]),
            ("degree", self.degree.is_some(), &[Regular]),
            ("visible", self.visible.is_some(), &[Rbm, TwoLayer]),
            ("hidden", self.hidden.is_some(), &[Rbm, TwoLayer]),
            ("visible-links", self.visible_links.is_some(), &[TwoLayer]),
            ("hidden-links", self.hidden_links.is_some(), &[TwoLayer]),
            ("edges", self.edges.is_some(), &[Edges]),
        ];
        match given.iter().find(|(_, given, kinds)| *given && !kinds.contains(&self.kind)) {
            Some((option, ..)) => Err(Usage(format!("make {} does not accept --{option}", self.kind.word()))),
            None => Ok(()),
        }
    }

    fn machine(&self, seed: u64) -> anyhow::Result<Machine> {
        let size =
            |value: Option<usize>, option: &str| value.ok_or_else(|| self.lacks(&format!("{option} N")));
        let units = || size(self.units, "units");
        let layers = || Ok::<_, Usage>((size(self.visible, "visible")?, size(self.hidden, "hidden")?));
        let room_for = |units: u128, edges: u128| {
            self.budget.check("make", Machine::bytes(units, edges), || {
                format!("{} with up to {}", count(units, "unit"), count(edges, "edge"))
            })
        };
        let numbers = |machine: Machine| {
            let deviation =
                if self.kind == Kind::Sk { (machine.unit_count() as f64).sqrt().recip() } else { 1.0 };
            let coupling = self.coupling.unwrap_or(Numbers::Normal { mean: 0.0, deviation });
            machine.with_numbers(&coupling, &self.bias, seed)
        };
        let plain = |links: &Links, units: usize, graph: &dyn Fn() -> Graph| {
            room_for(units as u128, links.most_edges(units as u128))?;
            Ok(numbers(Machine::from_graph(graph()))?)
        };
        let two_layer = |visible_links: &Links, hidden_links: &Links| {
            let (visible, hidden) = layers()?;
            let (v, h) = (visible as u128, hidden as u128);
            let inside = visible_links.most_edges(v).saturating_add(hidden_links.most_edges(h));
            room_for(v + h, v.saturating_mul(h).saturating_add(inside))?;
            Ok(numbers(topology::two_layer(visible, visible_links, hidden, hidden_links)?)?)
        };
        let lattice = |lattice: Lattice| {
            let lattice = lattice.periodic(self.periodic);
            room_for(lattice.unit_count(), lattice.most_edges())?;
            Ok(numbers(topology::lattice(&lattice).map_err(as_usage)?)?)
        };
        let sides = || Ok::<_, Usage>((size(self.rows, "rows")?, size(self.columns, "columns")?));
        match self.kind {
            Kind::Chain => lattice(Lattice::chain(units()?)),
            Kind::Tree => {
                let n = units()?;
                plain(&Links::Chain, n, &|| Graph::tree(n, self.branching.unwrap_or(2)))
            }
            Kind::Full | Kind::Sk => {
                let n = units()?;
                plain(&Links::Full, n, &|| Graph::full(n))
            }
            Kind::Grid => sides().map(|(rows, columns)| lattice(Lattice::grid(rows, columns)))?,
            Kind::Grid8 => sides().map(|(rows, columns)| lattice(Lattice::grid8(rows, columns)))?,
            Kind::Triangular => sides().map(|(rows, columns)| lattice(Lattice::triangular(rows, columns)))?,
            Kind::Grid3 => {
                let ((rows, columns), layers) = (sides()?, size(self.layers, "layers")?);
                lattice(Lattice::grid3(rows, columns, layers))
            }
            Kind::Regular => {
                let (n, degree) = (units()?, size(self.degree, "degree")?);
                room_for(n as u128, (n as u128).saturating_mul(degree as u128).div_ceil(2))?;
                Ok(numbers(topology::regular(n, degree, seed).map_err(as_usage)?)?)
            }
            Kind::Rbm => two_layer(&Links::None, &Links::None),
            Kind::TwoLayer => two_layer(
                self.visible_links.as_ref().unwrap_or(&Links::Full),
                self.hidden_links.as_ref().unwrap_or(&Links::None),
            ),
            Kind::Edges => {
                let list = read_edges(self.edges.as_deref().ok_or_else(|| self.lacks("edges FILE"))?)?;
                if list.weights.is_some() && self.coupling.is_some() {
                    let problem = "the file of edges has weights; leave --coupling out, or the third column";
                    return Err(Usage(problem.into()).into());
                }
                let machine = list.machine()?;
                Ok(match list.weights {
                    Some(_) => machine.with_biases_drawn(&self.bias, seed)?,
                    None => numbers(machine)?,
                })
            }
        }
    }

    fn lacks(&self, option: &str) -> Usage {
        Usage(format!("make {} needs --{option}", self.kind.word()))
    }
}
