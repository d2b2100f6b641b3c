//! What variational engines would cost for a machine.

use super::couplings::{Couplings, pairs_among};
use super::panel::Panel;
use super::response::Plan;
use super::{Bethe, LinearResponse, MeanField, Tap, VariationalSettings, bethe};
use crate::engine::auto::Offer;
use crate::engine::{Budget, Guarantee};
use crate::{Machine, Result};

/// An offer of each engine, for the free units of a machine.
pub(in crate::engine) fn offers(machine: &Machine, free: &[usize], budget: Budget) -> Result<Vec<Offer>> {
    let pairs = pairs_among(machine, free);
    let field = |with_squares| {
        Couplings::bytes(free.len(), pairs.len(), with_squares) + Panel::bytes(machine.units(), free.len(), 1)
    };
    let (plan, how) = match Plan::new(free.len(), &pairs)? {
        plan @ Plan::Dense => (plan, "and the inverse of a matrix"),
        plan => (plan, "and part of an inverse, by elimination"),
    };
    let response = field(false) + plan.bytes(free.len(), 1);
    let settings = VariationalSettings { budget, ..VariationalSettings::default() };
    let messages = bethe::bytes(machine, free, &settings, 1);
    let forest = bethe::Solver::new(machine, free, &settings).is_ok_and(|solver| solver.is_forest());
    let apart = pairs.iter().all(|pair| pair.coupling == 0.0);
    let or_exact = |exact: bool, answers: Guarantee| if exact { Guarantee::Exact } else { answers };
    let offer = |engine, answers: Guarantee, bytes: u128, what: &str| Offer {
        engine,
        available: bytes <= u128::from(budget.0),
        answers,
        bytes: Some(bytes),
        order: None,
        cost: format!("{what}, {}", Budget::bytes(bytes)),
    };
    let approximation = or_exact(apart, Guarantee::Approximation);
    Ok(vec![
        offer(MeanField::NAME, or_exact(apart, Guarantee::LowerBound), field(false), "a fixed point"),
        offer(Tap::NAME, approximation, field(true), "a fixed point"),
        offer(LinearResponse::NAME, approximation, response, &format!("a fixed point {how}")),
        offer(Bethe::NAME, or_exact(forest, Guarantee::Approximation), messages, "messages"),
    ])
}
