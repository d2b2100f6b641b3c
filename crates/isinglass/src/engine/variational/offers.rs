//! What variational engines would cost for a machine.

use super::couplings::{Couplings, pairs_among};
use super::panel::Panel;
use super::response::Plan;
use super::{
    Bethe, LinearResponse, LogDet, MeanField, Mixture, Structured, Tap, Trw, VariationalSettings, bethe,
};
use crate::Budget;
use crate::engine::Guarantee;
use crate::engine::auto::Offer;
use crate::{Error, Machine, Result};

/// An offer of each engine, for the free units of a machine; `width` is the treewidth found for
/// them, if any is known.
pub(in crate::engine) fn offers(
    machine: &Machine,
    free: &[usize],
    width: Option<usize>,
    budget: Budget,
) -> Result<Vec<Offer>> {
    let pairs = pairs_among(machine, free);
    let field = |with_squares| {
        Couplings::bytes(free.len(), pairs.len(), with_squares)
            + Panel::bytes(machine.unit_count(), free.len(), 1)
    };
    let (plan, how) = match Plan::new(free.len(), &pairs)? {
        plan @ Plan::Dense => (plan, "and the inverse of a matrix"),
        plan => (plan, "and part of an inverse, by elimination"),
    };
    let response = field(false) + plan.bytes(free.len(), 1);
    let settings = VariationalSettings::default().budget(budget);
    let messages = bethe::bytes(machine, free, &settings, 1);
    let forest = bethe::Solver::new(machine, free, &settings).is_ok_and(|solver| solver.is_forest());
    let apart = pairs.iter().all(|pair| pair.coupling == 0.0);
    let or_exact = |exact: bool, answers: Guarantee| if exact { Guarantee::Exact } else { answers };
    let offer = |engine, answers: Guarantee, bytes: u128, what: &str| Offer {
        engine,
        available: bytes <= u128::from(budget.0),
        answers,
        bytes: Some(bytes),
        work: None,
        order: None,
        cost: format!("{what}, {}", Budget::bytes(bytes)),
    };
    let approximation = or_exact(apart, Guarantee::Approximation);
    let lower = or_exact(apart, Guarantee::LowerBound);
    let (mixture, trw) = (Mixture::default(), Trw::default());
    let around = format!("the best distribution on a subgraph of treewidth {}", Structured::default().width);
    let kept = match Structured::new().budget(budget).estimate(machine, free) {
        Ok((bytes, answers)) => offer(Structured::NAME, answers, bytes, &around),
        Err(Error::OverBudget { needed, .. }) => {
            offer(Structured::NAME, Guarantee::LowerBound, needed, &around)
        }
        Err(error) => Offer {
            engine: Structured::NAME,
            available: false,
            answers: Guarantee::LowerBound,
            bytes: None,
            work: None,
            order: None,
            cost: error.to_string(),
        },
    };
    let whole = width.is_some_and(|width| width <= trw.width);
    let subgraphs = format!("subgraphs of treewidth {}", trw.width);
    Ok(vec![
        offer(MeanField::NAME, lower, field(false), "a fixed point"),
        offer(
            Mixture::NAME,
            lower,
            mixture.bytes(machine, free.len()),
            &format!("a fixed point of {} components", mixture.components),
        ),
        kept,
        offer(Trw::NAME, or_exact(whole, Guarantee::UpperBound), trw.bytes(machine, free)?, &subgraphs),
        offer(
            LogDet::NAME,
            if free.is_empty() { Guarantee::Exact } else { Guarantee::UpperBound },
            LogDet::default().bytes(free.len()),
            "eigenvalues of a matrix",
        ),
        offer(Tap::NAME, approximation, field(true), "a fixed point"),
        offer(LinearResponse::NAME, approximation, response, &format!("a fixed point {how}")),
        offer(Bethe::NAME, or_exact(forest, Guarantee::Approximation), messages, "messages"),
    ])
}
