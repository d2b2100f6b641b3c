//! Forests of units that are drawn exactly, given the rest (Hamze & de Freitas 2004; Selby 2014).
//!
//! A move draws one forest after the other in all chains of a team, each at its own level. Forests hold
//! about two thirds of the units of a square lattice; a unit is drawn together with all those near
//! it, so that domains move that single units would have to cross a barrier for.

use std::sync::Arc;

use super::super::kernel::{Chains, Forest, Model};

/// Draws the forests of a machine in turn.
pub(super) struct Trees {
    forests: Arc<Vec<Forest>>,
    /// Sweeps from one move to the next.
    every: usize,
    sweeps: usize,
}

impl Trees {
    pub(super) fn new(forests: &Arc<Vec<Forest>>, every: usize) -> Self {
        Self { forests: Arc::clone(forests), every, sweeps: 0 }
    }

    /// Draws the next forest, where it is time.
    pub(super) fn step(&mut self, model: &Model, chains: &mut Chains) {
        self.sweeps += 1;
        if !self.sweeps.is_multiple_of(self.every) {
            return;
        }
        let number = self.sweeps / self.every % self.forests.len().max(1);
        if let Some(forest) = self.forests.get(number) {
            chains.draw_forest(model, forest);
        }
    }
}
