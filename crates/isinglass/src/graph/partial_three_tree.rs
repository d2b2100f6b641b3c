//! Decides whether the treewidth is at most 3, by reduction, and gives the elimination order.
//!
//! Arnborg & Proskurowski 1986, "Characterization and recognition of partial 3-trees": a graph has
//! treewidth at most 3 exactly when these rules, applied in any order, remove every vertex.
//!
//! | rule | vertex | is removed, and its neighbours joined |
//! |---|---|---|
//! | islet, twig, series | with 0, 1, 2 neighbours | |
//! | triangle | with 3 neighbours, two of them joined | |
//! | buddy | two with the same 3 neighbours | both |
//! | cube | v with neighbours a, b, c of degree 3, and N(a) = {v,p,q}, N(b) = {v,p,r}, N(c) = {v,q,r} | a, b, c and v; p, q, r are joined |
//!
//! Rules for fewer neighbours are applied first, so that the rest has least degree k whenever a
//! vertex with k neighbours is removed, and no order is narrower. Where no rule applies any more,
//! the rest has treewidth 4 or more, and the steps so far begin an order of least width.

use hashbrown::HashMap;

use super::Graph;
use super::shrinking::{Rows, ShrinkingRows, pair};

impl Graph {
    /// An order that eliminates all units with at most 3 neighbours each, if there is one.
    ///
    /// With biases, unit 0 is one more vertex, joined to the biased units; it counts as a neighbour
    /// and comes last (and is not listed). So this decides whether a machine is decimatable (Rüger
    /// 1997, definition 4.3; the greedy order of his remark 4.4 can miss one that exists).
    ///
    /// *Arguments*: `biased`, the units that are joined to unit 0.
    /// *Returns*: the order, or `None` if the treewidth exceeds 3: the decision is complete.
    /// *Complexity*: near-linear in units and edges; about a second for a million units.
    ///
    /// # Example
    /// ```
    /// use isinglass::{Graph, topology::Neighbours};
    /// let ladder = Graph::grid(2, 30, Neighbours::Four);
    /// let everywhere: Vec<usize> = (0..60).collect();
    /// assert_eq!(ladder.decimation_order(&everywhere).map(|order| order.len()), Some(60));
    /// assert_eq!(Graph::full(5).decimation_order(&[]), None);
    /// ```
    pub fn decimation_order(&self, biased: &[usize]) -> Option<Vec<usize>> {
        // Each step removes at most three edges.
        if self.edges().len() > 3 * self.unit_count() {
            return None;
        }
        if biased.is_empty() {
            let reduction = reduce(self);
            return reduction.is_complete().then(|| reduction.units().collect());
        }
        let zero = self.unit_count() as u32;
        let reduction = Reducer::new(ShrinkingRows::new(self, Some(biased)), Some(zero)).run();
        reduction.is_complete().then(|| with_last(&reduction.steps, zero))
    }
}

/// Reduces a graph as far as the rules apply.
pub(super) fn reduce(graph: &Graph) -> Reduction {
    Reducer::new(ShrinkingRows::new(graph, None), None).run()
}

/// A vertex that was eliminated, with its neighbours at that time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    unit: u32,
    neighbours: [u32; 3],
    count: u8,
}

impl Step {
    /// The neighbours at the time of elimination.
    pub(super) fn neighbours(&self) -> &[u32] {
        &self.neighbours[..usize::from(self.count)]
    }
}

/// The steps of the rules, and the rows that remain.
pub(super) struct Reduction {
    pub(super) steps: Vec<Step>,
    rows: ShrinkingRows,
}

impl Reduction {
    /// Whether no vertex remains: the treewidth is at most 3.
    pub(super) fn is_complete(&self) -> bool {
        self.steps.len() == self.rows.len()
    }

    /// The eliminated vertices, in order.
    pub(super) fn units(&self) -> impl Iterator<Item = usize> + '_ {
        self.steps.iter().map(|step| step.unit as usize)
    }

    /// The rows that remain, for as many vertices as there were at first.
    pub(super) fn into_core(self) -> ShrinkingRows {
        self.rows
    }
}

/// Not waiting for a rule.
const IDLE: u8 = u8::MAX;

/// The rest of a graph, and where a rule may apply.
struct Reducer {
    rows: ShrinkingRows,
    /// Examined only when no rule applies elsewhere.
    last: Option<u32>,
    /// Vertices that a rule may apply to, by their number of neighbours; `last` has its own queue.
    open: [Vec<u32>; 5],
    /// The queue that a vertex waits in; its entries in others are out of date.
    waits: Vec<u8>,
    /// Vertices that had these three neighbours when last examined.
    triples: HashMap<[u32; 3], u32>,
    /// For a pair, the last entry in `links` of a vertex with both among its three neighbours: if
    /// the two become joined, the triangle rule applies to it.
    watchers: HashMap<u64, usize>,
    /// A watcher, and the entry of the one before it.
    links: Vec<(u32, Option<usize>)>,
    steps: Vec<Step>,
}

impl Reducer {
    fn new(rows: ShrinkingRows, last: Option<u32>) -> Self {
        let n = rows.len();
        let mut reducer = Self {
            rows,
            last,
            open: Default::default(),
            waits: vec![IDLE; n],
            triples: HashMap::new(),
            watchers: HashMap::new(),
            links: Vec::new(),
            steps: Vec::with_capacity(n),
        };
        for v in (0..n as u32).rev() {
            reducer.queue(v);
        }
        reducer
    }

    /// Applies rules until none applies.
    fn run(mut self) -> Reduction {
        while let Some(place) = self.open.iter().position(|open| !open.is_empty()) {
            while let Some(v) = self.open[place].pop() {
                if self.waits[v as usize] == place as u8 {
                    self.waits[v as usize] = IDLE;
                    self.examine(v);
                    break;
                }
            }
        }
        Reduction { steps: self.steps, rows: self.rows }
    }

    fn examine(&mut self, v: u32) {
        if self.rows.degree(v) < 3 {
            return self.eliminate(v);
        }
        let [a, b, c] = self.three(v);
        if self.rows.joined(a, b) || self.rows.joined(a, c) || self.rows.joined(b, c) {
            self.eliminate(v);
        } else if let Some(buddy) = self.buddy(v, [a, b, c]) {
            self.eliminate(v);
            self.eliminate(buddy);
        } else if self.is_cube(v, [a, b, c]) {
            for x in [a, b, c, v] {
                self.eliminate(x);
            }
        } else {
            self.triples.insert([a, b, c], v);
            for pair in [pair(a, b), pair(a, c), pair(b, c)] {
                let before = self.watchers.insert(pair, self.links.len());
                self.links.push((v, before));
            }
        }
    }

    /// The neighbours, in rising order, of a vertex that has three.
    fn three(&mut self, v: u32) -> [u32; 3] {
        let row = self.rows.row(v);
        let mut three = [row[0], row[1], row[2]];
        three.sort_unstable();
        three
    }

    /// Another vertex with the same three neighbours.
    fn buddy(&mut self, v: u32, around: [u32; 3]) -> Option<u32> {
        let known = *self.triples.get(&around)?;
        (known != v && self.rows.degree(known) == 3 && self.three(known) == around).then_some(known)
    }

    /// Whether v is the corner of a cube between its three neighbours.
    fn is_cube(&mut self, v: u32, around: [u32; 3]) -> bool {
        if around.iter().any(|&a| self.rows.degree(a) != 3) {
            return false;
        }
        // Each neighbour has two more, and each of the three outer vertices is in two such pairs.
        let mut outer = [0; 6];
        for (k, a) in around.into_iter().enumerate() {
            let mut others = self.three(a).into_iter().filter(|&x| x != v);
            outer[2 * k..2 * k + 2].fill_with(|| others.next().unwrap_or(v));
        }
        outer.sort_unstable();
        let [p, p2, q, q2, r, r2] = outer;
        p == p2 && q == q2 && r == r2 && p != q && q != r
    }

    /// Removes a vertex with at most three neighbours and joins them.
    fn eliminate(&mut self, v: u32) {
        let mut step = Step { unit: v, neighbours: [0; 3], count: self.rows.degree(v) as u8 };
        step.neighbours[..usize::from(step.count)].copy_from_slice(self.rows.row(v));
        self.steps.push(step);
        self.rows.lose(v);
        self.waits[v as usize] = IDLE;
        let around = step.neighbours();
        for (k, &a) in around.iter().enumerate() {
            for &b in &around[..k] {
                if !self.rows.joined(a, b) {
                    self.rows.join(a, b);
                    let mut link = self.watchers.remove(&pair(a, b));
                    while let Some((watcher, before)) = link.map(|k| self.links[k]) {
                        self.queue(watcher);
                        link = before;
                    }
                }
            }
        }
        // A rule may now apply to a neighbour, or to one of its neighbours as a corner of a cube.
        for &v in around {
            self.queue(v);
            if self.rows.degree(v) == 3 {
                for a in self.three(v) {
                    if self.rows.degree(a) == 3 {
                        self.queue(a);
                    }
                }
            }
        }
    }

    /// Queues a vertex by its number of neighbours, if a rule may apply to it.
    fn queue(&mut self, v: u32) {
        let place = match self.rows.degree(v) {
            _ if self.rows.is_lost(v) => IDLE,
            0..=3 if self.last == Some(v) => 4,
            degree @ 0..=3 => degree as u8,
            _ => IDLE,
        };
        if self.waits[v as usize] != place {
            self.waits[v as usize] = place;
            if place != IDLE {
                self.open[usize::from(place)].push(v);
            }
        }
    }
}

/// The order of the steps, changed so that one vertex comes last (and is not listed).
///
/// The steps from that vertex on are a perfect elimination order of the graph with its fill edges;
/// maximum cardinality search from a vertex gives, reversed, one that ends with it (Tarjan &
/// Yannakakis 1984).
fn with_last(steps: &[Step], last: u32) -> Vec<usize> {
    let Some(kept) = steps.iter().position(|step| step.unit == last) else {
        return steps.iter().map(|step| step.unit as usize).collect();
    };
    let (kept, changed) = steps.split_at(kept);
    // Vertices are numbered by their step: the neighbours of a step are all eliminated later.
    let names: HashMap<u32, usize> = changed.iter().enumerate().map(|(k, step)| (step.unit, k)).collect();
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); changed.len()];
    for (k, step) in changed.iter().enumerate() {
        for other in step.neighbours().iter().map(|a| names[a]) {
            rows[k].push(other);
            rows[other].push(k);
        }
    }
    let mut visited_around = vec![0; changed.len()];
    let mut visited = vec![false; changed.len()];
    // By the number of visited neighbours. The vertex that comes last is popped first.
    let mut by_count: Vec<Vec<usize>> = vec![(0..changed.len()).rev().collect()];
    let mut order = Vec::with_capacity(steps.len());
    while let Some(count) = by_count.len().checked_sub(1) {
        let Some(v) = by_count[count].pop() else {
            by_count.pop();
            continue;
        };
        if visited[v] || visited_around[v] != count {
            continue;
        }
        visited[v] = true;
        order.push(changed[v].unit as usize);
        for &a in &rows[v] {
            if !visited[a] {
                visited_around[a] += 1;
                by_count.resize_with(by_count.len().max(visited_around[a] + 1), Vec::new);
                by_count[visited_around[a]].push(a);
            }
        }
    }
    debug_assert_eq!(order.first(), Some(&(last as usize)));
    order.remove(0);
    order.extend(kept.iter().rev().map(|step| step.unit as usize));
    order.reverse();
    order
}
