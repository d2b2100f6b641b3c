//! One pass: the moments of seven units with all that are eliminated before them.
//!
//! Lane 0 holds P(S), the others `⟨s_i 1[S]⟩ = P(S) ⟨s_i | S⟩` of a unit i each. Backwards through
//! the steps, a unit v leaves its neighbours S: lanes are split between its values by `P(v | S)`, as
//! unit i depends on v through S alone. Where i is the unit itself, the split of lane 0 takes its
//! sign. Where i was eliminated before v, but in a part of the network that v joins with another, the
//! other part needs `⟨s_i | S, v⟩`, which comes from a pass forward through the steps between.

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};

use super::program::{Link, Out, Program, Run, Sole};
use crate::cancel;
use crate::numeric::lanes::{LANES, Lane};

/// Units of a pass.
pub(super) const UNITS: usize = LANES - 1;

/// The units of a pass, as steps; and what is special at some steps.
pub(super) struct Group {
    /// At most [`UNITS`] of them, rising.
    pub(super) steps: Vec<usize>,
    /// The run where the pass begins.
    pub(super) start: usize,
    /// For each step where a lane is not passed on, rising.
    special: Vec<(usize, Special)>,
}

/// Lanes that are not passed on at a step.
#[derive(Default)]
struct Special {
    /// The lanes of the unit itself.
    begins: [bool; LANES],
    /// The lanes whose units are below an incoming table.
    below: Vec<(usize, [bool; LANES])>,
}

impl Group {
    pub(super) fn new(program: &Program, steps: Vec<usize>) -> Self {
        let mut special: Vec<(usize, Special)> = Vec::new();
        let mut at = |step: usize, change: &mut dyn FnMut(&mut Special)| {
            let place = special.binary_search_by_key(&step, |&(step, _)| step).unwrap_or_else(|place| {
                special.insert(place, (step, Special::default()));
                place
            });
            change(&mut special[place].1);
        };
        let mut top = 0;
        for (lane, &unit) in (1..).zip(&steps) {
            at(unit, &mut |special| special.begins[lane] = true);
            // Up to where all units that were eliminated before are below.
            let all = program.first[program.root[unit]];
            let mut step = unit;
            while program.first[step] > all {
                let (above, made) = (program.parent[step], program.made[step]);
                let Some(table) = made else { break };
                at(above, &mut |special| {
                    let known = special.below.iter().position(|&(known, _)| known == table);
                    let place = known.unwrap_or_else(|| {
                        special.below.push((table, [false; LANES]));
                        special.below.len() - 1
                    });
                    special.below[place].1[lane] = true;
                });
                step = above;
            }
            top = top.max(step);
        }
        Self { start: program.run_of[top], steps, special }
    }

    fn special(&self, step: usize) -> Option<&Special> {
        self.special.binary_search_by_key(&step, |&(step, _)| step).ok().map(|place| &self.special[place].1)
    }

    /// The tables whose conditional means are needed, each with its maker.
    pub(super) fn tables(&self) -> impl Iterator<Item = usize> + '_ {
        self.special.iter().flat_map(|(_, special)| special.below.iter().map(|&(table, _)| table))
    }
}

/// What passes need of the numbers of a machine.
pub(super) struct Pass<'a> {
    pub(super) program: &'a Program,
    /// P(unit up | its neighbours at elimination), by step.
    pub(super) ups: &'a [Vec<f64>],
    /// log₂ of the entries of each table.
    pub(super) table_bits: &'a [u8],
}

/// Tables with a number in each lane; empty where there is none.
type Tables = Vec<Vec<Lane>>;

impl Pass<'_> {
    /// The moments of the units of a group with each step, and the mean of each in lane 0; from
    /// P(S) of the first step of the run where the group begins.
    pub(super) fn moments(&self, group: &Group, probabilities: &[f64]) -> Vec<Lane> {
        let mut tables: Tables = vec![Vec::new(); self.table_bits.len()];
        let means = self.conditional_means(group);
        let last = group.steps.last().copied().unwrap_or(0);
        let mut moments = vec![Lane::ZERO; self.ups.len()];
        let first = probabilities.iter().map(|&p| in_lane_0(p)).collect();
        let mut input = Some(first);
        for run in &self.program.runs[group.start..] {
            let above = run.links[0].step;
            let given = input.take().or_else(|| {
                let table = self.program.made[above]?;
                Some(std::mem::take(&mut tables[table])).filter(|table: &Vec<Lane>| !table.is_empty())
            });
            if let Some(given) = given {
                self.down(run, group, &given, last, (&means, &mut tables), &mut moments);
            }
        }
        moments
    }

    /// P(S) of the first steps of some runs.
    pub(super) fn probabilities(&self, is_needed: &[bool]) -> Vec<Vec<f64>> {
        let nothing = Group { steps: Vec::new(), start: 0, special: Vec::new() };
        let mut tables: Tables = vec![Vec::new(); self.table_bits.len()];
        let mut moments = vec![Lane::ZERO; self.ups.len()];
        let mut found = vec![Vec::new(); self.program.runs.len()];
        for (number, run) in self.program.runs.iter().enumerate() {
            let given = match self.program.made[run.links[0].step] {
                Some(table) => std::mem::take(&mut tables[table]),
                None => vec![in_lane_0(1.0)],
            };
            if is_needed[number] {
                found[number] = given.iter().map(|lanes| lanes.0[0]).collect();
            }
            self.down(run, &nothing, &given, usize::MAX, (&Vec::new(), &mut tables), &mut moments);
        }
        found
    }

    /// Backwards through the steps of a run.
    fn down(
        &self,
        run: &Run,
        group: &Group,
        given: &[Lane],
        last: usize,
        (means, tables): (&Tables, &mut Tables),
        moments: &mut [Lane],
    ) {
        cancel::point();
        // What is below a table and eliminated after all units of the group is another pass's.
        let is_needed = |out: &Out| self.program.first[self.program.maker[out.table]] <= last;
        for out in run.links.iter().flat_map(|link| &link.outs) {
            if out.inner.is_none() && is_needed(out) {
                tables[out.table] = vec![Lane::ZERO; 1 << self.table_bits[out.table]];
            }
        }
        let level = Level::new();
        dispatch!(level, simd => self.down_in(simd, run, group, given, (means, tables), moments));
    }

    #[inline(always)]
    fn down_in<S: Simd>(
        &self,
        simd: S,
        run: &Run,
        group: &Group,
        given: &[Lane],
        (means, tables): (&Tables, &mut Tables),
        moments: &mut [Lane],
    ) {
        let most = run.links.iter().map(|link| link.own.rest.len()).max().unwrap_or(0);
        let (mut here, mut next) = (vec![Lane::ZERO; most], vec![Lane::ZERO; most]);
        let special: Vec<Option<&Special>> = run.links.iter().map(|link| group.special(link.step)).collect();
        for common in 0..1 << run.common {
            if common % 64 == 63 {
                cancel::point();
            }
            let top = &run.links[0].own;
            let base = top.base(common);
            for (lanes, &rest) in here.iter_mut().zip(&top.rest) {
                lanes.store(given[base + rest as usize].load(simd));
            }
            for (link, special) in run.links.iter().zip(&special) {
                let ups = &self.ups[link.step];
                let base = link.own.base(common);
                if let Some(special) = special {
                    self.replace(link, special, common, means, (&mut here, &mut next));
                    // Now the lanes with the unit down are here, and those with it up are next.
                    split_by(simd, link, common, tables, (&mut here, &mut next), &mut moments[link.step]);
                    continue;
                }
                if let (Some(sole), [out]) = (&link.sole, &link.outs[..]) {
                    // Usually nothing but one table.
                    let ups = &ups[base..];
                    let moment = &mut moments[link.step];
                    if out.inner.is_some() {
                        let to = &mut next[..];
                        split(simd, sole, (&here, ups), moment, |place, lanes| to[place].store(lanes));
                        std::mem::swap(&mut here, &mut next);
                    } else if let Some(to) =
                        tables[out.table].get_mut(out.places.base(common)..).filter(|to| !to.is_empty())
                    {
                        split(simd, sole, (&here, ups), moment, |place, lanes| to[place].add(simd, lanes));
                    }
                    continue;
                }
                for ((lanes, above), &rest) in here.iter_mut().zip(&mut next).zip(&link.own.rest) {
                    let all = lanes.load(simd);
                    let up = all * f64x8::splat(simd, ups[base + rest as usize]);
                    above.store(up);
                    lanes.store(all - up);
                }
                split_by(simd, link, common, tables, (&mut here, &mut next), &mut moments[link.step]);
            }
        }
    }

    /// Splits the lanes of a step where some are not passed on: down into the first buffer, up into
    /// the second.
    fn replace(
        &self,
        link: &Link,
        special: &Special,
        common: usize,
        means: &Tables,
        (here, next): (&mut [Lane], &mut [Lane]),
    ) {
        let (ups, base) = (&self.ups[link.step], link.own.base(common));
        for (state, &rest) in link.own.rest.iter().enumerate() {
            let p = ups[base + rest as usize];
            let up = here[state].0.map(|x| x * p);
            let down: [f64; LANES] = std::array::from_fn(|lane| here[state].0[lane] - up[lane]);
            (next[state], here[state]) = (Lane(up), Lane(down));
            for lane in (1..LANES).filter(|&lane| special.begins[lane]) {
                (next[state].0[lane], here[state].0[lane]) = (up[0], -down[0]);
            }
        }
        for (table, lanes) in &special.below {
            let out = link.outs.iter().find(|out| out.table == *table).expect("the table enters the step");
            let (base, means) = (out.places.base(common), &means[*table]);
            for (state, &rest) in out.places.rest.iter().enumerate() {
                let place = base + rest as usize;
                for lane in (1..LANES).filter(|&lane| lanes[lane]) {
                    next[state].0[lane] = next[state].0[0] * means[place + out.up].0[lane];
                    here[state].0[lane] = here[state].0[0] * means[place].0[lane];
                }
            }
        }
    }

    /// `⟨s_i | S⟩` of the lanes' units for the tables that need it, forward through the steps.
    fn conditional_means(&self, group: &Group) -> Tables {
        let mut means: Tables = vec![Vec::new(); self.table_bits.len()];
        let mut wanted: Vec<usize> = group.tables().collect();
        wanted.sort_unstable_by_key(|&table| self.program.maker[table]);
        wanted.dedup();
        for table in wanted {
            cancel::point();
            let step = self.program.maker[table];
            let run = &self.program.runs[self.program.run_of[step]];
            let link = &run.links[run.links[0].step - step];
            // A step on the way has a unit that begins, or one below.
            let special = group.special(step).expect("the way begins below");
            let mut own = vec![Lane::ZERO; 1 << self.table_bits[table]];
            for common in 0..1 << run.common {
                let base = link.own.base(common);
                let starts: Vec<_> = special
                    .below
                    .iter()
                    .filter_map(|(table, lanes)| {
                        let out = link.outs.iter().find(|out| out.table == *table)?;
                        Some((out, out.places.base(common), lanes))
                    })
                    .collect();
                for (state, &rest) in link.own.rest.iter().enumerate() {
                    let place = base + rest as usize;
                    let p = self.ups[step][place];
                    let lanes = &mut own[place].0;
                    for lane in (1..LANES).filter(|&lane| special.begins[lane]) {
                        lanes[lane] = 2.0 * p - 1.0;
                    }
                    for (out, base, below) in &starts {
                        let from = base + out.places.rest[state] as usize;
                        let (down, up) = (&means[out.table][from].0, &means[out.table][from + out.up].0);
                        for lane in (1..LANES).filter(|&lane| below[lane]) {
                            lanes[lane] = down[lane] + p * (up[lane] - down[lane]);
                        }
                    }
                }
            }
            means[table] = own;
        }
        means
    }
}

fn in_lane_0(x: f64) -> Lane {
    let mut lanes = Lane::ZERO;
    lanes.0[0] = x;
    lanes
}

/// Splits lanes between the values of a unit, group by group.
#[inline(always)]
fn split<S: Simd>(
    simd: S,
    sole: &Sole,
    (from, ups): (&[Lane], &[f64]),
    moment: &mut Lane,
    mut put: impl FnMut(usize, f64x8<S>),
) {
    let zero = f64x8::splat(simd, 0.0);
    let mut sum = zero;
    let mut one = |group: &[(u32, u32)], place: u32| {
        let (mut all, mut up) = (zero, zero);
        for &(state, rest) in group {
            let lanes = from[state as usize].load(simd);
            all += lanes;
            up = lanes.mul_add(f64x8::splat(simd, ups[rest as usize]), up);
        }
        let down = all - up;
        sum += up - down;
        put(place as usize, down);
        put(place as usize + sole.up, up);
    };
    match sole.fan {
        1 => sole.from.as_chunks::<1>().0.iter().zip(&sole.to).for_each(|(group, &place)| one(group, place)),
        2 => sole.from.as_chunks::<2>().0.iter().zip(&sole.to).for_each(|(group, &place)| one(group, place)),
        fan => sole.from.chunks_exact(fan).zip(&sole.to).for_each(|(group, &place)| one(group, place)),
    }
    moment.add(simd, sum);
}

/// Adds lanes with a unit down and up to the tables that the step used, and their difference to a
/// moment; the next link's lanes are then in the first buffer.
#[inline(always)]
fn split_by<S: Simd>(
    simd: S,
    link: &Link,
    common: usize,
    tables: &mut Tables,
    (here, next): (&mut Vec<Lane>, &mut Vec<Lane>),
    moment: &mut Lane,
) {
    let states = link.own.rest.len();
    let mut sum = f64x8::splat(simd, 0.0);
    for (down, up) in here[..states].iter().zip(&next[..states]) {
        sum += up.load(simd) - down.load(simd);
    }
    moment.add(simd, sum);
    for out in link.outs.iter().filter(|out| out.inner.is_none()) {
        let table = &mut tables[out.table];
        if table.is_empty() {
            continue;
        }
        let base = out.places.base(common);
        for ((down, up), &rest) in here.iter().zip(next.iter()).zip(&out.places.rest) {
            let place = base + rest as usize;
            table[place].add(simd, down.load(simd));
            table[place + out.up].add(simd, up.load(simd));
        }
    }
    if let Some((places, up)) = link.outs.iter().find_map(|out| out.inner.as_ref()) {
        let (down, above) = (here[..states].to_vec(), next[..states].to_vec());
        here.fill(Lane::ZERO);
        for ((down, above), &place) in down.iter().zip(&above).zip(places) {
            here[place as usize].add(simd, down.load(simd));
            here[place as usize + up].add(simd, above.load(simd));
        }
    }
}
