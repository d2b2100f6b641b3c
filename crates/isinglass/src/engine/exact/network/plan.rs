//! The adjoint network as a flat tape, compiled from a graph, free units and an elimination order.
//!
//! A plan holds no numbers. Its *slots* stand for the effective pair weights `v_ij` (a bias is the
//! weight to unit 0), its *tables* for functions of several units that pair weights cannot express.
//! Each step removes one unit:
//!
//! * a [`Star`] replaces the weights to at most three neighbours (unit 0 counts) by corrections of
//!   the weights among them (Rüger 1997, theorem 4.1): this is decimation;
//! * a [`Bucket`] sums the unit out of the product of all factors with it; the result is a table
//!   over its neighbours, or pair weights where these suffice.
//!
//! Forward through the steps gives log Z, backward gives every moment (theorem 5.2).

use std::ops::Range;

use crate::Graph;
use crate::graph::Symbolic;

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
    /// The slot of the unit's bias, or [`NONE`].
    pub(super) bias: u32,
    /// Its neighbours, a range of `scope_units` and `scope_slots`; the last is bit 0 of a state.
    pub(super) scope: Range<u32>,
    /// The tables over the unit, as a range of `children`.
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
    /// The bits of a state of the bucket's scope that the table is over.
    pub(super) mask: u64,
    /// The bit of the eliminated unit in an index into the table; [`Child::PASSES`] if the table is
    /// not over it. Such a table is added to the result, since it goes to the same step: of many
    /// tables for the same unit, one is alive at a time.
    pub(super) unit_bit: u8,
}

impl Child {
    pub(super) const PASSES: u8 = u8::MAX;

    /// The index into the table for a state of the bucket's scope with the unit down.
    #[inline(always)]
    pub(super) fn index(&self, state: u64) -> usize {
        let (mut mask, mut known, mut place) = (self.mask, 0, 0);
        while mask != 0 {
            known |= (state >> mask.trailing_zeros() & 1) << place;
            mask &= mask - 1;
            place += 1;
        }
        if self.unit_bit == Self::PASSES {
            return known as usize;
        }
        let below = known & ((1 << self.unit_bit) - 1);
        ((known - below) << 1 | below) as usize
    }

    /// log₂ of the table's entries.
    pub(super) fn bits(&self) -> usize {
        self.mask.count_ones() as usize + usize::from(self.unit_bit != Self::PASSES)
    }

    /// The bit of an index into the table that is a bit of the bucket's scope.
    pub(super) fn place(&self, bit: usize) -> usize {
        let rank = (self.mask & ((1 << bit) - 1)).count_ones() as usize;
        rank + usize::from(self.unit_bit != Self::PASSES && rank >= usize::from(self.unit_bit))
    }

    /// The increment of the index where the unit is up.
    #[inline(always)]
    pub(super) fn up(&self) -> usize {
        if self.unit_bit == Self::PASSES { 0 } else { 1 << self.unit_bit }
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
    /// None: for sums that may vanish, whose logarithms no weight holds.
    Tables,
}

/// What to compile.
#[derive(Clone, Copy)]
pub(super) struct Blueprint<'a> {
    /// The graph of the free units, by their places in a list of these.
    pub(super) graph: &'a Graph,
    /// The machine's unit at each place.
    pub(super) free: &'a [usize],
    /// The machine's edge for each edge of the graph.
    pub(super) edges: &'a [u32],
    /// For each place, whether the unit has a bias; all or none within a component.
    pub(super) biased: &'a [bool],
    /// The places, in the order of elimination.
    pub(super) order: &'a [usize],
    /// The neighbours at each elimination.
    pub(super) steps: &'a Symbolic,
    pub(super) form: Form,
}

/// The compiled tape.
#[derive(Debug)]
pub(super) struct Plan {
    /// The machine's unit of each local one; these are numbered as they are eliminated.
    pub(super) free: Vec<usize>,
    /// The machine's edge whose weight each of the first slots starts with; [`NONE`] for 0.
    pub(super) edges: Vec<u32>,
    /// The slot of each local unit's bias; [`NONE`] without a bias, where the mean is 0 by
    /// symmetry.
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
    /// Compiles. Linear in the neighbours of all steps, but for searches within those of one.
    pub(super) fn compile(blueprint: Blueprint<'_>) -> Self {
        Compiler::new(blueprint).run()
    }

    /// The machine's edges between free units, with their slots.
    pub(super) fn edge_slots(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let slots = self.edges.iter().enumerate().filter(|&(_, &edge)| edge != NONE);
        slots.map(|(slot, &edge)| (edge as usize, slot))
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

    /// The cost of a pass, in sums of two terms.
    pub(super) fn work(&self) -> f64 {
        let buckets: f64 = self.buckets.iter().map(|bucket| (bucket.scope.len() as f64).exp2()).sum();
        buckets + 4.0 * self.stars.len() as f64
    }

    /// The bytes of the plan, of values and moments in some number of lanes, and of pooled tables.
    pub(super) fn bytes(&self, lanes: usize) -> u128 {
        let tape = self.stars.len() * size_of::<Star>()
            + self.buckets.len() * size_of::<Bucket>()
            + self.children.len() * size_of::<Child>()
            + 8 * (self.steps.len() + self.scope_units.len() + self.slots)
            + 16 * self.free.len()
            + 4 * self.edges.len();
        let slots = self.slots as u128 * lanes as u128 * 16;
        let tables = self.table_bits.len() as u128 * (48 + 8 * lanes as u128);
        tape as u128 + slots + tables + 8 * self.pooled(lanes) as u128
    }

    /// The numbers in freed tables that a tape may pool: two of the largest.
    pub(super) fn pooled(&self, lanes: usize) -> usize {
        let largest = self.table_bits.iter().copied().max();
        largest.map_or(0, |bits| (2 * lanes) << bits)
    }

    /// The approximate bytes of the plan for some steps without tables.
    pub(super) fn bytes_of(steps: &Symbolic) -> u128 {
        Self::bytes_of_steps(steps.steps() as u128, steps.total() as u128)
    }

    /// The same by the numbers of steps and of neighbours at all steps; the largest number if
    /// positions would not fit 32 bits.
    pub(super) fn bytes_of_steps(units: u128, neighbours: u128) -> u128 {
        if units + neighbours >= u128::from(NONE) {
            return u128::MAX;
        }
        units * (size_of::<Bucket>() + size_of::<Child>() + 64) as u128 + neighbours * 36
    }
}

/// A compilation in progress. Units are local: numbered by their elimination.
struct Compiler<'a> {
    blueprint: Blueprint<'a>,
    /// The order of units in every table; the largest key is in bit 0.
    keys: Vec<(u32, u32)>,
    /// The table that each step makes.
    made: Vec<u32>,
    /// For each unit, the last step whose table it is the first to be eliminated of.
    last_table: Vec<u32>,
    /// For each such step, the one before.
    table_before: Vec<u32>,
    plan: Plan,
}

impl<'a> Compiler<'a> {
    fn new(blueprint: Blueprint<'a>) -> Self {
        let Blueprint { graph, free, order, steps, .. } = blueprint;
        let n = order.len();
        let mut time = vec![0; n];
        for (step, &place) in order.iter().enumerate() {
            time[place] = step as u32;
        }
        // Slots are numbered in the order of use, so that a pass goes through them in sequence.
        let mut edges = vec![NONE; steps.total()];
        let mut entry: Vec<u32> = (0..n as u32).collect();
        for (step, &place) in order.iter().enumerate() {
            for (other, edge) in graph.neighbours(place) {
                let other = time[other];
                if other as usize > step {
                    edges[slot_between(steps, step as u32, other)] = blueprint.edges[edge];
                    entry[other as usize] = entry[other as usize].min(step as u32);
                }
            }
        }
        let keys = (0..n).map(|unit| table_key(unit, unit as u32 - entry[unit])).collect();
        let mut slots = edges.len();
        let bias_slot = |&place: &usize| {
            let has = blueprint.biased[place];
            slots += usize::from(has);
            if has { slots as u32 - 1 } else { NONE }
        };
        let plan = Plan {
            bias_slots: order.iter().map(bias_slot).collect(),
            free: order.iter().map(|&place| free[place]).collect(),
            edges,
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
        let none = || vec![NONE; n];
        Self { blueprint, keys, made: none(), last_table: none(), table_before: none(), plan }
    }

    fn run(mut self) -> Plan {
        let steps = self.blueprint.steps;
        for step in 0..steps.steps() {
            let scope = steps.neighbours(step);
            self.plan.width = self.plan.width.max(scope.len());
            let bias = self.plan.bias_slots[step];
            let neighbours = scope.len() + usize::from(bias != NONE);
            let has_tables = self.last_table[step] != NONE;
            if !has_tables && neighbours <= 3 && self.blueprint.form == Form::Weights {
                self.star(step as u32, scope, bias);
            } else {
                self.bucket(step as u32, scope, bias);
            }
        }
        self.plan
    }

    fn star(&mut self, unit: u32, scope: &[u32], bias: u32) {
        let mut star = Star { unit, count: 0, neighbours: [NONE; 3], inputs: [NONE; 3], outputs: [NONE; 3] };
        let first = self.blueprint.steps.offset(unit as usize) as u32;
        let joined = scope.iter().copied().zip(first..);
        for (place, (neighbour, slot)) in joined.chain((bias != NONE).then_some((NONE, bias))).enumerate() {
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
        self.plan.steps.push(Step::Star(self.plan.stars.len() as u32));
        self.plan.stars.push(star);
    }

    fn bucket(&mut self, unit: u32, scope: &[u32], bias: u32) {
        let steps = self.blueprint.steps;
        let passing = self.passing_on(scope, bias != NONE);
        let bits = scope.len();
        let by_key = |units: &[u32]| {
            let mut units = units.to_vec();
            units.sort_unstable_by_key(|&other| self.keys[other as usize]);
            units
        };
        let sorted = by_key(scope);
        let place = |other: u32| {
            let key = self.keys[other as usize];
            sorted.partition_point(|&known| self.keys[known as usize] < key)
        };
        let first_child = self.plan.children.len() as u32;
        let mut source = self.last_table[unit as usize];
        while source != NONE {
            // A table is over the neighbours at the step that made it.
            let table_scope = by_key(steps.neighbours(source as usize));
            let others = table_scope.iter().filter(|&&other| other != unit);
            let mask = others.fold(0, |mask, &other| mask | 1 << (bits - 1 - place(other)));
            let behind = table_scope.iter().rev().take_while(|&&other| other != unit).count();
            let table = self.made[source as usize];
            self.plan.children.push(Child { table, mask, unit_bit: behind as u8 });
            source = self.table_before[source as usize];
        }
        if let Some(source) = passing {
            let table_scope = steps.neighbours(source as usize);
            let mask = table_scope.iter().fold(0, |mask, &other| mask | 1 << (bits - 1 - place(other)));
            let table = self.made[source as usize];
            self.plan.children.push(Child { table, mask, unit_bit: Child::PASSES });
        }
        let first_unit = self.plan.scope_units.len() as u32;
        for &other in &sorted {
            self.plan.scope_units.push(other);
            self.plan.scope_slots.push(slot_between(steps, unit, other) as u32);
        }
        let output = self.output(unit, &sorted, bias != NONE);
        self.plan.steps.push(Step::Bucket(self.plan.buckets.len() as u32));
        self.plan.buckets.push(Bucket {
            unit,
            bias,
            scope: first_unit..self.plan.scope_units.len() as u32,
            children: first_child..self.plan.children.len() as u32,
            output,
        });
    }

    /// Takes the last table that waits where the result of a bucket goes, if it is within its
    /// scope.
    fn passing_on(&mut self, scope: &[u32], biased: bool) -> Option<u32> {
        let first = *scope.first()? as usize;
        let source = self.last_table[first];
        if source == NONE || self.is_weights(scope.len(), biased) {
            return None;
        }
        let table_scope = self.blueprint.steps.neighbours(source as usize);
        let is_within = table_scope.iter().all(|other| scope.binary_search(other).is_ok());
        is_within.then(|| {
            self.last_table[first] = self.table_before[source as usize];
            source
        })
    }

    /// Whether a function of some units is a sum of weights: always for one or two units, for three
    /// if it does not change when all flip.
    fn is_weights(&self, units: usize, biased: bool) -> bool {
        let most = if biased { 2 } else { 3 };
        units == 0 || self.blueprint.form == Form::Weights && units <= most
    }

    fn output(&mut self, unit: u32, scope: &[u32], biased: bool) -> Output {
        if self.is_weights(scope.len(), biased) {
            let mut biases = [NONE; 3];
            let mut pairs = [NONE; 3];
            for (slot, &unit) in biases.iter_mut().zip(scope) {
                *slot = self.plan.bias_slots[unit as usize];
            }
            for (slot, (a, b)) in pairs.iter_mut().zip(PAIRS_OF_THREE) {
                if b < scope.len() {
                    *slot = self.slot(scope[a], scope[b]);
                }
            }
            return Output::Weights { biases, pairs };
        }
        let table = self.plan.table_bits.len() as u32;
        self.plan.table_bits.push(scope.len() as u8);
        self.made[unit as usize] = table;
        let first = scope.iter().copied().fold(NONE, u32::min) as usize;
        self.table_before[unit as usize] = self.last_table[first];
        self.last_table[first] = unit;
        Output::Table(table)
    }

    /// The slot of the weight between two units; [`NONE`] is unit 0, which comes last.
    fn slot(&self, a: u32, b: u32) -> u32 {
        if b == NONE {
            return self.plan.bias_slots[a as usize];
        }
        slot_between(self.blueprint.steps, a.min(b), a.max(b)) as u32
    }
}

/// The slot of two units that are neighbours when the first is eliminated.
fn slot_between(steps: &Symbolic, first: u32, second: u32) -> usize {
    let row = steps.neighbours(first as usize);
    steps.offset(first as usize) + row.partition_point(|&other| other < second)
}

/// The pairs of three neighbours, in the order of [`Star::outputs`].
pub(super) const PAIRS_OF_THREE: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// The key of a unit in tables: units that stay longest get the low bits, which then seldom change
/// from one table to the next, so that whole vectors can be copied. Ties are broken by a hash: by
/// time, the newest or oldest would be there, which change in every step.
fn table_key(unit: usize, stays: u32) -> (u32, u32) {
    (stays.checked_ilog2().unwrap_or(0), (unit as u32).wrapping_mul(0x9e37_79b1))
}
