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
//! A rule may become applicable where nothing but an edge between two neighbours has changed; `Reducer::watchers` finds these places.

use hashbrown::{HashMap, HashSet};

use super::Graph;

impl Graph {
    /// An order in which all units can be eliminated with at most 3 neighbours each, if there is one.
    ///
    /// Elimination joins the neighbours of what it removes. With biases, unit 0 is one more vertex, joined to the biased units; it counts as a neighbour
    /// and comes last (and is not listed). So this decides whether a machine is decimatable (Rüger 1997, definition 4.3; his remark 4.4
    /// gives a greedy order, which can miss one that exists).
    ///
    /// *Arguments*: `biased`, the units that are joined to unit 0.
    /// *Returns*: the order, or `None` if the treewidth exceeds 3: the decision is complete.
    /// *Complexity*: near-linear in units and edges.
    ///
    /// # Example
    /// ```
    /// use isinglass::{Graph, topology::{self, Neighbours}};
    /// let ladder = topology::grid(2, 30, Neighbours::Four);
    /// let everywhere: Vec<usize> = (0..60).collect();
    /// assert_eq!(ladder.decimation_order(&everywhere).map(|order| order.len()), Some(60));
    /// assert_eq!(topology::full(5).decimation_order(&[]), None);
    ///
    /// // A cube: every vertex has three neighbours, and none of them are joined.
    /// let cube = Graph::new(8, (0..8).flat_map(|a| [1, 2, 4].map(|bit| (a, a ^ bit))).filter(|(a, b)| a < b))?;
    /// assert!(cube.decimation_order(&[]).is_some());
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn decimation_order(&self, biased: &[usize]) -> Option<Vec<usize>> {
        let zero = self.units() as u32;
        let mut rows: Vec<HashSet<u32>> = (0..self.units())
            .map(|unit| self.neighbours(unit).map(|(other, _)| other as u32).collect())
            .collect();
        for &unit in biased {
            rows[unit].insert(zero);
        }
        rows.push(biased.iter().map(|&unit| unit as u32).collect());
        let eliminated = Reducer::new(rows).run()?;
        Some(with_last(&eliminated, zero))
    }
}

/// A vertex that was eliminated, with its neighbours at that time.
type Step = (u32, Vec<u32>);

/// What is left of a graph, and where a rule may apply.
struct Reducer {
    rows: Vec<HashSet<u32>>,
    gone: Vec<bool>,
    /// Vertices that a rule may apply to.
    open: Vec<u32>,
    queued: Vec<bool>,
    /// Vertices that had these three neighbours when last looked at.
    triples: HashMap<[u32; 3], u32>,
    /// Vertices that had these two among their three neighbours: if the two become joined, a triangle is there.
    watchers: HashMap<[u32; 2], Vec<u32>>,
    steps: Vec<Step>,
}

impl Reducer {
    fn new(rows: Vec<HashSet<u32>>) -> Self {
        let n = rows.len();
        Self {
            rows,
            gone: vec![false; n],
            open: (0..n as u32).rev().collect(),
            queued: vec![true; n],
            triples: HashMap::new(),
            watchers: HashMap::new(),
            steps: Vec::with_capacity(n),
        }
    }

    /// Apply rules until none applies; all steps if nothing is left.
    fn run(mut self) -> Option<Vec<Step>> {
        while let Some(v) = self.open.pop() {
            self.queued[v as usize] = false;
            if !self.gone[v as usize] {
                self.look_at(v);
            }
        }
        (self.steps.len() == self.rows.len()).then_some(self.steps)
    }

    fn look_at(&mut self, v: u32) {
        let around = self.around(v);
        match around[..] {
            [] | [_] | [_, _] => self.eliminate(v),
            [a, b, c] => {
                if self.joined(a, b) || self.joined(a, c) || self.joined(b, c) {
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
                    for pair in [[a, b], [a, c], [b, c]] {
                        self.watchers.entry(pair).or_default().push(v);
                    }
                }
            }
            _ => {}
        }
    }

    /// The neighbours in rising order, as far as that is of interest: up to four of them.
    fn around(&self, v: u32) -> Vec<u32> {
        let mut around: Vec<u32> = self.rows[v as usize].iter().copied().take(4).collect();
        around.sort_unstable();
        around
    }

    fn joined(&self, a: u32, b: u32) -> bool {
        let (few, other) =
            if self.rows[a as usize].len() < self.rows[b as usize].len() { (a, b) } else { (b, a) };
        self.rows[few as usize].contains(&other)
    }

    /// Another vertex with just these three neighbours.
    fn buddy(&self, v: u32, around: [u32; 3]) -> Option<u32> {
        let known = *self.triples.get(&around)?;
        (known != v && !self.gone[known as usize] && self.around(known) == around).then_some(known)
    }

    /// Whether v is the corner of a cube between its three neighbours.
    fn is_cube(&self, v: u32, around: [u32; 3]) -> bool {
        // Each neighbour has two more, and each of the three outer vertices stands in just two of these pairs.
        let mut outer = Vec::with_capacity(6);
        for a in around {
            if self.rows[a as usize].len() != 3 {
                return false;
            }
            outer.extend(self.rows[a as usize].iter().copied().filter(|&x| x != v));
        }
        let [p, q, r] = {
            let mut distinct = outer.clone();
            distinct.sort_unstable();
            distinct.dedup();
            match distinct[..] {
                [p, q, r] => [p, q, r],
                _ => return false,
            }
        };
        [p, q, r].iter().all(|x| outer.iter().filter(|y| *y == x).count() == 2)
    }

    /// Remove a vertex of at most three neighbours and join them.
    fn eliminate(&mut self, v: u32) {
        let around: Vec<u32> = std::mem::take(&mut self.rows[v as usize]).into_iter().collect();
        debug_assert!(around.len() <= 3);
        self.gone[v as usize] = true;
        for (k, &a) in around.iter().enumerate() {
            self.rows[a as usize].remove(&v);
            for &b in &around[..k] {
                if self.rows[a as usize].insert(b) {
                    self.rows[b as usize].insert(a);
                    for watcher in self.watchers.remove(&[a.min(b), a.max(b)]).unwrap_or_default() {
                        self.queue(watcher);
                    }
                }
            }
        }
        for &a in &around {
            self.changed(a);
        }
        self.steps.push((v, around));
    }

    /// A vertex has other neighbours now: a rule may apply to it, or to one of its neighbours as the corner of a cube.
    fn changed(&mut self, v: u32) {
        if self.rows[v as usize].len() <= 3 {
            self.queue(v);
            for a in self.around(v) {
                self.queue(a);
            }
        }
    }

    fn queue(&mut self, v: u32) {
        if !self.queued[v as usize] && !self.gone[v as usize] {
            self.queued[v as usize] = true;
            self.open.push(v);
        }
    }
}

/// An order over the same chordal graph in which one vertex comes last (and is not listed).
///
/// The steps are a perfect elimination order of the graph with all edges that were ever there; maximum cardinality search from any vertex
/// gives, backwards, another one that ends with it (Tarjan & Yannakakis 1984).
fn with_last(steps: &[Step], last: u32) -> Vec<usize> {
    let n = steps.len();
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); n];
    for (v, around) in steps {
        for &a in around {
            rows[*v as usize].push(a);
            rows[a as usize].push(*v);
        }
    }
    // By the number of visited neighbours; cliques have at most four vertices, but a vertex may lie in many.
    let mut visited_around = vec![0usize; n];
    let mut visited = vec![false; n];
    let mut by_count: Vec<Vec<u32>> = vec![(0..n as u32).collect(), vec![last]];
    let mut order = Vec::with_capacity(n);
    while let Some(count) = by_count.len().checked_sub(1) {
        let Some(v) = by_count[count].pop() else {
            by_count.pop();
            continue;
        };
        let current = visited_around[v as usize] == count || (order.is_empty() && v == last);
        if visited[v as usize] || !current {
            continue;
        }
        visited[v as usize] = true;
        order.push(v as usize);
        for &a in &rows[v as usize] {
            if !visited[a as usize] {
                visited_around[a as usize] += 1;
                let count = visited_around[a as usize];
                by_count.resize_with(by_count.len().max(count + 1), Vec::new);
                by_count[count].push(a);
            }
        }
    }
    debug_assert_eq!(order.first(), Some(&(last as usize)));
    order.into_iter().skip(1).rev().collect()
}
