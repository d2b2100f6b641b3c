//! Data of the heat map and the network: order and positions of units, couplings in few bytes.

use isinglass::{Machine, Role};
use serde::Serialize;

use super::order::similarity_order;
use super::rounding::{Short, short};
use crate::network::layout;

/// The largest number of units shown: those with the strongest couplings.
pub(super) const MAX_UNITS: usize = 1500;

/// The units shown, and the couplings between them.
#[derive(Debug, Serialize)]
pub(super) struct Drawing {
    /// Positions in the machine, ascending.
    pub(super) units: Vec<usize>,
    /// The first letter of each unit's role.
    roles: String,
    biases: Vec<Short>,
    /// Indices into `units`: visible, hidden, input; within each role similar ones side by side.
    pub(super) order: Vec<usize>,
    x: Vec<Short>,
    y: Vec<Short>,
    /// Distances from one coupling to the next in the list of pairs (0,1), (0,2), …, (1,2), … of
    /// indices into `units`. The first counts from before (0,1).
    gaps: Vec<usize>,
    weights: Vec<Short>,
}

impl Drawing {
    pub(super) fn of(machine: &Machine, seed: u64) -> Self {
        let units = strongest_units(machine);
        let mut number = vec![usize::MAX; machine.unit_count()];
        for (k, &unit) in units.iter().enumerate() {
            number[unit] = k;
        }
        let shown = |unit: usize| number[unit] != usize::MAX;
        let pairs = machine.graph().edges().iter().zip(machine.weights());
        let edges: Vec<(usize, usize, f64)> = pairs
            .filter(|((a, b), weight)| shown(*a) && shown(*b) && **weight != 0.0)
            .map(|(&(a, b), &weight)| (number[a], number[b], weight))
            .collect();
        let count = units.len();
        let places = layout::places(count, &edges, seed);
        let mut before = 0;
        let mut gaps = Vec::with_capacity(edges.len());
        for &(a, b, _) in &edges {
            let place = a * count - a * (a + 1) / 2 + b - a;
            gaps.push(place - before);
            before = place;
        }
        let letter = |role: Role| match role {
            Role::Visible => 'v',
            Role::Hidden => 'h',
            Role::Input => 'i',
        };
        let by_role = [Role::Visible, Role::Hidden, Role::Input]
            .map(|role| (0..count).filter(|&k| machine.roles()[units[k]] == role).collect());
        Self {
            roles: units.iter().map(|&unit| letter(machine.roles()[unit])).collect(),
            biases: short(units.iter().map(|&unit| machine.biases()[unit])),
            order: similarity_order(count, &edges, &by_role),
            x: short(places.iter().map(|place| place[0])),
            y: short(places.iter().map(|place| place[1])),
            gaps,
            weights: short(edges.iter().map(|edge| edge.2)),
            units,
        }
    }
}

/// Returns all units, or those with the largest sum of coupling sizes, in the machine's order.
fn strongest_units(machine: &Machine) -> Vec<usize> {
    let mut units: Vec<usize> = (0..machine.unit_count()).collect();
    if units.len() > MAX_UNITS {
        let strength = |unit: usize| {
            machine.graph().neighbours(unit).map(|(_, edge)| machine.weights()[edge].abs()).sum::<f64>()
        };
        let strengths: Vec<f64> = units.iter().map(|&unit| strength(unit)).collect();
        units.sort_by(|&a, &b| strengths[b].total_cmp(&strengths[a]).then(a.cmp(&b)));
        units.truncate(MAX_UNITS);
        units.sort_unstable();
    }
    units
}

#[cfg(test)]
mod tests {
    use isinglass::topology::Numbers;

    use super::*;
    use isinglass::Graph;

    /// Decodes the couplings as the page does.
    fn read(drawing: &Drawing) -> Vec<(usize, usize)> {
        let count = drawing.units.len();
        let (mut a, mut b) = (0, 0);
        let mut pairs = Vec::new();
        for gap in &drawing.gaps {
            b += gap;
            while b >= count {
                a += 1;
                b = b + a + 1 - count;
            }
            pairs.push((a, b));
        }
        pairs
    }

    #[test]
    fn couplings_can_be_decoded_from_their_gaps() {
        let numbers = Numbers::Normal { mean: 0.0, deviation: 1.0 };
        for graph in [Graph::full(9), Graph::chain(12), Graph::tree(30, 3), Graph::full(2)] {
            let edges = graph.edges().to_vec();
            let machine = Machine::from_graph(graph).with_numbers(&numbers, &numbers, 1).unwrap();
            assert_eq!(read(&Drawing::of(&machine, 0)), edges);
        }
    }

    #[test]
    fn the_strongest_of_many_units_are_shown() {
        let graph = Graph::chain(MAX_UNITS + 100);
        // The first hundred couplings are weak.
        let weights = (0..graph.edges().len()).map(|edge| if edge < 100 { 0.001 } else { 0.5 }).collect();
        let machine =
            Machine::from_graph(graph).with_parameters(weights, vec![0.0; MAX_UNITS + 100]).unwrap();
        let units = strongest_units(&machine);
        assert_eq!(units, (100..MAX_UNITS + 100).collect::<Vec<_>>());
    }
}
