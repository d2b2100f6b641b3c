//! Every pair moment, many units in one pass backwards.
//!
//! A pass forward gives the probability of each unit given its neighbours at elimination. With these,
//! `⟨s_i | S⟩` is carried backwards for seven units i side by side, by multiplications alone.
//! `program` cuts the steps into runs that stay in the cache, `pass` goes through them, and `clamped`
//! does one unit after another where tables for several do not fit the budget.

mod clamped;
mod pass;
mod program;

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use self::pass::{Group, Pass, UNITS};
use self::program::Program;
use super::Solver;
use super::memory::Segments;
use super::plan::{Form, Plan};
use super::single::load;
use super::star::One;
use super::structure::Structure;
use super::tape::Tape;
use crate::engine::expectations::packed_pair;
use crate::engine::fields::Fields;
use crate::engine::{PairMoments, Pairs};
use crate::numeric::lanes::{LANES, Lane};
use crate::progress::Task;
use crate::{Evidence, Machine, Result};

impl Solver<'_> {
    /// Every pair moment of a machine whose network and means are known.
    ///
    /// *Complexity*: seven units in a pass, which costs a fraction of one for log Z; on all cores.
    /// *Memory*: the moments, a probability for each entry of the tables, and eight numbers for each
    /// entry of those that are alive at once in a pass.
    pub(super) fn all_pairs(
        self,
        machine: &Machine,
        evidence: &Evidence,
        whole: &Plan,
        means: &[f64],
    ) -> Result<PairMoments> {
        let n = machine.unit_count();
        let bytes = 8 * (n as u128).pow(2);
        self.networks.budget.check(self.name, bytes, || format!("the moments of all pairs of {n} units"))?;
        let plan = self.plan_of_tables(machine, whole)?;
        let program = Program::new(&plan);
        let groups = groups(&program);
        let values =
            match Memory::of(&plan, &program, &groups).passes(u128::from(self.networks.budget.0), bytes) {
                Some(at_once) => {
                    let fields = Fields::new(machine, &plan.free, &[evidence.cells()]);
                    self.check_system(Memory::of(&plan, &program, &groups).bytes(at_once))?;
                    by_groups(machine, (&plan, &program, &groups), &fields, means, at_once)
                }
                None => self.by_clamping(machine, evidence, whole, means)?,
            };
        Ok(PairMoments { pairs: Pairs::All, values })
    }

    /// The same order with tables throughout.
    fn plan_of_tables(self, machine: &Machine, whole: &Plan) -> Result<Plan> {
        let mut free = whole.free.clone();
        free.sort_unstable();
        let mut place = vec![0; machine.unit_count()];
        for (k, &unit) in free.iter().enumerate() {
            place[unit] = k;
        }
        let order: Vec<usize> = whole.free.iter().map(|&unit| place[unit]).collect();
        let structure = Structure::new(machine, &free)?;
        let steps = structure.graph.symbolic(&order, whole.width);
        let steps = steps.ok_or_else(|| self.too_wide(&structure.graph, whole.width))?;
        Ok(structure.plan(&free, &order, &steps, Form::Tables))
    }
}

/// The steps in groups, those with the most below first; a group is within one component.
fn groups(program: &Program) -> Vec<Group> {
    let steps: Vec<usize> = (0..program.root.len()).collect();
    let by_component = steps.chunk_by(|&a, &b| program.root[a] == program.root[b]);
    let groups = by_component.flat_map(|steps| steps.rchunks(UNITS));
    groups.map(|steps| Group::new(program, steps.to_vec())).collect()
}

/// The bytes that passes take.
struct Memory {
    /// Whatever the number of passes.
    shared: u128,
    /// For each pass.
    pass: u128,
}

impl Memory {
    fn of(plan: &Plan, program: &Program, groups: &[Group]) -> Self {
        let numbers = |step: usize| 1u128 << plan.buckets[step].scope.len();
        let lanes = |table: usize| (size_of::<Lane>() as u128) << plan.table_bits[table];
        let steps = plan.buckets.len();
        let ups: u128 = (0..steps).map(|step| 8 * numbers(step).max(LANES as u128)).sum();
        let starts: u128 = program.runs.iter().map(|run| 8 * numbers(run.links[0].step)).sum();
        // Places take four bytes for each state of a step and each of its tables, twice if inner.
        let places =
            |link: &program::Link| 4 * link.own.rest.len() as u128 * (1 + 2 * link.outs.len() as u128);
        let places: u128 = program.runs.iter().flat_map(|run| &run.links).map(places).sum();
        let (mut live, mut peak) = (0, 0);
        for run in &program.runs {
            let outs = run.links.iter().flat_map(|link| &link.outs).filter(|out| out.inner.is_none());
            live += outs.map(|out| lanes(out.table)).sum::<u128>();
            peak = peak.max(live);
            live -= program.made[run.links[0].step].map_or(0, lanes);
        }
        let means = groups.iter().map(|group| group.tables().map(lanes).sum::<u128>()).max().unwrap_or(0);
        let largest = plan.table_bits.iter().map(|&bits| 64 << bits).max().unwrap_or(64u128);
        Self {
            shared: ups + starts + places + plan.bytes(1) + Segments::forward_peak(plan, 8),
            pass: peak + largest + means + 64 * steps as u128,
        }
    }

    fn bytes(&self, at_once: usize) -> u128 {
        self.shared + at_once as u128 * self.pass
    }

    /// How many passes the budget allows at once beside other numbers, up to one on each thread;
    /// `None` if it allows none.
    fn passes(&self, budget: u128, others: u128) -> Option<usize> {
        let rest = budget.checked_sub(self.shared + others)?;
        let count = (rest / self.pass).min(rayon::current_num_threads() as u128) as usize;
        (count > 0).then_some(count)
    }
}

fn by_groups(
    machine: &Machine,
    (plan, program, groups): (&Plan, &Program, &[Group]),
    fields: &Fields<1>,
    means: &[f64],
    at_once: usize,
) -> Vec<f64> {
    let n = machine.unit_count();
    let mut tape = Tape::<One>::on_threads(plan);
    load(&mut tape, machine, fields);
    let ups = tape.conditionals();
    drop(tape);
    let pass = Pass { program, ups: &ups, table_bits: &plan.table_bits };
    let mut is_start = vec![false; program.runs.len()];
    for group in groups {
        is_start[group.start] = true;
    }
    let starts = pass.probabilities(&is_start);
    // Independent unless a pass finds otherwise: clamped units, and those of different components.
    let product = |a: usize| means[a + 1..].iter().map(move |mean| means[a] * mean);
    let values: Mutex<Vec<f64>> = Mutex::new((0..n).flat_map(product).collect());
    // The work of a pass grows with the steps below.
    let cost = |group: &Group| group.steps.last().map_or(0, |&last| last as u64 + 1);
    let task = Task::begin(groups.iter().map(cost).sum());
    for some in
        groups.chunks(if at_once < rayon::current_num_threads() { at_once } else { groups.len().max(1) })
    {
        some.par_iter().with_max_len(1).for_each(|group| {
            let moments = pass.moments(group, &starts[group.start]);
            // Passes write to different places.
            let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
            for (lane, &step) in (1..).zip(&group.steps) {
                let unit = plan.free[step];
                for before in program.first[program.root[step]]..step {
                    let other = plan.free[before];
                    let place = packed_pair(n, unit.min(other), unit.max(other));
                    values[place] = moments[before].0[lane].clamp(-1.0, 1.0);
                }
            }
            task.done(cost(group));
        });
    }
    values.into_inner().unwrap_or_else(PoisonError::into_inner)
}
