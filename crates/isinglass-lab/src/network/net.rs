//! What is drawn of a machine: couplings as lines, and those with the past of a kinetic model as
//! arrows.

use isinglass::table::of_past;
use isinglass::{Machine, Result, Role, Unit};

/// A network: a machine's units with their couplings, and arrows from one step in time to a later.
///
/// A kinetic model (`fit --lag`) has input units for the past, such as `a@-1`; its couplings with
/// them are drawn as arrows from `a`, and as loops for a unit's own past.
#[derive(Debug, Clone)]
pub struct Net {
    /// The units, with the couplings at one time.
    pub machine: Machine,
    /// From a unit to a later one, with the coupling.
    pub arrows: Vec<(usize, usize, f64)>,
    /// All couplings without direction, for the layout.
    pub layout: Machine,
}

impl Net {
    /// Takes a machine apart into what happens at one time and what follows from the past.
    ///
    /// # Errors
    /// None for a machine; those of building another.
    pub fn of(machine: &Machine) -> Result<Self> {
        // The unit that an input is the past of.
        let present = |unit: usize| -> Option<usize> {
            let (name, _) = of_past(machine.name(unit))?;
            let now = machine.position(name).ok()?;
            (machine.roles()[unit] == Role::Input && machine.roles()[now] == Role::Visible).then_some(now)
        };
        let past: Vec<Option<usize>> = (0..machine.unit_count()).map(present).collect();
        if past.iter().all(Option::is_none) {
            return Ok(Self { machine: machine.clone(), arrows: Vec::new(), layout: machine.clone() });
        }
        let kept: Vec<usize> = (0..machine.unit_count()).filter(|&unit| past[unit].is_none()).collect();
        let mut number = vec![0; machine.unit_count()];
        kept.iter().enumerate().for_each(|(k, &unit)| number[unit] = k);
        let (mut edges, mut arrows) = (Vec::new(), Vec::new());
        for (&(a, b), &weight) in machine.graph().edges().iter().zip(machine.weights()) {
            match (past[a], past[b]) {
                (None, None) => edges.push((number[a], number[b], weight)),
                (None, Some(from)) => arrows.push((number[from], number[a], weight)),
                (Some(from), None) => arrows.push((number[from], number[b], weight)),
                (Some(_), Some(_)) => {}
            }
        }
        let units = || {
            let unit = |&unit: &usize| Unit {
                role: machine.roles()[unit],
                ..Unit::new(machine.name(unit), machine.biases()[unit])
            };
            kept.iter().map(unit).collect::<Vec<_>>()
        };
        // Both directions, and what is at one time, together.
        let mut sums = std::collections::BTreeMap::new();
        for &(a, b, weight) in edges.iter().chain(&arrows).filter(|(a, b, _)| a != b) {
            *sums.entry((a.min(b), a.max(b))).or_insert(0.0) += weight.abs();
        }
        let layout = Machine::new(units(), sums.into_iter().map(|((a, b), sum)| (a, b, sum)))?;
        Ok(Self { machine: Machine::new(units(), edges)?, arrows, layout })
    }

    /// Whether anything follows from the past.
    pub fn is_directed(&self) -> bool {
        !self.arrows.is_empty()
    }

    /// The couplings at one time of at least some size, the strongest first.
    pub(super) fn links(&self, least: f64) -> Vec<(usize, usize, f64)> {
        let edges = self.machine.graph().edges().iter().zip(self.machine.weights());
        strongest(edges.map(|(&(a, b), &weight)| (a, b, weight)), least)
    }

    /// The arrows of at least some size, the strongest first.
    pub(super) fn arrows(&self, least: f64) -> Vec<(usize, usize, f64)> {
        strongest(self.arrows.iter().copied(), least)
    }

    /// The number of lines and arrows.
    pub fn count(&self, least: f64) -> usize {
        self.links(least).len() + self.arrows(least).len()
    }
}

fn strongest(all: impl Iterator<Item = (usize, usize, f64)>, least: f64) -> Vec<(usize, usize, f64)> {
    let mut links: Vec<_> = all.filter(|link| link.2 != 0.0 && link.2.abs() >= least).collect();
    links.sort_by(|x, y| y.2.abs().total_cmp(&x.2.abs()).then((x.0, x.1).cmp(&(y.0, y.1))));
    links
}

#[cfg(test)]
mod tests {
    use isinglass::table::kinetic;

    use super::*;

    #[test]
    fn the_past_becomes_arrows() {
        let names = ["a".to_owned(), "b".to_owned()];
        let machine = kinetic(&names, 1, &[(0, 1)]).unwrap();
        let edges = machine.graph().edges().to_vec();
        let weights: Vec<f64> = (0..edges.len()).map(|k| 0.1 * (k + 1) as f64).collect();
        let weight = |a: usize, b: usize| weights[edges.iter().position(|&edge| edge == (a, b)).unwrap()];
        let net = Net::of(&machine.clone().with_parameters(weights.clone(), vec![0.0; 4]).unwrap()).unwrap();
        assert_eq!((net.machine.names(), net.machine.weights()), (&names[..], &[weight(0, 1)][..]));
        let mut arrows = net.arrows.clone();
        arrows.sort_by_key(|arrow| (arrow.0, arrow.1));
        // The past of a is unit 2, that of b unit 3.
        assert_eq!(
            arrows,
            [(0, 0, weight(0, 2)), (0, 1, weight(1, 2)), (1, 0, weight(0, 3)), (1, 1, weight(1, 3))]
        );
        assert!(!Net::of(&net.machine).unwrap().is_directed());
    }
}
