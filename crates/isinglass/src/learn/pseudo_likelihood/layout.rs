//! The positions of parameters in the conditionals of units.
//!
//! A coupling occurs in the conditionals of both its units. The parameters of all conditionals form
//! one vector, in which each unit has a range.

use std::ops::Range;

use crate::Machine;
use crate::learn::trained::Trained;

/// Maps trained parameters to the numbers of all conditionals, and back.
pub(super) struct Layout {
    /// For each trained coupling its positions in the conditionals of its units, where modelled.
    couplings: Vec<[Option<usize>; 2]>,
    /// For each modelled unit the position of its bias.
    biases: Vec<usize>,
    /// For each modelled unit the range of its conditional.
    pub(super) units: Vec<Range<usize>>,
    pub(super) size: usize,
}

impl Layout {
    /// For each modelled unit a column of all units, last the constant unit +1: for dense graphs.
    pub(super) fn of_columns(trained: &Trained, machine: &Machine) -> Self {
        let height = machine.unit_count() + 1;
        let mut columns = vec![None; machine.unit_count()];
        for (column, &unit) in trained.biases.iter().enumerate() {
            columns[unit] = Some(column);
        }
        let place = |unit: usize, other: usize| columns[unit].map(|column| column * height + other);
        let ends = trained.edges.iter().map(|&edge| machine.graph().edges()[edge]);
        let count = trained.biases.len();
        Self {
            couplings: ends.map(|(a, b)| [place(a, b), place(b, a)]).collect(),
            biases: (0..count).map(|column| (column + 1) * height - 1).collect(),
            units: (0..count).map(|column| column * height..(column + 1) * height).collect(),
            size: count * height,
        }
    }

    /// For each modelled unit its neighbours, last the constant unit +1; and the unit at each
    /// position.
    pub(super) fn of_edges(trained: &Trained, machine: &Machine) -> (Self, Vec<usize>) {
        let graph = machine.graph();
        let mut number = vec![None; graph.edges().len()];
        for (k, &edge) in trained.edges.iter().enumerate() {
            number[edge] = Some(k);
        }
        let couplings = vec![[None; 2]; trained.edges.len()];
        let mut layout = Self { couplings, biases: Vec::new(), units: Vec::new(), size: 0 };
        let mut others = Vec::new();
        for &unit in &trained.biases {
            let first = others.len();
            for (other, edge) in graph.neighbours(unit) {
                // An edge of a modelled unit is trained.
                if let Some(k) = number[edge] {
                    layout.couplings[k][usize::from(other < unit)] = Some(others.len());
                    others.push(other);
                }
            }
            layout.biases.push(others.len());
            others.push(machine.unit_count());
            layout.units.push(first..others.len());
        }
        layout.size = others.len();
        (layout, others)
    }

    /// The numbers of all conditionals: each parameter times a factor; 0 at positions of none.
    pub(super) fn spread(&self, parameters: &[f64], factor: f64) -> Vec<f64> {
        let mut parts = vec![0.0; self.size];
        let (couplings, biases) = parameters.split_at(self.couplings.len());
        for (places, &coupling) in self.couplings.iter().zip(couplings) {
            for &place in places.iter().flatten() {
                parts[place] = factor * coupling;
            }
        }
        for (&place, &bias) in self.biases.iter().zip(biases) {
            parts[place] = factor * bias;
        }
        parts
    }

    /// For each parameter a factor times the sum over its positions.
    pub(super) fn gather(&self, parts: &[f64], factor: f64) -> Vec<f64> {
        let at = |place: &Option<usize>| place.map_or(0.0, |place| parts[place]);
        let couplings = self.couplings.iter().map(|[one, two]| factor * (at(one) + at(two)));
        couplings.chain(self.biases.iter().map(|&place| factor * parts[place])).collect()
    }
}
