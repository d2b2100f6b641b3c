//! The figure of the strongest couplings between votes.

use isinglass::Machine;

use super::{PARTY, spelled};
use crate::figure::ring::Ring;
use crate::figure::sheet::Sheet;
use crate::report::order::similarity_order;

/// Couplings in the figure; with more, weak ones hide the others.
const SHOWN: usize = 32;

/// Draws the network, with similar units next to each other.
pub(super) fn draw(machine: &Machine) -> String {
    let mut edges: Vec<(usize, usize, f64)> =
        machine.graph().edges().iter().zip(machine.weights()).map(|(&(a, b), &w)| (a, b, w)).collect();
    let order = similarity_order(machine.unit_count(), &edges, &[(0..machine.unit_count()).collect()]);
    let mut place = vec![0; machine.unit_count()];
    for (k, &unit) in order.iter().enumerate() {
        place[unit] = k;
    }
    edges.sort_by(|x, y| y.2.abs().total_cmp(&x.2.abs()));
    edges.truncate(SHOWN);
    let name = |&unit: &usize| match machine.name(unit) {
        PARTY => "is a Democrat".to_owned(),
        vote => spelled(vote),
    };
    let ring = Ring {
        names: order.iter().map(name).collect(),
        bold: order.iter().position(|&unit| machine.name(unit) == PARTY),
        links: edges.iter().map(|&(a, b, weight)| (place[a], place[b], weight)).collect(),
        signs: ["positive: yes goes with yes".into(), "negative: yes goes with no".into()],
        width: "size of the coupling:".into(),
    };
    let title = format!(
        "Who votes with whom: the {} strongest of {} couplings (US House, 1984)",
        edges.len(),
        machine.weights().len()
    );
    Sheet::new(title).wide(900.0).row(570.0, [ring.boxed()]).to_svg()
}
