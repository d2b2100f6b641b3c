//! The structure of a machine: connected components, treewidth, decimatability.

use isinglass::Machine;
use isinglass::engine::auto::Offer;
use isinglass::graph::TreewidthBounds;

/// The structure of a machine.
///
/// # Example
/// ```
/// use isinglass::engine::auto;
/// use isinglass::{Budget, Evidence, Machine, topology};
/// use isinglass_lab::report::Structure;
/// let chain = topology::chain(5);
/// let offers = auto::offers(&chain, &Evidence::none(5), Budget::default())?;
/// let found = Structure::of(&chain, &offers);
/// assert_eq!((found.components, found.treewidth.upper), (1, 1));
/// assert!(found.decimation_order.is_some());
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    /// The number of connected components.
    pub components: usize,
    /// An order in which every unit can be decimated, biases included, if there is one.
    pub decimation_order: Option<Vec<usize>>,
    /// Bounds on the treewidth of the units' graph, without unit 0.
    pub treewidth: TreewidthBounds,
    /// Whether any unit has a bias.
    pub has_biases: bool,
}

impl Structure {
    /// Analyses a machine, given what the engines offer for it with nothing clamped.
    pub fn of(machine: &Machine, offers: &[Offer]) -> Self {
        let graph = machine.graph();
        let biased: Vec<usize> =
            (0..machine.unit_count()).filter(|&unit| machine.biases()[unit] != 0.0).collect();
        // The width of the elimination order, if there is one; otherwise a bound for any graph.
        let found = offers.iter().filter_map(|offer| offer.order.as_ref().map(|order| order.1)).min();
        let upper = match found {
            // The order of decimation may be wider than necessary; up to 3 the minimum is found
            // exactly.
            Some(width @ ..=3) => graph.elimination_order(width).map_or(width, |order| order.width),
            Some(width) => width,
            None => graph.pathwidth_bound(),
        };
        Self {
            components: graph.components().1,
            decimation_order: graph.decimation_order(&biased),
            treewidth: TreewidthBounds { lower: graph.treewidth_lower_bound(upper), upper },
            has_biases: !biased.is_empty(),
        }
    }

    /// Describes the treewidth.
    pub fn width_in_words(&self) -> String {
        let TreewidthBounds { lower, upper } = self.treewidth;
        if lower == upper { upper.to_string() } else { format!("between {lower} and {upper}") }
    }

    /// Describes whether the machine is decimatable.
    pub fn decimatable_in_words(&self) -> &'static str {
        match (self.decimation_order.is_some(), self.has_biases) {
            (true, _) => "yes",
            (false, true) => "no (treewidth above 3 with the bias unit)",
            (false, false) => "no (treewidth above 3)",
        }
    }
}
