//! Greedy orders: the next vertex is one of least fill or degree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::Graph;
use super::super::shrinking::{Rows, ShrinkingRows};
use super::bit_rows::BitRows;
use super::meter::{Chance, Meter};

/// Up to this many vertices, rows are bits.
const MOST_FOR_BITS: usize = 2048;

/// What a greedy order minimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Score {
    /// The number of edges that elimination adds.
    Fill,
    /// The number of neighbours.
    Degree,
    /// The sum of both.
    FillAndDegree,
}

/// Settings of a greedy order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) score: Score,
    /// Vertices of a lower stage come before those of a higher one; empty for no stages.
    pub(super) stages: &'a [u8],
    /// Vertices to eliminate first, in this order.
    pub(super) first: &'a [usize],
}

impl Plan<'_> {
    /// No stages and no beginning.
    pub(super) fn by(score: Score) -> Self {
        Self { score, stages: &[], first: &[] }
    }
}

/// An order by repeated choice of the vertex of least score, ties broken at random; `None` where
/// the meter stops it.
///
/// *Complexity*: fill is kept up to date, and a new edge a–b costs one pass over the shorter row of
/// a and b: near-linear where the width stays small, whatever the degrees.
pub(super) fn greedy(
    graph: &Graph,
    plan: Plan<'_>,
    chance: &mut Chance,
    meter: &mut Meter,
) -> Option<Vec<usize>> {
    if graph.unit_count() <= MOST_FOR_BITS {
        greedy_on::<BitRows>(graph, plan, chance, meter)
    } else {
        greedy_on::<ShrinkingRows>(graph, plan, chance, meter)
    }
}

fn greedy_on<R: Rows>(
    graph: &Graph,
    plan: Plan<'_>,
    chance: &mut Chance,
    meter: &mut Meter,
) -> Option<Vec<usize>> {
    let n = graph.unit_count();
    let mut rest: Rest<R> = Rest::new(graph, plan.score != Score::Degree, meter)?;
    let mut order = Vec::with_capacity(n);
    for &v in plan.first {
        meter.step(rest.rows.degree(v as u32))?;
        rest.eliminate(v as u32, meter);
        order.push(v);
    }
    rest.touched.clear();
    rest.is_touched.fill(false);
    let key = |rest: &Rest<R>, v: u32| {
        let score = match plan.score {
            Score::Fill => rest.fill[v as usize],
            Score::Degree => rest.rows.degree(v) as u64,
            Score::FillAndDegree => rest.fill[v as usize] + rest.rows.degree(v) as u64,
        };
        u64::from(plan.stages.get(v as usize).copied().unwrap_or(0)) << 56 | score
    };
    let left = (0..n as u32).filter(|&v| !rest.done[v as usize]);
    let mut queue: BinaryHeap<_> = left.map(|v| Reverse((key(&rest, v), chance.next() as u32, v))).collect();
    while let Some(Reverse((known, _, v))) = queue.pop() {
        if rest.done[v as usize] || key(&rest, v) != known {
            continue;
        }
        meter.step(rest.rows.degree(v))?;
        rest.eliminate(v, meter);
        order.push(v as usize);
        meter.work(R::LOOKUP * 8 * rest.touched.len());
        for k in 0..rest.touched.len() {
            let a = rest.touched[k];
            rest.is_touched[a as usize] = false;
            queue.push(Reverse((key(&rest, a), chance.next() as u32, a)));
        }
        rest.touched.clear();
    }
    debug_assert_eq!(order.len(), n);
    Some(order)
}

/// The rest of a graph, with the fill of each vertex.
struct Rest<R> {
    rows: R,
    /// Pairs of neighbours that are not joined; empty where it is not used.
    fill: Vec<u64>,
    done: Vec<bool>,
    /// Vertices whose score has changed since this list was cleared.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    around: Vec<u32>,
    common: Vec<u32>,
}

impl<R: Rows> Rest<R> {
    fn new(graph: &Graph, with_fill: bool, meter: &mut Meter) -> Option<Self> {
        let n = graph.unit_count();
        meter.work(R::LOOKUP * (8 * n + 2 * graph.edges().len()));
        let mut rows = R::of(graph);
        let mut fill = Vec::new();
        let mut common = Vec::new();
        if with_fill {
            let pairs = |degree: usize| (degree * degree.saturating_sub(1) / 2) as u64;
            fill.extend((0..n).map(|v| pairs(graph.degree(v))));
            for &(a, b) in graph.edges() {
                common.clear();
                meter.work(rows.extend_with_common(a as u32, b as u32, &mut common));
                for &w in &common {
                    fill[w as usize] -= 1;
                }
            }
            meter.check()?;
        }
        let (touched, around) = (Vec::new(), Vec::new());
        Some(Self { rows, fill, done: vec![false; n], touched, is_touched: vec![false; n], around, common })
    }

    fn touch(&mut self, v: u32) {
        if !self.is_touched[v as usize] {
            self.is_touched[v as usize] = true;
            self.touched.push(v);
        }
    }

    /// Removes a vertex and joins its neighbours.
    fn eliminate(&mut self, v: u32, meter: &mut Meter) {
        let mut around = std::mem::take(&mut self.around);
        around.clear();
        self.rows.extend_with_row(v, &mut around);
        self.done[v as usize] = true;
        meter.work(R::LOOKUP * (8 + around.len() * around.len()));
        for &a in &around {
            self.touch(a);
            if !self.fill.is_empty() {
                // Unjoined pairs of v and another neighbour of a are gone.
                let joined = around.iter().filter(|&&b| b != a && self.rows.joined(a, b)).count();
                self.fill[a as usize] -= (self.rows.degree(a) - 1 - joined) as u64;
            }
        }
        self.rows.lose(v);
        for (k, &a) in around.iter().enumerate() {
            for &b in &around[..k] {
                if !self.rows.joined(a, b) {
                    self.join(a, b, meter);
                }
            }
        }
        self.around = around;
    }

    fn join(&mut self, a: u32, b: u32, meter: &mut Meter) {
        if !self.fill.is_empty() {
            let mut common = std::mem::take(&mut self.common);
            common.clear();
            meter.work(8 + self.rows.extend_with_common(a, b, &mut common));
            // The new neighbour makes a pair with each old one that it is not joined to,
            self.fill[a as usize] += (self.rows.degree(a) - common.len()) as u64;
            self.fill[b as usize] += (self.rows.degree(b) - common.len()) as u64;
            // and common neighbours miss one pair less.
            for &w in &common {
                self.fill[w as usize] -= 1;
                self.touch(w);
            }
            self.common = common;
        }
        self.rows.join(a, b);
    }
}
