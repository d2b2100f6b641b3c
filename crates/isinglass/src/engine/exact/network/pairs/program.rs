//! What all passes for pair moments share: steps gathered in runs, and where their numbers are.
//!
//! The tables of successive steps have most of their units in common. A run is walked through once
//! for each state of these; what is left of its tables stays in the innermost cache.

use crate::engine::exact::network::plan::{Bucket, Child, Output, Plan};

/// The most units of a table of a run besides those that its tables have in common.
const MOST_OWN: usize = 8;

/// The most steps of a run.
const MOST_STEPS: usize = 64;

/// Successive steps, each of which makes a table for the one above it.
pub(super) struct Run {
    /// The steps, the last to be eliminated first.
    pub(super) links: Vec<Link>,
    /// The number of units that all tables have in common.
    pub(super) common: usize,
}

/// A step of a run.
pub(super) struct Link {
    pub(super) step: usize,
    pub(super) own: Places,
    pub(super) outs: Vec<Out>,
    /// The states by where they go, if there is one table and it is over the unit.
    pub(super) sole: Option<Sole>,
}

/// The states of a step in groups that go to the same place of its only table.
pub(super) struct Sole {
    /// The states of a group: they differ in units that the table is not over.
    pub(super) fan: usize,
    /// The states, group by group, each with the rest of its index.
    pub(super) from: Vec<(u32, u32)>,
    /// Where each group goes with the unit down: among the next link's states, or in the table.
    pub(super) to: Vec<u32>,
    /// By how much that grows if the unit is up.
    pub(super) up: usize,
}

/// Where the states of a step are in a table.
pub(super) struct Places {
    /// The bits of the common units in an index; `None` if the table is not over the unit.
    common: Vec<Option<u8>>,
    /// For each state of the other units, the rest of the index.
    pub(super) rest: Vec<u32>,
}

impl Places {
    /// The index of a state of the common units, all others down.
    pub(super) fn base(&self, state: usize) -> usize {
        let bits = self.common.iter().enumerate();
        bits.map(|(k, bit)| bit.map_or(0, |bit| (state >> k & 1) << bit)).sum()
    }
}

/// A table that a step uses; backwards, it is made.
pub(super) struct Out {
    pub(super) table: usize,
    /// Where the states of the step are with its unit down, and by how much the index grows if it
    /// is up.
    pub(super) places: Places,
    pub(super) up: usize,
    /// The same among the states of the next link, if the table is its.
    pub(super) inner: Option<(Vec<u32>, usize)>,
}

/// The steps of a plan of tables as runs, from the root down.
pub(super) struct Program {
    pub(super) runs: Vec<Run>,
    /// The run of each step.
    pub(super) run_of: Vec<usize>,
    /// The table that each step makes, if it makes one.
    pub(super) made: Vec<Option<usize>>,
    /// The step that uses the table of each step; the step itself at a root.
    pub(super) parent: Vec<usize>,
    /// The first step of the subtree below each step.
    pub(super) first: Vec<usize>,
    /// The last step of the component of each step.
    pub(super) root: Vec<usize>,
    /// The step that makes each table.
    pub(super) maker: Vec<usize>,
}

impl Program {
    pub(super) fn new(plan: &Plan) -> Self {
        let buckets = &plan.buckets;
        let table = |bucket: &Bucket| match bucket.output {
            Output::Table(table) => Some(table as usize),
            Output::Weights { .. } => None,
        };
        let made: Vec<Option<usize>> = buckets.iter().map(table).collect();
        let mut maker = vec![0; plan.table_bits.len()];
        for (step, table) in made.iter().enumerate() {
            if let Some(&table) = table.as_ref() {
                maker[table] = step;
            }
        }
        let mut parent: Vec<usize> = (0..buckets.len()).collect();
        let mut first = parent.clone();
        for (step, bucket) in buckets.iter().enumerate() {
            for child in plan.children(bucket) {
                let below = maker[child.table as usize];
                parent[below] = step;
                first[step] = first[step].min(first[below]);
            }
        }
        let mut root = parent.clone();
        for step in (0..buckets.len()).rev() {
            root[step] = root[parent[step]];
        }
        let mut program =
            Self { runs: Vec::new(), run_of: vec![0; buckets.len()], made, parent, first, root, maker };
        let mut next = buckets.len();
        while next > 0 {
            let run = program.run(plan, next - 1);
            next -= run.links.len();
            run.links.iter().for_each(|link| program.run_of[link.step] = program.runs.len());
            program.runs.push(run);
        }
        program
    }

    /// The longest run from a step down.
    fn run(&self, plan: &Plan, top: usize) -> Run {
        let units = |step: usize| plan.scope(&plan.buckets[step]).0;
        let mut common: Vec<u32> = units(top).to_vec();
        let (mut bottom, mut widest) = (top, common.len());
        while bottom > 0 && self.parent[bottom - 1] == bottom && top - bottom + 1 < MOST_STEPS {
            let below = units(bottom - 1);
            let both: Vec<u32> = common.iter().copied().filter(|unit| below.contains(unit)).collect();
            if widest.max(below.len()) - both.len() > MOST_OWN {
                break;
            }
            (common, widest, bottom) = (both, widest.max(below.len()), bottom - 1);
        }
        let links = (bottom..=top).rev().map(|step| link(plan, step, &common, step > bottom)).collect();
        Run { links, common: common.len() }
    }
}

/// The positions of the bits of a step's scope: those of the common units, and the others, rising.
fn bits(units: &[u32], common: &[u32]) -> (Vec<usize>, Vec<usize>) {
    let bit = |unit: &u32| units.iter().position(|other| other == unit).map(|place| units.len() - 1 - place);
    let of_common: Vec<usize> = common.iter().filter_map(bit).collect();
    let others = (0..units.len()).filter(|bit| !of_common.contains(bit)).collect();
    (of_common, others)
}

/// A number whose low bits are put at some positions.
fn deposited(number: usize, bits: &[usize]) -> usize {
    bits.iter().enumerate().map(|(k, bit)| (number >> k & 1) << bit).sum()
}

/// The bits of a number at some positions.
fn extracted(number: usize, bits: &[usize]) -> usize {
    bits.iter().enumerate().map(|(k, bit)| (number >> bit & 1) << k).sum()
}

fn link(plan: &Plan, step: usize, common: &[u32], goes_on: bool) -> Link {
    let bucket = &plan.buckets[step];
    let (of_common, others) = bits(plan.scope(bucket).0, common);
    let states: Vec<usize> = (0..1 << others.len()).map(|state| deposited(state, &others)).collect();
    let below = goes_on.then(|| &plan.buckets[step - 1]);
    let out = |child: &Child| {
        let index = |&state: &usize| child.index(state as u64);
        let rest: Vec<u32> = states.iter().map(|state| index(state) as u32).collect();
        let place = |&bit: &usize| (child.mask >> bit & 1 == 1).then(|| child.place(bit) as u8);
        let is_next = |below: &&Bucket| matches!(below.output, Output::Table(table) if table == child.table);
        let inner = below.filter(is_next).map(|below| {
            let (_, own) = bits(plan.scope(below).0, common);
            let inner = rest.iter().map(|&index| extracted(index as usize, &own) as u32).collect();
            (inner, extracted(child.up(), &own))
        });
        let places = Places { common: of_common.iter().map(place).collect(), rest };
        Out { table: child.table as usize, places, up: child.up(), inner }
    };
    let own = Places {
        common: of_common.iter().map(|&bit| Some(bit as u8)).collect(),
        rest: states.iter().map(|&state| state as u32).collect(),
    };
    let outs: Vec<Out> = plan.children(bucket).iter().map(out).collect();
    let sole = match &outs[..] {
        [out] if out.up > 0 => Some(sole(out, &own)),
        _ => None,
    };
    Link { step, own, outs, sole }
}

fn sole(out: &Out, own: &Places) -> Sole {
    let (places, up) = match &out.inner {
        Some((places, up)) => (places, *up),
        None => (&out.places.rest, out.up),
    };
    let mut states: Vec<u32> = (0..places.len() as u32).collect();
    states.sort_by_key(|&state| places[state as usize]);
    let groups = states.chunk_by(|&a, &b| places[a as usize] == places[b as usize]);
    let to: Vec<u32> = groups.map(|group| places[group[0] as usize]).collect();
    // Each unit that the table is not over doubles all groups alike.
    let fan = states.len() / to.len();
    let from = states.iter().map(|&state| (state, own.rest[state as usize])).collect();
    Sole { fan, from, to, up }
}
