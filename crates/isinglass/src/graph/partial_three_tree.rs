//! Is the treewidth at most 3? A complete decision by reduction, with the elimination order.
//!
//! Arnborg & Proskurowski 1986, "Characterization and recognition of partial 3-trees": a graph has treewidth at most 3 exactly when these
//! rules, applied in any order, take it apart.
//!
//! | rule | vertex | is removed, and its neighbours joined |
//! |---|---|---|
//! | islet, twig, series | with 0, 1, 2 neighbours | |
//! | triangle | with 3 neighbours, two of them joined | |
//! | buddy | two with the same 3 neighbours | both |
//! | cube | v with neighbours a, b, c of degree 3, and N(a) = {v,p,q}, N(b) = {v,p,r}, N(c) = {v,q,r} | a, b, c and v; p, q, r are joined |
//!
//! Rules for fewer neighbours go first: then what is left has a least degree of 1, 2, 3 whenever a vertex with that many neighbours goes,
//! and no order is narrower. Where no rule applies any more, the treewidth of what is left is at least 4, and the steps so far
//! begin an order of least width.
//!
//! A rule may become applicable where nothing but an edge between two neighbours has changed; `Reducer::watchers` finds these places.

use hashbrown::HashMap;

use super::Graph;
use super::shrinking::{ShrinkingRows, pair};

impl Graph {
    /// An order in which all units can be eliminated with at most 3 neighbours each, if there is one.
    ///
    /// Elimination joins the neighbours of what it removes. With biases, unit 0 is one more vertex, joined to the biased units; it counts as a neighbour
    /// and comes last (and is not listed). So this decides whether a machine is decimatable (Rüger 1997, definition 4.3; his remark 4.4
    /// gives a greedy order, which can miss one that exists).
    ///
    /// *Arguments*: `biased`, the units that are joined to unit 0.
    /// *Returns*: the order, or `None` if the treewidth exceeds 3: the decision is complete.
    /// *Complexity*: near-linear in units and edges; about a second for a million units.
    ///
    /// # Example
    /// ```
    /// use isinglass::{Graph, topology::{self, Neighbours}};
    /// let ladder = Graph::grid(2, 30, Neighbours::Four);
    /// let everywhere: Vec<usize> = (0..60).collect();
    /// assert_eq!(ladder.decimation_order(&everywhere).map(|order| order.len()), Some(60));
    /// assert_eq!(Graph::full(5).decimation_order(&[]), None);
    ///
    /// // A cube: every vertex has three neighbours, and none of them are joined.
    /// let cube = Graph::new(8, (0..8).flat_map(|a| [1, 2, 4].map(|bit| (a, a ^ bit))).filter(|(a, b)| a < b))?;
    /// assert!(cube.decimation_order(&[]).is_some());
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn decimation_order(&self, biased: &[usize]) -> Option<Vec<usize>> {
        // Each step takes off at most three edges.
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

/// Take a graph apart as far as the rules go.
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

/// What the rules have taken off, and what they have left.
pub(super) struct Reduction {
    pub(super) steps: Vec<Step>,
    rows: ShrinkingRows,
}

impl Reduction {
    /// Whether nothing is left: the treewidth is at most 3.
    pub(super) fn is_complete(&self) -> bool {
        self.steps.len() == self.rows.len()
    }

    /// The eliminated vertices, in order.
    pub(super) fn units(&self) -> impl Iterator<Item = usize> + '_ {
        self.steps.iter().map(|step| step.unit as usize)
    }

    /// The rows of what is left, for as many vertices as there were.
    pub(super) fn into_core(self) -> ShrinkingRows {
        self.rows
    }
}

/// Not waiting for a rule.
const IDLE: u8 = u8::MAX;

/// What is left of a graph, and where a rule may apply.
struct Reducer {
    rows: ShrinkingRows,
    /// Looked at only when no rule applies elsewhere.
    last: Option<u32>,
    /// Vertices that a rule may apply to, by their number of neighbours, and last of all `last`.
    open: [Vec<u32>; 5],
    /// In which of these a vertex waits; what stands in another is out of date.
    waits: Vec<u8>,
    /// Vertices that had these three neighbours when last looked at.
    triples: HashMap<[u32; 3], u32>,
    /// Vertices that had these two among their three neighbours: if the two become joined, a triangle is there.
    /// The last one, each with a link to the one before.
    watchers: HashMap<u64, usize>,
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

    /// Apply rules until none applies.
    fn run(mut self) -> Reduction {
        while let Some(place) = self.open.iter().position(|open| !open.is_empty()) {
            while let Some(v) = self.open[place].pop() {
                if self.waits[v as usize] == place as u8 {
                    self.waits[v as usize] = IDLE;
                    self.look_at(v);
                    break;
                }
            }
        }
        Reduction { steps: self.steps, rows: self.rows }
    }

    fn look_at(&mut self, v: u32) {
        if self.rows.degree(v) < 3 {
            self.eliminate(v);
            return;
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

    /// Another vertex with just these three neighbours.
    fn buddy(&mut self, v: u32, around: [u32; 3]) -> Option<u32> {
        let known = *self.triples.get(&around)?;
        (known != v && self.rows.degree(known) == 3 && self.three(known) == around).then_some(known)
    }

    /// Whether v is the corner of a cube between its three neighbours.
    fn is_cube(&mut self, v: u32, around: [u32; 3]) -> bool {
        if around.iter().any(|&a| self.rows.degree(a) != 3) {
            return false;
        }
        // Each neighbour has two more, and each of the three outer vertices stands in just two of these pairs.
        let mut outer = [0; 6];
        for (k, a) in around.into_iter().enumerate() {
            let mut others = self.three(a).into_iter().filter(|&x| x != v);
            outer[2 * k..2 * k + 2].fill_with(|| others.next().unwrap_or(v));
        }
        outer.sort_unstable();
        let [p, p2, q, q2, r, r2] = outer;
        p == p2 && q == q2 && r == r2 && p != q && q != r
    }

    /// Remove a vertex of at most three neighbours and join them.
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
        for &a in around {
            self.changed(a);
        }
    }

    /// A vertex has other neighbours now: a rule may apply to it, or to one of its neighbours as the corner of a cube.
    fn changed(&mut self, v: u32) {
        self.queue(v);
        if self.rows.degree(v) == 3 {
            for a in self.three(v) {
                if self.rows.degree(a) == 3 {
                    self.queue(a);
                }
            }
        }
    }

    /// Let a vertex wait where its number of neighbours belongs, if a rule may apply to it at all.
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

/// The order of the steps, changed where need be so that one vertex comes last (and is not listed).
///
/// The steps from that vertex on are a perfect elimination order of the graph with all edges that were ever there; maximum cardinality
/// search from any vertex gives, backwards, another one that ends with it (Tarjan & Yannakakis 1984).
fn with_last(steps: &[Step], last: u32) -> Vec<usize> {
    let Some(kept) = steps.iter().position(|step| step.unit == last) else {
        return steps.iter().map(|step| step.unit as usize).collect();
    };
    let (kept, changed) = steps.split_at(kept);
    // Vertices are named by their step: the neighbours of a step are all eliminated later.
    let names: HashMap<u32, usize> = changed.iter().enumerate().map(|(k, step)| (step.unit, k)).collect();
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); changed.len()];
    for (k, step) in changed.iter().enumerate() {
        for other in step.neighbours().iter().map(|a| names[a]) {
            rows[k].push(other);
            rows[other].push(k);
        }
    }
    // By the number of visited neighbours; cliques have at most four vertices, but a vertex may lie in many.
    let mut visited_around = vec![0; changed.len()];
    let mut visited = vec![false; changed.len()];
    // The last vertex is the first of these steps, and the first to be popped.
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
