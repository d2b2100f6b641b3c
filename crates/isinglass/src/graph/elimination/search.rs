//! The search among candidate orders of a connected graph, and when it ends.

use super::super::Graph;
use super::dissection;
use super::greedy::{Plan, Score, greedy};
use super::meter::{Chance, Cost, Meter};
use super::sweeps::{Next, corners, sweep};
use crate::cancel;

/// An order and what it costs.
pub(super) struct Found {
    pub(super) order: Vec<usize>,
    pub(super) cost: Cost,
}

/// Work granted to the first candidates for each unit and edge: enough where the width is small.
const WORK_PER_ELEMENT: f64 = 160.0;

/// The most work granted to restarts, however small the tables: well below a millisecond.
const GRANTED_TO_RESTARTS: f64 = 1e5;

/// Work for each table entry of the best order so far. Both take a few nanoseconds.
const WORK_PER_ENTRY: f64 = 0.4;

/// The most work that tables can justify: a second or two.
const MOST_WORK: f64 = 1e9;

/// Restarts without improvement that end the search.
const PATIENCE: usize = 300;

/// The best order found for a connected graph, if one is within `max_width`.
pub(super) fn search(graph: &Graph, max_width: usize) -> Option<Found> {
    // No order is narrower than the degeneracy.
    if graph.degeneracy() > max_width {
        return None;
    }
    let granted = WORK_PER_ELEMENT * (graph.unit_count() + graph.edges().len()) as f64;
    let mut search = Search { graph, max_width, granted, best: None, work: 0, made: 0 };
    search.first_candidates();
    search.granted = (2.0 * granted).min(GRANTED_TO_RESTARTS);
    search.restarts();
    search.best
}

struct Search<'a> {
    graph: &'a Graph,
    max_width: usize,
    /// Work that is allowed in any case.
    granted: f64,
    best: Option<Found>,
    work: u64,
    /// Candidates so far, which seed each candidate's random choices.
    made: u64,
}

impl Search<'_> {
    /// The work that is small against using the best order so far, or the cheapest acceptable one.
    fn allowance(&self) -> u64 {
        let entries = match &self.best {
            Some(found) => found.cost.entries,
            None => 2f64.powi(self.max_width.min(1000) as i32),
        };
        (WORK_PER_ENTRY * entries).min(MOST_WORK).max(self.granted) as u64
    }

    /// Makes a candidate and keeps it if it is the best so far.
    fn consider(&mut self, make: impl FnOnce(&Graph, &mut Chance, &mut Meter) -> Option<Vec<usize>>) -> bool {
        let rank = self.best.as_ref().map_or(f64::INFINITY, |found| found.cost.rank());
        let mut meter = Meter::new(self.max_width, rank, self.allowance().saturating_sub(self.work));
        cancel::point();
        self.made += 1;
        let order = make(self.graph, &mut Chance::new(self.made), &mut meter);
        self.work += meter.work;
        let is_better = order.is_some();
        if let Some(order) = order {
            self.best = Some(Found { order, cost: meter.cost });
        }
        is_better
    }

    /// One candidate of each kind, the cheapest first.
    fn first_candidates(&mut self) {
        let n = self.graph.unit_count();
        self.consider(|graph, _, meter| follow(graph, (0..n).collect(), meter));
        self.consider(|graph, _, meter| follow(graph, (0..n).rev().collect(), meter));
        let mut starts = [0; 3];
        self.consider(|graph, _, meter| {
            starts = corners(graph, meter);
            None
        });
        for start in starts {
            for next in [Next::Fewest, Next::Longest] {
                self.consider(|graph, chance, meter| sweep(graph, start, next, chance, meter));
            }
        }
        for score in [Score::Degree, Score::Fill] {
            self.consider(|graph, chance, meter| greedy(graph, Plan::by(score), chance, meter));
        }
        self.consider(|graph, chance, meter| {
            let stages = dissection::stages(graph, meter)?;
            greedy(graph, Plan { stages: &stages, ..Plan::by(Score::Fill) }, chance, meter)
        });
    }

    /// Random candidates, as long as the work is small against that of using the order.
    fn restarts(&mut self) {
        let n = self.graph.unit_count();
        let mut failures = 0;
        let mut places = Chance::new(0);
        for turn in 0.. {
            if self.work >= self.allowance() || failures >= PATIENCE {
                return;
            }
            let place = places.below(n);
            let score = if turn % 8 < 4 { Score::Fill } else { Score::FillAndDegree };
            // The beginning of the best order, and another end.
            let first = match &self.best {
                Some(found) if matches!(turn % 4, 1 | 2) => found.order[..place].to_vec(),
                _ => Vec::new(),
            };
            let is_better = self.consider(|graph, chance, meter| match turn % 4 {
                0 => sweep(graph, place, Next::FewestByChance, chance, meter),
                _ => greedy(graph, Plan { first: &first, ..Plan::by(score) }, chance, meter),
            });
            failures = if is_better { 0 } else { failures + 1 };
        }
    }
}

/// The order as given, if the meter accepts it.
fn follow(graph: &Graph, order: Vec<usize>, meter: &mut Meter) -> Option<Vec<usize>> {
    graph.symbolic_while(&order, |neighbours| {
        meter.work(2 * neighbours + 8);
        meter.step(neighbours).is_some()
    })?;
    Some(order)
}
