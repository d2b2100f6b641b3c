//! The adjoint network as a flat tape: compiled once from a graph, the free units and an elimination order.
//!
//! A plan knows no numbers. Its *slots* hold the effective pair weights `v_ij` (a bias is the weight to unit 0), its *tables* hold
//! functions of several units that pair weights cannot express. Each step removes one unit:
//!
//! * a [`Star`] replaces the weights to at most three neighbours (unit 0 counts) by corrections of the weights among them
//!   (Rüger 1997, theorem 4.1): this is decimation;
//! * a [`Bucket`] sums the unit out of the product of all that mentions it; the result is a table over its neighbours, or pair weights where
//!   these suffice.
//!
//! Forward through the steps gives log Z, backward gives every moment (theorem 5.2).

use std::ops::Range;

use crate::Graph;

/// No slot, no unit; as a neighbour: unit 0.
pub(super) const NONE: u32 = u32::MAX;

/// The decimation of a unit with at most three neighbours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Star {
    pub(super) unit: u32,
    pub(super) count: u8,
    /// The neighbours; [`NONE`] is unit 0, if within the count.
    pub(super) neighbours: [u32; 3],
    /// The slots of the weights to the neighbours.
    pub(super) inputs: [u32; 3],
    /// The slots of the weights between neighbours 1–2, 1–3 and 2–3, as far as these exist.
    pub(super) outputs: [u32; 3],
}

/// The elimination of a unit with tables.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    pub(super) unit: u32,
    /// The slot of the unit's bias.
    pub(super) bias: u32,
    /// Its neighbours, as a range of `scope_units` and `scope_slots`; the last is bit 0 of the number of a state, +1 is a set bit.
    pub(super) scope: Range<u32>,
    /// The tables that mention the unit, as a range of `children`.
    pub(super) children: Range<u32>,
    pub(super) output: Output,
}

/// Where the sum over a unit goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Output {
    /// A table over the scope.
    Table(u32),
    /// Weights: at most three units, their bias slots and the slots of the pairs 1–2, 1–3 and 2–3.
    Weights { biases: [u32; 3], pairs: [u32; 3] },
}

/// A table that enters a bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Child {
    pub(super) table: u32,
    /// Which bits of a state of the bucket's scope the table knows.
    pub(super) mask: u64,
    /// Which bit of an index into the table is the unit that is eliminated.
    pub(super) unit_bit: u8,
}

impl Child {
    /// The index into the table for a state of the bucket's scope, the unit being down.
    #[inline(always)]
    pub(super) fn index(&self, state: u64) -> usize {
        let (mut mask, mut known, mut place) = (self.mask, 0, 0);
        while mask != 0 {
            known |= (state >> mask.trailing_zeros() & 1) << place;
            mask &= mask - 1;
            place += 1;
        }
        let below = known & ((1 << self.unit_bit) - 1);
        ((known - below) << 1 | below) as usize
    }

    /// How much larger the index is where the unit is up.
    #[inline(always)]
    pub(super) fn up(&self) -> usize {
        1 << self.unit_bit
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Star(u32),
    Bucket(u32),
}

/// Which functions of few units are kept as pair weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// All that can be: decimation wherever it applies.
    Weights,
    /// None: for sums that may vanish, whose logarithms no weight can hold.
    Tables,
}

/// What to compile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blueprint<'a> {
    pub(super) graph: &'a Graph,
    /// The free units, rising.
    pub(super) free: &'a [usize],
    /// For each free unit, whether it is to have a bias; all or none within a connected part.
    pub(super) biased: &'a [bool],
    /// Places in `free`, each once.
    pub(super) order: &'a [usize],
    pub(super) form: Form,
}

/// The compiled tape.
#[derive(Debug)]
pub(super) struct Plan {
    /// The machine's unit of each local one.
    pub(super) free: Vec<usize>,
    /// The machine's edge whose weight starts in each of the first slots.
    pub(super) edges: Vec<u32>,
    /// The slot of each local unit's bias, or [`NONE`] where it has no bias and its mean is 0 by symmetry.
    pub(super) bias_slots: Vec<u32>,
    pub(super) slots: usize,
    pub(super) steps: Vec<Step>,
    pub(super) stars: Vec<Star>,
    pub(super) buckets: Vec<Bucket>,
    pub(super) scope_units: Vec<u32>,
    pub(super) scope_slots: Vec<u32>,
    pub(super) children: Vec<Child>,
    /// log₂ of the entries of each table.
    pub(super) table_bits: Vec<u8>,
    /// The largest number of neighbours at elimination, unit 0 not counted.
    pub(super) width: usize,
}

impl Plan {
    /// Compile. `O(Σ neighbours²)`, near-linear where the width is small.
    pub(super) fn compile(blueprint: Blueprint<'_>) -> Self {
        Compiler::new(blueprint).run()
    }

    /// Entries of a table.
    pub(super) fn entries(&self, table: usize) -> usize {
        1 << self.table_bits[table]
    }

    /// The units and slots of a bucket's scope.
    pub(super) fn scope(&self, bucket: &Bucket) -> (&[u32], &[u32]) {
        let range = bucket.scope.start as usize..bucket.scope.end as usize;
        (&self.scope_units[range.clone()], &self.scope_slots[range])
    }

    pub(super) fn children(&self, bucket: &Bucket) -> &[Child] {
        &self.children[bucket.children.start as usize..bucket.children.end as usize]
    }

    /// Sums of two terms in one pass, tables and decimations alike: what a pass costs.
    pub(super) fn work(&self) -> f64 {
        let buckets: f64 = self.buckets.iter().map(|bucket| (bucket.scope.len() as f64).exp2()).sum();
        buckets + 4.0 * self.stars.len() as f64
    }

    /// The bytes of the tape itself, and of its slots in some number of lanes, values and moments.
    pub(super) fn bytes(&self, lanes: usize) -> u128 {
        let tape = self.stars.len() * size_of::<Star>()
            + self.buckets.len() * size_of::<Bucket>()
            + self.children.len() * size_of::<Child>()
            + 8 * (self.steps.len() + self.scope_units.len() + self.slots)
            + 16 * self.free.len()
            + 4 * self.edges.len();
        tape as u128 + (self.slots * lanes * 16 + self.table_bits.len() * (48 + 8 * lanes)) as u128
    }
}

/// A compilation under way. Units are local: places in the list of free units.
struct Compiler<'a> {
    blueprint: Blueprint<'a>,
    /// When each unit is eliminated.
    position: Vec<u32>,
    /// In every table, units stand in the order of these keys, the largest in bit 0.
    keys: Vec<(u32, u32)>,
    /// For each unit, the units eliminated later that a slot joins it to.
    later: Vec<Vec<(u32, u32)>>,
    /// For each unit, the tables that it is the first to be eliminated of.
    pending: Vec<Vec<u32>>,
    table_scopes: Vec<Vec<u32>>,
    plan: Plan,
}

impl<'a> Compiler<'a> {
    fn new(blueprint: Blueprint<'a>) -> Self {
        let Blueprint { graph, free, biased, order, .. } = blueprint;
        let n = free.len();
        debug_assert!(biased.len() == n && order.len() == n);
        let mut position = vec![0; n];
        for (time, &unit) in order.iter().enumerate() {
            position[unit] = time as u32;
        }
        let mut local = vec![NONE; graph.units()];
        for (k, &unit) in free.iter().enumerate() {
            local[unit] = k as u32;
        }
        let mut later = vec![Vec::new(); n];
        let mut edges = Vec::new();
        let mut entry = position.clone();
        for (edge, &(a, b)) in graph.edges().iter().enumerate() {
            let (a, b) = (local[a], local[b]);
            if a != NONE && b != NONE {
                let (first, second) = by_time(&position, a, b);
                later[first as usize].push((second, edges.len() as u32));
                entry[second as usize] = entry[second as usize].min(position[first as usize]);
                edges.push(edge as u32);
            }
        }
        let keys = (0..n).map(|unit| table_key(unit, position[unit] - entry[unit])).collect();
        let mut slots = edges.len();
        let bias_slots = biased
            .iter()
            .map(|&has| {
                slots += usize::from(has);
                if has { slots as u32 - 1 } else { NONE }
            })
            .collect();
        let plan = Plan {
            free: free.to_vec(),
            edges,
            bias_slots,
            slots,
            steps: Vec::with_capacity(n),
            stars: Vec::new(),
            buckets: Vec::new(),
            scope_units: Vec::new(),
            scope_slots: Vec::new(),
            children: Vec::new(),
            table_bits: Vec::new(),
            width: 0,
        };
        Self {
            blueprint,
            position,
            keys,
            later,
            pending: vec![Vec::new(); n],
            table_scopes: Vec::new(),
            plan,
        }
    }

    fn run(mut self) -> Plan {
        for &unit in self.blueprint.order {
            let joined = std::mem::take(&mut self.later[unit]);
            let tables = std::mem::take(&mut self.pending[unit]);
            let bias = self.plan.bias_slots[unit];
            let neighbours = joined.len() + usize::from(bias != NONE);
            if tables.is_empty() && neighbours <= 3 && self.blueprint.form == Form::Weights {
                self.star(unit as u32, &joined, bias);
            } else {
                self.bucket(unit as u32, joined, &tables, bias);
            }
        }
        self.plan
    }

    fn star(&mut self, unit: u32, joined: &[(u32, u32)], bias: u32) {
        let mut star = Star { unit, count: 0, neighbours: [NONE; 3], inputs: [NONE; 3], outputs: [NONE; 3] };
        let all = joined.iter().copied().chain((bias != NONE).then_some((NONE, bias)));
        for (place, (neighbour, slot)) in all.enumerate() {
            star.neighbours[place] = neighbour;
            star.inputs[place] = slot;
            star.count += 1;
        }
        let count = usize::from(star.count);
        for (output, (a, b)) in PAIRS_OF_THREE.into_iter().enumerate() {
            if b < count {
                star.outputs[output] = self.slot(star.neighbours[a], star.neighbours[b]);
            }
        }
        self.plan.width = self.plan.width.max(joined.len());
        self.plan.steps.push(Step::Star(self.plan.stars.len() as u32));
        self.plan.stars.push(star);
    }

    fn bucket(&mut self, unit: u32, mut joined: Vec<(u32, u32)>, tables: &[u32], bias: u32) {
        // Slots first, so that a unit that a table brings again is dropped and not its slot.
        let scopes = tables.iter().flat_map(|&table| &self.table_scopes[table as usize]);
        joined.extend(scopes.filter(|&&other| other != unit).map(|&other| (other, NONE)));
        joined.sort_unstable_by_key(|&(other, slot)| (self.keys[other as usize], slot));
        joined.dedup_by_key(|&mut (other, _)| other);
        let bits = joined.len();
        let place = |other: u32| {
            let key = self.keys[other as usize];
            joined.partition_point(|&(known, _)| self.keys[known as usize] < key)
        };
        let first_child = self.plan.children.len() as u32;
        for &table in tables {
            let scope = &self.table_scopes[table as usize];
            let others = scope.iter().filter(|&&other| other != unit);
            let mask = others.fold(0, |mask, &other| mask | 1 << (bits - 1 - place(other)));
            let behind = scope.iter().rev().take_while(|&&other| other != unit).count();
            self.plan.children.push(Child { table, mask, unit_bit: behind as u8 });
        }
        for &table in tables {
            self.table_scopes[table as usize] = Vec::new();
        }
        let first_unit = self.plan.scope_units.len() as u32;
        self.plan.scope_units.extend(joined.iter().map(|&(other, _)| other));
        self.plan.scope_slots.extend(joined.iter().map(|&(_, slot)| slot));
        let scope: Vec<u32> = joined.iter().map(|&(other, _)| other).collect();
        let output = self.output(scope, bias != NONE);
        self.plan.width = self.plan.width.max(bits);
        self.plan.steps.push(Step::Bucket(self.plan.buckets.len() as u32));
        self.plan.buckets.push(Bucket {
            unit,
            bias,
            scope: first_unit..self.plan.scope_units.len() as u32,
            children: first_child..self.plan.children.len() as u32,
            output,
        });
    }

    /// A function of one or two units is a sum of weights; one of three is, if it does not change when all flip.
    fn output(&mut self, scope: Vec<u32>, biased: bool) -> Output {
        let most = if biased { 2 } else { 3 };
        let as_weights = self.blueprint.form == Form::Weights && scope.len() <= most;
        if as_weights || scope.is_empty() {
            let mut biases = [NONE; 3];
            let mut pairs = [NONE; 3];
            for (slot, &unit) in biases.iter_mut().zip(&scope) {
                *slot = self.plan.bias_slots[unit as usize];
            }
            for (slot, (a, b)) in pairs.iter_mut().zip(PAIRS_OF_THREE) {
                if b < scope.len() {
                    *slot = self.slot(scope[a], scope[b]);
                }
            }
            return Output::Weights { biases, pairs };
        }
        let table = self.table_scopes.len() as u32;
        self.plan.table_bits.push(scope.len() as u8);
        let first = scope.iter().copied().min_by_key(|&unit| self.position[unit as usize]);
        self.pending[first.unwrap_or(scope[0]) as usize].push(table);
        self.table_scopes.push(scope);
        Output::Table(table)
    }

    /// The slot of the weight between two units, made if there is none yet; [`NONE`] is unit 0, which comes last.
    fn slot(&mut self, a: u32, b: u32) -> u32 {
        if b == NONE {
            return self.plan.bias_slots[a as usize];
        }
        let (first, second) = by_time(&self.position, a, b);
        let row = &mut self.later[first as usize];
        if let Some(&(_, slot)) = row.iter().find(|&&(other, _)| other == second) {
            return slot;
        }
        let slot = self.plan.slots as u32;
        row.push((second, slot));
        self.plan.slots += 1;
        slot
    }
}

/// The pairs of three neighbours, in the order of [`Star::outputs`].
pub(super) const PAIRS_OF_THREE: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// Which units come together in the low bits of tables: those that stay longest, so that from one table to the next the low bits seldom change
/// and whole vectors can be copied. Among equals it is as if by chance: an order by time would put the newest or the oldest there, which change in every step.
fn table_key(unit: usize, stays: u32) -> (u32, u32) {
    (stays.checked_ilog2().unwrap_or(0), (unit as u32).wrapping_mul(0x9e37_79b1))
}

fn by_time(position: &[u32], a: u32, b: u32) -> (u32, u32) {
    if position[a as usize] < position[b as usize] { (a, b) } else { (b, a) }
}
