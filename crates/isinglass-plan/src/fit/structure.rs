//! The structure of the machine to be fitted.

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

/// Which units there are and how they are joined.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    /// Links among the table's columns.
    pub visible_links: VisibleLinks,
    /// Hidden units, joined with every column.
    pub hidden: usize,
    /// Links among the hidden units.
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
        roles.resize(first + self.hidden, Role::Hidden);
        // Links between inputs would say nothing about the visible units.
        let kept = edges.into_iter().filter(|&(a, b)| !(roles[a] == Role::Input && roles[b] == Role::Input));
        let names = columns.iter().cloned().chain(hidden_names(columns, self.hidden));
        let graph = Graph::new(first + self.hidden, kept)?;
        Machine::from_graph(graph).with_names(names)?.with_roles(roles)
    }

    /// Links among the columns, among the hidden units, and across.
    fn edges(&self, table: &Table, roles: &[Role], budget: Budget) -> isinglass::Result<Vec<(usize, usize)>> {
        let columns = table.columns();
        let (visible, hidden) = (columns.len() as u128, self.hidden as u128);
        let inputs = roles.iter().filter(|&&role| role == Role::Input).count() as u128;
        let inside = match &self.visible_links {
            VisibleLinks::Built(links) => links.most_edges(visible),
            VisibleLinks::Tree => (visible - inputs) * (inputs + 1),
            VisibleLinks::Given(_) => 0,
        };
        let most =
            inside + self.hidden_links.most_edges(hidden).saturating_add(visible.saturating_mul(hidden));
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
        edges.extend((0..self.hidden).flat_map(|h| (0..first).map(move |column| (column, first + h))));
        let below = self.hidden_links.graph(self.hidden)?;
        edges.extend(below.edges().iter().map(|&(a, b)| (first + a, first + b)));
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

/// `h1`, `h2`, …, with as many underscores before as it takes not to meet a column.
fn hidden_names(columns: &[String], count: usize) -> impl Iterator<Item = String> {
    let mut prefix = "h".to_owned();
    while (1..=count).any(|k| columns.contains(&format!("{prefix}{k}"))) {
        prefix.insert(0, '_');
    }
    (1..=count).map(move |k| format!("{prefix}{k}"))
}
