//! The structure of the machine to be fitted.

use std::str::FromStr;

use isinglass::topology::Links;
use isinglass::{Budget, Error, Graph, Machine, Role, Table, learn};

use crate::count;

/// Links among the columns of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum VisibleLinks {
    /// As a rule says.
    Built(Links),
    /// Learned from the table: the tree of largest mutual information (Chow and Liu); inputs are
    /// joined with all the others.
    Tree,
    /// These.
    Given(Graph),
}

/// The hidden units of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hidden {
    /// Layers, the first joined with every column and each other with the one before; none: no hidden
    /// units.
    Layers(Vec<usize>),
    /// Added in steps to a machine without, while held-out rows get more probable.
    Auto,
}

impl Default for Hidden {
    fn default() -> Self {
        Self::Layers(Vec::new())
    }
}

impl From<usize> for Hidden {
    fn from(units: usize) -> Self {
        Self::Layers(if units == 0 { Vec::new() } else { vec![units] })
    }
}

impl FromStr for Hidden {
    type Err = Error;

    fn from_str(text: &str) -> isinglass::Result<Self> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let layers: Option<Vec<usize>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
        match layers.as_deref() {
            Some([0]) => Ok(Self::default()),
            Some(layers) if layers.iter().all(|&units| units > 0) => Ok(Self::Layers(layers.to_vec())),
            _ => {
                let expected = "a number of units, numbers of layers such as 64,32, or auto";
                Err(Error::invalid("hidden", format!("found '{text}', expected {expected}")))
            }
        }
    }
}

impl Hidden {
    /// The layers, without any that are to be grown.
    pub fn layers(&self) -> &[usize] {
        match self {
            Self::Layers(layers) => layers,
            Self::Auto => &[],
        }
    }

    /// The number of units, without any that are to be grown.
    pub fn count(&self) -> usize {
        self.layers().iter().sum()
    }
}

/// Which units there are and how they are joined.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    /// Links among the table's columns.
    pub visible_links: VisibleLinks,
    /// Hidden units.
    pub hidden: Hidden,
    /// Links among the hidden units of a layer.
    pub hidden_links: Links,
    /// Columns that are given: their own distribution is not learned.
    pub inputs: Vec<String>,
}

impl Structure {
    /// Columns in the table's order, then hidden units, all numbers 0; without couplings if so
    /// asked.
    pub fn machine(&self, table: &Table, without_edges: bool, budget: Budget) -> isinglass::Result<Machine> {
        let columns = table.columns();
        let first = columns.len();
        let named = Machine::from_graph(Graph::new(first, [])?).with_names(columns.iter().cloned())?;
        let mut roles = vec![Role::Visible; first];
        for name in &self.inputs {
            // Spaces around a name are put aside unless they belong to it.
            let found = named.position(name).or_else(|_| named.position(name.trim()));
            roles[found.map_err(|error| Error::setting("inputs", error.to_string()))?] = Role::Input;
        }
        let edges = if without_edges { Vec::new() } else { self.edges(table, &roles, budget)? };
        let hidden = self.hidden.count();
        roles.resize(first + hidden, Role::Hidden);
        // Links between inputs would say nothing about the visible units.
        let kept = edges.into_iter().filter(|&(a, b)| !(roles[a] == Role::Input && roles[b] == Role::Input));
        let names = columns.iter().cloned().chain(learn::new_names(columns, 0, hidden));
        let graph = Graph::new(first + hidden, kept)?;
        Machine::from_graph(graph).with_names(names)?.with_roles(roles)
    }

    /// Links among the columns, among the hidden units, and across.
    fn edges(&self, table: &Table, roles: &[Role], budget: Budget) -> isinglass::Result<Vec<(usize, usize)>> {
        let columns = table.columns();
        let (visible, hidden) = (columns.len() as u128, self.hidden.count() as u128);
        let inputs = roles.iter().filter(|&&role| role == Role::Input).count() as u128;
        let inside = match &self.visible_links {
            VisibleLinks::Built(links) => links.most_edges(visible),
            VisibleLinks::Tree => (visible - inputs) * (inputs + 1),
            VisibleLinks::Given(_) => 0,
        };
        let mut most = inside;
        let mut before = visible;
        for &units in self.hidden.layers() {
            let units = units as u128;
            most = most.saturating_add(self.hidden_links.most_edges(units)).saturating_add(before * units);
            before = units;
        }
        budget.check("fit", Machine::bytes(visible + hidden, most), || {
            format!(
                "a machine of {} and {}, with up to {},",
                count(visible, "column"),
                count(hidden, "hidden unit"),
                count(most, "coupling")
            )
        })?;
        let layer = match &self.visible_links {
            VisibleLinks::Built(links) => links.graph(columns.len())?,
            VisibleLinks::Tree => tree(table, roles)?,
            VisibleLinks::Given(graph) => graph.clone(),
        };
        let first = columns.len();
        let mut edges = layer.edges().to_vec();
        let mut above = 0..first;
        for &units in self.hidden.layers() {
            let here = above.end..above.end + units;
            edges.extend(here.clone().flat_map(|h| above.clone().map(move |a| (a, h))));
            let inside = self.hidden_links.graph(units)?;
            edges.extend(inside.edges().iter().map(|&(a, b)| (here.start + a, here.start + b)));
            above = here;
        }
        Ok(edges)
    }
}

/// The Chow–Liu tree of the columns to be explained, each of them joined with every input: given
/// the inputs, a tree is left.
fn tree(table: &Table, roles: &[Role]) -> isinglass::Result<Graph> {
    let with = |role: Role| (0..roles.len()).filter(move |&column| roles[column] == role);
    let explained: Vec<usize> = with(Role::Visible).collect();
    let tree = learn::chow_liu(table, &explained)?;
    let across = with(Role::Input).flat_map(|input| explained.iter().map(move |&column| (input, column)));
    Graph::new(roles.len(), tree.edges().iter().copied().chain(across))
}
